package doctor

import (
	"fmt"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/game/clock"
	"sparring/lab/match"
	"sparring/lab/match/openings"
	"sparring/pipe/external"
	"sparring/pipe/external/faultyengine"
)

// TestGames: the games of a deep check show what costs an engine a game on the
// ladder, and what is odd there although it does not.
func TestGames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mode, clock string
		verdict     Verdict
		says        string
	}{
		{faultyengine.Fine, "60+1", Good, "; pondered on "},
		{faultyengine.CrashPonder, "60+1", Bad, "failed while pondering and is started again"},
		{faultyengine.EarlyMove, "60+1", Bad, `to "go infinite" before it was told to stop`},
		{faultyengine.EarlyNull, "60+1", Bad, "no more pondering"},
		{faultyengine.CrashGo, "60+1", Bad, "the engine failed"},
		{faultyengine.HangGo, "2", Bad, "no answer after "},
		{faultyengine.CrashStart, "60+1", Bad, "no network file"},
	} {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel()
			var found []Finding
			// How early an answer is depends on the rival: its search has to outlast the
			// engine's answer, however busy the machine is.
			for nodes := 5000; ; nodes *= 20 {
				check := Games{Spec: faultySpec(t, external.UCI, test.mode), Plan: gamesPlan(t, test.clock), rival: fmt.Sprintf("self:nodes=%d", nodes), moves: 6}
				found = nil
				if err := check.Run(t.Context(), func(f Finding) { found = append(found, f) }); err != nil {
					t.Fatal(err)
				}
				early := test.mode == faultyengine.EarlyMove || test.mode == faultyengine.EarlyNull
				if !early || strings.Contains(found[0].Text, test.says) || nodes > 1_000_000 {
					break
				}
			}
			games := 2
			if test.mode == faultyengine.CrashStart {
				games = 1 // what does not start is not asked to play again
			}
			if len(found) != games {
				t.Fatalf("%+v", found)
			}
			if first := found[0]; first.Verdict != test.verdict || !strings.Contains(first.Text, test.says) {
				t.Errorf("%+v, want %s and %q", first, test.verdict, test.says)
			}
			if last := found[games-1]; last.Verdict != Good && test.verdict == Good {
				t.Errorf("%+v", last)
			}
		})
	}
}

// gamesPlan returns the plan of two games of Amazons from the usual start.
func gamesPlan(t *testing.T, clockText string) match.Plan {
	t.Helper()
	c, err := clock.Parse(clockText)
	if err != nil {
		t.Fatal(err)
	}
	p := match.Plan{Games: 2, Concurrency: 1, Openings: openings.Start{}, Terms: match.Terms{V: match.FileVersion, ID: match.NewID(), Game: "amazons",
		Rules: "amazons/10x10", Kind: match.RoundRobin, Players: []string{string(Checked), string(Opponent)}, Limit: match.Limit{Clock: c}, Openings: "none",
		MarginMS: 50, PatienceMS: 60_000, HashMB: 1, Threads: 1, Over: "nats", Build: engine.Build(), Seed: 1}}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return p
}
