package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game/gametest"
	"sparring/protocol"
)

func TestLimiter(t *testing.T) {
	l := newLimiter[string](Rate{PerMinute: 60, Burst: 3})
	now := time.Now()
	for i := range 3 {
		if wait := l.allow("a", now); wait != 0 {
			t.Fatalf("use %d waits %v", i, wait)
		}
	}
	if wait := l.allow("a", now); wait <= 0 || wait > time.Second {
		t.Errorf("a fourth use waits %v", wait)
	}
	if l.allow("b", now) != 0 {
		t.Error("one key pays for another")
	}
	if l.allow("a", now.Add(time.Second)) != 0 || l.allow("a", now.Add(time.Second)) == 0 {
		t.Error("a second allows something else than one more use")
	}
	// Keys survive one change of generations, so that waiting for it gains nothing.
	later := now.Add(l.full + time.Second)
	for range 3 {
		l.allow("c", later)
	}
	l.since = time.Time{}
	if l.allow("c", later) == 0 {
		t.Error("a key that was used a moment ago is forgotten")
	}
	// Nor do other keys make it forget one before its time.
	later = later.Add(10 * l.full)
	for range 3 {
		l.allow("d", later)
	}
	for range 2 {
		later = later.Add(time.Second)
		l.allow("e", later)
	}
	for i := range 3 {
		if allowed := l.allow("d", later) == 0; allowed != (i < 2) {
			t.Errorf("use %d after two seconds: allowed %v", i, allowed)
		}
	}
	if newLimiter[string](Rate{PerMinute: 1}).allow("a", now) == 0 {
		t.Error("a burst of 0 allows a use")
	}
}

func TestLimiterIsBounded(t *testing.T) {
	l := newLimiter[int](Rate{PerMinute: 1, Burst: 100})
	now := time.Now()
	for i := range 5 * maxKeys {
		l.allow(i, now)
	}
	if n := len(l.recent) + len(l.older); n > 2*maxKeys {
		t.Errorf("%d keys are remembered", n)
	}
}

// One address can't make sessions without end, and another is served meanwhile.
func TestNewSessionsOfOneAddress(t *testing.T) {
	h := startHouse(t, Config{Limits: Limits{
		Requests: Rate{PerMinute: 1e6, Burst: 20_000}, Sessions: DefaultLimits().Sessions, Changes: DefaultLimits().Changes,
	}})
	codes := make(map[int]int)
	handler := h.Handler()
	for i := range 10_000 {
		r := httptest.NewRequest(http.MethodPost, "/api/session", nil)
		r.RemoteAddr = fmt.Sprintf("[2001:db8::%x]:1234", i) // one visitor, who owns all of these
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		codes[w.Code]++
		if n, err := strconv.Atoi(w.Header().Get("Retry-After")); w.Code == http.StatusTooManyRequests && (err != nil || n < 1) {
			t.Fatalf("Retry-After: %q", w.Header().Get("Retry-After"))
		}
	}
	if made := codes[http.StatusOK]; made < DefaultLimits().Sessions.Burst || made > 1000 || codes[http.StatusTooManyRequests] != 10_000-made {
		t.Errorf("answers: %v", codes)
	}
	h.browser(t).guest()
}

func TestRequestsOfOneAddress(t *testing.T) {
	h := startHouse(t, Config{Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Limits: Limits{
		Requests: Rate{PerMinute: 1, Burst: 3}, Sessions: Rate{PerMinute: 1, Burst: 100}, Changes: Rate{PerMinute: 1, Burst: 2},
	}})
	for i := range 5 { // httptest's address is the proxy's
		w := h.get("/", "X-Forwarded-For", "203.0.113.7")
		if want := map[bool]int{true: http.StatusOK, false: http.StatusTooManyRequests}[i < 3]; w.Code != want {
			t.Errorf("request %d: %d, want %d", i, w.Code, want)
		}
	}
	if w := h.get("/", "X-Forwarded-For", "203.0.113.8"); w.Code != http.StatusOK {
		t.Errorf("another visitor of the proxy: %d", w.Code)
	}
	if w := h.get(h.site.address("en.json"), "X-Forwarded-For", "203.0.113.7"); w.Code != http.StatusOK {
		t.Errorf("a static file: %d", w.Code)
	}
	b := h.browser(t)
	b.guest()
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		if code, a := b.post("/api/name", `{"name": "Ann"}`); code != want {
			t.Errorf("change %d: %d %+v", i, code, a)
		}
	}
}

// An address gets only so many sockets, and one more after one of them is closed.
func TestSocketsOfOneAddress(t *testing.T) {
	t.Parallel()
	h := startHouse(t, Config{})
	h.hub.limits.perAddress = 3 // before the first socket
	srv := httptest.NewServer(h.Handler())
	defer srv.Close()
	address := strings.Replace(srv.URL, "http", "ws", 1) + "/ws"
	var open []*websocket.Conn
	for range 3 {
		c, _, err := websocket.Dial(t.Context(), address, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseNow()
		open = append(open, c)
	}
	_, resp, err := websocket.Dial(t.Context(), address, nil)
	if err == nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Fatalf("a fourth socket: %v, %+v", err, resp)
	}
	var f refusal
	if err := json.NewDecoder(resp.Body).Decode(&f); err != nil || f.Code != protocol.RateLimited {
		t.Errorf("refused with %+v, %v", f, err)
	}
	_, resp, err = websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://evil.example"}}})
	if err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a socket of another site: %v, %+v", err, resp)
	}
	open[0].CloseNow()
	gametest.Eventually(t, "room for another socket", func() bool {
		c, _, err := websocket.Dial(t.Context(), address, nil)
		if err == nil {
			c.CloseNow()
		}
		return err == nil
	})
	gametest.Eventually(t, "the sockets in the metrics", func() bool {
		w := httptest.NewRecorder()
		h.arena.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return strings.Contains(w.Body.String(), "sparring_page_sockets 2\n") && strings.Contains(w.Body.String(), `sparring_page_refusals_total{code="rate-limited"} `)
	})
}

// A page that comes back while the gateway stops is not told that it has too many sockets.
func TestSocketWhileStopping(t *testing.T) {
	h := startHouse(t, Config{})
	h.hub.stop()
	w := h.get("/ws", "Upgrade", "websocket", "Connection", "Upgrade")
	var f refusal
	if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil || w.Code != http.StatusServiceUnavailable || f.Code != protocol.Unavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestNamesBySocket: a person changes its name through a socket as rarely as by a
// request to /api.
func TestNamesBySocket(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.changes = newLimiter[protocol.PlayerID](Rate{PerMinute: 0.001, Burst: 2}) })
	register(t, gw, human("ann"))
	ann := openPage(t, gw, human("ann"))
	ann.want(message.Request{T: "name", Name: "Ann"})
	ann.want(message.Request{T: "name", Name: "Anna"})
	ann.refuse(message.Request{T: "name", Name: "Anne"}, protocol.RateLimited)
}

// TestLobbyOfStrangers: what visitors without a session do has no lobby sent to all of
// them.
func TestLobbyOfStrangers(t *testing.T) {
	l := newLobbies(nil)
	l.refresh("")
	if len(l.changed) > 0 || len(l.wake) > 0 {
		t.Errorf("refreshed: %v", l.changed)
	}
}

// TestLevelsOfStrangers: a bot that says it plays at a level does not stand for it where the
// platform has a player of that level.
func TestLevelsOfStrangers(t *testing.T) {
	claims := func(p protocol.PlayerID, gameName string, level int) arena.Instance {
		return arena.Instance{Player: p, Hello: protocol.Hello{Kind: protocol.Bot, Games: []protocol.Capability{{Game: gameName, Engine: &protocol.Engine{Level: level}}}}}
	}
	present := []arena.Instance{claims("eve", "gomoku", 3), claims("gomoku-level-3", "gomoku", 3), claims("gomoku-level-4", "gomoku", 4),
		claims("mallory", "gomoku", 5), claims("trent", "amazons", 3)}
	want := map[protocol.PlayerID]int{"eve": 0, "gomoku-level-3": 3, "gomoku-level-4": 4, "mallory": 5, "trent": 3}
	for _, o := range opponents(present, nil, nil) {
		if o.Level != want[o.Player] {
			t.Errorf("%s stands for level %d of %s, want %d", o.Player, o.Level, o.Game, want[o.Player])
		}
		if past := levelOf(present, o.Player, o.Game); past != want[o.Player] {
			t.Errorf("a game against %s counts as one against level %d, want %d", o.Player, past, want[o.Player])
		}
		delete(want, o.Player)
	}
	if len(want) > 0 {
		t.Errorf("not among the opponents: %v", want)
	}
}
