package browser

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// seat is a browser context with a tab that one person has after the other: to make a new one
// takes as much of the processor as to load the page. Nothing is left of those before but the
// browser's cache.
type seat struct {
	browser context.Context
	context cdp.BrowserContextID // "" before the first person
	tab     target.ID
	spoilt  bool // nobody else may have it
}

// free are the seats that nobody has.
var free struct {
	mu    sync.Mutex
	seats []*seat
}

// takeSeat returns a seat that nobody has.
func takeSeat(ctx context.Context) *seat {
	free.mu.Lock()
	defer free.mu.Unlock()
	last := len(free.seats) - 1
	if last < 0 {
		return &seat{browser: ctx}
	}
	s := free.seats[last]
	free.seats = free.seats[:last]
	return s
}

// attach returns the seat's tab.
func (s *seat) attach() (context.Context, context.CancelFunc) {
	if s.context == "" {
		return chromedp.NewContext(s.browser, chromedp.WithNewBrowserContext(), chromedp.WithDetachOnCancel())
	}
	return chromedp.NewContext(s.browser, chromedp.WithTargetID(s.tab), chromedp.WithDetachOnCancel())
}

// another returns another tab beside it.
func (s *seat) another() (context.Context, context.CancelFunc) {
	return chromedp.NewContext(s.browser, chromedp.WithExistingBrowserContext(s.context))
}

// leave makes the seat free again, or ends it if it can't be cleaned.
func (s *seat) leave(p *Person) {
	ctx, done := context.WithTimeout(p.ctx, 10*time.Second)
	defer done()
	clean := !s.spoilt && !p.T.Failed()
	if clean {
		if err := s.clean(ctx, p); err != nil {
			p.T.Logf("%s: the browser can't be used again: %v", p.Name, err)
			clean = false
		}
	}
	p.close() // what a test has set for the tab ends with that
	if clean {
		free.mu.Lock()
		defer free.mu.Unlock()
		free.seats = append(free.seats, s)
		return
	}
	ctx, done = context.WithTimeout(s.browser, 10*time.Second)
	defer done()
	// Fails only with the browser itself, which the next test notices.
	_, _ = cdp.Call(ctx, chromedp.FromContext(s.browser).Browser, target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: s.context})
}

// clean removes what the person has left in the browser.
func (s *seat) clean(ctx context.Context, p *Person) error {
	_, disabled := chromedp.Call(ctx, network.Disable, cdp.Empty{})
	_, let := chromedp.Call(ctx, fetch.Disable, cdp.Empty{})
	to, err := chromedp.Call(ctx, page.Navigate, page.NavigateParams{URL: browser.empty.URL})
	if err = errors.Join(disabled, let, err); err != nil || to.ErrorText != "" {
		return errors.Join(err, errors.New(to.ErrorText))
	}
	if err := awaitEmpty(ctx); err != nil {
		return err
	}
	for origin := range p.origins {
		if _, err := chromedp.Call(ctx, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: origin, StorageTypes: "all"}); err != nil {
			return err
		}
	}
	_, history := chromedp.Call(ctx, page.ResetNavigationHistory, cdp.Empty{})
	_, cookies := chromedp.CallBrowser(s.browser, storage.ClearCookies, storage.ClearCookiesParams{BrowserContextID: s.context})
	return errors.Join(history, cookies)
}

// awaitEmpty waits until the page of a seat that nobody has is there. The one before takes the
// commands until then.
func awaitEmpty(ctx context.Context) error {
	for ; ; time.Sleep(5 * time.Millisecond) {
		there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.title === "empty"`))
		if there || ctx.Err() != nil {
			return err
		}
	}
}

// serveEmpty serves the page of a seat that nobody has. It is of the page's site, so that the
// browser shows both with one process.
func serveEmpty() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!DOCTYPE html><title>empty</title>")
	}))
}
