package browser

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
)

// regions is an expression: what the live regions of the page itself say, those of its dialogs aside.
const regions = `[...document.querySelectorAll("body > [data-live]")].map(e => [...e.children].map(p => p.textContent))`

// TestSpokenGame: a screen reader, which hears only what is said in a region that was there before,
// hears that a game begins, whose turn it is, each move before what it asks for, and how
// the game ends, also when a dialog is open then. Nothing is said twice.
func TestSpokenGame(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	watched := w.watch(t)
	f := &friends{t: t, watched: watched, ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", desktop, w.at).tab}
	f.ann.open("/ladder")
	f.ann.await(regions + `.length === 2`)
	if got := eval[[][]string](f.ann, regions); len(got[0])+len(got[1]) > 0 {
		t.Errorf("said before anything happens: %q", got)
	}
	f.invite(setup{game: "gomoku", rules: "gomoku/freestyle-15+swap2", own: clockOf("30", "20")})
	f.ann.await(`said.some(text => /^Gomoku: Guest \d+ against Guest \d+\. (Your turn|Put black)/.test(text))`)
	f.bob.await(`said.some(text => /^Gomoku: Guest \d+ against Guest \d+\. (Guest \d+ decides|Your opponent puts)/.test(text))`)
	f.play(f.ann, "h8", "h9", "a1")
	f.bob.see(opening)
	f.bob.await(`said.some(text => /^Guest \d+: a1Take a colour, or put two more stones/.test(text))`)
	f.bob.tap(`[data-move="stay"]`)
	f.play(f.bob, "i8")
	f.ann.see(mayMove)
	f.ann.tap(act("resign"))
	f.ann.see(`dialog[open]`)
	f.bob.resign()
	f.ann.await(regions + `[1].join() === "You won. " + document.querySelector("[data-status] a").textContent`)
	f.ann.await(`!document.querySelector("dialog")`)
}

// TestDescriptions: no control has a description that repeats its name, which a screen reader
// would say twice, and none lacks a name.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "reader", phone, w.at)
	check := func(screen string) {
		t.Helper()
		text := func(v *accessibility.Value) string {
			if v == nil {
				return ""
			}
			return string(v.Value)
		}
		controls := []string{`"button"`, `"link"`, `"textbox"`, `"combobox"`, `"checkbox"`, `"radio"`, `"slider"`}
		seen := 0
		for _, n := range call(p.tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
			if n.Ignored || !slices.Contains(controls, text(n.Role)) {
				continue
			}
			seen++
			if name := text(n.Name); name == `""` || name == text(n.Description) {
				t.Errorf("%s: a %s with the name %s and the description %s", screen, text(n.Role), name, text(n.Description))
			}
		}
		if seen < 5 {
			t.Errorf("%s: %d controls", screen, seen)
		}
	}
	call(p.tab, accessibility.Enable, cdp.Empty{})
	p.begin("gomoku")
	check("game")
	p.move("h8")
	p.see(mayMove)
	p.tap(act("list"))
	p.see(`.sheet.open`)
	check("sheet")
	p.tap(act("close-list"))
	p.resignToReview()
	check("review")
	p.open("/")
	p.see(act("play"))
	p.connected()
	check("start")
}
