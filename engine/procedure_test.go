package engine

import (
	"slices"
	"testing"

	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// TestPoolPlaysEveryRuleSet plays games under every well-known rule set,
// opening procedures included, where one seat may act twice and colours
// change hands.
func TestPoolPlaysEveryRuleSet(t *testing.T) {
	pool := NewPool(2)
	defer pool.Close()
	plies := 24
	if testing.Short() {
		plies = 12
	}
	for _, g := range catalog.Games() {
		if _, err := Adapter(g.Name); err != nil {
			t.Error(err)
			continue
		}
		for _, name := range g.Sets {
			t.Run(name, func(t *testing.T) {
				rules, err := catalog.Rules(name)
				if err != nil {
					t.Fatal(err)
				}
				pos, err := rules.New("")
				if err != nil {
					t.Fatal(err)
				}
				play(t, pool, pos, plies)
			})
		}
	}
}

// play lets the pool make the given number of moves, with few nodes each, or all
// moves up to the end of the game.
func play(t *testing.T, pool *Pool, pos game.Position, plies int) {
	g := newGame(t, pos.Rules().Game, GameOptions{})
	for range plies {
		if pos.Outcome().Over() {
			return
		}
		run, err := pool.Start(Request{Game: g, Position: pos, Limits: search.Limits{Nodes: 300}})
		if err != nil {
			t.Fatalf("ply %d, %s: %v", pos.Ply(), pos, err)
		}
		r, err := run.Wait()
		if err == nil {
			err = pos.Play(r.Move)
		}
		if err != nil {
			t.Fatalf("ply %d, %s: %v", pos.Ply(), pos, err)
		}
	}
}

// TestChoicesAreDrawnFromTheSeed checks that the same seed gives the same choices,
// and that the depth, score and lines of other positions are not reported, nor in the
// result of a choice.
func TestChoicesAreDrawnFromTheSeed(t *testing.T) {
	pool := NewPool(1)
	defer pool.Close()
	choices := func(seed uint64) (moves []game.Move) {
		pos, err := catalog.Setup("gomoku", "gomoku/freestyle-15+swap2", "")
		if err != nil {
			t.Fatal(err)
		}
		g := newGame(t, "gomoku", GameOptions{Seed: seed})
		for opening.Running(pos) {
			run, err := pool.Start(Request{Game: g, Position: pos, Limits: search.Limits{Nodes: 300},
				Watch: func(i search.Info) { t.Errorf("%s: reported %+v", pos, i) }})
			if err != nil {
				t.Fatal(err)
			}
			r, err := run.Wait()
			if err == nil {
				err = pos.Play(r.Move)
			}
			if err != nil || r.Depth != 0 || r.Score != 0 || r.Ponder != game.NoMove || len(r.PV) != 1 || r.PV[0] != r.Move {
				t.Fatalf("%+v: %v", r, err)
			}
			moves = append(moves, r.Move)
		}
		return moves
	}
	first, others := choices(1), 0
	if again := choices(1); !slices.Equal(first, again) {
		t.Errorf("the same seed gave %v and %v", first, again)
	}
	for seed := range uint64(8) {
		if !slices.Equal(first, choices(seed)) {
			others++
		}
	}
	if others == 0 {
		t.Error("every seed gives the same stones")
	}
}

// TestFirstStone: the first stone is in the middle, however long the search and whatever the
// rules, unless other moves are asked for.
func TestFirstStone(t *testing.T) {
	for _, set := range []string{"gomoku/freestyle-15", "gomoku/standard-15", "gomoku/renju-15", "gomoku/caro-20"} {
		rules, err := catalog.Rules(set)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rules.New("")
		if err != nil {
			t.Fatal(err)
		}
		const corner = "a1"
		other, err := p.Parse(corner)
		if err != nil {
			t.Fatal(err)
		}
		middle := "h8"
		if set == "gomoku/caro-20" {
			middle = "k11"
		}
		g := newGame(t, "gomoku", GameOptions{})
		for _, tt := range []struct {
			limits search.Limits
			want   string
		}{{search.Limits{Nodes: 20_000}, middle}, {search.Limits{Nodes: 1000, Moves: []game.Move{other}}, corner}} {
			run, err := g.Search(p, tt.limits, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r := run.Wait(); p.Format(r.Move) != tt.want || r.Score < -search.WinBound {
				t.Errorf("%s: %s with a score of %d, want %s", set, p.Format(r.Move), r.Score, tt.want)
			}
		}
	}
}
