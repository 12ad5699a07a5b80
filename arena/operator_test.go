package arena

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
	if code, body := get("/healthz"); code != http.StatusOK {
		t.Errorf("serving: %d %q", code, body)
	}
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
	if code, body := get("/healthz"); code != http.StatusOK {
		t.Errorf("with a check that passes: %d %q", code, body)
	}
	fault = errors.New("no page")
	if code, body := get("/healthz"); code != http.StatusServiceUnavailable || body != "no page\n" {
		t.Errorf("with a check that fails: %d %q", code, body)
	}
	a.stop()
	if code, _ := get("/healthz"); code != http.StatusServiceUnavailable {
		t.Errorf("after the end: %d", code)
	}
}
