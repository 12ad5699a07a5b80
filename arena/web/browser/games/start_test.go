package games

import (
	"strconv"

	"math/rand/v2"

	"flag"
	"fmt"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/protocol"

	"sparring/arena/web/browser"
)

var whole = flag.Bool("whole", false, "play the first games of all kinds to their ends")

// TestFirstGame: somebody who has never been here plays in two taps, a whole game of
// Gomoku against the weakest level, and some moves of the other games. Some moves of Gomoku are
// what is left of all tests in a browser among the short ones.
func TestFirstGame(t *testing.T) {
	t.Parallel()
	w := browser.SmokeWorld(t)
	watched, rng := w.Watch(t), rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		game   string
		device browser.Device
	}{{"xiangqi", browser.Phone}, {"gomoku", browser.Phone}, {"amazons", browser.Desktop}} {
		t.Run(c.game, func(t *testing.T) {
			if c.game != "gomoku" {
				browser.NeededLong(t)
			}
			p := browser.NewPerson(t, c.game, c.device, w.At)
			p.Open("/")
			p.Tap(`[data-choose="` + c.game + `"]`)
			p.See(`main a[href="/rules/` + c.game + `"]`)
			p.TapUntil(browser.Act("play"), browser.InGame)
			id := p.Shown()
			for browser.Mover(p.Tab) != nil {
				e := watched.Latest(t, id, p.Tab)
				if (c.game != "gomoku" || testing.Short()) && len(e.Moves) > 4 && !*whole {
					p.Resign()
					p.Await(`document.documentElement.dataset.result`)
					break
				}
				p.Move(firstMove(t, rng, e))
			}
			gametest.Eventually(t, "the spectators see the end", func() bool { return watched.Of(id).Status == protocol.Finished })
			e := watched.Of(id)
			t.Logf("%s by %s after %d plies", e.Outcome.Result, e.Outcome.Reason, len(e.Moves))
			kind, err := catalog.Game(c.game)
			if err != nil {
				t.Fatal(err)
			}
			if e.Outcome.Result == game.Undecided || e.Terms.Rules != kind.Default || e.Terms.Rated || p.Root("result") != e.Outcome.Result.String() {
				t.Errorf("%+v: %+v, on the screen %q", e.Terms, e.Outcome, p.Root("result"))
			}
			if human := e.Holders[game.First].Kind == protocol.Human; human == (e.Holders[game.Second].Kind == protocol.Human) {
				t.Errorf("the players are %+v", e.Holders)
			}
		})
	}
}

// firstMove returns what somebody plays who knows little: in Gomoku the stone that makes or stops
// the longest line, elsewhere any move.
func firstMove(t *testing.T, rng *rand.Rand, e protocol.Event) string {
	t.Helper()
	if e.Terms.Game != "gomoku" {
		return browser.AnyMove(t, rng, e)
	}
	const size = 15
	var stones [size][size]int // by the plies that put them, from 1
	for i, text := range e.Moves {
		stones[text[0]-'a'][row(t, text)] = i + 1
	}
	own := len(e.Moves) % 2
	best, longest := "", -1
	for x := range size {
		for y := range size {
			if stones[x][y] != 0 {
				continue
			}
			at := [2]int{x, y}
			makes, stops := line(&stones, at, own), line(&stones, at, 1-own)
			if score := max(4*makes+1, 4*stops); score > longest {
				best, longest = fmt.Sprintf("%c%d", 'a'+x, y+1), score
			}
		}
	}
	return best
}

// row returns the row of a point, from 0.
func row(t *testing.T, point string) int {
	t.Helper()
	n, err := strconv.Atoi(point[1:])
	if err != nil {
		t.Fatal(err)
	}
	return n - 1
}

// line returns how many stones of the plies of a parity stand in one line with a point, next to it.
func line(stones *[15][15]int, at [2]int, parity int) (longest int) {
	for _, d := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}} {
		n := 0
		for _, sign := range []int{1, -1} {
			for x, y := at[0]+sign*d[0], at[1]+sign*d[1]; x >= 0 && y >= 0 && x < len(stones) && y < len(stones) && stones[x][y] != 0 && (stones[x][y]-1)%2 == parity; {
				n++
				x, y = x+sign*d[0], y+sign*d[1]
			}
		}
		longest = max(longest, n)
	}
	return longest
}

// TestPlayMoves: a tap that was on its way to a button of the start screen does nothing where what
// the lobby says has moved another one under the finger.
func TestPlayMoves(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "visitor", browser.Phone, network.At)
	p.Before(`{
		const parse = JSON.parse;
		JSON.parse = (text) => { const m = parse(text); if (m?.t === "lobby" && window.crowded) for (const o of m.opponents) o.busy = true; return m; };
	}`)
	p.Open("/")
	p.See(`.about [data-rating]`)
	browser.Eval[any](p.Tab, `{
		window.missed = [];
		const row = document.querySelector('[data-act="invite"]').parentElement, top = () => row.getBoundingClientRect().top;
		let at = top();
		new MutationObserver(() => { if (top() !== at) missed.push(row.matches("[data-fresh]")); at = top(); }).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true });
	}`)
	for _, crowded := range []bool{true, false} {
		network.SetCut(true)
		p.Await(browser.State + ` === "lost"`)
		browser.Eval[any](p.Tab, fmt.Sprintf(`void (window.crowded = %v)`, crowded))
		network.SetCut(false)
		p.Await(fmt.Sprintf(`document.querySelector("[data-busy]").hidden === %v`, !crowded))
	}
	if moved := browser.Eval[[]bool](p.Tab, `missed`); len(moved) != 2 || !moved[0] || !moved[1] {
		t.Errorf("whether they took no tap, each time they had moved: %v", moved)
	}
}

// TestPictures: the picture of Xiangqi has the character of the board's font: a device need not
// have a Chinese one.
func TestPictures(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "visitor", browser.Phone, w.At)
	p.Open("/")
	p.See(`[data-choose="xiangqi"] svg text`)
	p.Await(`[...document.fonts].some(f => f.family.includes("Sparring Xiangqi") && f.status === "loaded")`)
}
