package screens

import (
	"math/rand/v2"

	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"

	"sparring/arena/web/browser"
)

// TestSmallScreens: in play a phone shows everything without scrolling, also on its side, and
// with buttons that a finger hits; at 320 pixels, and at 200 % of a desktop's text, nothing
// reaches beyond the edge. The start page stays where it is as the levels come.
func TestSmallScreens(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	for _, name := range []string{"xiangqi", "gomoku", "amazons"} {
		p := browser.NewPerson(t, name, browser.Phone, w.At)
		p.Begin(name)
		if got := browser.Eval[float64](p.Tab, `document.querySelector(".board-drawing").getBoundingClientRect().width`); got < 359 {
			t.Errorf("%s: the board is %v pixels wide of 360", name, got)
		}
		if got := browser.Eval[int](p.Tab, `document.documentElement.scrollHeight`); got > 640 {
			t.Errorf("%s: the page is %d pixels high: it scrolls", name, got)
		}
		small := browser.Eval[string](p.Tab, `[...document.querySelectorAll("main button")].filter(e => e.checkVisibility({visibilityProperty: true}))
			.filter(e => { const r = e.getBoundingClientRect(); return r.width < 44 || r.height < 44; }).map(e => e.dataset.act).join(" ")`)
		if small != "" {
			t.Errorf("%s: small buttons: %s", name, small)
		}
		// A narrow window of a desktop, where a scroll bar takes a part of the width.
		bar := `(document.body.style.marginRight = "15px", document.querySelector(".board-frame").getBoundingClientRect())`
		if got := browser.Eval[[]float64](p.Tab, `(r => (document.body.style.marginRight = "", [r.left, r.right]))(`+bar+`)`); got[0] < 0 || got[1] > 345 {
			t.Errorf("%s: beside a scroll bar of 15 pixels the board lies from %v to %v", name, got[0], got[1])
		}
		p.Resize(640, 360) // on its side
		if got := browser.Eval[int](p.Tab, `document.documentElement.scrollHeight`); got > 360 {
			t.Errorf("%s: the page of a phone on its side is %d pixels high: it scrolls", name, got)
		}
		for _, size := range [][2]int64{{320, 568}, {640, 400}} {
			p.Resize(size[0], size[1])
			if got := browser.Eval[string](p.Tab, browser.Wide); got != "" {
				t.Errorf("%s: beyond the edge at %d pixels: %s", name, size[0], got)
			}
		}
		p.Open("/")
		p.See(browser.Act("play"))
		if got := browser.Eval[string](p.Tab, browser.Wide); got != "" {
			t.Errorf("start, beyond the edge: %s", got)
		}
	}
	visitor := browser.NewPerson(t, "visitor", browser.Phone, w.At)
	visitor.Open("/")
	browser.Eval[any](visitor.Tab, `window.shift = 0, new PerformanceObserver(l => shift += l.getEntries().reduce((sum, e) => sum + e.value, 0)).observe({type: "layout-shift", buffered: true})`)
	visitor.See(`.about [data-rating]`)
	if got := browser.Eval[float64](visitor.Tab, `shift`); got > 0.02 {
		t.Errorf("the start page moves by %v as the levels come", got)
	}
}

// TestLargeText: the page has the size of text that its reader has chosen in the browser; on
// a phone, too, nothing reaches beyond the edge then, and short labels stay in one line.
func TestLargeText(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "reader", browser.Phone, w.At)
	look := func(screen string) {
		t.Helper()
		for _, size := range []int64{24, 32} {
			p.TextSize(size)
			p.Await(fmt.Sprintf(`getComputedStyle(document.querySelector("main")).fontSize === "%dpx"`, size))
			lookAtLargeText(p, fmt.Sprintf("%s with text of %d pixels", screen, size))
		}
	}
	p.Open("/")
	p.See(browser.Act("play"))
	look("start")
	p.Begin("xiangqi")
	look("game")
	p.Open("/")
	p.See(`[data-mine] a`)
	look("start with a game")
	p.Tap(browser.Act("settings"))
	p.See(`dialog[open]`)
	look("settings")
	p.Tap(browser.Act("close"))
	p.TapUntil(`[data-mine] a`, browser.InGame)
	p.Move("h2e2")
	p.See(browser.MayMove)
	p.Resign()
	p.See(browser.Act("rematch"))
	look("end")
	p.Tap(browser.Act("review"))
	p.See(`[data-review]`)
	look("review")
	p.Begin("gomoku")
	look("game with a button to confirm")
	p.Resign()
	p.Open("/games")
	look("games")
	p.Open("/ladder")
	look("ladder")
	p.Open("/")
	p.See(`.aside a[href^="/player/"]`)
	own := browser.Eval[string](p.Tab, `document.querySelector('.aside a[href^="/player/"]').pathname`)
	p.Lists(own, "/game/")
	p.Open(own)
	look("player")
}

// lookAtLargeText checks what is on the screen.
func lookAtLargeText(p *browser.Person, screen string) {
	p.T.Helper()
	if got := browser.Eval[float64](p.Tab, `document.querySelector(".skip").getBoundingClientRect().bottom`); got > 0 {
		p.T.Errorf("%s: what skips the head of the page reaches %v pixels into it", screen, got)
	}
	const split = `[...document.querySelectorAll(".games label, .levels label, .bar button, .board-bar button, .review .steps button")].filter(e => e.checkVisibility()).map(e => {
		const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), range = document.createRange();
		while (texts.nextNode()) { range.selectNodeContents(texts.currentNode); if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) return texts.currentNode.data; }
		return ""; }).filter(text => text).join()`
	const splitWords = `[...document.querySelectorAll("h1, h2, .lines a")].filter(e => e.checkVisibility({visibilityProperty: true})).flatMap(e => {
		const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), range = document.createRange(), found = [];
		while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/\w+/g)) {
			range.setStart(texts.currentNode, word.index);
			range.setEnd(texts.currentNode, word.index + word[0].length);
			if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) found.push(word[0]);
		}
		return found; }).join()`
	const cut = `[...document.querySelectorAll(".seat.top .name, [data-result] [data-status]")].filter(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1).map(e => e.textContent).join()`
	for what, expression := range map[string]string{"beyond the edge": browser.Wide, "split into lines": split, "split words": splitWords, "cut": cut} {
		if got := browser.Eval[string](p.Tab, expression); got != "" {
			p.T.Errorf("%s: %s: %s", screen, what, got)
		}
	}
}

// TestTypedMoves: moves are typed in every notation of the game, and stepped through.
func TestTypedMoves(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "xiangqi"})
	p := f.Bob
	for i, text := range []string{"马8进7", "H2+3", "a6a5"} {
		f.Ann.Move([]string{"h2e2", "h0g2", "a3a4"}[i])
		p.See(`.board[data-may="move"]`)
		p.See(`input[name="move"]`)
		enter := fmt.Sprintf(`(() => { const e = document.querySelector('input[name="move"]'); e.value = %s; e.form.requestSubmit(); return true; })()`, browser.Quote(text))
		if i == 0 { // which is no move in coordinates: the server knows it
			p.Offline(true)
			browser.Eval[bool](p, enter)
			p.Await(browser.Notes(browser.Unavailable))
			p.Offline(false)
			p.Connected()
		}
		browser.Eval[bool](p, enter)
		p.Await(fmt.Sprintf(`document.querySelector('[data-ply="%d"]')`, 2*i+2))
	}
	key := func(name string) {
		browser.Eval[bool](p, `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "`+name+`", bubbles: true, cancelable: true}))`)
	}
	key("Home")
	p.Await(`location.pathname.endsWith("/0") && document.querySelector('.board[data-may="none"]')`)
	key("ArrowRight")
	p.Await(`document.querySelector('[data-ply="1"][aria-current]')`)
	if text := browser.Eval[string](p, browser.Written(1)); text != "C2=5" { // readers of English
		t.Errorf("the first move is shown as %q", text)
	}
	key("End")
	p.Await(`document.querySelector('[data-ply="6"][aria-current]')`)
	if strings.Count(p.Path(), "/") != 2 {
		t.Errorf("the latest position has the address %s", p.Path())
	}

	p.Open("/game/" + string(f.Game)) // where the positions before are not known yet
	p.See(`.board svg`)
	p.Offline(true)
	key("Home")
	p.Await(browser.Notes(browser.Unavailable))
	p.Offline(false)
}

// TestSettings: settings take effect at once, and last.
func TestSettings(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "guest", browser.Phone, w.At)
	p.Begin("xiangqi")
	p.Tap(browser.Act("settings"))
	p.See(`dialog select[name="theme"]`)
	p.Choice(`dialog select[name="theme"]`, "dark")
	p.Await(`document.documentElement.dataset.theme === "dark"`)
	p.Choice(`dialog select[name="pieces"]`, "pictures")
	p.Await(`document.querySelector(".piece .picture")`)
	p.Choice(`dialog select[name="language"]`, "zh")
	p.Await(`document.documentElement.lang === "zh-Hans" && document.querySelector('[data-act="resign"]')?.textContent === "认输"`)
	p.Await(`document.querySelector(".site nav").innerText.replace(/\s+/g, " ").trim() === "对弈 观战 排行榜" && document.querySelector(".skip").textContent === "跳到正文"`)
	p.Open("/ladder")
	if got := browser.Eval[string](p.Tab, `document.documentElement.lang + " " + document.documentElement.dataset.theme`); got != "zh dark" && got != "zh-Hans dark" {
		t.Errorf("the server writes its pages in %s", got)
	}
	browser.Call(p.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	if got := browser.Eval[string](p.Tab, `getComputedStyle(document.body).color`); got != "rgb(29, 27, 23)" || p.Sees(".site") {
		t.Errorf("the dark page is printed in %s, with its head: %v", got, p.Sees(".site"))
	}
	browser.Call(p.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	p.Open("/")
	p.See(browser.Act("play"))
	if got := browser.Eval[string](p.Tab, `document.querySelector('[data-act="play"]').textContent`); got != "开始" {
		t.Errorf("after a reload the button says %q", got)
	}
}

// TestForeignSettings: choices that this version of the page does not know, from
// another one on the device or in another tab, are as usual; the others hold.
func TestForeignSettings(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "guest", browser.Phone, w.At)
	const foreign = `void localStorage.setItem("settings", JSON.stringify({theme: "sepia", notation: "braille", pieces: 3, premove: "yes", toString: "x", language: %q}))`
	p.Open("/")
	browser.Eval[any](p.Tab, fmt.Sprintf(foreign, "en"))
	p.Begin("xiangqi")
	p.Move("h2e2")
	if got := browser.Eval[string](p.Tab, browser.Written(1)); got != "C2=5" {
		t.Errorf("the move is shown as %q", got)
	}
	second := p.NewTab("second")
	second.Open("/")
	browser.Eval[any](second, fmt.Sprintf(foreign, "zh"))
	p.Await(browser.Written(1) + ` === "炮二平五"`)
}

// TestWords: the scripts write clocks and rules as the server's pages do, and the name of a bot
// whole that is not a level.
func TestWords(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "reader", browser.Desktop, w.At)
	p.Open("/")
	p.Connected()
	for _, module := range []string{"clock", "i18n", "players"} {
		p.Module(module)
	}
	for expression, want := range map[string]string{
		`clock.label("86400/move", i18n.t)`:                                                 "1 day a move",
		`clock.label("259200/move", i18n.t)`:                                                "3 days a move",
		`i18n.rules("gomoku/renju-15+swap2")`:                                               "Renju with swap2",
		`i18n.rules("xiangqi/simple+limit=100")`:                                            "Simple: only perpetual check loses+limit=100",
		`i18n.rules("chess/standard+limit=none")`:                                           "chess/standard+limit=none",
		`i18n.nameIn("Level 3 · 3 级", true)`:                                                "Level 3",
		`i18n.nameIn("Hare · 2.1", true)`:                                                   "Hare · 2.1",
		`players.nameOf({player: "gomoku-level-3", kind: "bot", display: "Level 3 · 3 级"})`: "Level 3",
		`players.nameOf({player: "guest-1", kind: "bot", display: "Level 3 · 3 级"})`:        "Level 3 · 3 级",
	} {
		if got := browser.Eval[string](p.Tab, expression); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}

// TestClockArithmetic: the page's clocks compute as the referee's do.
func TestClockArithmetic(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "clockmaker", browser.Desktop, w.At)
	p.Open("/")
	p.Connected()
	p.Module("clock")
	type turn struct {
		Clock   string          `json:"clock"`
		Clocks  protocol.Clocks `json:"clocks"`
		Elapsed int64           `json:"elapsed"`
	}
	type reading struct {
		MS      float64 `json:"ms"`
		Total   float64 `json:"total"`
		Limited bool    `json:"limited"`
		Speed   string  `json:"speed"`
	}
	rng := rand.New(rand.NewPCG(1, 2))
	first := game.First
	var turns []turn
	for range 2000 {
		text := []string{"300", "10+0.1", "60/5x10", "0/3x30", "5/move", "86400/move", "unlimited", "0+3", "1200/1x20", "3600/move", "1800+20"}[rng.IntN(11)]
		spec, err := clock.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		at := spec.Advance(clock.Turn{State: spec.Start()}, time.Duration(rng.IntN(400_000))*time.Millisecond)
		if left, limited := spec.Remaining(at); limited && left < 0 {
			continue // the flag had fallen before
		}
		c := protocol.Clocks{Running: &first, UsedMS: at.Used.Milliseconds()}
		c.Seats[0] = protocol.ClockOf(at.State)
		turns = append(turns, turn{text, c, rng.Int64N(400_000)})
	}
	data, err := json.Marshal(turns)
	if err != nil {
		t.Fatal(err)
	}
	shown := browser.Eval[[]reading](p.Tab, string(data)+`.map(x => ({...clock.read(x.clock, x.clocks, "first", x.elapsed), speed: clock.speed(x.clock)}))`)
	for i, x := range turns {
		spec, err := clock.Parse(x.Clock)
		if err != nil {
			t.Fatal(err)
		}
		at := spec.Advance(clock.Turn{State: x.Clocks.Seats[0].State(), Used: time.Duration(x.Clocks.UsedMS) * time.Millisecond}, time.Duration(x.Elapsed)*time.Millisecond)
		left, limited := spec.Remaining(at)
		want := reading{Limited: limited, Speed: string(spec.Speed())}
		if limited {
			want.Total = float64(max(0, left).Milliseconds())
			want.MS = want.Total
			if period := spec.Traits().Period; period > 0 {
				if want.MS = float64(at.Left.Milliseconds()); at.Left <= 0 {
					want.MS = float64(max(0, period-at.Used).Milliseconds())
				}
			}
		}
		if shown[i] != want {
			t.Errorf("%s, %+v, %d ms later: the page computes %+v, want %+v", x.Clock, x.Clocks, x.Elapsed, shown[i], want)
		}
	}
}

// TestQuestions: resigning asks first; the end is told in words that lead to the rule.
func TestQuestions(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	p.Begin("gomoku")
	p.Move("h8")
	p.See(browser.MayMove)
	p.Tap(browser.Act("resign"))
	p.See(`dialog[open]`)
	p.Tap(browser.Act("no"))
	p.Await(`!document.querySelector("dialog") && !document.documentElement.dataset.result`)
	p.Resign()
	p.Await(`document.documentElement.dataset.result === "second"`)
	p.See(`[data-status] a[href="/rules/gomoku#resign"]`)
	p.See(browser.Act("rematch"))
	p.See(browser.Act("review"))
}
