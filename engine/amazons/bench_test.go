package amazons

import (
	"testing"

	"sparring/engine/search"
)

// bench8x8 has positions from games of the engine at 3,000 nodes a move.
var bench8x8 = []string{
	"2q2q2/8/q6q/8/8/Q6Q/8/2Q2Q2 w",
	"8/2q2q2/5*2/4**1Q/2q3*1/Q2*4/1q3*2/2Q2Q2 w",
	"5q2/2*5/2q1*Q2/Q5*1/1*5q/2q*1Q2/8/2Q1*3 w",
	"8/2q1*3/1Q*2*q*/4**1Q/2q3*1/1*1*1*2/1*1q1*Q1/2Q5 w",
	"4*3/2*2Qq1/1Qq1*1*1/1*2*1*1/1*3q2/2Q**Q2/1q2*3/4*3 w",
	"4q3/4**2/1q*2*1*/1*Q1****/1q2*Q*1/1*****2/***q**2/Q1**Q3 w",
	"4*3/2*2Qq1/1*Q****1/1*q**1*1/1**5/2Q***q1/1q2*1Q1/4*3 w",
	"1***q3/1q****2/2**Q*1*/1*******/1**q*1**/1*****2/***q**1Q/Q1***Q2 w",
}

// benchBoards are the positions to measure on, by size.
func benchBoards() map[string][]string {
	return map[string][]string{"10x10": bench.Positions, "8x8": bench8x8}
}

// BenchmarkSearch measures nodes per second, each position with an empty table.
func BenchmarkSearch(b *testing.B) {
	for size, texts := range benchBoards() {
		b.Run(size, func(b *testing.B) {
			nodes := uint64(0)
			for b.Loop() {
				for _, text := range texts {
					g := search.New(Params(), search.NewTable(16<<20)).NewGame(search.GameOptions{})
					nodes += g.Start(adapt(b, setup(b, text)), search.Limits{Nodes: 20000}, nil).Wait().Nodes
				}
			}
			b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
		})
	}
}

// BenchmarkNode measures the parts of a node, in nanoseconds: entering it,
// entering and evaluating it, and entering it for its first batch of moves.
func BenchmarkNode(b *testing.B) {
	var buf []search.ScoredMove
	for _, part := range []struct {
		name string
		do   func(p *position)
	}{
		{"enter", func(*position) {}},
		{"staged", func(p *position) { staged.value(p) }},
		{"learnt", func(p *position) { learnt.value(p) }},
		{"moves", func(p *position) { buf = p.Moves(buf, &search.Cursor{}) }},
	} {
		for size, texts := range benchBoards() {
			b.Run(part.name+"/"+size, func(b *testing.B) {
				var all []*position
				for _, text := range texts {
					p := adapt(b, setup(b, text))
					p.evaluateBy(&staged)
					tables := p.stages
					p.evaluateBy(&learnt)
					p.stages = tables // so that both can be asked
					all = append(all, p)
				}
				for b.Loop() {
					for _, p := range all {
						p.frames[0].known = false
						p.Enter()
						part.do(p)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(all)), "ns/node")
			})
		}
	}
}

// BenchmarkChildren makes, evaluates and takes back every move of a position, and
// reports evaluations per second.
func BenchmarkChildren(b *testing.B) {
	for size, texts := range benchBoards() {
		b.Run(size, func(b *testing.B) {
			evaluated := 0
			for b.Loop() {
				for _, text := range texts[:4] {
					b.StopTimer()
					g := setup(b, text)
					p, moves := adapt(b, g), g.Legal(nil)
					b.StartTimer()
					for _, m := range moves {
						p.Do(m)
						p.Enter()
						p.Eval()
						p.Undo(m)
					}
					evaluated += len(moves)
				}
			}
			b.ReportMetric(float64(evaluated)/b.Elapsed().Seconds(), "evals/s")
		})
	}
}
