package arena

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/internal/diskspace"
)

// The operator is told in time that a stream or the disk will be full: in the log, by
// /healthz, which stays 200, and in the report for the fleet.
func TestSpaceRunsOut(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir())
	cfg := steady()
	cfg.Disk = t.TempDir()
	lines := &logLines{}
	a := prepareArenaLog(t, srv, cfg, zerolog.New(lines))
	said := map[string]any{"level": "warn", "of": "stream sparring_games", "message": "space runs out: make room, or keep less (SPARRING_KEEP_LOGS, SPARRING_KEEP_RECORDS)"}
	watch := &diskspace.Watch{Limits: diskspace.Limits{Share: 0.9}}
	measure := func(at time.Time) { a.noteLevels(a.measure(t.Context(), watch, at), at) }
	levelOf := func(name string) (found bool, low bool) {
		for _, s := range a.report().Space {
			if strings.HasPrefix(s.Of, name) {
				return true, s.Low
			}
		}
		return false, false
	}
	now := time.Now()
	measure(now)
	if found, _ := levelOf("disk " + cfg.Disk); !found {
		t.Errorf("the disk is not measured: %+v", a.report().Space)
	}
	if found, _ := levelOf("stream sparring_games"); found {
		t.Error("a stream without a limit has a level")
	}
	begun(t, a.store, "g1", small(t, "600+6"), 2)
	fullStream(a)
	for _, after := range []time.Duration{0, time.Minute, 2 * time.Hour} {
		measure(now.Add(after))
	}
	if n := lines.count(said); n != 2 { // again after an hour
		t.Errorf("logged %d times", n)
	}
	if _, low := levelOf("stream sparring_games"); !low {
		t.Errorf("%+v", a.report().Space)
	}
	a.start()
	if code, text := health(a); code != 200 || !strings.HasPrefix(text, "ok\n") || !strings.Contains(text, "warning: stream sparring_games is 100 % full") {
		// the arena measures by itself as well, with the same stream
		t.Errorf("/healthz says %d %q", code, text)
	}
	roomInStream(a)
	measure(now)
	if low := a.space.low(); len(low) > 0 && strings.Contains(strings.Join(low, " "), "stream") {
		t.Errorf("still %v", low)
	}
}

// A low level is said once an hour, and at once when it was not low in between.
func TestLowLevelIsSaidAgain(t *testing.T) {
	lines := &logLines{}
	a, now := &Arena{log: zerolog.New(lines)}, time.Now()
	for _, step := range []struct {
		minutes int
		low     bool
		said    int // so far
	}{{0, false, 0}, {1, true, 1}, {2, true, 1}, {60, true, 1}, {61, true, 2}, {62, true, 2}, {63, false, 2}, {64, true, 3}} {
		a.noteLevels([]diskspace.Level{{Of: "disk", Used: 1, Most: 2, Low: step.low}, {Of: "account", Used: 1, Most: 2}}, now.Add(time.Duration(step.minutes)*time.Minute))
		if n := lines.count(map[string]any{"of": "disk"}); n != step.said {
			t.Errorf("after %d minutes: said %d times, want %d", step.minutes, n, step.said)
		}
		if n := len(a.space.low()); n > 1 || n == 1 != step.low {
			t.Errorf("after %d minutes: %d low levels", step.minutes, n)
		}
	}
	if n := lines.count(map[string]any{"of": "account"}); n > 0 {
		t.Errorf("said %d times of what is not low", n)
	}
}
