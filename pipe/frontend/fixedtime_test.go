package frontend_test

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/game/clock"
	"sparring/pipe/frontend"
)

// TestFixedTime: of a fixed time for a move at most a twentieth is not used, in every
// protocol, and never more than all of it. A GUI's Move Overhead is for clocks.
func TestFixedTime(t *testing.T) {
	t.Parallel()
	for _, ms := range []int64{20, 100, 500, 5000, 60_000} {
		d := time.Duration(ms) * time.Millisecond
		perMove := clock.Spec{Kind: clock.PerMove, Period: d}
		for _, c := range []struct {
			lines string
			o     frontend.Options
			fixed time.Duration
		}{
			{fmt.Sprintf("uci\nposition startpos\ngo movetime %d", ms), frontend.Options{}, d},
			{fmt.Sprintf("uci\nsetoption name Move Overhead value 1000\nposition startpos\ngo movetime %d", ms), frontend.Options{}, d},
			{fmt.Sprintf("ucci\nposition startpos\ngo time %d movestogo 1 opptime %d oppmovestogo 1", ms, ms), frontend.Options{}, d},
			// The time of one move says nothing of the next.
			{fmt.Sprintf("ucci\nposition startpos\ngo time 90000 movestogo 1\ngo time %d movestogo 1", ms), frontend.Options{}, d},
			{fmt.Sprintf("START 15\nINFO timeout_turn %d\nBEGIN", ms), frontend.Options{}, d},
			{fmt.Sprintf("START 15\nINFO timeout_turn %d\nINFO timeout_match 0\nINFO time_left 2147483647\nBEGIN", ms), frontend.Options{}, d},
			{"name?\nnew black", frontend.Options{Clock: perMove}, d},
			{"1\n-1 -1 -1 -1 -1 -1", frontend.Options{Game: "amazons", Clock: perMove}, d},
			{"1\n-1 -1 -1 -1 -1 -1", frontend.Options{Game: "amazons"}, time.Second}, // the platform's
		} {
			w := &witness{}
			c.o.Open = func(string, frontend.Setup) (engine.Searcher, error) { return w, nil }
			if err := frontend.Serve(t.Context(), strings.NewReader(c.lines+"\n"), io.Discard, c.o); err != nil {
				t.Fatal(err)
			}
			if len(w.limits) == 0 {
				t.Errorf("%q: no search", c.lines)
				continue
			}
			l := w.limits[len(w.limits)-1]
			if l.Hard < c.fixed*19/20 || l.Hard >= c.fixed || l.Soft > 0 {
				t.Errorf("%q: of %v: soft %v, hard %v", c.lines, c.fixed, l.Soft, l.Hard)
			}
		}
	}
}

// TestLastMoveOfControl: one move to go, after others of the game, is the last of a time
// control, at which time may be left.
func TestLastMoveOfControl(t *testing.T) {
	w := &witness{}
	ask(t, w, "ucci", "go time 600000 movestogo 2", "go time 300000 movestogo 1")
	if len(w.limits) != 2 || w.limits[1].Soft == 0 {
		t.Errorf("searches %+v, want a soft limit", w.limits)
	}
}

// TestGomocupMemory: a manager's limit of the memory leaves the hash table what the rest of
// the process does not take.
func TestGomocupMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		limit, hash, least, most int // in MiB
	}{
		{0, 16, 16, 16}, {350, 16, 16, 16}, {350, 512, 200, 300}, {96, 16, 16, 16}, {70, 16, 8, 14}, {64, 16, 4, 8},
		{30, 16, 1, 1},
	} {
		w, hash, told := &witness{}, 0, int64(0)
		in := strings.NewReader(fmt.Sprintf("START 20\nINFO max_memory %d\nBEGIN\n", c.limit*mib))
		err := frontend.Serve(t.Context(), in, io.Discard, frontend.Options{
			Setup: frontend.Setup{HashBytes: c.hash * mib}, LimitMemory: func(bytes int64) { told = bytes },
			Open: func(_ string, s frontend.Setup) (engine.Searcher, error) {
				hash = s.HashBytes
				return w, nil
			},
		})
		if c.limit == 0 {
			told -= math.MaxInt64
		}
		if err != nil || hash < c.least*mib || hash > c.most*mib || told != int64(c.limit)*mib {
			t.Errorf("%d MiB: a table of %.1f MiB, limit %d: %v; want %d to %d",
				c.limit, float64(hash)/mib, told, err, c.least, c.most)
		}
	}
}
