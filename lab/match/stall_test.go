package match

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// TestStallsAreMeasured: a gap between two looks is a stall, the usual time is not.
func TestStallsAreMeasured(t *testing.T) {
	now := time.Now()
	s := &stalls{last: now}
	for _, c := range []struct{ gap, total time.Duration }{
		{stallLook, 0}, {stallTime, 0}, {1500 * time.Millisecond, 1500 * time.Millisecond}, {stallLook, 1500 * time.Millisecond}, {time.Minute, 61500 * time.Millisecond},
	} {
		now = now.Add(c.gap)
		if got := s.look(now); got != c.total {
			t.Errorf("after %v: %v in all, want %v", c.gap, got, c.total)
		}
	}
}

// stallingLocal is Local in a process that can be told that it stalled.
type stallingLocal struct {
	*Local
	stalls *stalls // of the latest worker
}

func (l *stallingLocal) Worker(t *Terms) (Worker, error) {
	w, err := l.Local.Worker(t)
	l.stalls = w.(*localWorker).stalls
	return w, err
}

func (l *stallingLocal) stall(d time.Duration) {
	l.stalls.mu.Lock()
	defer l.stalls.mu.Unlock()
	l.stalls.total += d
}

// TestStalledGames: no player is charged for a stall of this process, but what it does by
// itself counts; nothing of that is hidden.
func TestStalledGames(t *testing.T) {
	const off = 1500 * time.Millisecond
	for name, c := range map[string]struct {
		limit    string
		does     script // what the script does at its second move while this process stalls
		attempts int    // in which it stalls, of the first game
		replays  int
		stalled  bool // in the attempt that counts
		fault    engine.FaultKind
		ends     bool // the match
	}{
		"loses on time once":          {limit: "movetime=100ms", does: taking(off), attempts: 1, replays: 1},
		"loses on time without":       {limit: "movetime=100ms", does: taking(off), fault: engine.FaultTime},
		"loses on time always":        {limit: "movetime=100ms", does: taking(off), attempts: maxAttempts, ends: true},
		"clock is shorter once":       {limit: "60+1", does: taking(off), attempts: 1, replays: 1},
		"clock is shorter always":     {limit: "60+1", does: taking(off), attempts: maxAttempts, replays: maxAttempts - 1, stalled: true},
		"its own fault":               {limit: "60+1", does: illegal, attempts: 1, stalled: true, fault: engine.FaultIllegal},
		"no clock":                    {limit: "nodes=10", does: taking(off), attempts: 1},
		"seems to hang without clock": {limit: "nodes=10", does: taking(time.Hour), attempts: 1, replays: 1},
		"hangs without clock":         {limit: "nodes=10", does: taking(time.Hour), fault: engine.FaultHang},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts, local := 0, &stallingLocal{}
				a := func(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
					if p.Ply() != 2 {
						return steady(p, l, seed)
					}
					attempts++
					if attempts <= c.attempts {
						local.stall(off)
					} else if c.attempts > 0 {
						return steady(p, l, seed)
					}
					return c.does(p, l, seed)
				}
				p := planOf(t, c.limit, map[string]script{"a": a, "b": steady}, "a", "b")
				local.Local = p.Backend.(*Local)
				p.Backend = local
				path := filepath.Join(t.TempDir(), "m.jsonl")
				var err error
				if p.File, err = OpenFile(path, &p.Terms); err != nil {
					t.Fatal(err)
				}
				defer p.File.Close()
				s, err := Run(t.Context(), p)
				if c.ends {
					if !errors.Is(err, ErrStalled) || attempts != maxAttempts || s.Games != 0 {
						t.Errorf("%v after %d attempts and %d games", err, attempts, s.Games)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				_, games, err := ReadFile(path)
				if err != nil || len(games) != 2 {
					t.Fatalf("%d games, %v", len(games), err)
				}
				g := games[0]
				if len(g.Match.Discarded) != c.replays || (g.Match.StalledMS > 0) != c.stalled {
					t.Errorf("discarded %+v; stalled for %d ms in the last one", g.Match.Discarded, g.Match.StalledMS)
				}
				if f := g.Match.Fault; (f != nil) != (c.fault != "") || f != nil && f.Kind != c.fault {
					t.Errorf("fault %+v, want %q", f, c.fault)
				}
				told := c.replays > 0 || c.stalled
				var text strings.Builder
				if err := s.Write(&text, nil); err != nil {
					t.Fatal(err)
				}
				if (g.StallText() != "") != told || strings.Contains(text.String(), "stalls  ") != told || (s.besides().Key == "verdict.stalls") != (told && c.fault == "") {
					t.Errorf("told %q, verdict %s:\n%s", g.StallText(), s.besides().Key, text.String())
				}
			})
		})
	}
}

// TestStallsAreCounted: the counts name the losses that do not count.
func TestStallsAreCounted(t *testing.T) {
	lost := &Fault{Seat: game.Second, Kind: engine.FaultTime}
	var s Stalls
	for _, p := range []GameInfo{
		{Discarded: []Attempt{{700, 9, nil}, {1500, 12, lost}}, Players: [2]int{0, 1}},
		{Discarded: []Attempt{{600, 3, lost}}, StalledMS: 800, Players: [2]int{1, 0}},
		{StalledMS: 900},
		{},
	} {
		s.add(&p)
	}
	const want = "this process did not run for up to 1.5s: games played again 2, counted nevertheless 2; losses that do not count: a (time 1), b (time 1)"
	if got := s.text([]Tally{{Name: "a"}, {Name: "b"}}); got != want || s.Games != 3 {
		t.Errorf("%d games; %s", s.Games, got)
	}
}
