package arena

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
)

func TestOperatorHandler(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := prepareArena(t, srv, quick())
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	if code, body := get("/healthz"); code != http.StatusServiceUnavailable || body != "starting\n" {
		t.Errorf("before the start: %d %q", code, body)
	}
	a.start()
	gametest.Eventually(t, "/healthz to be content", func() bool { code, _ := get("/healthz"); return code == http.StatusOK })
	terms := small(t, "60+1")
	terms.Rated = true
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	bob.set(func(p *player) { p.play = nil })
	g := ann.challenge("bob", terms, game.First)
	st := bob.until(g, "a move", plies(1))
	bob.set(func(p *player) { p.play = p.random })
	bob.random(st)
	ann.until(g, "the end", finished)
	for _, want := range []string{
		`sparring_arena_games_granted_total{game="amazons"} 1`,
		`sparring_arena_games_ended_total{game="amazons",reason="no-moves"} 1`,
		`sparring_arena_moves_total `, `sparring_arena_move_waited_seconds_bucket`,
	} {
		gametest.Eventually(t, want, func() bool {
			_, metrics := get("/metrics")
			return strings.Contains(metrics, want)
		})
	}
	if code, _ := get("/"); code != http.StatusNotFound {
		t.Errorf("an unknown path: %d", code)
	}
	var fault error
	a.AddCheck(func() error { return fault })
	gametest.Eventually(t, "/healthz to be content with a check that passes", func() bool { code, _ := get("/healthz"); return code == http.StatusOK })
	fault = errors.New("no page")
	gametest.Eventually(t, "/healthz to name a check that fails", func() bool {
		code, body := get("/healthz")
		return code == http.StatusServiceUnavailable && body == "no page\n"
	})
	hangs := make(chan struct{})
	a.AddCheck(func() error { <-hangs; return nil })
	fault = nil
	answered := make(chan int, 1)
	go func() { code, _ := get("/healthz"); answered <- code }()
	select {
	case code := <-answered:
		if code != http.StatusServiceUnavailable {
			t.Errorf("while a check hangs: %d", code)
		}
	case <-time.After(patience):
		t.Error("no answer while a check hangs")
	}
	close(hangs)
	gametest.Eventually(t, "/healthz to be content when it hangs no more", func() bool { code, _ := get("/healthz"); return code == http.StatusOK })
	a.stop()
	if code, _ := get("/healthz"); code != http.StatusServiceUnavailable {
		t.Errorf("after the end: %d", code)
	}
}

// While the store takes nothing although the connection is up, as of a server that hangs or
// a cluster without a majority, /healthz does not say that all is well. The log says so once.
func TestHealthWithoutStore(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	lines := &logLines{}
	a := prepareArenaLog(t, srv, quick(), zerolog.New(zerolog.MultiLevelWriter(lines, zerolog.NewTestWriter(t))))
	a.start()
	content := func() bool { code, _ := health(a); return code == http.StatusOK }
	gametest.Eventually(t, "/healthz to be content", content)
	srv.Pause()
	gametest.Eventually(t, "/healthz to miss the store", func() bool {
		code, text := health(a)
		return code == http.StatusServiceUnavailable && strings.Contains(text, "the store does not answer")
	})
	gametest.Eventually(t, "a line in the log", func() bool {
		return lines.count(map[string]any{"level": "warn", "message": "the store does not answer: games wait until it does"}) > 0
	})
	srv.Continue()
	gametest.Eventually(t, "/healthz to be content again", content)
	gametest.Eventually(t, "the end in the log", func() bool {
		return lines.count(map[string]any{"level": "info", "message": "the store answers again"}) > 0
	})
}
