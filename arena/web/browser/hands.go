package browser

import (
	"fmt"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"time"
)

// Press presses a key that the browser itself knows, by its code of Windows.
func (p *Tab) Press(key string, code int64) {
	p.T.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		Call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: key, WindowsVirtualKeyCode: code})
	}
}

// Enter presses Enter, which a link takes as a character.
func (p *Tab) Enter() {
	p.T.Helper()
	Call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, Text: "\r"})
	Call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13})
}

// HoldSpace presses Space; release ends that.
func (p *Tab) HoldSpace() (release func()) {
	p.T.Helper()
	space := func(kind input.DispatchKeyEventType) {
		p.T.Helper()
		Call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: " ", Code: "Space", WindowsVirtualKeyCode: 32})
	}
	space(input.DispatchKeyEventTypeRawKeyDown)
	lasts := p.keepPressed()
	return func() {
		p.T.Helper()
		lasts()
		space(input.DispatchKeyEventTypeKeyUp)
	}
}

// Write types a text, letter by letter.
func (p *Tab) Write(text string) {
	p.T.Helper()
	for _, letter := range text {
		Call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(letter), Text: string(letter)})
		Call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: string(letter)})
	}
}

// Hold presses the mouse on the first visible element that matches; release ends that.
func (p *Tab) Hold(selector string) (release func()) {
	p.T.Helper()
	at := Poll(p, middle(selector), func(at []float64) bool { return len(at) == 2 })
	mouse := func(kind input.DispatchMouseEventType, buttons int64) {
		p.T.Helper()
		Call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Button: input.MouseButtonLeft, Buttons: buttons, ClickCount: 1})
	}
	mouse(input.DispatchMouseEventTypeMousePressed, 1)
	lasts := p.keepPressed()
	return func() {
		p.T.Helper()
		lasts()
		mouse(input.DispatchMouseEventTypeMouseReleased, 0)
	}
}

// keepPressed makes a press last, until ends is called, however slow the machine is: the page
// takes it for over after five seconds, in which a review may not get far.
func (p *Tab) keepPressed() (ends func()) {
	p.T.Helper()
	Eval[any](p, `void (window.pressing = setInterval(() => dispatchEvent(new Event("pointerdown")), 1000))`)
	return func() {
		p.T.Helper()
		Eval[any](p, `clearInterval(pressing)`)
	}
}

// TapTwice taps twice before the first tap can have had an effect, as on a slow connection.
func (p *Tab) TapTwice(selector string) {
	p.T.Helper()
	p.See(selector)
	Eval[any](p, `(e => (e.click(), e.click(), null))(document.querySelector(`+Quote(selector)+`))`)
}

// Drag presses the mouse at a place and releases it at another.
func (p *Tab) Drag(from, to [2]float64) {
	p.T.Helper()
	for _, e := range []struct {
		kind    input.DispatchMouseEventType
		at      [2]float64
		buttons int64
	}{{input.DispatchMouseEventTypeMousePressed, from, 1}, {input.DispatchMouseEventTypeMouseMoved, to, 1}, {input.DispatchMouseEventTypeMouseReleased, to, 0}} {
		Call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: e.kind, X: e.at[0], Y: e.at[1], Button: input.MouseButtonLeft, Buttons: e.buttons, ClickCount: 1})
	}
}

// Choice chooses an option of a list, as a person does who opens it.
func (p *Tab) Choice(selector, value string) {
	p.T.Helper()
	Eval[bool](p, fmt.Sprintf(`(() => { const e = document.querySelector(%s); e.value = %s; return e.dispatchEvent(new Event("change", {bubbles: true})); })()`, Quote(selector), Quote(value)))
}

// TapAway taps what is gone then.
func (p *Tab) TapAway(selector string) {
	p.T.Helper()
	p.TapUntil(selector, "!"+Visible(selector))
}

// TapUntil taps until an expression is true: again, if a tap has had no effect because
// news moved the button under it, or because the connection was lost.
func (p *Tab) TapUntil(selector, expression string) {
	p.T.Helper()
	p.Tap(selector)
	tapped := time.Now()
	Poll(p, "!!("+expression+")", func(done bool) bool {
		if !done && time.Since(tapped) > tapAgain {
			if at := Eval[[]float64](p, middle(selector)); len(at) == 2 {
				p.tapAt(at[0], at[1])
			}
			tapped = time.Now()
		}
		return done
	})
}

// tapAgain is how long a person waits for the effect of a tap before another one.
const tapAgain = 5 * time.Second

// Tap taps or clicks the middle of the first visible element that matches, as a
// finger or a mouse does: what lies above it gets the tap.
func (p *Tab) Tap(selector string) {
	p.T.Helper()
	at := Poll(p, middle(selector), func(at []float64) bool { return len(at) == 2 })
	p.tapAt(at[0], at[1])
}

// middle is an expression: the middle of the first visible element that matches, in
// sight; [] while none takes taps. New buttons ignore those that were meant for what
// stood there before.
func middle(selector string) string {
	return fmt.Sprintf(`(() => {
		const e = [...document.querySelectorAll(%s)].find(e => e.checkVisibility({visibilityProperty: true}));
		if (!e || e.closest("[data-fresh]")) return [];
		let r = e.getBoundingClientRect();
		if (r.top < 0 || r.bottom > innerHeight) { e.scrollIntoView({block: "center", behavior: "instant"}); r = e.getBoundingClientRect(); }
		return [r.left + r.width / 2, r.top + r.height / 2];
	})()`, Quote(selector))
}

func (p *Tab) tapAt(x, y float64) {
	p.T.Helper()
	if !p.Device.Touch {
		Run(p, chromedp.MouseClickXY(x, y))
		return
	}
	Call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}}})
	Call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
}

// Set gives a field of a form a value, as choosing it does.
func (p *Tab) Set(selector, value string) {
	p.T.Helper()
	p.Await(fmt.Sprintf(`document.querySelector(%s)`, Quote(selector)))
	Eval[any](p, fmt.Sprintf(`(() => {
		const e = document.querySelector(%s);
		if (e.type === "checkbox") e.checked = %[2]s === "true"; else e.value = %[2]s;
		e.dispatchEvent(new Event("input", {bubbles: true}));
		e.dispatchEvent(new Event("change", {bubbles: true}));
		return null;
	})()`, Quote(selector), Quote(value)))
}
