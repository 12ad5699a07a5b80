package browser

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/input"
)

// reads reports whether a screen reader reaches something of a role that has a name.
func (p *tab) reads(role, name string) bool {
	p.t.Helper()
	tree := call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	is := func(v *accessibility.Value, text string) bool {
		var s string
		return v != nil && json.Unmarshal(v.Value, &s) == nil && s == text
	}
	return slices.ContainsFunc(tree.Nodes, func(n *accessibility.Node) bool { return !n.Ignored && is(n.Role, role) && is(n.Name, name) })
}

// spokenAlways is an expression: whether a screen reader speaks each change of an element.
func spokenAlways(selector string) string {
	return `!!document.querySelector(` + quote(selector) + `).closest('[aria-live], [role="status"], [role="alert"]')`
}

// TestNoteInDialog: what happens while a dialog is open is shown above it, and spoken.
func TestNoteInDialog(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "owner", phone, w.at)
	p.resize(640, 360)
	p.begin("gomoku")
	p.tap(act("account"))
	p.tap(act("device-link"))
	p.see(`img.qr`)
	p.tapUntil(act("copy"), `(() => {
		const note = document.querySelector("[data-note]"), r = note?.getBoundingClientRect();
		if (!note) return false;
		note.style.pointerEvents = "auto"; // a tap goes through a note
		return document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2) === note;
	})()`)
	spoken := eval[string](p.tab, `said.at(-1)`)
	if !p.reads("StaticText", spoken) {
		t.Errorf("a screen reader does not reach %q", spoken)
	}
	p.tap(`dialog ` + act("close"))
	p.await(`!document.querySelector("dialog")`)
	p.hear()
	p.offline(true)
	p.heard("No connection")
	if !p.reads("StaticText", "No connection") {
		t.Error("nothing is read any more once a dialog has been closed")
	}
}

// TestQuestionInDialog: a question that a dialog leads to has a name of its own.
func TestQuestionInDialog(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "owner", desktop, w.at)
	p.begin("gomoku")
	p.tap(act("account"))
	p.see(act("erase"))
	if !p.reads("dialog", "You") {
		t.Error("the dialog has no name")
	}
	p.tap(act("erase"))
	p.see(act("yes-erase"))
	if title := eval[string](p.tab, `[...document.querySelectorAll("dialog h2")].at(-1).textContent`); !p.reads("dialog", title) {
		t.Errorf("the question %q is not the name of its dialog", title)
	}
}

// TestDeletedAccount: who deletes the account is asked with a word about running games, and told
// that it is deleted, and not that the session has ended.
func TestDeletedAccount(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "leaver", phone, w.at)
	p.begin("gomoku")
	p.tap(act("account"))
	p.tap(act("erase"))
	p.see(act("yes-erase"))
	if text := eval[string](p.tab, `document.querySelector('[data-dialog="erase"] p').textContent`); !strings.Contains(text, "Running games") {
		t.Errorf("asked with %q", text)
	}
	p.tap(act("yes-erase"))
	p.see(act("erased"))
	if title := eval[string](p.tab, `document.querySelector('[data-dialog="erased"] h2').textContent`); title != "Your account is deleted" {
		t.Errorf("told %q", title)
	}
	stranger := `!document.querySelector(` + quote(act("account")) + `)` // the page has a new connection
	p.await(stranger)
	if eval[bool](p.tab, `noted(/not signed in/)`) {
		t.Error("told that the session has ended")
	}
	p.tap(act("erased"))
	p.see(act("play"))
	p.connected()
	p.await(stranger)
	if eval[bool](p.tab, `noted(/not signed in/)`) {
		t.Error("told on the start page that the session has ended")
	}
}

// tapTwice taps twice before the first tap can have had an effect, as on a slow connection.
func (p *tab) tapTwice(selector string) {
	p.t.Helper()
	p.see(selector)
	eval[any](p, `(e => (e.click(), e.click(), null))(document.querySelector(`+quote(selector)+`))`)
}

// TestTappedTwice: who taps a button again, because what it needs is slow to load, opens one
// dialog and one review.
func TestTappedTwice(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "impatient", phone, w.at)
	p.begin("gomoku")
	for _, name := range []string{"account", "settings"} {
		p.tapTwice(act(name))
		p.see(`dialog[open]`)
		if n := eval[int](p.tab, `document.querySelectorAll("dialog").length`); n != 1 {
			t.Errorf("%s: %d dialogs", name, n)
		}
		eval[any](p.tab, `document.querySelectorAll("dialog").forEach(d => d.close())`)
		p.await(`!document.querySelector("dialog")`)
	}
	p.move("h8")
	p.see(mayMove)
	p.resign()
	p.tapTwice(act("review"))
	p.see(`[data-review]`)
	if n := eval[int](p.tab, `document.querySelectorAll("[data-review]").length`); n != 1 {
		t.Errorf("%d reviews", n)
	}
	if eval[bool](p.tab, spokenAlways("[data-progress]")) {
		t.Error("each position that is reviewed is spoken")
	}
	p.await(`said.some(text => text.startsWith("Your blunders: "))`)
	p.tap(act("review-close"))
	p.see(act("rematch"))
}

// drag presses the mouse at a place and releases it at another.
func (p *tab) drag(from, to [2]float64) {
	p.t.Helper()
	for _, e := range []struct {
		kind    input.DispatchMouseEventType
		at      [2]float64
		buttons int64
	}{{input.DispatchMouseEventTypeMousePressed, from, 1}, {input.DispatchMouseEventTypeMouseMoved, to, 1}, {input.DispatchMouseEventTypeMouseReleased, to, 0}} {
		call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: e.kind, X: e.at[0], Y: e.at[1], Button: input.MouseButtonLeft, Buttons: e.buttons, ClickCount: 1})
	}
}

// TestBesideDialog: a click beside a dialog closes it; one on its edge does not, nor does
// selecting the text of a field with a mouse that is released beside the dialog.
func TestBesideDialog(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "owner", desktop, w.at)
	p.begin("gomoku")
	p.tap(act("account"))
	p.see(act("rename"))
	place := func(expression string) [2]float64 {
		at := eval[[]float64](p.tab, `(r => `+expression+`)(document.querySelector("dialog").getBoundingClientRect())`)
		return [2]float64{at[0], at[1]}
	}
	field := place(`(f => [f.left + f.width / 2, f.top + f.height / 2])(document.querySelector('dialog [name="name"]').getBoundingClientRect())`)
	edge, beside := place(`[r.left + 6, r.top + r.height / 2]`), place(`[r.left - 60, r.top + r.height / 2]`)
	p.drag(field, beside)
	p.drag(beside, field)
	p.drag(edge, edge)
	if !p.sees(`dialog[open]`) {
		t.Fatal("the dialog is closed")
	}
	p.drag(beside, beside)
	p.await(`!document.querySelector("dialog")`)
}
