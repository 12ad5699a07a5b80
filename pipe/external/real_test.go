package external

import (
	"os/exec"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// realEngine finds a program of a Linux distribution, or skips the test.
func realEngine(t *testing.T, name string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/games/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	t.Skipf("%s is not installed (Debian has it)", name)
	return ""
}

func newGame(t *testing.T, rules string) game.Position {
	t.Helper()
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t *testing.T, s Spec, gameName string) *Engine {
	t.Helper()
	e, err := Open(s, gameName)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// play opens a game.
func play(t *testing.T, e *Engine) *externalGame {
	t.Helper()
	g, err := e.NewGame(engine.GameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g.(*externalGame)
}

func find(t *testing.T, g *externalGame, p game.Position, l search.Limits) search.Result {
	t.Helper()
	run, err := g.Search(p, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	return run.Wait()
}

// TestRealEngines plays the first plies of a game with engines by other authors,
// against the first legal move.
func TestRealEngines(t *testing.T) {
	tests := []struct {
		name, program string
		dialect       Dialect
		options       []Option
		limits        search.Limits
	}{
		{"uci nodes", "fairy-stockfish", UCI, nil, search.Limits{Nodes: 2000}},
		{"uci time", "fairy-stockfish", UCI, nil, search.Limits{Hard: 50 * time.Millisecond}},
		{"ucci depth", "fairy-stockfish", UCCI, nil, search.Limits{Depth: 3}},
		{"ucci time", "fairy-stockfish", UCCI, nil, search.Limits{Hard: 100 * time.Millisecond}},
		{"xboard time", "hoixiangqi", XBoard, nil, search.Limits{Hard: 300 * time.Millisecond}},
		{"xboard depth", "hoixiangqi", XBoard, nil, search.Limits{Depth: 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := open(t, Spec{Dialect: test.dialect, Path: realEngine(t, test.program), Options: test.options}, "xiangqi")
			g, p := play(t, e), newGame(t, "xiangqi/wxf")
			for range 6 {
				r := find(t, g, p, test.limits)
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				if err := p.Play(r.Move); err != nil {
					t.Fatal(err)
				}
				legal := p.Legal(nil)
				if len(legal) == 0 {
					break // mated within six moves
				}
				if err := p.Play(legal[0]); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestRealPondering: an engine by other authors ponders until it is told to stop; in
// UCCI after the second command.
func TestRealPondering(t *testing.T) {
	for dialect, odd := range map[Dialect]int{UCI: 0, UCCI: 1} {
		g := play(t, open(t, Spec{Dialect: dialect, Path: realEngine(t, "fairy-stockfish")}, "xiangqi"))
		p := newGame(t, "xiangqi/wxf")
		for round := range 3 {
			pondered := make(chan struct{}, 1)
			run, err := g.Search(p, search.Limits{Wait: true}, func(i search.Info) {
				if i.Depth > 8 {
					select {
					case pondered <- struct{}{}:
					default:
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			<-pondered
			run.PonderHit(search.Limits{Depth: 2})
			r := run.Wait()
			if r.Err != nil || r.Move == game.NoMove || round == 0 && len(r.Incidents) != odd || round > 0 && len(r.Incidents) > 0 {
				t.Errorf("%s, round %d: %v, move %#x, incidents %q", dialect, round, r.Err, uint32(r.Move), r.Incidents)
			}
			playOn(t, p, r.Move, game.NoMove)
		}
	}
}
