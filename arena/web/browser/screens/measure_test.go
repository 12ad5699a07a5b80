package screens

import (
	"math/rand/v2"

	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"

	"sparring/arena/web/browser"
)

var measure = flag.Bool("measure", false, "measure the page's times, which depend on the machine")

// repeats is how often a time is measured; the median counts.
const repeats = 5

// slowPhone is the network of a phone on the move.
var slowPhone = browser.Conditions{Latency: 150, Download: 1.6e6 / 8, Upload: 750e3 / 8}

// observers notes, from the beginning of a page, when it was painted and playable, and
// how much its layout shifted.
const observers = `
window.seen = {paint: 0, shift: 0, playable: 0};
new PerformanceObserver(l => { for (const e of l.getEntries()) seen.paint = e.startTime; }).observe({type: "largest-contentful-paint", buffered: true});
new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput) seen.shift += e.value; }).observe({type: "layout-shift", buffered: true});
new MutationObserver(() => { if (!seen.playable && document.querySelector('.board[data-may="move"]')) requestAnimationFrame(() => seen.playable ||= performance.now()); })
	.observe(document, {subtree: true, childList: true, attributes: true});`

type loaded struct {
	Paint    float64 `json:"paint"`
	Shift    float64 `json:"shift"`
	Playable float64 `json:"playable"`
}

// TestLoadingTimes reports how fast a game page comes up with an empty cache on a slow
// phone: milliseconds until the largest paint and until the board takes a move.
func TestLoadingTimes(t *testing.T) {
	if !*measure {
		t.Skip("depends on the machine; -measure measures")
	}
	w := browser.SharedWorld(t)
	for _, name := range []string{"xiangqi", "gomoku", "amazons"} {
		p := browser.NewPerson(t, name, browser.Phone, w.At)
		id := p.Play(browser.Setup{Game: name, Seat: "first"})
		browser.Call(p.Tab, page.Enable, page.EnableParams{})
		browser.Call(p.Tab, network.Enable, network.EnableParams{})
		browser.Call(p.Tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: observers})
		browser.Call(p.Tab, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 4})
		browser.Call(p.Tab, browser.EmulateNetwork, slowPhone)
		var paint, shift, playable []float64
		for range repeats {
			browser.Call(p.Tab, network.ClearBrowserCache, cdp.Empty{})
			p.Open("/game/" + string(id))
			p.Await(`seen.playable`)
			p.SettledRequests()
			l := browser.Eval[loaded](p.Tab, `seen`)
			paint, shift, playable = append(paint, l.Paint), append(shift, l.Shift), append(playable, l.Playable)
		}
		t.Logf("%s: largest paint %.0f ms of 1500, playable %.0f ms of 2500, layout shift %.4f of 0.02 (medians of %d)",
			name, median(paint), median(playable), median(shift), repeats)
	}
}

// taps notes the time of each tap, of the next frame that shows a change of the board,
// and of each new move in the list, by a clock that all tabs share.
const taps = `(() => {
	const now = () => performance.timeOrigin + performance.now();
	window.noted = {tap: 0, drawn: 0, listed: []};
	addEventListener("pointerup", () => { noted.tap = now(); noted.drawn = 0; }, true);
	new MutationObserver(() => { if (noted.tap && !noted.drawn) { noted.drawn = -1; requestAnimationFrame(() => noted.drawn = now()); } })
		.observe(document.querySelector(".board svg"), {subtree: true, childList: true, attributes: true});
	let before = ` + browser.Plies + `;
	new MutationObserver(() => { for (const n = ` + browser.Plies + `; before < n; before++) noted.listed.push(now()); })
		.observe(document.querySelector("[data-moves]"), {subtree: true, childList: true});
	return null;
})()`

type noted struct {
	Tap    float64   `json:"tap"`
	Drawn  float64   `json:"drawn"`
	Listed []float64 `json:"listed"`
}

// TestTapTimes reports how long after a tap the piece is drawn, the move is accepted,
// and the other player sees it, without a network between them.
func TestTapTimes(t *testing.T) {
	if !*measure {
		t.Skip("depends on the machine; -measure measures")
	}
	w := browser.SharedWorld(t)
	watched, rng := w.Watch(t), rand.New(rand.NewPCG(1, 2))
	f := browser.Meet(t, w, watched, browser.Setup{Game: "xiangqi"})
	f.Ann.Run(taps)
	f.Bob.Run(taps)
	var drawn, accepted, other []float64
	for n := range 60 {
		p, q := f.Ann, f.Bob
		if n%2 == 1 {
			p, q = q, p
		}
		p.See(browser.MayMove)
		p.Move(browser.AnyMove(t, rng, watched.Latest(t, f.Game, p)))
		p.Await(`noted.drawn > 0`)
		q.Await(fmt.Sprintf(`noted.listed.length > %d`, n))
		a, b := browser.Eval[noted](p, `noted`), browser.Eval[noted](q, `noted`)
		drawn, accepted, other = append(drawn, a.Drawn-a.Tap), append(accepted, a.Listed[n]-a.Tap), append(other, b.Listed[n]-a.Tap)
		if p.Root("result") != "" {
			break
		}
	}
	t.Logf("%d moves, p95 from the tap: drawn %.0f ms of 50, accepted %.0f ms of 100, seen by the other %.0f ms of 150; medians %.0f, %.0f, %.0f",
		len(drawn), percentile(drawn, 95), percentile(accepted, 95), percentile(other, 95), median(drawn), median(accepted), median(other))
}

// TestFirstMove reports how long it takes from the tap on Play to the first own move.
func TestFirstMove(t *testing.T) {
	if !*measure {
		t.Skip("depends on the machine; -measure measures")
	}
	w := browser.SharedWorld(t)
	var took []float64
	for n := range repeats {
		p := browser.NewPerson(t, fmt.Sprintf("visitor %d", n+1), browser.Phone, w.At)
		p.SetUp(browser.Setup{Game: "xiangqi", Seat: "first"})
		begun := time.Now()
		p.Tap(browser.Act("play"))
		p.See(browser.MayMove)
		took = append(took, float64(time.Since(begun).Milliseconds()))
	}
	t.Logf("own first move %.0f ms of 3000 after the tap on Play (median of %d)", median(took), repeats)
}

func median(all []float64) float64 { return percentile(all, 50) }

func percentile(all []float64, percent int) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}
