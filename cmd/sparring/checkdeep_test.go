package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"sparring/game/gametest"
	"sparring/pipe/external"
	"sparring/pipe/external/faultyengine"
)

// TestDeepCheck: the games of a deep check show what costs an engine a game on the
// ladder, and what is odd there although it does not.
func TestDeepCheck(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	for _, test := range []struct {
		mode, clock string
		verdict     external.Verdict
		says        string
	}{
		{faultyengine.Fine, "60+1", external.Good, "; pondered on "},
		{faultyengine.CrashPonder, "60+1", external.Bad, "failed while pondering and is started again"},
		{faultyengine.EarlyMove, "60+1", external.Bad, `to "go infinite" before it was told to stop`},
		{faultyengine.EarlyNull, "60+1", external.Bad, "no more pondering"},
		{faultyengine.CrashGo, "60+1", external.Bad, "the engine failed"},
		{faultyengine.HangGo, "2", external.Bad, "no answer after "},
		{faultyengine.CrashStart, "60+1", external.Bad, "no network file"},
	} {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel()
			var found []external.Finding
			// How early an answer is depends on the rival: its search has to outlast the
			// engine's answer, however busy the machine is.
			for nodes := 5000; ; nodes *= 20 {
				check := newDeepCheck(external.Spec{Dialect: external.UCI, Path: "broken-engine", Args: []string{test.mode}}, "amazons", test.clock, newDisplay(io.Discard))
				check.rival, check.moves = fmt.Sprintf("self:nodes=%d", nodes), 6
				found = nil
				if err := check.run(t.Context(), func(f external.Finding) { found = append(found, f) }); err != nil {
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
			if last := found[games-1]; last.Verdict != external.Good && test.verdict == external.Good {
				t.Errorf("%+v", last)
			}
		})
	}
}
