// Package clock is the arithmetic of game clocks: what a clock is called,
// what a move costs, when a flag falls. It never reads the time of day, so
// referees, engines and tests share it.
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
	PerMove                 // Period for every move; nothing is saved
)

// Spec is a time control. The zero value is unlimited.
type Spec struct {
	Kind      Kind
	Initial   time.Duration
	Increment time.Duration // Fischer only
	Periods   int           // ByoYomi only, at least 1
	Period    time.Duration // ByoYomi and PerMove
}

// State is one seat's clock at rest.
type State struct {
	Left    time.Duration // main time left
	Periods int           // byo-yomi periods left
}

// ErrSyntax: a text that names no clock.
var ErrSyntax = errors.New("clock")

// Longest is the longest time a Spec may name: a week, in any of its fields.
const Longest = 7 * 24 * time.Hour

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
		return Spec{}, fmt.Errorf("%w %.40q: %s (want 300, 10+0.1, 60/5x10, 5/move or unlimited)", ErrSyntax, text, why)
	}
	if text == "unlimited" {
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
	if whole == "" || len(whole) > 6 || len(frac) > 3 || strings.HasSuffix(s, ".") {
		return 0, errors.New("not a number of seconds")
	}
	ms, err := strconv.ParseUint(whole+(frac + "000")[:3], 10, 32)
	if err != nil {
		return 0, errors.New("not a number of seconds")
	}
	d := time.Duration(ms) * time.Millisecond
	if d > Longest {
		return 0, errors.New("longer than a week")
	}
	return d, nil
}

func text(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Milliseconds())/1000, 'f', -1, 64)
}

// String is the form that Parse reads.
func (s Spec) String() string {
	switch s.Kind {
	case SuddenDeath:
		return text(s.Initial)
	case Fischer:
		return text(s.Initial) + "+" + text(s.Increment)
	case ByoYomi:
		return text(s.Initial) + "/" + strconv.Itoa(s.Periods) + "x" + text(s.Period)
	case PerMove:
		return text(s.Period) + "/move"
	}
	return "unlimited"
}

// MarshalText writes the clock as String does.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads it as Parse does.
func (s *Spec) UnmarshalText(b []byte) error {
	v, err := Parse(string(b))
	if err == nil {
		*s = v
	}
	return err
}

// Start is a seat's clock before its first move.
func (s Spec) Start() State {
	return State{Left: s.Initial, Periods: s.Periods}
}

// Budget is how long the seat may think before its flag falls; ok is false
// where no flag ever falls.
func (s Spec) Budget(st State) (d time.Duration, ok bool) {
	switch s.Kind {
	case Unlimited:
		return 0, false
	case PerMove:
		return s.Period, true
	case ByoYomi:
		return st.Left + time.Duration(st.Periods)*s.Period, true
	}
	return st.Left, true
}

// Charge is the clock after a move that took used; ok is false when the flag
// fell first, and the state is then what the flag left: nothing.
func (s Spec) Charge(st State, used time.Duration) (after State, ok bool) {
	used = max(used, 0)
	if budget, limited := s.Budget(st); limited && used > budget {
		return State{}, false
	}
	switch s.Kind {
	case SuddenDeath:
		st.Left -= used
	case Fischer:
		st.Left += s.Increment - used
	case ByoYomi:
		if used <= st.Left {
			st.Left -= used
			break
		}
		over := used - st.Left
		st.Left = 0
		// The last period is never taken away by a move made within it.
		if gone := int(over / s.Period); gone > 0 {
			st.Periods = max(st.Periods-gone, 1)
		}
	}
	return st, true
}

// Speed is the class that ratings are kept in.
type Speed string

// The speeds, by the time one seat is expected to have for a game of 40 moves.
const (
	Bullet         Speed = "bullet"         // under 3 minutes
	Blitz          Speed = "blitz"          // under 8 minutes
	Rapid          Speed = "rapid"          // under 25 minutes
	Classical      Speed = "classical"      // longer
	Correspondence Speed = "correspondence" // unlimited
)

// Expected is the time that one seat is expected to have for a game, as the
// established servers count: initial time plus 40 times what a move adds. Ok
// is false where no flag ever falls.
func (s Spec) Expected() (d time.Duration, ok bool) {
	return s.Initial + 40*(s.Increment+s.Period), s.Kind != Unlimited
}

// Speed classifies the clock by Expected.
func (s Spec) Speed() Speed {
	expected, limited := s.Expected()
	switch {
	case !limited:
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
