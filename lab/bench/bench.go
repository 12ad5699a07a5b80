// Package bench searches a fixed set of positions of every game to a fixed
// depth. The nodes that this takes are the same on every run and machine: their
// sum is the signature of the engine's behaviour. A change that is meant to
// alter nothing keeps it; one that alters play shows a match result beside the
// new signature.
package bench

import (
	"fmt"
	"io"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game/catalog"
)

// hashBytes is the size of the table, which every position finds empty.
const hashBytes = 16 << 20

// Tally is what one game's positions took.
type Tally struct {
	Game  string
	Nodes uint64
	Each  []uint64 // nodes of each position
	Time  time.Duration
}

// Run searches all positions, writes a line for each game and last the
// signature, and returns it.
func Run(w io.Writer) (signature uint64, err error) {
	for _, s := range suites {
		t, err := s.run(s.depth, nil)
		if err != nil {
			return 0, err
		}
		signature += t.Nodes
		rate := float64(t.Nodes) / max(t.Time.Seconds(), 1e-9)
		if _, err := fmt.Fprintf(w, "%-8s %2d positions, depth %d: %9d nodes, %8.0f nodes/s\n",
			t.Game, len(s.positions), s.depth, t.Nodes, rate); err != nil {
			return 0, err
		}
	}
	_, err = fmt.Fprintf(w, "signature %d\n", signature)
	return signature, err
}

// run searches the positions to a depth with some heuristics turned on or off.
func (s suite) run(depth int, switches map[string]bool) (Tally, error) {
	t := Tally{Game: s.game}
	e, err := engine.New(s.game, engine.Options{HashBytes: hashBytes, Threads: 1, Switches: switches})
	if err != nil {
		return t, err
	}
	g, err := e.NewGame(engine.GameOptions{Reproducible: true})
	if err != nil {
		return t, err
	}
	for i, text := range s.positions {
		p, err := catalog.Setup(s.game, s.rules, text)
		if err != nil {
			return t, fmt.Errorf("bench position %d of %s: %w", i+1, s.game, err)
		}
		begin := time.Now()
		run, err := g.Search(p, search.Limits{Depth: depth}, nil)
		if err != nil {
			return t, fmt.Errorf("bench position %d of %s: %w", i+1, s.game, err)
		}
		t.Each = append(t.Each, run.Wait().Nodes)
		t.Nodes += t.Each[i]
		t.Time += time.Since(begin)
	}
	return t, nil
}
