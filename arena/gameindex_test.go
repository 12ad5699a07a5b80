package arena

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/livegame"
	"sparring/protocol"
)

// An arena says that the clock of another one is ahead of its own, and not for each entry.
func TestEntriesFromTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		subjects, err := protocol.NewSubjects("")
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		x := newGameIndex(subjects, time.Minute, zerolog.New(&log), func() { t.Error("an entry was not read") })
		seq := uint64(0)
		lines := func() int { return strings.Count(log.String(), "from the future") }
		note := func(ahead time.Duration) {
			o := livegame.Opening{Game: "g1", Terms: small(t, "60+1"), Holders: [2]protocol.Holder{{Player: "ann", Kind: protocol.Bot}, {Player: "bob", Kind: protocol.Bot}}}
			_, e, refused := livegame.New(o, livegame.DefaultPolicy(), time.Now().Add(ahead))
			if refused != nil {
				t.Fatal(refused)
			}
			seq++
			if _, ok := x.note(subjects.Log("g1"), seq, e.Encode()); !ok {
				t.Fatal("not noted")
			}
		}
		note(0)
		note(-time.Hour) // it is read later than it was written
		note(500 * time.Millisecond)
		if n := lines(); n != 0 {
			t.Errorf("%d lines about entries of now: %s", n, log.String())
		}
		note(3 * time.Second)
		note(3 * time.Second)
		if n := lines(); n != 1 || !strings.Contains(log.String(), `"ms":3000`) {
			t.Errorf("%d lines about entries from the future, want 1: %s", n, log.String())
		}
		time.Sleep(2 * time.Minute)
		note(3 * time.Second)
		if n := lines(); n != 2 {
			t.Errorf("%d lines two minutes later, want 2", n)
		}
	})
}
