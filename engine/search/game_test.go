package search_test

import (
	"slices"
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
)

// keeping returns a graph and parameters that keep large histories.
func keeping(seed uint64) (*searchtest.Graph, search.Params) {
	g := searchtest.NewGraph(seed)
	return g, with(g.Params(), "IterativeDeepening", "PVS", "LMR", "History", "ContinuationHistory", "NoisyHistory", "CounterMoves", "KeepHistory")
}

// A thousand open games take no more history tables than the kernel may keep,
// and closed games take none.
func TestHistoriesAreBounded(t *testing.T) {
	const most = 7
	g, params := keeping(1)
	k := search.New(params, search.NewTable(tableBytes))
	k.LimitHistories(most)
	var games []*search.Game
	for i := range 1000 {
		game := k.NewGame(search.GameOptions{})
		games = append(games, game)
		// A second thread that does not get the processor leaves up to 256 nodes unused.
		// Those of the others have to be enough for the history to be kept.
		game.Start(g.At(i%g.Vertices), search.Limits{Nodes: 1500, Threads: 1 + i%2}, nil).Wait()
		if all, _ := k.HistoryTables(); all > most {
			t.Fatalf("%d history tables after %d games, want %d at most", all, i+1, most)
		}
	}
	if _, owned := k.HistoryTables(); owned < most-1 {
		t.Errorf("open games have %d history tables, want about %d", owned, most)
	}
	for _, game := range games {
		game.Close()
	}
	if all, owned := k.HistoryTables(); owned != 0 || all > most {
		t.Errorf("%d history tables, %d of open games, after all games were closed", all, owned)
	}
}

// However many games are searched for few nodes, one history table does: what such a search
// learns is not kept.
func TestShortSearchesKeepNothing(t *testing.T) {
	g, params := keeping(1)
	k := search.New(params, search.NewTable(tableBytes))
	for i := range 100 {
		game := k.NewGame(search.GameOptions{})
		defer game.Close()
		game.Start(g.At(i%g.Vertices), search.Limits{Nodes: 50}, nil).Wait()
	}
	if all, owned := k.HistoryTables(); all != 1 || owned != 0 {
		t.Errorf("%d history tables, %d of open games; want 1 and none", all, owned)
	}
}

// The game that was searched least recently loses its history and starts again with
// an empty one.
func TestIdleGameLosesHistory(t *testing.T) {
	limits := search.Limits{Depth: 7}
	for seed := range uint64(20) {
		g, params := keeping(seed)
		// No heuristic here uses the hash table: only histories may have an effect.
		k := search.New(params, search.NewTable(tableBytes))
		k.LimitHistories(2)
		nodes := func(game *search.Game) uint64 { return game.Start(g, limits, nil).Wait().Nodes }
		games := []*search.Game{k.NewGame(search.GameOptions{}), k.NewGame(search.GameOptions{}), k.NewGame(search.GameOptions{})}
		first := nodes(games[0])
		kept := nodes(games[0])
		if kept == first {
			continue // skip: the history has no effect here
		}
		if n := nodes(games[1]); n != first {
			t.Fatalf("seed %d: a new game takes %d nodes, want %d: it has another's history", seed, n, first)
		}
		nodes(games[2])
		if n := nodes(games[0]); n != first {
			t.Fatalf("seed %d: %d nodes after two other games, want the %d of an empty history", seed, n, first)
		}
		return
	}
	t.Error("no search was changed by its history")
}

// Games with their own table keep their histories, however many others are
// searched.
func TestOwnTableKeepsHistory(t *testing.T) {
	g, params := keeping(2)
	limits := search.Limits{Depth: 6}
	play := func(k *search.Kernel, between func()) (all []uint64) {
		game := k.NewGame(search.GameOptions{Table: search.NewTable(tableBytes)})
		defer game.Close()
		for v := range 10 {
			all = append(all, game.Start(g.At(v), limits, nil).Wait().Nodes)
			between()
		}
		return all
	}
	alone := play(search.New(params, search.NewTable(tableBytes)), func() {})
	k := search.New(params, search.NewTable(tableBytes))
	k.LimitHistories(1)
	together := play(k, func() {
		other := k.NewGame(search.GameOptions{})
		other.Start(g.At(50), limits, nil).Wait()
		other.Start(g.At(51), search.Limits{Nodes: 100}, nil).Wait()
	})
	if !slices.Equal(alone, together) {
		t.Errorf("nodes %d, with other games in between %d", alone, together)
	}
}

func TestHistoryBytes(t *testing.T) {
	for _, on := range [][]string{nil, {"ContinuationHistory"}} {
		if planned, made := search.HistoryBytes(with(search.Params{HistorySize: [2]int{8100, 1260}, ContinuationIndex: 1}, on...)); planned < made || planned > made+4096 {
			t.Errorf("%v: %d bytes planned, %d made", on, planned, made)
		}
	}
}
