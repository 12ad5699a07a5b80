package engine

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
)

// TestManyGames checks that games share what is large: a thousand open games take
// far less memory than a thousand histories of 8 MB, and reproducible games have
// hash tables only while they are searched.
func TestManyGames(t *testing.T) {
	for name, c := range map[string]struct {
		options   GameOptions
		games     int
		hashBytes int
		maxMB     int64 // of all games together, open or closed
	}{
		"shared":       {GameOptions{}, 1000, 1 << 16, 300},
		"reproducible": {GameOptions{Reproducible: true}, 200, 4 << 20, 100}, // 800 MB of tables, if each had one
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			e, err := New("xiangqi", Options{HashBytes: c.hashBytes})
			if err != nil {
				t.Fatal(err)
			}
			check := func(when string) {
				t.Helper()
				mb := (allocated() - before) >> 20
				t.Logf("%d MB, %d games %s", mb, c.games, when)
				if mb > c.maxMB {
					t.Errorf("%d MB, %d games %s: want at most %d", mb, c.games, when, c.maxMB)
				}
			}
			p := start(t, "xiangqi")
			open := make([]Game, c.games)
			for i := range open {
				if open[i], err = e.NewGame(c.options); err != nil {
					t.Fatal(err)
				}
			}
			check("opened")
			for _, g := range open {
				run, err := g.Search(p, search.Limits{Nodes: 50}, nil)
				if err != nil {
					t.Fatal(err)
				}
				run.Wait()
			}
			check("searched")
			for _, g := range open {
				if err := g.Close(); err != nil {
					t.Fatal(err)
				}
			}
			check("closed")
			runtime.KeepAlive(e)
		})
	}
}

// allocated returns the size of the live heap, in bytes.
func allocated() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestReproducible checks that a move of a reproducible game depends only on the
// position, the limits and the seed: not on earlier searches of this game or
// another, on a takeback, or on the clock while there is time.
func TestReproducible(t *testing.T) {
	eachGame(t, func(t *testing.T, name string) {
		e, err := New(name, Options{HashBytes: 1 << 20, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		pool := NewPool(2)
		defer pool.Close()
		var positions []game.Position
		rng := rand.New(rand.NewPCG(2, 2))
		for p := start(t, name); len(positions) < 6; {
			gametest.Stroll(t, rng, p, 3)
			positions = append(positions, p.Clone())
		}
		find := func(g Game, p game.Position) search.Result {
			t.Helper()
			c := &Clock{Spec: clock.Spec{Kind: clock.PerMove, Period: 10 * time.Minute}}
			run, err := pool.Start(Request{Game: g, Position: p, Limits: search.Limits{Nodes: 1500}, Clock: c})
			if err != nil {
				t.Fatal(err)
			}
			r, err := run.Wait()
			if err != nil || r.TimedOut {
				t.Fatal(r.TimedOut, err)
			}
			return r
		}
		open := func() Game {
			g, err := e.NewGame(GameOptions{Seed: 3, Reproducible: true})
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		g := open()
		defer g.Close()
		var first []search.Result
		for _, p := range positions {
			first = append(first, find(g, p))
		}
		for i, p := range slices.Backward(positions) {
			other := open() // as a restarted program would
			for _, g := range []Game{g, other} {
				if r := find(g, p); r.Move != first[i].Move || r.Score != first[i].Score || r.Nodes != first[i].Nodes {
					t.Errorf("%s: move %s, score %d, %d nodes; then %s, %d, %d", p, p.Format(first[i].Move), first[i].Score, first[i].Nodes,
						p.Format(r.Move), r.Score, r.Nodes)
				}
			}
			other.Close()
		}
	})
}

// TestReproducibleTimedOut: the clock ends a search of a reproducible game rather
// than let it lose on time, and the result says so.
func TestReproducibleTimedOut(t *testing.T) {
	e, err := New("xiangqi", Options{HashBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.NewGame(GameOptions{Reproducible: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	pool := NewPool(1)
	defer pool.Close()
	s := start(t, "xiangqi")
	run, err := pool.Start(Request{Game: g, Position: s, Limits: search.Limits{Nodes: 1 << 50},
		Clock: &Clock{Spec: clock.Spec{Kind: clock.PerMove, Period: 50 * time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := run.Wait(); err != nil || !r.TimedOut || r.Move == game.NoMove {
		t.Errorf("%+v, %v", r, err)
	}
}
