package screens

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"

	"sparring/protocol"

	"sparring/arena/web/browser"
)

// TestPagesWithoutScript: somebody whose browser runs no script finds a game in the
// list, steps through it once it is over, and reads the rule by which it ended.
func TestPagesWithoutScript(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	player := browser.NewPerson(t, "player", browser.Phone, w.At)
	player.Open("/")
	player.Tap(`[data-choose="gomoku"]`)
	player.Tap(browser.Act("play"))
	id := string(player.Shown())

	reader := browser.NewPerson(t, "reader", browser.Phone, w.At)
	browser.Call(reader.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	reader.Open("/games")
	reader.See(`.live a[href="/game/` + id + `"]`)
	if reader.Sees(browser.Act("pause")) {
		t.Error("a button that needs a script")
	}
	player.Resign()
	player.Await(`document.documentElement.dataset.result`)

	reader.Open("/game/" + id + "?lang=zh")
	reader.See(".read svg.board-drawing")
	reader.Await(`document.querySelector(".about b").textContent.includes("认输") || document.querySelector(".about").textContent.includes("认输")`)
	reader.Tap(`.about a[href="/rules/gomoku#resign"]`)
	reader.Await(`location.pathname === "/rules/gomoku" && document.querySelector(":target")?.textContent === "认输"`)
	reader.Open("/ladder")
	reader.Await(`document.documentElement.lang === "zh" && document.querySelector("h1").textContent === "排行榜"`)
	for _, page := range []string{"/games", "/ladder", "/rules/xiangqi", "/game/" + id} {
		reader.Open(page)
		if browser.Eval[string](reader.Tab, browser.Wide) != "" {
			t.Errorf("%s scrolls sideways on a phone", page)
		}
	}
}

// TestOldGame: a game of which only the record is left can be stepped through with scripts,
// too, and is there again after another page.
func TestOldGame(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	p.Begin("gomoku")
	id, old := string(p.Shown()), "old"+protocol.NewID()[:8]
	p.Move("h8")
	p.See(browser.MayMove)
	p.Resign()
	w.CopyRecord(t, id, old)

	const shown = `article.read .steps .num`
	p.Open("/game/" + old)
	p.Connected()
	p.Await(`document.querySelector("` + shown + `")?.textContent === "2 / 2"`)
	p.Tap(`.written a[href*="/` + old + `/1"]`)
	p.Await(`document.querySelector("` + shown + `")?.textContent === "1 / 2"`)
	p.Connected()
	p.Tap(`.site a[href="/"]`)
	p.See(browser.Act("play"))
	browser.Eval[any](p.Tab, `void setTimeout(() => history.back())`)
	p.Await(`document.querySelector("` + shown + `")?.textContent === "1 / 2"`)
}

// TestLiveList: the list of games follows what happens, until somebody stops that.
func TestLiveList(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	watcher := browser.NewPerson(t, "watcher", browser.Desktop, w.At)
	watcher.Open("/games")
	watcher.See(browser.Act("pause"))
	player := browser.NewPerson(t, "player", browser.Phone, w.At)
	player.Open("/")
	player.Tap(`[data-choose="amazons"]`)
	player.Tap(browser.Act("play"))
	link := `.live a[href="/game/` + string(player.Shown()) + `"]`
	watcher.See(link)
	visitor := browser.NewPerson(t, "visitor", browser.Phone, w.At) // goes on from the list, without a session
	visitor.Open("/games")
	visitor.Tap(link)
	visitor.See(`.board [data-point="d1"]`)
	visitor.Connected()
	watcher.Tap(browser.Act("pause"))
	player.Resign()
	player.Await(`document.documentElement.dataset.result`)
	watcher.See(link)
	watcher.Tap(browser.Act("pause"))
	watcher.Await(`!document.querySelector(` + browser.Quote(link) + `)`)
}

// TestBackToList: Back leads from a game to the list or the player from which somebody has come,
// and Forward to the game again.
func TestBackToList(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	id := string(p.Play(browser.Setup{Game: "xiangqi", Seat: "first"}))
	p.Open("/")
	p.See(`.aside a[href^="/player/"]`)
	own := browser.Eval[string](p.Tab, `document.querySelector('.aside a[href^="/player/"]').pathname`)
	for _, list := range []string{"/games", own} {
		p.Open(list)
		p.Connected()
		p.TapUntil(`.live a[href="/game/`+id+`"]`, browser.InGame)
		p.See(browser.MayMove)
		browser.Eval[any](p.Tab, `void setTimeout(() => history.back())`)
		p.Await(`location.pathname === ` + browser.Quote(list) + ` && !document.querySelector(".board")`)
		p.See(`.live a[href="/game/` + id + `"]`)
		p.Connected()
		browser.Eval[any](p.Tab, `void setTimeout(() => history.forward())`)
		p.Await(browser.InGame)
		p.See(browser.MayMove)
	}
}

// TestLanguageLink: a language that is chosen at the foot of a page that the server writes is
// that of all pages and of the scripts, and lasts until another one is chosen.
func TestLanguageLink(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "reader", browser.Phone, w.At)
	p.Open("/")
	p.Tap(browser.Act("settings"))
	p.See(`dialog select[name="language"]`)
	p.Choice(`dialog select[name="language"]`, "en")
	p.Open("/ladder?game=gomoku")
	p.Tap(`.foot a[lang="zh"]`)
	p.Await(`document.documentElement.lang === "zh-Hans" && document.querySelector('[data-act="settings"]')?.title === "设置"`)
	if got := browser.Eval[string](p.Tab, `location.search`); got != "?game=gomoku" {
		t.Errorf("the address goes on with %q", got)
	}
	p.Open("/")
	p.See(browser.Act("play"))
	if got := browser.Eval[string](p.Tab, `document.querySelector('[data-act="play"]').textContent`); got != "开始" {
		t.Errorf("the button of the start page says %q", got)
	}
	p.Open("/ladder?lang=zh")
	p.Tap(browser.Act("settings"))
	p.See(`dialog select[name="language"]`)
	p.Choice(`dialog select[name="language"]`, "en")
	p.Await(`document.documentElement.lang === "en" && document.querySelector("h1").textContent === "Ladder"`)
}

// TestTimeLeftOfGames: the start screen shows what is left for a turn now.
func TestTimeLeftOfGames(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	p.Begin("xiangqi") // with ten minutes
	p.Move("h2e2")
	p.See(browser.MayMove)
	p.Open("/")
	p.See(`[data-mine] .tag.on`)
	const left = `(text => { const [, m, s] = /: (\d+):(\d\d)$/.exec(text); return 60 * m + +s; })(document.querySelector("[data-mine] .tag.on").textContent)`
	first := browser.Poll(p.Tab, left, func(s int) bool { return s > 0 })
	p.Await(fmt.Sprintf(`%s < %d`, left, first-2))
	now := browser.Eval[int](p.Tab, left)
	p.Tap(`[data-mine] a`)
	p.See(browser.MayMove)
	if got := browser.Eval[int](p.Tab, `(([m, s]) => 60 * m + +s)(document.querySelector(".seat.bottom .time").textContent.split(":"))`); got > now {
		t.Errorf("%d seconds on the start screen, and then %d in the game", now, got)
	}
}

// TestPlayer: somebody who has lost a game finds it again among the own ones, by keyboard
// alone, and from there the opponent's page; a name is a link in a game that is over, and
// not while one plays.
func TestPlayer(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	p.Begin("gomoku")
	id := string(p.Shown())
	p.Move("h8")
	p.See(browser.MayMove)
	if p.Sees(`.seat a[href]`) {
		t.Error("a name leads away from a game in play")
	}
	p.Resign()
	p.See(`.seat.top a[href^="/player/"]`)
	if h := browser.Eval[float64](p.Tab, `Math.min(...[...document.querySelectorAll(".seat a")].map(a => a.getBoundingClientRect().height))`); h < 24 {
		t.Errorf("a name is %v pixels high, too low for a finger", h)
	}

	p.Open("/")
	p.See(`.aside a[href^="/player/human-"]`)
	p.Tap(browser.Act("account"))
	p.See(`dialog a[href^="/player/human-"]`)
	browser.Eval[any](p.Tab, `void document.querySelector('dialog a[href^="/player/"]').focus()`)
	p.Enter()
	p.Await(`location.pathname.startsWith("/player/human-") && document.querySelector("h1 .tag")`)
	game := `.finished a[href="/game/` + id + `"]`
	p.Lists(p.Path(), "/game/"+id)
	p.Open(p.Path())
	p.See(game)
	if text := browser.Eval[string](p.Tab, browser.Wide); text != "" {
		t.Errorf("%s scrolls sideways on a phone", text)
	}
	p.Tap(`.finished a.name`)
	p.Await(`location.pathname.startsWith("/player/gomoku-")`)
	p.See(game)
	if text := browser.Eval[string](p.Tab, browser.Wide); text != "" {
		t.Errorf("%s scrolls sideways on a phone", text)
	}
	p.Tap(game)
	p.Await(`location.pathname === "/game/` + id + `"`)
	p.See(`.board [data-point="h8"]`)
}

// TestOldGameFromList: somebody who has many games finds an old one, of which only the record is
// left, far down in the own list, and Back leads to that place of the list again.
func TestOldGameFromList(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	p.Begin("gomoku")
	id, old := string(p.Shown()), "old"+protocol.NewID()[:6]
	p.Move("h8")
	p.See(browser.MayMove)
	p.Resign()
	p.See(`.seat.bottom a[href^="/player/"]`)
	own := browser.Eval[string](p.Tab, `document.querySelector(".seat.bottom a").pathname`)
	for n := range 21 {
		w.CopyRecord(t, id, fmt.Sprintf("%s%02d", old, n))
	}
	const next = `main > .row a.button`
	p.Lists(own, `?from=21`)
	p.Open(own)
	p.Connected()
	p.Tap(next)
	p.Await(`location.search === "?from=21"`)
	p.Connected()
	p.Tap(next)
	p.Await(`location.search === "?from=1"`)
	p.Connected()
	last := browser.Eval[string](p.Tab, `[...document.querySelectorAll('.finished a[href^="/game/old"]')].at(-1).pathname`)
	p.TapUntil(`.finished a[href="`+last+`"]`, `document.querySelector("article.read .steps .num")?.textContent === "2 / 2"`)
	if path := p.Path(); path != last {
		t.Errorf("at %s, not at %s", path, last)
	}
	browser.Eval[any](p.Tab, `void setTimeout(() => history.back())`)
	p.Await(`location.search === "?from=1" && scrollY > 1000`)
	p.Connected()

	// On a slow line Back comes before the scripts of the old game's page.
	browser.Call(p.Tab, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/en.json"}}})
	p.TapUntil(`.finished a[href="`+last+`"]`, `document.querySelector("article.read .steps .num")?.textContent === "2 / 2"`)
	browser.Eval[any](p.Tab, `void setTimeout(() => history.back())`)
	p.Await(`location.search === "?from=1"`)
	browser.Call(p.Tab, fetch.Disable, cdp.Empty{})
	p.Await(`document.querySelector(".finished") && scrollY > 1000`)
	p.Connected()

	whole := `.finished a[href="/game/` + id + `"]` // which the page can show itself
	if !p.Sees(whole) {                             // games that ended at the same time come in any order
		p.Tap(next)
		p.Await(`location.search === "?from=21"`)
		p.Connected()
	}
	list := browser.Eval[string](p.Tab, `location.search`)
	p.Tap(whole)
	p.Await(browser.InGame)
	browser.Eval[any](p.Tab, `void setTimeout(() => history.back())`)
	p.Await(`location.search === ` + browser.Quote(list) + ` && document.querySelector(".finished")`)
}

// TestOldList: the list of games says that it is old when it can't be brought up to date, and
// is brought up to date as soon as somebody looks at it with a connection again.
func TestOldList(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "watcher", browser.Phone, network.At)
	p.Before(`{ const every = setInterval; window.setInterval = (f, ms) => (ms === 10_000 ? (window.update = f, 0) : every(f, ms)); }`) // not by the time that passes
	p.Open("/games")
	p.Await(`window.update`)
	const said = `document.querySelector("main [role=status]").textContent`
	p.Await(said + ` === ""`)
	for _, event := range []string{`document.dispatchEvent(new Event("visibilitychange"))`, `dispatchEvent(new Event("online"))`} {
		network.SetCut(true)
		browser.Eval[any](p.Tab, `void update()`)
		p.Await(said + ` === "This list can't be brought up to date now. It shows how the games stood before."`)
		network.SetCut(false)
		browser.Eval[any](p.Tab, `void `+event)
		p.Await(said + ` === ""`)
	}
}
