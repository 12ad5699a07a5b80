package games

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"

	"sparring/arena/web/browser"
)

// TestLadder: somebody with a phone waits on the ladder, through a reload, a lost
// connection and a while in the pocket, meets somebody at a desk, sees the rating, asks
// for the next game, and gets it from a bot, although the arena has crashed meanwhile.
func TestLadder(t *testing.T) {
	t.Parallel()
	w := browser.NewWorld(t, "SPARRING_LADDER_ON=true", "SPARRING_LADDER_CLOCK=1800+20", "SPARRING_LADDER_PAUSE=0s", "SPARRING_LADDER_LEVELS=true", "SPARRING_LEVELS_LADDER=true",
		"SPARRING_LADDER_RULES=gomoku:gomoku/freestyle-15,gomoku:gomoku/renju-15")
	w.Bots.Kill() // until they are wanted
	network := browser.NewWire(t, w.At)
	ann, bob := browser.NewPerson(t, "phone", browser.Phone, network.At), browser.NewPerson(t, "desk", browser.Desktop, w.At)
	bob.Open("/")
	browser.Eval[any](bob.Tab, `void localStorage.setItem("settings", JSON.stringify({language: "zh"}))`)

	ann.Open("/")
	ann.Connected()
	ann.Tap(`[data-choose="gomoku"]`)
	ann.See(browser.Act("ladder"))
	ann.Choice(`select[name="ladder"]`, browser.Eval[string](ann.Tab, `document.querySelectorAll('select[name="ladder"] option')[1].value`))
	ann.Fits("start")
	ann.Picture("ladder-offer")
	browser.Eval[any](ann.Tab, `void (window.guests = 0, (f => window.fetch = (...a) => { if (a[0] === "/api/session") guests++; return f(...a); })(fetch),
		[1, 2].forEach(() => document.querySelector('[data-act="ladder"]').click()))`)
	ann.See(browser.Waits)
	if n := browser.Eval[int](ann.Tab, `guests`); n != 1 {
		t.Errorf("two taps of a new visitor make %d guests", n)
	}
	ann.Tap(browser.Act("ladder-leave"))
	ann.See(browser.Act("ladder"))
	ann.Ladder("gomoku") // with the usual rules
	ann.Fits("waiting")
	ann.Await(`/^Nobody else/.test(document.querySelector("[data-ladder] [role=status]").textContent)`) // once the bots that were killed are missed
	if text := browser.Eval[string](ann.Tab, `document.querySelector("[data-ladder]").textContent`); !contains(text, "Gomoku", "Freestyle", "30 min + 20 s", "Waiting for an opponent") {
		t.Errorf("while waiting: %s", text)
	}
	ann.Await(`JSON.parse(sessionStorage.ladder).since !== ""`) // the gateway has answered
	since := browser.Eval[string](ann.Tab, `JSON.parse(sessionStorage.ladder).since`)
	ann.Picture("ladder-waiting")
	browser.Eval[any](ann.Tab, `void (Date.now = (f => () => f() + 3600e3)(Date.now), window.before = sessionStorage.ladder)`)
	ann.Await(`sessionStorage.ladder !== before`)
	if !ann.Sees(browser.Waits) {
		t.Error("who sets the clock of a phone leaves the ladder")
	}

	ann.Open("/") // as reloading
	ann.See(browser.Waits)
	browser.Poll(ann.Tab, `JSON.parse(sessionStorage.ladder).since`, func(now string) bool { return now == since })
	ann.Offline(true)
	network.SetCut(true)
	ann.Await(`/^No connection/.test(document.querySelector("[data-ladder] [role=status]").textContent)`)
	ann.Picture("ladder-lost")
	ann.Offline(false)
	network.SetCut(false)
	ann.Await(`/^Nobody else/.test(document.querySelector("[data-ladder] [role=status]").textContent)`)
	ann.Open("/rules/gomoku") // she reads
	ann.Await(`document.querySelector('[data-news][href="/"]')?.checkVisibility()`)
	ann.Fits("reading")
	ann.Picture("ladder-reading")
	ann.Tap(`[data-news]`)
	ann.See(browser.Waits)

	bob.Ladder("xiangqi")
	bob.TapUntil(browser.Act("ladder-leave"), browser.Visible(browser.Act("ladder")))
	bob.Tap(`[data-choose="gomoku"]`)
	others := `document.querySelector("[data-ladder] p.small").textContent`
	bob.Await(others + `.includes("1")`)
	bob.Picture("ladder-offer")
	browser.Eval[any](bob.Tab, `void (window.kept = document.querySelector('[data-act="ladder"]'))`)
	ann.Freeze()
	bob.Await(others + `.includes("没有其他人")`) // a page in a pocket is paired with nobody
	ann.Thaw()
	bob.Await(others + `.includes("1")`)
	if !browser.Eval[bool](bob.Tab, `kept.isConnected`) {
		t.Error("there is another button for each count of those who wait")
	}
	bob.Tap(browser.Act("ladder"))
	id := bob.Shown()
	if other := ann.Shown(); id != other {
		t.Fatalf("in game %s and %s", id, other)
	}
	first, second := ann.Tab, bob.Tab
	if browser.Mover(first, second) == second {
		first, second = second, first
	}
	first.Move("h8")
	second.Move("h9")
	ann.Resign()
	for _, p := range []*browser.Tab{ann.Tab, bob.Tab} {
		p.See(`[data-rated]`)
		p.Fits("rated")
		p.Picture("ladder-rated")
	}
	if lost, won := browser.Eval[string](ann.Tab, `document.querySelector("[data-rated]").textContent`), browser.Eval[string](bob.Tab, `document.querySelector("[data-rated]").textContent`); !contains(lost, "Rating", "±", "(-") || !contains(won, "等级分", "±", "+") {
		t.Errorf("the ratings: %q, %q", lost, won)
	}
	ann.TapUntil(browser.Act("ladder-next"), browser.Visible(browser.Waits))
	if text := browser.Eval[string](ann.Tab, `document.querySelector("[data-ladder]").textContent`); !contains(text, "Gomoku") {
		t.Errorf("the next game: %s", text)
	}
	two := ann.NewTab("tablet") // shows it, too
	two.Open("/")
	two.See(browser.Waits)
	bob.Open("/")
	bob.See(browser.Act("ladder"))
	bob.Fits("rated before")

	w.Arena.Kill()
	ann.Await(browser.State + ` !== "connected"`)
	w.Arena.Start(t)
	w.Healthy(t)
	ann.Connected()
	ann.See(browser.Waits)
	w.Bots.Start(t)
	next := ann.Shown()
	if other := two.Shown(); next == id || next != other {
		t.Errorf("the next game: %s, in the other tab %s", next, other)
	}
	ann.See(browser.MayMove)
	two.Resign()
	ann.See(`[data-rated]`)
	ann.Picture("ladder-again")

	ann.Open("/rules/gomoku")
	// As the next page begins: the one that is left may store what it knows until then, and
	// this one may look at any time.
	browser.Call(ann.Tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		sessionStorage.ladder = JSON.stringify({alive: Date.now() - 180e3, since: new Date(Date.now() - 300e3).toISOString(),
			terms: {game: "gomoku", rules: "gomoku/freestyle-15", clock: "1800+20", rated: true}})`})
	ann.Open("/") // after three minutes
	ann.Await(`noted(/left the ladder/)`)
	ann.See(browser.Act("ladder"))
}

// TestNoLadder: without a ladder there is no button for it.
func TestNoLadder(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "visitor", browser.Phone, w.At)
	p.Open("/")
	p.See(`.about [data-rating]`) // the lobby has come
	if p.Sees(`[data-ladder]`) {
		t.Error("a ladder is offered")
	}
}

// contains reports whether a text has all parts.
func contains(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
