package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"sparring/arena/web/message"
)

// mostShift is how much the layout of a page may shift in a game, as browsers measure it.
const mostShift = 0.02

// shifts adds up, from the beginning of a page, how much its layout has shifted, whatever somebody taps.
const shifts = `
window.shifted = {value: 0, of: []};
new PerformanceObserver(l => { for (const e of l.getEntries()) { shifted.value += e.value; shifted.of.push(e.value.toFixed(4) + " " + e.sources.map(s => (s.node?.className || s.node?.nodeName) + JSON.stringify([s.previousRect, s.currentRect])).join()); } })
	.observe({type: "layout-shift", buffered: true});`

// smallTargets are the things to tap that are smaller than 24 pixels, but for links in a sentence.
const smallTargets = `[...document.querySelectorAll("a[href], button, input, select, summary, [role=slider]")].filter((e) => {
	const r = e.getBoundingClientRect();
	if (!e.checkVisibility({visibilityProperty: true}) || e.closest(".skip, p, .line span") || !r.width || getComputedStyle(e).opacity === "0") return false;
	return Math.min(r.width, r.height) < 23.9;
}).map((e) => e.outerHTML.slice(0, 90) + " " + e.getBoundingClientRect().width + "x" + e.getBoundingClientRect().height).join("\n")`

// TestCalmGame: while moves are played, nothing on the page jumps; the latest move stays in sight
// in the list, also on the own turn; and everything is large enough for a finger. After the end
// no button is left that does nothing, and Back leads from the review to the game.
func TestCalmGame(t *testing.T) {
	t.Parallel()
	for _, screen := range []struct{ width, height int64 }{{1366, 768}, {360, 640}} {
		t.Run(fmt.Sprint(screen.width), func(t *testing.T) {
			t.Parallel()
			r := openReviewer(t, screen.width, screen.height)
			command(r.boardPage, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: shifts})
			var moves []string
			for _, row := range []string{"2", "4", "6", "8"} { // no five of one colour
				for _, column := range "abdeghjk" {
					moves = append(moves, string(column)+row)
				}
			}
			inOrder(r.bot, moves...)
			id := begin(t, r.other, terms(t, "gomoku/freestyle-15", "300+2"))
			r.open(id)
			r.is("!!document.querySelector('[data-moves]')", "true")
			for ply := 0; ply < 28; ply += 2 {
				r.other.move(id, ply, moves[ply])
				r.other.state(id, "the answer", plies(ply+2))
			}
			r.is("document.querySelectorAll('[data-ply]').length", "28")
			if shifted := value[struct {
				Value float64
				Of    []string
			}](r.boardPage, "shifted"); shifted.Value > mostShift {
				t.Errorf("the layout has shifted by %.4f, want at most %v:\n%s", shifted.Value, mostShift, strings.Join(shifted.Of, "\n"))
			}
			if screen.width > 1000 {
				r.is(`(() => { const b = document.querySelector("[data-ply][aria-current]").getBoundingClientRect(), l = document.querySelector("[data-moves]").getBoundingClientRect();
					return b.top >= l.top - 1 && b.bottom <= l.bottom + 1; })()`, "true")
				r.is(`document.querySelector("[data-moves]").textContent.includes("28.")`, "true")
			}
			r.is(smallTargets, "")
			r.shot(fmt.Sprintf("game-%d", screen.width))
			r.other.want(message.Request{T: "resign", Game: id})
			r.is("!!document.documentElement.dataset.result", "true")
			r.is("[...document.querySelectorAll('button:disabled')].filter(e => e.matches('.board-back') && e.checkVisibility({visibilityProperty: true})).length", "0")
			r.is(smallTargets, "")
			r.shot(fmt.Sprintf("over-%d", screen.width))
			r.press("review")
			r.is("document.querySelector('.review')?.dataset.complete", "true")
			r.is("document.querySelector('.verdict').getBoundingClientRect().bottom <= innerHeight", "true")
			r.is(smallTargets, "")
			r.shot(fmt.Sprintf("review-%d", screen.width))
			r.js("history.back()")
			r.is("!document.querySelector('.review') && location.pathname.startsWith('/game/')", "true")
		})
	}
}

// TestFirstLoadFails: whichever file of a first load does not come, the page says so and offers to
// try again, and it does not once all have come.
func TestFirstLoadFails(t *testing.T) {
	t.Parallel()
	tab := openTab(t, 360, 640)
	r := openReviewerIn(t, tab)
	command(tab, network.Enable, network.EnableParams{})
	// The page that has no script offers it in a line at the bottom, in the end. A script that has
	// come and finds something missing says it at once, in the middle, and hides that line.
	offered := `(() => { for (const x of document.getAnimations()) if (x.effect.getComputedTiming().iterations === 1) x.finish();
		const shown = e => !!e && e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().height > 0, a = document.querySelector(".incomplete a");
		return shown(document.querySelector("main [data-act=again]")) || (shown(a) && a.href === location.href); })()`
	for _, c := range []struct{ file, path string }{
		{"", "/"}, {"main.js", "/"}, {"dom.js", "/"}, {"start.js", "/"}, {"en.json", "/"}, {"en.late.json", "/"}, {"style.css", "/"}, {"game.js", "/game/nowhere"}, {"main.js", "/ladder"}, {"socket", "/"},
	} {
		pattern := []*network.BlockPattern{}
		switch c.file {
		case "":
		case "socket": // blocked addresses don't stop it; the last case, since the script stays
			command(tab, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{
				Source: `window.WebSocket = class extends WebSocket { constructor() { super("ws://127.0.0.1:9/"); } };`,
			})
		default:
			pattern = append(pattern, &network.BlockPattern{URLPattern: "*://*:*/*" + c.file, Block: true})
		}
		command(tab, network.ClearBrowserCache, cdp.Empty{})
		command(tab, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: pattern})
		r.do(chromedp.Navigate(r.url + c.path))
		if c.file == "" {
			r.is("'ready' in document.documentElement.dataset", "true")
		}
		if got := value[bool](tab, offered); got != (c.file != "") {
			t.Errorf("without %q of %s: a way to try again: %v", c.file, c.path, got)
		}
		r.shot("without-" + c.file)
	}
}

// TestBoardTells: who does not see the board hears each step of a move and what comes next, and
// finds points by the names that the board's edges and the moves have.
func TestBoardTells(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "")
	p.js("board.may = 'move'")
	p.show("amazons/10x10", "", "")
	said := "document.querySelector('.board-live').textContent"
	for _, c := range [][2]string{{"d1", "d1, chosen. Choose where it goes"}, {"d7", "d7, chosen. Choose where it shoots"}} {
		p.tap(c[0])
		p.is(said, c[1])
	}
	p.press("cancel")
	p.press("cancel")
	p.is(said, "Choose an amazon")
	p.show("xiangqi/wxf", "", "")
	for _, c := range []struct{ notation, seat, want string }{
		{"coordinates", "first", "h2, red cannon"}, {"wxf", "first", "file 2, row 3, red cannon"},
		{"native", "first", "file 二, row 3, red cannon"}, {"native", "second", "file 8, row 8, red cannon"},
	} {
		p.js(fmt.Sprintf("board.set({notation: %q, seat: %q})", c.notation, c.seat))
		p.is("document.querySelector('[data-point=h2]').ariaLabel", c.want)
	}
	p.tap("h2")
	p.is(said, "file 8, row 8, chosen. Choose where it goes")
	p.told()
}
