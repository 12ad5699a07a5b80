package playerspec

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game/catalog"
	"sparring/pipe/external"
)

// ourProgram is the spec of our own engine as a program that speaks UCI.
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

// TestGamesAtOnce: games that are played at the same time on one engine have,
// with fixed nodes, the moves that each has alone.
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
					t.Error("games are alike")
				}
			})
		}
	}
}
