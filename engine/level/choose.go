package level

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// randFor returns the source of the random choices in a position of a game.
func randFor(p game.Position, seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, game.Zobrist(p.Key(), uint64(p.Ply()))))
}

// gumbel returns a standard Gumbel variable. Added to the logarithms of weights,
// it makes the largest sum a weighted random choice, and the k largest sums k such
// choices without replacement.
func gumbel(rng *rand.Rand) float64 {
	return -math.Log(-math.Log(max(rng.Float64(), math.SmallestNonzeroFloat64)))
}

// sample orders the items at random, by their logarithmic weights.
func sample[T any](rng *rand.Rand, items []T, weight func(i int, item T) float64) []T {
	type sampled struct {
		item T
		at   float64
	}
	all := make([]sampled, len(items))
	for i, item := range items {
		all[i] = sampled{item, weight(i, item) + gumbel(rng)}
	}
	slices.SortStableFunc(all, func(a, b sampled) int { return cmp.Compare(b.at, a.at) })
	sorted := make([]T, len(items))
	for i := range all {
		sorted[i] = all[i].item
	}
	return sorted
}

// How likely a move is noticed: the n-th in the order of the first look has a
// weight of 1/(n+rankOffset) (Zipf's law); moves that capture or threaten
// something at once have eager times that weight. The values are estimates, and
// the levels are tuned to them.
const (
	rankOffset = 2
	eager      = 4
)

// notice returns the moves that are noticed. Nil moves means all.
func (t *levelSearch) notice(moves []game.Move) []game.Move {
	var noticed []game.Move
	for _, e := range sample(t.rng, t.seen, func(i int, e search.ScoredMove) float64 {
		weight := -math.Log(float64(i + rankOffset))
		if e.Noise == search.GoodNoisy {
			weight += math.Log(eager)
		}
		return weight
	}) {
		if moves == nil || slices.Contains(moves, e.Move) {
			noticed = append(noticed, e.Move)
		}
		if len(noticed) == t.Notice {
			break
		}
	}
	if noticed == nil {
		return moves
	}
	return noticed
}

// proven is the log-odds of a proven win, the bound of all others.
const proven = 50

// logOdds returns a score as the logarithm of the odds of winning, see
// search.Params.WinProb. A shorter proven win is slightly better.
func logOdds(s search.Score, params *search.Params) float64 {
	switch {
	case s >= search.RepBound:
		return proven + float64(s-search.RepBound)/1000
	case s <= -search.RepBound:
		return -proven + float64(s+search.RepBound)/1000
	}
	return min(max(float64(s)/float64(params.WinScale), -proven), proven)
}

// choose returns the level's answer, given what the search has found.
func (t *levelSearch) choose(r search.Result) search.Result {
	if r.Move == game.NoMove {
		return r
	}
	lines := distinct(r)
	order := lines
	if t.Errs() && (!t.Careful || r.Score < search.WinBound) {
		order = t.slip(lines, &t.params)
	}
	best := order[0]
	if t.Careful {
		best = t.avoidBlunder(order)
	}
	return answer(r, best, lines, t.wanted, &t.params)
}

// distinct returns the lines of a result, best first, each move once: a search
// that was stopped during an iteration has lines of two iterations.
func distinct(r search.Result) []search.Info {
	first := search.Info{Line: 1, Depth: r.Depth, SelDepth: r.SelDepth, Score: r.Score, Bound: search.Exact, WinProb: r.WinProb,
		Nodes: r.Nodes, Time: r.Time, PV: r.PV}
	lines := []search.Info{first}
	for _, l := range r.Lines {
		if len(l.PV) > 0 && !slices.ContainsFunc(lines, func(o search.Info) bool { return o.PV[0] == l.PV[0] }) {
			lines = append(lines, l)
		}
	}
	return lines
}

// slip sorts lines by their misjudged worth. Lines that are much worse than the
// best are not misjudged and stay last.
func (t *levelSearch) slip(lines []search.Info, params *search.Params) []search.Info {
	top := logOdds(lines[0].Score, params)
	close := len(lines)
	if t.Worst > 0 {
		close = 1
		for close < len(lines) && logOdds(lines[close].Score, params) >= top-t.Worst {
			close++
		}
	}
	order := lines
	if t.Slip > 0 {
		order = sample(t.rng, lines[:close], func(_ int, l search.Info) float64 { return logOdds(l.Score, params) / t.Slip })
	}
	return append(order[:close:close], lines[close:]...)
}

// answer returns the result for playing a line.
func answer(r search.Result, best search.Info, lines []search.Info, wanted int, params *search.Params) search.Result {
	if best.PV[0] != r.Move {
		r.Move, r.PV, r.Score, r.Ponder = best.PV[0], best.PV, best.Score, game.NoMove
		r.WinProb = params.WinProb(r.Score)
		if len(r.PV) > 1 {
			r.Ponder = r.PV[1]
		}
	}
	r.Lines = r.Lines[:0:0]
	lines = append([]search.Info{best}, slices.DeleteFunc(lines, func(l search.Info) bool { return l.PV[0] == best.PV[0] })...)
	for i, l := range lines[:min(wanted, len(lines))] {
		l.Line = i + 1
		r.Lines = append(r.Lines, l)
	}
	return r
}
