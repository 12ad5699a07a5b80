package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"sparring/game/gametest"
)

// device is what somebody looks at.
type device struct {
	width, height int64
	touch         bool
}

var (
	phone   = device{width: 360, height: 640, touch: true}
	desktop = device{width: 1280, height: 800}
)

// person is somebody with a browser of their own: a browser context, whose tabs share
// cookies.
type person struct {
	*tab
}

// tab is a tab of a person's browser.
type tab struct {
	t      testing.TB
	name   string
	device device
	origin string
	ctx    context.Context

	mu     sync.Mutex
	errors []string // exceptions, and errors on the console
}

// newPerson opens a browser for somebody who has not been to the page at an address
// before.
func newPerson(t testing.TB, name string, d device, at string) *person {
	t.Helper()
	return &person{newTab(t, browser.open(t), name, d, "http://"+at, chromedp.WithNewBrowserContext())}
}

// newTab opens another tab of the person.
func (p *person) newTab(name string) *tab {
	p.t.Helper()
	return newTab(p.t, p.ctx, name, p.device, p.origin)
}

func newTab(t testing.TB, parent context.Context, name string, d device, origin string, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	p := &tab{t: t, name: name, device: d, origin: origin, ctx: ctx}
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		cancel()
		t.Fatalf("%s: no tab: %v", name, err)
	}
	t.Cleanup(func() {
		p.look()
		cancel()
	})
	call(p, runtime.Enable, cdp.Empty{})
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: noting})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: d.width, Height: d.height, DeviceScaleFactor: 1, Mobile: d.touch})
	if d.touch {
		call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 1})
	}
	return p
}

// noting keeps what passes before a slow machine looks: in said what the page has spoken, and
// noted(pattern) says whether it has shown a note that matches, since the one that the last
// call found.
const noting = `{
	const notes = [];
	window.said = [];
	window.noted = (pattern) => notes.splice(0, notes.findIndex((text) => pattern.test(text)) + 1).length > 0;
	new MutationObserver((changes) => {
		for (const c of changes) {
			if (c.target.dataset?.live) said.push(c.target.textContent);
			for (const n of c.addedNodes) if (n.dataset?.note !== undefined) notes.push(n.textContent);
		}
	}).observe(document, { childList: true, subtree: true });
}`

// listen notes what goes wrong in the page's scripts.
func (p *tab) listen(event any) {
	var text string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.ConsoleAPICalledTypeError && e.Type != runtime.ConsoleAPICalledTypeAssert {
			return
		}
		for _, a := range e.Args {
			text += string(a.Value) + a.Description + " "
		}
	default:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, text)
}

// look fails the test if a script has failed and, after a failure, saves what the
// person sees.
func (p *tab) look() {
	p.mu.Lock()
	for _, text := range p.errors {
		p.t.Errorf("%s: error in the page: %s", p.name, text)
	}
	p.mu.Unlock()
	if !p.t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.documentElement.outerHTML`))
	var shot []byte
	if err == nil {
		shot, err = chromedp.Run(ctx, chromedp.CaptureScreenshot())
	}
	if err != nil {
		p.t.Logf("%s: no screenshot: %v", p.name, err)
		return
	}
	dir, err := os.MkdirTemp("", "sparring-failed-")
	if err != nil {
		p.t.Log(err)
		return
	}
	for name, data := range map[string][]byte{p.name + ".png": shot, p.name + ".html": []byte(text)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			p.t.Log(err)
		}
	}
	p.t.Logf("%s sees %s", p.name, filepath.Join(dir, p.name+".png"))
}

// run runs an action in the tab.
func run[T any](p *tab, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, gametest.Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	return v
}

// call sends a command of the DevTools protocol.
func call[P, R any](p *tab, c cdp.Command[P, R], params P) R {
	p.t.Helper()
	return run(p, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) })
}

// open goes to a path of the page.
func (p *tab) open(path string) {
	p.t.Helper()
	run(p, chromedp.Navigate(p.origin+path))
}

// path returns the path of the page that is open.
func (p *tab) path() string {
	p.t.Helper()
	return eval[string](p, `location.pathname`)
}

// eval returns the value of an expression in the page.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	return run(p, chromedp.Evaluate[T](expression))
}

// quote writes a text as a literal of JavaScript.
func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // unreachable: a string
	}
	return string(data)
}

// await waits until an expression in the page is true.
func (p *tab) await(expression string) {
	p.t.Helper()
	poll(p, `!!(`+expression+`)`, func(holds bool) bool { return holds })
}

// poll waits until ok accepts the value of an expression in the page, and returns it.
func poll[T any](p *tab, expression string, ok func(T) bool) (value T) {
	p.t.Helper()
	told := ""
	gametest.Eventually(p.t, p.name+": "+expression, func() bool {
		ctx, cancel := context.WithTimeout(p.ctx, gametest.Patience)
		defer cancel()
		var err error
		value, err = chromedp.Run(ctx, chromedp.Evaluate[T](expression))
		if p.ctx.Err() != nil {
			p.t.Fatalf("%s: the tab has gone: %s (%v)", p.name, expression, err)
		}
		if err != nil && err.Error() != told { // as while another page comes
			told = err.Error()
			p.t.Logf("%s: %v", p.name, err)
		}
		return err == nil && ok(value)
	})
	return value
}

// see waits until an element that matches a selector is visible.
func (p *tab) see(selector string) {
	p.t.Helper()
	p.await(visible(selector))
}

// sees reports whether an element that matches is visible now.
func (p *tab) sees(selector string) bool {
	p.t.Helper()
	return eval[bool](p, visible(selector))
}

// visible is an expression: whether a visible element matches the selector.
func visible(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].some(e => e.checkVisibility({visibilityProperty: true}))`, quote(selector))
}

// act is the selector of a button that does something.
func act(name string) string { return fmt.Sprintf(`[data-act=%q]:not([disabled])`, name) }

// tap taps or clicks the middle of the first visible element that matches, as a
// finger or a mouse does: what lies above it gets the tap.
func (p *tab) tap(selector string) {
	p.t.Helper()
	at := poll(p, middle(selector), func(at []float64) bool { return len(at) == 2 })
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
	})()`, quote(selector))
}

func (p *tab) tapAt(x, y float64) {
	p.t.Helper()
	if !p.device.touch {
		run(p, chromedp.MouseClickXY(x, y))
		return
	}
	call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}}})
	call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
}

// connected waits until the page's socket is open.
func (p *tab) connected() {
	p.t.Helper()
	p.await(`document.documentElement.dataset.state === "connected"`)
}

// root returns a data attribute of the page's root, as "turn" or "result".
func (p *tab) root(name string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.documentElement.dataset[%s] ?? ""`, quote(name)))
}

// conditions are those of the browser's network, in bytes a second and milliseconds;
// -1 bytes are unlimited.
type conditions struct {
	Offline  bool    `json:"offline"`
	Latency  float64 `json:"latency"`
	Download float64 `json:"downloadThroughput"`
	Upload   float64 `json:"uploadThroughput"`
}

// emulateNetwork is the command of Debian's chromium. Later versions have
// network.EmulateNetworkConditionsByRule, too.
var emulateNetwork = cdp.Command[conditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// offline takes the browser's network away, or gives it back. The page is told, as on
// a phone in a tunnel.
func (p *tab) offline(off bool) {
	p.t.Helper()
	call(p, emulateNetwork, conditions{Offline: off, Download: -1, Upload: -1})
	p.await(fmt.Sprintf(`navigator.onLine === %t`, !off)) // it takes effect a little later
}

// slow makes the processor slower by a factor.
func (p *tab) slow(factor float64) {
	p.t.Helper()
	call(p, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: factor})
}

// freeze hides the tab and stops its scripts and timers, as a phone does in a pocket.
func (p *tab) freeze() {
	p.t.Helper()
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{})
	call(p, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateFrozen})
}

// thaw lets a frozen tab go on, and shows it.
func (p *tab) thaw() {
	p.t.Helper()
	call(p, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateActive})
	// Thawing alone leaves the tab hidden.
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.await(`document.visibilityState === "visible"`)
}

// forgive drops the errors of the page's scripts that contain a text, where a test
// provokes them.
func (p *tab) forgive(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = slices.DeleteFunc(p.errors, func(e string) bool { return strings.Contains(e, text) })
}

// set gives a field of a form a value, as choosing it does.
func (p *tab) set(selector, value string) {
	p.t.Helper()
	p.await(fmt.Sprintf(`document.querySelector(%s)`, quote(selector)))
	eval[any](p, fmt.Sprintf(`(() => {
		const e = document.querySelector(%s);
		if (e.type === "checkbox") e.checked = %[2]s === "true"; else e.value = %[2]s;
		e.dispatchEvent(new Event("input", {bubbles: true}));
		e.dispatchEvent(new Event("change", {bubbles: true}));
		return null;
	})()`, quote(selector), quote(value)))
}
