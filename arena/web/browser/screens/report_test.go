package screens

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"sparring/game"
	"sparring/game/clock"
	"sparring/record"

	"sparring/arena/web/browser"
)

// hostileName is the name of a player who would like to run a script.
const hostileName = `</script><img src=x onerror="document.documentElement.dataset.owned = 1"><script>document.documentElement.dataset.owned = 2</script>`

// reportOf writes a report of two games, one of Gomoku with a mistake and one of
// Amazons, as `sparring records report` makes it, and returns its path.
func reportOf(t *testing.T, lang string) string {
	t.Helper()
	dir := t.TempDir()
	spec, err := clock.Parse("60+1")
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for id, moves := range map[string]string{"gomoku": "h8 a1 h9 a2 h10 a3 h11 a4 h12", "amazons": "d1d7/g7 d10d8/g8"} {
		r := &record.Record{V: record.Version, ID: id, Game: id, Rules: map[string]string{"gomoku": "gomoku/freestyle-15", "amazons": "amazons/10x10"}[id],
			Clock: spec, Result: game.FirstWins, Reason: "resign", Plies: []record.Ply{}, Source: record.Source{By: record.ByImport},
			Seats: [2]record.Seat{{Player: "ann", Display: hostileName}, {Player: "bob", Display: "北京理工大学"}}}
		for i, m := range strings.Fields(moves) {
			chance := []float64{0.5, 0.6, 0.7, 0.2}[min(i, 3)]
			r.Plies = append(r.Plies, record.Ply{Seat: game.Seat(i % 2), Move: m, UsedMS: 1500, LeftMS: int64(60_000 - 1000*i),
				Think: &record.Think{Source: record.FromSearch, Depth: 9, WinProb: chance, Nodes: 1000}})
		}
		line, err := record.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line...)
	}
	games, page := filepath.Join(dir, "games.jsonl"), filepath.Join(dir, "report.html")
	if err := os.WriteFile(games, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), browser.Program(t), "records", "report", games, "--html", page, "--lang", lang, "--analyse", "none").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return page
}

// TestReport: a report opened from a file replays its games with buttons and keys, fits
// a phone, and takes names for text.
func TestReport(t *testing.T) {
	t.Parallel()
	browser.NeededLong(t)
	for _, c := range []struct {
		device browser.Device
		lang   string
		chance string
	}{{browser.Phone, "zh", "黑方 胜率 40%"}, {browser.Desktop, "en", "Black wins 40%"}} {
		path := reportOf(t, c.lang)
		p := browser.NewPerson(t, "coach "+c.lang, c.device, "")
		p.Origin = "file://"
		p.Open(path)
		p.See(`[data-verdict]`)
		if got := browser.Eval[string](p.Tab, browser.Wide); got != "" {
			t.Errorf("%s: beyond the edge: %s", c.lang, got)
		}
		if broken := browser.Eval[string](p.Tab, `[...document.querySelectorAll(".wide thead th")].filter(e => { const r = document.createRange(); r.selectNodeContents(e); return new Set([...r.getClientRects()].map(b => Math.round(b.top))).size > 1; }).map(e => e.textContent).join()`); broken != "" {
			t.Errorf("%s: headings of several lines: %s", c.lang, broken)
		}
		p.Tap(`[data-games] a[href="#g2"]`) // Gomoku: sections are in order of their names
		p.See(`dialog.replay .board-drawing.gomoku`)
		stones := func(n int) { p.Await(fmt.Sprintf(`document.querySelectorAll("dialog .piece.stone").length === %d`, n)) }
		stones(0)
		key := func(name string) {
			browser.Eval[bool](p.Tab, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "`+name+`", bubbles: true, cancelable: true}))`)
		}
		key("ArrowRight")
		stones(1)
		p.Tap(`dialog ` + browser.Act("forward"))
		stones(2)
		p.Await(`location.hash === "#g2-2" && document.querySelector('dialog [data-ply="2"][aria-current]')`)
		if got := browser.Eval[string](p.Tab, `document.querySelector("dialog [data-verdict]").textContent`); !strings.Contains(got, "2. a1") || !strings.Contains(got, "9") || !strings.Contains(got, "1.5") {
			t.Errorf("%s: after two plies the page says %q", c.lang, got)
		}
		key("Home")
		key("ArrowRight")
		if got := browser.Eval[string](p.Tab, `document.querySelector("dialog [data-verdict]").textContent`); !strings.Contains(strings.ReplaceAll(got, "\u00a0", " "), strings.ReplaceAll(c.chance, " 胜率", "胜率")) && !strings.Contains(got, "40") {
			t.Errorf("%s: the chance is told as %q", c.lang, got)
		}
		key("PageDown") // to the mistake
		p.Await(`location.hash === "#g2-2" && document.querySelector("dialog .found.blunder")`)
		p.Await(`document.querySelector("dialog .seat.top .time").textContent === "0:59"`)
		key("End")
		stones(9)
		key("p")
		p.See(`dialog.replay .board-drawing.amazons`)
		if small := browser.Eval[string](p.Tab, `[...document.querySelectorAll("dialog .steps button, dialog header button")].filter(e => { const r = e.getBoundingClientRect(); return r.width < 44 || r.height < 44; }).map(e => e.dataset.act).join(" ")`); small != "" {
			t.Errorf("%s: small buttons: %s", c.lang, small)
		}
		if got := browser.Eval[string](p.Tab, browser.Wide); got != "" {
			t.Errorf("%s: beyond the edge in the replay: %s", c.lang, got)
		}
		browser.Call(p.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		p.Await(`!document.querySelector("main").checkVisibility() && document.querySelector("dialog .board-drawing").checkVisibility() && !document.querySelector("dialog .steps").checkVisibility()`)
		if cut := browser.Eval[bool](p.Tab, `(() => { const d = document.querySelector("dialog.replay"); return getComputedStyle(d).overflowY !== "visible" || d.scrollHeight > d.clientHeight + 1; })()`); cut {
			t.Errorf("%s: the game is printed up to the edge of the first page", c.lang)
		}
		browser.Call(p.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
		p.Tap(`dialog ` + browser.Act("close"))
		p.Await(`!document.querySelector("dialog").open && !location.hash.includes("g")`)
		if browser.Eval[bool](p.Tab, `"owned" in document.documentElement.dataset || !!document.querySelector("img")`) {
			t.Errorf("%s: a player's name was run", c.lang)
		}
		if n := browser.Eval[int](p.Tab, `performance.getEntriesByType("resource").filter(e => !e.name.startsWith("data:")).length`); n > 0 {
			t.Errorf("%s: %d resources were loaded", c.lang, n)
		}
	}
}
