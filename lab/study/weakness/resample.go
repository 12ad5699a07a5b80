package weakness

import (
	"math"
	"math/rand/v2"
	"slices"
)

// resamples is how many data sets are resampled: small enough p-values remain after their
// correction for many groups.
const resamples = 5000

// unlikely is how many standard deviations below what is expected a score begins to matter:
// others need no resampling.
const unlikely = 1

// resampling tests scores and faults by data sets in which the null hypothesis holds.
type resampling struct {
	scores []float64 // of all games
	strata []int     // in which scores are permuted
	sets   [][]float32
}

// scored is what is expected of the score of a group of games.
type scored struct {
	games    []int
	in       []float64 // games of the group, by stratum
	expected float64   // points
	sigma    float64   // over all permutations
}

// scoreOf returns what is expected of a group; ok is false if no permutation changes its score.
func (t *resampling) scoreOf(games []int) (s scored, ok bool) {
	type stratum struct{ n, sum, squares float64 }
	all := make([]stratum, slices.Max(t.strata)+1)
	for i, k := range t.strata {
		all[k].n++
		all[k].sum += t.scores[i]
	}
	for i, k := range t.strata {
		d := t.scores[i] - all[k].sum/all[k].n
		all[k].squares += d * d
	}
	s = scored{games: games, in: make([]float64, len(all))}
	for _, i := range games {
		s.in[t.strata[i]]++
	}
	variance := 0.0
	for k, a := range all {
		s.expected += s.in[k] * a.sum / max(a.n, 1)
		if a.n > 1 {
			variance += s.in[k] * (a.n - s.in[k]) / (a.n * (a.n - 1)) * a.squares
		}
	}
	s.sigma = math.Sqrt(variance)
	return s, variance > 1e-9
}

// pOfScore returns how often a permutation of the scores has the group as many points below
// what is expected; 1 if that is no matter.
func (t *resampling) pOfScore(s scored, below float64) float64 {
	if below < unlikely*s.sigma {
		return 1
	}
	if t.sets == nil {
		rng := rand.New(rand.NewPCG(1, 0)) // the same games give the same result
		for range resamples {
			t.sets = append(t.sets, permuted(t.scores, t.strata, rng))
		}
	}
	reached := 0
	for _, set := range t.sets {
		points := 0.0
		for _, i := range s.games {
			points += float64(set[i])
		}
		if s.expected-points >= below-1e-6 {
			reached++
		}
	}
	return float64(reached+1) / (resamples + 1)
}

// permuted returns the scores, permuted within each stratum.
func permuted(scores []float64, strata []int, rng *rand.Rand) []float32 {
	places := make([][]int, slices.Max(strata)+1)
	for i, s := range strata {
		places[s] = append(places[s], i)
	}
	out := make([]float32, len(scores))
	for _, at := range places {
		for k, j := range rng.Perm(len(at)) {
			out[at[k]] = float32(scores[at[j]])
		}
	}
	return out
}

// pOfSigns returns how often the sum of differences is as large if the sign of each is
// turned at random.
func (t *resampling) pOfSigns(differences []float64) float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	observed := 0.0
	for _, d := range differences {
		observed += d
	}
	reached := 0
	for range resamples {
		sum := 0.0
		for _, d := range differences {
			if d != 0 && rng.Uint64()&1 == 0 {
				d = -d
			}
			sum += d
		}
		if sum >= observed-1e-9 {
			reached++
		}
	}
	return float64(reached+1) / (resamples + 1)
}
