package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// hold presses the mouse on the first visible element that matches; release ends that.
func (p *tab) hold(selector string) (release func()) {
	p.t.Helper()
	at := poll(p, middle(selector), func(at []float64) bool { return len(at) == 2 })
	mouse := func(kind input.DispatchMouseEventType, buttons int64) {
		p.t.Helper()
		call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Button: input.MouseButtonLeft, Buttons: buttons, ClickCount: 1})
	}
	mouse(input.DispatchMouseEventTypeMousePressed, 1)
	lasts := p.keepPressed()
	return func() {
		p.t.Helper()
		lasts()
		mouse(input.DispatchMouseEventTypeMouseReleased, 0)
	}
}

// keepPressed makes a press last, until ends is called, however slow the machine is: the page
// takes it for over after five seconds, in which a review may not get far.
func (p *tab) keepPressed() (ends func()) {
	p.t.Helper()
	eval[any](p, `void (window.pressing = setInterval(() => dispatchEvent(new Event("pointerdown")), 1000))`)
	return func() {
		p.t.Helper()
		eval[any](p, `clearInterval(pressing)`)
	}
}

// TestPressed: what comes from the server while something is pressed, Space too, takes no click
// from it.
func TestPressed(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	f := &friends{t: t, watched: w.watch(t), ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", desktop, network.at).tab}
	f.ann.before(`new MutationObserver((_, o) => {
		if (document.documentElement.dataset.screen === "game") o.disconnect(), window.fresh = document.querySelector("main").matches("[data-fresh]");
	}).observe(document, { subtree: true, childList: true, attributes: true })`)
	f.invite(setup{game: "gomoku", own: clockOf("30", "20")})
	if !eval[bool](f.ann, `fresh`) {
		t.Error("a game that begins takes a tap that was meant for its invitation")
	}
	p := f.bob
	p.before(`{
		window.came = { turns: 0, lobby: 0 };
		const parse = JSON.parse;
		JSON.parse = (text) => {
			const m = parse(text);
			if (m?.t in came) came[m.t] = performance.now();
			if (m?.t === "lobby" && window.crowded) for (const o of m.opponents) o.busy = true;
			return m;
		};
	}`)

	p.resize(360, 640) // where news move the screen
	p.open("/")
	p.see(`.about [data-rating]`)
	p.await(`performance.now() > 1500`) // no news
	release := p.hold(act("invite"))
	f.ann.move("h8")
	p.await(`came.turns && performance.now() > came.turns + 1500`) // it is told a second later
	release()
	p.see(`input[data-link]`)
	p.see(`[data-news]`)

	p.open("/")
	p.see(`.about [data-rating]`)
	p.see(`[data-news]`)
	release = p.hold(`[data-level="5"]`)
	eval[any](p, `void (window.crowded = true, came.lobby = 0, window.kept = document.querySelector('[data-act="settings"]'))`)
	network.setCut(true)
	p.await(state + ` === "lost"`)
	network.setCut(false)
	p.await(`came.lobby && performance.now() > came.lobby`)
	release()
	p.await(`document.querySelector('[data-level="5"] input').checked`)
	p.await(`!document.querySelector("[data-busy]").hidden`)
	if !eval[bool](p, `kept.isConnected`) {
		t.Error("a new connection makes new buttons in the head")
	}

	p.resize(1280, 800)
	p.open("/game/" + string(f.game))
	p.move("h9")
	release = p.hold(`[data-ply="1"]`)
	f.ann.move("j8")
	p.await(`document.documentElement.dataset.turn === "second"`)
	release()
	p.await(`location.pathname.endsWith("/1")`)
	p.await(fmt.Sprintf(`%s === 3`, plies))
	p.tap(act("latest"))
	p.move("h7")
	eval[any](p, `void document.querySelector('[data-ply="2"]').focus()`)
	release = p.holdSpace()
	f.ann.move("k8")
	p.await(`document.documentElement.dataset.turn === "second"`)
	release()
	p.await(`location.pathname.endsWith("/2")`)
	p.await(fmt.Sprintf(`%s === 5`, plies))

	p.resign()
	p.tap(act("review"))
	release = p.hold(act("onward"))
	p.see(`.review[data-complete="true"]`)
	release()
	p.see(`dialog[open]`)
}

// TestNextLevel: who has lost twice against a level is offered the one below, by a button that
// takes no tap that was meant for one which makes room for it.
func TestNextLevel(t *testing.T) {
	t.Parallel()
	network := newWire(t, sharedWorld(t).at)
	p := newPerson(t, "loser", phone, network.at)
	p.before(`{
		const parse = JSON.parse;
		JSON.parse = (text) => { const m = parse(text); if (m?.t === "lobby" && !window.told) m.results = []; return m; };
	}`)
	for range 2 {
		p.play(setup{game: "gomoku", seat: "first"})
		p.move("h8")
		p.see(mayMove)
		p.resign()
		p.see(act("rematch"))
	}
	lost := p.path()
	p.await(`document.querySelector('[data-act="next-level"]') && !document.querySelector(".bar[data-fresh]")`)
	eval[any](p.tab, `void (window.told = true, new MutationObserver((_, o) => {
		const e = document.querySelector('[data-act="next-level"]:not([hidden])');
		if (e) o.disconnect(), window.fresh = !!e.closest("[data-fresh]");
	}).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true }))`)
	network.setCut(true)
	p.await(state + ` === "lost"`)
	network.setCut(false)
	p.await(`window.fresh !== undefined`)
	if !eval[bool](p.tab, `fresh`) {
		t.Error("a new button takes a tap that was meant for another one")
	}
	eval[any](p.tab, counting)
	eval[any](p.tab, `[1, 2].forEach(() => document.querySelector('[data-act="next-level"]').click())`)
	p.await(inGame + ` && location.pathname !== ` + quote(lost))
	if got := eval[int](p.tab, `asked.size`); got != 1 {
		t.Errorf("two taps ask for %d games", got)
	}
	p.await(`document.querySelector('.seat.top .name').textContent.startsWith("Level 2")`)
}

// counting lets a test count in asked what a page asks for that begins a game; what is sent
// again on another socket has the same id.
const counting = `{
	const { send } = WebSocket.prototype;
	window.asked = new Set();
	WebSocket.prototype.send = function (text) {
		const m = JSON.parse(text);
		if (["play", "invite", "join"].includes(m.t)) asked.add(m.id);
		send.call(this, text);
	};
}`

// TestTappedAgain: while a game or a link that was asked for is slow to come to the screen, the
// button that asks for it can't be tapped again.
func TestTappedAgain(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p, friend := newPerson(t, "host", phone, w.at), newPerson(t, "friend", phone, w.at)
	for _, p := range []*person{p, friend} {
		p.before(counting)
		p.before(`new MutationObserver(() => {
			const b = document.querySelector('[data-act="play"], [data-act="join"]');
			if (asked.size && b && !b.disabled) b.click();
		}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true })`)
	}
	p.setUp(setup{game: "gomoku"})
	p.tap(act("play"))
	p.shown()
	p.setUp(setup{game: "gomoku"})
	p.tap(act("invite"))
	p.see(`input[data-link]`)
	friend.open(p.link())
	friend.tap(act("join"))
	friend.shown()
	for _, p := range []*person{p, friend} {
		if got := eval[int](p.tab, `asked.size`); got != 1 {
			t.Errorf("the %s asks %d times", p.name, got)
		}
	}
}
