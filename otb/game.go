package otb

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/record"
)

// Ply is a move on the board.
type Ply struct {
	Seat  game.Seat
	Next  game.Seat // acts after it
	Move  string    // as Position.Format writes it
	At    time.Time // when it was made
	By    By
	Think *record.Think

	before uint64        // key of the position before it
	hand   time.Duration // from our engine's decision to the move on the board
}

// Choice is a move that our engine has decided on, and that is not made yet.
type Choice struct {
	Move  string
	At    time.Time
	Think *record.Think
}

// Ending is how a game ended.
type Ending struct {
	At time.Time
	game.Outcome
	Text   string
	ByRule bool // the rules ended it
}

// Remark is a note for the record.
type Remark struct {
	At   time.Time
	Ply  int // moves played by then
	Text string
}

// Absence is a time in which the program was away.
type Absence struct{ From, To time.Time }

// Game is a game at a table, as its entries tell it. Its fields are to be read only.
type Game struct {
	Terms   Terms
	Started time.Time // zero: not yet
	Plies   []Ply
	Taken   []Ply   // moves taken back as typing errors, the earliest last
	Choice  *Choice // our engine's, for the current position
	Offer   *game.Seat
	End     *Ending
	Notes   []Remark
	// Away are the times in which the program was away, until the operator confirms the
	// clocks.
	Away []Absence
	Last time.Time // of the last entry

	pos      game.Position
	first    game.Seat // acts first
	stood    []span
	settings []setting
	playedOn []int         // plies after which the arbiter had the game go on
	ahead    time.Duration // of the table's time before the machine's
}

// New returns a game before its start.
func New(t Terms) (*Game, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	pos, err := t.start()
	if err != nil {
		return nil, err
	}
	return &Game{Terms: t, pos: pos, first: pos.Turn()}, nil
}

// Position returns a copy of the position on the board.
func (g *Game) Position() game.Position { return g.pos.Clone() }

// Phase is what the game waits for.
type Phase string

// The phases.
const (
	Setup     Phase = "setup"     // the start of the clocks
	Theirs    Phase = "theirs"    // the opponent's move
	Thinking  Phase = "thinking"  // our engine
	Announced Phase = "announced" // the operator makes our move on the board
	Fixing    Phase = "fixing"    // the right move in place of one taken back
	RuleEnd   Phase = "rule-end"  // the operator confirms the end by the rules
	Ended     Phase = "ended"
)

// Phase returns the phase of the game.
func (g *Game) Phase() Phase {
	switch {
	case g.End != nil:
		return Ended
	case g.Started.IsZero():
		return Setup
	case len(g.Taken) > 0:
		return Fixing
	case g.Outcome().Over():
		return RuleEnd
	case g.pos.Turn() != g.Terms.Us:
		return Theirs
	case g.Choice != nil:
		return Announced
	}
	return Thinking
}

// MaxPliesReason is the reason of a draw by the event's limit of plies.
const MaxPliesReason game.Reason = "max-plies"

// Outcome returns how the game has ended by its rules and the event's limit of plies. The
// limit is no more after an arbiter has let the game go on beyond it.
func (g *Game) Outcome() game.Outcome {
	out := g.pos.Outcome()
	beyond := func(plies int) bool { return plies >= g.Terms.MaxPlies }
	if n := g.Terms.MaxPlies; !out.Over() && n > 0 && len(g.Plies) >= n && !slices.ContainsFunc(g.playedOn, beyond) {
		return game.Outcome{Result: game.Draw, Reason: MaxPliesReason}
	}
	return out
}

// ErrNow is wrapped by errors about an entry that is not possible in this phase.
var ErrNow = errors.New("not possible now")

func now(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNow, fmt.Sprintf(format, args...))
}

// Apply changes the game by an entry. If the error is not nil, nothing has changed.
func (g *Game) Apply(e Entry) error {
	next := g.clone()
	if e.At.Before(g.Last) {
		e.At = g.Last // the machine's clock was set back, in a journal of an older version
	}
	if err := next.apply(e); err != nil {
		return err
	}
	next.Last = e.At
	*g = *next
	return nil
}

func (g *Game) clone() *Game {
	c := *g
	c.pos = g.pos.Clone()
	c.Plies, c.Taken, c.Notes = slices.Clone(g.Plies), slices.Clone(g.Taken), slices.Clone(g.Notes)
	c.Away = slices.Clone(g.Away)
	c.stood, c.settings, c.playedOn = slices.Clone(g.stood), slices.Clone(g.settings), slices.Clone(g.playedOn)
	return &c
}

// running are the entries of a game that has started and not ended.
var running = []Kind{Decision, Move, Undo, Unplayed, Stop, Go, Offer, Decline, PlayOn}

func (g *Game) apply(e Entry) error {
	if slices.Contains(running, e.Kind) {
		switch {
		case g.End != nil:
			return now("the game has ended (reopen undoes that)")
		case g.Started.IsZero():
			return now("the clocks have not been started")
		}
	}
	switch e.Kind {
	case Start:
		if !g.Started.IsZero() {
			return now("the clocks were started before")
		}
		g.Started = e.At
	case Decision:
		return g.decide(e)
	case Move:
		return g.move(e)
	case Undo:
		return g.undo()
	case Unplayed:
		if len(g.Taken) == 0 {
			return now("no move was taken back")
		}
		if p := g.Taken[len(g.Taken)-1]; p.By == ByEngine && p.before == g.pos.Key() {
			g.Choice = &Choice{p.Move, p.At, p.Think} // it was not made yet
		}
		g.Taken = nil
	case SetClock:
		if !g.Terms.Clock.Traits().Limited {
			return now("this game has no clocks")
		}
		if e.LeftMS < 0 || time.Duration(e.LeftMS)*time.Millisecond > clock.Longest || e.Periods < 0 || e.Periods > clock.MaxPeriods {
			return fmt.Errorf("%d ms and %d periods: out of range", e.LeftMS, e.Periods)
		}
		g.settings = append(g.settings, setting{e.At, e.Seat, clock.State{Left: time.Duration(e.LeftMS) * time.Millisecond, Periods: e.Periods}})
	case Stop:
		if g.standing() {
			return now("the clocks stand")
		}
		g.stood = append(g.stood, span{from: e.At})
	case Go:
		if !g.standing() {
			return now("the clocks run")
		}
		g.stood[slices.IndexFunc(g.stood, span.open)].to = e.At
	case Offer:
		if g.Offer != nil {
			return now("a draw has been offered")
		}
		g.Offer = &e.Seat
	case Decline:
		if g.Offer == nil {
			return now("no draw was offered")
		}
		g.Offer = nil
	case Note:
		g.Notes = append(g.Notes, Remark{e.At, len(g.Plies), e.Text})
	case PlayOn:
		return g.playOn(e)
	case End:
		return g.end(e)
	case Reopen:
		if g.End == nil {
			return now("the game has not ended")
		}
		g.End = nil
	case Resume:
		g.Away = append(g.Away, Absence{e.From, e.At})
	case Confirm:
		if len(g.Away) == 0 {
			return now("there is nothing to confirm")
		}
		g.Away = nil
	case Stood:
		if len(g.Away) == 0 {
			return now("the program was not away")
		}
		for _, a := range g.Away {
			if !g.Started.IsZero() {
				g.stood = append(g.stood, span{later(a.From, g.Started), later(a.To, g.Started)})
			}
		}
		g.Away = nil
	case SetWall:
		g.ahead = time.Duration(e.AheadMS) * time.Millisecond
	default:
		return fmt.Errorf("no kind of entry %.20q", e.Kind)
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// standing reports whether the operator has stopped the clocks.
func (g *Game) standing() bool { return slices.ContainsFunc(g.stood, span.open) }

// absent returns how long the program was away in all since the clocks were last right.
func (g *Game) absent() (d time.Duration) {
	for _, a := range g.Away {
		d += a.To.Sub(a.From)
	}
	return d
}

// decide notes the choice of our engine.
func (g *Game) decide(e Entry) error {
	if g.Phase() != Thinking {
		return now("it is not for our engine to move")
	}
	if err := g.Position().Play(g.parse(e.Move)); err != nil {
		return fmt.Errorf("move %.20q: %w", e.Move, err)
	}
	g.Choice = &Choice{e.Move, e.At, e.Think}
	return nil
}

// parse reads a move of the journal; NoMove if it isn't a move.
func (g *Game) parse(text string) game.Move {
	m, err := g.pos.Parse(text)
	if err != nil {
		return game.NoMove
	}
	return m
}

// move makes a move on the board. In place of a move taken back, it was made at the
// time of that one.
func (g *Game) move(e Entry) error {
	if out := g.Outcome(); out.Over() {
		return fmt.Errorf("%w: %s", game.ErrOver, out.Reason)
	}
	m, err := g.pos.Parse(e.Move)
	if err != nil {
		return err
	}
	p := Ply{Seat: g.pos.Turn(), Move: g.pos.Format(m), At: e.At, By: e.By, Think: e.Think, before: g.pos.Key()}
	if n := len(g.Taken); n > 0 {
		p.At = g.Taken[n-1].At
		g.Taken = g.Taken[:n-1]
	} else if e.By == ByEngine && g.Choice != nil {
		p.hand = e.At.Sub(g.Choice.At)
	}
	if err := g.pos.Play(m); err != nil {
		return err
	}
	p.Next = g.pos.Turn()
	if p.Seat != g.Terms.Us {
		p.By, p.Think = "", nil
		if g.Offer != nil && *g.Offer == g.Terms.Us {
			g.Offer = nil // a move declines
		}
	} else if g.Offer != nil && *g.Offer != g.Terms.Us {
		g.Offer = nil
	}
	g.Plies = append(g.Plies, p)
	g.Choice = nil
	return nil
}

// undo takes back the last move as a typing error.
func (g *Game) undo() error {
	n := len(g.Plies)
	if n == 0 {
		return now("no move was made")
	}
	g.Taken = append(g.Taken, g.Plies[n-1])
	return g.replay(g.Plies[:n-1])
}

// replay sets up the position after some moves.
func (g *Game) replay(plies []Ply) error {
	pos, err := g.Terms.start()
	if err != nil {
		return err
	}
	g.playedOn = slices.DeleteFunc(g.playedOn, func(n int) bool { return n > len(plies) })
	for i, p := range plies {
		if _, err := game.PlayText(pos, p.Move); err != nil {
			return err
		}
		if slices.Contains(g.playedOn, i+1) {
			game.PlayOn(pos)
		}
	}
	g.pos, g.Plies, g.Choice = pos, plies, nil
	return nil
}

// playOn continues a game that the rules have ended. The clocks stood since.
func (g *Game) playOn(e Entry) error {
	if g.Phase() != RuleEnd {
		return now("the rules have not ended the game")
	}
	if g.pos.Outcome().Over() && !game.PlayOn(g.pos) {
		return now("no move is left, or the game is won on the board")
	}
	g.playedOn = append(g.playedOn, len(g.Plies))
	g.stood = append(g.stood, span{g.lastMoveAt(), e.At})
	return nil
}

func (g *Game) lastMoveAt() time.Time {
	if n := len(g.Plies); n > 0 {
		return g.Plies[n-1].At
	}
	return g.Started
}

// end ends the game.
func (g *Game) end(e Entry) error {
	if g.End != nil {
		return now("the game has ended (reopen undoes that)")
	}
	out := g.Outcome()
	g.End = &Ending{At: e.At, Outcome: game.Outcome{Result: e.Result, Reason: e.Reason}, Text: e.Text}
	if out.Over() && out == g.End.Outcome {
		g.End.ByRule, g.End.At = true, cmp.Or(g.lastMoveAt(), e.At)
	}
	g.Offer = nil
	return nil
}

// Of the operator's last handSample moves the slower ones tell how long the next may
// take, but no more than maxHand: somebody who was away is not slow.
const (
	handSample = 5
	maxHand    = 20 * time.Second
)

// hand returns how long the operator takes to make a move of ours: as the terms say, or
// longer if the median of the last moves was.
func (g *Game) hand() time.Duration {
	var last []time.Duration
	for _, p := range slices.Backward(g.Plies) {
		if p.hand > 0 && len(last) < handSample {
			last = append(last, min(p.hand, maxHand))
		}
	}
	if g.Terms.hand() == 0 || len(last) < handSample {
		return g.Terms.hand()
	}
	slices.Sort(last)
	return max(g.Terms.hand(), last[len(last)/2])
}

// Repeated returns after which plies the position on the board stood there before.
func (g *Game) Repeated() (plies []int) {
	pos, err := g.Terms.start()
	if err != nil {
		return nil
	}
	key := g.pos.Key()
	for i := 0; ; i++ {
		if pos.Key() == key && i < len(g.Plies) {
			plies = append(plies, i)
		}
		if i == len(g.Plies) {
			return plies
		}
		if _, err := game.PlayText(pos, g.Plies[i].Move); err != nil {
			game.PlayOn(pos)
			if _, err := game.PlayText(pos, g.Plies[i].Move); err != nil {
				return plies
			}
		}
	}
}
