package otb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/internal/texttable"
	"sparring/record"
)

// Options set up a table.
type Options struct {
	Journal string // path
	Terms   Terms  // of a new game; of one that is resumed, those that may change
	// Same checks the terms of a game that is resumed; nil accepts them.
	Same func(had Terms) error
	// Open opens the searcher of a spec for games of a name.
	Open func(spec, gameName string) (engine.Searcher, error)
	// Keep keeps the record of the game, and returns where. It is called when the game
	// has ended, and for the command export, by a goroutine of its own.
	Keep func(*record.Record) (files []string, err error)
	// UCI: coordinates of Xiangqi have ranks from 1.
	UCI bool
}

// Message is something that the operator is to know.
type Message struct {
	N    int // counts all messages, from 1
	At   time.Time
	Text string
	// Alert: it wants the operator's attention.
	Alert bool
}

// maxMessages is how many messages are kept.
const maxMessages = 200

// Table is a game with what acts in it. Its methods may be called by any goroutine.
type Table struct {
	o Options

	mu       sync.Mutex
	game     *Game
	store    *store
	player   *player
	exports  exporter
	messages []Message
	count    int
	changed  chan struct{}
	keeper   *timekeeper
	last     time.Time // of the last tick
	beat     time.Time // of the last heartbeat
	closed   bool

	spokenKey string // of the position whose moves are spoken
	spoken    []string
}

// heartbeat is how often the journal notes that the program runs.
const heartbeat = 2 * time.Second

// gap is a time without a tick after which the program has slept.
const gap = 5 * time.Second

// leap is a difference between the table's time and the time of day by which somebody
// has set the machine's clock.
const leap = time.Second

// Open opens a table, with a new game or the one in the journal. Close it.
func Open(o Options) (*Table, error) { return open(o, newTimekeeper()) }

func open(o Options, k *timekeeper) (*Table, error) {
	info, statErr := os.Stat(o.Journal)
	same := o.Same
	if same == nil {
		same = func(Terms) error { return nil }
	}
	s, g, err := openStore(o.Journal, o.Terms, same)
	if err != nil {
		return nil, err
	}
	t := &Table{o: o, game: g, store: s, changed: make(chan struct{}, 1), keeper: k}
	if statErr == nil && !g.Last.IsZero() {
		t.resume(info.ModTime())
	}
	t.last = t.now()
	if t.player, err = newPlayer(t); err != nil {
		s.close(false) // the first error tells more
		return nil, err
	}
	return t, nil
}

// resume goes on with the game. The journal was written last at a time of day.
func (t *Table) resume(written time.Time) {
	g := t.game
	t.keeper.set(t.keeper.wall().Add(g.ahead))
	seen := later(written.Add(g.ahead), g.Last).UTC().Truncate(time.Millisecond)
	back := seen.Sub(t.keeper.now())
	if back > 0 {
		t.keeper.set(seen)
		t.enter(Entry{Kind: SetWall, AheadMS: t.keeper.ahead().Milliseconds()})
	}
	had := g.Terms.Engine
	g = t.game
	g.Terms.Engine, g.Terms.HashMB, g.Terms.Threads = t.o.Terms.Engine, t.o.Terms.HashMB, t.o.Terms.Threads
	g.Terms.Ponder, g.Terms.HandMS = t.o.Terms.Ponder, t.o.Terms.HandMS
	if g.Phase() != Ended {
		t.enter(Entry{Kind: Resume, From: earlier(seen, t.now())})
		t.say("The game goes on after %s.", plies(len(g.Plies)))
		if back > leap {
			t.alert("This machine's clock was set back by %s or more meanwhile: how long the program was away is not known.", ClockText(back))
		}
		t.announce()
	}
	if had != g.Terms.Engine {
		t.enter(Entry{Kind: Note, Text: fmt.Sprintf("the engine is now %s (it was %s)", g.Terms.Engine, had)})
	}
}

func plies(n int) string { return texttable.Count(n, "ply", "plies") }

// now is the time for an entry. The caller holds mu, or is Open.
func (t *Table) now() time.Time { return later(t.keeper.now(), t.game.Last) }

// Changed has a value when the view has changed.
func (t *Table) Changed() <-chan struct{} { return t.changed }

// say tells the operator something. The caller holds mu.
func (t *Table) say(format string, args ...any) { t.tell(false, format, args...) }

// alert tells the operator something that wants attention. The caller holds mu.
func (t *Table) alert(format string, args ...any) { t.tell(true, format, args...) }

func (t *Table) tell(alert bool, format string, args ...any) {
	t.count++
	t.messages = append(t.messages, Message{t.count, wall(), fmt.Sprintf(format, args...), alert})
	if len(t.messages) > maxMessages {
		t.messages = t.messages[1:]
	}
	t.signal()
}

func (t *Table) signal() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// enter applies an entry after it was journaled. An entry that cannot be journaled
// takes effect all the same, since the game's clock does not wait; the operator is
// told until it is on the disk. The caller holds mu, or is Open.
func (t *Table) enter(e Entry) error {
	if e.At.IsZero() {
		e.At = t.now()
	}
	next := t.game.clone()
	if err := next.Apply(e); err != nil {
		return err
	}
	before := t.store.failed
	if err := t.store.append(e); err != nil && before == nil {
		t.alert("NOT SAVED: %v. The game goes on, but is lost if the program ends now. Make space on the disk.", err)
	} else if err == nil && before != nil {
		t.alert("The journal is saved again.")
	}
	t.game = next
	t.signal()
	return nil
}

// Run plays for the engine until ctx ends.
func (t *Table) Run(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		t.tick()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tick does what time asks for.
func (t *Table) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.now()
	if slept := at.Sub(t.last); slept > gap {
		t.alert("The machine stood still for %s; the clocks went on.", ClockText(slept))
		t.player.restart()
	}
	t.last = at
	if ahead := t.keeper.ahead(); (ahead - t.game.ahead).Abs() > leap {
		by, where := ahead-t.game.ahead, "back"
		if by < 0 {
			by, where = -by, "forward"
		}
		t.alert("This machine's clock was set %s by %s. The clocks of the game do not follow it.", where, ClockText(by))
		if err := t.enter(Entry{Kind: SetWall, AheadMS: ahead.Milliseconds()}); err != nil {
			t.alert("%v", err)
		}
	}
	if t.store.failed != nil && t.store.flush() == nil {
		t.alert("The journal is saved again.")
	}
	if at.Sub(t.beat) >= heartbeat {
		t.store.alive(t.keeper.wall())
		t.beat = at
	}
	t.player.drive()
}

// Close stops the engine, waits for the record and closes the journal. The error is that
// of an entry or of a record that could not be saved.
func (t *Table) Close() error {
	t.player.close()
	unkept := t.Exported()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	return errors.Join(unkept, t.store.close(t.game.Phase() == Ended))
}

// decided takes the choice of our engine. The caller holds mu.
func (t *Table) decided(move string, think *record.Think) {
	if err := t.enter(Entry{Kind: Decision, Move: move, Think: think}); err != nil {
		t.alert("The engine's move %s was not taken: %v", move, err)
		return
	}
	t.announce()
	if t.game.Terms.HandMS == 0 {
		if err := t.made(time.Time{}); err != nil {
			t.alert("%v", err)
			return
		}
		t.afterMove()
	}
}

// announce tells the operator the move that our engine has decided on, if it has.
func (t *Table) announce() {
	if c := t.game.Choice; c != nil {
		t.alert("WE PLAY  %s", strings.Join(shown(t.game.pos, t.game.parse(c.Move), t.o.UCI), "   "))
	}
}

// made notes that the operator has made our move on the board, at a time or now.
func (t *Table) made(at time.Time) error {
	c := t.game.Choice
	if c == nil {
		return now("no move of ours waits")
	}
	return t.enter(Entry{At: at, Kind: Move, Move: c.Move, By: ByEngine, Think: c.Think})
}

// View is what a screen shows.
type View struct {
	Game     *Game // a copy
	Phase    Phase
	Pos      game.Position
	Now      time.Time
	Clocks   Clocks
	Prompt   string    // what the operator is to do
	Moves    []string  // played, as they are spoken
	Shown    []string  // our move in every notation, the spoken one first, while it is announced
	Messages []Message // the last ones
	Engine   Activity
	// Unsaved is why the journal is not on the disk; "": it is.
	Unsaved string
	Journal string
	UCI     bool
}

// Activity is what our engine does.
type Activity struct {
	State    string // "thinking", "pondering", "ready", "starting", "failed", "idle"
	For      time.Duration
	Expected string // the reply that it ponders on
	Depth    int
	Chance   float64 // of winning for us
	Score    int     // for us
	Line     []string
	Nodes    uint64
	Known    bool // Depth, Chance, Score and Line are
}

// View returns what a screen shows now.
func (t *Table) View() View {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.game.clone()
	v := View{Game: g, Phase: g.Phase(), Pos: g.pos, Now: t.now(), Engine: t.player.activity(), Journal: t.store.path, UCI: t.o.UCI}
	v.Clocks = g.Clocks(v.Now)
	if g.Choice != nil {
		v.Shown = shown(g.pos, g.parse(g.Choice.Move), t.o.UCI)
	}
	if t.store.failed != nil {
		v.Unsaved = t.store.failed.Error()
	}
	v.Messages, v.Moves = slices.Clone(t.messages), t.moves()
	v.Prompt = v.prompt()
	return v
}

// Outcome says how the game ended, "" before its end.
func (v *View) Outcome() string {
	out := v.Game.Outcome()
	if v.Game.End != nil {
		out = v.Game.End.Outcome
	}
	if !out.Over() && v.Game.End == nil {
		return ""
	}
	text := words.Outcome(out, sides(v.Pos))
	if v.Game.End != nil && v.Game.End.Text != "" {
		text += " " + v.Game.End.Text
		if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "。") { // as typed; others follow
			text += "."
		}
	}
	return text
}

// moves returns the moves as they are spoken. The caller holds mu.
func (t *Table) moves() []string {
	key := keyOf(t.game, nil)
	if key == t.spokenKey {
		return t.spoken
	}
	pos, err := t.game.Terms.start()
	if err != nil {
		return nil
	}
	t.spokenKey, t.spoken = key, nil
	for _, p := range t.game.Plies {
		text := p.Move
		if pos.Outcome().Over() {
			game.PlayOn(pos)
		}
		if m, err := pos.Parse(p.Move); err == nil {
			text = spoken(pos, m, t.o.UCI)
			if pos.Play(m) != nil {
				break // can't happen: the moves were played
			}
		}
		t.spoken = append(t.spoken, text)
	}
	return t.spoken
}

// spoken writes a move as it is spoken.
func spoken(p game.Position, m game.Move, uci bool) string { return shown(p, m, uci)[0] }

// shown writes a move in every notation, the spoken one first; what an opening
// procedure decides has words.
func shown(p game.Position, m game.Move, uci bool) []string {
	all := Writings(p, m, uci)
	if in := words.Move(all[0]); in != all[0] {
		return append([]string{in}, all...)
	}
	return all
}

// prompt says what the operator is to do.
func (v *View) prompt() string {
	g := v.Game
	us := Colour(v.Pos, g.Terms.Us)
	if len(g.Away) > 0 && v.Phase != Ended {
		return fmt.Sprintf("The program was away for %s. Compare both clocks: Enter if they are right; clock us 12:34 or clock them 12:34 corrects; stood if they had been stopped.", ClockText(g.absent()))
	}
	switch v.Phase {
	case Setup:
		return fmt.Sprintf("We play %s. %s begins. Enter when the arbiter starts the clocks.", us, who(g, v.Pos.Turn()))
	case Thinking:
		if v.Engine.State == "failed" {
			return "The engine has failed. Enter our move by hand (hand MOVE), or engine to start it again."
		}
		if g.standing() {
			return withStage("Our engine waits for them. (hand MOVE: play a move without it)", v)
		}
		return withStage("Our engine thinks. (now: move at once; hand MOVE: play another move)", v)
	case Announced:
		if s, ok := v.Pos.(game.Staged); ok && !s.OnBoard(g.parse(g.Choice.Move)) {
			return withStage("Tell the opponent, press the clock, then Enter.", v)
		}
		return withStage("Make this move on the board, press the clock, then Enter.", v)
	case Fixing:
		p := g.Taken[len(g.Taken)-1]
		if p.Seat == g.Terms.Us && len(g.Taken) == 1 && v.Pos.Turn() == p.Seat {
			return fmt.Sprintf("We had played %s. redo if it stands on the board; hand MOVE if another one does; unplayed if none was made.", p.Move)
		}
		return fmt.Sprintf("Taken back: %s by %s. Enter the move that was really made; or redo (it was right), or unplayed (none was made).", p.Move, whose(g, p.Seat))
	case RuleEnd:
		return v.Outcome() + " Enter if the arbiter agrees; play on if not; undo for a typing error."
	case Ended:
		return "The game has ended: " + v.Outcome() + " export writes the record again, reopen undoes the end, quit leaves."
	}
	if g.Offer != nil && *g.Offer == g.Terms.Us {
		return withStage("We have offered a draw: accept if the opponent agrees, else decline or the opponent's move.", v)
	}
	return withStage("Enter the opponent's move.", v)
}

// withStage adds what an opening procedure asks for, and an open offer of the opponent.
func withStage(text string, v *View) string {
	if s := stageText(v.Pos, v.Game.Terms.Us); s != "" {
		text = s + " " + text
	}
	if o := v.Game.Offer; o != nil && *o != v.Game.Terms.Us {
		text = "The opponent offers a draw: accept or decline. " + text
	}
	if v.Clocks.Turn == v.Game.Terms.Us && v.Game.standing() {
		text = "The clocks stand (go starts them). " + text
	}
	return text
}

// who names a seat at the beginning of a sentence.
func who(g *Game, s game.Seat) string {
	if s == g.Terms.Us {
		return "Our side"
	}
	return "The opponent"
}

// whose names a seat within a sentence.
func whose(g *Game, s game.Seat) string {
	if s == g.Terms.Us {
		return "us"
	}
	return cmp.Or(g.Terms.Names[s], "the opponent")
}

// errQuit is returned by Do for the command that leaves.
var errQuit = errors.New("quit")

// Quit reports whether an error of Do asks to leave.
func Quit(err error) bool { return errors.Is(err, errQuit) }
