package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game/gametest"
	"sparring/protocol"
)

// startHouseOn runs a house on a NATS server in another process.
func startHouseOn(t *testing.T, p *arenatest.NATSProcess) *house {
	t.Helper()
	h := &house{nats: p, log: arenatest.Log(t)}
	h.Server = h.open(t, Config{})
	h.run(t)
	return h
}

// withoutWrites checks that nothing is stored and that nobody is lost meanwhile.
func withoutWrites(t *testing.T, h *house, here *browser, who protocol.PlayerID) {
	t.Helper()
	here.want(who)
	for range 2 {
		if code, a := here.post("/api/name", `{"name": "Later"}`); code != http.StatusServiceUnavailable || a.Code != protocol.Unavailable || a.Text == "" {
			t.Errorf("a name: %d %+v", code, a)
		}
		w := h.browser(t).request(http.MethodPost, "/api/session", "")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || len(w.Result().Cookies()) != 0 {
			t.Errorf("a new session: %d %v", w.Code, w.Header())
		}
	}
	if w := here.request(http.MethodGet, "/", ""); w.Code != http.StatusOK {
		t.Errorf("the start page: %d", w.Code)
	}
	here.want(who)
}

// A NATS server that hangs costs nobody the session. A link that is used meanwhile
// can be used again by the same browser, since nobody knows whether it was.
func TestHungStore(t *testing.T) {
	t.Parallel()
	p := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	h := startHouseOn(t, p)
	phone, laptop, thief := h.browser(t), h.browser(t), h.browser(t)
	who := phone.guest()
	_, made := phone.post("/api/link", "")
	path := "/link/" + made.linkAnswer.Token
	laptop.request(http.MethodGet, path, "")
	p.Pause()
	defer p.Continue()
	if w := laptop.request(http.MethodPost, path, ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a link: %d", w.Code)
	}
	withoutWrites(t, h, phone, who.Player)
	// Meanwhile nobody waits for it: it is left alone for a while.
	h.people.mu.Lock()
	rested := h.people.resting
	h.people.resting = time.Now().Add(time.Hour)
	h.people.mu.Unlock()
	if _, _, err := h.people.begin(t.Context()); rested.IsZero() || !errors.Is(err, errStore) {
		t.Errorf("left alone since %v: %v", rested, err)
	}
	h.people.mu.Lock()
	h.people.resting = rested
	h.people.mu.Unlock()
	if err := h.health(); !errors.Is(err, errStore) {
		t.Errorf("/healthz says %v", err)
	}
	p.Continue()
	gametest.Eventually(t, "the link to work", func() bool { return laptop.request(http.MethodPost, path, "").Code == http.StatusSeeOther })
	laptop.want(who.Player)
	if w := thief.request(http.MethodPost, path, ""); w.Code != http.StatusGone {
		t.Errorf("another browser: %d", w.Code)
	}
	gametest.Eventually(t, "/healthz to be content", func() bool { return h.health() == nil })
	gametest.Eventually(t, "a new name", func() bool { code, _ := phone.post("/api/name", `{"name": "Ann"}`); return code == http.StatusOK })
	phone.want(who.Player)
	h.browser(t).guest()
}

// startOnSmallDisk runs a NATS server with its streams on a small disk.
func startOnSmallDisk(t *testing.T) (*arenatest.SmallDisk, *arenatest.NATSProcess) {
	t.Helper()
	disk := arenatest.NewSmallDisk(t, "8m")
	platform := filepath.Join(disk.Dir, "platform")
	if err := os.Mkdir(platform, 0o700); err != nil {
		t.Fatal(err)
	}
	return disk, arenatest.StartNATS(t, filepath.Join(platform, "nats"))
}

// With a full disk nothing is stored, and nobody is lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk, p := startOnSmallDisk(t)
	h := startHouseOn(t, p)
	b := h.browser(t)
	who := b.guest()
	disk.Fill()
	gametest.Eventually(t, "a refusal", func() bool {
		code, _ := h.browser(t).post("/api/session", "")
		return code == http.StatusServiceUnavailable
	})
	withoutWrites(t, h, b, who.Player)
	disk.Empty()
	p.Close() // JetStream stays off until the server is started again
	p.Start()
	gametest.Eventually(t, "a new name", func() bool { code, _ := b.post("/api/name", `{"name": "Ann"}`); return code == http.StatusOK })
	b.want(who.Player)
}

// On a full disk who asks for a game is told that none can be stored now, and does not wait.
func TestNoGamesOnFullDisk(t *testing.T) {
	t.Parallel()
	disk, p := startOnSmallDisk(t)
	gw := startGateway(t, p, quick(), nil)
	joinBot(t, p, "hare", protocol.Hello{})
	ann := openPage(t, gw, human("ann"))
	disk.Fill()
	gametest.Eventually(t, "the arena to know", gw.arena.NoRoom)
	if a := ann.ask(message.Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2")}); a.Code != protocol.Unavailable || a.Reason != reasonNoRoom {
		t.Errorf("a game: %+v", a)
	}
}

// A killed server and gateway lose nobody.
func TestPeopleSurviveAKill(t *testing.T) {
	t.Parallel()
	p := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	h := startHouseOn(t, p)
	b := h.browser(t)
	who := b.guest()
	p.Close()
	p.Start()
	other := h.another(t) // a gateway that has nobody in memory
	there := other.browser(t)
	there.cookies = b.cookies
	gametest.Eventually(t, "the person on another gateway", func() bool { return there.player() == who.Player })
}

// TestUnreadableGame: while the store hangs, nobody is told that a game does not exist.
func TestUnreadableGame(t *testing.T) {
	t.Parallel()
	p := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	gw := startGateway(t, p, quick(), nil)
	ann := openPage(t, gw, human("ann"))
	p.Pause()
	defer p.Continue()
	for _, kind := range []string{"open", "review", "rematch", "hint", "why"} {
		ann.refuse(message.Request{T: kind, Game: "elsewhere", Level: 1, From: "a1"}, protocol.Unavailable)
	}
}

// Visitors who leave, or whose time was up when the store was asked, say nothing about the store:
// nobody else waits for that, and the operator is told nothing.
func TestVisitorsWhoLeave(t *testing.T) {
	t.Parallel()
	var log gametest.Output
	h := startHouseLog(t, Config{}, zerolog.New(&log).Level(zerolog.WarnLevel))
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := h.people.get(late, "human-nobody"); !errors.Is(err, errStore) || h.people.isResting() {
		t.Errorf("too late: %v; nobody else is looked up for a while: %t", err, h.people.isResting())
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{"/player/hare", "/player/human-nobody", "/game/nothing"} {
		h.do(httptest.NewRequest(http.MethodGet, path, nil).WithContext(gone))
	}
	h.do(httptest.NewRequest(http.MethodPost, "/api/session", nil).WithContext(gone), "Cookie", "sparring=x")
	w := httptest.NewRecorder()
	h.arena.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if strings.Contains(w.Body.String(), "sparring_page_refusals_total{") || log.String() != "" {
		t.Errorf("after the visitors have left: %s, %s", w.Body, &log)
	}
}
