package bench

import (
	"fmt"
	"strings"
	"testing"
)

// signature is the number of nodes that Run must take. Change it only together
// with a change of play, and show a match result in the same commit.
const signature = 545849

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
				t, err := s.run()
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
