package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"sparring/engine/adapter"
	"sparring/engine/search"
)

// Position is a training position, seen from the side to move.
type Position struct {
	// Worth is its evaluation with the initial weights.
	Worth float64
	Terms []adapter.Term
	// Result is 1 for a game that the side to move won, 1/2 for a draw, 0.
	Result float64
	// Score is the score of the recorded search, in the unit of the evaluation.
	Score float64
	// ScoreOnly says that there is no result: the score alone is the target.
	ScoreOnly bool
	// Held marks a validation position: the fit does not use it, but reports
	// the error on it.
	Held bool
}

// Options configure a fit. The zero value is not valid: see Usual.
type Options struct {
	Passes int `json:"passes"` // over all positions
	// Rate is the learning rate: roughly the largest change of a weight in a
	// pass.
	Rate float64 `json:"rate"`
	// Mix is the share of the game's result in the target; the rest is the
	// score of the search.
	Mix float64 `json:"mix"`
	// Pull is the regularization toward the initial weights: a weight that
	// differs by 100 costs as much as this error in every position.
	Pull float64 `json:"pull"`
	// Scale is the score that wins 73 % of games, for targets and evaluations.
	// It determines the unit of the weights.
	Scale float64 `json:"scale"`
}

// Usual returns the default options for an evaluation with the given scale.
func Usual(scale float64) Options {
	return Options{Passes: 400, Rate: 1, Mix: 0.5, Pull: 0.0002, Scale: scale}
}

// Validate reports all options that are out of range.
func (o Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Passes < 1 {
		bad("%d passes: want 1 or more", o.Passes)
	}
	if !(o.Rate > 0) || math.IsInf(o.Rate, 0) {
		bad("rate %g: want more than 0", o.Rate)
	}
	if !(o.Mix >= 0 && o.Mix <= 1) {
		bad("mix %g: want 0 to 1", o.Mix)
	}
	if !(o.Pull >= 0) || math.IsInf(o.Pull, 0) {
		bad("pull %g: want 0 or more", o.Pull)
	}
	if !(o.Scale > 0) || math.IsInf(o.Scale, 0) {
		bad("scale %g: want more than 0", o.Scale)
	}
	return errors.Join(errs...)
}

// State is the state of a fit, sufficient to resume it. Change holds the
// differences from the initial weights; Mean and Square are Adam's moments of
// the gradient (Kingma and Ba, arXiv:1412.6980).
type State struct {
	Passes int       `json:"passes"`
	Change []float64 `json:"change"`
	Mean   []float64 `json:"mean"`
	Square []float64 `json:"square"`
}

// NewState returns the initial state of a fit of the given number of weights.
func NewState(weights int) *State {
	return &State{Change: make([]float64, weights), Mean: make([]float64, weights), Square: make([]float64, weights)}
}

// Loss is the mean squared error of a fit on its training positions and on the
// validation positions (0 if there are none).
type Loss struct {
	Learnt float64 `json:"learnt"`
	Held   float64 `json:"held"`
}

// ErrState is returned for a state, or a checkpoint file, that belongs to
// another fit. Delete the file, or use the games and options it was made with.
var ErrState = errors.New("state belongs to another fit")

// Fit continues from s until all passes are done and updates s; watch is called
// after each pass. When ctx ends, the fit stops between two passes with ctx's
// error and can be resumed.
func Fit(ctx context.Context, all []Position, o Options, s *State, watch func(*State, Loss) error) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := s.check(all); err != nil {
		return err
	}
	gradient := make([]float64, len(s.Change))
	for s.Passes < o.Passes {
		if err := ctx.Err(); err != nil {
			return err
		}
		loss := s.loss(all, o, gradient)
		s.step(gradient, o)
		if err := watch(s, loss); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) check(all []Position) error {
	n := len(s.Change)
	if len(s.Mean) != n || len(s.Square) != n {
		return fmt.Errorf("%w: %d, %d and %d numbers", ErrState, n, len(s.Mean), len(s.Square))
	}
	learnt := 0
	for i, p := range all {
		if !p.Held {
			learnt++
		}
		for _, t := range p.Terms {
			if t.Weight < 0 || int(t.Weight) >= n {
				return fmt.Errorf("%w: position %d has weight %d of %d", ErrState, i, t.Weight, n)
			}
		}
	}
	if learnt == 0 {
		return errors.New("no positions to learn from")
	}
	return nil
}

// Errors returns the loss at the state's weights.
func (s *State) Errors(all []Position, o Options) Loss { return s.loss(all, o, nil) }

// loss returns the loss and, unless gradient is nil, stores its gradient,
// regularization included.
func (s *State) loss(all []Position, o Options, gradient []float64) Loss {
	clear(gradient)
	var sum, held float64
	learnt, others := 0, 0
	for i := range all {
		p := &all[i]
		v := p.Worth
		for _, t := range p.Terms {
			v += float64(t.By) * s.Change[t.Weight]
		}
		chance := WinProb(v, o.Scale)
		target := WinProb(p.Score, o.Scale)
		if !p.ScoreOnly {
			target = o.Mix*p.Result + (1-o.Mix)*target
		}
		off := chance - target
		if p.Held {
			held += off * off
			others++
			continue
		}
		sum += off * off
		learnt++
		if gradient == nil {
			continue
		}
		by := 2 * off * chance * (1 - chance) / o.Scale
		for _, t := range p.Terms {
			gradient[t.Weight] += by * float64(t.By)
		}
	}
	for i := range gradient {
		gradient[i] = gradient[i]/float64(learnt) + 2*o.Pull*s.Change[i]/1e4
	}
	return Loss{sum / float64(learnt), held / float64(max(others, 1))}
}

// step makes one step of Adam. The learning rate decays linearly to zero.
func (s *State) step(gradient []float64, o Options) {
	const keepMean, keepSquare, tiny = 0.9, 0.999, 1e-12
	s.Passes++
	rate := o.Rate * float64(o.Passes-s.Passes+1) / float64(o.Passes)
	n := float64(s.Passes)
	for i, g := range gradient {
		s.Mean[i] = keepMean*s.Mean[i] + (1-keepMean)*g
		s.Square[i] = keepSquare*s.Square[i] + (1-keepSquare)*g*g
		mean := s.Mean[i] / (1 - math.Pow(keepMean, n))
		square := s.Square[i] / (1 - math.Pow(keepSquare, n))
		s.Change[i] -= rate * mean / (math.Sqrt(square) + tiny)
	}
}

// Rounded returns the weights, initial value plus change, as integers.
func (s *State) Rounded(start []float64) []int32 {
	all := make([]int32, len(start))
	for i, v := range start {
		all[i] = int32(math.Round(v + s.Change[i]))
	}
	return all
}

// At returns the evaluation of each position with integer weights.
func At(all []Position, start []float64, weights []int32) []float64 {
	worth := make([]float64, len(all))
	for i, p := range all {
		worth[i] = p.Worth
		for _, t := range p.Terms {
			worth[i] += float64(t.By) * (float64(weights[t.Weight]) - start[t.Weight])
		}
	}
	return worth
}

// WinProb returns the expected result of a score, with a draw as half a win.
func WinProb(score, scale float64) float64 { return 1 / (1 + math.Exp(-score/scale)) }

// FitScale returns the scale with which scores best predict results: it maximizes
// the likelihood in 1/scale by Newton's method. It returns an error if the scores
// do not predict the results at all, or tell each of them for certain.
func FitScale(scores, results []float64) (float64, error) {
	k := 1 / 200.0
	for range 60 {
		var slope, curve float64
		for i, s := range scores {
			c := 1 / (1 + math.Exp(-s*k))
			slope += (results[i] - c) * s
			curve += c * (1 - c) * s * s
		}
		switch {
		case curve == 0 && slope == 0 && slices.ContainsFunc(scores, func(s float64) bool { return s != 0 }):
			return 0, errAllPredicted
		case curve == 0:
			return 0, errNoPrediction
		}
		k = max(k+slope/curve, k/4) // do not overshoot zero
	}
	switch scale := 1 / k; {
	case scale < 1:
		return 0, errAllPredicted
	case scale >= 1e5:
		return 0, errNoPrediction
	default:
		return scale, nil
	}
}

var (
	errNoPrediction = errors.New("the scores do not predict the results")
	errAllPredicted = errors.New("the scores tell every result, which leaves their scale unknown: want more games")
)

// FitWDL fits the win-draw-loss model by least squares of its two logistic
// curves, counting each position from both sides. It optimizes scale and edge
// alternately by golden-section search, starting from the scale of FitScale.
func FitWDL(scores, results []float64, scale float64) search.WDLModel {
	o := search.WDLModel{Edge: 0, Scale: scale}
	off := func(o search.WDLModel) (sum float64) {
		for i, s := range scores {
			var won, lost float64
			switch results[i] {
			case 1:
				won = 1
			case 0:
				lost = 1
			}
			win, loss := WinProb(s-o.Edge, o.Scale)-won, WinProb(-s-o.Edge, o.Scale)-lost
			sum += win*win + loss*loss
		}
		return sum
	}
	for range 6 {
		o.Edge = golden(0, 5*scale, func(v float64) float64 { return off(search.WDLModel{Edge: v, Scale: o.Scale}) })
		o.Scale = golden(scale/5, 3*scale, func(v float64) float64 { return off(search.WDLModel{Edge: o.Edge, Scale: v}) })
	}
	return o
}

// golden returns the minimum of f between a and b, to within a thousandth of
// their distance, by golden-section search.
func golden(a, b float64, f func(float64) float64) float64 {
	const ratio = 0.6180339887498949
	x, y := b-ratio*(b-a), a+ratio*(b-a)
	fx, fy := f(x), f(y)
	for range 15 {
		if fx < fy {
			b, y, fy = y, x, fx
			x = b - ratio*(b-a)
			fx = f(x)
		} else {
			a, x, fx = x, y, fy
			y = a + ratio*(b-a)
			fy = f(y)
		}
	}
	return (a + b) / 2
}
