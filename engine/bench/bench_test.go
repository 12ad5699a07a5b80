package bench

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
)

// signature is the number of nodes that Run must take. Change it only together
// with a change of play, and show a match result in the same commit.
const signature = 503891

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

// BenchmarkSearch measures nodes per second on each game's positions.
func BenchmarkSearch(b *testing.B) {
	for _, s := range suites {
		b.Run(s.game, func(b *testing.B) {
			var sum Tally
			for b.Loop() {
				t, err := s.run(s.depth, nil)
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

// BenchmarkSwitches searches with each heuristic the other way round, and
// reports the nodes that the positions then take to their depth, as a ratio to
// those of the usual search (geometric mean): docs/search.md has the figures. It says what a
// heuristic saves, not what it is worth: those that look away from moves save
// most.
func BenchmarkSwitches(b *testing.B) {
	for _, s := range suites {
		// Chance has less of a say where the trees are larger.
		depth := s.depth + 2
		if s.game == "amazons" {
			depth = s.depth
		}
		usual, err := s.run(depth, nil)
		if err != nil {
			b.Fatal(err)
		}
		e, err := engine.New(s.game, engine.Options{HashBytes: hashBytes})
		if err != nil {
			b.Fatal(err)
		}
		on := reflect.ValueOf(e.Params().On)
		for _, name := range search.SwitchNames() {
			is, verb := on.FieldByName(name).Bool(), "with"
			if is {
				verb = "without"
			}
			b.Run(s.game+"/"+verb+"="+name, func(b *testing.B) {
				for b.Loop() {
					t, err := s.run(depth, map[string]bool{name: !is})
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
