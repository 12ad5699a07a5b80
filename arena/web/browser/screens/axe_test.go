package screens

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sparring/arena/web/browser"
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
	w := browser.SharedWorld(t)
	watched := w.Watch(t)
	for _, d := range []browser.Device{browser.Phone, browser.Desktop} {
		for _, scheme := range []string{"light", "dark"} {
			look := fmt.Sprintf("%s, %d pixels", scheme, d.Width)
			guest := func(name string) *browser.Tab {
				p := browser.NewPerson(t, name, d, w.At).Tab
				browser.Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
					{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
				return p
			}
			tour(t, watched, guest("ann"), guest("bob"), func(p *browser.Tab, screen string) {
				t.Helper()
				browser.Run(p, chromedp.Evaluate[chromedp.Void](string(script)))
				faults := browser.Run(p, chromedp.Evaluate[[]fault](
					`axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => r.violations)`, chromedp.EvalAwaitPromise))
				for _, f := range faults {
					var where []string
					for _, n := range f.Nodes[:min(3, len(f.Nodes))] {
						where = append(where, n.HTML+"\n      "+strings.ReplaceAll(n.Summary, "\n", "\n      "))
					}
					t.Errorf("%s (%s): %s (%s): %s, at %d places:\n    %s", screen, look, f.ID, f.Impact, f.Help, len(f.Nodes), strings.Join(where, "\n    "))
				}
			})
		}
	}
}
