package screens

import (
	"math"
	"strings"
	"testing"

	"sparring/arena/web/browser"
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

// retryState is an expression: what the screen that tries mistakes again does.
const retryState = `document.querySelector(".retry").dataset.retryState`

// TestReviewGoneOn: what comes late in a review, because the connection is slow, does not
// bring back what the visitor has left.
func TestReviewGoneOn(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "xiangqi"})
	ann := f.Ann
	for _, moves := range [][2]string{{"h2h9", "i9h9"}, {"b2b9", "a9b9"}} {
		f.Play(ann, moves[0])
		f.Play(f.Bob, moves[1])
	}
	ann.ResignToReview()
	browser.Eval[any](ann, holding)

	// A better line whose moves are still being written.
	ann.Tap(`.mistakes [data-ply="1"]`)
	ann.See(browser.Act("line"))
	ann.Await(`said.some(text => /^1\. .*% · \w+: costs/.test(text))`) // and not the signs that stand there
	browser.Eval[any](ann, `void (held = [])`)
	ann.Tap(browser.Act("line"))
	ann.Await(`held.length > 0`)
	ann.Tap(browser.Act("forward"))
	ann.Await(`location.pathname.endsWith("/2")`)
	ann.LetGo()
	text := browser.Poll(ann, `document.querySelector("[data-verdict]").textContent`, func(text string) bool { return !strings.HasPrefix(text, "1.") })
	if !strings.HasPrefix(text, "2.") {
		t.Errorf("at the second move stands %q", text)
	}

	// No judgment, once the answer is shown.
	ann.Tap(browser.Act("retry"))
	ann.See(`[data-retry-state="ask"]`)
	browser.Eval[any](ann, `void (deaf = true)`)
	ann.Choose("h2h3")
	ann.See(`[data-retry-state="judging"]`)
	ann.Tap(browser.Act("show"))
	ann.See(`[data-retry-state="shown"]`)
	browser.Eval[any](ann, `([...late.values()].forEach(f => f()), deaf = false, null)`)
	if got := browser.Eval[string](ann, retryState); got != "shown" {
		t.Errorf("the answer that is shown goes away: %s", got)
	}
	ann.Tap(browser.Act("retry-close"))

	// A judgment of the mistake before.
	ann.Tap(browser.Act("retry"))
	ann.See(`[data-retry-state="ask"]`)
	browser.Eval[any](ann, `void (held = [])`)
	ann.Choose("h2h3")
	ann.Await(`held.length > 0`)
	ann.Tap(browser.Act("next"))
	ann.LetGo()
	got := browser.Poll(ann, retryState, func(state string) bool { return state != "judging" })
	if got != "ask" && got != "end" {
		t.Errorf("what was tried before is judged instead of the next mistake: %s", got)
	}
}

// TestGraphNotKnown: what the review has not come to yet looks like no seat's chance.
func TestGraphNotKnown(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "ann", browser.Desktop, w.At)
	p.Open("/")
	p.Connected()
	p.Module("graph")
	browser.Eval[any](p.Tab, `{
		const g = new graph.Graph({label: "chances", go() {}, describe: String});
		document.body.append(g.element);
		g.show([null, null, {turn: "first", chance: 0.5, depth: 1}, {turn: "second", chance: 0.6, depth: 1}, null], 3);
	}`)
	p.Await(`document.querySelector(".graph .chance")`)
	filled := browser.Eval[[]float64](p.Tab, `[...document.querySelectorAll(".graph :is(.first, .second)")].flatMap(e => { const b = e.getBBox(), w = e.ownerSVGElement.getBoundingClientRect().width; return [b.x / w, (b.x + b.width) / w]; })`)
	if len(filled) != 4 || filled[0] < 0.4 || filled[1] > 0.8 || math.Abs(filled[2]-filled[0])+math.Abs(filled[3]-filled[1]) > 0.001 {
		t.Errorf("of five positions the third and fourth are known; filled is %v of the width", filled)
	}
}

// TestRetryOnItsSide: on a phone on its side, too, what confirms a move that is tried is in sight.
func TestRetryOnItsSide(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "ann", browser.Phone, w.At)
	p.Resize(640, 360)
	p.Begin("xiangqi")
	p.Move("h2h9")
	p.ResignToReview()
	p.Tap(browser.Act("retry"))
	const confirm = `.review [data-act="confirm"]`
	p.See(confirm)
	if bottom := browser.Eval[float64](p.Tab, `document.querySelector('`+confirm+`').getBoundingClientRect().bottom + scrollY`); bottom > 360 {
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
	window.back = () => void (all.pop()?.dispatchEvent(new Event("close")) ?? history.back());
	return null;
})()`

// TestBackOnPhone: Back closes what lies over a game before it leaves the game.
func TestBackOnPhone(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "ann", browser.Phone, w.At)
	p.Begin("xiangqi")
	game := p.Path()
	const list = `.sheet.open`

	// As the browser itself says it, for Escape. The list does not have the focus.
	p.Tap(browser.Act("list"))
	p.See(list)
	browser.Eval[any](p.Tab, `void document.activeElement.blur()`)
	p.Press("Escape", 27)
	p.Await(`!document.querySelector("` + list + `")`)

	browser.Eval[any](p.Tab, watching)
	p.Tap(browser.Act("list"))
	p.See(list)
	browser.Eval[any](p.Tab, `back()`)
	p.Await(`!document.querySelector("` + list + `") && above() === 0`)
	p.Tap(browser.Act("list"))
	p.See(list)
	p.Tap(browser.Act("close-list"))
	p.Await(`!document.querySelector("` + list + `") && above() === 0`)

	// A mistake that is tried again, in a review.
	p.Move("h2h9")
	p.ResignToReview()
	p.Tap(browser.Act("retry"))
	p.See(`[data-retry-state]`)
	browser.Eval[any](p.Tab, `back()`)
	p.Await(`document.querySelector(".review") && !document.querySelector("[data-retry-state]")`)
	browser.Eval[any](p.Tab, `back()`)
	p.Await(`!document.querySelector(".review") && above() === 0`)
	if at := p.Path(); at != game {
		t.Errorf("after the review of %s the address is %s", game, at)
	}
}

// TestReviewWithoutConnection: a review that is opened while no position can be asked for shows
// those that the page has had in the game.
func TestReviewWithoutConnection(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	p.Begin("gomoku")
	p.Move("h8")
	p.See(browser.MayMove)
	p.Resign()
	p.Block("*/api/position")
	p.Tap(browser.Act("review"))
	const stones = `document.querySelectorAll(".review .piece").length`
	p.Await(stones + ` === 2`)
	p.Tap(`.review ` + browser.Act("back"))
	p.Await(stones + ` === 1`)
}
