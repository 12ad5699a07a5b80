package arena

import (
	"testing"
	"time"

	"sparring/protocol"
)

// Only the process that acts as an instance gives back its seats, and each request does so
// once: the instance may have taken a seat again before it comes a second time.
func TestLeaveCounts(t *testing.T) {
	const lostAfter = 1500 * time.Millisecond
	type step struct {
		at    int    // in units of 100 ms
		who   string // its secret
		leave string // the id of a leave, or a hello
		want  bool   // the leave counts
	}
	for name, steps := range map[string][]step{
		"its own":                    {{0, "A", "", true}, {5, "A", "l1", true}, {6, "A", "l2", true}},
		"without a secret":           {{0, "A", "", true}, {5, "", "l1", true}, {6, "", "l1", false}},
		"after a hello without one":  {{0, "", "", true}, {5, "A", "l1", true}},
		"before a hello":             {{0, "A", "l1", true}, {1, "A", "l1", false}},
		"twice":                      {{0, "A", "", true}, {5, "A", "l1", true}, {6, "A", "l2", true}, {7, "A", "l1", false}, {8, "A", "l2", false}},
		"twice, with a hello":        {{0, "A", "", true}, {5, "A", "l1", true}, {6, "A", "", true}, {7, "A", "l1", false}, {8, "A", "l2", true}},
		"another process's":          {{0, "A", "", true}, {5, "B", "l1", false}, {6, "A", "l1", true}},
		"of one that is silent":      {{0, "A", "", true}, {30, "B", "l1", false}, {31, "B", "", true}, {32, "B", "l2", true}},
		"of one that was replaced":   {{0, "A", "", true}, {7, "B", "", true}, {8, "A", "l1", false}, {9, "B", "l2", true}},
		"one that has to make way's": {{0, "A", "", true}, {7, "B", "", true}, {10, "A", "", true}, {15, "A", "", true}, {18, "B", "l1", false}, {19, "A", "l2", true}},
	} {
		p, start := newPresence(lostAfter), time.Now()
		for _, s := range steps {
			from := protocol.From{Player: "bob", Arrived: start.Add(time.Duration(s.at) * 100 * time.Millisecond)}
			if s.leave == "" {
				p.hello(from, protocol.Hello{Header: protocol.Header{ID: protocol.NewID()}, Instance: "box1", Secret: s.who, Kind: protocol.Bot})
				continue
			}
			m := protocol.Leave{Header: protocol.Header{ID: s.leave}, Instance: "box1", Secret: s.who}
			if got := p.leave(from, m); got != s.want {
				t.Errorf("%s: %+v: got %t", name, s, got)
			}
			if left := p.leaving("bob", "box1"); s.want && !left {
				t.Errorf("%s: %+v: the instance has not left", name, s)
			}
		}
	}
}
