package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena"
	"sparring/game"
	"sparring/lab/match"
	"sparring/lab/match/openings"
	"sparring/lab/match/overnats"
	"sparring/record"
)

// matchGround starts a ground with two players of Amazons.
func matchGround(t *testing.T) *ground {
	t.Helper()
	cfg := arena.Defaults()
	cfg.Ladder.On = false
	players := botOf(t, t.TempDir(), `{"player": "amazons-hare", "games": ["amazons"], "nodes": 100}`,
		`{"player": "amazons-tortoise", "games": ["amazons"], "nodes": 300}`)
	players.Ponder = false
	return newGround(t, cfg, players)
}

// plan returns a match on the ground, as the command's flags make it.
func (g *ground) plan(t *testing.T, a, b string, expire time.Duration) *match.Plan {
	t.Helper()
	f := matchFlags{game: "amazons", rules: "6x6", a: a, b: b, tournament: "roundrobin", games: 4, clock: "60+1", seed: 1, concurrency: 2,
		margin: 50 * time.Millisecond, patience: time.Minute, hash: 1, threads: 1, over: overNATS}
	plan, err := f.plan()
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(g.platform)
	if err != nil {
		t.Fatal(err)
	}
	plan.Backend = overnats.New(js, g.Subjects(), expire)
	return plan
}

// TestMatchWithPrograms: what a protocol has no words for is refused before anything is
// played, and a program that is told no time needs none.
func TestMatchWithPrograms(t *testing.T) {
	path, err := os.Executable() // it is not started
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ game, rules, dialect, clock, want string }{
		{"amazons", "", "sau", "", ""},
		{"amazons", "", "sau", "900", ""},
		{"amazons", "8x8", "sau", "900", "sau engines play only from the start of amazons/10x10, not from that of amazons/8x8"},
		{"amazons", "", "sau", "nodes=5", "sau engines can't be limited by nodes"},
		{"amazons", "8x8", "botzone", "", ""},
		{"amazons", "6x6", "botzone", "900", "botzone engines play amazons/8x8, not amazons/6x6"},
		{"gomoku", "", "gomocup", "depth=5", "gomocup engines can't be limited by depth"},
		{"gomoku", "", "gomocup", "", "required"},
	} {
		f := matchFlags{game: c.game, rules: c.rules, a: c.dialect + ":" + path, b: "self:nodes=5", tournament: "roundrobin", games: 2, clock: c.clock, openings: "none",
			seed: 1, concurrency: 1, margin: time.Second, patience: time.Minute, hash: 1, threads: 1}
		switch _, err := f.plan(); {
		case err == nil && c.want == "":
		case err == nil, c.want == "", !strings.Contains(err.Error(), c.want), strings.Contains(err.Error(), "\n"):
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestUnreadableBook: what a player of ours reads at its start is a setting, like its spec.
func TestUnreadableBook(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "my.book")
	args := []string{"match", "--game", "gomoku", "--a", "self:nodes=5,book=" + missing, "--b", "self:nodes=5", "--openings", "none", "--games", "2"}
	var errs strings.Builder
	if code := run(args, strings.NewReader(""), io.Discard, &errs); code != exitUsage || !strings.Contains(errs.String(), missing) {
		t.Errorf("code %d, %s", code, errs.String())
	}
}

// TestUntoldClock: a program whose protocol has no words for its clock is named.
func TestUntoldClock(t *testing.T) {
	limit, err := match.ParseLimit("5+0.05")
	if err != nil {
		t.Fatal(err)
	}
	for clock, want := range map[match.Limit]int{limit: 2, {}: 0} {
		var errs strings.Builder
		sayUntold(&errs, &match.Terms{Players: []string{"sau:one", "botzone:two", "uci:three", "self"}, Limit: clock})
		if text := errs.String(); strings.Count(text, "\n") != want || want > 0 && !strings.Contains(text, "sau:one is not told its clock, 5+0.05") {
			t.Errorf("%s: %q", clock, text)
		}
	}
}

// TestMatchOverNATS plays a match through the match queue, interrupts it, and
// resumes it from its file like a local match.
func TestMatchOverNATS(t *testing.T) {
	t.Parallel()
	g := matchGround(t)
	path := filepath.Join(t.TempDir(), "nats.jsonl")
	runs := 0
	for standing, err := (*match.Standing)(nil), context.Canceled; err != nil; runs++ {
		if !errors.Is(err, context.Canceled) || runs > 8 {
			t.Fatalf("run %d: %v", runs, err)
		}
		plan := g.plan(t, "amazons-hare", "amazons-tortoise", time.Minute)
		if plan.File, err = match.OpenFile(path, &plan.Terms); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		plan.Watch = func(*match.Standing, *match.Game) { cancel() } // after each game
		standing, err = match.Run(ctx, *plan)
		cancel()
		plan.File.Close()
		if err == nil && standing.Games != 4 {
			t.Errorf("%d games", standing.Games)
		}
	}
	if runs < 3 {
		t.Errorf("only %d runs", runs)
	}
	plan := g.plan(t, "amazons-hare", "amazons-tortoise", time.Minute)
	file, err := match.OpenFile(path, &plan.Terms)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	positions := map[int]string{}
	for _, g := range file.Games() {
		if g.Source.By != record.ByArena || g.Result == game.Undecided || g.Match.Fault != nil || g.Position == "" || g.Match.Sides[0].Moves == 0 {
			t.Errorf("%s: %+v, %+v", g.ID, g.Record, g.Match)
		}
		if was, ok := positions[g.Match.Pair]; ok && was != g.Position {
			t.Errorf("pair %d is played from %q and from %q", g.Match.Pair, was, g.Position)
		}
		positions[g.Match.Pair] = g.Position
		for seat, i := range g.Match.Players {
			if g.Seats[seat].Player != plan.Terms.Players[i] {
				t.Errorf("%s: %s sits on seat %d of %v", g.ID, g.Seats[seat].Player, seat, g.Match.Players)
			}
		}
	}
	if len(positions) != 2 || positions[1] == positions[2] {
		t.Errorf("openings %v", positions)
	}
	// The platform has every game once: none was repeated after an interruption.
	n := 0
	for r, err := range arena.Records(t.Context(), g.platform, g.Subjects()) {
		if err != nil || !strings.HasPrefix(r.ID, plan.Terms.ID+"-") {
			t.Errorf("%v, %v", r, err)
		}
		n++
	}
	if n != 4 {
		t.Errorf("the platform has %d records", n)
	}
}

// TestMatchOverNATSWithoutPlayers: a match whose games are not accepted ends with
// the reason.
func TestMatchOverNATSWithoutPlayers(t *testing.T) {
	t.Parallel()
	g := matchGround(t)
	plan := g.plan(t, "amazons-hare", "nobody", time.Second)
	if _, err := match.Run(t.Context(), *plan); !errors.Is(err, overnats.ErrExpired) {
		t.Errorf("%v", err)
	}
	plan = g.plan(t, "amazons-hare", "amazons-tortoise", time.Minute)
	plan.Terms.Game, plan.Terms.Rules, plan.Openings = "gomoku", "gomoku/freestyle-15+swap2", openings.Start{}
	if _, err := match.Run(t.Context(), *plan); !errors.Is(err, overnats.ErrRefused) {
		t.Errorf("%v", err)
	}
}

// TestVersionsOf: the version of a player is that of its program and files, whatever build of
// ours runs the match.
func TestVersionsOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "book")
	of := func(text string) map[string]string {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return versionsOf(&match.Terms{Players: []string{"self:nodes=5", "self:book=" + file}})
	}
	one, other := of("one"), of("another")
	const digest = 12 // letters
	if v := one["self:book="+file]; len(one) != 1 || len(v) != digest || v == other["self:book="+file] {
		t.Errorf("%v, and with another book %v", one, other)
	}
}
