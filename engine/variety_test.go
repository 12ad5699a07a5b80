package engine

import (
	"slices"
	"testing"

	"sparring/engine/search"
	"sparring/game"
)

// played returns the first moves of a game that an engine plays against itself.
func played(t *testing.T, name string, o Options, g GameOptions) (moves []game.Move) {
	t.Helper()
	o.HashBytes, g.Reproducible = 1<<20, true
	e, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := e.NewGame(g)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	p := start(t, name)
	for len(moves) < 12 && !p.Outcome().Over() {
		run, err := opened.Search(p, search.Limits{Nodes: 1500}, nil)
		if err != nil {
			t.Fatal(err)
		}
		moves = append(moves, run.Wait().Move)
		if err := p.Play(moves[len(moves)-1]); err != nil {
			t.Fatal(err)
		}
	}
	return moves
}

// TestVariety: the seeds of game and engine decide which moves an engine with variety plays;
// without it they change nothing.
func TestVariety(t *testing.T) {
	eachGame(t, func(t *testing.T, name string) {
		plain := played(t, name, Options{}, GameOptions{})
		if got := played(t, name, Options{VarietySeed: 5}, GameOptions{Seed: 7}); !slices.Equal(got, plain) {
			t.Errorf("without variety the seeds change the game: %v, not %v", got, plain)
		}
		blurred := Options{Variety: 5, VarietySeed: 1}
		first := played(t, name, blurred, GameOptions{Seed: 7})
		if again := played(t, name, blurred, GameOptions{Seed: 7}); !slices.Equal(first, again) {
			t.Errorf("the same seed plays %v, then %v", first, again)
		}
		if other := played(t, name, blurred, GameOptions{Seed: 8}); slices.Equal(first, other) {
			t.Error("another game with another seed is the same")
		}
		blurred.VarietySeed = 2
		if other := played(t, name, blurred, GameOptions{Seed: 7}); slices.Equal(first, other) {
			t.Error("an engine with another seed plays the same")
		}
	})
}

func TestVarietyRefusals(t *testing.T) {
	for _, n := range []int{-1, MaxVariety + 1} {
		if _, err := New("gomoku", Options{Variety: n}); err == nil {
			t.Errorf("variety %d is accepted", n)
		}
	}
}
