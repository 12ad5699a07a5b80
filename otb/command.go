package otb

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
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
	which := "Our clock"
	if seat != t.game.Terms.Us {
		which = "The clock of " + whose(t.game, seat)
	}
	t.say("%s shows %s.", which, shows(t.game.Terms.Clock, clock.State{Left: left, Periods: e.Periods}))
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

func (t *Table) engineAgain(string) error {
	p := t.player
	p.stop()
	p.failures, p.gaveUp, p.idle = 0, "", ""
	p.start()
	t.say("The engine is started again.")
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
