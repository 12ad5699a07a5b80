package games

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"sparring/arena/web/browser"
)

// TestInvitationNotReadNow: a friend whose invitation can't be read in a bad moment is not
// told that it is over, and sees it when that has passed.
func TestInvitationNotReadNow(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	ann, bob := browser.NewPerson(t, "ann", browser.Phone, w.At), browser.NewPerson(t, "bob", browser.Phone, w.At)
	ann.SetUp(browser.Setup{Game: "gomoku"})
	ann.TapUntil(browser.Act("invite"), browser.Visible(`input[data-link]`))
	bob.Refuse("invited")
	bob.Open(ann.Link())
	bob.Await(`document.querySelector("main").textContent.includes(` + browser.Quote(browser.Unavailable) + `)`)
	bob.See(browser.Act("join"))
	if text := browser.Eval[string](bob.Tab, `document.querySelector("main").textContent`); strings.Contains(text, browser.Unavailable) {
		t.Errorf("bob still reads %q", text)
	}
}

// TestWithdrawalRefused: what could not be taken back is not shown as if it were.
func TestWithdrawalRefused(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "host", browser.Phone, w.At)
	p.Refuse("uninvite")
	p.SetUp(browser.Setup{Game: "gomoku"})
	p.TapUntil(browser.Act("invite"), browser.Visible(`input[data-link]`))
	p.Hear()
	p.Tap(browser.Act("withdraw"))
	p.Heard(browser.Unavailable)
	if !p.Sees(`input[data-link]`) {
		t.Error("the link is gone, though it still works")
	}
	p.Open("/")
	p.Connected()
	p.Hear()
	p.Tap(`[data-waiting] ` + browser.Act("withdraw"))
	p.Heard(browser.Unavailable)
	p.TapUntil(`[data-waiting] `+browser.Act("withdraw"), `!`+browser.Visible(`[data-waiting]`))
}

// TestBrowserWithoutCookies: whoever keeps no cookies is told so, instead of waiting for
// ever.
func TestBrowserWithoutCookies(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	to := &url.URL{Scheme: "http", Host: w.At}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error { r.Header.Del("Set-Cookie"); return nil },
	})
	t.Cleanup(proxy.Close)
	p := browser.NewPerson(t, "private", browser.Phone, strings.TrimPrefix(proxy.URL, "http://"))
	p.Open("/")
	p.Connected()
	p.See(`.about [data-rating]`)
	p.Hear()
	p.Tap(browser.Act("play"))
	p.Heard("This browser keeps no cookies of this page, and without one nobody can play here. Allow them, and reload the page.")
	p.See(browser.Act("play"))
}

// TestSignedOutElsewhere: a device that was signed out from another one, in the middle of a
// game, says so, and offers nothing that it may not do.
func TestSignedOutElsewhere(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p, old := browser.NewPerson(t, "owner", browser.Phone, w.At), browser.NewPerson(t, "owner's old phone", browser.Phone, w.At)
	id := p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	p.Tap(browser.Act("account"))
	p.TapUntil(browser.Act("device-link"), browser.Visible(`dialog input[data-link]`))
	old.Open(p.Link())
	old.TapUntil(`main form button`, `location.pathname === "/"`)
	old.Open("/game/" + string(id))
	old.See(browser.MayMove)
	old.See(browser.Act("hint"))
	p.Tap(browser.Act("sign-out-others"))
	old.Await(browser.Notes("You are not signed in on this device any more."))
	old.See(`.board[data-may="none"]`)
	old.Await("!" + browser.Visible(`[data-act="hint"], [data-act="resign"]`))
	old.Open("/game/" + string(id))
	old.Connected()
	if browser.Eval[bool](old.Tab, browser.Notes("You are not signed in on this device any more.")) {
		t.Error("it says so again")
	}
}
