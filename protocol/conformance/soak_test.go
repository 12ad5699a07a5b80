package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/protocol/conformance"
	"sparring/protocol/conformance/scripted"
)

// TestSoak plays games on our arena while all connections fail at random.
func TestSoak(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	cfg := ourArena(t)
	cfg.Seed = 5
	rep, err := conformance.Soak(testContext(t), cfg, conformance.SoakOptions{Games: 12, AtOnce: 4, Faults: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", rep)
	for _, b := range rep.Broken {
		t.Error(b)
	}
	if rep.Games != 12 {
		t.Errorf("%d games", rep.Games)
	}
}

// A platform that tells the players different results, or ends games by itself, is found
// out.
func TestSoakFindsFaults(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	for name, c := range map[string]struct {
		want string
		hook func(*scripted.Platform) scripted.Hooks
	}{
		"two results": {"two results", func(*scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
				if st.Status == protocol.Finished && st.You == game.Second {
					st.Outcome.Result = game.Draw
				}
				send(st)
			}}
		}},
		"time": {`by "time"`, func(p *scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Answer: func(g *scripted.Game, _ protocol.GameRequest, _ *protocol.ActAnswer) {
				if len(g.Moves) == 6 {
					p.End(g, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonTime})
				}
			}}
		}},
	} {
		b := newBench(t)
		startPlatform(t, b, scriptedConfig(), c.hook)
		var told []string
		rep, err := conformance.Soak(testContext(t), b.foreignConfig(), conformance.SoakOptions{Games: 3, AtOnce: 3,
			Broken: func(what string) { told = append(told, what) }})
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Broken) == 0 || !strings.Contains(rep.Broken[0], c.want) {
			t.Errorf("%s: found %q", name, rep.Broken)
		}
		if !slices.Equal(told, rep.Broken) {
			t.Errorf("%s: told %q at once, and %q in the end", name, told, rep.Broken)
		}
	}
}
