package web

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/game/gametest"
	"sparring/screen/static"
)

// paths returns a path for each route, by pattern.
func (h *house) paths() map[string]string {
	all := make(map[string]string)
	for pattern := range h.routes() {
		_, path, _ := strings.Cut(pattern, " ")
		path = strings.NewReplacer("{$}", "", "{id}", "g4kq", "{ply}", "3", "{token}", "nothing", "{version}", h.site.version, "{file...}", "style.css").Replace(path)
		all[pattern] = path
	}
	return all
}

// Every document has the headers, at every address, whatever the method and whatever
// the language, errors included.
func TestHeadersOfEveryAnswer(t *testing.T) {
	h := startHouse(t, Config{Operator: true})
	paths := h.paths()
	paths["unknown"], paths["unknown api"] = "/no/such/page", "/api/none"
	for pattern, path := range paths {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW"} {
			w := h.do(httptest.NewRequest(method, path, nil))
			header := w.Header()
			if header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: browsers may guess the type", method, pattern)
			}
			if w.Code == http.StatusOK && (strings.HasSuffix(pattern, "{file...}") || strings.HasSuffix(pattern, "robots.txt")) {
				continue // no document
			}
			if csp := header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") ||
				!strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("%s %s: policy %q", method, pattern, csp)
			}
			if header.Get("Referrer-Policy") == "" || header.Get("Permissions-Policy") == "" {
				t.Errorf("%s %s: headers %v", method, pattern, header)
			}
			if w.Code >= http.StatusInternalServerError || w.Code == 0 {
				t.Errorf("%s %s: %d %s", method, pattern, w.Code, w.Body)
			}
			if w.Body.Len() > 0 && header.Get("Content-Type") == "" {
				t.Errorf("%s %s: no content type", method, pattern)
			}
		}
	}
}

// Pages have no scripts or styles of their own, in any language and state.
func TestNothingInline(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<style|<script>|<script[^>]*[^"]>\s*\S|\sstyle=|\son[a-z]+=|javascript:|data:text`)
	h := startHouse(t, Config{})
	for pattern, path := range h.paths() {
		for _, lang := range static.Languages {
			w := h.get(path, "Accept-Language", lang)
			if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				if found := inline.FindString(w.Body.String()); found != "" {
					t.Errorf("%s in %s has %q", pattern, lang, found)
				}
			}
		}
	}
	all, err := filepath.Glob("templates/*.html")
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := inline.FindString(string(text)); found != "" {
			t.Errorf("%s has %q", name, found)
		}
	}
}

// A page of another site can't act for a visitor.
func TestCrossOrigin(t *testing.T) {
	h := startHouse(t, Config{})
	b := h.browser(t)
	who := b.guest()
	for pattern, path := range h.paths() {
		method, _, _ := strings.Cut(pattern, " ")
		if method != http.MethodPost {
			continue
		}
		for _, headers := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
		} {
			if w := b.request(http.MethodPost, path, "", headers...); w.Code != http.StatusForbidden {
				t.Errorf("%s with %q: %d", pattern, headers, w.Code)
			}
		}
	}
	b.want(who.Player)
	if w := b.request(http.MethodPost, "/api/session", "", "Origin", "http://example.com", "Sec-Fetch-Site", "same-origin"); w.Code != http.StatusOK {
		t.Errorf("the page itself: %d", w.Code)
	}
	if w := b.request(http.MethodGet, "/ws", "", "Upgrade", "websocket", "Connection", "Upgrade", "Origin", "https://evil.example"); w.Code != http.StatusForbidden {
		t.Errorf("a socket of another site: %d", w.Code)
	}
}

// Nothing but the page's files is served.
func TestPathTraversal(t *testing.T) {
	t.Parallel()
	h := startHouse(t, Config{})
	disk := startHouse(t, Config{Files: "../.."})
	for _, path := range []string{
		"../server.go", "..%2fserver.go", "..%2f..%2fgo.mod", "%2e%2e/server.go", "....//server.go", "..\\server.go", "/etc/passwd", "%2fetc%2fpasswd",
		"./style.css/../../server.go", "style.css%00.js", "", ".", "..", "en.json/", "../templates/base.html", "..%2ftemplates%2fbase.html",
	} {
		for _, house := range []*house{h, disk} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.URL.Path, r.RequestURI = "/s/"+house.site.version+"/"+path, ""
			w := house.do(r)
			if w.Code == http.StatusOK || strings.Contains(w.Body.String(), "package web") || strings.Contains(w.Body.String(), "{{define") {
				t.Errorf("%q: %d %.60s", path, w.Code, w.Body)
			}
			target, err := http.NewRequest(http.MethodGet, "http://example.com/s/"+house.site.version+"/"+path, nil)
			if err != nil {
				continue // no client can send it
			}
			target.RemoteAddr = "192.0.2.1:1234"
			if w := house.do(target); w.Code == http.StatusOK || strings.Contains(w.Body.String(), "package web") {
				t.Errorf("%q as it is sent: %d %.60s", path, w.Code, w.Body)
			}
		}
	}
}

// What no route takes has a page in the visitor's language, or JSON below /api.
func TestUnknownRoutes(t *testing.T) {
	h := startHouse(t, Config{})
	for _, lang := range static.Languages {
		want := h.site.text(lang, "error.no-page")
		for _, path := range []string{"/nothing", "/game", "/game/a/b/c", "/s/x", "/link/", "/.git/config", "//evil.example", "/ladder/"} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.URL.Path = path
			w := h.do(r, "Accept-Language", lang)
			if w.Code == http.StatusMovedPermanently || w.Code == http.StatusTemporaryRedirect {
				if to := w.Header().Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, ":") {
					t.Errorf("%s redirects to %q", path, to)
				}
				continue
			}
			if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s in %s: %d %s", path, lang, w.Code, w.Body)
			}
		}
	}
	var f refusal
	if w := h.get("/api/none"); w.Code != http.StatusNotFound || json.Unmarshal(w.Body.Bytes(), &f) != nil || f.Code != "no-page" {
		t.Errorf("/api/none: %d %s", w.Code, w.Body)
	}
	w := h.do(httptest.NewRequest(http.MethodDelete, "/api/session", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
		t.Errorf("DELETE: %d %v", w.Code, w.Header())
	}
	head := h.do(httptest.NewRequest(http.MethodHead, "/", nil))
	if head.Code != http.StatusOK || head.Header().Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %v", head.Code, head.Header())
	}
}

func TestBodies(t *testing.T) {
	h := startHouse(t, Config{})
	for body, want := range map[string]int{
		`{"name": "` + strings.Repeat("x", maxBody) + `"}`: http.StatusRequestEntityTooLarge,
		strings.Repeat("[", maxBody-1):                     http.StatusBadRequest,
		`{`:                                                http.StatusBadRequest, `[]`: http.StatusBadRequest, `"x"`: http.StatusBadRequest, "\x00": http.StatusBadRequest, `{"name": 3}`: http.StatusBadRequest,
		`{"name": "` + strings.Repeat("x", 10_000) + `"}`: http.StatusUnprocessableEntity,
	} {
		b := h.browser(t)
		b.guest()
		if code, a := b.post("/api/name", body); code != want || a.Code == "" || a.Text == "" {
			t.Errorf("%.20q: %d %+v, want %d", body, code, a, want)
		}
	}
}

// A name with markup stands on pages as text.
func TestMarkupInNames(t *testing.T) {
	h := startHouse(t, Config{})
	b := h.browser(t)
	b.guest()
	if code, _ := b.post("/api/name", `{"name": "<b onclick=x>\"'&"}`); code != http.StatusOK {
		t.Fatal(code)
	}
	_, made := b.post("/api/link", "")
	w := h.browser(t).request(http.MethodGet, "/link/"+made.linkAnswer.Token, "")
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<b ") || !strings.Contains(w.Body.String(), "&lt;b") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestQRCode(t *testing.T) {
	h := startHouse(t, Config{URL: "https://play.example.org/"})
	token := strings.Repeat("a", idLength+secretLength)
	w := h.get("/api/qr?path=/link/" + token)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/svg+xml" || !strings.Contains(w.Body.String(), "<svg") || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %.100s", w.Code, w.Header(), w.Body)
	}
	for _, path := range []string{"", "https://evil.example", "//evil.example", "/link/../x", "/link/%22%3E", "/link/" + strings.Repeat("a", 65), "/api/erase"} {
		if w := h.get("/api/qr?path=" + path); w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", path, w.Code)
		}
	}
}

// No log, at any level, has a cookie, a link or an address of a visitor.
func TestLogHasNoSecrets(t *testing.T) {
	var log gametest.Output
	h := startHouseLog(t, Config{}, zerolog.New(&log).Level(zerolog.TraceLevel))
	secrets := []string{"192.0.2.1"} // of httptest's visitors
	a, b := h.browser(t), h.browser(t)
	a.guest()
	a.post("/api/name", `{"name": "Ann"}`)
	a.post("/api/name", `{"name": ""}`)
	_, made := a.post("/api/link", "")
	secrets = append(secrets, made.linkAnswer.Token, made.linkAnswer.Token[idLength:])
	for range 2 {
		b.request(http.MethodGet, "/link/"+made.linkAnswer.Token, "")
		b.request(http.MethodPost, "/link/"+made.linkAnswer.Token, "")
	}
	for _, browser := range []*browser{a, b} {
		for _, c := range browser.cookies {
			secrets = append(secrets, c.Value, c.Value[idLength:], hashed(c.Value[idLength:]))
		}
	}
	b.request(http.MethodPost, "/api/name", "", "Origin", "https://evil.example")
	b.post("/api/logout", `{"others": true}`)
	h.get("/api/qr?path=/link/" + made.linkAnswer.Token)
	h.nats.Close()
	a.post("/api/link", "")
	h.browser(t).post("/api/session", "")
	b.post("/api/erase", "")
	text := log.String()
	if text == "" {
		t.Fatal("nothing is logged")
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// Without the store there is one clear refusal, and who was here stays so.
func TestWithoutStore(t *testing.T) {
	h := startHouse(t, Config{})
	b := h.browser(t)
	who := b.guest()
	h.nats.Close()
	b.want(who.Player)
	for path, body := range map[string]string{"/api/name": `{"name": "Ann"}`, "/api/link": "", "/api/logout": "", "/api/erase": ""} {
		if code, a := b.post(path, body); code != http.StatusServiceUnavailable || a.Code != "unavailable" || a.Text == "" {
			t.Errorf("%s: %d %+v", path, code, a)
		}
	}
	if code, a := h.browser(t).post("/api/session", ""); code != http.StatusServiceUnavailable || a.Code != "unavailable" {
		t.Errorf("a new session: %d %+v", code, a)
	}
	b.want(who.Player)
	if w := b.request(http.MethodGet, "/", ""); w.Code != http.StatusOK {
		t.Errorf("the page: %d", w.Code)
	}
	gametest.Eventually(t, "/healthz to say so", func() bool {
		w := httptest.NewRecorder()
		h.arena.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return w.Code == http.StatusServiceUnavailable
	})
}

// Requests that dribble in hold up nobody else, and end when the server has had
// enough of them. Old and odd clients get an answer.
func TestSlowAndOldClients(t *testing.T) {
	t.Parallel()
	h := startHouse(t, Config{})
	srv := httptest.NewUnstartedServer(h.Handler())
	srv.Config.ReadTimeout = 500 * time.Millisecond
	srv.Start()
	defer srv.Close()
	dial := func(request string) *http.Response {
		t.Helper()
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		c.SetReadDeadline(time.Now().Add(patience))
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%.40q: %v", request, err)
		}
		resp.Body.Close()
		return resp
	}
	var slow sync.WaitGroup
	for range 50 {
		slow.Go(func() {
			resp, err := http.Post(srv.URL+"/api/name", "application/json", dribble{})
			if err == nil {
				resp.Body.Close()
				if resp.StatusCode != http.StatusBadRequest {
					t.Errorf("half a body: %s", resp.Status)
				}
			}
		})
	}
	for request, want := range map[string]int{
		"GET / HTTP/1.0\r\n\r\n":                                                                http.StatusOK,
		"HEAD / HTTP/1.0\r\n\r\n":                                                               http.StatusOK,
		"POST /api/session HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}":                             http.StatusOK,
		"GET / HTTP/1.1\r\n\r\n":                                                                http.StatusBadRequest, // no host
		"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n":                                          http.StatusBadRequest,
		"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n":                                                 http.StatusOK,
		"GET //evil.example/%2e%2e HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n":            http.StatusNotFound,
		"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n":                                                  http.StatusBadRequest,
		"POST /api/name HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\n{": http.StatusBadRequest,
	} {
		if resp := dial(request); resp.StatusCode != want {
			t.Errorf("%.40q: %s, want %d", request, resp.Status, want)
		}
	}
	slow.Wait()
	http.DefaultClient.CloseIdleConnections()
}

// dribble is a body that begins and never ends.
type dribble struct{}

func (dribble) Read(p []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return copy(p, " "), nil
}
