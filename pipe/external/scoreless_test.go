package external

import (
	"math"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/pipe/uci"
)

// TestMessagesWithoutScore: of a message without a score only the moves count. A
// program that never gives one has none: no depth, by which others would take an even
// chance for its own, and no report.
func TestMessagesWithoutScore(t *testing.T) {
	e := openFaulty(t, "fine") // not started
	p := newGame(t, "xiangqi/wxf")
	silent, scored := &uci.Info{Depth: 5, PV: []string{"h2e2"}}, &uci.Info{Depth: 4, PV: []string{"b2e2"}, Score: uci.Score{Unit: uci.Centipawns, Value: 80}}
	for _, tt := range []struct {
		name           string
		said           []*uci.Info
		depth, reports int
	}{
		{"none", []*uci.Info{silent}, 0, 0},
		{"before", []*uci.Info{silent, scored}, 4, 1},
		{"after", []*uci.Info{scored, silent}, 4, 1},
	} {
		reports := 0
		r := &running{engine: e, query: newQuery(p), asked: time.Now(), report: func(search.Info) { reports++ }}
		for _, i := range tt.said {
			r.onInfo(i)
		}
		best := r.lines[0]
		if even := best.Score == 0 && best.WinProb == 0.5; best.Depth != tt.depth || reports != tt.reports || even != (tt.depth == 0) {
			t.Errorf("%s: depth %d, score %d, chance %g, %d reports; want depth %d, %d reports", tt.name, best.Depth, best.Score, best.WinProb, reports, tt.depth, tt.reports)
		}
		last := tt.said[len(tt.said)-1].PV[0]
		if len(best.PV) != 1 || game.FormatLine(p, "", best.PV)[0] != last {
			t.Errorf("%s: moves %v, want %s", tt.name, best.PV, last)
		}
	}
}

// TestDepthsOutOfRange: what can't be a depth is an unknown one.
func TestDepthsOutOfRange(t *testing.T) {
	e := openFaulty(t, "fine") // not started
	p := newGame(t, "xiangqi/wxf")
	score := uci.Score{Unit: uci.Centipawns, Value: 80}
	for said, want := range map[int]int{-3: 0, 0: 0, 1: 1, 245: 245, math.MaxInt32: 0} {
		r := &running{engine: e, query: newQuery(p), asked: time.Now()}
		r.onInfo(&uci.Info{Depth: said, SelDepth: said, Score: score, PV: []string{"b2e2"}})
		if got := r.lines[0]; got.Depth != want || got.SelDepth != want || got.Score == 0 {
			t.Errorf("depth %d: %d, selective %d, want %d; score %d", said, got.Depth, got.SelDepth, want, got.Score)
		}
	}
}

// TestNodesApart: nodes count also where they come without a score, as in UCCI and at the
// end of a search.
func TestNodesApart(t *testing.T) {
	e := openFaulty(t, "fine") // not started
	p := newGame(t, "xiangqi/wxf")
	score := uci.Score{Unit: uci.Centipawns, Value: 80}
	var reported uint64
	r := &running{engine: e, query: newQuery(p), asked: time.Now(), report: func(i search.Info) { reported = i.Nodes }}
	r.onInfo(&uci.Info{Nodes: 50})
	r.onInfo(&uci.Info{Depth: 4, Score: score, PV: []string{"b2e2"}})
	if reported != 50 {
		t.Errorf("%d nodes at depth 4, want 50", reported)
	}
	r.onInfo(&uci.Info{Nodes: 70})
	r.game = &externalGame{}
	if err := r.finish(&program{}, &answer{line: "bestmove b2e2", move: "b2e2"}); err != nil || r.result.Nodes != 70 {
		t.Errorf("%d nodes at the end, %v; want 70", r.result.Nodes, err)
	}
}
