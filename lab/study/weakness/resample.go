package weakness

import (
	"math"
	"math/rand/v2"
	"slices"

	"sparring/lab/match/elo"
)

// resamples is how many data sets are resampled: p-values near 0.05 have a standard
// error of 0.005.
const resamples = 2000

// test has the statistic of each group, and what it takes to compute it again from
// resampled data.
type test struct {
	observed []float64
	scores   []scored
	losses   []lost
}

// scored is a group of games. Its statistic is how far its score is below that of its
// strata, in standard deviations over all permutations.
type scored struct {
	at       int // in observed
	games    []int
	expected float64 // points
	sigma    float64
	pooled   bool // permuted among all games
}

// lost is a group of moves. Its statistic is Student's t of the games' excesses.
type lost struct {
	at       int
	games    []int
	excesses []float64
}

// addScores adds a group of games, unless no permutation changes its score.
func (t *test) addScores(g *Group, scores []float64, strata []int, games []int) bool {
	type stratum struct{ n, in, sum, squares float64 }
	all := make([]stratum, slices.Max(strata)+1)
	for i, s := range strata {
		all[s].n++
		all[s].sum += scores[i]
	}
	for i, s := range strata {
		d := scores[i] - all[s].sum/all[s].n
		all[s].squares += d * d
	}
	points, others, outside := 0.0, 0.0, 0.0
	for _, i := range games {
		all[strata[i]].in++
		points += scores[i]
	}
	expected, variance := 0.0, 0.0
	for _, s := range all {
		expected += s.in * s.sum / max(s.n, 1)
		if s.n > 1 {
			variance += s.in * (s.n - s.in) / (s.n * (s.n - 1)) * s.squares
		}
	}
	if variance < 1e-9 {
		return false
	}
	for i, s := range strata {
		if all[s].in > 0 && !slices.Contains(games, i) {
			others += scores[i]
			outside++
		}
	}
	n := float64(len(games))
	sigma := math.Sqrt(variance)
	g.Score, g.Other = points/n, others/max(outside, 1)
	g.Excess, g.Error = (expected-points)/n, elo.Z95*sigma/n
	t.scores = append(t.scores, scored{len(t.observed), games, expected, sigma, g.By == Opponent})
	t.observed = append(t.observed, (expected-points)/sigma)
	return true
}

// addLosses adds a group of moves, unless it has too few games.
func (t *test) addLosses(g *Group, excesses map[int]float64) bool {
	if len(excesses) < MinGames {
		return false
	}
	l := lost{at: len(t.observed)}
	for i := range excesses {
		l.games = append(l.games, i)
	}
	slices.Sort(l.games)
	for _, i := range l.games {
		l.excesses = append(l.excesses, excesses[i])
	}
	mean, sigma := spread(l.excesses)
	if sigma < 1e-9 {
		return false
	}
	g.Games = len(l.games)
	g.Excess, g.Error = mean, elo.Z95*sigma
	t.losses = append(t.losses, l)
	t.observed = append(t.observed, mean/sigma)
	return true
}

// pValues returns the corrected p-value of each group, in the order in which they were
// added.
func (t *test) pValues(scores []float64, strata, one []int) []float64 {
	reached := make([]int, len(t.observed))
	rng := rand.New(rand.NewPCG(1, 0)) // the same games give the same result
	signs := make([]float64, len(scores))
	for range resamples {
		within, pooled := permuted(scores, strata, rng), permuted(scores, one, rng)
		for i := range signs {
			signs[i] = float64(2*rng.IntN(2) - 1)
		}
		worst := math.Inf(-1)
		for _, s := range t.scores {
			from := within
			if s.pooled {
				from = pooled
			}
			points := 0.0
			for _, i := range s.games {
				points += from[i]
			}
			worst = max(worst, (s.expected-points)/s.sigma)
		}
		for _, l := range t.losses {
			worst = max(worst, l.turned(signs))
		}
		for i, o := range t.observed {
			if worst >= o-1e-9 {
				reached[i]++
			}
		}
	}
	p := make([]float64, len(reached))
	for i, n := range reached {
		p[i] = float64(n+1) / (resamples + 1)
	}
	return p
}

// turned returns the statistic with the sign of each game's excess turned.
func (l *lost) turned(signs []float64) float64 {
	n, sum, squares := float64(len(l.games)), 0.0, 0.0
	for k, i := range l.games {
		v := signs[i] * l.excesses[k]
		sum += v
		squares += v * v
	}
	mean := sum / n
	sigma := math.Sqrt(max(squares-n*mean*mean, 1e-18) / (n - 1) / n)
	return mean / sigma
}

// permuted returns the scores, permuted within each stratum.
func permuted(scores []float64, strata []int, rng *rand.Rand) []float64 {
	places := make([][]int, slices.Max(strata)+1)
	for i, s := range strata {
		places[s] = append(places[s], i)
	}
	out := make([]float64, len(scores))
	for _, at := range places {
		for k, j := range rng.Perm(len(at)) {
			out[at[k]] = scores[at[j]]
		}
	}
	return out
}
