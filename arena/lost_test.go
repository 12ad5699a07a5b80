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

// Streams that somebody removes under a running arena: it says so, begins no game, and goes on
// when they are there again.
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
	for _, c := range []struct{ name, remedy string }{
		{records.Name, "restore them from a backup"},
		{bucketStream(a.Subjects(), "history"), "start the arenas again, which create them"},
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
			return strings.HasPrefix(body, "missing streams: "+c.name+"; ") && strings.Contains(body, c.remedy)
		})
		if a.room() > 0 {
			t.Errorf("without %s there is room for games", c.name)
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
