package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"sparring/arena/arenatest"
	"sparring/protocol"
)

// reviewer is a person with a browser, and with a second page that the test moves.
type reviewer struct {
	*boardPage
	url    string
	other  *socketPage
	bot    *bot
	oracle *oracle
}

// openReviewer starts the whole gateway with a bot of level 3, a scripted analyst
// and a browser.
func openReviewer(t *testing.T, width, height int64) *reviewer {
	t.Helper()
	return openReviewerIn(t, openTab(t, width, height))
}

// openReviewerIn is openReviewer in a tab that is open.
func openReviewerIn(t *testing.T, tab *boardPage) *reviewer {
	t.Helper()
	nats := arenatest.StartServer(t, "", "hare")
	h := &house{nats: nats, log: arenatest.Log(t)}
	h.Server = h.open(t, Config{})
	h.run(t)
	srv := httptest.NewServer(h.Handler())
	t.Cleanup(srv.Close)
	r := &reviewer{boardPage: tab, url: srv.URL, oracle: evenOracle(t)}
	r.bot = joinBot(t, nats, "hare", protocol.Hello{Games: []protocol.Capability{{Game: "gomoku", Engine: &protocol.Engine{Level: 3}}}})
	r.oracle.join(nats, "gomoku")

	res, err := srv.Client().Post(srv.URL+"/api/session", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	cookie := res.Cookies()[0]
	command(tab, network.SetCookie, network.SetCookieParams{Name: cookie.Name, Value: cookie.Value, URL: srv.URL})
	if r.other, _, err = dialAddress(t, strings.Replace(srv.URL, "http", "ws", 1)+"/ws", http.Header{"Cookie": {cookie.Name + "=" + cookie.Value}, "Origin": {srv.URL}}); err != nil {
		t.Fatal(err)
	}
	return r
}

// open shows a game in the browser.
func (r *reviewer) open(id protocol.GameID) {
	r.Helper()
	r.do(chromedp.Navigate(r.url + "/game/" + string(id)))
	r.is("document.documentElement.dataset.game", string(id))
}

// press clicks a button.
func (r *reviewer) press(act string) {
	r.Helper()
	visible := fmt.Sprintf("[...document.querySelectorAll('[data-act=%q]')].filter(e => e.checkVisibility() && !e.disabled)", act)
	r.is(visible+".length > 0", "true")
	r.js(visible + "[0].click()")
}

// play clicks a point of the review's board.
func (r *reviewer) play(at string) {
	r.Helper()
	r.js(fmt.Sprintf("document.querySelector('.review [data-point=%q]').scrollIntoView({block: 'nearest'})", at))
	rect := value[struct{ X, Y, Width, Height float64 }](r.boardPage, fmt.Sprintf("document.querySelector('.review [data-point=%q]').getBoundingClientRect().toJSON()", at))
	r.do(chromedp.MouseClickXY(rect.X+rect.Width/2, rect.Y+rect.Height/2))
}

// key presses a key where the focus is.
func (r *reviewer) key(name string) {
	r.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		command(r.boardPage, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: name, Code: name})
	}
}

// shot keeps a picture of the screen where SPARRING_TEST_SHOTS names a folder.
func (r *reviewer) shot(name string) {
	dir := os.Getenv("SPARRING_TEST_SHOTS")
	if dir == "" {
		return
	}
	shot, err := chromedp.Call(r.ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{})
	if err != nil {
		r.Error(err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644); err != nil {
		r.Error(err)
	}
}

// reviewable makes the oracle find a blunder of the bot at ply 1 and a mistake of
// the person at ply 2.
func (r *reviewer) reviewable() {
	chances := []float64{0.5, 0.5, 0.9, 0.6, 0.6}
	r.oracle.chance = func(moves []string) float64 { return chances[min(len(moves), 4)] }
	r.oracle.compared = func(moves []string, move string) float64 {
		if len(moves) == 1 {
			return map[string]float64{"o15": 0.5}[move]
		}
		return map[string]float64{"o15": 0.9, "c3": 0.85, "h9": 0.65}[move]
	}
}

// The review in a browser: graph, list, better line, and trying again with the
// answer hidden.
func TestReviewInBrowser(t *testing.T) {
	t.Parallel()
	r := openReviewer(t, 1280, 800)
	r.reviewable()
	id, _ := shortGame(t, r.other, r.bot)
	r.open(id)
	r.press("review")
	r.is("document.querySelector('.review')?.dataset.complete", "true")
	r.is("document.querySelectorAll('.mistakes li').length", "2")
	r.is("[...document.querySelectorAll('.mistakes button')].map(b => b.dataset.class).join()", "blunder,mistake")
	r.is("document.querySelectorAll('.graph .chance').length", "1")
	r.is("document.querySelectorAll('.graph .sign').length", "2")
	r.is("document.querySelector('.graph')?.getAttribute('aria-valuenow')", "4")
	r.shot("review-desktop")

	r.js("document.querySelector('.mistakes [data-class=mistake]').click()")
	r.is("document.querySelector('.graph')?.getAttribute('aria-valuenow')", "3")
	r.is("document.querySelector('.verdict').textContent.includes('25%')", "true")
	r.is("document.querySelectorAll('.review .told.mistake').length", "1")
	r.js("document.querySelector('.graph').focus()")
	r.key("PageUp")
	r.is("document.querySelector('.graph')?.getAttribute('aria-valuenow')", "2")
	r.is("document.querySelector('.graph')?.getAttribute('aria-valuetext').includes('50%')", "true")
	r.key("PageDown")

	r.press("line")
	r.is("document.querySelector('.verdict').textContent.includes('o15')", "true")
	r.press("forward")
	r.press("forward")
	r.is("document.querySelectorAll('.review .board-drawing .piece').length", "5") // two moves of the game, three of the line
	r.shot("review-line")
	r.press("line-close")
	r.is("location.pathname", "/game/"+string(id)+"/3")

	r.press("retry")
	r.is("document.querySelector('.retry')?.dataset.retryState", "ask")
	hidden := `(() => {
		const whole = document.querySelector('.review').cloneNode(true);
		for (const grid of whole.querySelectorAll('[role=grid]')) for (const e of grid.querySelectorAll('[data-point]')) { e.removeAttribute('data-point'); e.removeAttribute('id'); e.setAttribute('aria-label', e.getAttribute('aria-label').replace(/^o15(?=,|$)/, '')); }
		return !/o15/.test(whole.outerHTML) && !whole.querySelector('.graph, .mistakes, .verdict, .arrow, .told.best, .told.good');
	})()`
	r.is(hidden, "true")
	r.shot("retry")
	r.play("h9")
	r.is("document.querySelector('.retry')?.dataset.retryState", "ask") // the move of the game
	r.play("c5")
	r.is("document.querySelector('.retry')?.dataset.retryState", "wrong")
	r.is("document.querySelectorAll('.review .number').length", "1") // what the opponent would answer
	r.shot("retry-wrong")
	r.is("/o15/.test(document.querySelector('.retry').outerHTML)", "false")
	r.press("undo")
	r.is("document.querySelector('.retry')?.dataset.retryState", "ask")
	r.is(hidden, "true")
	r.js("void (window.kept = window.fetch, window.fetch = () => Promise.reject(new TypeError('no connection')))")
	r.play("c3")
	r.is("!!document.querySelector('[data-note]')", "true")
	r.js("void (window.fetch = window.kept)")
	r.is("document.querySelector('.retry')?.dataset.retryState", "good") // once it is back
	r.press("show")
	r.is("document.querySelector('.retry')?.dataset.retryState", "shown")
	r.is("document.querySelectorAll('.review .told.best').length", "1")
	r.press("next")
	r.is("document.querySelector('.retry')?.dataset.retryState", "end")
	r.press("retry-close")
	r.is("document.querySelectorAll('.mistakes li').length", "2")
	r.press("review-close")
	r.is("document.querySelector('.review')", "<nil>")
}

// On a phone everything fits the width, and the game goes on from a position of the
// review, with hints.
func TestPlayOnFromReview(t *testing.T) {
	t.Parallel()
	r := openReviewer(t, 360, 640)
	r.reviewable()
	id, _ := shortGame(t, r.other, r.bot)
	r.open(id)
	r.press("review")
	r.is("document.querySelector('.review')?.dataset.complete", "true")
	r.is("document.scrollingElement.scrollWidth", "360")
	r.shot("review-phone")
	inOrder(r.bot)
	r.press("back")
	r.press("back")
	r.is("document.querySelector('.graph')?.getAttribute('aria-valuenow')", "2")
	r.press("onward")
	r.is("document.querySelector('dialog select')?.value", "3")
	r.shot("onward-phone")
	r.press("play")
	r.is("document.documentElement.dataset.turn", "first")
	r.is("location.pathname.startsWith('/game/') && !location.pathname.startsWith('/game/"+string(id)+"')", "true")

	for level, want := range []string{"4", "1", "1"} { // the corners of a region, the point, the line
		r.press("hint")
		r.is("document.querySelectorAll('.told.hint').length", want)
		r.shot(fmt.Sprintf("hint-%d-phone", level+1))
	}
	r.is("document.querySelector('[data-note]')?.textContent.includes('o15')", "true")
	r.oracle.mu.Lock()
	defer r.oracle.mu.Unlock()
	last := r.oracle.requests[len(r.oracle.requests)-1]
	if last.Purpose != protocol.ForHint || last.Position == "" {
		data, _ := json.Marshal(last)
		t.Errorf("last request %s", data)
	}
}
