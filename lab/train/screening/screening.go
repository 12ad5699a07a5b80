// Package screening estimates the effects of many changes to a player at once (a
// screening experiment). In each pair of games every change is switched on or off
// at random for each of the two players, and least squares over all pairs
// estimates the effect of each change: one set of games instead of a match per
// change.
//
// The effect of a change is its mean over the random combinations of the others,
// so interactions are shared between the changes involved.
package screening

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"sparring/lab/match/elo"
)

// Plan lists the changes and how often each is applied.
type Plan struct {
	Changes []string
	// Chance is the probability that a player has a change in a pair of games.
	// Close to 0 or 1 there is nothing to compare.
	Chance float64
	Seed   uint64
}

// The bounds of Chance.
const (
	minChance = 0.01
	maxChance = 0.99
)

// Validate reports all faults of a plan.
func (p *Plan) Validate() error {
	var errs []error
	if len(p.Changes) == 0 {
		errs = append(errs, errors.New("no changes"))
	}
	for i, c := range p.Changes {
		if slices.Contains(p.Changes[:i], c) {
			errs = append(errs, fmt.Errorf("duplicate change %.60q", c))
		}
	}
	if !(p.Chance >= minChance && p.Chance <= maxChance) {
		errs = append(errs, fmt.Errorf("chance %g: want %g to %g", p.Chance, minChance, maxChance))
	}
	return errors.Join(errs...)
}

// Has reports for each change, in the order of the plan, whether a player has it.
type Has []bool

// Draw returns the changes of the two players in the pair with the given number.
// It depends only on the plan and the number.
func (p *Plan) Draw(pair int) (players [2]Has) {
	rng := rand.New(rand.NewPCG(p.Seed, uint64(pair)))
	for i := range players {
		players[i] = make(Has, len(p.Changes))
		for k := range players[i] {
			players[i][k] = rng.Float64() < p.Chance
		}
	}
	return players
}

// Of returns the changes that a player has.
func (p *Plan) Of(h Has) (changes []string) {
	for i, has := range h {
		if has {
			changes = append(changes, p.Changes[i])
		}
	}
	return changes
}

// Result is the result of a pair of games.
type Result struct {
	Players [2]Has
	Share   float64 // the first player's share of the two points, 0 to 1
}

// Effect is the estimated effect of a change.
type Effect struct {
	Change string
	// Worth is the difference in points per game that the change makes, Error
	// half the width of its 95 % interval.
	Worth, Error float64
	Pairs        int // pairs in which exactly one player had it
}

// ErrFew is returned if there are too few results to separate the effects of the
// changes. Play more games, or test fewer changes.
var ErrFew = errors.New("too few games to separate the changes")

// Fit estimates the effect of each change. The model: the first player's share of
// the points minus one half is the sum of the effects of its changes minus those
// of the second player's, plus noise of constant variance. The errors include
// one additional pair with the opposite result. The error is ErrFew if the results do not
// determine the effects.
func (p *Plan) Fit(results []Result) ([]Effect, error) {
	n, k := len(results), len(p.Changes)
	if n <= k {
		return nil, fmt.Errorf("%w: %d pairs for %d changes", ErrFew, n, k)
	}
	x, y := mat.NewDense(n, k, nil), mat.NewVecDense(n, nil)
	effects := make([]Effect, k)
	for i, r := range results {
		y.SetVec(i, r.Share-0.5)
		for c := range k {
			if first, second := r.Players[0][c], r.Players[1][c]; first != second {
				effects[c].Pairs++
				x.Set(i, c, 1)
				if second {
					x.Set(i, c, -1)
				}
			}
		}
	}
	// The normal equations: the changes are independent, so these are well
	// conditioned as soon as there are enough pairs.
	var normal mat.SymDense
	normal.SymOuterK(1, x.T())
	var factors mat.Cholesky
	if !factors.Factorize(&normal) || factors.Cond() > worstCondition {
		return nil, fmt.Errorf("%w: %d pairs for %d changes", ErrFew, n, k)
	}
	var right, worth, left mat.VecDense
	right.MulVec(x.T(), y)
	var inverse mat.SymDense
	if err := errors.Join(factors.SolveVecTo(&worth, &right), factors.InverseTo(&inverse)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFew, err)
	}
	left.MulVec(x, &worth)
	left.SubVec(y, &left)
	spread := (mat.Dot(&left, &left) + elo.PriorDeviation) / float64(n-k)
	for c := range effects {
		effects[c].Change = p.Changes[c]
		effects[c].Worth = worth.AtVec(c)
		effects[c].Error = elo.Z95 * math.Sqrt(spread*inverse.At(c, c))
	}
	return effects, nil
}

// Enough returns ErrFew, with the reason, if the first pairs can't separate the
// changes: which players have which is known before the games.
func (p *Plan) Enough(pairs int) error {
	results := make([]Result, pairs)
	for i := range results {
		results[i] = Result{Players: p.Draw(i), Share: 0.5}
	}
	_, err := p.Fit(results)
	return err
}

// worstCondition is the largest condition number accepted: beyond it an
// effect depends on a handful of games.
const worstCondition = 1e6
