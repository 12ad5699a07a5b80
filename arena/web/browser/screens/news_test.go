package screens

import (
	"testing"

	"sparring/arena/web/browser"
)

// TestNews: somebody whose move another game waits for is told so on every screen,
// and gets there with one tap. What is in play stays where it is.
func TestNews(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	p.Begin("xiangqi")
	first := string(p.Shown())
	p.Move("h2e2") // a game without a first move would be called off
	p.See(browser.MayMove)
	link := `[data-news][href="/game/` + first + `"]`
	for _, path := range []string{"/", "/ladder", "/games"} {
		p.Open(path)
		p.See(link)
		p.Await(`/^Your turn against Level \d+ · /.test(document.title)`)
		if got := browser.Eval[string](p.Tab, browser.Wide); got != "" {
			t.Errorf("%s, beyond the edge: %s", path, got)
		}
	}
	p.Begin("gomoku")
	p.See(browser.Act("hint"))
	const places = `JSON.stringify([...document.querySelectorAll("main, .board-drawing, main button, #tools button")].map(e => e.getBoundingClientRect()))`
	p.See(link)
	if got := browser.Eval[int](p.Tab, `document.documentElement.scrollHeight`); got > 640 {
		t.Errorf("the page is %d pixels high: it scrolls", got)
	}
	with := browser.Eval[string](p.Tab, places)
	browser.Eval[any](p.Tab, `document.querySelector("[data-news]").hidden = true`)
	if without := browser.Eval[string](p.Tab, places); without != with {
		t.Errorf("news move what is in play: %s, without %s", with, without)
	}
	browser.Eval[any](p.Tab, `document.querySelector("[data-news]").hidden = false`)
	p.Tap(link)
	p.Await(`document.documentElement.dataset.game === ` + browser.Quote(first))
	p.See(`[data-news]:not([href="/game/` + first + `"])`) // the other game waits now
}
