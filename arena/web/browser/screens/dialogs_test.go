package screens

import (
	"strings"
	"testing"

	"sparring/arena/web/browser"
)

// TestNoteInDialog: what happens while a dialog is open is shown above it, and spoken.
func TestNoteInDialog(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "owner", browser.Phone, w.At)
	p.Resize(640, 360)
	p.Begin("gomoku")
	p.Tap(browser.Act("account"))
	p.Tap(browser.Act("device-link"))
	p.See(`img.qr`)
	p.TapUntil(browser.Act("copy"), `(() => {
		const note = document.querySelector("[data-note]"), r = note?.getBoundingClientRect();
		if (!note) return false;
		note.style.pointerEvents = "auto"; // a tap goes through a note
		return document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2) === note;
	})()`)
	spoken := browser.Eval[string](p.Tab, `said.at(-1)`)
	if !p.Reads("StaticText", spoken) {
		t.Errorf("a screen reader does not reach %q", spoken)
	}
	p.Tap(`dialog ` + browser.Act("close"))
	p.Await(`!document.querySelector("dialog")`)
	p.Hear()
	p.Offline(true)
	p.Heard("No connection")
	if !p.Reads("StaticText", "No connection") {
		t.Error("nothing is read any more once a dialog has been closed")
	}
}

// TestQuestionInDialog: a question that a dialog leads to has a name of its own.
func TestQuestionInDialog(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "owner", browser.Desktop, w.At)
	p.Begin("gomoku")
	p.Tap(browser.Act("account"))
	p.See(browser.Act("erase"))
	if !p.Reads("dialog", "You") {
		t.Error("the dialog has no name")
	}
	p.Tap(browser.Act("erase"))
	p.See(browser.Act("yes-erase"))
	if title := browser.Eval[string](p.Tab, `[...document.querySelectorAll("dialog h2")].at(-1).textContent`); !p.Reads("dialog", title) {
		t.Errorf("the question %q is not the name of its dialog", title)
	}
}

// TestDeletedAccount: who deletes the account is asked with a word about running games, and told
// that it is deleted, and not that the session has ended.
func TestDeletedAccount(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "leaver", browser.Phone, w.At)
	p.Begin("gomoku")
	p.Tap(browser.Act("account"))
	p.Tap(browser.Act("erase"))
	p.See(browser.Act("yes-erase"))
	if text := browser.Eval[string](p.Tab, `document.querySelector('[data-dialog="erase"] p').textContent`); !strings.Contains(text, "Running games") {
		t.Errorf("asked with %q", text)
	}
	p.Tap(browser.Act("yes-erase"))
	p.See(browser.Act("erased"))
	if title := browser.Eval[string](p.Tab, `document.querySelector('[data-dialog="erased"] h2').textContent`); title != "Your account is deleted" {
		t.Errorf("told %q", title)
	}
	stranger := `!document.querySelector(` + browser.Quote(browser.Act("account")) + `)` // the page has a new connection
	p.Await(stranger)
	if browser.Eval[bool](p.Tab, `noted(/not signed in/)`) {
		t.Error("told that the session has ended")
	}
	p.Tap(browser.Act("erased"))
	p.See(browser.Act("play"))
	p.Connected()
	p.Await(stranger)
	if browser.Eval[bool](p.Tab, `noted(/not signed in/)`) {
		t.Error("told on the start page that the session has ended")
	}
}

// TestTappedTwice: who taps a button again, because what it needs is slow to load, opens one
// dialog and one review.
func TestTappedTwice(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "impatient", browser.Phone, w.At)
	p.Begin("gomoku")
	for _, name := range []string{"account", "settings"} {
		p.TapTwice(browser.Act(name))
		p.See(`dialog[open]`)
		if n := browser.Eval[int](p.Tab, `document.querySelectorAll("dialog").length`); n != 1 {
			t.Errorf("%s: %d dialogs", name, n)
		}
		browser.Eval[any](p.Tab, `document.querySelectorAll("dialog").forEach(d => d.close())`)
		p.Await(`!document.querySelector("dialog")`)
	}
	p.Move("h8")
	p.See(browser.MayMove)
	p.Resign()
	p.TapTwice(browser.Act("review"))
	p.See(`[data-review]`)
	if n := browser.Eval[int](p.Tab, `document.querySelectorAll("[data-review]").length`); n != 1 {
		t.Errorf("%d reviews", n)
	}
	if browser.Eval[bool](p.Tab, browser.SpokenAlways("[data-progress]")) {
		t.Error("each position that is reviewed is spoken")
	}
	p.Await(`said.some(text => text.startsWith("Your blunders: "))`)
	p.Tap(browser.Act("review-close"))
	p.See(browser.Act("rematch"))
}

// TestBesideDialog: a click beside a dialog closes it; one on its edge does not, nor does
// selecting the text of a field with a mouse that is released beside the dialog.
func TestBesideDialog(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "owner", browser.Desktop, w.At)
	p.Begin("gomoku")
	p.Tap(browser.Act("account"))
	p.See(browser.Act("rename"))
	place := func(expression string) [2]float64 {
		at := browser.Eval[[]float64](p.Tab, `(r => `+expression+`)(document.querySelector("dialog").getBoundingClientRect())`)
		return [2]float64{at[0], at[1]}
	}
	field := place(`(f => [f.left + f.width / 2, f.top + f.height / 2])(document.querySelector('dialog [name="name"]').getBoundingClientRect())`)
	edge, beside := place(`[r.left + 6, r.top + r.height / 2]`), place(`[r.left - 60, r.top + r.height / 2]`)
	p.Drag(field, beside)
	p.Drag(beside, field)
	p.Drag(edge, edge)
	if !p.Sees(`dialog[open]`) {
		t.Fatal("the dialog is closed")
	}
	p.Drag(beside, beside)
	p.Await(`!document.querySelector("dialog")`)
}
