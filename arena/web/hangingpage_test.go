package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"sparring/screen/static"
)

// quickly is the head of a page whose requests may take a moment only. It counts them, and at
// tick its scripts do what they do now and then.
const quickly = `<!DOCTYPE html><meta charset="utf-8"><script>
let asked = 0, tick;
{
	const ask = window.fetch, within = AbortSignal.timeout;
	window.fetch = (...all) => (asked++, ask(...all));
	AbortSignal.timeout = () => within.call(AbortSignal, 200);
	window.setInterval = (f) => (tick = f);
}
</script>`

// openHanging opens a page of a server that answers nothing to the first request of its
// scripts for a path, as when a connection is lost without a word.
func openHanging(t *testing.T, path string, answer func(n int32) string) *boardPage {
	t.Helper()
	p := openTab(t, 800, 600)
	files := http.StripPrefix("/static/", http.FileServerFS(static.Files))
	var asked atomic.Int32
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/static/"):
			files.ServeHTTP(w, r)
		case r.Header.Get("Sec-Fetch-Dest") == "document":
			fmt.Fprint(w, quickly, answer(0))
		case r.URL.Path != path:
			http.NotFound(w, r)
		default:
			n := asked.Add(1)
			if n == 1 {
				<-over
			}
			fmt.Fprint(w, answer(n))
		}
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(over) })
	p.do(chromedp.Navigate(srv.URL + path))
	return p
}

// TestHangingList: the list of the games asks once at a time, and goes on after a request
// that is not answered. With one more every ten seconds all connections that a browser makes
// to a server would soon be taken.
func TestHangingList(t *testing.T) {
	t.Parallel()
	p := openHanging(t, "/games", func(n int32) string {
		return fmt.Sprintf(`<div data-list>list %d</div><button data-act="pause" hidden></button><script type="module" src="/static/live.js"></script>`, n)
	})
	p.is("typeof tick", "function")
	p.js("for (let i = 0; i < 10; i++) tick()")
	p.is("asked", "1")
	p.is("(tick(), document.querySelector('[data-list]').textContent !== 'list 0')", "true")
}

// TestHangingHandicaps: they are asked for again when the first request was not answered.
func TestHangingHandicaps(t *testing.T) {
	t.Parallel()
	p := openHanging(t, "/api/games", func(int32) string {
		return `[{"sets":[{"rules":"xiangqi/wxf","handicaps":[{"name":"horse"}]}]}]`
	})
	const ask = `import("/static/terms.js").then((m) => m.handicapsOf("xiangqi/wxf")).then((all) => all.map((x) => x.name).join())`
	if first := value[string](p, ask); first != "" {
		t.Errorf("without an answer: %q", first)
	}
	p.is(ask, "horse")
}
