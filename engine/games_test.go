package engine

import (
	"runtime"
	"testing"

	"sparring/engine/search"
)

// TestManyGames: games share what is large. A thousand that are open take far
// less memory than a thousand histories, of 8 MB each.
func TestManyGames(t *testing.T) {
	const games, mostMB = 1000, 300
	for name, o := range map[string]GameOptions{"shared": {}, "reproducible": {Reproducible: true}} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			e, err := New("xiangqi", Options{HashBytes: 1 << 16})
			if err != nil {
				t.Fatal(err)
			}
			p := start(t, "xiangqi")
			open := make([]Game, games)
			for i := range open {
				if open[i], err = e.NewGame(o); err != nil {
					t.Fatal(err)
				}
				run, err := open[i].Search(p, search.Limits{Nodes: 50}, nil)
				if err != nil {
					t.Fatal(err)
				}
				run.Wait()
			}
			most := allocated() - before
			for _, g := range open {
				if err := g.Close(); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d MB with %d open games", most>>20, games)
			if most > mostMB<<20 {
				t.Errorf("%d MB with %d open games, want at most %d", most>>20, games, mostMB)
			}
		})
	}
}

// allocated is what the heap holds, without what can be collected.
func allocated() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
