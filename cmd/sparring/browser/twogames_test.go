package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sparring/game/gametest"
)

// TestTwoGames: friends have a game over days and a live one. A stranger finds neither,
// a move is chosen before its turn, another device becomes the same person, and only in
// the live game is a friend away who has closed the page.
func TestTwoGames(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := &friends{t: t, watched: w.watch(t), ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", desktop, w.at).tab}
	f.invite(setup{game: "gomoku", clock: "86400/move"})
	days := string(f.game)
	f.play(f.ann, "h8")
	taken := f.invite(setup{game: "xiangqi", clock: "600+5"})
	live := string(f.game)

	f.ann.premoves()
	f.play(f.ann, "h2e2")
	f.ann.premove("e2e6")
	f.play(f.bob, "h9g7")
	f.bob.see(mayMove)
	if e := f.watched.latest(t, f.game, f.bob); len(e.Moves) != 3 || e.Moves[2] != "e2e6" {
		t.Errorf("moves %v", e.Moves)
	}

	eve := newPerson(t, "eve", phone, w.at)
	for _, path := range []string{taken, taken[:len(taken)-4] + "aaaa"} {
		eve.open(path)
		eve.await(`document.querySelector("main h1")?.textContent === "This invitation is no longer open"`)
		if eve.sees(act("join")) {
			t.Errorf("a stranger may join by %s", path)
		}
	}
	eve.open("/games")
	eve.see(act("pause"))
	if list := eval[string](eve.tab, `document.body.innerHTML`); strings.Contains(list, live) || strings.Contains(list, days) {
		t.Error("games among people are listed")
	}
	eve.open("/game/" + live)
	eve.see(`.board .piece`)
	eve.await(plies + ` === 3`)
	if eve.sees(act("resign")) || eve.sees(mayMove) {
		t.Error("a stranger may act in a game")
	}

	f.ann.tap(act("account"))
	f.ann.tap(act("device-link"))
	f.ann.await(`document.querySelector("dialog img.qr")?.naturalWidth > 0`)
	tablet := newPerson(t, "tablet", phone, w.at)
	tablet.open(eval[string](f.ann, `new URL(document.querySelector("dialog input[data-link]").value).pathname`))
	tablet.tap(`main form button.main`)
	tablet.see(`[data-mine="` + live + `"]`)
	tablet.tap(act("account"))
	tablet.see(`dialog p.id`)
	id := `document.querySelector("dialog p.id").textContent`
	if got, want := eval[string](tablet.tab, id), eval[string](f.ann, id); got != want {
		t.Errorf("the other device belongs to %s, not to %s", got, want)
	}
	tablet.open("/game/" + days)
	tablet.see(act("resign"))
	f.ann.tap(`dialog ` + act("close"))

	away := func(p *tab) bool {
		return eval[bool](p, `/away, loses in \d/.test(document.querySelector(".seat.top .away").textContent)`)
	}
	told := func(what string) {
		t.Helper()
		f.ann.await(`said.some(text => text.includes(document.querySelector(".seat.top .name").textContent + ` + quote(" is "+what) + `))`)
	}
	if eval[bool](f.ann, spokenAlways(".seat.top .away")) {
		t.Error("each second for which somebody is away is spoken")
	}
	run(f.bob, chromedp.Navigate("about:blank"))
	gametest.Eventually(t, "the friend is away", func() bool { return away(f.ann) })
	told("away")
	if eval[bool](f.ann, `(() => { const seat = document.querySelector(".seat.top"); return seat.querySelector(".away").getBoundingClientRect().right > seat.querySelector(".more").getBoundingClientRect().right })()`) {
		t.Error("for how long somebody may be away is cut off")
	}
	if away(tablet.tab) {
		t.Error("away in a game over days")
	}
	f.bob.open("/")
	f.bob.see(`[data-mine="` + days + `"] .tag.on`)
	f.bob.see(`[data-mine="` + live + `"] .tag.on`)
	gametest.Eventually(t, "the friend is back", func() bool { return !away(f.ann) })
	told("back")
	f.bob.tap(`[data-mine="` + days + `"] a`)
	f.play(f.bob, "h9")
	tablet.see(mayMove)
}
