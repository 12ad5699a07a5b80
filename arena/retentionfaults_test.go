package arena

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// removing are settings with which logs beyond a size are removed soon.
func removing(bytes int64) Retention {
	return Retention{Logs: record.Bounds{Bytes: bytes}, Notice: time.Millisecond, Every: 50 * time.Millisecond}
}

// endedLogs writes the logs of n challenges that were closed, with so much text each.
func endedLogs(t *testing.T, s *store, n, bytes int) {
	t.Helper()
	for i := range n {
		e := &protocol.Event{V: protocol.Version, Kind: protocol.EventEnd, Term: 1, Index: 1, Time: time.Now(), Text: strings.Repeat("x", bytes)}
		e.Game, e.Terms, e.Moves = protocol.GameID(fmt.Sprintf("ended-%d", i)), small(t, "60"), []string{}
		// On a busy machine the store may not answer in time, as if it had no room.
		if err := s.journal(e.Game, 0, func() {}).append(t.Context(), e, patience); err != nil {
			t.Fatal(err)
		}
	}
}

// logsLeft returns how many games have logs, and the bytes of all.
func logsLeft(t *testing.T, s *store) (games int, bytes int64) {
	t.Helper()
	// The store may be starting again, or the machine be busy.
	gametest.Eventually(t, "the logs are read", func() bool {
		seen := map[string]bool{}
		for seq := uint64(1); ; seq++ {
			m, err := next(t.Context(), s.games, seq, s.subjects.Logs())
			if err != nil {
				return false
			}
			if m == nil {
				break
			}
			seq, seen[m.Subject] = m.Sequence, true
		}
		i, err := info(t.Context(), s.games)
		if err != nil {
			return false
		}
		games, bytes = len(seen), int64(i.State.Bytes)
		return true
	})
	return games, bytes
}

// Arenas that are stopped and killed while they remove logs leave no log without its
// last entry; others go on, and a running game keeps its log.
func TestRetentionOfDyingArenas(t *testing.T) {
	t.Parallel()
	p := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	a, err := New(t.Context(), arenatest.Connect(t, p.Platform()), quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	const ended = 200
	begun(t, a.store, "running", small(t, "600+6"), 6)
	endedLogs(t, a.store, ended, 100)
	games := func() int { n, _ := logsLeft(t, a.store); return n }
	url := p.Platform().URL
	first := startArenaProcess(t, url, "", arenaKeep+"=1")
	gametest.Eventually(t, "the first removals", func() bool { return games() < ended-20 })
	arenatest.Pause(t, first)
	second := startArenaProcess(t, url, "", arenaKeep+"=1")
	stopped := games()
	gametest.Eventually(t, "removals by another", func() bool { return games() < stopped-20 || games() == 1 })
	arenatest.Continue(t, first)
	second.Kill()
	gametest.Eventually(t, "the last removal", func() bool { return games() == 1 })
	time.Sleep(10 * removing(1).Every) // in which it would remove more
	if events := whole(t, a.store, "running"); len(events) < 7 || isFinal(events[len(events)-1]) {
		t.Errorf("%d entries of the running game are left", len(events))
	}
}

// While the server hangs nothing is removed; afterwards retention goes on, and a game
// that runs meanwhile ends by its own moves and keeps its record.
func TestRetentionWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	p := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	lines := &logLines{}
	cfg := steady()
	a := prepareArenaLog(t, p, cfg, zerolog.New(zerolog.MultiLevelWriter(lines, zerolog.NewTestWriter(t))))
	endedLogs(t, a.store, 50, 100)
	a.start()
	ann, bob := join(t, p, "ann", "a1"), join(t, p, "bob", "b1")
	slow(ann, 50*time.Millisecond)
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	bob.until(g, "some moves", plies(2))
	p.Pause()
	retainBeside(t, a, removing(1))
	gametest.Eventually(t, "an attempt", func() bool { return lines.count(map[string]any{"message": "old games not removed; trying again"}) > 0 })
	p.Continue()
	if st := bob.until(g, "the end", finished); st.Outcome.Reason != game.NoMoves {
		t.Errorf("ended by %+v", st.Outcome)
	}
	recordOfGame(t, a.store, g)
	gametest.Eventually(t, "all logs are removed", func() bool { n, _ := logsLeft(t, a.store); return n == 0 })
}

// On a full disk logs are removed, or as soon as there is room, and not more than beyond
// the bound. The game that runs meanwhile has a whole log and record.
func TestRetentionOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := arenatest.NewSmallDisk(t, "24m")
	srv := arenatest.StartServer(t, filepath.Join(disk.Dir, "nats"), "ann", "bob")
	const logs, each, bound = 8, 400 << 10, 2 << 20
	var a *running
	withoutSpace(t, srv, func(r *running) {
		a = r
		endedLogs(t, a.store, logs, each)
		gametest.Eventually(t, "the store has no room", func() bool { disk.Fill(); return a.unkept.Load() > 0 })
		retainBeside(t, a, removing(bound))
	}, func(*running) { disk.Empty() })
	gametest.Eventually(t, "the bound is kept", func() bool { _, bytes := logsLeft(t, a.store); return bytes <= bound })
	for i := range logs {
		var err error
		gametest.Eventually(t, "the log is read", func() bool {
			_, err = a.store.lastEntry(t.Context(), protocol.GameID(fmt.Sprintf("ended-%d", i)))
			return err == nil || !errors.Is(err, context.DeadlineExceeded)
		})
		if i == 0 && err == nil || i == logs-1 && err != nil {
			t.Errorf("log %d of %d: %v", i+1, logs, err)
		}
	}
	if _, bytes := logsLeft(t, a.store); bytes < bound-each-100<<10 {
		t.Errorf("%d bytes are left, though %d are kept", bytes, bound)
	}
}

// retainBeside removes old logs beside a running arena that removes none.
func retainBeside(t *testing.T, a *running, keep Retention) {
	beside := &Arena{cfg: Config{Retention: keep}, store: a.store, ladder: a.ladder, log: a.log}
	done := make(chan struct{})
	go func() { defer close(done); beside.retain(t.Context()) }()
	t.Cleanup(func() { <-done })
}

// A record that can't be stored for five minutes is tried seldom: each attempt reads the whole
// log, and leaves an error in the log of the process.
func TestRecordIsTriedSeldom(t *testing.T) {
	t.Parallel()
	nc := arenatest.Connect(t, arenatest.StartServer(t, "").Platform())
	a, err := New(t.Context(), nc, quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	log := new(logLines)
	r := &referee{a: a, id: "g1", ctx: t.Context(), log: zerolog.New(log)}
	begun := time.Now()
	for at := time.Duration(0); at < 5*time.Minute; at += tickEvery {
		r.storeRecord(begun.Add(at))
	}
	if n := log.count(map[string]any{"message": "record not stored; trying again"}); n < 10 || n > 30 {
		t.Errorf("%d attempts in five minutes, want 10 to 30", n)
	}
}
