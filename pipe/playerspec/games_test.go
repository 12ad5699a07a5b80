package playerspec

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"sparring/engine"
	"sparring/engine/book"
	"sparring/engine/level"
	"sparring/engine/search"
	"sparring/game/catalog"
	"sparring/pipe/external"
)

// ourProgram returns the spec of our own engine as a program that speaks UCI.
func ourProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Outside: &external.Spec{Dialect: external.UCI, Path: self, Args: []string{"engine"}, Hash: 1}}.String()
}

// playGame plays the first plies of a game from an opening of its own, and
// returns its moves.
func playGame(e *Engines, spec, rules string, number int) (string, error) {
	r, err := catalog.Rules(rules)
	if err != nil {
		return "", err
	}
	p, err := r.New("")
	if err != nil {
		return "", err
	}
	g, err := e.NewGame(spec, engine.GameOptions{ID: fmt.Sprint(number), Rules: r, Seed: uint64(number), OwnTable: true})
	if err != nil {
		return "", err
	}
	defer g.Close()
	var moves []string
	for ply := range 10 {
		legal := p.Legal(nil)
		m := legal[number*7%len(legal)]
		if ply > 1 {
			run, err := g.Search(p, search.Limits{Nodes: 400}, nil)
			if err != nil {
				return "", err
			}
			r := run.Wait()
			if m = r.Move; r.Err != nil {
				return "", r.Err
			}
		}
		moves = append(moves, p.Format(m))
		if err := p.Play(m); err != nil {
			return "", err
		}
	}
	return strings.Join(moves, " "), nil
}

// TestGamesAtOnce: with fixed nodes, games played in parallel on one engine have the
// moves that each has alone.
func TestGamesAtOnce(t *testing.T) {
	const games = 3
	for _, rules := range []string{"xiangqi/wxf", "gomoku/freestyle-15", "amazons/10x10"} {
		for _, spec := range []string{"self", "self:level=2", "self:level=8", ourProgram(t)} {
			name, _, _ := strings.Cut(spec, ":/")
			t.Run(rules+" "+name, func(t *testing.T) {
				var alone, together [games]string
				for n := range games {
					e := NewEngines(Options{HashBytes: 1 << 20})
					var err error
					if alone[n], err = playGame(e, spec, rules, n); err != nil {
						t.Fatal(err)
					}
					e.Close()
				}
				e := NewEngines(Options{HashBytes: 1 << 20})
				defer e.Close()
				for range 2 { // the second time with the tables and processes of the first
					var playing sync.WaitGroup
					for n := range games {
						playing.Go(func() {
							var err error
							if together[n], err = playGame(e, spec, rules, n); err != nil {
								t.Error(err)
							}
						})
					}
					playing.Wait()
					if alone != together {
						t.Errorf("alone:\n%s\nat once:\n%s", strings.Join(alone[:], "\n"), strings.Join(together[:], "\n"))
					}
				}
				if alone[0] == alone[1] || alone[1] == alone[2] {
					t.Error("games are equal")
				}
			})
		}
	}
}

// TestDescribe checks the descriptions of games, with the name that an external
// engine gives itself.
func TestDescribe(t *testing.T) {
	b, err := book.NewBuilder("gomoku/freestyle-15", 0)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "own.book")
	if err := os.WriteFile(path, b.Book(0).Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	elo := 120.0
	third, err := level.Of("gomoku", 3)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEngines(Options{HashBytes: 1 << 20, Threads: 2, LevelElo: func(gameName string, level int) (float64, float64, bool) {
		return elo, 25, gameName == "gomoku" && level == 3
	}})
	defer e.Close()
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	build := strings.TrimPrefix(engine.Build(), "sparring ")
	program := func(d external.Dialect, nodes uint64) string {
		s, err := Parse(ourProgram(t))
		if err != nil {
			t.Fatal(err)
		}
		s.Outside.Dialect, s.Outside.Nodes = d, nodes
		return s.String()
	}
	two := min(2, runtime.NumCPU()) // an option has no more threads than there are cores
	for spec, want := range map[string]engine.Description{
		"self":                   {Name: "sparring", Build: engine.Build(), HashMB: 1, Threads: 1, Reproducible: true},
		"self:level=3":           {Name: "sparring", Build: engine.Build(), Level: 3, Elo: &elo, EloError: 25, Nodes: third.Nodes, HashMB: 1, Threads: 1, Reproducible: true},
		"self:level=3,nodes=500": {Name: "sparring", Build: engine.Build(), Level: 3, Nodes: 500, HashMB: 1, Threads: 1, Reproducible: true},
		"self:book=" + path + ",nodes=600,depth=4": {Name: "sparring", Build: engine.Build(), Nodes: 600, Depth: 4, HashMB: 1, Threads: 1, Book: path, Reproducible: true},
		"self:book=none":             {Name: "sparring", Build: engine.Build(), HashMB: 1, Threads: 1, Reproducible: true},
		program(external.UCI, 700):   {Name: "Sparring " + build, Nodes: 700, HashMB: 1, Threads: two},
		program(external.UCCI, 0):    {Name: "Sparring", Build: build, HashMB: 1, Threads: two}, // of Xiangqi
		program(external.Gomocup, 0): {Name: "Sparring", Build: build, HashMB: 1, Threads: 2},   // as asked: the protocol gives no limit
		program(external.SAU, 0):     {Name: "Sparring"},
	} {
		rules := rules
		if strings.HasPrefix(spec, "ucci:") {
			if rules, err = catalog.Rules("xiangqi"); err != nil {
				t.Fatal(err)
			}
		}
		g, err := e.NewGame(spec, engine.GameOptions{Rules: rules, Seed: 5, Reproducible: true})
		if err == nil {
			err = g.Ready()
		}
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		s, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		want.Spec, want.Seed = s.String(), 5
		if got := g.Describe(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", spec, got, want)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestReproducible: in a reproducible game of any player, an earlier search does not
// influence a move.
func TestReproducible(t *testing.T) {
	rules, err := catalog.Rules("xiangqi/wxf")
	if err != nil {
		t.Fatal(err)
	}
	e := NewEngines(Options{HashBytes: 1 << 20})
	defer e.Close()
	for _, spec := range []string{"self:nodes=1500", "self:level=4", ourProgram(t) + ",nodes=1500"} {
		g, err := e.NewGame(spec, engine.GameOptions{Rules: rules, Seed: 9, Reproducible: true})
		if err != nil {
			t.Fatal(err)
		}
		p, err := rules.New("")
		if err != nil {
			t.Fatal(err)
		}
		find := func() (search.Result, error) {
			run, err := g.Search(p, search.Limits{}, nil)
			if err != nil {
				return search.Result{}, err
			}
			r := run.Wait()
			return r, r.Err
		}
		first, err := find()
		for range 3 {
			var again search.Result
			if err == nil {
				again, err = find()
			}
			if err != nil || again.Move != first.Move || again.Score != first.Score || again.Nodes != first.Nodes {
				t.Errorf("%s: %s, score %d, %d nodes; then %s, %d, %d, %v", spec, p.Format(first.Move), first.Score, first.Nodes,
					p.Format(again.Move), again.Score, again.Nodes, err)
			}
		}
		g.Close()
	}
}
