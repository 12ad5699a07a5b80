package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
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
	network := newWire(t, at)
	for name, d := range map[string]device{"phone": phone, "desktop": desktop} {
		p := newPerson(t, name, d, network.at)
		p.open("/" + name)
		p.connected()
		p.tap(act("tap"))
		p.await(`document.documentElement.dataset.taps === "1"`)
		if got, want := p.root("pointer"), map[bool]string{true: "touch", false: "mouse"}[d.touch]; got != want {
			t.Errorf("%s: the tap was one of a %s", name, got)
		}
		if p.sees(act("hidden")) {
			t.Errorf("%s sees what is hidden", name)
		}
		if size := eval[[]int64](p.tab, `[innerWidth, innerHeight]`); size[0] != d.width || size[1] != d.height {
			t.Errorf("%s: a screen of %v", name, size)
		}
		second := p.newTab(name + " 2")
		second.open("/second")
		second.connected()
		if cookie := eval[string](p.tab, `document.cookie`); cookie != "path=second" || second.path() != "/second" {
			t.Errorf("%s: the tabs of a person share no cookies: %s", name, cookie)
		}
	}
	if network.down.bytes.Load() < int64(len(specimen)) {
		t.Errorf("%d bytes counted", network.down.bytes.Load())
	}
}

// TestHarnessNetwork: a network that is taken away, cut or stalled.
func TestHarnessNetwork(t *testing.T) {
	t.Parallel()
	network := newWire(t, serveSpecimen(t))
	p := newPerson(t, "traveller", phone, network.at)
	p.open("/")
	p.connected()
	p.offline(true)
	p.await(`document.documentElement.dataset.network === "off"`)
	p.offline(false)
	p.await(`document.documentElement.dataset.network === "on"`)

	p.open("/")
	p.connected()
	network.down.stall(true)
	eval[any](p.tab, `void socket.send("hello")`)
	p.slow(4)
	if p.root("answer") != "" || p.root("state") != "connected" {
		t.Errorf("answered through a stalled network: %q, %s", p.root("answer"), p.root("state"))
	}
	network.down.stall(false)
	p.await(`document.documentElement.dataset.answer === "hello"`)
	network.setCut(true)
	p.await(`document.documentElement.dataset.state === "lost"`)
}

// TestHarnessFreeze: a frozen tab runs no timers.
func TestHarnessFreeze(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "sleeper", phone, serveSpecimen(t))
	p.open("/")
	p.await(`ticks > 10`)
	p.freeze()
	frozen := eval[int](p.tab, `ticks`)
	other := p.newTab("other") // time passes
	other.open("/")
	other.await(`ticks > 20`)
	if now := eval[int](p.tab, `ticks`); now > frozen+1 {
		t.Errorf("%d ticks in a frozen tab", now-frozen)
	}
	p.thaw()
	p.await(`ticks > 50`)
	eval[any](p.tab, `void console.error("provoked")`)
	p.await(`true`)
	p.forgive("provoked")
}
