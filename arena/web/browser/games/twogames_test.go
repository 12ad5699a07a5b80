package games

import (
	"strings"
	"testing"

	"sparring/game/gametest"

	"sparring/arena/web/browser"
)

// TestTwoGames: friends have a game over days and a live one. A stranger finds neither,
// a move is chosen before its turn, another device becomes the same person, and only in
// the live game is a friend away who has closed the page.
func TestTwoGames(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Phone, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, w.At).Tab}
	f.Invite(browser.Setup{Game: "gomoku", Clock: "86400/move"})
	days := string(f.Game)
	f.Play(f.Ann, "h8")
	taken := f.Invite(browser.Setup{Game: "xiangqi", Clock: "600+5"})
	live := string(f.Game)

	f.Ann.Premoves()
	f.Play(f.Ann, "h2e2")
	f.Ann.Premove("e2e6")
	f.Play(f.Bob, "h9g7")
	f.Bob.See(browser.MayMove)
	if e := f.Watched.Latest(t, f.Game, f.Bob); len(e.Moves) != 3 || e.Moves[2] != "e2e6" {
		t.Errorf("moves %v", e.Moves)
	}

	eve := browser.NewPerson(t, "eve", browser.Phone, w.At)
	for _, path := range []string{taken, taken[:len(taken)-4] + "aaaa"} {
		eve.Open(path)
		eve.Await(`document.querySelector("main h1")?.textContent === "This invitation is no longer open"`)
		if eve.Sees(browser.Act("join")) {
			t.Errorf("a stranger may join by %s", path)
		}
	}
	eve.Open("/games")
	eve.See(browser.Act("pause"))
	if list := browser.Eval[string](eve.Tab, `document.body.innerHTML`); strings.Contains(list, live) || strings.Contains(list, days) {
		t.Error("games among people are listed")
	}
	eve.Open("/game/" + live)
	eve.See(`.board .piece`)
	eve.Await(browser.Plies + ` === 3`)
	if eve.Sees(browser.Act("resign")) || eve.Sees(browser.MayMove) {
		t.Error("a stranger may act in a game")
	}

	f.Ann.Tap(browser.Act("account"))
	f.Ann.Tap(browser.Act("device-link"))
	f.Ann.Await(`document.querySelector("dialog img.qr")?.naturalWidth > 0`)
	tablet := browser.NewPerson(t, "tablet", browser.Phone, w.At)
	tablet.Open(browser.Eval[string](f.Ann, `new URL(document.querySelector("dialog input[data-link]").value).pathname`))
	tablet.Tap(`main form button.main`)
	tablet.See(`[data-mine="` + live + `"]`)
	tablet.Tap(browser.Act("account"))
	tablet.See(`dialog p.id`)
	id := `document.querySelector("dialog p.id").textContent`
	if got, want := browser.Eval[string](tablet.Tab, id), browser.Eval[string](f.Ann, id); got != want {
		t.Errorf("the other device belongs to %s, not to %s", got, want)
	}
	tablet.Open("/game/" + days)
	tablet.See(browser.Act("resign"))
	f.Ann.Tap(`dialog ` + browser.Act("close"))

	away := func(p *browser.Tab) bool {
		return browser.Eval[bool](p, `/away, loses in \d/.test(document.querySelector(".seat.top .away").textContent)`)
	}
	told := func(what string) {
		t.Helper()
		f.Ann.Await(`said.some(text => text.includes(document.querySelector(".seat.top .name").textContent + ` + browser.Quote(" is "+what) + `))`)
	}
	if browser.Eval[bool](f.Ann, browser.SpokenAlways(".seat.top .away")) {
		t.Error("each second for which somebody is away is spoken")
	}
	f.Bob.Leave()
	gametest.Eventually(t, "the friend is away", func() bool { return away(f.Ann) })
	told("away")
	if browser.Eval[bool](f.Ann, `(() => { const seat = document.querySelector(".seat.top"); return seat.querySelector(".away").getBoundingClientRect().right > seat.querySelector(".more").getBoundingClientRect().right })()`) {
		t.Error("for how long somebody may be away is cut off")
	}
	if away(tablet.Tab) {
		t.Error("away in a game over days")
	}
	f.Bob.Open("/")
	f.Bob.See(`[data-mine="` + days + `"] .tag.on`)
	f.Bob.See(`[data-mine="` + live + `"] .tag.on`)
	gametest.Eventually(t, "the friend is back", func() bool { return !away(f.Ann) })
	told("back")
	f.Bob.Tap(`[data-mine="` + days + `"] a`)
	f.Play(f.Bob, "h9")
	tablet.See(browser.MayMove)
}
