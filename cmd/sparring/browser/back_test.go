package browser

import (
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
)

// before runs a script in each page that the tab opens, before the page's own.
func (p *tab) before(script string) {
	p.t.Helper()
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// TestBackWithoutCloseWatcher: where the browser does not tell that somebody wants to be rid of
// what lies over the page, as in Safari, Back closes that, too, and Back after it leaves the game.
func TestBackWithoutCloseWatcher(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "ann", phone, w.at)
	p.before(`{
		delete window.CloseWatcher;
		window.gone = 0;
		addEventListener("popstate", () => gone++);
	}`)
	p.begin("xiangqi")
	game := string(p.shown())
	goes := func(to string) {
		t.Helper()
		eval[any](p.tab, `void (gone = 0, history.`+to+`())`)
		p.await(`gone`)
	}
	at := func(when, path string) {
		t.Helper()
		p.await(`!history.state`) // it takes its time
		if got := p.path(); got != path {
			t.Errorf("%s the address is %s, want %s", when, got, path)
		}
		if !p.sees(`.bar[data-kept]`) {
			t.Errorf("%s the screen is another one", when)
		}
	}
	const list, noList = `.sheet.open`, `!document.querySelector(".sheet.open")`
	p.move("h2h9")
	p.see(mayMove)
	eval[any](p.tab, `void (document.querySelector(".bar").dataset.kept = "")`)

	p.tap(act("list"))
	p.see(list)
	goes("back")
	p.await(noList)
	at("after Back from the list", "/game/"+game)
	goes("forward")
	p.await(noList)
	at("after Forward", "/game/"+game)

	// A move that is chosen in the list stays on the screen, and its address.
	p.tap(act("list"))
	p.see(list)
	p.tap(list + ` [data-ply="1"]`)
	p.see(`[data-ply="1"][aria-current]`)
	goes("back")
	p.await(noList)
	at("after Back from the list at a move", "/game/"+game+"/1")
	p.tap(act("list"))
	p.see(list)
	p.tap(act("close-list"))
	p.await(noList)
	at("after the button of the list", "/game/"+game+"/1")
	p.tap(act("latest"))
	p.await(`location.pathname === ` + quote("/game/"+game))

	// A question.
	p.tap(act("resign"))
	p.see(act("yes-resign"))
	goes("back")
	p.await(`!document.querySelector("dialog")`)
	at("after Back from a question", "/game/"+game)
	p.resign()
	p.see(act("review"))

	// A mistake that is tried again, in a review.
	p.tap(act("review"))
	p.see(`.review[data-complete="true"]`)
	p.see(act("retry"))
	eval[any](p.tab, `{ const button = document.querySelector('[data-act="retry"]'); button.click(); button.click(); }`) // what it needs may be slow to load
	p.see(`[data-retry-state]`)
	goes("back")
	p.await(`document.querySelector(".review") && !document.querySelector("[data-retry-state]")`)
	goes("back")
	p.await(`!document.querySelector(".review")`)
	at("after Back from a review", "/game/"+game)
	p.tap(act("review"))
	p.see(`.review[data-complete="true"]`)
	p.tap(act("retry"))
	p.see(`[data-retry-state]`)
	p.tap(act("retry-close"))
	p.tap(act("review-close"))
	p.await(`!document.querySelector(".review")`)
	at("after the buttons of a review", "/game/"+game)

	// Another screen follows what lay over this one.
	p.tap(act("review"))
	p.tap(act("retry"))
	p.see(`[data-retry-state]`)
	eval[any](p.tab, `void document.querySelector("a.brand").click()`)
	p.see(act("play"))
	goes("back")
	p.see(act("review"))
	if got := string(p.shown()); got != game {
		t.Errorf("Back from the start screen leads to %s", got)
	}

	// A page that is reloaded has nothing over it.
	p.tap(act("review"))
	p.see(`[data-review]`)
	eval[any](p.tab, `void setTimeout(() => location.reload())`)
	p.await(`!document.querySelector("[data-review]") && !history.state?.over`)
	p.see(act("review"))
	goes("back")
	p.see(act("play"))
	if got := p.path(); got != "/" {
		t.Errorf("Back from the game leads to %s", got)
	}
}

// TestManySteps: who steps through a game faster than the browser lets the page change its
// address, as Safari does, sees all positions, and the address follows.
func TestManySteps(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "ann", desktop, w.at)
	p.before(`{
		const replace = history.replaceState;
		let left = 100;
		setInterval(() => left = 100, 30000);
		history.replaceState = function(...a) {
			if (!left--) throw new DOMException("Attempt to use history.replaceState() more than 100 times per 30 seconds", "SecurityError");
			return replace.apply(this, a);
		};
	}`)
	p.begin("gomoku")
	game := string(p.shown())
	p.move("h8")
	p.see(mayMove)
	eval[any](p.tab, `void (async () => {
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
	p.await(`window.pressed`)
	p.await(`document.querySelector('[data-ply="1"]').ariaCurrent === "true"`)
	p.await(`location.pathname === ` + quote("/game/"+game+"/1"))
}

// TestBackToTheGameBefore: whoever has played a rematch can still look at the game before, by
// Back or by its address, and is not taken to the rematch again.
func TestBackToTheGameBefore(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "ann", desktop, w.at)
	p.begin("gomoku")
	first := p.path()
	over := `document.documentElement.dataset.game && document.documentElement.dataset.result`
	resign := func() {
		t.Helper()
		p.see(act("resign"))
		p.resign()
		p.see(act("rematch"))
		p.await(over)
	}
	resign()
	p.tap(act("rematch"))
	p.await(`location.pathname !== ` + strconv.Quote(first))
	resign()
	stays := func(how string) {
		t.Helper()
		p.await(over)
		// A table that nobody has looked at learns of the rematch only now: it is there, or comes within this time.
		time.Sleep(time.Second)
		if got := p.path(); got != first {
			t.Errorf("%s the game before, %s, leads to %s", how, first, got)
		}
	}
	eval[any](p.tab, `void history.back()`)
	p.await(`location.pathname === ` + strconv.Quote(first))
	stays("Back to")
	p.open(first)
	stays("the address of")
}
