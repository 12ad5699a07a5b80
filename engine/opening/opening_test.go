package opening_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// searcher searches with a real engine and few nodes, and counts its searches.
type searcher struct {
	game  engine.Game
	nodes uint64
	calls int
}

func newSearcher(t *testing.T, nodes uint64) *searcher {
	t.Helper()
	e, err := engine.New("gomoku", engine.Options{HashBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.NewGame(engine.GameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &searcher{game: g, nodes: nodes}
}

func (s *searcher) find(p game.Position, l search.Limits) (search.Result, error) {
	s.calls++
	l.Nodes = s.nodes
	running, err := s.game.Search(p, l, nil)
	if err != nil {
		return search.Result{}, err
	}
	return running.Wait(), nil
}

func setUp(t *testing.T, rules, moves string) game.Position {
	t.Helper()
	r, err := gomoku.Game().Rules("gomoku/" + rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := game.Replay(r, "", strings.Fields(moves))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEveryProcedureEnds plays every procedure through with the chooser alone, one
// search for each choice.
func TestEveryProcedureEnds(t *testing.T) {
	s := newSearcher(t, 3000)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range gomoku.Game().Sets {
		p := setUp(t, strings.TrimPrefix(name, "gomoku/"), "")
		for ply := 0; opening.Running(p); ply++ {
			before := s.calls
			m, err := opening.Choose(p, nil, s.find, rng)
			if err == nil {
				err = p.Play(m)
			}
			if err != nil {
				t.Fatalf("%s, ply %d: %v", name, ply+1, err)
			}
			if s.calls > before+1 {
				t.Errorf("%s, ply %d: %d searches", name, ply+1, s.calls-before)
			}
		}
		if _, err := opening.Choose(p, nil, s.find, rng); !errors.Is(err, opening.ErrNoChoice) {
			t.Errorf("%s: after the opening: %v", name, err)
		}
	}
}

func TestChoices(t *testing.T) {
	for _, tt := range []struct{ name, rules, moves, want string }{
		{"Black's two stones together are better: take them", "freestyle-15+swap", "h8 a1 h9", "swap"},
		{"White will win: stay", "freestyle-15+swap2", "a1 h8 o15", "stay"},
		{"the first seat, after two more stones, too", "freestyle-15+swap2", "h8 a1 h9 put-two o1 i9", "stay"},
		{"White leaves Black the fifth in the corner", "renju-15+rif", "h8 h9 i9 stay a15 offer:g7 offer:a1", "a1"},
	} {
		p := setUp(t, tt.rules, tt.moves)
		m, err := opening.Choose(p, nil, newSearcher(t, 5000).find, rand.New(rand.NewPCG(1, 1)))
		if err != nil || p.Format(m) != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, p.Format(m), err, tt.want)
		}
	}
}

// TestChoicesAmongSomeMoves plays every procedure through, with a few moves to choose from.
func TestChoicesAmongSomeMoves(t *testing.T) {
	s := newSearcher(t, 500)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range gomoku.Game().Sets {
		p := setUp(t, strings.TrimPrefix(name, "gomoku/"), "")
		for opening.Running(p) {
			legal := p.Legal(nil)
			rng.Shuffle(len(legal), func(i, j int) { legal[i], legal[j] = legal[j], legal[i] })
			only := legal[:min(2, len(legal))]
			if len(legal) == 2 || p.Ply()%4 == 0 {
				only = only[:1]
			}
			m, err := opening.Choose(p, only, s.find, rng)
			if err != nil || !slices.Contains(only, m) {
				t.Fatalf("%s: %s, %v, want one of %d", p, p.Format(m), err, only)
			}
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSearchFailureIsReported(t *testing.T) {
	broken := errors.New("no engine")
	p := setUp(t, "freestyle-15+swap", "h8 a1 h9")
	find := func(game.Position, search.Limits) (search.Result, error) { return search.Result{}, broken }
	if _, err := opening.Choose(p, nil, find, rand.New(rand.NewPCG(1, 1))); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}
