package network

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"sparring/arena/web/browser"
)

// specimen is a page with a button under a finger, a clock, and a socket that
// answers.
const specimen = `<!DOCTYPE html>
<html lang="en" data-state="connecting" data-taps="0">
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>specimen</title>
<body style="height: 3000px">
<button data-act="hidden" style="display: none">hidden</button>
<button data-act="tap" style="margin-top: 2000px; width: 100px; height: 44px">tap</button>
<script>
const root = document.documentElement.dataset;
document.querySelector("[data-act=tap]").addEventListener("click", e => { root.taps++; root.pointer = e.pointerType; });
let ticks = 0;
setInterval(() => ticks++, 10);
const socket = new WebSocket("ws://" + location.host + "/ws");
socket.onopen = () => root.state = "connected";
socket.onclose = () => root.state = "lost";
socket.onmessage = m => root.answer = m.data;
addEventListener("offline", () => root.network = "off");
addEventListener("online", () => root.network = "on");
</script>`

// serveSpecimen serves the specimen and returns its address.
func serveSpecimen(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/favicon.ico", http.NotFoundHandler())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "path", Value: strings.Trim(r.URL.Path, "/")})
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, specimen)
	})
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			kind, data, err := c.Read(r.Context())
			if err != nil {
				return
			}
			if c.Write(r.Context(), kind, data) != nil {
				return
			}
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// TestHarness: what these tests do to a browser has the effect that they rely on.
func TestHarness(t *testing.T) {
	t.Parallel()
	at := serveSpecimen(t)
	network := browser.NewWire(t, at)
	for name, d := range map[string]browser.Device{"phone": browser.Phone, "desktop": browser.Desktop} {
		p := browser.NewPerson(t, name, d, network.At)
		p.Open("/" + name)
		p.Connected()
		p.Tap(browser.Act("tap"))
		p.Await(`document.documentElement.dataset.taps === "1"`)
		if got, want := p.Root("pointer"), map[bool]string{true: "touch", false: "mouse"}[d.Touch]; got != want {
			t.Errorf("%s: the tap was one of a %s", name, got)
		}
		if p.Sees(browser.Act("hidden")) {
			t.Errorf("%s sees what is hidden", name)
		}
		if size := browser.Eval[[]int64](p.Tab, `[innerWidth, innerHeight]`); size[0] != d.Width || size[1] != d.Height {
			t.Errorf("%s: a screen of %v", name, size)
		}
		second := p.NewTab(name + " 2")
		second.Open("/second")
		second.Connected()
		if cookie := browser.Eval[string](p.Tab, `document.cookie`); cookie != "path=second" || second.Path() != "/second" {
			t.Errorf("%s: the tabs of a person share no cookies: %s", name, cookie)
		}
	}
	if network.Down.Bytes.Load() < int64(len(specimen)) {
		t.Errorf("%d bytes counted", network.Down.Bytes.Load())
	}
}

// TestHarnessNetwork: a network that is taken away, cut or stalled.
func TestHarnessNetwork(t *testing.T) {
	t.Parallel()
	network := browser.NewWire(t, serveSpecimen(t))
	p := browser.NewPerson(t, "traveller", browser.Phone, network.At)
	p.Open("/")
	p.Connected()
	p.Offline(true)
	p.Await(`document.documentElement.dataset.network === "off"`)
	p.Offline(false)
	p.Await(`document.documentElement.dataset.network === "on"`)

	p.Open("/")
	p.Connected()
	network.Down.Stall(true)
	browser.Eval[any](p.Tab, `void socket.send("hello")`)
	p.Slow(4)
	if p.Root("answer") != "" || p.Root("state") != "connected" {
		t.Errorf("answered through a stalled network: %q, %s", p.Root("answer"), p.Root("state"))
	}
	network.Down.Stall(false)
	p.Await(`document.documentElement.dataset.answer === "hello"`)
	network.SetCut(true)
	p.Await(`document.documentElement.dataset.state === "lost"`)
}

// TestHarnessFreeze: a frozen tab runs no timers.
func TestHarnessFreeze(t *testing.T) {
	t.Parallel()
	p := browser.NewPerson(t, "sleeper", browser.Phone, serveSpecimen(t))
	p.Open("/")
	p.Await(`ticks > 10`)
	p.Freeze()
	frozen := browser.Eval[int](p.Tab, `ticks`)
	other := p.NewTab("other") // time passes
	other.Open("/")
	other.Await(`ticks > 20`)
	if now := browser.Eval[int](p.Tab, `ticks`); now > frozen+1 {
		t.Errorf("%d ticks in a frozen tab", now-frozen)
	}
	p.Thaw()
	p.Await(`ticks > 50`)
	browser.Eval[any](p.Tab, `void console.error("provoked")`)
	p.Await(`true`)
	p.Forgive("provoked")
}
