package web

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sparring/game/gametest"
	"sparring/protocol"
)

// browser keeps cookies, like a browser.
type browser struct {
	t       *testing.T
	h       *house
	cookies map[string]*http.Cookie
	headers []string
}

func (h *house) browser(t *testing.T, headers ...string) *browser {
	return &browser{t: t, h: h, cookies: make(map[string]*http.Cookie), headers: headers}
}

func (b *browser) newRequest(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	return r
}

func (b *browser) request(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	w := b.h.do(b.newRequest(method, path, body), append(headers, b.headers...)...)
	for _, c := range w.Result().Cookies() {
		b.cookies[c.Name] = c
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return w
}

// post sends a request to /api and decodes its answer, a refusal as well.
func (b *browser) post(path, body string) (code int, answer struct {
	whoAnswer
	linkAnswer
	refusal
}) {
	b.t.Helper()
	w := b.request(http.MethodPost, path, body)
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		b.t.Fatalf("%s: %d %q: %v", path, w.Code, w.Body, err)
	}
	return w.Code, answer
}

// guest begins a session.
func (b *browser) guest() whoAnswer {
	b.t.Helper()
	code, who := b.post("/api/session", "")
	if code != http.StatusOK || !strings.HasPrefix(string(who.Player), protocol.PeoplePrefix) {
		b.t.Fatalf("no session: %d %+v", code, who)
	}
	return who.whoAnswer
}

// want checks who plays in this browser; "" wants a stranger.
func (b *browser) want(id protocol.PlayerID) {
	b.t.Helper()
	p, err := b.h.session(b.newRequest(http.MethodGet, "/", ""))
	if p.ID != id || (err == nil) != (id != "") {
		b.t.Errorf("the session is %q's (%v), want %q", p.ID, err, id)
	}
}

// guest matches the name of a guest, which is in both languages.
var guest = regexp.MustCompile(`^Guest \d{4} · 访客\d{4}$`)

func TestGuest(t *testing.T) {
	h := startHouse(t, Config{})
	b := h.browser(t)
	b.want("")
	who := b.guest()
	b.want(who.Player)
	if again := b.guest(); again != who {
		t.Errorf("a second request made %v of %v", again, who)
	}
	if zh := h.browser(t, "Accept-Language", "zh"); !guest.MatchString(who.Name) || !guest.MatchString(zh.guest().Name) {
		t.Errorf("the guest is called %q: others can't read it in their language", who.Name)
	}
	if code, a := b.post("/api/name", `{"name": "  棋   友  "}`); code != http.StatusOK || a.Name != "棋 友" {
		t.Errorf("renamed: %d %+v", code, a)
	}
	if got := b.guest(); got.Name != "棋 友" {
		t.Errorf("after renaming: %v", got)
	}
	if code, a := b.post("/api/name", `{"name": "Level 10 · 10 级"}`); code != http.StatusUnprocessableEntity || a.Code != codeLevel {
		t.Errorf("the name of a level: %d %+v", code, a)
	}
	if code, a := b.post("/api/name", `{"name": "\u202eevil"}`); code != http.StatusUnprocessableEntity || a.Code != codeName {
		t.Errorf("a name that reads backwards: %d %+v", code, a)
	}
}

// The cookie is out of reach of scripts and other sites, and only its hash is
// stored.
func TestCookie(t *testing.T) {
	h := startHouse(t, Config{})
	b := h.browser(t)
	who := b.guest()
	for _, c := range b.cookies {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure || c.Path != "/" || c.MaxAge <= 0 {
			t.Errorf("cookie: %+v", c)
		}
		entry, err := h.people.kv.Get(t.Context(), string(who.Player))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(entry.Value()), c.Value[idLength:]) {
			t.Error("the bucket has the secret")
		}
	}
	w := h.do(httptest.NewRequest(http.MethodPost, "https://play.example.org/api/session", nil))
	for _, c := range w.Result().Cookies() {
		if !c.Secure || !strings.HasPrefix(c.Name, "__Host-") {
			t.Errorf("cookie over TLS: %+v", c)
		}
	}
}

func TestForgedCookie(t *testing.T) {
	h := startHouse(t, Config{})
	owner := h.browser(t)
	who := owner.guest()
	for name, c := range owner.cookies {
		for _, value := range []string{
			"", "x", c.Value[:idLength], c.Value[:idLength] + strings.Repeat("a", secretLength), c.Value + "a", c.Value[:len(c.Value)-1],
			strings.Repeat("a", idLength) + c.Value[idLength:], strings.ToUpper(c.Value), "../" + c.Value[3:], ">" + c.Value[1:], "*" + c.Value[1:],
		} {
			b := h.browser(t)
			b.cookies[name] = &http.Cookie{Name: name, Value: value}
			b.want("")
			if code, a := b.post("/api/name", `{"name": "thief"}`); code != http.StatusUnauthorized || a.Code != codeNobody {
				t.Errorf("cookie %q: %d %+v", value, code, a)
			}
		}
	}
	owner.want(who.Player)
}

// A link takes a guest to another device, once, and only by its button.
func TestDeviceLink(t *testing.T) {
	h := startHouse(t, Config{})
	phone, laptop, thief := h.browser(t), h.browser(t), h.browser(t)
	who := phone.guest()
	code, made := phone.post("/api/link", "")
	if code != http.StatusOK || made.URL != "http://example.com/link/"+made.linkAnswer.Token {
		t.Fatalf("link: %d %+v", code, made)
	}
	path := "/link/" + made.linkAnswer.Token
	for range 3 { // previews, which must not use it up
		if w := laptop.request(http.MethodGet, path, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), strings.Split(who.Name, " · ")[0]) {
			t.Fatalf("page of the link: %d %s", w.Code, w.Body)
		}
		laptop.request(http.MethodHead, path, "")
	}
	laptop.want("")
	unanswered := h.browser(t) // the same one, if it does not learn what came of it
	unanswered.cookies = maps.Clone(laptop.cookies)
	if w := laptop.request(http.MethodPost, path, ""); w.Code != http.StatusSeeOther {
		t.Fatalf("used: %d %s", w.Code, w.Body)
	}
	laptop.want(who.Player)
	if w := unanswered.request(http.MethodPost, path, ""); w.Code != http.StatusSeeOther {
		t.Errorf("repeated: %d %s", w.Code, w.Body)
	}
	unanswered.want(who.Player)
	phone.want(who.Player)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if w := thief.request(method, path, ""); w.Code != http.StatusGone {
			t.Errorf("%s again: %d", method, w.Code)
		}
	}
	thief.want("")
	if w := thief.request(http.MethodPost, "/link/"+strings.Repeat("a", idLength+secretLength), ""); w.Code != http.StatusGone {
		t.Errorf("a link of nobody: %d", w.Code)
	}
	if code, _ := thief.post("/api/link", ""); code != http.StatusUnauthorized {
		t.Errorf("a stranger makes a link: %d", code)
	}
}

// Of many who use a link at the same time, one gets in.
func TestDeviceLinkIsUsedOnce(t *testing.T) {
	h := startHouse(t, Config{})
	phone := h.browser(t)
	phone.guest()
	_, made := phone.post("/api/link", "")
	var all sync.WaitGroup
	codes := make(chan int, 12)
	for range cap(codes) {
		all.Go(func() { codes <- h.browser(t).request(http.MethodPost, "/link/"+made.linkAnswer.Token, "").Code })
	}
	all.Wait()
	close(codes)
	used := 0
	for code := range codes {
		if code == http.StatusSeeOther {
			used++
		}
	}
	if used != 1 {
		t.Errorf("the link was used %d times", used)
	}
}

func TestExpiredLinkAndSession(t *testing.T) {
	h := startHouse(t, Config{})
	b := h.browser(t)
	who := b.guest()
	_, made := b.post("/api/link", "")
	if _, err := h.people.change(t.Context(), who.Player, func(a *account) error {
		a.Links[0].Expires = time.Now().Add(-time.Second)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if w := h.browser(t).request(method, "/link/"+made.linkAnswer.Token, ""); w.Code != http.StatusGone {
			t.Errorf("%s an expired link: %d", method, w.Code)
		}
	}
	b.want(who.Player)
	if _, err := h.people.change(t.Context(), who.Player, func(a *account) error {
		a.Sessions[0].Seen = time.Now().Add(-keepPerson)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	b.want("")
}

// Sessions end here, elsewhere or with the person.
func TestLogout(t *testing.T) {
	h := startHouse(t, Config{})
	phone, laptop, late := h.browser(t), h.browser(t), h.browser(t)
	who := phone.guest()
	_, first := phone.post("/api/link", "")
	_, second := phone.post("/api/link", "")
	laptop.request(http.MethodPost, "/link/"+first.linkAnswer.Token, "")
	laptop.want(who.Player)
	h.people.mu.Lock()
	before := *h.people.known[who.Player]
	h.people.mu.Unlock()
	if code, _ := phone.post("/api/logout", `{"others": true}`); code != http.StatusOK {
		t.Fatalf("ended elsewhere: %d", code)
	}
	phone.want(who.Player)
	laptop.want("")
	before.revision = math.MaxUint64 // as on a gateway that has not heard of it
	h.people.mu.Lock()
	h.people.known[who.Player] = &before
	h.people.mu.Unlock()
	laptop.want(who.Player)
	if code, _ := laptop.post("/api/link", ""); code != http.StatusUnauthorized {
		t.Errorf("a link made by a session that has ended: %d", code)
	}
	h.people.forget(who.Player)
	laptop.want("")
	if w := late.request(http.MethodPost, "/link/"+second.linkAnswer.Token, ""); w.Code != http.StatusGone {
		t.Errorf("a link of before: %d", w.Code)
	}
	stolen := h.browser(t)
	for name, c := range phone.cookies {
		stolen.cookies[name] = c
	}
	phone.post("/api/logout", "")
	phone.want("")
	stolen.want("")

	other := h.browser(t)
	gone := other.guest()
	other.post("/api/erase", "")
	other.want("")
	if _, err := h.people.get(t.Context(), gone.Player); err != errNobody {
		t.Errorf("an erased person: %v", err)
	}
}

// A session is never lost to the number of others, but the oldest makes room.
func TestSessionsAreBounded(t *testing.T) {
	now := time.Now()
	var a account
	for i := range 3 * maxSessions {
		a.addSession(hashed(string(rune('a'+i))), now.Add(time.Duration(i)*time.Second))
	}
	if len(a.Sessions) != maxSessions || a.session(hashed("a"), now) != nil || a.session(hashed(string(rune('a'+3*maxSessions-1))), now) == nil {
		t.Errorf("%d sessions", len(a.Sessions))
	}
}

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{
		"Ann":                      "Ann",
		" 棋　友 ":                    "棋 友",
		"e\u0301":                  "é",
		"<b>x</b>":                 "<b>x</b>", // shown as written
		"👍🏽 ok":                    "👍🏽 ok",
		strings.Repeat("棋", 24):    strings.Repeat("棋", 24),
		strings.Repeat("棋", 25):    "",
		strings.Repeat("a", 10000): "",
		"":                         "", "   ": "", "\u3000": "", "\u2800": "", "\u3164": "", "\u200b": "", "\ufe0f": "",
		"a\u200bb": "", "a\u202eb": "", "\u2066a": "", "\u200fa": "", "a\x00b": "", "a\x1b[31m": "", "\u0301a": "",
		"a\u0300\u0301\u0302\u0303": "", "a\xffb": "", "\ue000": "", "\U000e0041": "", "\u061c": "", "\ufeff": "",
		"a\nb":            "a b",
		"Level 10 · 10 级": "", "level 3": "", "ＬＥＶＥＬ　３": "", "Level10": "", "3级": "", "３ 級": "",
		"业余5级": "业余5级", "Levelled 3": "Levelled 3", "Level": "Level", "级 3": "级 3",
	} {
		got, err := cleanName(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%+q: %+q, %v; want %+q", name, got, err, want)
		}
	}
}

// Another arena serves the same people, and learns at once what changes.
func TestAnyArenaServesAnyPerson(t *testing.T) {
	h := startHouse(t, Config{})
	second := h.another(t)
	b := h.browser(t)
	who := b.guest()
	there := second.browser(t)
	there.cookies = b.cookies
	there.want(who.Player)
	if code, _ := b.post("/api/name", `{"name": "Ann"}`); code != http.StatusOK {
		t.Fatal(code)
	}
	gametest.Eventually(t, "the new name", func() bool {
		a, err := second.people.get(t.Context(), who.Player)
		return err == nil && a.Name == "Ann"
	})
	told := make(chan *account, 10)
	third := h.prepare(t)
	third.people.onChange(func(id protocol.PlayerID, a *account) { told <- a })
	third.run(t)
	gametest.Eventually(t, "a change that is told", func() bool {
		there.post("/api/name", `{"name": "Bea"}`)
		select {
		case a := <-told:
			return a != nil && a.Name == "Bea"
		default:
			return false
		}
	})
	b.post("/api/erase", "")
	gametest.Eventually(t, "the erased person to be a stranger there", func() bool { _, err := second.people.get(t.Context(), who.Player); return err == errNobody })
}

// A guest who has played is kept for longer.
func TestPlayed(t *testing.T) {
	h := startHouse(t, Config{})
	b := h.browser(t)
	who := b.guest()
	for range 2 {
		if err := h.people.played(t.Context(), who.Player); err != nil {
			t.Fatal(err)
		}
	}
	for played, keep := range map[protocol.PlayerID]time.Duration{who.Player: keepPerson, h.browser(t).guest().Player: keepGuest} {
		st, err := h.people.js.Stream(t.Context(), "KV_"+h.people.kv.Bucket())
		if err != nil {
			t.Fatal(err)
		}
		msg, err := st.GetLastMsgForSubject(t.Context(), "$KV."+h.people.kv.Bucket()+"."+string(played))
		if err != nil {
			t.Fatal(err)
		}
		if ttl, err := time.ParseDuration(msg.Header.Get("Nats-TTL")); err != nil || ttl != keep {
			t.Errorf("%s is kept for %v (%v), want %v", played, ttl, err, keep)
		}
	}
	if err := h.people.played(t.Context(), "human-aaaaaaaaaaaaaaaa"); err != errNobody {
		t.Errorf("nobody: %v", err)
	}
}
