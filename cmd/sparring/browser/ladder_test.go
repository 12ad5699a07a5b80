package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// waits is the selector of the ladder's part of the start screen while somebody waits.
const waits = `[data-ladder][data-seeking] [data-waited]`

// ladder asks for a rated game.
func (p *tab) ladder(game string) {
	p.t.Helper()
	p.open("/")
	p.connected()
	p.tap(`[data-choose="` + game + `"]`)
	p.tapUntil(act("ladder"), visible(waits))
}

// picture takes a picture of a screen for people to judge, where -screens asks for it.
func (p *tab) picture(screen string) {
	p.t.Helper()
	if *screens == "" {
		return
	}
	time.Sleep(500 * time.Millisecond) // for what moves; a picture is no assertion
	p.fits(screen)
	data := run(p, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(*screens, screen+"-"+p.name+".png"), data, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// fits checks that nothing reaches beyond the edge, and that a finger hits the ladder's
// buttons.
func (p *tab) fits(screen string) {
	p.t.Helper()
	if got := eval[string](p, wide); got != "" {
		p.t.Errorf("%s: %s, beyond the edge: %s", p.name, screen, got)
	}
	small := eval[string](p, `[...document.querySelectorAll("[data-ladder] :is(button, select)")].filter(e => e.checkVisibility())
		.filter(e => { const r = e.getBoundingClientRect(); return r.width < 44 || r.height < 44; }).map(e => e.outerHTML).join(" ")`)
	if small != "" {
		p.t.Errorf("%s: %s, small: %s", p.name, screen, small)
	}
}

// TestLadder: somebody with a phone waits on the ladder, through a reload, a lost
// connection and a while in the pocket, meets somebody at a desk, sees the rating, asks
// for the next game, and gets it from a bot, although the arena has crashed meanwhile.
func TestLadder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "SPARRING_LADDER_ON=true", "SPARRING_LADDER_CLOCK=1800+20", "SPARRING_LADDER_PAUSE=0s", "SPARRING_LADDER_LEVELS=true", "SPARRING_LEVELS_LADDER=true",
		"SPARRING_LADDER_RULES=gomoku:gomoku/freestyle-15,gomoku:gomoku/renju-15")
	w.bots.kill() // until they are wanted
	network := newWire(t, w.at)
	ann, bob := newPerson(t, "phone", phone, network.at), newPerson(t, "desk", desktop, w.at)
	bob.open("/")
	eval[any](bob.tab, `void localStorage.setItem("settings", JSON.stringify({language: "zh"}))`)

	ann.open("/")
	ann.connected()
	ann.tap(`[data-choose="gomoku"]`)
	ann.see(act("ladder"))
	ann.choice(`select[name="ladder"]`, eval[string](ann.tab, `document.querySelectorAll('select[name="ladder"] option')[1].value`))
	ann.fits("start")
	ann.picture("ladder-offer")
	eval[any](ann.tab, `void (window.guests = 0, (f => window.fetch = (...a) => { if (a[0] === "/api/session") guests++; return f(...a); })(fetch),
		[1, 2].forEach(() => document.querySelector('[data-act="ladder"]').click()))`)
	ann.see(waits)
	if n := eval[int](ann.tab, `guests`); n != 1 {
		t.Errorf("two taps of a new visitor make %d guests", n)
	}
	ann.tap(act("ladder-leave"))
	ann.see(act("ladder"))
	ann.ladder("gomoku") // with the usual rules
	ann.fits("waiting")
	ann.await(`/^Nobody else/.test(document.querySelector("[data-ladder] [role=status]").textContent)`) // once the bots that were killed are missed
	if text := eval[string](ann.tab, `document.querySelector("[data-ladder]").textContent`); !contains(text, "Gomoku", "Freestyle", "30 min + 20 s", "Waiting for an opponent") {
		t.Errorf("while waiting: %s", text)
	}
	ann.await(`JSON.parse(sessionStorage.ladder).since !== ""`) // the gateway has answered
	since := eval[string](ann.tab, `JSON.parse(sessionStorage.ladder).since`)
	ann.picture("ladder-waiting")
	eval[any](ann.tab, `void (Date.now = (f => () => f() + 3600e3)(Date.now), window.before = sessionStorage.ladder)`)
	ann.await(`sessionStorage.ladder !== before`)
	if !ann.sees(waits) {
		t.Error("who sets the clock of a phone leaves the ladder")
	}

	ann.open("/") // as reloading
	ann.see(waits)
	poll(ann.tab, `JSON.parse(sessionStorage.ladder).since`, func(now string) bool { return now == since })
	ann.offline(true)
	network.setCut(true)
	ann.await(`/^No connection/.test(document.querySelector("[data-ladder] [role=status]").textContent)`)
	ann.picture("ladder-lost")
	ann.offline(false)
	network.setCut(false)
	ann.await(`/^Nobody else/.test(document.querySelector("[data-ladder] [role=status]").textContent)`)
	ann.open("/rules/gomoku") // she reads
	ann.await(`document.querySelector('[data-news][href="/"]')?.checkVisibility()`)
	ann.fits("reading")
	ann.picture("ladder-reading")
	ann.tap(`[data-news]`)
	ann.see(waits)

	bob.ladder("xiangqi")
	bob.tapUntil(act("ladder-leave"), visible(act("ladder")))
	bob.tap(`[data-choose="gomoku"]`)
	others := `document.querySelector("[data-ladder] p.small").textContent`
	bob.await(others + `.includes("1")`)
	bob.picture("ladder-offer")
	eval[any](bob.tab, `void (window.kept = document.querySelector('[data-act="ladder"]'))`)
	ann.freeze()
	bob.await(others + `.includes("没有其他人")`) // a page in a pocket is paired with nobody
	ann.thaw()
	bob.await(others + `.includes("1")`)
	if !eval[bool](bob.tab, `kept.isConnected`) {
		t.Error("there is another button for each count of those who wait")
	}
	bob.tap(act("ladder"))
	id := bob.shown()
	if other := ann.shown(); id != other {
		t.Fatalf("in game %s and %s", id, other)
	}
	first, second := ann.tab, bob.tab
	if mover(first, second) == second {
		first, second = second, first
	}
	first.move("h8")
	second.move("h9")
	ann.resign()
	for _, p := range []*tab{ann.tab, bob.tab} {
		p.see(`[data-rated]`)
		p.fits("rated")
		p.picture("ladder-rated")
	}
	if lost, won := eval[string](ann.tab, `document.querySelector("[data-rated]").textContent`), eval[string](bob.tab, `document.querySelector("[data-rated]").textContent`); !contains(lost, "Rating", "±", "(-") || !contains(won, "等级分", "±", "+") {
		t.Errorf("the ratings: %q, %q", lost, won)
	}
	ann.tapUntil(act("ladder-next"), visible(waits))
	if text := eval[string](ann.tab, `document.querySelector("[data-ladder]").textContent`); !contains(text, "Gomoku") {
		t.Errorf("the next game: %s", text)
	}
	two := ann.newTab("tablet") // shows it, too
	two.open("/")
	two.see(waits)
	bob.open("/")
	bob.see(act("ladder"))
	bob.fits("rated before")

	w.arena.kill()
	ann.await(state + ` !== "connected"`)
	w.arena.start(t)
	w.healthy(t)
	ann.connected()
	ann.see(waits)
	w.bots.start(t)
	next := ann.shown()
	if other := two.shown(); next == id || next != other {
		t.Errorf("the next game: %s, in the other tab %s", next, other)
	}
	ann.see(mayMove)
	two.resign()
	ann.see(`[data-rated]`)
	ann.picture("ladder-again")

	ann.open("/rules/gomoku")
	// As the next page begins: the one that is left may store what it knows until then, and
	// this one may look at any time.
	call(ann.tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		sessionStorage.ladder = JSON.stringify({alive: Date.now() - 180e3, since: new Date(Date.now() - 300e3).toISOString(),
			terms: {game: "gomoku", rules: "gomoku/freestyle-15", clock: "1800+20", rated: true}})`})
	ann.open("/") // after three minutes
	ann.await(`noted(/left the ladder/)`)
	ann.see(act("ladder"))
}

// TestNoLadder: without a ladder there is no button for it.
func TestNoLadder(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "visitor", phone, w.at)
	p.open("/")
	p.see(`.about [data-rating]`) // the lobby has come
	if p.sees(`[data-ladder]`) {
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
