package engine

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
)

// newGame opens a game of a new engine.
func newGame(t *testing.T, name string, o GameOptions) Game {
	t.Helper()
	e, err := New(name, Options{HashBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.NewGame(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// eachGame runs a test for each game.
func eachGame(t *testing.T, test func(t *testing.T, gameName string)) {
	for _, a := range adapters {
		t.Run(a.Game, func(t *testing.T) { test(t, a.Game) })
	}
}

// TestPlaysEveryGame plays each game with its engine and checks every move.
func TestPlaysEveryGame(t *testing.T) {
	eachGame(t, func(t *testing.T, name string) {
		g := newGame(t, name, GameOptions{})
		p := start(t, name)
		for range 12 {
			run, err := g.Search(p, search.Limits{Nodes: 1000}, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := run.Wait()
			if err := p.Play(r.Move); err != nil {
				t.Fatalf("%s: %v", p, err)
			}
			if r.Ponder != game.NoMove && !slices.Contains(p.Legal(nil), r.Ponder) {
				t.Fatalf("%s: ponder move %#x is not legal", p, uint32(r.Ponder))
			}
			if p.Outcome().Over() {
				break
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	if _, err := New("chess", Options{}); !errors.Is(err, game.ErrRules) {
		t.Errorf("no such game: %v", err)
	}
	if _, err := New("amazons", Options{HashBytes: -1}); err == nil {
		t.Error("negative hash is accepted")
	}
	if _, err := New("amazons", Options{Threads: MaxThreads + 1}); err == nil || !strings.Contains(err.Error(), "at most 512 threads") {
		t.Errorf("too many threads: %v", err)
	}
	if most := MaxHash(); most < math.MaxInt {
		if _, err := New("amazons", Options{HashBytes: most + 1}); err == nil {
			t.Error("more hash than the machine has memory for is accepted")
		}
	}
	e := newGame(t, "amazons", GameOptions{})
	p := start(t, "amazons")
	if _, err := e.Search(p, search.Limits{Moves: []game.Move{1 << 20}}, nil); !errors.Is(err, game.ErrIllegal) {
		t.Errorf("illegal move to search: %v", err)
	}
	if _, err := e.Search(start(t, "gomoku"), search.Limits{Depth: 1}, nil); err == nil {
		t.Error("another game's position is accepted")
	}
	over := start(t, "gomoku")
	for _, m := range []string{"h8", "a1", "h9", "a2", "h10", "a3", "h11", "a4", "h12"} {
		if _, err := game.PlayText(over, m); err != nil {
			t.Fatal(err)
		}
	}
	g := newGame(t, "gomoku", GameOptions{})
	if _, err := g.Search(over, search.Limits{Depth: 1}, nil); !errors.Is(err, game.ErrOver) {
		t.Errorf("ended game: %v", err)
	}
	g.Close()
	if _, err := g.Search(start(t, "gomoku"), search.Limits{Depth: 1}, nil); !errors.Is(err, ErrGameClosed) {
		t.Errorf("closed game: %v", err)
	}
	engine, err := New("gomoku", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.NewGame(GameOptions{Rules: p.Rules()}); !errors.Is(err, game.ErrRules) {
		t.Errorf("a game of Amazons on an engine for Gomoku: %v", err)
	}
}

func TestHardLimitEnds(t *testing.T) {
	eachGame(t, func(t *testing.T, name string) {
		run, err := newGame(t, name, GameOptions{}).Search(start(t, name), search.Limits{Hard: 30 * time.Millisecond}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := run.Wait(); r.Move == game.NoMove {
			t.Error("no move at the hard limit")
		}
	})
}

// A process may be stalled, or wait for a core, until the time of a move is over. The first
// move in order would be a capture: of a protected horse by a cannon, at the start of Xiangqi.
func TestSearchThatStartsLate(t *testing.T) {
	eachGame(t, func(t *testing.T, name string) {
		p := start(t, name)
		if _, err := game.PlayText(p, p.Format(p.Legal(nil)[0])); err != nil { // an empty board of Gomoku needs no search
			t.Fatal(err)
		}
		run, err := newGame(t, name, GameOptions{}).Search(p, search.Limits{Hard: time.Millisecond, From: time.Now().Add(-time.Minute)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := run.Wait()
		if r.Nodes == 0 {
			t.Errorf("%s without a search", p.Format(r.Move))
		}
		if name == "xiangqi" && r.Depth == 0 {
			t.Errorf("%s after %d nodes, not all moves compared", p.Format(r.Move), r.Nodes)
		}
	})
}

// TestKernelAgainstMinimax compares the kernel with minimax on the real games, in
// positions reached by random moves.
func TestKernelAgainstMinimax(t *testing.T) {
	// Where a position can occur at several plies, a table may know more than
	// minimax. Stones and arrows are never taken back, so only Xiangqi is concerned.
	switches := map[string][]string{"xiangqi": searchtest.Without("HashCutoff")}
	boards := map[string]string{"amazons": "amazons/6x6"}
	for _, a := range adapters {
		name := a.Game
		t.Run(name, func(t *testing.T) {
			p := start(t, name)
			if rules, ok := boards[name]; ok {
				var err error
				if p, err = catalog.Setup(name, rules, ""); err != nil {
					t.Fatal(err)
				}
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for range 3 {
				gametest.Stroll(t, rng, p, 8)
				pos, err := a.New(p)
				if err != nil {
					t.Fatal(err)
				}
				params := a.Params()
				params.QuiescencePlies = 1
				on := searchtest.Exact
				if s, ok := switches[name]; ok {
					on = s
				}
				searchtest.Against(t, pos, params, 2, on)
			}
		})
	}
}
