package browser

import (
	"encoding/json"
	"flag"
	"fmt"
	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Reads reports whether a screen reader reaches something of a role that has a name.
func (p *Tab) Reads(role, name string) bool {
	p.T.Helper()
	tree := Call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	is := func(v *accessibility.Value, text string) bool {
		var s string
		return v != nil && json.Unmarshal(v.Value, &s) == nil && s == text
	}
	return slices.ContainsFunc(tree.Nodes, func(n *accessibility.Node) bool { return !n.Ignored && is(n.Role, role) && is(n.Name, name) })
}

// SpokenAlways is an expression: whether a screen reader speaks each change of an element.
func SpokenAlways(selector string) string {
	return `!!document.querySelector(` + Quote(selector) + `).closest('[aria-live], [role="status"], [role="alert"]')`
}

// Wide is an expression: what reaches beyond the right edge. On a phone innerWidth reaches there,
// too: the page is made smaller.
const Wide = `document.documentElement.scrollWidth > document.documentElement.clientWidth ? [...document.querySelectorAll("body *")]
	.filter(e => e.checkVisibility() && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.tagName + "." + e.getAttribute("class")).join(" ") || "the page" : ""`

// Module makes a module of the page's scripts a variable of its name.
func (p *Tab) Module(name string) {
	p.T.Helper()
	Eval[any](p, `import(document.querySelector('script[type="module"]').src.replace("main.js", "`+name+`.js")).then(m => window.`+name+` = m), null`)
	p.Await("window." + name)
}

// Hear forgets what the page has said.
func (p *Tab) Hear() {
	p.T.Helper()
	Eval[any](p, `void (said = [])`)
}

// Heard waits until the page has said a text.
func (p *Tab) Heard(text string) {
	p.T.Helper()
	p.Await(`said.includes(` + Quote(text) + `)`)
}

// Notes is an expression: whether the page has shown a note with a text.
func Notes(text string) string {
	return fmt.Sprintf(`noted({test: (text) => text === %s})`, Quote(text))
}

// Picture takes a picture of a screen for people to judge, where -screens asks for it.
func (p *Tab) Picture(screen string) {
	p.T.Helper()
	if *Screens == "" {
		return
	}
	time.Sleep(500 * time.Millisecond) // for what moves; a picture is no assertion
	p.Fits(screen)
	data := Run(p, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(*Screens, screen+"-"+p.Name+".png"), data, 0o644); err != nil {
		p.T.Fatal(err)
	}
}

// Fits checks that nothing reaches beyond the edge, and that a finger hits the ladder's
// buttons.
func (p *Tab) Fits(screen string) {
	p.T.Helper()
	if got := Eval[string](p, Wide); got != "" {
		p.T.Errorf("%s: %s, beyond the edge: %s", p.Name, screen, got)
	}
	small := Eval[string](p, `[...document.querySelectorAll("[data-ladder] :is(button, select)")].filter(e => e.checkVisibility())
		.filter(e => { const r = e.getBoundingClientRect(); return r.width < 44 || r.height < 44; }).map(e => e.outerHTML).join(" ")`)
	if small != "" {
		p.T.Errorf("%s: %s, small: %s", p.Name, screen, small)
	}
}

// hidden is an expression: those elements whose middle is off the screen or covered.
func hidden(selectors ...string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].filter(e => {
		const r = e.getBoundingClientRect(), top = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
		return !top || !e.contains(top);
	}).map(e => e.outerHTML).join(" ")`, Quote(strings.Join(selectors, ", ")))
}

// Fetched is a request of a page.
type Fetched struct {
	Name  string `json:"name"`
	Bytes int    `json:"transferSize"`
}

// SettledRequests waits until the page requests nothing more, and returns its requests
// with the document's. The socket is one more.
func (p *Tab) SettledRequests() []Fetched {
	p.T.Helper()
	const list = `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map(e => ({name: e.name, transferSize: e.transferSize}))`
	for count := 0; ; time.Sleep(time.Second) {
		all := Eval[[]Fetched](p, list)
		if len(all) == count {
			return all
		}
		count = len(all)
	}
}

// Lists waits until the page of a player leads to an address, as to that of a finished game,
// which comes there a moment after its end.
func (p *Tab) Lists(page, address string) {
	p.T.Helper()
	Poll(p, `fetch(`+Quote(page)+`).then(a => a.text()).then(text => window.listed = text), window.listed ?? ""`, func(text string) bool {
		_, finished, _ := strings.Cut(text, `<ul class="lines finished">`)
		return strings.Contains(finished, address)
	})
}

// Run runs an expression in the page.
func (p *Tab) Run(expression string) {
	p.T.Helper()
	Eval[any](p, expression)
}

var Screens = flag.String("screens", "", "folder in which to put pictures of the page's screens")
