package level

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// lots are the lots of one request: the same for the same request.
func lots(p game.Position, seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, game.Zobrist(p.Key(), uint64(p.Ply()))))
}

// gumbel is a standard Gumbel variable. Added to logarithms of weights it makes
// the largest of the sums a draw by weight, and the k largest such draws
// without putting back.
func gumbel(rng *rand.Rand) float64 {
	return -math.Log(-math.Log(max(rng.Float64(), math.SmallestNonzeroFloat64)))
}

// draw gives every item its logarithmic weight and a lot, and sorts by both.
func draw[T any](rng *rand.Rand, items []T, weight func(i int, item T) float64) []T {
	type drawn struct {
		item T
		at   float64
	}
	all := make([]drawn, len(items))
	for i, item := range items {
		all[i] = drawn{item, weight(i, item) + gumbel(rng)}
	}
	slices.SortStableFunc(all, func(a, b drawn) int { return cmp.Compare(b.at, a.at) })
	sorted := make([]T, len(items))
	for i := range all {
		sorted[i] = all[i].item
	}
	return sorted
}

// How easily a move comes to mind: the n-th at first sight with a weight of
// 1/(n+rankOffset), Zipf's law, and moves that take or threaten something at
// once eager times as easily as their place says. (Estimates; the levels are
// tuned with them as they are.)
const (
	rankOffset = 2
	eager      = 4
)

// notice narrows the moves to search, nil being all, to those that come to
// mind.
func (t *turn) notice(moves []game.Move) []game.Move {
	var noticed []game.Move
	for _, e := range draw(t.rng, t.seen, func(i int, e search.ScoredMove) float64 {
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

// proven is the log-odds of a win that is proven; evaluations stay within.
const proven = 50

// logOdds is a score as the logarithm of the odds of winning, see
// search.Params.WinProb. Of proven wins a sooner one is slightly better.
func logOdds(s search.Score, params *search.Params) float64 {
	switch {
	case s >= search.RepBound:
		return proven + float64(s-search.RepBound)/1000
	case s <= -search.RepBound:
		return -proven + float64(s+search.RepBound)/1000
	}
	return min(max(float64(s)/float64(params.WinScale), -proven), proven)
}

// choose is the level's answer, given what the search has found.
func (t *turn) choose(r search.Result) search.Result {
	if r.Move == game.NoMove {
		return r
	}
	lines := distinct(r)
	order := lines
	if t.errs() && (!t.Careful || r.Score < search.WinBound) {
		order = t.slip(lines, &t.params)
	}
	best := order[0]
	if t.Careful {
		best = t.spare(order)
	}
	return answer(r, best, lines, t.wanted, &t.params)
}

// distinct is the lines of a result, best first, each move once: a search that
// was stopped in the middle of an iteration has lines of two.
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

// slip sorts lines by what they seem to be worth. Those that are much worse
// than the best are not misjudged, and come last as they are.
func (t *turn) slip(lines []search.Info, params *search.Params) []search.Info {
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
		order = draw(t.rng, lines[:close], func(_ int, l search.Info) float64 { return logOdds(l.Score, params) / t.Slip })
	}
	return append(order[:close:close], lines[close:]...)
}

// answer is the result that says it plays a line.
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
