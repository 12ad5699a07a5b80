package xiangqi

import (
	"testing"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// benchFENs are an opening, two sharp middle games and an endgame.
var benchFENs = []string{
	"r1bakab1r/9/1cn2cn2/p1p1p1p1p/9/2P3P2/P3P3P/1CN1C1N2/9/R1BAKAB1R b",
	"2bak4/2c1a3c/4b1n2/1nN1pR3/p5p1p/7r1/P2R2P1P/B3C1N2/1r2C4/3AKAB2 w",
	"r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w",
	"3ak4/9/4c4/9/4N4/9/2r6/9/4A4/4K1R2 w",
}

func benchPositions(b *testing.B) (all []*position) {
	for _, fen := range benchFENs {
		p, err := catalog.Setup("xiangqi", "simple", fen)
		if err != nil {
			b.Fatal(err)
		}
		a, err := New(p)
		if err != nil {
			b.Fatal(err)
		}
		a.Enter()
		all = append(all, a.(*position))
	}
	return all
}

// allMoves runs a cursor to its end.
func allMoves(p *position, mode search.Mode, buf []search.ScoredMove) (moves []search.ScoredMove) {
	c := search.Cursor{Mode: mode}
	for buf = p.Moves(buf, &c); len(buf) > 0; buf = p.Moves(buf, &c) {
		moves = append(moves, buf...)
	}
	return moves
}

// BenchmarkEval evaluates four positions: by the engine's own evaluation from
// scratch except for the sums, and by those of the papers.
func BenchmarkEval(b *testing.B) {
	own := adapter.Evaluation{Name: "own", Adapt: func(p search.Position) search.Position { return p }}
	for _, e := range append([]adapter.Evaluation{own}, evaluations()...) {
		b.Run(e.Name, func(b *testing.B) {
			var all []search.Position
			for _, p := range benchPositions(b) {
				all = append(all, e.Adapt(p))
			}
			var sum search.Score
			for b.Loop() {
				for _, p := range all {
					sum += p.Eval()
				}
			}
			perPosition(b, len(all))
			_ = sum
		})
	}
}

// BenchmarkMoves runs through the stages of four positions: of all moves, and
// of those for quiescence.
func BenchmarkMoves(b *testing.B) {
	for _, m := range []struct {
		name string
		mode search.Mode
	}{{"all", search.All}, {"noisy", search.Noisy}} {
		b.Run(m.name, func(b *testing.B) {
			all := benchPositions(b)
			var buf []search.ScoredMove
			for b.Loop() {
				for _, p := range all {
					c := search.Cursor{Mode: m.mode}
					for buf = p.Moves(buf, &c); len(buf) > 0; {
						buf = p.Moves(buf, &c)
					}
				}
			}
			perPosition(b, len(all))
		})
	}
}

// BenchmarkDoUndo makes and takes back every move of four positions, with
// the data that the kernel reads at a node.
func BenchmarkDoUndo(b *testing.B) {
	all := benchPositions(b)
	var lists [][]game.Move
	n := 0
	for _, p := range all {
		var list []game.Move
		for _, e := range allMoves(p, search.All, nil) {
			list = append(list, e.Move)
		}
		n += len(list)
		lists = append(lists, list)
	}
	for b.Loop() {
		for i, p := range all {
			for _, m := range lists[i] {
				p.Do(m)
				p.Enter()
				p.Undo(m)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/move")
}

// BenchmarkSEE compares the exchange of every move of four positions with zero.
func BenchmarkSEE(b *testing.B) {
	all := benchPositions(b)
	var lists [][]search.ScoredMove
	n := 0
	for _, p := range all {
		lists = append(lists, allMoves(p, search.All, nil))
		n += len(lists[len(lists)-1])
	}
	gains := 0
	for b.Loop() {
		for i, p := range all {
			for j := range lists[i] {
				if p.SEE(lists[i][j].Move, 0) {
					gains++
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/move")
}

func perPosition(b *testing.B, positions int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(positions), "ns/position")
}
