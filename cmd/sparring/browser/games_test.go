package browser

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/pipe/playerspec"
	"sparring/protocol"
)

// games has the last event of each game of a world, as spectators get them.
type games struct {
	mu   sync.Mutex
	last map[protocol.GameID]protocol.Event
}

// watch follows all games of a world.
func (w *world) watch(t testing.TB) *games {
	t.Helper()
	nc, err := protocol.Connect(w.nats.Player("watch"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	g := &games{last: make(map[protocol.GameID]protocol.Event)}
	if _, err := nc.Subscribe("sparring.watch.*", g.note); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *games) note(m *nats.Msg) {
	var e protocol.Event
	if json.Unmarshal(m.Data, &e) != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.Index > g.last[e.Game].Index {
		g.last[e.Game] = e
	}
}

func (g *games) of(id protocol.GameID) protocol.Event {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last[id]
}

// latest waits until the spectators have all moves that a player sees, and returns
// that event.
func (g *games) latest(t testing.TB, id protocol.GameID, p *tab) protocol.Event {
	t.Helper()
	var e protocol.Event
	ply := p.ply()
	gametest.Eventually(t, "the spectators have the position", func() bool {
		e = g.of(id)
		return len(e.Moves) >= ply
	})
	return e
}

// shown waits until a game is on the screen, and returns its id.
func (p *tab) shown() protocol.GameID {
	p.t.Helper()
	p.await(inGame)
	return protocol.GameID(strings.Split(p.path(), "/")[2])
}

// mayMove is the selector of the board of somebody whose turn it is.
const mayMove = `.board[data-may="move"]`

// move plays a move by tapping its points, and waits until it is in the list of moves.
// A tap has no effect if the board changes under it, as when a game is halted; then the
// person taps again.
func (p *tab) move(text string) {
	p.t.Helper()
	ply := p.ply()
	played := fmt.Sprintf(`%s > %d`, plies, ply)
	for range 5 {
		p.see(mayMove)
		p.choose(text)
		for range 50 {
			if eval[bool](p, played) {
				return
			}
			if p.sees(act("yes-ending")) { // the page warns of how the move ends the game
				p.tap(act("yes-ending"))
			}
			time.Sleep(50 * time.Millisecond)
		}
		if !p.sees(mayMove) {
			break // it is on its way
		}
		p.t.Logf("%s taps %s again: %s", p.name, text, eval[string](p, `document.querySelector(".board").dataset.may + " " + document.querySelector(".board-live").textContent + " " + (document.querySelector(".note")?.textContent ?? "")`))
	}
	p.await(played)
}

// plies is an expression: the number of moves in the list.
const plies = `document.querySelectorAll("[data-ply]").length`

// ply returns that number, once the list is there.
func (p *tab) ply() int {
	p.t.Helper()
	p.await(`document.querySelector("[data-moves]")`)
	return eval[int](p, plies)
}

// choose taps the points of a move, and confirms it where the board asks for that.
func (p *tab) choose(text string) {
	p.t.Helper()
	for _, point := range points(text) {
		p.tap(`[data-point="` + point + `"]`)
	}
	const confirm = `.board-play:not([disabled])`
	if p.sees(`.board-play`) {
		p.tap(confirm)
	}
}

// points returns the points of a move, in order.
func points(move string) []string { return point.FindAllString(move, -1) }

var point = regexp.MustCompile(`[a-z]\d+`)

// mover waits until one of the players may move, and returns that one; nil once the
// game is over.
func mover(players ...*tab) *tab {
	var found *tab
	over := false
	gametest.Eventually(players[0].t, "somebody may move, or the game is over", func() bool {
		for _, p := range players {
			switch {
			case p.root("result") != "":
				over = true
			case p.sees(mayMove):
				found = p
			}
		}
		return over || found != nil
	})
	if over {
		return nil
	}
	return found
}

// adviser finds good moves for those who play in these tests.
type adviser struct{ engines *playerspec.Engines }

func newAdviser(t testing.TB) adviser {
	t.Helper()
	a := adviser{playerspec.NewEngines(playerspec.Options{HashBytes: 4 << 20})}
	t.Cleanup(func() { a.engines.Close() })
	return a
}

// best returns a good move in a game.
func (a adviser) best(t testing.TB, e protocol.Event) string {
	t.Helper()
	rules, err := catalog.Rules(e.Terms.Rules)
	if err != nil {
		t.Fatal(err)
	}
	pos, err := game.Replay(rules, e.Terms.Position, e.Moves)
	if err != nil {
		t.Fatal(err)
	}
	g, err := a.engines.NewGame("self", engine.GameOptions{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	run, err := g.Search(pos, search.Limits{Nodes: 5000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := run.Wait()
	if r.Err != nil || !slices.Contains(pos.Legal(nil), r.Move) {
		t.Fatalf("no move after %v: %v", e.Moves, r.Err)
	}
	return pos.Format(r.Move)
}
