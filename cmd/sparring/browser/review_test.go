package browser

import (
	"strings"
	"testing"

	cdpnetwork "github.com/chromedp/cdproto/network"
)

// holding lets a test keep back what the page asks about positions, as a slow connection
// does, and the moves that are tried; late has what the page does if those are never judged.
const holding = `(() => {
	const { fetch, setTimeout, clearTimeout } = window, { send } = WebSocket.prototype;
	window.held = null;
	window.asking = 0;
	window.release = () => { const all = held; held = null; all.forEach(go => go()); };
	window.fetch = async (...a) => {
		if (held) await new Promise(go => held.push(go));
		asking++;
		return fetch(...a).finally(() => asking--);
	};
	window.deaf = false;
	WebSocket.prototype.send = function(data) { if (!deaf || JSON.parse(data).t !== "try") send.call(this, data); };
	window.late = new Map();
	window.setTimeout = (f, ms, ...a) => { const id = setTimeout(f, ms, ...a); if (ms >= 20000) late.set(id, f); return id; };
	window.clearTimeout = (id) => { late.delete(id); clearTimeout(id); };
	return null;
})()`

// letGo lets the page have what was kept back, and waits until it has it.
func (p *tab) letGo() {
	p.t.Helper()
	eval[any](p, `release()`)
	for range 2 { // the answer to one question may lead to another
		p.await(`asking === 0`)
		eval[any](p, `void (window.later = false, fetch("/api/games").then(a => a.text()).then(() => later = true))`)
		p.await(`later`)
	}
}

// retryState is an expression: what the screen that tries mistakes again does.
const retryState = `document.querySelector(".retry").dataset.retryState`

// TestReviewGoneOn: what comes late in a review, because the connection is slow, does not
// bring back what the visitor has left.
func TestReviewGoneOn(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "xiangqi"})
	ann := f.ann
	for _, moves := range [][2]string{{"h2h9", "i9h9"}, {"b2b9", "a9b9"}} {
		f.play(ann, moves[0])
		f.play(f.bob, moves[1])
	}
	ann.resignToReview()
	eval[any](ann, holding)

	// A better line whose moves are still being written.
	ann.tap(`.mistakes [data-ply="1"]`)
	ann.see(act("line"))
	ann.await(`said.some(text => /^1\. .*% · \w+: costs/.test(text))`) // and not the signs that stand there
	eval[any](ann, `void (held = [])`)
	ann.tap(act("line"))
	ann.await(`held.length > 0`)
	ann.tap(act("forward"))
	ann.await(`location.pathname.endsWith("/2")`)
	ann.letGo()
	text := poll(ann, `document.querySelector("[data-verdict]").textContent`, func(text string) bool { return !strings.HasPrefix(text, "1.") })
	if !strings.HasPrefix(text, "2.") {
		t.Errorf("at the second move stands %q", text)
	}

	// No judgment, once the answer is shown.
	ann.tap(act("retry"))
	ann.see(`[data-retry-state="ask"]`)
	eval[any](ann, `void (deaf = true)`)
	ann.choose("h2h3")
	ann.see(`[data-retry-state="judging"]`)
	ann.tap(act("show"))
	ann.see(`[data-retry-state="shown"]`)
	eval[any](ann, `([...late.values()].forEach(f => f()), deaf = false, null)`)
	if got := eval[string](ann, retryState); got != "shown" {
		t.Errorf("the answer that is shown goes away: %s", got)
	}
	ann.tap(act("retry-close"))

	// A judgment of the mistake before.
	ann.tap(act("retry"))
	ann.see(`[data-retry-state="ask"]`)
	eval[any](ann, `void (held = [])`)
	ann.choose("h2h3")
	ann.await(`held.length > 0`)
	ann.tap(act("next"))
	ann.letGo()
	got := poll(ann, retryState, func(state string) bool { return state != "judging" })
	if got != "ask" && got != "end" {
		t.Errorf("what was tried before is judged instead of the next mistake: %s", got)
	}
}

// TestGraphNotKnown: what the review has not come to yet looks like no seat's chance.
func TestGraphNotKnown(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "ann", desktop, w.at)
	p.open("/")
	p.connected()
	p.module("graph")
	eval[any](p.tab, `{
		const g = new graph.Graph({label: "chances", go() {}, describe: String});
		document.body.append(g.element);
		g.show([null, null, {turn: "first", chance: 0.5, depth: 1}, {turn: "second", chance: 0.6, depth: 1}, null], 3);
	}`)
	p.await(`document.querySelector(".graph .chance")`)
	filled := eval[[]float64](p.tab, `[...document.querySelectorAll(".graph :is(.first, .second)")].flatMap(e => { const b = e.getBBox(), w = e.ownerSVGElement.getBoundingClientRect().width; return [b.x / w, (b.x + b.width) / w]; })`)
	if len(filled) != 4 || filled[0] < 0.4 || filled[1] > 0.8 || filled[2] != filled[0] || filled[3] != filled[1] {
		t.Errorf("of five positions the third and fourth are known; filled is %v of the width", filled)
	}
}

// TestRetryOnItsSide: on a phone on its side, too, what confirms a move that is tried is in sight.
func TestRetryOnItsSide(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "ann", phone, w.at)
	p.resize(640, 360)
	p.begin("xiangqi")
	p.move("h2h9")
	p.resignToReview()
	p.tap(act("retry"))
	const confirm = `.review [data-act="confirm"]`
	p.see(confirm)
	if bottom := eval[float64](p.tab, `document.querySelector('`+confirm+`').getBoundingClientRect().bottom + scrollY`); bottom > 360 {
		t.Errorf("the button is %v pixels down", bottom)
	}
}

// watching replaces the browser's way to say that somebody wants to be rid of what lies over
// the page by one that a test can use; above is how many wait for that, and back what Back on
// a phone does.
const watching = `(() => {
	let all = [];
	window.CloseWatcher = class extends EventTarget {
		constructor() { super(); all.push(this); }
		destroy() { all = all.filter(w => w !== this); }
	};
	window.above = () => all.length;
	window.back = () => void all.pop().dispatchEvent(new Event("close"));
	return null;
})()`

// TestBackOnPhone: Back closes what lies over a game before it leaves the game.
func TestBackOnPhone(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "ann", phone, w.at)
	p.begin("xiangqi")
	game := p.path()
	const list = `.sheet.open`

	// As the browser itself says it, for Escape. The list does not have the focus.
	p.tap(act("list"))
	p.see(list)
	eval[any](p.tab, `void document.activeElement.blur()`)
	p.press("Escape", 27)
	p.await(`!document.querySelector("` + list + `")`)

	eval[any](p.tab, watching)
	p.tap(act("list"))
	p.see(list)
	eval[any](p.tab, `back()`)
	p.await(`!document.querySelector("` + list + `") && above() === 0`)
	p.tap(act("list"))
	p.see(list)
	p.tap(act("close-list"))
	p.await(`!document.querySelector("` + list + `") && above() === 0`)

	// A mistake that is tried again, in a review.
	p.move("h2h9")
	p.resignToReview()
	p.tap(act("retry"))
	p.see(`[data-retry-state]`)
	eval[any](p.tab, `back()`)
	p.await(`document.querySelector(".review") && !document.querySelector("[data-retry-state]") && above() === 1`)
	eval[any](p.tab, `back()`)
	p.await(`!document.querySelector(".review") && above() === 0`)
	if at := p.path(); at != game {
		t.Errorf("after the review of %s the address is %s", game, at)
	}

	// A review that is left with the screen waits for nothing.
	p.tap(act("review"))
	p.await(`above() === 1`)
	eval[any](p.tab, `history.back()`)
	p.await(`!document.querySelector(".review") && above() === 0`)
}

// TestReviewWithoutConnection: a review that is opened while no position can be asked for shows
// those that the page has had in the game.
func TestReviewWithoutConnection(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "player", phone, w.at)
	p.begin("gomoku")
	p.move("h8")
	p.see(mayMove)
	p.resign()
	call(p.tab, cdpnetwork.Enable, cdpnetwork.EnableParams{})
	call(p.tab, block, blocked{[]string{"*/api/position"}})
	p.tap(act("review"))
	const stones = `document.querySelectorAll(".review .piece").length`
	p.await(stones + ` === 2`)
	p.tap(`.review ` + act("back"))
	p.await(stones + ` === 1`)
}
