package otb

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// command is something that the operator can type.
type command struct {
	names []string // the first one is listed
	args  string   // for the help
	about string
	do    func(t *Table, args string) error
}

// commands lists the commands. A text that names none is a move.
var commands []command

func init() { // help lists them
	commands = []command{
		{[]string{"ok", "start", "made", "confirm"}, "", "go ahead, as an empty line does: start the clocks, our move is made, the clocks are right, the game has ended", (*Table).ok},
		{[]string{"hand", "we"}, "MOVE", "our side plays this move, whatever the engine says", (*Table).hand},
		{[]string{"undo"}, "", "the last move was typed wrongly: then enter the right one; clocks stay as if it had been typed at once", (*Table).undo},
		{[]string{"fix"}, "MOVE", "the opponent's last move was really this one, as undo and the right move", (*Table).fix},
		{[]string{"redo"}, "", "the move taken back was right after all", (*Table).redo},
		{[]string{"unplayed"}, "", "after undo: no move was made then, the clock has run on", (*Table).unplayed},
		{[]string{"clock"}, "us|them TIME [PERIODS]", "set a clock to that of the arbiter: 12:34, 1:02:03, or seconds", (*Table).setClock},
		{[]string{"stop"}, "", "both clocks stand", entering(Stop, "Both clocks stand.")},
		{[]string{"go"}, "", "the clocks run again", entering(Go, "The clocks run again.")},
		{[]string{"now"}, "", "the engine moves at once", (*Table).moveNow},
		{[]string{"draw"}, "us|them", "a side offers a draw", (*Table).draw},
		{[]string{"accept"}, "", "the draw is agreed", (*Table).accept},
		{[]string{"decline"}, "", "the draw is declined", entering(Decline, "The draw is declined.")},
		{[]string{"resign"}, "us|them", "a side resigns", (*Table).resign},
		{[]string{"flag"}, "us|them", "a side has lost on time, as the arbiter says", (*Table).flag},
		{[]string{"claim"}, "us|them [TEXT]", "note a claim of a repetition, with how often the position has occurred", (*Table).claim},
		{[]string{"penalty"}, "us|them TEXT", "note a penalty", (*Table).penalty},
		{[]string{"note"}, "TEXT", "note something for the record", (*Table).note},
		{[]string{"end"}, "us|them|draw|none TEXT", "the arbiter ends the game: who wins, and why", (*Table).endBy},
		{[]string{"play on"}, "", "the arbiter does not agree with the end by the rules", (*Table).playOn},
		{[]string{"reopen"}, "", "the end was entered by mistake", entering(Reopen, "The game goes on.")},
		{[]string{"stood"}, "", "the clocks had been stopped while the program was away", entering(Stood, "The time away is not counted.")},
		{[]string{"engine"}, "", "start the engine again", (*Table).engineAgain},
		{[]string{"moves"}, "", "list the moves", (*Table).listMoves},
		{[]string{"export"}, "", "write the record as it is now", (*Table).export},
		{[]string{"help", "?"}, "", "list the commands", (*Table).help},
		{[]string{"quit", "exit"}, "", "leave; the game can be resumed", func(*Table, string) error { return errQuit }},
	}
}

// entering returns the command that makes an entry without arguments.
func entering(kind Kind, done string) func(*Table, string) error {
	return func(t *Table, _ string) error {
		if err := t.enter(Entry{Kind: kind}); err != nil {
			return err
		}
		t.say("%s", done)
		return nil
	}
}

// Do carries out what the operator has typed: a command, or a move of the opponent.
// The error says why not; then nothing has changed. See Quit.
func (t *Table) Do(line string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.player.drive()
	defer t.signal()
	line = strings.TrimSpace(line)
	if line == "" {
		return t.ok("")
	}
	c, args := find(line)
	if c == nil {
		return t.theirMove(line)
	}
	if c.args == "" && args != "" {
		return fmt.Errorf("%s: unexpected %q", strings.TrimSpace(strings.TrimSuffix(line, args)), args)
	}
	return c.do(t, args)
}

// find returns the command that a line begins with, nil if none.
func find(line string) (c *command, args string) {
	lower := strings.ToLower(line)
	for i := range commands {
		for _, name := range commands[i].names {
			if rest, ok := strings.CutPrefix(lower, name); ok && (rest == "" || rest[0] == ' ') {
				return &commands[i], strings.TrimSpace(line[len(name):])
			}
		}
	}
	return nil, ""
}

// ok does what is next.
func (t *Table) ok(string) error {
	g := t.game
	switch {
	case len(g.Away) > 0 && g.Phase() != Ended:
		if err := t.enter(Entry{Kind: Confirm}); err != nil {
			return err
		}
		t.say("The clocks are confirmed.")
		return nil
	case g.Phase() == Setup:
		if err := t.enter(Entry{Kind: Start}); err != nil {
			return err
		}
		t.say("The clocks run.")
		return nil
	case g.Phase() == Announced:
		made := spoken(g.pos, g.parse(g.Choice.Move), t.o.UCI)
		if err := t.made(time.Time{}); err != nil {
			return err
		}
		t.say("Made: %s", made)
		t.afterMove()
		return nil
	case g.Phase() == RuleEnd:
		out := g.Outcome()
		return t.finish(Entry{Kind: End, Result: out.Result, Reason: out.Reason})
	}
	return now("there is nothing to confirm")
}

// theirMove plays a move of the opponent. Our move, if it waits, was made then.
func (t *Table) theirMove(text string) error {
	g := t.game
	switch phase := g.Phase(); {
	case phase == Setup:
		if _, err := Read(g.pos, text, t.o.UCI); err != nil {
			return err
		}
		return now("the clocks have not been started (Enter starts them)")
	case phase == Ended || phase == RuleEnd:
		return now("the game has ended: %s", t.ended())
	case phase == Thinking:
		if _, err := Read(g.pos, text, t.o.UCI); err != nil {
			return err
		}
		return now("it is our move: hand %s plays it for us", text)
	case phase == Fixing && g.pos.Turn() == g.Terms.Us:
		return t.hand(text)
	case phase == Announced:
		return t.replyBefore(text)
	}
	return t.play(text, "")
}

// replyBefore plays the opponent's reply to our move, which the operator has made
// without saying so: a hand's time after it was shown.
func (t *Table) replyBefore(text string) error {
	after := t.game.Position()
	if err := after.Play(t.game.parse(t.game.Choice.Move)); err != nil {
		return err
	}
	if after.Turn() == t.game.Terms.Us {
		return now("first make our move: Enter; hand %s plays another one", text)
	}
	if _, err := Read(after, text, t.o.UCI); err != nil {
		return fmt.Errorf("as the reply to our move %s: %w", t.game.Choice.Move, err)
	}
	if err := t.made(earlier(t.game.Choice.At.Add(t.game.hand()), t.now())); err != nil {
		return err
	}
	t.afterMove()
	return t.play(text, "")
}

// play plays a move for the seat to act.
func (t *Table) play(text string, by By) error {
	g := t.game
	r, err := Read(g.pos, text, t.o.UCI)
	if err != nil {
		return err
	}
	all := shown(g.pos, r.Move, t.o.UCI)
	seat := g.pos.Turn()
	if err := t.enter(Entry{Kind: Move, Move: r.Text, By: by}); err != nil {
		return err
	}
	who := "Opponent"
	if seat == g.Terms.Us {
		who = "We (by hand)"
	}
	t.say("%s: %s", who, strings.Join(all, "   "))
	t.afterMove()
	return nil
}

// afterMove tells what the rules say to the position.
func (t *Table) afterMove() {
	g := t.game
	if out := g.Outcome(); out.Over() {
		t.alert("%s", words.Outcome(out, sides(g.pos)))
		return
	}
	if n := len(g.Repeated()); n > 0 {
		t.alert("Repetition: %s.", g.Occurrences())
	}
	if c, ok := g.pos.(game.Checker); ok && c.Check() != "" {
		t.say("Check.")
	}
}

// hand plays a move of ours.
func (t *Table) hand(text string) error {
	if text == "" {
		return errors.New("hand: want a move")
	}
	switch phase := t.game.Phase(); {
	case phase == Setup:
		return now("the clocks have not been started (Enter starts them)")
	case phase != Thinking && phase != Announced && (phase != Fixing || t.game.pos.Turn() != t.game.Terms.Us):
		return now("it is not our move")
	}
	return t.play(text, ByOperator)
}

func (t *Table) undo(string) error {
	g := t.game
	if err := t.enter(Entry{Kind: Undo}); err != nil {
		return err
	}
	p := g.Plies[len(g.Plies)-1]
	t.say("Taken back: %s by %s.", p.Move, whose(g, p.Seat))
	return nil
}

// fix replaces the opponent's last move. Our answer to the wrong one is taken back with
// it, if it was made.
func (t *Table) fix(text string) error {
	g := t.game.clone()
	entries := 0
	for len(g.Taken) == 0 || g.Taken[len(g.Taken)-1].Seat == g.Terms.Us {
		if err := g.Apply(Entry{At: t.now(), Kind: Undo}); err != nil {
			return err
		}
		entries++
	}
	if _, err := Read(g.pos, text, t.o.UCI); err != nil {
		return fmt.Errorf("instead of %s: %w", g.Taken[len(g.Taken)-1].Move, err)
	}
	for range entries {
		if err := t.enter(Entry{Kind: Undo}); err != nil {
			return err
		}
	}
	return t.play(text, "")
}

func (t *Table) redo(string) error {
	n := len(t.game.Taken)
	if n == 0 {
		return now("no move was taken back")
	}
	p := t.game.Taken[n-1]
	if err := t.enter(Entry{Kind: Move, Move: p.Move, By: p.By, Think: p.Think}); err != nil {
		return err
	}
	t.say("Made again: %s.", p.Move)
	return nil
}

func (t *Table) unplayed(string) error {
	if err := t.enter(Entry{Kind: Unplayed}); err != nil {
		return err
	}
	t.say("The clock runs on as if no move had been made.")
	return nil
}

// side reads "us" or "them" at the beginning of arguments.
func (t *Table) side(args string) (seat game.Seat, rest string, err error) {
	word, rest, _ := strings.Cut(args, " ")
	us := t.game.Terms.Us
	switch strings.ToLower(word) {
	case "us", "we", "me":
		return us, strings.TrimSpace(rest), nil
	case "them", "they", "opponent":
		return us.Other(), strings.TrimSpace(rest), nil
	}
	return 0, "", fmt.Errorf("%q: want us or them", word)
}

func (t *Table) setClock(args string) error {
	seat, rest, err := t.side(args)
	if err != nil {
		return err
	}
	words := strings.Fields(rest)
	if len(words) < 1 || len(words) > 2 {
		return errors.New("clock: want us or them and a time, such as clock us 12:34")
	}
	left, err := parseTime(words[0])
	if err != nil {
		return err
	}
	c := t.game.Clocks(t.now())
	e := Entry{Kind: SetClock, Seat: seat, LeftMS: left.Milliseconds(), Periods: c.Seats[seat].Periods}
	if len(words) == 2 {
		if e.Periods, err = strconv.Atoi(words[1]); err != nil {
			return fmt.Errorf("%q: want a number of periods", words[1])
		}
	}
	if err := t.enter(e); err != nil {
		return err
	}
	t.player.restart() // with the right time
	t.say("The clock of %s shows %s.", whose(t.game, seat), shows(t.game.Terms.Clock, clock.State{Left: left, Periods: e.Periods}))
	return nil
}

// parseTime reads a clock: h:mm:ss, m:ss or seconds, with a fraction.
func parseTime(text string) (time.Duration, error) {
	bad := fmt.Errorf("time %q: want 12:34, 1:02:03 or seconds", text)
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return 0, bad
	}
	var total time.Duration
	for i, part := range parts {
		if i < len(parts)-1 {
			n, err := strconv.ParseUint(part, 10, 16)
			if err != nil || i > 0 && n > 59 {
				return 0, bad
			}
			total = (total + time.Duration(n)*time.Second) * 60
			continue
		}
		s, err := strconv.ParseFloat(part, 64)
		if err != nil || !(s >= 0) || s > clock.Longest.Seconds() || i > 0 && s >= 60 {
			return 0, bad
		}
		total += time.Duration(s * float64(time.Second)).Round(time.Millisecond)
	}
	if total > clock.Longest {
		return 0, bad
	}
	return total, nil
}

func (t *Table) moveNow(string) error {
	if t.game.Phase() != Thinking {
		return now("it is not our move")
	}
	c := t.player.current
	if c == nil || c.ponders {
		return now("the engine does not think")
	}
	c.search.Stop()
	t.say("The engine is told to move.")
	return nil
}

func (t *Table) draw(args string) error {
	seat, _, err := t.side(args)
	if err != nil {
		return err
	}
	if err := t.enter(Entry{Kind: Offer, Seat: seat}); err != nil {
		return err
	}
	if seat == t.game.Terms.Us {
		t.say("We offer a draw.")
		return nil
	}
	advice := ""
	if a := t.player.activity(); a.Known {
		advice = fmt.Sprintf(" Our engine gives us %.0f %%.", 100*a.Chance)
	}
	t.alert("The opponent offers a draw: accept or decline.%s", advice)
	return nil
}

func (t *Table) accept(string) error {
	if t.game.Offer == nil {
		return now("no draw was offered")
	}
	return t.finish(Entry{Kind: End, Result: game.Draw, Reason: protocol.ReasonAgreement})
}

func (t *Table) resign(args string) error {
	seat, _, err := t.side(args)
	if err != nil {
		return err
	}
	return t.finish(Entry{Kind: End, Result: game.WonBy(seat.Other()), Reason: protocol.ReasonResign})
}

func (t *Table) flag(args string) error {
	seat, _, err := t.side(args)
	if err != nil {
		return err
	}
	return t.finish(Entry{Kind: End, Result: game.WonBy(seat.Other()), Reason: protocol.ReasonTime})
}

func (t *Table) claim(args string) error {
	seat, text, err := t.side(args)
	if err != nil {
		return err
	}
	claim := fmt.Sprintf("%s claims a repetition: %s", whose(t.game, seat), t.game.Occurrences())
	if seat == t.game.Terms.Us {
		claim = "we claim a repetition: " + t.game.Occurrences()
	}
	return t.note(strings.TrimSuffix(claim+"; "+text, "; "))
}

func (t *Table) penalty(args string) error {
	seat, text, err := t.side(args)
	if err != nil {
		return err
	}
	if text == "" {
		return errors.New("penalty: want who and what, such as penalty them second illegal move")
	}
	return t.note(fmt.Sprintf("penalty for %s: %s", whose(t.game, seat), text))
}

func (t *Table) note(text string) error {
	if text == "" {
		return errors.New("note: want a text")
	}
	if err := t.enter(Entry{Kind: Note, Text: text}); err != nil {
		return err
	}
	t.say("Noted: %s", text)
	return nil
}

// Adjudicated is the reason of a game that the arbiter ended.
const Adjudicated game.Reason = "adjudication"

func (t *Table) endBy(args string) error {
	word, text, _ := strings.Cut(args, " ")
	e := Entry{Kind: End, Reason: Adjudicated, Text: strings.TrimSpace(text)}
	switch lower := strings.ToLower(word); lower {
	case "draw":
		e.Result = game.Draw
	case "none":
	default:
		seat, _, err := t.side(lower)
		if err != nil {
			return fmt.Errorf("end: %q: want who wins, us or them, or draw or none", word)
		}
		e.Result = game.WonBy(seat)
	}
	return t.finish(e)
}

// finish ends the game and keeps its record.
func (t *Table) finish(e Entry) error {
	if err := t.enter(e); err != nil {
		return err
	}
	t.alert("The game has ended: %s", t.ended())
	return t.export("")
}

// ended says how the game ended.
func (t *Table) ended() string {
	v := View{Game: t.game, Pos: t.game.pos}
	return v.Outcome()
}

func (t *Table) playOn(string) error {
	if err := t.enter(Entry{Kind: PlayOn}); err != nil {
		return err
	}
	t.say("The game goes on; the clocks stood since the last move.")
	return nil
}

func (t *Table) engineAgain(string) error {
	p := t.player
	p.stop()
	p.failures, p.gaveUp, p.idle = 0, "", ""
	p.start()
	t.say("The engine is started again.")
	return nil
}

func (t *Table) listMoves(string) error {
	var line []string
	for i, text := range t.moves() {
		line = append(line, fmt.Sprintf("%d.%s", i+1, text))
	}
	t.say("Moves: %s", cmp.Or(strings.Join(line, " "), "none yet"))
	return nil
}

func (t *Table) export(string) error {
	if t.o.Keep != nil {
		t.exports.keep(t, t.game.Record())
	}
	return nil
}

func (t *Table) help(string) error {
	for _, line := range Help() {
		t.say("%s", line)
	}
	return nil
}

// Help lists the commands, a line each.
func Help() (lines []string) {
	width := 0
	for _, c := range commands {
		width = max(width, len(c.names[0])+1+len(c.args))
	}
	for _, c := range commands {
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, c.names[0]+" "+c.args, c.about))
	}
	return append(lines, fmt.Sprintf("%-*s  %s", width, "anything else", "a move of the opponent, in any notation, or the beginning of one"))
}

// Names lists the commands by their first names.
func Names() (names []string) {
	for _, c := range commands {
		names = append(names, c.names[0])
	}
	slices.Sort(names)
	return names
}
