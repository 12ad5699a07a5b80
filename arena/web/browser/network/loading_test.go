package network

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/page"

	"sparring/arena/web/browser"
)

// TestLoadedInPieces: a page whose dictionary or whose screen could not be loaded, because
// the connection was lost meanwhile, shows what is missing once it is back.
func TestLoadedInPieces(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "commuter", browser.Phone, network.At)
	for _, piece := range []string{"en.json", "en.late.json", "start.js"} {
		p.Block("*/" + piece)
		p.Open("/")
		if piece != "en.json" {
			p.Await(`document.querySelector("main p")?.textContent === ` + browser.Quote(missing))
			p.See(browser.Act("again"))
			p.Await(`getComputedStyle(document.querySelector(".incomplete")).display === "none"`) // it is said once
		}
		p.Connected()
		if p.Sees(browser.Act("play")) {
			t.Fatalf("%s is not missed", piece)
		}
		if piece == "en.late.json" { // a single request was lost
			p.Block()
			p.See(browser.Act("play"))
			continue
		}
		network.SetCut(true)
		p.Await(browser.State + ` === "lost"`)
		p.Block()
		network.SetCut(false)
		p.See(browser.Act("play"))
	}
}

// TestWaitsForScreen: while the scripts of a page are slow to come, it shows that it loads; not
// to somebody whose browser runs none.
func TestWaitsForScreen(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	network.Down.Takes.Store(int64(3 * time.Second))
	p := browser.NewPerson(t, "islander", browser.Phone, network.At)
	p.Start("/")
	p.See(`main .loading .dots`)
	p.See(browser.Act("play"))
	if p.Sees(`.loading`) {
		t.Error("it goes on loading")
	}
	reader := browser.NewPerson(t, "reader", browser.Phone, w.At)
	browser.Call(reader.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	reader.Open("/")
	if got := browser.Eval[string](reader.Tab, `getComputedStyle(document.querySelector(".loading")).display`); got != "none" {
		t.Errorf("without scripts it is shown: %s", got)
	}
}

// TestPartNotLoaded: a button whose part of the page could not be loaded says so, and does what
// it is for once that can be loaded.
func TestPartNotLoaded(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "visitor", browser.Phone, w.At)
	p.Before(browser.Saving)
	id := p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	for _, c := range []struct{ piece, button, opens string }{
		{"preferences.js", "settings", `dialog[open] select`},
		{"graph.js", "settings", `dialog[open] select`}, // of the review, which nobody has asked for
		{"en.late.json", "account", `dialog[open] [data-act="rename"]`},
		{"moves.js", "list", `.sheet.open`},
		{"hint.js", "hint", `.board .told`},
	} {
		p.Open("/game/" + string(id))
		p.See(browser.MayMove)
		p.Block("*/" + c.piece + "*")
		p.Tap(browser.Act(c.button))
		if c.piece != "graph.js" {
			p.Await(browser.Notes(missing))
			if p.Sees(c.opens) {
				t.Errorf("%s is not missed", c.piece)
			}
		}
		p.Block()
		p.TapUntil(browser.Act(c.button), browser.Visible(c.opens))
	}
}

// TestPartNeverLoaded: a part of the page that never comes, since it was on its way when a
// connection died, is given up like one that can't be loaded. A button says so, and those
// that are loaded ahead come nevertheless.
func TestPartNeverLoaded(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "commuter", browser.Phone, w.At)
	id := p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	open := func(p *browser.Tab) {
		t.Helper()
		p.Before(`{
			const later = setTimeout;
			window.expire = []; // for each module, what gives it up
			window.setTimeout = (f, ms, ...rest) => (ms === 20000 ? expire.push(() => f(...rest)) : later(f, ms, ...rest));
		}`)
		browser.Call(p, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/moves.js"}}})
		p.Open("/game/" + string(id))
		p.See(browser.MayMove)
	}
	p.Before(browser.Saving)
	open(p.Tab)
	p.Tap(browser.Act("list"))
	p.Await(`expire.length === 2`)
	browser.Eval[any](p.Tab, `void expire[1]()`)
	p.Await(browser.Notes(missing))
	p.TapUntil(browser.Act("list"), browser.Visible(`.sheet.open`))

	next := p.NewTab("another tab")
	open(next)
	next.Await(`expire.length === 2`)
	browser.Eval[any](next, `void expire[1]()`)
	next.Await(fetches("onward.js")) // the last one
}

// TestLoadedAhead: once the connection has had nothing to do for a while, all of the page works
// without it that needs no server.
func TestLoadedAhead(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "commuter", browser.Phone, network.At)
	id := p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	p.Open("/game/" + string(id)) // the page loads nothing but a game
	p.Await(fetches("onward.js")) // the last one
	p.SettledRequests()
	network.SetCut(true)
	p.Await(browser.State + ` === "lost"`)
	for _, c := range []struct{ button, opens, close string }{
		{"settings", `dialog[open] select`, "close"}, {"account", `dialog[open] [data-act="rename"]`, "close"}, {"list", `.sheet.open`, "close-list"},
	} {
		p.Tap(browser.Act(c.button))
		p.See(c.opens)
		p.Tap(browser.Act(c.close))
	}
	p.Tap(`.brand`)
	p.See(`[data-choose="amazons"]`)
	if browser.Eval[bool](p.Tab, browser.Notes(missing)) {
		t.Error("something is missing")
	}
}

// TestUpgradeBeforeALateModule: a page whose files have changed on the server loads no module
// of the new ones into itself, which need not go with what it has. It is reloaded, once, and
// the game goes on.
func TestUpgradeBeforeALateModule(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewOutdated(t, "player", network.At)
	p.Before(browser.Saving)
	id := p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	p.Open("/game/" + string(id))
	p.See(browser.MayMove)
	browser.Eval[any](p.Tab, `void (window.kept = true)`)
	p.Outdate(network)
	p.Choose("h8") // which needs nothing new
	p.Await(`document.querySelectorAll(".piece").length === 2`)
	if !browser.Eval[bool](p.Tab, `window.kept`) {
		t.Fatal("the page was loaded again for nothing")
	}
	p.Tap(browser.Act("settings"))
	p.Await(`!window.kept`)
	p.See(browser.MayMove)
	p.TapUntil(browser.Act("settings"), browser.Visible(`dialog[open] select`))
	p.Tap(browser.Act("close"))
	if pieces := browser.Eval[int](p.Tab, `document.querySelectorAll(".piece").length`); pieces != 2 {
		t.Errorf("%d stones on the board", pieces)
	}

	// Where servers of two versions answer in turn, reloading the page does not help.
	browser.Eval[any](p.Tab, `void (window.kept = true)`)
	p.Outdate(network)
	p.TapUntil(browser.Act("list"), browser.Visible(`.sheet.open`))
	if !browser.Eval[bool](p.Tab, `window.kept`) {
		t.Error("the page was loaded again for the same version")
	}
}

// TestScreenNotLoaded: a friend who has come by a link has no start screen yet. Without
// a connection the game stays where it is, and goes on.
func TestScreenNotLoaded(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Phone, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, network.At).Tab}
	f.Bob.Before(browser.Saving)
	link := f.Invite(browser.Setup{Game: "gomoku", Own: browser.ClockOf("30", "20")})
	if browser.Eval[bool](f.Bob, fetches("start.js")) {
		t.Fatal("the start screen is there already")
	}
	f.Play(f.Ann, "h8")
	f.Bob.See(browser.MayMove)
	f.Bob.Hear()
	network.SetCut(true)
	f.Bob.Tap(`.brand`)
	f.Bob.Heard(missing)
	f.Bob.See(browser.MayMove)
	if path := f.Bob.Path(); path != "/game/"+string(f.Game) {
		t.Errorf("the address of the game is %s", path)
	}
	network.SetCut(false)
	f.Bob.Connected()
	f.Play(f.Bob, "a1")
	f.Ann.See(browser.MayMove)
	f.Bob.TapUntil(`.brand`, `document.documentElement.dataset.screen === "start"`)
	f.Bob.See(browser.Act("play"))

	next := browser.NewPerson(t, "next", browser.Phone, w.At)
	next.Open(link)
	next.Await(fetches("game.js")) // before it is needed
}

// fetches is an expression: whether the page has asked for one of its modules.
func fetches(module string) string {
	return fmt.Sprintf(`performance.getEntriesByType("resource").some(e => e.name.endsWith("/%s"))`, module)
}

// TestHandicapsNotListedNow: handicaps that could not be listed in a bad moment are offered
// when that has passed.
func TestHandicapsNotListedNow(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "visitor", browser.Desktop, w.At)
	browser.Call(p.Tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `{
		const { fetch } = window;
		window.refused = 0;
		window.fetch = async (...a) => a[0] === "/api/games" && !refused++ ? new Response("{}", {status: 503}) : fetch(...a);
	}`})
	p.Open("/")
	p.Await(`refused === 1`)
	p.Tap(`[data-choose="gomoku"]`)
	p.Tap(`[data-choose="xiangqi"]`)
	p.Await(`document.querySelectorAll('select[name="handicap"] option').length > 1`)
}

// TestListComesLater: the list of moves, which a phone could not load with the game, comes with
// the next connection, and nobody has to ask for it.
func TestListComesLater(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "commuter", browser.Phone, network.At)
	id := p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	p.Before(`{ const { warn } = console; window.failed = ""; console.warn = (...all) => { failed += all.join(); warn(...all); }; }`)
	p.Block("*/moves.js*")
	p.Open("/game/" + string(id))
	p.See(browser.MayMove)
	p.Await(`failed.includes("moves.js")`)
	network.SetCut(true)
	p.Await(browser.State + ` === "lost"`)
	p.Block()
	network.SetCut(false)
	p.Await(`document.querySelector("[data-moves]")`)
}
