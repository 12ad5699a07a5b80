package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"github.com/rs/zerolog"

	"sparring/bot/play"
	"sparring/engine/search"
	"sparring/lab/match"
)

// TestDumbTerminal: nothing is redrawn in place on a terminal that can't move its cursor.
func TestDumbTerminal(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	defer master.Close()
	defer tty.Close()
	for name, want := range map[string]bool{"xterm-256color": true, "dumb": false} {
		t.Setenv("TERM", name)
		if newDisplay(tty).live() != want {
			t.Errorf("TERM=%s: redrawn in place: %t", name, !want)
		}
	}
}

// TestPace: without a terminal a line comes after each part of the work, and every
// ten seconds while nothing gets done.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(newDisplay(&bytes.Buffer{}), 10*maxLines)
		begin := time.Now()
		said := ""
		for _, step := range []struct {
			after time.Duration
			done  int
		}{{1, 0}, {1, 3}, {1, 9}, {1, 10}, {1, 11}, {8, 12}, {1, 12}, {1, 19}, {4, 19}, {1, 22}, {1, 40}} {
			time.Sleep(step.after * time.Second)
			if p.due(step.done) {
				said += fmt.Sprintf("%v: %d, %s\n", time.Since(begin), step.done, timeLeft(begin, step.done, 200))
			}
		}
		const want = "4s: 10, 1m16s left\n14s: 12, 3m39s left\n20s: 22, 2m42s left\n21s: 40, 1m24s left\n"
		if said != want {
			t.Errorf("got\n%swant\n%s", said, want)
		}
	})
}

// TestWarnings: a warning on the screen says what it is about, as the log does.
func TestWarnings(t *testing.T) {
	var out bytes.Buffer
	w := &warnings{screen: newDisplay(&out), without: []string{"hidden"}}
	log := zerolog.New(w)
	log.Warn().Strs("variables", []string{"SPARRING_SLOT", "SPARRING_KEEP"}).Msg("unknown settings ignored")
	if out.Len() > 0 {
		t.Errorf("shown before the start: %q", out.String())
	}
	w.show()
	log.Info().Msg("game starts")
	log.Warn().Msg("hidden")
	log.Warn().Str("why", "the flag had fallen").Str("player", "ann").Str("game", "g4kq").Msg("refused")
	log.Warn().Str("of", "disk data").Msg("space runs out")
	log.Warn().Int("of", 31).Msg("searches start late")
	log.Error().Err(errors.New("disk full")).Str("game", "g4kq").Msg("record not kept")
	log.Warn().Str("incident", "the engine ended:\n  panic "+strings.Repeat("x", 1000)).Str("game", "g4kq").Msg("the engine misbehaved")
	w.mute()
	log.Error().Msg("too late")
	want := `warn: unknown settings ignored (SPARRING_SLOT, SPARRING_KEEP)
warn: refused: the flag had fallen (player ann, game g4kq)
warn: space runs out (disk data)
warn: searches start late
error: record not kept: disk full (game g4kq)
warn: the engine misbehaved: the engine ended: panic ` + strings.Repeat("x", maxIncident-28) + ` ... (game g4kq)
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// TestProgressBeyondTheGames: a match that is resumed with fewer games than its file has plays
// what is missing of them, and counts them all.
func TestProgressBeyondTheGames(t *testing.T) {
	plan := match.Plan{Games: 2, Terms: match.Terms{Players: []string{"a", "b"}}}
	var out bytes.Buffer
	standing := match.NewStanding(&plan.Terms)
	standing.Games = 6
	newProgress(&out, &plan).game(standing, &match.Game{})
	if text := out.String(); !strings.Contains(text, "[####################] 6/6 games") {
		t.Errorf("%q", text)
	}
}

// TestEvaluation: a search that finished no depth has no score.
func TestEvaluation(t *testing.T) {
	for want, r := range map[string]search.Result{
		"no depth was finished":  {},
		"+0  50%  depth  1":      {Depth: 1, WinProb: 0.5},
		"-30000   0%  depth  12": {Depth: 12, Score: -30000},
	} {
		if got := strings.Join(strings.Fields(evaluation(&play.Think{Result: r})), " "); got != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}
