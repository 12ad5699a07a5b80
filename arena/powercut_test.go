package arena

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/record"
)

// A power cut of the server alone takes the last records, and the next ones get their
// numbers. An arena that goes on rates these, too.
func TestRatedAfterPowerCut(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"the records", "the records and the standings"} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "nats")
			srv := arenatest.StartNATS(t, dir)
			nc := arenatest.Connect(t, srv.Platform())
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			a, err := New(ctx, nc, quick(), zerolog.Nop())
			if err != nil {
				t.Fatal(err)
			}
			go a.ladder.follow(ctx, a.store)
			games := func() int {
				s, _ := a.ladder.of("amazons", clock.Correspondence, "ann")
				return s.Games
			}
			n := 0
			end := func(more, want int) {
				t.Helper()
				for range more {
					n++
					rec := &record.Record{ID: fmt.Sprintf("g%d", n), Game: "amazons", Rules: "amazons/6x6", Rated: true, Result: game.FirstWins, Source: record.Source{By: record.ByArena}}
					rec.Seats[0].Player, rec.Seats[1].Player = "ann", "bob"
					gametest.Eventually(t, "a record stored", func() bool { return a.store.publishRecord(ctx, rec) == nil })
				}
				gametest.Eventually(t, fmt.Sprintf("%d games rated", want), func() bool { return games() == want })
			}
			kept := filepath.Join(t.TempDir(), "kept")
			restart := func(f func(streams string)) {
				t.Helper()
				srv.Close()
				f(filepath.Join(dir, "jetstream", "$G", "streams"))
				srv.Start()
				gametest.Eventually(t, "the server again", func() bool { _, err := a.store.records.Info(ctx); return err == nil })
			}
			end(3, 3)
			restart(func(streams string) {
				if err := os.CopyFS(kept, os.DirFS(streams)); err != nil {
					t.Fatal(err)
				}
			})
			end(3, 6)
			want := 6
			restart(func(streams string) {
				names := []string{a.store.records.CachedInfo().Config.Name}
				if lost != "the records" {
					names, want = append(names, "KV_"+a.store.ladder.Bucket()), 3
				}
				for _, name := range names {
					at := filepath.Join(streams, name)
					if err := errors.Join(os.RemoveAll(at), os.CopyFS(at, os.DirFS(filepath.Join(kept, name)))); err != nil {
						t.Fatal(err)
					}
				}
			})
			end(5, want+5)
		})
	}
}
