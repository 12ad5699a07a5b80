package browser

import (
	"fmt"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"testing"
)

// Resize gives the tab another size.
func (p *Tab) Resize(width, height int64) {
	p.T.Helper()
	Call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: p.Device.Touch})
}

// setBlockedURLs is the command of Debian's chromium. Later versions have network.SetBlockedURLs.
var setBlockedURLs = cdp.Command[struct {
	URLs []string `json:"urls"`
}, cdp.Empty]{Method: "Network.setBlockedURLs"}

// Block keeps the browser from loading addresses that match a pattern, and from no others any more.
func (p *Tab) Block(patterns ...string) {
	p.T.Helper()
	Call(p, network.Enable, network.EnableParams{})
	Call(p, setBlockedURLs, struct {
		URLs []string `json:"urls"`
	}{append([]string{}, patterns...)})
}

// Outdate lets the page look twice, in a while, at whether its files have changed: they have, as
// by a restart of the server. The page's person touches nothing meanwhile.
func (p *Person) Outdate(network *Wire) {
	p.T.Helper()
	network.SetCut(true)
	p.Await(State + ` === "lost"`)
	Eval[any](p.Tab, `void (window.newer = true)`)
	network.SetCut(false)
	p.Connected()
	Eval[any](p.Tab, `void (looked = 0)`)
	p.Await(`looked === 2 || !window.newer`)
}

// NewOutdated opens a browser for outdate.
func NewOutdated(t *testing.T, name string, at string) *Person {
	t.Helper()
	p := NewPerson(t, name, Phone, at)
	p.Before(`{
		const parse = JSON.parse, now = performance.now.bind(performance), every = setInterval;
		window.looked = 0;
		JSON.parse = (text) => { const m = parse(text); if (m?.t === "welcome" && window.newer) m.version = "newer"; return m; };
		performance.now = () => now() + (window.newer ? 60e3 : 0);
		window.setInterval = (f, ms) => every(ms === 5000 ? () => (f(), looked++) : f, ms);
	}`)
	return p
}

// Conditions are those of the browser's network, in bytes a second and milliseconds;
// -1 bytes are unlimited.
type Conditions struct {
	Offline  bool    `json:"offline"`
	Latency  float64 `json:"latency"`
	Download float64 `json:"downloadThroughput"`
	Upload   float64 `json:"uploadThroughput"`
}

// EmulateNetwork is the command of Debian's chromium. Later versions have
// network.EmulateNetworkConditionsByRule, too.
var EmulateNetwork = cdp.Command[Conditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// Offline takes the browser's network away, or gives it back. The page is told, as on
// a phone in a tunnel.
func (p *Tab) Offline(off bool) {
	p.T.Helper()
	Call(p, network.Enable, network.EnableParams{})
	Call(p, EmulateNetwork, Conditions{Offline: off, Download: -1, Upload: -1})
	p.Await(fmt.Sprintf(`navigator.onLine === %t`, !off)) // it takes effect a little later
}

// TextSize makes the browser's text as large as its person has chosen, in pixels.
func (p *Person) TextSize(size int64) {
	p.Spoil()
	p.T.Helper()
	Call(p.Tab, page.SetFontSizes, page.SetFontSizesParams{FontSizes: &page.FontSizes{Standard: size, Fixed: size * 5 / 6}})
}

// Slow makes the processor slower by a factor.
func (p *Person) Slow(factor float64) {
	p.Spoil()
	p.T.Helper()
	Call(p.Tab, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: factor})
}

// Freeze hides the tab and stops its scripts and timers, as a phone does in a pocket.
func (p *Person) Freeze() {
	p.Spoil()
	p.T.Helper()
	Call(p.Tab, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{})
	Call(p.Tab, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateFrozen})
}

// Thaw lets a frozen tab go on, and shows it.
func (p *Person) Thaw() {
	p.T.Helper()
	Call(p.Tab, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateActive})
	// Thawing alone leaves the tab hidden.
	Call(p.Tab, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.Await(`document.visibilityState === "visible"`)
}

// Saving is what makes a page load nothing ahead: its visitor wants to save data.
const Saving = `Object.defineProperty(navigator, "connection", { value: { saveData: true } });`

// LetGo lets the page have what was kept back, and waits until it has it.
func (p *Tab) LetGo() {
	p.T.Helper()
	Eval[any](p, `release()`)
	for range 2 { // the answer to one question may lead to another
		p.Await(`asking === 0`)
		Eval[any](p, `void (window.later = false, fetch("/api/games").then(a => a.text()).then(() => later = true))`)
		p.Await(`later`)
	}
}

// Before runs a script in each page that the tab opens, before the page's own.
func (p *Tab) Before(script string) {
	p.T.Helper()
	Call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// Refuse makes pages that are opened from now on get the answer unavailable to their first
// request of a kind, as while the platform can't read or store anything.
func (p *Tab) Refuse(kind string) {
	p.T.Helper()
	Call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(`(() => {
		let left = 1;
		window.WebSocket = class extends WebSocket {
			send(data) {
				const m = JSON.parse(data);
				if (m.t !== %s || left-- <= 0) return super.send(data);
				setTimeout(() => this.onmessage?.({ data: JSON.stringify({ t: "answer", id: m.id, code: "unavailable" }) }));
			}
		};
	})()`, Quote(kind))})
}
