// Package screening measures many changes of a player at once. In each pair of
// games each of two players has each change or not, by lot, and least squares
// over all pairs say what every one is worth: one set of games for all of them,
// instead of a match for each.
//
// A change is so measured in the company of others. What two changes do to each
// other is shared between them, and what a change is worth is its mean over the
// company that it meets.
package screening

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Plan says which changes are drawn, and how often.
type Plan struct {
	Changes []string
	// Chance is that of a player to have a change in a pair of games: within
	// 0 and 1, and far from both, or there is nothing to compare.
	Chance float64
	Seed   uint64
}

// The bounds of Chance.
const (
	leastChance = 0.01
	mostChance  = 0.99
)

// Validate names all faults of a plan.
func (p *Plan) Validate() error {
	var errs []error
	if len(p.Changes) == 0 {
		errs = append(errs, errors.New("no changes"))
	}
	for i, c := range p.Changes {
		if slices.Contains(p.Changes[:i], c) {
			errs = append(errs, fmt.Errorf("change %.60q is there twice", c))
		}
	}
	if !(p.Chance >= leastChance && p.Chance <= mostChance) {
		errs = append(errs, fmt.Errorf("chance %g: want %g to %g", p.Chance, leastChance, mostChance))
	}
	return errors.Join(errs...)
}

// Has says for each change, in the order of the plan, whether a player has it.
type Has []bool

// Draw is what the two players of a pair of games have, by its number. It
// follows from the plan alone.
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

// Of are the changes that a player has.
func (p *Plan) Of(h Has) (changes []string) {
	for i, has := range h {
		if has {
			changes = append(changes, p.Changes[i])
		}
	}
	return changes
}

// Result is how a pair of games went.
type Result struct {
	Players [2]Has
	Share   float64 // of the two points, the first player's: 0 to 1
}

// Effect is what a change is worth.
type Effect struct {
	Change string
	// Worth is by how much of a point a game goes better with the change than
	// without, Error half of its 95 % interval.
	Worth, Error float64
	Pairs        int // in which just one player had it
}

// ErrFew: there are too few results to tell the changes apart.
var ErrFew = errors.New("too few games to tell the changes apart")

// Fit finds what each change is worth: the first player's share of the points
// beyond one half is taken for the sum over its changes less that over the
// second's, with errors of one spread. ErrFew where the results do not settle
// that.
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
	// The normal equations: the changes are drawn apart from each other, so
	// they are well conditioned as soon as there are enough of them.
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
	spread := mat.Dot(&left, &left) / float64(n-k)
	for c := range effects {
		effects[c].Change = p.Changes[c]
		effects[c].Worth = worth.AtVec(c)
		effects[c].Error = sure95 * math.Sqrt(spread*inverse.At(c, c))
	}
	return effects, nil
}

const (
	// worstCondition is up to which condition number the equations are
	// solved: beyond it an effect rests on a handful of games.
	worstCondition = 1e6
	// sure95 is how many standard deviations hold 95 % of a normal distribution.
	sure95 = 1.96
)
