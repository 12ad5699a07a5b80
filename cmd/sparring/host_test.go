package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"sparring/protocol"
)

// TestAwaitGone: a ladder is given up that has ended, or that does not answer for long;
// not one that answers again, nor after a pause of this process.
func TestAwaitGone(t *testing.T) {
	const url = "nats://127.0.0.1:4222"
	always := func(ended bool) func() bool { return func() bool { return ended } }
	for _, c := range []struct {
		name   string
		silent func(since time.Duration) time.Duration
		left   func() bool
		after  time.Duration // at most
		says   string        // "": it is not given up
	}{
		{"ended here", func(since time.Duration) time.Duration { return since }, always(true), 10 * time.Second, "the ladder at " + url + " has ended"},
		{"killed here", func(since time.Duration) time.Duration { return since }, always(false), 2 * time.Minute, "is gone: no answer for 1m0s"},
		{"elsewhere", func(since time.Duration) time.Duration { return since }, nil, 10 * time.Minute, "is gone: no answer for 5m0s"},
		{"back each minute", func(since time.Duration) time.Duration { return since % (50 * time.Second) }, always(false), time.Hour, ""},
		{"a second after a pause", func(since time.Duration) time.Duration {
			if since.Truncate(time.Second) == time.Minute {
				return time.Hour
			}
			return 0
		}, always(true), time.Hour, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), c.after)
				defer cancel()
				err := awaitGone(ctx, func() time.Duration { return c.silent(time.Since(begun)) }, url, c.left)
				if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasSuffix(err.Error(), c.says)) {
					t.Errorf("after %v: %v, want %q", time.Since(begun), err, c.says)
				}
			})
		})
	}
}

// TestTeamOnServer: on a server the id is the user's, whichever way it is named, and the
// name is only shown.
func TestTeamOnServer(t *testing.T) {
	for _, c := range []struct {
		name, url, user, flag string
		id                    protocol.PlayerID
		display               string
		fails                 string
	}{
		{"Team Red", "", "", "nats://red@ladder.example.org", "red", "Team Red", ""},
		{"Team Red", "nats://red:secret@ladder.example.org", "", "", "red", "Team Red", ""},
		{"红", "nats://ladder.example.org", "red", "", "red", "红", ""},
		{"", "nats://red:secret@ladder.example.org", "", "", "red", "", ""},
		{"blue", "nats://red:secret@ladder.example.org", "", "nats://blue@ladder.example.org", "blue", "", ""},
		{"Team Red", "nats://ladder.example.org", "", "", "team-red", "Team Red", ""}, // it is the user, too
		{"Team Red", "", "red", "", "team-red", "Team Red", ""},                       // a ladder of this machine
		{"", "nats://Red:secret@ladder.example.org", "", "", "", "", `the user "Red" of the server can't be a player`},
	} {
		t.Setenv("SPARRING_NATS_URL", c.url)
		t.Setenv("SPARRING_NATS_USER", c.user)
		f := joinFlags{ladderFlags: &ladderFlags{nats: serverFlags{url: c.flag}}, engine: "self", game: "amazons", name: c.name}
		command := &cobra.Command{}
		command.SetContext(t.Context())
		got, err := f.team(command)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		} else if got.id != c.id || got.display != c.display {
			t.Errorf("%+v: %s, shown as %q", c, got.id, got.display)
		}
	}
}

// TestClaim: one engine at a time plays a game as a player; the next one is told whose
// the rating was.
func TestClaim(t *testing.T) {
	data := t.TempDir()
	team := func(engine, game string) *team {
		return &team{id: "red", display: "Team Red", engine: engine, game: game, data: data}
	}
	claim := func(engine, game, before string) (release func()) {
		t.Helper()
		got, release, err := team(engine, game).claim()
		if err != nil || got != before {
			t.Fatalf("%s: %q %v, want %q", engine, got, err, before)
		}
		return release
	}
	first := claim("uci:/v1/engine", "xiangqi", "")
	again := claim("uci:/v1/engine", "xiangqi", "") // the same one on more cores
	claim("gomocup:/ten", "gomoku", "")()
	refused := func() {
		t.Helper()
		if _, _, err := team("uci:/v2/engine", "xiangqi").claim(); err == nil || !strings.Contains(err.Error(), "another engine plays xiangqi as Team Red already: uci:/v1/engine; give this one another --name") {
			t.Errorf("a second engine: %v", err)
		}
	}
	refused()
	first()
	refused() // the other process plays
	again()
	claim("uci:/v2/engine", "xiangqi", "uci:/v1/engine")()
	claim("uci:/v2/engine", "xiangqi", "")()
}

// TestClaimTogether: processes with one engine that are started at once all play, and
// find a whole profile; of two engines only one plays.
func TestClaimTogether(t *testing.T) {
	for n := range 30 {
		data, start := t.TempDir(), make(chan struct{})
		engines := []string{"uci:/one", "uci:/two"}[:n%2+1]
		var wg sync.WaitGroup
		var mu sync.Mutex
		plays, releases := map[string]int{}, []func(){}
		for i := range 6 {
			x := &team{id: "red", engine: engines[i%len(engines)], game: "gomoku", data: data}
			wg.Go(func() {
				<-start
				_, release, err := x.claim()
				mu.Lock()
				defer mu.Unlock()
				switch last := x.lastEngine(); {
				case err == nil && last != x.engine:
					t.Errorf("%s plays, and the profile is that of %q", x.engine, last)
				case err != nil && len(engines) == 1:
					t.Error(err)
				}
				if err == nil {
					plays[x.engine]++
					releases = append(releases, release)
				}
			})
		}
		close(start)
		wg.Wait()
		if len(plays) != 1 {
			t.Errorf("playing: %v", plays)
		}
		for _, release := range releases {
			release()
		}
	}
}
