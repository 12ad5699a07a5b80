package games

import (
	"fmt"
	"testing"

	"sparring/arena/web/browser"
)

// TestPressed: what comes from the server while something is pressed, Space too, takes no click
// from it.
func TestPressed(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Phone, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, network.At).Tab}
	f.Ann.Before(`new MutationObserver((_, o) => {
		if (document.documentElement.dataset.screen === "game") o.disconnect(), window.fresh = document.querySelector("main").matches("[data-fresh]");
	}).observe(document, { subtree: true, childList: true, attributes: true })`)
	f.Invite(browser.Setup{Game: "gomoku", Own: browser.ClockOf("30", "20")})
	if !browser.Eval[bool](f.Ann, `fresh`) {
		t.Error("a game that begins takes a tap that was meant for its invitation")
	}
	p := f.Bob
	p.Before(`{
		window.came = { turns: 0, lobby: 0 };
		const parse = JSON.parse;
		JSON.parse = (text) => {
			const m = parse(text);
			if (m?.t in came) came[m.t] = performance.now();
			if (m?.t === "lobby" && window.crowded) for (const o of m.opponents) o.busy = true;
			return m;
		};
	}`)

	p.Resize(360, 640) // where news move the screen
	p.Open("/")
	p.See(`.about [data-rating]`)
	p.Await(`performance.now() > 1500`) // no news
	release := p.Hold(browser.Act("invite"))
	f.Ann.Move("h8")
	p.Await(`came.turns && performance.now() > came.turns + 1500`) // it is told a second later
	release()
	p.See(`input[data-link]`)
	p.See(`[data-news]`)

	p.Open("/")
	p.See(`.about [data-rating]`)
	p.See(`[data-news]`)
	release = p.Hold(`[data-level="5"]`)
	browser.Eval[any](p, `void (window.crowded = true, came.lobby = 0, window.kept = document.querySelector('[data-act="settings"]'))`)
	network.SetCut(true)
	p.Await(browser.State + ` === "lost"`)
	network.SetCut(false)
	p.Await(`came.lobby && performance.now() > came.lobby`)
	release()
	p.Await(`document.querySelector('[data-level="5"] input').checked`)
	p.Await(`!document.querySelector("[data-busy]").hidden`)
	if !browser.Eval[bool](p, `kept.isConnected`) {
		t.Error("a new connection makes new buttons in the head")
	}

	p.Resize(1280, 800)
	p.Open("/game/" + string(f.Game))
	p.Move("h9")
	release = p.Hold(`[data-ply="1"]`)
	f.Ann.Move("j8")
	p.Await(`document.documentElement.dataset.turn === "second"`)
	release()
	p.Await(`location.pathname.endsWith("/1")`)
	p.Await(fmt.Sprintf(`%s === 3`, browser.Plies))
	p.Tap(browser.Act("latest"))
	p.Move("h7")
	browser.Eval[any](p, `void document.querySelector('[data-ply="2"]').focus()`)
	release = p.HoldSpace()
	f.Ann.Move("k8")
	p.Await(`document.documentElement.dataset.turn === "second"`)
	release()
	p.Await(`location.pathname.endsWith("/2")`)
	p.Await(fmt.Sprintf(`%s === 5`, browser.Plies))

	p.Resign()
	p.Tap(browser.Act("review"))
	release = p.Hold(browser.Act("onward"))
	p.See(`.review[data-complete="true"]`)
	release()
	p.See(`dialog[open]`)
}

// TestNextLevel: who has lost twice against a level is offered the one below, by a button that
// takes no tap that was meant for one which makes room for it.
func TestNextLevel(t *testing.T) {
	t.Parallel()
	network := browser.NewWire(t, browser.SharedWorld(t).At)
	p := browser.NewPerson(t, "loser", browser.Phone, network.At)
	p.Before(`{
		const parse = JSON.parse;
		JSON.parse = (text) => { const m = parse(text); if (m?.t === "lobby" && !window.told) m.results = []; return m; };
	}`)
	for range 2 {
		p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
		p.Move("h8")
		p.See(browser.MayMove)
		p.Resign()
		p.See(browser.Act("rematch"))
	}
	lost := p.Path()
	p.Await(`document.querySelector('[data-act="next-level"]') && !document.querySelector(".bar[data-fresh]")`)
	browser.Eval[any](p.Tab, `void (window.told = true, new MutationObserver((_, o) => {
		const e = document.querySelector('[data-act="next-level"]:not([hidden])');
		if (e) o.disconnect(), window.fresh = !!e.closest("[data-fresh]");
	}).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true }))`)
	network.SetCut(true)
	p.Await(browser.State + ` === "lost"`)
	network.SetCut(false)
	p.Await(`window.fresh !== undefined`)
	if !browser.Eval[bool](p.Tab, `fresh`) {
		t.Error("a new button takes a tap that was meant for another one")
	}
	browser.Eval[any](p.Tab, counting)
	browser.Eval[any](p.Tab, `[1, 2].forEach(() => document.querySelector('[data-act="next-level"]').click())`)
	p.Await(browser.InGame + ` && location.pathname !== ` + browser.Quote(lost))
	if got := browser.Eval[int](p.Tab, `asked.size`); got != 1 {
		t.Errorf("two taps ask for %d games", got)
	}
	p.Await(`document.querySelector('.seat.top .name').textContent.startsWith("Level 2")`)
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
	w := browser.SharedWorld(t)
	p, friend := browser.NewPerson(t, "host", browser.Phone, w.At), browser.NewPerson(t, "friend", browser.Phone, w.At)
	for _, p := range []*browser.Person{p, friend} {
		p.Before(counting)
		p.Before(`new MutationObserver(() => {
			const b = document.querySelector('[data-act="play"], [data-act="join"]');
			if (asked.size && b && !b.disabled) b.click();
		}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true })`)
	}
	p.SetUp(browser.Setup{Game: "gomoku"})
	p.Tap(browser.Act("play"))
	p.Shown()
	p.SetUp(browser.Setup{Game: "gomoku"})
	p.Tap(browser.Act("invite"))
	p.See(`input[data-link]`)
	friend.Open(p.Link())
	friend.Tap(browser.Act("join"))
	friend.Shown()
	for _, p := range []*browser.Person{p, friend} {
		if got := browser.Eval[int](p.Tab, `asked.size`); got != 1 {
			t.Errorf("the %s asks %d times", p.Name, got)
		}
	}
}
