package bench

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// signature is the number of nodes that Run must search. Change it only together
// with a change of play, and show a match result in the same commit.
const signature = 204053

func TestSignature(t *testing.T) {
	var out strings.Builder
	got, err := Run(&out)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	if !strings.HasSuffix(out.String(), fmt.Sprintf("signature %d\n", got)) {
		t.Errorf("the last line is not the signature: %s", out.String())
	}
	if got != signature {
		t.Errorf("signature %d, want %d", got, signature)
	}
}

// TestNothingToMeasure: a game that bench can't measure is an error.
func TestNothingToMeasure(t *testing.T) {
	bare, err := engine.Adapter("amazons")
	if err != nil {
		t.Fatal(err)
	}
	bare.Bench = adapter.Bench{}
	if err := measurable(bare); err == nil || !strings.Contains(err.Error(), "amazons has no positions") {
		t.Errorf("%v", err)
	}
	if _, err := suite("nonesuch"); err == nil {
		t.Error("a game without an engine is measured")
	}
}

// suites returns the games that bench searches.
func suites(b *testing.B) (all []adapter.Adapter) {
	for _, g := range catalog.Games() {
		s, err := suite(g.Name)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// BenchmarkSearch measures nodes per second on each game's positions.
func BenchmarkSearch(b *testing.B) {
	for _, s := range suites(b) {
		b.Run(s.Game, func(b *testing.B) {
			var sum Tally
			for b.Loop() {
				t, err := run(s, s.Bench.Depth, nil)
				if err != nil {
					b.Fatal(err)
				}
				sum.Nodes += t.Nodes
				sum.Time += t.Time
			}
			b.ReportMetric(float64(sum.Nodes)/sum.Time.Seconds(), "nodes/s")
		})
	}
}

// BenchmarkThreads searches each position of a game, and the one three plies later,
// to the depth Bench.Deep with one thread and with two, five times each with an
// empty table. It reports the speed-up by the second thread in nodes per second
// and in time to depth (geometric mean over the positions).
func BenchmarkThreads(b *testing.B) {
	const runs = 5
	for _, s := range suites(b) {
		b.Run(s.Game, func(b *testing.B) {
			positions, err := withLater(s)
			if err != nil {
				b.Fatal(err)
			}
			var engines [2]*engine.Engine
			for i := range engines {
				if engines[i], err = engine.New(s.Game, engine.Options{HashBytes: 4 * hashBytes, Threads: i + 1}); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				var nodes, seconds [2]float64
				logs := 0.0
				for _, p := range positions {
					var each [2]float64
					for range runs {
						for i, e := range engines {
							g, err := e.NewGame(engine.GameOptions{OwnTable: true})
							if err != nil {
								b.Fatal(err)
							}
							r, err := g.Search(p, search.Limits{Depth: s.Bench.Deep}, nil)
							if err != nil {
								b.Fatal(err)
							}
							result := r.Wait()
							g.Close()
							nodes[i] += float64(result.Nodes)
							each[i] += result.Time.Seconds()
						}
					}
					logs += math.Log(each[0] / each[1])
					seconds[0], seconds[1] = seconds[0]+each[0], seconds[1]+each[1]
				}
				b.ReportMetric(nodes[1]/seconds[1]/(nodes[0]/seconds[0]), "nodes/s-ratio")
				b.ReportMetric(math.Exp(logs/float64(len(positions))), "time-ratio")
			}
		})
	}
}

// withLater returns a game's positions, and those three plies later.
func withLater(s adapter.Adapter) (all []game.Position, err error) {
	e, err := engine.New(s.Game, engine.Options{HashBytes: hashBytes})
	if err != nil {
		return nil, err
	}
	g, err := e.NewGame(engine.GameOptions{Reproducible: true})
	if err != nil {
		return nil, err
	}
	for _, text := range s.Bench.Positions {
		p, err := catalog.Setup(s.Game, s.Bench.Rules, text)
		if err != nil {
			return nil, err
		}
		later := p.Clone()
		for range 3 {
			r, err := g.Search(later, search.Limits{Depth: s.Bench.Depth}, nil)
			if err != nil {
				return nil, err
			}
			if err := later.Play(r.Wait().Move); err != nil {
				return nil, err
			}
		}
		all = append(all, p, later)
	}
	return all, nil
}

// BenchmarkSwitches inverts each heuristic's switch and reports the number of
// nodes to depth as a ratio to the usual search (geometric mean over the
// positions): docs/search.md has the figures. They show what a heuristic saves,
// not what it is worth: pruning more always searches fewer nodes.
func BenchmarkSwitches(b *testing.B) {
	for _, s := range suites(b) {
		// Random variation is smaller in larger trees.
		depth := s.Bench.Depth + 2
		if s.Game == "amazons" {
			depth = s.Bench.Depth
		}
		usual, err := run(s, depth, nil)
		if err != nil {
			b.Fatal(err)
		}
		e, err := engine.New(s.Game, engine.Options{HashBytes: hashBytes})
		if err != nil {
			b.Fatal(err)
		}
		on := e.Params().On
		for _, name := range search.SwitchNames() {
			is, verb := on.Is(name), "with"
			if is {
				verb = "without"
			}
			b.Run(s.Game+"/"+verb+"="+name, func(b *testing.B) {
				for b.Loop() {
					t, err := run(s, depth, map[string]bool{name: !is})
					if err != nil {
						b.Fatal(err)
					}
					sum := 0.0
					for i, n := range t.Each {
						sum += math.Log(float64(n) / float64(usual.Each[i]))
					}
					b.ReportMetric(math.Exp(sum/float64(len(t.Each))), "nodes/usual")
				}
			})
		}
	}
}
