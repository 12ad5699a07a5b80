package browser

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var axe = flag.String("axe", "", "path of axe-core's axe.min.js, to audit the page's accessibility")

// fault is a rule of axe-core that a page breaks.
type fault struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// TestAccessibility audits the screens with axe-core by the rules of WCAG 2.2 AA.
func TestAccessibility(t *testing.T) {
	if *axe == "" {
		t.Skip("needs axe-core, which is not part of the project: -axe PATH")
	}
	script, err := os.ReadFile(*axe)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	for _, d := range []device{phone, desktop} {
		for _, scheme := range []string{"light", "dark"} {
			name := fmt.Sprintf("%s, %d pixels", scheme, d.width)
			p := newPerson(t, name, d, w.at)
			call(p.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
			audit := func(what string) {
				t.Helper()
				run(p.tab, chromedp.Evaluate[chromedp.Void](string(script)))
				faults := run(p.tab, chromedp.Evaluate[[]fault](
					`axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => r.violations)`, chromedp.EvalAwaitPromise))
				for _, f := range faults {
					var where []string
					for _, n := range f.Nodes[:min(3, len(f.Nodes))] {
						where = append(where, n.HTML+"\n      "+strings.ReplaceAll(n.Summary, "\n", "\n      "))
					}
					t.Errorf("%s (%s): %s (%s): %s, at %d places:\n    %s", what, name, f.ID, f.Impact, f.Help, len(f.Nodes), strings.Join(where, "\n    "))
				}
			}
			p.setUp(setup{game: "xiangqi", seat: "first"})
			audit("start")
			p.tap(act("settings"))
			p.see(`dialog[open]`)
			audit("settings")
			for game, move := range map[string]string{"xiangqi": "h2e2", "gomoku": "h8", "amazons": "d1d7/b7"} {
				id := p.play(setup{game: game, seat: "first"})
				p.move(move)
				p.see(mayMove)
				audit(game)
				p.tap(act("resign"))
				p.see(`dialog[open]`)
				audit(game + ", resigning")
				p.tap(act("yes-resign"))
				p.await(`document.documentElement.dataset.result`)
				p.see(act("rematch"))
				audit(game + ", finished")
				p.tap(act("review"))
				p.settledRequests()
				audit(game + ", review")
				p.open("/game/" + string(id) + "/0")
				p.see(`.board svg`)
				audit(game + ", a position")
				p.open("/rules/" + game)
				audit(game + ", rules")
			}
			for _, path := range []string{"/games", "/ladder", "/nowhere"} {
				p.open(path)
				audit(path)
			}
		}
	}
}
