package screens

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"

	"sparring/arena/web/browser"
)

// regions is an expression: what the live regions of the page itself say, those of its dialogs aside.
const regions = `[...document.querySelectorAll("body > [data-live]")].map(e => [...e.children].map(p => p.textContent))`

// TestSpokenGame: a screen reader, which hears only what is said in a region that was there before,
// hears that a game begins, whose turn it is, each move before what it asks for, and how
// the game ends, also when a dialog is open then. Nothing is said twice.
func TestSpokenGame(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	watched := w.Watch(t)
	f := &browser.Friends{T: t, Watched: watched, Ann: browser.NewPerson(t, "ann", browser.Phone, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, w.At).Tab}
	f.Ann.Open("/ladder")
	f.Ann.Await(regions + `.length === 2`)
	if got := browser.Eval[[][]string](f.Ann, regions); len(got[0])+len(got[1]) > 0 {
		t.Errorf("said before anything happens: %q", got)
	}
	f.Invite(browser.Setup{Game: "gomoku", Rules: "gomoku/freestyle-15+swap2", Own: browser.ClockOf("30", "20")})
	f.Ann.Await(`said.some(text => /^Gomoku: Guest \d+ against Guest \d+\. (Your turn|Put black)/.test(text))`)
	f.Bob.Await(`said.some(text => /^Gomoku: Guest \d+ against Guest \d+\. (Guest \d+ decides|Your opponent puts)/.test(text))`)
	f.Play(f.Ann, "h8", "h9", "a1")
	f.Bob.See(browser.Opening)
	f.Bob.Await(`said.some(text => /^Guest \d+: a1Take a colour, or put two more stones/.test(text))`)
	f.Bob.Tap(`[data-move="stay"]`)
	f.Play(f.Bob, "i8")
	f.Ann.See(browser.MayMove)
	f.Ann.Tap(browser.Act("resign"))
	f.Ann.See(`dialog[open]`)
	f.Bob.Resign()
	f.Ann.Await(regions + `[1].join() === "You won. " + document.querySelector("[data-status] a").textContent`)
	f.Ann.Await(`!document.querySelector("dialog")`)
}

// TestDescriptions: no control has a description that repeats its name, which a screen reader
// would say twice, and none lacks a name.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "reader", browser.Phone, w.At)
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
		for _, n := range browser.Call(p.Tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
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
	browser.Call(p.Tab, accessibility.Enable, cdp.Empty{})
	p.Begin("gomoku")
	check("game")
	p.Move("h8")
	p.See(browser.MayMove)
	p.Tap(browser.Act("list"))
	p.See(`.sheet.open`)
	check("sheet")
	p.Tap(browser.Act("close-list"))
	p.ResignToReview()
	check("review")
	p.Open("/")
	p.See(browser.Act("play"))
	p.Connected()
	check("start")
}
