package browser

import (
	"flag"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/protocol"
)

var whole = flag.Bool("whole", false, "play the first games of all kinds to their ends")

// TestFirstGame: somebody who has never been here plays in two taps, a whole game of
// Gomoku against the weakest level, and some moves of the other games.
func TestFirstGame(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	watched, adviser := w.watch(t), newAdviser(t)
	for _, c := range []struct {
		game   string
		device device
	}{{"xiangqi", phone}, {"gomoku", phone}, {"amazons", desktop}} {
		t.Run(c.game, func(t *testing.T) {
			p := newPerson(t, c.game, c.device, w.at)
			p.open("/")
			p.tap(`[data-choose="` + c.game + `"]`)
			p.see(`main a[href="/rules/` + c.game + `"]`)
			p.tapUntil(act("play"), inGame)
			id := p.shown()
			for mover(p.tab) != nil {
				e := watched.latest(t, id, p.tab)
				if c.game != "gomoku" && len(e.Moves) > 4 && !*whole {
					p.tap(act("resign"))
					p.tap(act("yes-resign"))
					p.await(`document.documentElement.dataset.result`)
					break
				}
				p.move(adviser.best(t, e))
			}
			gametest.Eventually(t, "the spectators see the end", func() bool { return watched.of(id).Status == protocol.Finished })
			e := watched.of(id)
			t.Logf("%s by %s after %d plies", e.Outcome.Result, e.Outcome.Reason, len(e.Moves))
			kind, err := catalog.Game(c.game)
			if err != nil {
				t.Fatal(err)
			}
			if e.Outcome.Result == game.Undecided || e.Terms.Rules != kind.Default || e.Terms.Rated || p.root("result") != e.Outcome.Result.String() {
				t.Errorf("%+v: %+v, on the screen %q", e.Terms, e.Outcome, p.root("result"))
			}
			if human := e.Holders[game.First].Kind == protocol.Human; human == (e.Holders[game.Second].Kind == protocol.Human) {
				t.Errorf("the players are %+v", e.Holders)
			}
		})
	}
}
