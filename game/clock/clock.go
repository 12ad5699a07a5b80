// Package clock is the arithmetic of game clocks: the text form of a time
// control, what a move costs, when a flag falls. It never reads the time of
// day, so referees, engines and tests share it.
//
// A kind of clock is known to [Parse], [Spec.String] and [Spec.Traits] alone.
// Everything else follows from its traits.
package clock

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is the way a clock treats the time a move took.
type Kind uint8

// The kinds of clock.
const (
	Unlimited   Kind = iota // no flag ever falls
	SuddenDeath             // Initial for the whole game
	Fischer                 // Initial, and Increment added after each move
	ByoYomi                 // Initial, then Periods of Period each; a period is used up only when a move takes all of it
	PerMove                 // Period for every move; unused time is not saved
	kinds                   // their number
)

// examples has a clock of each kind, as Parse reads it.
var examples = [kinds]string{
	Unlimited:   "unlimited",
	SuddenDeath: "300",
	Fischer:     "10+0.1",
	ByoYomi:     "60/5x10",
	PerMove:     "5/move",
}

// Kinds lists every kind of clock.
func Kinds() []Kind {
	list := make([]Kind, kinds)
	for i := range list {
		list[i] = Kind(i)
	}
	return list
}

// Example returns the text of a clock of this kind.
func (k Kind) Example() string { return examples[k] }

// Forms lists an example of every kind, for help and error texts.
func Forms() string {
	var limited []string
	for _, k := range Kinds()[Unlimited+1:] {
		limited = append(limited, k.Example())
	}
	return strings.Join(limited, ", ") + " or " + Unlimited.Example()
}

// Spec is a time control. The zero value is unlimited.
type Spec struct {
	Kind      Kind
	Initial   time.Duration
	Increment time.Duration // Fischer only
	Periods   int           // ByoYomi only, at least 1
	Period    time.Duration // ByoYomi and PerMove
}

// ErrSyntax is wrapped by the errors of Parse.
var ErrSyntax = errors.New("clock")

// SyntaxError is the error of Parse. It wraps ErrSyntax.
type SyntaxError struct {
	Text string // as it was given
	Why  string // what is wrong with it, without quoting it
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v %.40q: %s (want %s)", ErrSyntax, e.Text, e.Why, Forms())
}

func (e *SyntaxError) Unwrap() error { return ErrSyntax }

// Longest is the longest time a Spec may name: two weeks, in any of its fields.
const Longest = 14 * 24 * time.Hour

// MaxPeriods is the most byo-yomi periods a Spec may name.
const MaxPeriods = 100

// Parse reads a clock; all numbers are seconds with up to three decimals:
//
//	300        sudden death
//	10+0.1     Fischer: initial + increment
//	60/5x10    byo-yomi: initial / periods x period
//	5/move     fixed per move
//	unlimited  no limit
func Parse(text string) (Spec, error) {
	bad := func(why string) (Spec, error) {
		return Spec{}, &SyntaxError{Text: text, Why: why}
	}
	if text == examples[Unlimited] {
		return Spec{}, nil
	}
	if head, ok := strings.CutSuffix(text, "/move"); ok {
		d, err := seconds(head)
		if err != nil {
			return bad(err.Error())
		}
		if d == 0 {
			return bad("no time")
		}
		return Spec{Kind: PerMove, Period: d}, nil
	}
	if head, tail, ok := strings.Cut(text, "/"); ok {
		count, period, ok := strings.Cut(tail, "x")
		n, err := strconv.Atoi(count)
		if !ok || err != nil || n < 1 || n > MaxPeriods {
			return bad(fmt.Sprintf("periods must be 1 to %d", MaxPeriods))
		}
		initial, err := seconds(head)
		if err != nil {
			return bad(err.Error())
		}
		d, err := seconds(period)
		if err != nil {
			return bad(err.Error())
		}
		if d == 0 {
			return bad("no time in a period")
		}
		return Spec{Kind: ByoYomi, Initial: initial, Periods: n, Period: d}, nil
	}
	head, tail, fischer := strings.Cut(text, "+")
	initial, err := seconds(head)
	if err != nil {
		return bad(err.Error())
	}
	if !fischer {
		if initial == 0 {
			return bad("no time")
		}
		return Spec{Kind: SuddenDeath, Initial: initial}, nil
	}
	inc, err := seconds(tail)
	if err != nil {
		return bad(err.Error())
	}
	if initial+inc == 0 {
		return bad("no time")
	}
	return Spec{Kind: Fischer, Initial: initial, Increment: inc}, nil
}

// seconds reads a decimal number of seconds exactly: floats would not round-trip.
func seconds(s string) (time.Duration, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if whole == "" || len(whole) > 7 || len(frac) > 3 || strings.HasSuffix(s, ".") {
		return 0, errors.New("not a number of seconds")
	}
	ms, err := strconv.ParseUint(whole+(frac + "000")[:3], 10, 32)
	if err != nil {
		return 0, errors.New("not a number of seconds")
	}
	d := time.Duration(ms) * time.Millisecond
	if d > Longest {
		return 0, errors.New("longer than two weeks")
	}
	return d, nil
}

func text(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Milliseconds())/1000, 'f', -1, 64)
}

// String returns the form that Parse reads.
func (s Spec) String() string {
	switch s.Kind {
	case Unlimited:
		return examples[Unlimited]
	case SuddenDeath:
		return text(s.Initial)
	case Fischer:
		return text(s.Initial) + "+" + text(s.Increment)
	case ByoYomi:
		return text(s.Initial) + "/" + strconv.Itoa(s.Periods) + "x" + text(s.Period)
	case PerMove:
		return text(s.Period) + "/move"
	}
	return fmt.Sprintf("clock of unknown kind %d", s.Kind)
}

// MarshalText writes the clock as String does.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the clock as Parse does.
func (s *Spec) UnmarshalText(b []byte) error {
	v, err := Parse(string(b))
	if err == nil {
		*s = v
	}
	return err
}

// Traits describe a time control without its kind.
type Traits struct {
	Limited   bool          // a flag can fall
	Saves     bool          // time that a move leaves unused stays on the clock
	Increment time.Duration // added to the main time after each move
	Period    time.Duration // free time per move, beyond the main time
}

// Traits describes the time control.
func (s Spec) Traits() Traits {
	switch s.Kind {
	case Unlimited:
		return Traits{}
	case SuddenDeath:
		return Traits{Limited: true, Saves: true}
	case Fischer:
		return Traits{Limited: true, Saves: true, Increment: s.Increment}
	case ByoYomi:
		return Traits{Limited: true, Saves: true, Period: s.Period}
	case PerMove:
		return Traits{Limited: true, Period: s.Period}
	}
	panic(s.String()) // a kind is a constant of this package: the program is at fault
}

// State is one seat's clock between its turns.
type State struct {
	Left    time.Duration // main time left
	Periods int           // byo-yomi periods left
}

// Turn is one seat's clock during its turn.
type Turn struct {
	State
	Used time.Duration // of the current period
}

// Start returns a seat's clock before its first move.
func (s Spec) Start() State {
	return State{Left: s.Initial, Periods: s.Periods}
}

// Advance runs the clock for d. It uses the main time first, then whole periods
// except the last one; the rest is used of the current period.
func (s Spec) Advance(t Turn, d time.Duration) Turn {
	switch traits := s.Traits(); {
	case !traits.Limited:
	case traits.Period == 0:
		t.Left -= d // below zero the flag has fallen: see Remaining
	default:
		main := min(d, t.Left)
		t.Left -= main
		t.Used += d - main
		// The last period stays, so that more time used than it has is a fallen flag.
		if gone := min(int(t.Used/traits.Period), t.Periods-1); gone > 0 {
			t.Periods -= gone
			t.Used -= time.Duration(gone) * traits.Period
		}
	}
	return t
}

// Remaining returns the time until the flag falls; it is negative if the flag has
// fallen. Ok is false for clocks without a limit.
func (s Spec) Remaining(t Turn) (d time.Duration, ok bool) {
	traits := s.Traits()
	periods := t.Periods
	if !traits.Saves {
		periods = 1 // a new one for every move
	}
	return t.Left + time.Duration(periods)*traits.Period - t.Used, traits.Limited
}

// Finish returns the clock after the move that ends the turn; ok is false if the
// flag fell first; the clock is then zero.
func (s Spec) Finish(t Turn) (after State, ok bool) {
	if d, limited := s.Remaining(t); limited && d < 0 {
		return State{}, false
	}
	t.Left += s.Traits().Increment
	return t.State, true
}

// Budget is Remaining at the start of a turn.
func (s Spec) Budget(st State) (d time.Duration, ok bool) {
	return s.Remaining(Turn{State: st})
}

// Check returns an error for a clock by which no game can be played: it has no time for a
// seat's first move, as 0+1, whose increment comes after it. Parse reads such clocks,
// since records may have them.
func (s Spec) Check() error {
	if first, limited := s.Budget(s.Start()); limited && first <= 0 {
		return errors.New("no time for the first move; want more than 0 before the +")
	}
	return nil
}

// Charge returns the clock after a move that took used; ok is false if the flag
// fell first; the clock is then zero.
func (s Spec) Charge(st State, used time.Duration) (after State, ok bool) {
	return s.Finish(s.Advance(Turn{State: st}, max(used, 0)))
}

// Speed is the class that ratings are kept in.
type Speed string

// The speeds, by the time one seat is expected to have for a game of 40 moves.
const (
	Bullet         Speed = "bullet"         // under 3 minutes
	Blitz          Speed = "blitz"          // under 8 minutes
	Rapid          Speed = "rapid"          // under 25 minutes
	Classical      Speed = "classical"      // under a day
	Correspondence Speed = "correspondence" // longer, such as days a move, or unlimited
)

// Known reports whether it is one of the speeds above.
func (s Speed) Known() bool {
	switch s {
	case Bullet, Blitz, Rapid, Classical, Correspondence:
		return true
	}
	return false
}

// Expected returns the time that one seat is expected to have for a game, counted
// as the established servers do: initial time plus 40 times what a move adds.
// Ok is false for clocks without a limit.
func (s Spec) Expected() (d time.Duration, ok bool) {
	traits := s.Traits()
	return s.Initial + 40*(traits.Increment+traits.Period), traits.Limited
}

// Speed classifies the clock by Expected.
func (s Spec) Speed() Speed {
	expected, limited := s.Expected()
	switch {
	case !limited, expected >= 24*time.Hour:
		return Correspondence
	case expected < 3*time.Minute:
		return Bullet
	case expected < 8*time.Minute:
		return Blitz
	case expected < 25*time.Minute:
		return Rapid
	}
	return Classical
}
