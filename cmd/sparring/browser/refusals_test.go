package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
)

// refuse makes pages that are opened from now on get the answer unavailable to their first
// request of a kind, as while the platform can't read or store anything.
func (p *tab) refuse(kind string) {
	p.t.Helper()
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(`(() => {
		let left = 1;
		window.WebSocket = class extends WebSocket {
			send(data) {
				const m = JSON.parse(data);
				if (m.t !== %s || left-- <= 0) return super.send(data);
				setTimeout(() => this.onmessage?.({ data: JSON.stringify({ t: "answer", id: m.id, code: "unavailable" }) }));
			}
		};
	})()`, quote(kind))})
}

// TestInvitationNotReadNow: a friend whose invitation can't be read in a bad moment is not
// told that it is over, and sees it when that has passed.
func TestInvitationNotReadNow(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ann, bob := newPerson(t, "ann", phone, w.at), newPerson(t, "bob", phone, w.at)
	ann.setUp(setup{game: "gomoku"})
	ann.tapUntil(act("invite"), visible(`input[data-link]`))
	bob.refuse("invited")
	bob.open(ann.link())
	bob.await(`document.querySelector("main").textContent.includes(` + quote(unavailable) + `)`)
	bob.see(act("join"))
	if text := eval[string](bob.tab, `document.querySelector("main").textContent`); strings.Contains(text, unavailable) {
		t.Errorf("bob still reads %q", text)
	}
}

// TestWithdrawalRefused: what could not be taken back is not shown as if it were.
func TestWithdrawalRefused(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "host", phone, w.at)
	p.refuse("uninvite")
	p.setUp(setup{game: "gomoku"})
	p.tapUntil(act("invite"), visible(`input[data-link]`))
	p.hear()
	p.tap(act("withdraw"))
	p.heard(unavailable)
	if !p.sees(`input[data-link]`) {
		t.Error("the link is gone, though it still works")
	}
	p.open("/")
	p.connected()
	p.hear()
	p.tap(`[data-waiting] ` + act("withdraw"))
	p.heard(unavailable)
	p.tapUntil(`[data-waiting] `+act("withdraw"), `!`+visible(`[data-waiting]`))
}

// TestBrowserWithoutCookies: whoever keeps no cookies is told so, instead of waiting for
// ever.
func TestBrowserWithoutCookies(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	to := &url.URL{Scheme: "http", Host: w.at}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error { r.Header.Del("Set-Cookie"); return nil },
	})
	t.Cleanup(proxy.Close)
	p := newPerson(t, "private", phone, strings.TrimPrefix(proxy.URL, "http://"))
	p.open("/")
	p.connected()
	p.see(`.about [data-rating]`)
	p.hear()
	p.tap(act("play"))
	p.heard("This browser keeps no cookies of this page, and without one nobody can play here. Allow them, and reload the page.")
	p.see(act("play"))
}

// TestSignedOutElsewhere: a device that was signed out from another one, in the middle of a
// game, says so, and offers nothing that it may not do.
func TestSignedOutElsewhere(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p, old := newPerson(t, "owner", phone, w.at), newPerson(t, "owner's old phone", phone, w.at)
	id := p.play(setup{game: "gomoku", seat: "first"})
	p.tap(act("account"))
	p.tapUntil(act("device-link"), visible(`dialog input[data-link]`))
	old.open(p.link())
	old.tapUntil(`main form button`, `location.pathname === "/"`)
	old.open("/game/" + string(id))
	old.see(mayMove)
	old.see(act("hint"))
	p.tap(act("sign-out-others"))
	old.await(notes("You are not signed in on this device any more."))
	old.see(`.board[data-may="none"]`)
	old.await("!" + visible(`[data-act="hint"], [data-act="resign"]`))
	old.open("/game/" + string(id))
	old.connected()
	if eval[bool](old.tab, notes("You are not signed in on this device any more.")) {
		t.Error("it says so again")
	}
}
