package arena

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
)

// Streams that somebody removes under a running arena: it says so, begins no game if that
// could not be stored, and goes on when they are there again.
func TestStreamsRemoved(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, quick())
	health := func() string {
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return w.Body.String()
	}
	ann, _ := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	ann.until(ann.challenge("bob", small(t, "60+1"), game.First), "the end", finished)
	records := a.store.records.CachedInfo().Config
	for _, c := range []struct {
		name, says, remedy string
		games              bool
	}{
		{records.Name, "missing streams: ", "stop the arenas, restore them from a backup", false},
		{bucketStream(a.Subjects(), "owners"), "missing streams: ", "start the arenas again, which create them", false},
		{bucketStream(a.Subjects(), "history"), "ok\nwarning: missing streams: ", "start the arenas again, which create them", true},
	} {
		st, err := a.store.js.Stream(t.Context(), c.name)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.store.js.DeleteStream(t.Context(), c.name); err != nil {
			t.Fatal(err)
		}
		gametest.Eventually(t, "/healthz to name "+c.name, func() bool {
			body := health()
			return strings.HasPrefix(body, c.says+c.name+"; ") && strings.Contains(body, c.remedy)
		})
		if games := a.room() > 0; games != c.games {
			t.Errorf("without %s games may begin: %v, want %v", c.name, games, c.games)
		}
		if _, err := a.store.js.CreateStream(t.Context(), st.CachedInfo().Config); err != nil {
			t.Fatal(err)
		}
		gametest.Eventually(t, "/healthz to be content with "+c.name, func() bool { return health() == "ok\n" })
	}
	ann.until(ann.challenge("bob", small(t, "60+1"), game.First), "the end", finished)
}

// The consumer by which arenas take challenges holds nothing: one that somebody removes is
// made again.
func TestQueueRemoved(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, quick())
	ann, _ := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	ann.until(ann.challenge("bob", small(t, "60+1"), game.First), "the end", finished)
	if err := a.store.challenges.DeleteConsumer(t.Context(), "matchmaker"); err != nil {
		t.Fatal(err)
	}
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	ann.until(g, "the end", finished)
}
