// Package bench searches a fixed set of positions of every game to a fixed
// depth. The number of nodes is the same on every run and machine: the sum is
// the signature of the engine's behaviour. A refactoring keeps it; a commit that
// changes play has a match result beside the new signature.
package bench

import (
	"fmt"
	"io"
	"time"

	"sparring/engine"
	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/game/catalog"
)

// hashBytes is the size of the table, which every position finds empty.
const hashBytes = 16 << 20

// Tally is the result for one game.
type Tally struct {
	Nodes uint64
	Each  []uint64 // nodes of each position
	Time  time.Duration
}

// Run searches the positions of all games, writes a line for each game and last
// the signature, and returns it. A game without an engine or without positions
// is an error.
func Run(w io.Writer) (signature uint64, err error) {
	for _, g := range catalog.Games() {
		a, err := suite(g.Name)
		if err != nil {
			return 0, err
		}
		t, err := run(a, a.Bench.Depth, nil)
		if err != nil {
			return 0, err
		}
		signature += t.Nodes
		rate := float64(t.Nodes) / max(t.Time.Seconds(), 1e-9)
		if _, err := fmt.Fprintf(w, "%-8s %2d positions, depth %d: %9d nodes, %8.0f nodes/s\n",
			g.Name, len(a.Bench.Positions), a.Bench.Depth, t.Nodes, rate); err != nil {
			return 0, err
		}
	}
	_, err = fmt.Fprintf(w, "signature %d\n", signature)
	return signature, err
}

// suite returns the adapter of a game, with the positions.
func suite(gameName string) (adapter.Adapter, error) {
	a, err := engine.Adapter(gameName)
	if err == nil {
		err = measurable(a)
	}
	return a, err
}

func measurable(a adapter.Adapter) error {
	if len(a.Bench.Positions) == 0 || a.Bench.Depth < 1 {
		return fmt.Errorf("bench: %s has no positions, or no depth", a.Game)
	}
	return nil
}

// run searches the positions to a depth, with some heuristics switched on or off.
func run(a adapter.Adapter, depth int, switches map[string]bool) (t Tally, err error) {
	e, err := engine.New(a.Game, engine.Options{HashBytes: hashBytes, Threads: 1, Switches: switches})
	if err != nil {
		return t, err
	}
	g, err := e.NewGame(engine.GameOptions{Reproducible: true})
	if err != nil {
		return t, err
	}
	for i, text := range a.Bench.Positions {
		p, err := catalog.Setup(a.Game, a.Bench.Rules, text)
		if err != nil {
			return t, fmt.Errorf("bench position %d of %s: %w", i+1, a.Game, err)
		}
		begin := time.Now()
		run, err := g.Search(p, search.Limits{Depth: depth}, nil)
		if err != nil {
			return t, fmt.Errorf("bench position %d of %s: %w", i+1, a.Game, err)
		}
		t.Each = append(t.Each, run.Wait().Nodes)
		t.Nodes += t.Each[i]
		t.Time += time.Since(begin)
	}
	return t, nil
}
