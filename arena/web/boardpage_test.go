package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/screen/static"
	"sparring/screen/view"
)

// boardPage is a page of a browser with one board on it (testdata/board.html).
type boardPage struct {
	testing.TB
	ctx context.Context
}

// openBoard opens a page with a board. The query has the board's options.
func openBoard(t testing.TB, width, height int64, query string) *boardPage {
	t.Helper()
	p := openTab(t, width, height)
	mux := http.NewServeMux()
	mux.Handle("/static/", http.StripPrefix("/static/", http.FileServerFS(static.Files)))
	mux.Handle("/testdata/", http.FileServerFS(os.DirFS(".")))
	mux.HandleFunc("/view", serveView)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.do(chromedp.Navigate(srv.URL + "/testdata/board.html?" + query))
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool]("window.ready")); err != nil {
		t.Fatal(err)
	}
	return p
}

// openTab starts a browser with an empty tab.
func openTab(t testing.TB, width, height int64) *boardPage {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	browser := arenatest.Chromium()
	if browser == "" {
		t.Skip(arenatest.NoChromium)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	t.Cleanup(cancel)
	ctx, cancelBrowser := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancelBrowser)
	ctx, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(cancelTab)
	p := &boardPage{t, ctx}
	p.resize(width, height)
	return p
}

// serveView describes the position after some moves.
func serveView(w http.ResponseWriter, r *http.Request) {
	v, err := viewAfter(r.FormValue("rules"), r.FormValue("position"), strings.Fields(r.FormValue("moves")))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(v)
}

func viewAfter(rules, position string, moves []string) (*view.View, error) {
	set, err := catalog.Rules(rules)
	if err != nil {
		return nil, err
	}
	p, err := game.Replay(set, position, moves)
	if err != nil {
		return nil, err
	}
	return view.Of(p)
}

// command runs a command of the browser.
func command[P, R any](p *boardPage, method cdp.Command[P, R], params P) {
	p.Helper()
	if _, err := chromedp.Call(p.ctx, method, params); err != nil {
		p.Fatal(err)
	}
}

func (p *boardPage) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// resize sets the size of the screen; a narrow one is that of a phone.
func (p *boardPage) resize(width, height int64) {
	p.Helper()
	command(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500,
	})
	command(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: width < 500, MaxTouchPoints: 2})
}

// value evaluates an expression, which may be a promise.
func value[T any](p *boardPage, expression string) T {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// js runs a statement, and waits if it returns a promise.
func (p *boardPage) js(statement string) {
	p.Helper()
	value[chromedp.Void](p, statement)
}

// show draws a position.
func (p *boardPage) show(rules, moves, position string) {
	p.Helper()
	p.js(fmt.Sprintf("show(%q, %q, %q)", rules, moves, position))
}

// told checks what the board has said since the last check.
func (p *boardPage) told(want ...string) {
	p.Helper()
	// Events of pointers arrive with the next frame.
	p.js("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
	got := value[[]string](p, "told.splice(0)")
	for end := time.Now().Add(patience / 10); len(got) < len(want) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		got = append(got, value[[]string](p, "told.splice(0)")...)
	}
	if !slices.Equal(got, want) {
		p.Errorf("the board said %q, want %q", got, want)
	}
	if missing := value[[]string](p, "missing"); len(missing) > 0 {
		p.Errorf("missing texts: %q", missing)
	}
}

// is checks the value of an expression, once the page has settled.
func (p *boardPage) is(expression string, want string) {
	p.Helper()
	got := fmt.Sprint(value[any](p, expression))
	for end := time.Now().Add(patience / 10); got != want && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		got = fmt.Sprint(value[any](p, expression))
	}
	if got != want {
		p.Errorf("%s is %v, want %s", expression, got, want)
	}
}

// at returns the middle of a point on the screen.
func (p *boardPage) at(point string) (x, y float64) {
	p.Helper()
	r := value[struct{ X, Y, Width, Height float64 }](p, fmt.Sprintf("document.querySelector('[data-point=%q]').getBoundingClientRect().toJSON()", point))
	return r.X + r.Width/2, r.Y + r.Height/2
}

// fingers moves fingers: down to points, along, or up.
func (p *boardPage) fingers(kind input.DispatchTouchEventType, points ...string) {
	p.Helper()
	fingers := []*input.TouchPoint{}
	for i, point := range points {
		x, y := p.at(point)
		id := float64(i)
		fingers = append(fingers, &input.TouchPoint{X: x, Y: y, ID: &id})
	}
	command(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: fingers})
}

func (p *boardPage) down(point string) {
	p.Helper()
	p.fingers(input.DispatchTouchEventTypeTouchStart, point)
}

func (p *boardPage) along(point string) {
	p.Helper()
	p.fingers(input.DispatchTouchEventTypeTouchMove, point)
}

func (p *boardPage) up() {
	p.Helper()
	p.fingers(input.DispatchTouchEventTypeTouchEnd)
}

// tap touches points with a finger, one after the other.
func (p *boardPage) tap(points ...string) {
	p.Helper()
	for _, point := range points {
		p.down(point)
		p.up()
	}
}

// press presses a button of the board.
func (p *boardPage) press(act string) {
	p.Helper()
	p.do(chromedp.Click(fmt.Sprintf("[data-act=%q]", act)))
}
