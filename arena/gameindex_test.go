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

// firstEntry returns the first entry of the log of game g1.
func firstEntry(t *testing.T, at time.Time) protocol.Event {
	t.Helper()
	o := livegame.Opening{Game: "g1", Terms: small(t, "60+1"), Holders: [2]protocol.Holder{{Player: "ann", Kind: protocol.Bot}, {Player: "bob", Kind: protocol.Bot}}}
	_, e, refused := livegame.New(o, livegame.DefaultPolicy(), at)
	if refused != nil {
		t.Fatal(refused)
	}
	return *e
}

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
			e := firstEntry(t, time.Now().Add(ahead))
			seq++
			if _, ok := x.note(subjects.Log("g1"), seq, e.Encode(), false); !ok {
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

// After a power cut of the server new entries have the numbers of lost ones. They count all
// the same, so that a game that ends then does not seem to run for ever.
func TestIndexAfterPowerCut(t *testing.T) {
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	x := newGameIndex(subjects, time.Hour, zerolog.Nop(), func() { t.Error("an entry was not read") })
	began := time.Now()
	entry := func(index uint64, after time.Duration) protocol.Event {
		e := firstEntry(t, began.Add(after))
		e.Index = index
		return e
	}
	for _, next := range []struct {
		what string
		e    protocol.Event
		seq  uint64
		own  bool
		want uint64 // index of the last entry
	}{
		{"the first", entry(1, 0), 8, false, 1},
		{"one of ours", entry(3, 2*time.Second), 10, true, 3},
		{"an older one that comes later", entry(2, time.Second), 9, false, 3},
		{"after a power cut", entry(2, 3*time.Second), 9, false, 2},
		{"one of ours, written before", entry(3, 2*time.Second), 8, true, 2},
		{"one of ours after a power cut", entry(2, 4*time.Second), 9, true, 2},
	} {
		if next.own {
			x.noteOwn(&next.e, next.seq)
		} else if _, ok := x.note(subjects.Log("g1"), next.seq, next.e.Encode(), false); !ok {
			t.Errorf("%s: not noted", next.what)
		}
		got := x.games["g1"].last
		if got.Index != next.want {
			t.Errorf("%s: the last entry is %d, want %d", next.what, got.Index, next.want)
		}
	}
}
