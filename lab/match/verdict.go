package match

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sparring/engine"
	"sparring/game"
	"sparring/lab/match/elo"
)

// Finding is a statement about a match that its games carry: the key of a sentence in
// the dictionaries of lab/study/report, with pairs of names and values for it.
type Finding struct {
	Key    string
	Values []any
}

// significant is the quantile, in standard deviations, from which a difference that
// was not asked for beforehand is stated: two-sided 5 %, divided by the number of
// differences that Verdict looks at.
const significant = 2.58

// More than one of manyStalls games with a stall are worth a word, and more than one of
// manyRepeated games that are like others.
const manyStalls, manyRepeated = 10, 10

// fewGames is the number of games up to which Verdict says nothing about their kinds.
const fewGames = 10

// Verdict says in two sentences what the games so far show: who is stronger and by
// how much, and what stands out besides. It says nothing that lies within the
// error, or says that it is open. Test may be nil.
func (s *Standing) Verdict(test *elo.SPRT) [2]Finding {
	first := s.leader()
	if len(s.Pairings) == 1 {
		first = s.strength(test)
	}
	besides := s.besides()
	if first.Key == "verdict.few" && besides.Key == "verdict.no-faults" { // which says that, too
		besides.Key = "verdict.no-fault"
	}
	return [2]Finding{first, besides}
}

// rounded writes a difference in Elo, which nobody needs more exactly.
func rounded(v float64) string { return fmt.Sprintf("%.0f", math.Abs(v)) }

// percent writes a share of points.
func percent(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

// strength says which of two players is better.
func (s *Standing) strength(test *elo.SPRT) Finding {
	m := &s.Pairings[0]
	a, b, pairs := s.Players[m.A].Name, s.Players[m.B].Name, m.Pairs
	if test != nil {
		if v := test.Verdict(pairs); v != elo.Open {
			key := map[elo.Verdict]string{elo.AcceptH0: "verdict.h0", elo.AcceptH1: "verdict.h1"}[v]
			return Finding{key, []any{"a", a, "b", b, "elo0", test.Elo0, "elo1", test.Elo1}}
		}
	}
	low, high := pairs.EloInterval()
	if high < 0 {
		a, b, low, high = b, a, -high, -low
	}
	known := func(v float64) bool { return !math.IsInf(v, 0) }
	names := []any{"a", a, "b", b, "low", rounded(low), "high", rounded(high)}
	switch {
	case low > 0 && known(high):
		return Finding{"verdict.better", names}
	case low > 0:
		return Finding{"verdict.better-open", names}
	case !known(low) && !known(high):
		return Finding{"verdict.few", names}
	case !known(low):
		return Finding{"verdict.even-below", names}
	case !known(high):
		return Finding{"verdict.even-above", names}
	}
	games, within := narrower(pairs)
	return Finding{"verdict.even", append(names, "games", games, "within", within)}
}

// narrower returns a number of games that would bring the error of the Elo difference down to
// about half of what it is, and that error: a round one, 1, 2 or 5 of a power of ten. The
// error of p is finite.
func narrower(p elo.Pairs) (games int, within float64) {
	now := p.Elo().Error
	unit := math.Pow10(int(math.Floor(math.Log10(0.6 * now))))
	for _, v := range []float64{1, 2, 5} {
		if v*unit <= 0.6*now {
			within = v * unit
		}
	}
	needed := 2 * p.Needed(within)
	digits := math.Max(2, math.Pow10(int(math.Log10(needed))-1)) // two of them, and an even number
	return int(digits * math.Ceil(needed/digits)), within
}

// leader says who of several players is the strongest, if the pairings tell. The
// likelihoods are those of all pairings together: the leader is chosen after the
// games.
func (s *Standing) leader() Finding {
	best := s.Ranking()[0]
	p := &s.Players[best]
	values := []any{"a", p.Name, "percent", percent(p.Percent() / 100)}
	var open []string
	for i := range s.Pairings {
		m := &s.Pairings[i]
		pairs, other := m.Pairs, m.B
		switch best {
		case m.A:
		case m.B:
			pairs, other = pairs.Turned(), m.A
		default:
			continue
		}
		if pairs.LOS() < 1-0.025/float64(len(s.Pairings)) {
			open = append(open, s.Players[other].Name)
		}
	}
	const most = 3
	if n := len(open); n > most {
		return Finding{"verdict.leads-many", append(values, "n", n)}
	}
	if len(open) > 0 {
		return Finding{"verdict.leads", append(values, "others", strings.Join(open, ", "))}
	}
	return Finding{"verdict.first", values}
}

// besides says what stands out apart from the strength: faults, which are facts, and
// else what the length of the games or the seat changed beyond the error.
func (s *Standing) besides() Finding {
	if f, ok := s.faults(); ok {
		return f
	}
	if manyRepeated*s.Repeated > s.Games {
		return Finding{"verdict.repeated", []any{"n", s.Repeated, "games", s.Games}}
	}
	if manyStalls*s.Stalls.Games > s.Games {
		return Finding{"verdict.stalls", []any{"n", s.Stalls.Games, "games", s.Games}}
	}
	if s.Games < fewGames {
		return Finding{Key: "verdict.no-faults"}
	}
	if f, ok := s.lengths(); ok {
		return f
	}
	if f, ok := s.seats(); ok {
		return f
	}
	return Finding{Key: "verdict.nothing"}
}

// faults tells of the player that lost most games by its own fault, and whether those
// on time are the long ones.
func (s *Standing) faults() (Finding, bool) {
	worst := 0
	for i := range s.Players {
		if s.Players[i].FaultCount() > s.Players[worst].FaultCount() {
			worst = i
		}
	}
	p := &s.Players[worst]
	if p.FaultCount() == 0 {
		return Finding{}, false
	}
	values := []any{"a", p.Name, "n", p.FaultCount(), "games", p.Games(), "kinds", p.Faults}
	if p.Faults[engine.FaultTime] < p.FaultCount() {
		return Finding{"verdict.faults", values}, true
	}
	var all, lost []int // lengths of its games
	for _, r := range s.Results {
		m := s.Pairings[r.Pairing]
		if m.A != worst && m.B != worst {
			continue
		}
		all = append(all, r.Plies)
		if r.Fault == engine.FaultTime && (m.A == worst) == (r.Halves == 0) {
			lost = append(lost, r.Plies)
		}
	}
	middle := median(all)
	long := count(all, middle)
	if k := count(lost, middle); tail(len(all), long, len(lost), k) < 0.05 {
		return Finding{"verdict.time-long", append(values, "long", k, "plies", middle)}, true
	}
	return Finding{"verdict.time", values}, true
}

// median returns the length that at least half of the games do not exceed.
func median(lengths []int) int {
	lengths = slices.Sorted(slices.Values(lengths))
	return lengths[(len(lengths)-1)/2]
}

// count returns how many games are longer.
func count(lengths []int, than int) (n int) {
	for _, l := range lengths {
		if l > than {
			n++
		}
	}
	return n
}

// tail returns the probability that, of all games, those of a random choice include at
// least k of the long ones (Fisher's exact test, one-sided).
func tail(all, long, chosen, k int) (p float64) {
	choose := func(n, k int) float64 {
		if k < 0 || k > n {
			return math.Inf(-1)
		}
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	for i := k; i <= chosen; i++ {
		p += math.Exp(choose(long, i) + choose(all-long, chosen-i) - choose(all, chosen))
	}
	return min(p, 1)
}

// mean is the mean of scores, with the variance of the mean.
type mean struct {
	n           int
	sum, square float64
}

func (m *mean) add(v float64) {
	m.n++
	m.sum += v
	m.square += v * v
}

func (m mean) value() float64 { return m.sum / float64(m.n) }

// variance is that of the mean. As in package elo, a few equal values prove little.
func (m mean) variance() float64 {
	n := float64(m.n)
	return (m.square/n - m.value()*m.value() + 0.25/n) / n
}

// lengths compares the score in the shorter and the longer half of the games of two
// players.
func (s *Standing) lengths() (Finding, bool) {
	if len(s.Pairings) > 1 {
		return Finding{}, false
	}
	var all []int
	for _, r := range s.Results {
		all = append(all, r.Plies)
	}
	middle := median(all)
	var short, long mean
	for _, r := range s.Results {
		half := &short
		if r.Plies > middle {
			half = &long
		}
		half.add(float64(r.Halves) / 2)
	}
	if short.n < fewGames || long.n < fewGames {
		return Finding{}, false
	}
	if math.Abs(short.value()-long.value()) < significant*math.Sqrt(short.variance()+long.variance()) {
		return Finding{}, false
	}
	a := s.Players[s.Pairings[0].A].Name
	return Finding{"verdict.lengths", []any{"a", a, "plies", middle, "short", percent(short.value()), "long", percent(long.value())}}, true
}

// seats compares the seats, from pairs: both players had each opening with either.
func (s *Standing) seats() (Finding, bool) {
	open := map[int]float64{} // of the first game of a pair
	var advantage mean        // score of the first seat over a pair
	for _, r := range s.Results {
		first := float64(r.Halves) / 2
		if r.SeatA == game.Second {
			first = 1 - first
		}
		if r.Leg == 0 {
			advantage.add(first)
		} else if other, ok := open[r.Pair]; ok {
			advantage.add((first + other) / 2)
		} else {
			open[r.Pair] = first
		}
	}
	if advantage.n < fewGames {
		return Finding{}, false
	}
	off := advantage.value() - 0.5
	if math.Abs(off) < significant*math.Sqrt(advantage.variance()) {
		return Finding{}, false
	}
	key := "verdict.first-seat"
	score := advantage.value()
	if off < 0 {
		key, score = "verdict.second-seat", 1-score
	}
	return Finding{key, []any{"percent", percent(score)}}, true
}
