package screens

import (
	"strconv"
	"testing"
	"time"

	"sparring/arena/web/browser"
)

// TestBackWithoutCloseWatcher: where the browser does not tell that somebody wants to be rid of
// what lies over the page, as in Safari, Back closes that, too, and Back after it leaves the game.
func TestBackWithoutCloseWatcher(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "ann", browser.Phone, w.At)
	p.Before(`{
		delete window.CloseWatcher;
		window.gone = 0;
		addEventListener("popstate", () => gone++);
	}`)
	p.Begin("xiangqi")
	game := string(p.Shown())
	goes := func(to string) {
		t.Helper()
		browser.Eval[any](p.Tab, `void (gone = 0, history.`+to+`())`)
		p.Await(`gone`)
	}
	at := func(when, path string) {
		t.Helper()
		p.Await(`!history.state`) // it takes its time
		if got := p.Path(); got != path {
			t.Errorf("%s the address is %s, want %s", when, got, path)
		}
		if !p.Sees(`.bar[data-kept]`) {
			t.Errorf("%s the screen is another one", when)
		}
	}
	const list, noList = `.sheet.open`, `!document.querySelector(".sheet.open")`
	p.Move("h2h9")
	p.See(browser.MayMove)
	browser.Eval[any](p.Tab, `void (document.querySelector(".bar").dataset.kept = "")`)

	p.Tap(browser.Act("list"))
	p.See(list)
	goes("back")
	p.Await(noList)
	at("after Back from the list", "/game/"+game)
	goes("forward")
	p.Await(noList)
	at("after Forward", "/game/"+game)

	// A move that is chosen in the list stays on the screen, and its address.
	p.Tap(browser.Act("list"))
	p.See(list)
	p.Tap(list + ` [data-ply="1"]`)
	p.See(`[data-ply="1"][aria-current]`)
	goes("back")
	p.Await(noList)
	at("after Back from the list at a move", "/game/"+game+"/1")
	p.Tap(browser.Act("list"))
	p.See(list)
	p.Tap(browser.Act("close-list"))
	p.Await(noList)
	at("after the button of the list", "/game/"+game+"/1")
	p.Tap(browser.Act("latest"))
	p.Await(`location.pathname === ` + browser.Quote("/game/"+game))

	// A question.
	p.Tap(browser.Act("resign"))
	p.See(browser.Act("yes-resign"))
	goes("back")
	p.Await(`!document.querySelector("dialog")`)
	at("after Back from a question", "/game/"+game)
	p.Resign()
	p.See(browser.Act("review"))

	// A mistake that is tried again, in a review.
	p.Tap(browser.Act("review"))
	p.See(`.review[data-complete="true"]`)
	p.See(browser.Act("retry"))
	browser.Eval[any](p.Tab, `{ const button = document.querySelector('[data-act="retry"]'); button.click(); button.click(); }`) // what it needs may be slow to load
	p.See(`[data-retry-state]`)
	goes("back")
	p.Await(`document.querySelector(".review") && !document.querySelector("[data-retry-state]")`)
	goes("back")
	p.Await(`!document.querySelector(".review")`)
	at("after Back from a review", "/game/"+game)
	p.Tap(browser.Act("review"))
	p.See(`.review[data-complete="true"]`)
	p.Tap(browser.Act("retry"))
	p.See(`[data-retry-state]`)
	p.Tap(browser.Act("retry-close"))
	p.Tap(browser.Act("review-close"))
	p.Await(`!document.querySelector(".review")`)
	at("after the buttons of a review", "/game/"+game)

	// Another screen follows what lay over this one.
	p.Tap(browser.Act("review"))
	p.Tap(browser.Act("retry"))
	p.See(`[data-retry-state]`)
	browser.Eval[any](p.Tab, `void document.querySelector("a.brand").click()`)
	p.See(browser.Act("play"))
	goes("back")
	p.See(browser.Act("review"))
	if got := string(p.Shown()); got != game {
		t.Errorf("Back from the start screen leads to %s", got)
	}

	// A page that is reloaded has nothing over it.
	p.Tap(browser.Act("review"))
	p.See(`[data-review]`)
	browser.Eval[any](p.Tab, `void setTimeout(() => location.reload())`)
	p.Await(`!document.querySelector("[data-review]") && !history.state?.over`)
	p.See(browser.Act("review"))
	goes("back")
	p.See(browser.Act("play"))
	if got := p.Path(); got != "/" {
		t.Errorf("Back from the game leads to %s", got)
	}
}

// TestManySteps: who steps through a game faster than the browser lets the page change its
// address, as Safari does, sees all positions, and the address follows.
func TestManySteps(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "ann", browser.Desktop, w.At)
	p.Before(`{
		const replace = history.replaceState;
		let left = 100;
		setInterval(() => left = 100, 30000);
		history.replaceState = function(...a) {
			if (!left--) throw new DOMException("Attempt to use history.replaceState() more than 100 times per 30 seconds", "SecurityError");
			return replace.apply(this, a);
		};
	}`)
	p.Begin("gomoku")
	game := string(p.Shown())
	p.Move("h8")
	p.See(browser.MayMove)
	browser.Eval[any](p.Tab, `void (async () => {
		const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
		const wait = () => new Promise(go => setTimeout(go, 10));
		for (let i = 0; i < 130; i++) {
			press(i % 2 ? "End" : "Home");
			await wait();
		}
		press("End");
		await wait();
		press("ArrowLeft");
		window.pressed = true;
	})()`)
	p.Await(`window.pressed`)
	p.Await(`document.querySelector('[data-ply="1"]').ariaCurrent === "true"`)
	p.Await(`location.pathname === ` + browser.Quote("/game/"+game+"/1"))
}

// TestBackToTheGameBefore: whoever has played a rematch can still look at the game before, by
// Back or by its address, and is not taken to the rematch again.
func TestBackToTheGameBefore(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "ann", browser.Desktop, w.At)
	p.Begin("gomoku")
	first := p.Path()
	over := `document.documentElement.dataset.game && document.documentElement.dataset.result`
	resign := func() {
		t.Helper()
		p.See(browser.Act("resign"))
		p.Resign()
		p.See(browser.Act("rematch"))
		p.Await(over)
	}
	resign()
	p.Tap(browser.Act("rematch"))
	p.Await(`location.pathname !== ` + strconv.Quote(first))
	resign()
	stays := func(how string) {
		t.Helper()
		p.Await(over)
		// A table that nobody has looked at learns of the rematch only now: it is there, or comes within this time.
		time.Sleep(time.Second)
		if got := p.Path(); got != first {
			t.Errorf("%s the game before, %s, leads to %s", how, first, got)
		}
	}
	browser.Eval[any](p.Tab, `void history.back()`)
	p.Await(`location.pathname === ` + strconv.Quote(first))
	stays("Back to")
	p.Open(first)
	stays("the address of")
}
