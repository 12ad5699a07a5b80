package screens

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"

	"sparring/game/gametest"

	"sparring/arena/web/browser"
)

// focused is an expression: the name of the field that has the focus.
const focused = `document.activeElement.name ?? ""`

// TestFocusOfSetup: a choice on the start screen leaves the focus where it is, and takes no
// tap from the field next to it.
func TestFocusOfSetup(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "typist", browser.Desktop, w.At)
	p.Open("/")
	p.See(`.about [data-rating]`)
	browser.Eval[any](p.Tab, `void (document.querySelector("[data-more]").open = true)`)
	for name, value := range map[string]string{"clock": "900+10", "rules": "xiangqi/cxa", "seat": "second", "level": "5"} {
		p.See(`[name="` + name + `"]`)
		browser.Eval[any](p.Tab, `void document.querySelector('[name="`+name+`"]').focus()`)
		if name == "level" {
			p.Press("ArrowRight", 39)
		} else {
			p.Choice(`[name="`+name+`"]`, value)
		}
		if got := browser.Eval[string](p.Tab, focused); got != name {
			t.Errorf("after a choice of the %s the focus is on %q", name, got)
		}
	}
	for _, name := range []string{"strict", "rated", "rated"} {
		browser.Eval[any](p.Tab, `(e => (e.focus(), e.click(), null))(document.querySelector('[name="`+name+`"]'))`)
		if got := browser.Eval[string](p.Tab, focused); got != name {
			t.Errorf("after %s the focus is on %q", name, got)
		}
	}

	const position = `[name="position"]`
	p.See(position)
	p.Tap(position)
	browser.Call(p.Tab, input.InsertText, input.InsertTextParams{Text: "4k4/9/9/9/9/9/9/4N4/9/3K5 w "})
	p.Press("Tab", 9)
	if got := browser.Eval[string](p.Tab, focused); got != "rated" {
		t.Errorf("Tab leads from the position to %q", got)
	}
	p.Tap(position)
	browser.Eval[any](p.Tab, `void document.activeElement.select()`)
	browser.Call(p.Tab, input.InsertText, input.InsertTextParams{Text: " 4k4/9/9/9/9/9/9/4R4/9/3K5 w"})
	p.Tap(`[name="strict"]`) // which was on
	p.Await(`document.querySelector('` + position + `').value === "4k4/9/9/9/9/9/9/4R4/9/3K5 w"`)
	p.Await(`!document.querySelector('[name="strict"]').checked`)
}

// TestKeysBesideGame: moves are typed with a keyboard, one after the other, and Tab leads on from
// there.
func TestKeysBesideGame(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "typist", browser.Desktop, w.At)
	p.Begin("gomoku")
	p.See(`input[name="move"]`)
	p.Press("/", 191)
	p.Await(focused + ` === "move"`)
	p.Write("j9")
	p.Enter()
	p.Await(browser.Plies + ` >= 2`)
	p.Await(browser.Written(1) + ` === "j9"`)
	p.See(browser.MayMove)
	p.Write("a1")
	p.Press("Tab", 9)
	if got := browser.Eval[string](p.Tab, `document.activeElement.dataset.act ?? ""`); got != "move" {
		t.Errorf("Tab leads from the move to %q", got)
	}
	p.Enter()
	p.Await(browser.Plies + ` >= 4`)
}

// TestTypedTooEarly: whoever types a move before the opponent has moved is told so, and keeps it.
func TestTypedTooEarly(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku"})
	f.Play(f.Ann, "h8")
	p := f.Bob
	p.See(`input[name="move"]`)
	p.Press("/", 191)
	p.Await(focused + ` === "move"`)
	p.Write("j9")
	p.Enter()
	p.Await(browser.Plies + ` === 2`)
	p.Await(`document.querySelector('input[name="move"]').value === ""`)
	p.Write("a1")
	p.Enter()
	p.Await(browser.Notes("It is not your turn."))
	f.Play(f.Ann, "k8")
	p.See(browser.MayMove)
	p.Enter()
	p.Await(browser.Plies + ` === 4`)
	p.Await(browser.Written(4) + ` === "a1"`)
}

// TestFocusOfRedrawn: a button that is redrawn keeps the focus.
func TestFocusOfRedrawn(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "typist", browser.Desktop, w.At)
	has := func(name string) {
		t.Helper()
		p.Await(`document.activeElement.dataset.act === ` + browser.Quote(name))
	}
	p.Begin("gomoku")
	p.Move("h8")
	p.See(browser.MayMove)
	browser.Eval[any](p.Tab, `void (window.old = document.querySelector('[data-act="account"]')).focus()`)
	p.Enter()
	p.See(browser.Act("rename"))
	browser.Eval[any](p.Tab, `void (document.querySelector('dialog [name="name"]').value = "Zoë")`)
	p.Tap(browser.Act("rename"))
	p.Await(`!document.querySelector("dialog") && !old.isConnected && document.querySelector('[data-act="account"]')`)
	has("account")

	browser.Eval[any](p.Tab, `void document.querySelector('[data-act="resign"]').focus()`)
	p.Enter()
	p.See(browser.Act("yes-resign"))
	p.Press("Tab", 9)
	p.Enter()
	p.See(browser.Act("rematch"))
	has("rematch") // it stands first now
	p.Tap(browser.Act("review"))
	p.See(browser.Act("onward"))
	browser.Eval[any](p.Tab, `void (window.old = document.querySelector('[data-act="onward"]')).focus()`)
	p.Await(`!old.isConnected || document.querySelector(".review").dataset.complete === "true"`)
	p.See(`.review[data-complete="true"]`)
	has("onward")
}

// TestFocusOfOffers: who declines an offer by keyboard is not led to the button of another one,
// which the next press of Enter would accept.
func TestFocusOfOffers(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku"})
	f.Ann.Move("h8")
	f.Bob.Move("h9")
	f.Ann.See(browser.MayMove)
	f.Bob.Tap(browser.Act("draw"))
	f.Bob.Tap(browser.Act("yes-draw"))
	f.Ann.See(browser.Act("draw-decline"))
	f.Bob.Tap(browser.Act("takeback"))
	gametest.Eventually(t, "both are offered", func() bool {
		e := f.Watched.Of(f.Game)
		return e.DrawBy != nil && e.TakebackBy != nil
	})
	browser.Eval[any](f.Ann, `void document.querySelector('[data-act="draw-decline"]').focus()`)
	f.Ann.Enter()
	f.Ann.See(browser.Act("takeback-accept"))
	onBoard := func() {
		t.Helper()
		if got := browser.Eval[string](f.Ann, `document.activeElement.className`); got != "board-point" {
			t.Errorf("the focus has gone to %q", got)
		}
	}
	onBoard()
	browser.Eval[any](f.Ann, `void document.querySelector('[data-act="takeback-decline"]').focus()`)
	f.Ann.Enter()
	f.Ann.Await(`document.querySelector(".offered").hidden`)
	onBoard()
}

// TestFocusOfRetry: trying mistakes again leads the focus to the heading of each task, and back
// to that of the review.
func TestFocusOfRetry(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "learner", browser.Desktop, w.At)
	at := func(heading string) {
		t.Helper()
		p.Await(`document.activeElement === document.querySelector(` + browser.Quote(heading) + `)`)
	}
	press := func(name string) {
		t.Helper()
		p.See(browser.Act(name))
		browser.Eval[any](p.Tab, `void document.querySelector('[data-act="`+name+`"]').focus()`)
		p.Enter()
	}
	p.Begin("xiangqi")
	p.Move("h2h9") // loses a cannon
	p.ResignToReview()
	press("retry")
	p.See(`[data-retry-state="ask"]`)
	at(".retry h2")
	press("next")
	p.See(`[data-retry-state="end"]`)
	at(".retry h2")
	press("retry-close")
	p.Await(`!document.querySelector("[data-retry-state]")`)
	at(".review h1")
}

// TestFocusInList: a move leaves the focus in the list of moves where it is.
func TestFocusInList(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "reader", browser.Desktop, w.At)
	p.Begin("gomoku")
	p.Move("h8")
	p.See(browser.MayMove)
	other := p.NewTab("reader 2")
	other.Open(p.Path())
	other.Connected()
	browser.Eval[any](p.Tab, `void document.querySelector('[data-ply="1"]').focus()`)
	other.Move("a1")
	p.Await(browser.Plies + ` >= 3`)
	if got := browser.Eval[string](p.Tab, `document.activeElement.dataset.ply ?? ""`); got != "1" {
		t.Errorf("the focus has gone to the move %q", got)
	}
}

// TestSkipLink: the link past the head of the page leads to the screen as it is.
func TestSkipLink(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "typist", browser.Desktop, w.At)
	p.Begin("gomoku")
	p.Move("h8")
	p.See(browser.MayMove)
	browser.Eval[any](p.Tab, `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "Home", bubbles: true, cancelable: true}))`)
	p.Await(`location.pathname.endsWith("/0")`)
	browser.Eval[any](p.Tab, `void document.querySelector(".skip").click()`)
	if at := browser.Eval[string](p.Tab, `document.activeElement.id + " " + location.hash`); at != "app " {
		t.Errorf("the link leads to %q", at)
	}
}

// TestHighContrast: in the colours of a system with high contrast it is seen what is chosen,
// and whose clock runs.
func TestHighContrast(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "reader", browser.Desktop, w.At)
	browser.Call(p.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}})
	differ := func(a, b string) {
		t.Helper()
		p.See(a)
		p.See(b)
		colour := func(selector string) string {
			return browser.Eval[string](p.Tab, `getComputedStyle(document.querySelector(`+browser.Quote(selector)+`)).backgroundColor`)
		}
		if x, y := colour(a), colour(b); x == y {
			t.Errorf("%s and %s are both %s", a, b, x)
		}
	}
	p.Open("/")
	differ(`[data-choose="xiangqi"]`, `[data-choose="gomoku"]`)
	differ(`[data-level="3"]`, `[data-level="4"]`)
	p.Begin("xiangqi")
	p.Move("h2e2")
	p.See(browser.MayMove)
	differ(`[data-clock="first"]`, `[data-clock="second"]`)
	differ(`[data-ply="2"]`, `[data-ply="1"]`)
}

// TestWithdrawByKeyboard: who withdraws one of two open invitations by keyboard withdraws that
// one, however often the key is pressed, and Tab goes on from there.
func TestWithdrawByKeyboard(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "host", browser.Desktop, w.At)
	for range 2 {
		p.SetUp(browser.Setup{Game: "gomoku"})
		p.TapUntil(browser.Act("invite"), browser.Visible(`input[data-link]`))
	}
	p.Open("/")
	const waiting = `document.querySelectorAll("[data-waiting]")`
	p.Await(waiting + `.length === 2`)
	kept := browser.Eval[string](p.Tab, waiting+`[1].dataset.waiting`)
	browser.Eval[any](p.Tab, `void `+waiting+`[0].querySelector('[data-act="withdraw"]').focus()`)
	p.Enter()
	p.Enter() // since it takes a moment
	p.Await(waiting + `.length === 1`)
	p.Enter()
	p.Press("Tab", 9)
	if got := browser.Eval[string](p.Tab, `document.activeElement.closest("[data-waiting]")?.dataset.waiting ?? document.activeElement.outerHTML`); got != kept {
		t.Errorf("Tab leads to %s", got)
	}
	if got := browser.Eval[string](p.Tab, waiting+`[0]?.dataset.waiting ?? ""`); got != kept {
		t.Errorf("%q is left, not %q", got, kept)
	}
}
