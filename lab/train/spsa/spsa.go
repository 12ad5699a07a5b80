// Package spsa tunes numbers of an engine by games against itself: simultaneous
// perturbation stochastic approximation. In each pair of games all parameters are
// changed at once, at random up or down, and one player has them so, the other the
// other way round. Whoever wins moves every parameter a little to its side.
//
// [Tuning] is the method, [Run] plays the games.
//
// Sources: J. C. Spall, "Multivariate stochastic approximation using a simultaneous
// perturbation gradient approximation", IEEE Transactions on Automatic Control 37
// (1992), 332-341; and "Implementation of the simultaneous perturbation algorithm for
// stochastic optimization", IEEE Transactions on Aerospace and Electronic Systems 34
// (1998), 817-823, for the exponents and the stability constant. The schedule, given
// by its end, is that of Fishtest (official-stockfish/fishtest), where Stockfish is
// tuned.
package spsa

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"sparring/lab/match/elo"
)

// Param is a number of the engine to tune.
type Param struct {
	Name            string
	Start, Min, Max float64
	// Step is how far from its value the parameter is tried, up and down, in the
	// last pair; in earlier pairs it is a little more (c_end in Fishtest).
	Step float64
	// Whole parameters have only whole values. Others between these are rounded up or
	// down at random, so that they are right on average.
	Whole bool
}

// ParseParam parses NAME=START,MIN,MAX,STEP. The parameter is whole if all but the
// step are written without a decimal point.
func ParseParam(text string) (Param, error) {
	wrong := func(format string, args ...any) (Param, error) {
		return Param{}, fmt.Errorf("%.80q: %w", text, fmt.Errorf(format, args...))
	}
	i := strings.LastIndex(text, "=")
	if i < 1 {
		return wrong("want NAME=START,MIN,MAX,STEP, such as Contempt=0,-50,50,10")
	}
	p := Param{Name: strings.TrimSpace(text[:i]), Whole: true}
	fields := strings.Split(text[i+1:], ",")
	if len(fields) != 4 {
		return wrong("%d numbers after the name, want 4: START,MIN,MAX,STEP", len(fields))
	}
	for k, into := range []*float64{&p.Start, &p.Min, &p.Max, &p.Step} {
		field := strings.TrimSpace(fields[k])
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return wrong("%.40q is not a number", field)
		}
		*into = v
		if k < 3 && strings.ContainsAny(field, ".eE") {
			p.Whole = false
		}
	}
	if err := p.validate(); err != nil {
		return wrong("%w", err)
	}
	return p, nil
}

// String returns a form that ParseParam parses.
func (p Param) String() string {
	text := func(v float64) string {
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if !p.Whole && !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	return fmt.Sprintf("%s=%s,%s,%s,%s", p.Name, text(p.Start), text(p.Min), text(p.Max), strconv.FormatFloat(p.Step, 'f', -1, 64))
}

func (p Param) validate() error {
	switch {
	case p.Min >= p.Max:
		return fmt.Errorf("nothing between %g and %g", p.Min, p.Max)
	case p.Start < p.Min || p.Start > p.Max:
		return fmt.Errorf("the start %g is outside of %g to %g", p.Start, p.Min, p.Max)
	case !(p.Step > 0):
		return fmt.Errorf("step %g: want more than 0", p.Step)
	case p.Step > (p.Max-p.Min)/2:
		return fmt.Errorf("step %g: want at most half of the range %g to %g", p.Step, p.Min, p.Max)
	case p.Whole && p.Step < minWholeStep:
		return fmt.Errorf("step %g: want at least %g for whole numbers, or both players often have the same", p.Step, minWholeStep)
	}
	return nil
}

// minWholeStep is the smallest step of a whole parameter. With it the values of the two
// players are one apart.
const minWholeStep = 0.5

// Text returns a value as the engine gets it.
func (p Param) Text(v float64) string {
	if p.Whole {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', significant, 64)
}

// significant is the number of digits of a value that is not whole.
const significant = 6

// AtBound returns the bound of the parameter that a value is at, within half a step.
func (p Param) AtBound(v float64) (bound float64, ok bool) {
	for _, b := range []float64{p.Min, p.Max} {
		if math.Abs(v-b) < p.Step/2 {
			return b, true
		}
	}
	return 0, false
}

// The exponents of the schedule (Spall 1998), and the stability constant A as a share
// of the pairs (Fishtest).
const (
	Alpha     = 0.602
	Gamma     = 0.101
	Stability = 0.1
)

// Settings are a tuning's.
type Settings struct {
	Params []Param
	Pairs  int
	// Rate is how far the last pair moves a parameter for each point by which one
	// player wins, in steps (r_end in Fishtest). Earlier pairs move it further.
	Rate float64
	// Lag is how many pairs are played at once at the most: pair n has the values
	// after the result of pair n-Lag. So the course is the same in whatever order
	// the games end.
	Lag  int
	Seed uint64
}

// RateFor returns a rate for a number of pairs: 10 over their number, so that a value
// can travel some ten steps whatever the number, but within 0.002, which Fishtest uses
// for tens of thousands of games, and 0.1.
func RateFor(pairs int) float64 {
	return min(max(10/float64(max(pairs, 1)), 0.002), 0.1)
}

// The bounds of settings.
const (
	minPairs = 2
	maxRate  = 1
)

// Validate reports all faults of settings.
func (s *Settings) Validate() error {
	var errs []error
	if len(s.Params) == 0 {
		errs = append(errs, errors.New("no parameters to tune"))
	}
	for i, p := range s.Params {
		if err := p.validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Name, err))
		}
		if slices.ContainsFunc(s.Params[:i], func(o Param) bool { return strings.EqualFold(o.Name, p.Name) }) {
			errs = append(errs, fmt.Errorf("%s is given twice", p.Name))
		}
	}
	if s.Pairs < minPairs {
		errs = append(errs, fmt.Errorf("%d pairs: want at least %d", s.Pairs, minPairs))
	}
	if !(s.Rate > 0 && s.Rate <= maxRate) {
		errs = append(errs, fmt.Errorf("rate %g: want more than 0 and at most %d", s.Rate, maxRate))
	}
	if s.Lag < 1 {
		errs = append(errs, fmt.Errorf("lag %d: want at least 1", s.Lag))
	}
	return errors.Join(errs...)
}

// Design returns the settings by name, for the terms of a match file: a file is
// resumed with the same only.
func (s *Settings) Design() map[string]string {
	design := map[string]string{
		"games": strconv.Itoa(2 * s.Pairs), "rate": strconv.FormatFloat(s.Rate, 'g', -1, 64), "lag (from concurrency)": strconv.Itoa(s.Lag),
	}
	for _, p := range s.Params {
		_, numbers, _ := strings.Cut(p.String()[len(p.Name):], "=")
		design["param "+p.Name] = numbers
	}
	return design
}

// LagFor returns the lag with which a number of games at once seldom wait for the
// slowest of them.
func LagFor(concurrency int) int {
	if concurrency <= 1 {
		return 1
	}
	return 2 * concurrency
}

// gains returns how far pair n tries a parameter from its value, c_k in Spall, and how
// far it moves it per point of the result.
func (s *Settings) gains(p Param, pair int) (try, move float64) {
	k, all := float64(pair+1), float64(s.Pairs)
	a0 := Stability * all
	c := p.Step * math.Pow(all/k, Gamma)
	a := s.Rate * p.Step * p.Step * math.Pow((a0+all)/(a0+k), Alpha)
	return c, a / c
}

// Trial is the pair of players of a pair of games.
type Trial struct {
	// Up reports for each parameter whether the first player has it higher; the
	// second has it lower by as much.
	Up            []bool
	First, Second []float64 // values, as the engine gets them
}

// Result is the result of a pair.
type Result struct {
	Up      []bool
	Counted bool // false: it ended by a fault and moves nothing
	Halves  int  // half points of the first player, 0 to 4
}

// Tuning is the state of a tuning.
type Tuning struct {
	Settings
	// Path are the values at the start and after each pair.
	Path    [][]float64
	Results []Result
}

// New returns a tuning at its start. The settings must be valid.
func New(s Settings) *Tuning {
	var start []float64
	for _, p := range s.Params {
		start = append(start, p.Start)
	}
	return &Tuning{Settings: s, Path: [][]float64{start}}
}

// Values returns the values after the last result.
func (t *Tuning) Values() []float64 { return t.Path[len(t.Path)-1] }

// Ready reports whether the results that a pair waits for are there.
func (t *Tuning) Ready(pair int) bool { return pair-t.Lag < len(t.Results) }

// Trial returns the players of a pair, from 0, for which the tuning is ready. They
// depend only on the settings and the results up to Lag pairs before.
func (t *Tuning) Trial(pair int) Trial {
	rng := rand.New(rand.NewPCG(t.Seed, uint64(pair)))
	at := t.Path[max(pair-t.Lag+1, 0)]
	var trial Trial
	for i, p := range t.Params {
		try, _ := t.gains(p, pair)
		// The same number rounds both, so that a difference is kept.
		up, round := rng.Uint64()&1 == 0, rng.Float64()
		value := func(v float64) float64 {
			v = min(max(v, p.Min), p.Max)
			if p.Whole {
				return min(max(math.Floor(v+round), math.Ceil(p.Min)), math.Floor(p.Max))
			}
			return v
		}
		if !up {
			try = -try
		}
		trial.Up = append(trial.Up, up)
		trial.First, trial.Second = append(trial.First, value(at[i]+try)), append(trial.Second, value(at[i]-try))
	}
	return trial
}

// Add adds the result of the next pair. Counted is false for a pair that ended by a
// fault; Halves are the half points of its first player.
func (t *Tuning) Add(halves int, counted bool) {
	pair := len(t.Results)
	trial := t.Trial(pair)
	next := slices.Clone(t.Values())
	if counted {
		for i, p := range t.Params {
			_, move := t.gains(p, pair)
			move *= float64(halves - 2) // wins minus losses
			if !trial.Up[i] {
				move = -move
			}
			next[i] = min(max(next[i]+move, p.Min), p.Max)
		}
	}
	t.Results = append(t.Results, Result{Up: trial.Up, Counted: counted, Halves: halves})
	t.Path = append(t.Path, next)
}

// Counted returns the number of pairs that moved the values.
func (t *Tuning) Counted() (n int) {
	for _, r := range t.Results {
		if r.Counted {
			n++
		}
	}
	return n
}

// Higher returns the results, over a range of pairs, of the players who had a
// parameter higher: what it is worth to raise it.
func (t *Tuning) Higher(param, from, to int) (p elo.Pairs) {
	for _, r := range t.Results[from:to] {
		switch {
		case !r.Counted:
		case r.Up[param]:
			p.Add(r.Halves)
		default:
			p.Add(4 - r.Halves)
		}
	}
	return p
}
