package arena

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// What is removed is what the settings say, the oldest first: the log of a game whose
// record is stored, a record that was rated, and never anything of a running game.
func TestRetention(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	running := protocol.GameID("running")
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) {
			p.play = func(st protocol.State) {
				if st.Game != running {
					p.random(st)
				}
			}
		})
	}
	begun(t, a.store, running, small(t, "600+6"), 2)
	rated := small(t, "60+1")
	rated.Rated = true
	play := func() protocol.GameID {
		t.Helper()
		g := ann.challenge("bob", rated, game.First)
		bob.until(g, "the end", finished)
		gametest.Eventually(t, "the record is stored", func() bool {
			e, _, err := a.store.lastEvent(t.Context(), g)
			return err == nil && isFinal(e)
		})
		return g
	}
	var games []protocol.GameID
	for range 3 {
		games = append(games, play())
	}
	records := func() (n uint64) {
		t.Helper()
		i, err := info(t.Context(), a.store.records)
		if err != nil {
			t.Fatal(err)
		}
		return i.State.Msgs
	}
	logs := func() (all string) {
		t.Helper()
		for i, g := range append(games, running) {
			if _, err := a.store.lastEntry(t.Context(), g); err == nil {
				all += fmt.Sprint(i, " ")
			} else if !errors.Is(err, ErrNoGame) {
				t.Fatal(err)
			}
		}
		return all
	}
	state := func(bound func(record.Bounds) record.Bounds) *pruner {
		return &pruner{store: a.store, keep: Retention{Logs: bound(record.Bounds{}), Records: bound(record.Bounds{})}, log: zerolog.Nop(), rated: func() uint64 { return 1000 }, steps: maxSteps, removals: maxRemovals}
	}
	step := func(what string, r *pruner, wantLogs string, wantRecords uint64) {
		t.Helper()
		if err := r.remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l, n := logs(), records(); l != wantLogs || n != wantRecords {
			t.Errorf("%s: logs of %sand %d records are left, want %sand %d", what, l, n, wantLogs, wantRecords)
		}
	}
	age := func(d time.Duration) func(record.Bounds) record.Bounds {
		return func(record.Bounds) record.Bounds { return record.Bounds{Age: d} }
	}
	step("nothing to remove", state(age(time.Hour)), "0 1 2 3 ", 3)
	unrated := state(age(time.Nanosecond))
	unrated.keep.Logs = record.Bounds{}
	unrated.rated = func() uint64 { return 1 }
	step("records that were not rated stay", unrated, "0 1 2 3 ", 2)

	second, err := a.store.records.GetLastMsgForSubject(t.Context(), a.store.subjects.Record("amazons", games[1]))
	if err != nil {
		t.Fatal(err)
	}
	last, err := a.store.records.GetLastMsgForSubject(t.Context(), a.store.subjects.Record("amazons", games[2]))
	if err != nil {
		t.Fatal(err)
	}
	r := state(age(0))
	i, err := info(t.Context(), a.store.records)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]uint64{second.Time: second.Sequence, second.Time.Add(1): last.Sequence, last.Time.Add(1): last.Sequence + 1, {}: i.State.FirstSeq} {
		if seq, err := r.firstSince(t.Context(), i.State, at); err != nil || seq != want {
			t.Errorf("the first record since %v is %d, %v, want %d", at, seq, err, want)
		}
	}

	state1, err := info(t.Context(), a.store.games)
	if err != nil {
		t.Fatal(err)
	}
	bytes := state(age(0))
	bytes.keep.Logs = record.Bounds{Bytes: int64(state1.State.Bytes) - 1}
	bytes.keep.Records = record.Bounds{Bytes: int64(i.State.Bytes) - 1}
	step("by size the oldest goes", bytes, "1 2 3 ", 1)
	step("all but the running one are old", state(age(time.Nanosecond)), "3 ", 0)

	games = append(games[:0], play()) // ratings and records go on
	gametest.Eventually(t, "a rating of four games", func() bool {
		s, ok := a.ladder.of("amazons", rated.Clock.Speed(), "ann")
		return ok && s.Games == 4
	})
	step("a new game", state(age(time.Hour)), "0 1 ", 1)
}

// Where more logs are to go than a run removes, the next run does not wait: games end faster
// than that on a busy platform.
func TestRetentionCatchesUp(t *testing.T) {
	t.Parallel()
	a := prepareArenaLog(t, arenatest.StartServer(t, ""), steady(), zerolog.Nop())
	endedLogs(t, a.store, 7, 10)
	ctx, cancel := context.WithCancel(t.Context())
	r := &pruner{store: a.store, keep: removing(1), log: zerolog.Nop(), steps: maxSteps, removals: 2}
	r.keep.Every = 2 * patience
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(ctx)
	}()
	gametest.Eventually(t, "all logs are gone", func() bool {
		games, _ := logsLeft(t, a.store)
		return games == 0
	})
	cancel()
	<-done
}

// A run that looks at fewer entries than the running games in front have goes on where the
// last one stopped, and starts over when it has seen all.
func TestRetentionBehindRunningGames(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	a := prepareArenaLog(t, srv, steady(), zerolog.Nop())
	for i := range 5 {
		begun(t, a.store, protocol.GameID(fmt.Sprintf("running-%d", i)), small(t, "600+6"), 2)
	}
	endedLogs(t, a.store, 3, 10)
	r := &pruner{store: a.store, keep: Retention{Logs: record.Bounds{Age: time.Nanosecond}}, log: zerolog.Nop(), steps: 4, removals: maxRemovals}
	run := func(times int) {
		t.Helper()
		for range times {
			if err := r.remove(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(7) // of 4 entries each: 5 games of 3 entries or more, and 3 logs
	if games, _ := logsLeft(t, a.store); games != 5 {
		t.Errorf("logs of %d games are left, want those of the 5 that run", games)
	}
	e, seq, err := a.store.lastEvent(t.Context(), "running-0")
	if err != nil {
		t.Fatal(err)
	}
	e.Kind, e.Index, e.Status, e.Time = protocol.EventRecorded, e.Index+1, protocol.Finished, time.Now().UTC()
	if err := a.store.journal(e.Game, seq, func() {}).append(t.Context(), &e, 0); err != nil {
		t.Fatal(err)
	}
	run(7)
	if games, _ := logsLeft(t, a.store); games != 4 {
		t.Errorf("logs of %d games are left after one has ended, want 4", games)
	}
}

// The age of a log is that of its end: that of a game that lasted for weeks stays as long as
// that of any other.
func TestRetentionOfALongGame(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	remove := func(age time.Duration) int {
		t.Helper()
		r := &pruner{store: s, keep: Retention{Logs: record.Bounds{Age: age}}, log: zerolog.Nop(), steps: maxSteps, removals: maxRemovals}
		n, err := r.removeLogs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for lasts := 200 * time.Millisecond; ; lasts *= 2 {
		g := protocol.GameID(protocol.NewID())
		begun(t, s, g, small(t, "600+6"), 0)
		sleep(t.Context(), lasts)
		ended := time.Now()
		e, seq, err := s.lastEvent(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		e.Kind, e.Index = protocol.EventRecorded, e.Index+1
		if err := s.journal(g, seq, nil).append(t.Context(), &e, 0); err != nil {
			t.Fatal(err)
		}
		kept := lasts / 2
		if remove(kept) == 0 {
			break
		}
		if after := time.Since(ended); after < kept {
			t.Fatalf("the log was removed %v after the end of the game, of %v", after, kept)
		}
		// On a busy machine it was old enough: with longer times again.
	}
	if n := remove(time.Nanosecond); n != 1 {
		t.Errorf("%d logs were removed later, want 1", n)
	}
}

// A stream has more than is kept if its first entry is too old, or it is too large, as far as
// there is such a bound.
func TestExceeds(t *testing.T) {
	now := time.Now()
	full := jetstream.StreamState{Msgs: 10, Bytes: 1000, FirstTime: now.Add(-time.Hour)}
	for _, test := range []struct {
		state  jetstream.StreamState
		bounds record.Bounds
		want   bool
	}{
		{full, record.Bounds{Age: 2 * time.Hour}, false},
		{full, record.Bounds{Age: time.Minute}, true},
		{full, record.Bounds{Bytes: 2000}, false},
		{full, record.Bounds{Bytes: 1000}, false},
		{full, record.Bounds{Bytes: 999}, true},
		{full, record.Bounds{Age: 2 * time.Hour, Bytes: 999}, true},
		{full, record.Bounds{Age: time.Minute, Bytes: 2000}, true},
		{full, record.Bounds{}, false},
		{jetstream.StreamState{}, record.Bounds{Age: time.Minute, Bytes: 1}, false}, // it has no first entry
	} {
		if got := exceeds(test.state, test.bounds, now); got != test.want {
			t.Errorf("%+v is more than %+v: %t", test.state, test.bounds, got)
		}
	}
}

// What is about to be removed is said before, and nothing is removed by a process that
// ends in time.
func TestRetentionIsAnnounced(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	cfg := steady()
	lines := &logLines{}
	a := prepareArenaLog(t, srv, cfg, zerolog.New(lines))
	begun(t, a.store, "g1", small(t, "600+6"), 2)
	r := &pruner{store: a.store, keep: Retention{Logs: record.Bounds{Age: time.Nanosecond}, Records: record.Bounds{Bytes: 1}, Notice: time.Minute}, log: a.log}
	if err := r.announce(t.Context()); err != nil {
		t.Fatal(err)
	}
	said := map[string]any{"level": "warn", "what": "logs", "in": "1m0s", "message": "old games will be removed, as the settings say; stop this process to keep them"}
	if n := lines.count(said); n != 1 {
		t.Errorf("said %d times", n)
	}
	if n := lines.count(map[string]any{"what": "records"}); n != 0 {
		t.Error("there are no records to remove")
	}
	cfg.Retention.Logs.Age = time.Minute
	cfg.Retention.Records.Bytes = -1
	if err := cfg.Validate(); err == nil || len(err.(interface{ Unwrap() []error }).Unwrap()) == 0 {
		t.Errorf("bad settings: %v", err)
	}
}
