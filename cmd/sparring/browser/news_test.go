package browser

import "testing"

// TestNews: somebody whose move another game waits for is told so on every screen,
// and gets there with one tap. What is in play stays where it is.
func TestNews(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "player", phone, w.at)
	p.begin("xiangqi")
	first := string(p.shown())
	p.move("h2e2") // a game without a first move would be called off
	p.see(mayMove)
	link := `[data-news][href="/game/` + first + `"]`
	for _, path := range []string{"/", "/ladder", "/games"} {
		p.open(path)
		p.see(link)
		p.await(`/^Your turn against Level \d+ · /.test(document.title)`)
		if got := eval[string](p.tab, wide); got != "" {
			t.Errorf("%s, beyond the edge: %s", path, got)
		}
	}
	p.begin("gomoku")
	p.see(act("hint"))
	const places = `JSON.stringify([...document.querySelectorAll("main, .board-drawing, main button, #tools button")].map(e => e.getBoundingClientRect()))`
	p.see(link)
	if got := eval[int](p.tab, `document.documentElement.scrollHeight`); got > 640 {
		t.Errorf("the page is %d pixels high: it scrolls", got)
	}
	with := eval[string](p.tab, places)
	eval[any](p.tab, `document.querySelector("[data-news]").hidden = true`)
	if without := eval[string](p.tab, places); without != with {
		t.Errorf("news move what is in play: %s, without %s", with, without)
	}
	eval[any](p.tab, `document.querySelector("[data-news]").hidden = false`)
	p.tap(link)
	p.await(`document.documentElement.dataset.game === ` + quote(first))
	p.see(`[data-news]:not([href="/game/` + first + `"])`) // the other game waits now
}
