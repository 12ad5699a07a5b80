package arena

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

func TestPages(t *testing.T) {
	t.Parallel()
	srv := startServer(t, "", "ann", "bob")
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
	if _, body := get("/"); !strings.Contains(body, "No game is being played") {
		t.Errorf("an empty page says %s", body)
	}
	terms := small(t, "60+1")
	terms.Rated = true
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	bob.set(func(p *player) { p.play = nil })
	g := ann.challenge("bob", terms, game.First)
	st := bob.until(g, "a move", plies(1))
	eventually(t, "the game on the page", func() bool {
		_, body := get("/")
		return strings.Contains(body, string(g)) && strings.Contains(body, st.Moves[0]) && strings.Contains(body, "Player ann")
	})
	bob.set(func(p *player) { p.play = p.random })
	bob.random(st)
	ann.until(g, "the end", finished)
	eventually(t, "the ladder on the page", func() bool {
		_, body := get("/")
		return strings.Contains(body, "Ladder: amazons") && !strings.Contains(body, string(g))
	})
	_, metrics := get("/metrics")
	for _, want := range []string{
		`sparring_arena_games_granted_total{game="amazons"} 1`,
		`sparring_arena_games_ended_total{game="amazons",reason="no-moves"} 1`,
		`sparring_arena_moves_total `, `sparring_arena_move_waited_seconds_bucket`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if code, _ := get("/secrets"); code != http.StatusNotFound {
		t.Errorf("an unknown page: %d", code)
	}
	a.stop()
	if code, _ := get("/healthz"); code != http.StatusServiceUnavailable {
		t.Errorf("after the end: %d", code)
	}
}

// The page shows all the time that a seat has left, periods included.
func TestPageShowsTheTimeLeft(t *testing.T) {
	now := time.Now()
	e := protocol.Event{RunningSince: now.Add(-time.Second)}
	first := game.First
	e.Clocks.Running, e.Clocks.UsedMS = &first, 1000
	for text, want := range map[string][2]time.Duration{
		"5/move": {3 * time.Second, 5 * time.Second},
		"0/3x5":  {13 * time.Second, 15 * time.Second},
	} {
		spec, err := clock.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		e.Terms.Clock = spec
		e.Clocks.Seats = [2]protocol.SeatClock{protocol.ClockOf(spec.Start()), protocol.ClockOf(spec.Start())}
		if g := show(e, now); g.Seats[0].Left != want[0] || g.Seats[1].Left != want[1] {
			t.Errorf("%s: %v and %v, want %v", text, g.Seats[0].Left, g.Seats[1].Left, want)
		}
	}
}
