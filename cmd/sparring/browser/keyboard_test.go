package browser

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"

	"sparring/game/gametest"
)

// press presses a key that the browser itself knows, by its code of Windows.
func (p *tab) press(key string, code int64) {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: key, WindowsVirtualKeyCode: code})
	}
}

// enter presses Enter, which a link takes as a character.
func (p *tab) enter() {
	p.t.Helper()
	call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, Text: "\r"})
	call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13})
}

// holdSpace presses Space; release ends that.
func (p *tab) holdSpace() (release func()) {
	p.t.Helper()
	space := func(kind input.DispatchKeyEventType) {
		p.t.Helper()
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: " ", Code: "Space", WindowsVirtualKeyCode: 32})
	}
	space(input.DispatchKeyEventTypeRawKeyDown)
	lasts := p.keepPressed()
	return func() {
		p.t.Helper()
		lasts()
		space(input.DispatchKeyEventTypeKeyUp)
	}
}

// focused is an expression: the name of the field that has the focus.
const focused = `document.activeElement.name ?? ""`

// TestFocusOfSetup: a choice on the start screen leaves the focus where it is, and takes no
// tap from the field next to it.
func TestFocusOfSetup(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "typist", desktop, w.at)
	p.open("/")
	p.see(`.about [data-rating]`)
	eval[any](p.tab, `void (document.querySelector("[data-more]").open = true)`)
	for name, value := range map[string]string{"clock": "900+10", "rules": "xiangqi/cxa", "seat": "second", "level": "5"} {
		p.see(`[name="` + name + `"]`)
		eval[any](p.tab, `void document.querySelector('[name="`+name+`"]').focus()`)
		if name == "level" {
			p.press("ArrowRight", 39)
		} else {
			p.choice(`[name="`+name+`"]`, value)
		}
		if got := eval[string](p.tab, focused); got != name {
			t.Errorf("after a choice of the %s the focus is on %q", name, got)
		}
	}
	for _, name := range []string{"strict", "rated", "rated"} {
		eval[any](p.tab, `(e => (e.focus(), e.click(), null))(document.querySelector('[name="`+name+`"]'))`)
		if got := eval[string](p.tab, focused); got != name {
			t.Errorf("after %s the focus is on %q", name, got)
		}
	}

	const position = `[name="position"]`
	p.see(position)
	p.tap(position)
	call(p.tab, input.InsertText, input.InsertTextParams{Text: "4k4/9/9/9/9/9/9/4N4/9/3K5 w "})
	p.press("Tab", 9)
	if got := eval[string](p.tab, focused); got != "rated" {
		t.Errorf("Tab leads from the position to %q", got)
	}
	p.tap(position)
	eval[any](p.tab, `void document.activeElement.select()`)
	call(p.tab, input.InsertText, input.InsertTextParams{Text: " 4k4/9/9/9/9/9/9/4R4/9/3K5 w"})
	p.tap(`[name="strict"]`) // which was on
	p.await(`document.querySelector('` + position + `').value === "4k4/9/9/9/9/9/9/4R4/9/3K5 w"`)
	p.await(`!document.querySelector('[name="strict"]').checked`)
}

// write types a text, letter by letter.
func (p *tab) write(text string) {
	p.t.Helper()
	for _, letter := range text {
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(letter), Text: string(letter)})
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: string(letter)})
	}
}

// TestKeysBesideGame: moves are typed with a keyboard, one after the other, and Tab leads on from
// there.
func TestKeysBesideGame(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "typist", desktop, w.at)
	p.begin("gomoku")
	p.see(`input[name="move"]`)
	p.press("/", 191)
	p.await(focused + ` === "move"`)
	p.write("j9")
	p.enter()
	p.await(plies + ` >= 2`)
	p.await(`document.querySelector('[data-ply="1"]').textContent === "j9"`)
	p.see(mayMove)
	p.write("a1")
	p.press("Tab", 9)
	if got := eval[string](p.tab, `document.activeElement.dataset.act ?? ""`); got != "move" {
		t.Errorf("Tab leads from the move to %q", got)
	}
	p.enter()
	p.await(plies + ` >= 4`)
}

// TestTypedTooEarly: whoever types a move before the opponent has moved is told so, and keeps it.
func TestTypedTooEarly(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "gomoku"})
	f.play(f.ann, "h8")
	p := f.bob
	p.see(`input[name="move"]`)
	p.press("/", 191)
	p.await(focused + ` === "move"`)
	p.write("j9")
	p.enter()
	p.await(plies + ` === 2`)
	p.await(`document.querySelector('input[name="move"]').value === ""`)
	p.write("a1")
	p.enter()
	p.await(notes("It is not your turn."))
	f.play(f.ann, "k8")
	p.see(mayMove)
	p.enter()
	p.await(plies + ` === 4`)
	p.await(`document.querySelector('[data-ply="4"]').textContent === "a1"`)
}

// TestFocusOfRedrawn: a button that is redrawn keeps the focus.
func TestFocusOfRedrawn(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "typist", desktop, w.at)
	has := func(name string) {
		t.Helper()
		p.await(`document.activeElement.dataset.act === ` + quote(name))
	}
	p.begin("gomoku")
	p.move("h8")
	p.see(mayMove)
	eval[any](p.tab, `void (window.old = document.querySelector('[data-act="account"]')).focus()`)
	p.enter()
	p.see(act("rename"))
	eval[any](p.tab, `void (document.querySelector('dialog [name="name"]').value = "Zoë")`)
	p.tap(act("rename"))
	p.await(`!document.querySelector("dialog") && !old.isConnected && document.querySelector('[data-act="account"]')`)
	has("account")

	eval[any](p.tab, `void document.querySelector('[data-act="resign"]').focus()`)
	p.enter()
	p.see(act("yes-resign"))
	p.press("Tab", 9)
	p.enter()
	p.see(act("rematch"))
	has("rematch") // it stands first now
	p.tap(act("review"))
	p.see(act("onward"))
	eval[any](p.tab, `void (window.old = document.querySelector('[data-act="onward"]')).focus()`)
	p.await(`!old.isConnected || document.querySelector(".review").dataset.complete === "true"`)
	p.see(`.review[data-complete="true"]`)
	has("onward")
}

// TestFocusOfOffers: who declines an offer by keyboard is not led to the button of another one,
// which the next press of Enter would accept.
func TestFocusOfOffers(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "gomoku"})
	f.ann.move("h8")
	f.bob.move("h9")
	f.ann.see(mayMove)
	f.bob.tap(act("draw"))
	f.bob.tap(act("yes-draw"))
	f.ann.see(act("draw-decline"))
	f.bob.tap(act("takeback"))
	gametest.Eventually(t, "both are offered", func() bool {
		e := f.watched.of(f.game)
		return e.DrawBy != nil && e.TakebackBy != nil
	})
	eval[any](f.ann, `void document.querySelector('[data-act="draw-decline"]').focus()`)
	f.ann.enter()
	f.ann.see(act("takeback-accept"))
	onBoard := func() {
		t.Helper()
		if got := eval[string](f.ann, `document.activeElement.className`); got != "board-point" {
			t.Errorf("the focus has gone to %q", got)
		}
	}
	onBoard()
	eval[any](f.ann, `void document.querySelector('[data-act="takeback-decline"]').focus()`)
	f.ann.enter()
	f.ann.await(`document.querySelector(".offered").hidden`)
	onBoard()
}

// TestFocusOfRetry: trying mistakes again leads the focus to the heading of each task, and back
// to that of the review.
func TestFocusOfRetry(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "learner", desktop, w.at)
	at := func(heading string) {
		t.Helper()
		p.await(`document.activeElement === document.querySelector(` + quote(heading) + `)`)
	}
	press := func(name string) {
		t.Helper()
		p.see(act(name))
		eval[any](p.tab, `void document.querySelector('[data-act="`+name+`"]').focus()`)
		p.enter()
	}
	p.begin("xiangqi")
	p.move("h2h9") // loses a cannon
	p.resignToReview()
	press("retry")
	p.see(`[data-retry-state="ask"]`)
	at(".retry h2")
	press("next")
	p.see(`[data-retry-state="end"]`)
	at(".retry h2")
	press("retry-close")
	p.await(`!document.querySelector("[data-retry-state]")`)
	at(".review h1")
}

// TestFocusInList: a move leaves the focus in the list of moves where it is.
func TestFocusInList(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "reader", desktop, w.at)
	p.begin("gomoku")
	p.move("h8")
	p.see(mayMove)
	other := p.newTab("reader 2")
	other.open(p.path())
	other.connected()
	eval[any](p.tab, `void document.querySelector('[data-ply="1"]').focus()`)
	other.move("a1")
	p.await(plies + ` >= 3`)
	if got := eval[string](p.tab, `document.activeElement.dataset.ply ?? ""`); got != "1" {
		t.Errorf("the focus has gone to the move %q", got)
	}
}

// TestSkipLink: the link past the head of the page leads to the screen as it is.
func TestSkipLink(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "typist", desktop, w.at)
	p.begin("gomoku")
	p.move("h8")
	p.see(mayMove)
	eval[any](p.tab, `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "Home", bubbles: true, cancelable: true}))`)
	p.await(`location.pathname.endsWith("/0")`)
	eval[any](p.tab, `void document.querySelector(".skip").click()`)
	if at := eval[string](p.tab, `document.activeElement.id + " " + location.hash`); at != "app " {
		t.Errorf("the link leads to %q", at)
	}
}

// TestHighContrast: in the colours of a system with high contrast it is seen what is chosen,
// and whose clock runs.
func TestHighContrast(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "reader", desktop, w.at)
	call(p.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}})
	differ := func(a, b string) {
		t.Helper()
		p.see(a)
		p.see(b)
		colour := func(selector string) string {
			return eval[string](p.tab, `getComputedStyle(document.querySelector(`+quote(selector)+`)).backgroundColor`)
		}
		if x, y := colour(a), colour(b); x == y {
			t.Errorf("%s and %s are both %s", a, b, x)
		}
	}
	p.open("/")
	differ(`[data-choose="xiangqi"]`, `[data-choose="gomoku"]`)
	differ(`[data-level="3"]`, `[data-level="4"]`)
	p.begin("xiangqi")
	p.move("h2e2")
	p.see(mayMove)
	differ(`[data-clock="first"]`, `[data-clock="second"]`)
	differ(`[data-ply="2"]`, `[data-ply="1"]`)
}

// TestWithdrawByKeyboard: who withdraws one of two open invitations by keyboard withdraws that
// one, however often the key is pressed, and Tab goes on from there.
func TestWithdrawByKeyboard(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "host", desktop, w.at)
	for range 2 {
		p.setUp(setup{game: "gomoku"})
		p.tapUntil(act("invite"), visible(`input[data-link]`))
	}
	p.open("/")
	const waiting = `document.querySelectorAll("[data-waiting]")`
	p.await(waiting + `.length === 2`)
	kept := eval[string](p.tab, waiting+`[1].dataset.waiting`)
	eval[any](p.tab, `void `+waiting+`[0].querySelector('[data-act="withdraw"]').focus()`)
	p.enter()
	p.enter() // since it takes a moment
	p.await(waiting + `.length === 1`)
	p.enter()
	p.press("Tab", 9)
	if got := eval[string](p.tab, `document.activeElement.closest("[data-waiting]")?.dataset.waiting ?? document.activeElement.outerHTML`); got != kept {
		t.Errorf("Tab leads to %s", got)
	}
	if got := eval[string](p.tab, waiting+`[0]?.dataset.waiting ?? ""`); got != kept {
		t.Errorf("%q is left, not %q", got, kept)
	}
}
