package level

import (
	"math/rand/v2"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// opened returns a position some plies after the usual start, reached by moves that
// look promising.
func opened(t testing.TB, gameName string, plies int, seed uint64) game.Position {
	t.Helper()
	p, err := catalog.Setup(gameName, "", "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(gameName, engine.Options{HashBytes: 1 << 14})
	if err != nil {
		t.Fatal(err)
	}
	for rng := rand.New(rand.NewPCG(seed, 1)); p.Ply() < plies && !p.Outcome().Over(); {
		moves, err := e.OrderedMoves(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Play(moves[rng.IntN(min(20, len(moves)))].Move); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// think returns a searcher's answer in a game with the given seed.
func think(t testing.TB, s engine.Searcher, seed uint64, p game.Position, l search.Limits) search.Result {
	t.Helper()
	run, err := newGame(t, s, seed).Search(p, l, nil)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	r := run.Wait()
	if r.Err != nil {
		t.Fatalf("%s: %v", p, r.Err)
	}
	return r
}

func newGame(t testing.TB, s engine.Searcher, seed uint64) engine.Game {
	t.Helper()
	g, err := s.NewGame(engine.GameOptions{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// maxPlies is the length at which a game is drawn.
const maxPlies = 250

// duel plays pairs of games, each opening with both seats, and returns the points
// of a and the number of games.
func duel(t testing.TB, gameName string, a, b engine.Searcher, pairs int, seed uint64) (points float64, games int) {
	t.Helper()
	for i := range uint64(pairs) {
		for _, seat := range []game.Seat{game.First, game.Second} {
			p := opened(t, gameName, 4, seed+i)
			for !p.Outcome().Over() && p.Ply() < maxPlies {
				s := b
				if p.Turn() == seat {
					s = a
				}
				r := think(t, s, seed+i, p, search.Limits{})
				if err := p.Play(r.Move); err != nil {
					t.Fatalf("%s: %v", p, err)
				}
			}
			switch p.Outcome().Result {
			case game.WonBy(seat):
				points++
			case game.Draw, game.Undecided:
				points += 0.5
			}
			games++
		}
	}
	return points, games
}
