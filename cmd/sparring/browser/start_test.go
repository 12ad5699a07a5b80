package browser

import (
	"flag"
	"fmt"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/protocol"
)

var whole = flag.Bool("whole", false, "play the first games of all kinds to their ends")

// TestFirstGame: somebody who has never been here plays in two taps, a whole game of
// Gomoku against the weakest level, and some moves of the other games.
func TestFirstGame(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	watched, adviser := w.watch(t), newAdviser(t)
	for _, c := range []struct {
		game   string
		device device
	}{{"xiangqi", phone}, {"gomoku", phone}, {"amazons", desktop}} {
		t.Run(c.game, func(t *testing.T) {
			p := newPerson(t, c.game, c.device, w.at)
			p.open("/")
			p.tap(`[data-choose="` + c.game + `"]`)
			p.see(`main a[href="/rules/` + c.game + `"]`)
			p.tapUntil(act("play"), inGame)
			id := p.shown()
			for mover(p.tab) != nil {
				e := watched.latest(t, id, p.tab)
				if c.game != "gomoku" && len(e.Moves) > 4 && !*whole {
					p.resign()
					p.await(`document.documentElement.dataset.result`)
					break
				}
				p.move(adviser.best(t, e))
			}
			gametest.Eventually(t, "the spectators see the end", func() bool { return watched.of(id).Status == protocol.Finished })
			e := watched.of(id)
			t.Logf("%s by %s after %d plies", e.Outcome.Result, e.Outcome.Reason, len(e.Moves))
			kind, err := catalog.Game(c.game)
			if err != nil {
				t.Fatal(err)
			}
			if e.Outcome.Result == game.Undecided || e.Terms.Rules != kind.Default || e.Terms.Rated || p.root("result") != e.Outcome.Result.String() {
				t.Errorf("%+v: %+v, on the screen %q", e.Terms, e.Outcome, p.root("result"))
			}
			if human := e.Holders[game.First].Kind == protocol.Human; human == (e.Holders[game.Second].Kind == protocol.Human) {
				t.Errorf("the players are %+v", e.Holders)
			}
		})
	}
}

// TestPlayMoves: a tap that was on its way to a button of the start screen does nothing where what
// the lobby says has moved another one under the finger.
func TestPlayMoves(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "visitor", phone, network.at)
	p.before(`{
		const parse = JSON.parse;
		JSON.parse = (text) => { const m = parse(text); if (m?.t === "lobby" && window.crowded) for (const o of m.opponents) o.busy = true; return m; };
	}`)
	p.open("/")
	p.see(`.about [data-rating]`)
	eval[any](p.tab, `{
		window.missed = [];
		const row = document.querySelector('[data-act="invite"]').parentElement, top = () => row.getBoundingClientRect().top;
		let at = top();
		new MutationObserver(() => { if (top() !== at) missed.push(row.matches("[data-fresh]")); at = top(); }).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true });
	}`)
	for _, crowded := range []bool{true, false} {
		network.setCut(true)
		p.await(state + ` === "lost"`)
		eval[any](p.tab, fmt.Sprintf(`void (window.crowded = %v)`, crowded))
		network.setCut(false)
		p.await(fmt.Sprintf(`document.querySelector("[data-busy]").hidden === %v`, !crowded))
	}
	if moved := eval[[]bool](p.tab, `missed`); len(moved) != 2 || !moved[0] || !moved[1] {
		t.Errorf("whether they took no tap, each time they had moved: %v", moved)
	}
}

// TestPictures: the picture of Xiangqi has the character of the board's font: a device need not
// have a Chinese one.
func TestPictures(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "visitor", phone, w.at)
	p.open("/")
	p.see(`[data-choose="xiangqi"] svg text`)
	p.await(`[...document.fonts].some(f => f.family.includes("Sparring Xiangqi") && f.status === "loaded")`)
}
