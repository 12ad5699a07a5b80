package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/game/gametest"
	"sparring/protocol"
)

// TestPagesWithoutScript: somebody whose browser runs no script finds a game in the
// list, steps through it once it is over, and reads the rule by which it ended.
func TestPagesWithoutScript(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	player := newPerson(t, "player", phone, w.at)
	player.open("/")
	player.tap(`[data-choose="gomoku"]`)
	player.tap(act("play"))
	id := string(player.shown())

	reader := newPerson(t, "reader", phone, w.at)
	call(reader.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	reader.open("/games")
	reader.see(`.live a[href="/game/` + id + `"]`)
	if reader.sees(act("pause")) {
		t.Error("a button that needs a script")
	}
	player.resign()
	player.await(`document.documentElement.dataset.result`)

	reader.open("/game/" + id + "?lang=zh")
	reader.see(".read svg.board-drawing")
	reader.await(`document.querySelector(".about b").textContent.includes("认输") || document.querySelector(".about").textContent.includes("认输")`)
	reader.tap(`.about a[href="/rules/gomoku#resign"]`)
	reader.await(`location.pathname === "/rules/gomoku" && document.querySelector(":target")?.textContent === "认输"`)
	reader.open("/ladder")
	reader.await(`document.documentElement.lang === "zh" && document.querySelector("h1").textContent === "排行榜"`)
	for _, page := range []string{"/games", "/ladder", "/rules/xiangqi", "/game/" + id} {
		reader.open(page)
		if eval[string](reader.tab, wide) != "" {
			t.Errorf("%s scrolls sideways on a phone", page)
		}
	}
}

// copyRecord stores the record of a game of Gomoku once more, under another id: that game is
// one whose log was removed long ago.
func (w *world) copyRecord(t testing.TB, from, to string) {
	t.Helper()
	js := w.store(t)
	records, err := js.Stream(t.Context(), "sparring_records")
	if err != nil {
		t.Fatal(err)
	}
	const subject = "sparring.record.gomoku."
	var found *jetstream.RawStreamMsg
	gametest.Eventually(t, "the record is stored", func() bool {
		found, err = records.GetLastMsgForSubject(t.Context(), subject+from)
		return err == nil
	})
	m := &nats.Msg{Subject: subject + to, Header: found.Header, Data: []byte(strings.ReplaceAll(string(found.Data), from, to))}
	m.Header.Del(nats.MsgIdHdr)
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// TestOldGame: a game of which only the record is left can be stepped through with scripts,
// too, and is there again after another page.
func TestOldGame(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "player", phone, w.at)
	p.begin("gomoku")
	id, old := string(p.shown()), "old"+protocol.NewID()[:8]
	p.move("h8")
	p.see(mayMove)
	p.resign()
	w.copyRecord(t, id, old)

	const shown = `article.read .steps .num`
	p.open("/game/" + old)
	p.connected()
	p.await(`document.querySelector("` + shown + `")?.textContent === "2 / 2"`)
	p.tap(`.written a[href*="/` + old + `/1"]`)
	p.await(`document.querySelector("` + shown + `")?.textContent === "1 / 2"`)
	p.connected()
	p.tap(`.site a[href="/"]`)
	p.see(act("play"))
	eval[any](p.tab, `void setTimeout(() => history.back())`)
	p.await(`document.querySelector("` + shown + `")?.textContent === "1 / 2"`)
}

// TestLiveList: the list of games follows what happens, until somebody stops that.
func TestLiveList(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	watcher := newPerson(t, "watcher", desktop, w.at)
	watcher.open("/games")
	watcher.see(act("pause"))
	player := newPerson(t, "player", phone, w.at)
	player.open("/")
	player.tap(`[data-choose="amazons"]`)
	player.tap(act("play"))
	link := `.live a[href="/game/` + string(player.shown()) + `"]`
	watcher.see(link)
	visitor := newPerson(t, "visitor", phone, w.at) // goes on from the list, without a session
	visitor.open("/games")
	visitor.tap(link)
	visitor.see(`.board [data-point="d1"]`)
	visitor.connected()
	watcher.tap(act("pause"))
	player.resign()
	player.await(`document.documentElement.dataset.result`)
	watcher.see(link)
	watcher.tap(act("pause"))
	watcher.await(`!document.querySelector(` + quote(link) + `)`)
}

// TestBackToList: Back leads from a game to the list or the player from which somebody has come,
// and Forward to the game again.
func TestBackToList(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "player", phone, w.at)
	id := string(p.play(setup{game: "xiangqi", seat: "first"}))
	p.open("/")
	p.see(`.aside a[href^="/player/"]`)
	own := eval[string](p.tab, `document.querySelector('.aside a[href^="/player/"]').pathname`)
	for _, list := range []string{"/games", own} {
		p.open(list)
		p.connected()
		p.tapUntil(`.live a[href="/game/`+id+`"]`, inGame)
		p.see(mayMove)
		eval[any](p.tab, `void setTimeout(() => history.back())`)
		p.await(`location.pathname === ` + quote(list) + ` && !document.querySelector(".board")`)
		p.see(`.live a[href="/game/` + id + `"]`)
		p.connected()
		eval[any](p.tab, `void setTimeout(() => history.forward())`)
		p.await(inGame)
		p.see(mayMove)
	}
}

// TestLanguageLink: a language that is chosen at the foot of a page that the server writes is
// that of all pages and of the scripts, and lasts until another one is chosen.
func TestLanguageLink(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "reader", phone, w.at)
	p.open("/")
	p.tap(act("settings"))
	p.see(`dialog select[name="language"]`)
	p.choice(`dialog select[name="language"]`, "en")
	p.open("/ladder?game=gomoku")
	p.tap(`.foot a[lang="zh"]`)
	p.await(`document.documentElement.lang === "zh-Hans" && document.querySelector('[data-act="settings"]')?.title === "设置"`)
	if got := eval[string](p.tab, `location.search`); got != "?game=gomoku" {
		t.Errorf("the address goes on with %q", got)
	}
	p.open("/")
	p.see(act("play"))
	if got := eval[string](p.tab, `document.querySelector('[data-act="play"]').textContent`); got != "开始" {
		t.Errorf("the button of the start page says %q", got)
	}
	p.open("/ladder?lang=zh")
	p.tap(act("settings"))
	p.see(`dialog select[name="language"]`)
	p.choice(`dialog select[name="language"]`, "en")
	p.await(`document.documentElement.lang === "en" && document.querySelector("h1").textContent === "Ladder"`)
}

// TestTimeLeftOfGames: the start screen shows what is left for a turn now.
func TestTimeLeftOfGames(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "player", phone, w.at)
	p.begin("xiangqi") // with ten minutes
	p.move("h2e2")
	p.see(mayMove)
	p.open("/")
	p.see(`[data-mine] .tag.on`)
	const left = `(text => { const [, m, s] = /: (\d+):(\d\d)$/.exec(text); return 60 * m + +s; })(document.querySelector("[data-mine] .tag.on").textContent)`
	first := poll(p.tab, left, func(s int) bool { return s > 0 })
	p.await(fmt.Sprintf(`%s < %d`, left, first-2))
	now := eval[int](p.tab, left)
	p.tap(`[data-mine] a`)
	p.see(mayMove)
	if got := eval[int](p.tab, `(([m, s]) => 60 * m + +s)(document.querySelector(".seat.bottom .time").textContent.split(":"))`); got > now {
		t.Errorf("%d seconds on the start screen, and then %d in the game", now, got)
	}
}

// lists waits until the page of a player leads to an address, as to that of a finished game,
// which comes there a moment after its end.
func (p *tab) lists(page, address string) {
	p.t.Helper()
	poll(p, `fetch(`+quote(page)+`).then(a => a.text()).then(text => window.listed = text), window.listed ?? ""`, func(text string) bool {
		_, finished, _ := strings.Cut(text, `<ul class="lines finished">`)
		return strings.Contains(finished, address)
	})
}

// TestPlayer: somebody who has lost a game finds it again among the own ones, by keyboard
// alone, and from there the opponent's page; a name is a link in a game that is over, and
// not while one plays.
func TestPlayer(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "player", phone, w.at)
	p.begin("gomoku")
	id := string(p.shown())
	p.move("h8")
	p.see(mayMove)
	if p.sees(`.seat a[href]`) {
		t.Error("a name leads away from a game in play")
	}
	p.resign()
	p.see(`.seat.top a[href^="/player/"]`)
	if h := eval[float64](p.tab, `Math.min(...[...document.querySelectorAll(".seat a")].map(a => a.getBoundingClientRect().height))`); h < 24 {
		t.Errorf("a name is %v pixels high, too low for a finger", h)
	}

	p.open("/")
	p.see(`.aside a[href^="/player/human-"]`)
	p.tap(act("account"))
	p.see(`dialog a[href^="/player/human-"]`)
	eval[any](p.tab, `void document.querySelector('dialog a[href^="/player/"]').focus()`)
	p.enter()
	p.await(`location.pathname.startsWith("/player/human-") && document.querySelector("h1 .tag")`)
	game := `.finished a[href="/game/` + id + `"]`
	p.lists(p.path(), "/game/"+id)
	p.open(p.path())
	p.see(game)
	if text := eval[string](p.tab, wide); text != "" {
		t.Errorf("%s scrolls sideways on a phone", text)
	}
	p.tap(`.finished a.name`)
	p.await(`location.pathname.startsWith("/player/gomoku-")`)
	p.see(game)
	if text := eval[string](p.tab, wide); text != "" {
		t.Errorf("%s scrolls sideways on a phone", text)
	}
	p.tap(game)
	p.await(`location.pathname === "/game/` + id + `"`)
	p.see(`.board [data-point="h8"]`)
}

// TestOldGameFromList: somebody who has many games finds an old one, of which only the record is
// left, far down in the own list, and Back leads to that place of the list again.
func TestOldGameFromList(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "player", phone, w.at)
	p.begin("gomoku")
	id, old := string(p.shown()), "old"+protocol.NewID()[:6]
	p.move("h8")
	p.see(mayMove)
	p.resign()
	p.see(`.seat.bottom a[href^="/player/"]`)
	own := eval[string](p.tab, `document.querySelector(".seat.bottom a").pathname`)
	for n := range 21 {
		w.copyRecord(t, id, fmt.Sprintf("%s%02d", old, n))
	}
	const next = `main > .row a.button`
	p.lists(own, `?from=21`)
	p.open(own)
	p.connected()
	p.tap(next)
	p.await(`location.search === "?from=21"`)
	p.connected()
	p.tap(next)
	p.await(`location.search === "?from=1"`)
	p.connected()
	last := eval[string](p.tab, `[...document.querySelectorAll('.finished a[href^="/game/old"]')].at(-1).pathname`)
	p.tapUntil(`.finished a[href="`+last+`"]`, `document.querySelector("article.read .steps .num")?.textContent === "2 / 2"`)
	if path := p.path(); path != last {
		t.Errorf("at %s, not at %s", path, last)
	}
	eval[any](p.tab, `void setTimeout(() => history.back())`)
	p.await(`location.search === "?from=1" && scrollY > 1000`)
	p.connected()

	// On a slow line Back comes before the scripts of the old game's page.
	call(p.tab, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/en.json"}}})
	p.tapUntil(`.finished a[href="`+last+`"]`, `document.querySelector("article.read .steps .num")?.textContent === "2 / 2"`)
	eval[any](p.tab, `void setTimeout(() => history.back())`)
	p.await(`location.search === "?from=1"`)
	call(p.tab, fetch.Disable, cdp.Empty{})
	p.await(`document.querySelector(".finished") && scrollY > 1000`)
	p.connected()

	whole := `.finished a[href="/game/` + id + `"]` // which the page can show itself
	if !p.sees(whole) {                             // games that ended at the same time come in any order
		p.tap(next)
		p.await(`location.search === "?from=21"`)
		p.connected()
	}
	list := eval[string](p.tab, `location.search`)
	p.tap(whole)
	p.await(inGame)
	eval[any](p.tab, `void setTimeout(() => history.back())`)
	p.await(`location.search === ` + quote(list) + ` && document.querySelector(".finished")`)
}

// TestOldList: the list of games says that it is old when it can't be brought up to date, and
// is brought up to date as soon as somebody looks at it with a connection again.
func TestOldList(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "watcher", phone, network.at)
	p.before(`{ const every = setInterval; window.setInterval = (f, ms) => (ms === 10_000 ? (window.update = f, 0) : every(f, ms)); }`) // not by the time that passes
	p.open("/games")
	p.await(`window.update`)
	const said = `document.querySelector("main [role=status]").textContent`
	p.await(said + ` === ""`)
	for _, event := range []string{`document.dispatchEvent(new Event("visibilitychange"))`, `dispatchEvent(new Event("online"))`} {
		network.setCut(true)
		eval[any](p.tab, `void update()`)
		p.await(said + ` === "This list can't be brought up to date now. It shows how the games stood before."`)
		network.setCut(false)
		eval[any](p.tab, `void `+event)
		p.await(said + ` === ""`)
	}
}
