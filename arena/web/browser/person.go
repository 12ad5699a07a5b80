package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"os"
	"path/filepath"
	"slices"
	"sparring/game/gametest"
	"sparring/protocol"
	"strings"
	"sync"
	"testing"
	"time"
)

// Device is what somebody looks at.
type Device struct {
	Width, Height int64
	Touch         bool
}

var (
	Phone   = Device{Width: 360, Height: 640, Touch: true}
	Desktop = Device{Width: 1280, Height: 800}
)

// Person is somebody with a browser of their own: a browser context, whose tabs share
// cookies.
type Person struct {
	*Tab
	seat *seat
}

// Tab is a tab of a person's browser.
type Tab struct {
	T       testing.TB
	Name    string
	Device  Device
	Origin  string
	ctx     context.Context
	close   context.CancelFunc
	origins map[string]bool // the person's

	mu     sync.Mutex
	errors []string // exceptions, and errors on the console
}

// NewPerson opens a browser for somebody who has not been to the page at an address
// before. Files of the page may be in its cache: see [Person.ForgetFiles].
func NewPerson(t testing.TB, name string, d Device, at string) *Person {
	t.Helper()
	p := &Person{seat: takeSeat(browser.open(t))}
	ctx, closes := p.seat.attach()
	p.Tab = &Tab{T: t, Name: name, Device: d, Origin: "http://" + at, ctx: ctx, close: closes, origins: make(map[string]bool)}
	p.prepare()
	if p.seat.context == "" {
		c := chromedp.FromContext(ctx)
		p.seat.context, p.seat.tab = c.BrowserContextID, c.Target.TargetID
	}
	t.Cleanup(func() {
		p.look()
		p.seat.leave(p)
	})
	p.Before(fmt.Sprintf(`try {
		if (sessionStorage.person !== %[1]s) {
			sessionStorage.clear();
			window.name = "";
		}
		sessionStorage.person = %[1]s;
	} catch {}`, Quote(protocol.NewID()))) // a tab keeps it, whoever has the tab
	return p
}

// NewTab opens another tab of the person.
func (p *Person) NewTab(name string) *Tab {
	p.T.Helper()
	ctx, closes := p.seat.another()
	tab := &Tab{T: p.T, Name: name, Device: p.Device, Origin: p.Origin, ctx: ctx, close: closes, origins: p.origins}
	tab.prepare()
	p.T.Cleanup(func() {
		tab.look()
		closes()
	})
	return tab
}

// ForgetFiles empties the browser's cache.
func (p *Person) ForgetFiles() {
	p.T.Helper()
	Call(p.Tab, network.Enable, network.EnableParams{})
	Call(p.Tab, network.ClearBrowserCache, cdp.Empty{})
	Call(p.Tab, network.Disable, cdp.Empty{})
}

// Spoil keeps the person's browser from those who come later: it has what can't be taken back.
func (p *Person) Spoil() { p.seat.spoilt = true }

// Succeeds reports whether somebody has the browser that another person has left.
func (p *Person) Succeeds(before *Person) bool { return p.seat == before.seat }

// prepare makes a tab that of the person's device.
func (p *Tab) prepare() {
	p.T.Helper()
	if err := chromedp.Listen(p.ctx, p.listen); err != nil {
		p.close()
		p.T.Fatalf("%s: no tab: %v", p.Name, err)
	}
	// What chromedp follows, and these tests do not, takes much of the processor's time.
	for _, disable := range []cdp.Command[cdp.Empty, cdp.Empty]{css.Disable, dom.Disable, network.Disable, log.Disable} {
		Call(p, disable, cdp.Empty{})
	}
	Call(p, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{})
	p.Before(noting)
	Call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: p.Device.Width, Height: p.Device.Height, DeviceScaleFactor: 1, Mobile: p.Device.Touch})
	if p.Device.Touch {
		Call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 1})
	}
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
func (p *Tab) listen(event any) {
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
func (p *Tab) look() {
	p.mu.Lock()
	for _, text := range p.errors {
		p.T.Errorf("%s: error in the page: %s", p.Name, text)
	}
	p.mu.Unlock()
	if !p.T.Failed() {
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
		p.T.Logf("%s: no screenshot: %v", p.Name, err)
		return
	}
	dir, err := os.MkdirTemp("", "sparring-failed-")
	if err != nil {
		p.T.Log(err)
		return
	}
	for name, data := range map[string][]byte{p.Name + ".png": shot, p.Name + ".html": []byte(text)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			p.T.Log(err)
		}
	}
	p.T.Logf("%s sees %s", p.Name, filepath.Join(dir, p.Name+".png"))
}

// Run runs an action in the tab.
func Run[T any](p *Tab, action chromedp.Action[T]) T {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, gametest.Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		p.T.Fatalf("%s: %v", p.Name, err)
	}
	return v
}

// Call sends a command of the DevTools protocol.
func Call[P, R any](p *Tab, c cdp.Command[P, R], params P) R {
	p.T.Helper()
	return Run(p, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) })
}

// Open goes to a path of the page, and waits until it is loaded.
func (p *Tab) Open(path string) {
	p.T.Helper()
	p.origins[p.Origin] = true
	p.goTo(p.Origin + path)
}

// Leave goes to a page that is not of the platform.
func (p *Tab) Leave() {
	p.T.Helper()
	p.goTo(browser.empty.URL)
}

func (p *Tab) goTo(address string) {
	p.T.Helper()
	p.startTo(address)
	p.Await(`!window.left && document.readyState === "complete"`)
}

// Start goes to a path of the page, and does not wait until it is loaded.
func (p *Tab) Start(path string) {
	p.T.Helper()
	p.origins[p.Origin] = true
	p.startTo(p.Origin + path)
	p.Await(`!window.left`)
}

func (p *Tab) startTo(address string) {
	p.T.Helper()
	Eval[any](p, `void (window.left = true)`)
	if to := Call(p, page.Navigate, page.NavigateParams{URL: address}); to.ErrorText != "" {
		p.T.Fatalf("%s: %s: %s", p.Name, address, to.ErrorText)
	}
}

// Path returns the path of the page that is open.
func (p *Tab) Path() string {
	p.T.Helper()
	return Eval[string](p, `location.pathname`)
}

// Eval returns the value of an expression in the page.
func Eval[T any](p *Tab, expression string) T {
	p.T.Helper()
	return Run(p, chromedp.Evaluate[T](expression))
}

// Quote writes a text as a literal of JavaScript.
func Quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // unreachable: a string
	}
	return string(data)
}

// Await waits until an expression in the page is true.
func (p *Tab) Await(expression string) {
	p.T.Helper()
	Poll(p, `!!(`+expression+`)`, func(holds bool) bool { return holds })
}

// Poll waits until ok accepts the value of an expression in the page, and returns it.
func Poll[T any](p *Tab, expression string, ok func(T) bool) (value T) {
	p.T.Helper()
	told, pause := "", time.Millisecond
	gametest.Eventually(p.T, p.Name+": "+expression, func() bool {
		time.Sleep(pause - time.Millisecond) // a question takes the processor's time from what is waited for
		pause = min(pause*5/4+time.Millisecond, 100*time.Millisecond)
		ctx, cancel := context.WithTimeout(p.ctx, gametest.Patience)
		defer cancel()
		var err error
		value, err = chromedp.Run(ctx, chromedp.Evaluate[T](expression))
		if p.ctx.Err() != nil {
			p.T.Fatalf("%s: the tab has gone: %s (%v)", p.Name, expression, err)
		}
		if err != nil && err.Error() != told { // as while another page comes
			told = err.Error()
			p.T.Logf("%s: %v", p.Name, err)
		}
		return err == nil && ok(value)
	})
	return value
}

// See waits until an element that matches a selector is visible.
func (p *Tab) See(selector string) {
	p.T.Helper()
	p.Await(Visible(selector))
}

// Sees reports whether an element that matches is visible now.
func (p *Tab) Sees(selector string) bool {
	p.T.Helper()
	return Eval[bool](p, Visible(selector))
}

// Visible is an expression: whether a visible element matches the selector.
func Visible(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].some(e => e.checkVisibility({visibilityProperty: true}))`, Quote(selector))
}

// Act is the selector of a button that does something.
func Act(name string) string { return fmt.Sprintf(`[data-act=%q]:not([disabled])`, name) }

// Connected waits until the page's socket is open.
func (p *Tab) Connected() {
	p.T.Helper()
	p.Await(`document.documentElement.dataset.state === "connected"`)
}

// Root returns a data attribute of the page's root, as "turn" or "result".
func (p *Tab) Root(name string) string {
	p.T.Helper()
	return Eval[string](p, fmt.Sprintf(`document.documentElement.dataset[%s] ?? ""`, Quote(name)))
}

// Forgive drops the errors of the page's scripts that contain a text, where a test
// provokes them.
func (p *Tab) Forgive(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = slices.DeleteFunc(p.errors, func(e string) bool { return strings.Contains(e, text) })
}
