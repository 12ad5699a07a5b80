package weakness

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// The cells of a contrast, and its sides.
const (
	within = iota // the group
	elsewhere
)

// sums are what moves lost: by cell, and in it by side, the player's first.
type sums struct {
	moves, lost [2][2]float64
}

func (s *sums) add(o *sums, sign float64) {
	for c := range s.moves {
		for side := range s.moves[c] {
			s.moves[c][side] += sign * o.moves[c][side]
			s.lost[c][side] += sign * o.lost[c][side]
		}
	}
}

// contrast compares what a player loses a move with what its opponents lose, in a group
// of moves and elsewhere.
type contrast struct {
	games  []sums
	strata []int // of the games, see strata
}

// ratios are the logarithms of the player's loss a move divided by the opponents'.
type ratios [2]float64 // by cell

// priorMoves is how many moves with the mean loss of all are added to each side of a cell:
// the ratio of a small group is drawn towards 1.
const priorMoves = 2

// ratios returns the ratios of the sums of all strata. Each stratum has the weight of its
// moves in the group, in both cells: else a group that is frequent against strong opponents
// would be compared with games against weak ones. Ok is false if a cell is empty.
func (c *contrast) ratios(strata []sums, mean [2]float64) (r ratios, ok bool) {
	var lost [2][2]float64
	weights := 0.0
	for i := range strata {
		s := &strata[i]
		w := harmonic(s.moves[within])
		if w <= 0 || harmonic(s.moves[elsewhere]) <= 0 {
			continue
		}
		weights += w
		for cell := range lost {
			for side := range lost[cell] {
				lost[cell][side] += w * s.lost[cell][side] / s.moves[cell][side]
			}
		}
	}
	if weights == 0 {
		return r, false
	}
	for cell := range lost {
		prior := priorMoves / 2 * mean[cell]
		if mean[cell] <= 0 {
			return r, false
		}
		r[cell] = math.Log((lost[cell][0] + prior) / (lost[cell][1] + prior))
	}
	return r, true
}

// harmonic is the weight of a comparison of two means, by their numbers of values.
func harmonic(n [2]float64) float64 {
	if n[0] <= 0 || n[1] <= 0 {
		return 0
	}
	return n[0] * n[1] / (n[0] + n[1])
}

// estimate is what a contrast says.
type estimate struct {
	ratios
	jackknifed []ratios // without each game
}

// estimate returns the ratios, with those without each of the games.
func (c *contrast) estimate() (e estimate, ok bool) {
	n := 0
	for _, s := range c.strata {
		n = max(n, s+1)
	}
	strata := make([]sums, n)
	var all sums
	for i := range c.games {
		strata[c.strata[i]].add(&c.games[i], 1)
		all.add(&c.games[i], 1)
	}
	var mean [2]float64
	for cell := range mean {
		mean[cell] = (all.lost[cell][0] + all.lost[cell][1]) / math.Max(all.moves[cell][0]+all.moves[cell][1], 1)
	}
	if e.ratios, ok = c.ratios(strata, mean); !ok {
		return e, false
	}
	for i := range c.games {
		g := &c.games[i]
		if g.moves == [2][2]float64{} {
			continue // of no influence
		}
		s := &strata[c.strata[i]]
		kept := *s
		s.add(g, -1)
		r, ok := c.ratios(strata, mean)
		*s = kept
		if !ok {
			return e, false // one game is all there is
		}
		e.jackknifed = append(e.jackknifed, r)
	}
	return e, len(e.jackknifed) > 1
}

// linear returns in times the ratio in the group plus out times that elsewhere, with its
// standard error.
func (e *estimate) linear(in, out float64) (q quantity) {
	of := func(r ratios) float64 { return in*r[within] + out*r[elsewhere] }
	n, mean := float64(len(e.jackknifed)), 0.0
	for _, r := range e.jackknifed {
		mean += of(r) / n
	}
	squares, fourth := 0.0, 0.0
	for _, r := range e.jackknifed {
		d := of(r) - mean
		squares += d * d
		fourth += d * d * d * d
	}
	// The variance of a variance of n values has the degrees of freedom 2n / (kurtosis - 1).
	kurtosis := n * fourth / max(squares*squares, 1e-300)
	return quantity{of(e.ratios), math.Sqrt(squares * (n - 1) / n), max(1, min(n-1, 2*n/max(kurtosis-1, 1e-9)))}
}

// quantity is an estimated value. Its error has few degrees of freedom if few games decide.
type quantity struct{ value, sigma, df float64 }

func (q quantity) student() distuv.StudentsT {
	return distuv.StudentsT{Mu: q.value, Sigma: q.sigma, Nu: q.df}
}

// pAbove returns the p-value of the hypothesis that the value is no more than a bound.
func (q quantity) pAbove(bound float64) float64 {
	if q.sigma < 1e-9 {
		return 1
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: q.df}.Survival((q.value - bound) / q.sigma)
}

// interval returns the 95 % interval.
func (q quantity) interval() (low, high float64) {
	if q.sigma < 1e-9 {
		return q.value, q.value
	}
	return q.student().Quantile(0.025), q.student().Quantile(0.975)
}

// The margins of a weakness, as logarithms, see pWeak.
const (
	margin   = 0.15 // 16 %
	spreadOf = 3
)

// pWeak returns the p-value of the hypothesis that strength explains the losses of the group.
// It is that a player loses no more than its opponents where it is the stronger, and
// otherwise that its log ratio in the group is at most spreadOf times that elsewhere: the
// same difference in strength shows more in some positions than in others.
func (e *estimate) pWeak() float64 {
	return max(e.linear(1, 0).pAbove(margin), e.linear(1, -spreadOf).pAbove(margin))
}
