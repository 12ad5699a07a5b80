package bot

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"sparring/bot/policy"
	"sparring/engine"
	"sparring/engine/search"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/protocol"
)

// A process whose searches start late offers fewer slots and does not ponder, says so
// once, still takes back the seats of running games, and offers all slots again when its
// searches start in time.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots = 8
		e, log := &greedy{}, new(gametest.Output)
		pool := engine.NewPool(2)
		defer pool.Close()
		ledger := policy.NewLedger(policy.Limits{Games: slots})
		o := newOverload(pool, ledger, slots, true, zerolog.New(log))
		g, err := e.newGame("", engine.GameOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		pos, err := catalog.Setup("amazons", "6x6", "")
		if err != nil {
			t.Fatal(err)
		}
		play := func(seconds int) { // and four moves each, with a second planned for each
			for range seconds {
				for range 4 {
					if _, err := pool.Start(engine.Request{Game: g, Position: pos, Limits: search.Limits{Nodes: 1, Soft: time.Second, Hard: 2 * time.Second}}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(checkInterval)
				o.check(time.Now())
			}
		}
		var games []*policy.Reservation
		for range slots {
			r, err := ledger.Reserve(policy.Need{Player: hare}, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			games = append(games, r)
		}
		offered := func() int {
			var r protocol.BotReport
			o.fill(&r)
			if r.Offered == nil {
				return slots
			}
			return *r.Offered
		}
		said := func(text string) int { return strings.Count(log.String(), text) }

		play(20)
		if offered() != slots || said("late") != 0 {
			t.Fatalf("%d slots offered with searches that start in time: %s", offered(), log)
		}
		e.setDelay(300 * time.Millisecond)
		play(8)
		if offered() != slots*3/4 || said("searches start late") != 1 {
			t.Fatalf("%d slots offered, want %d: %s", offered(), slots*3/4, log)
		}
		games[0].Release()
		if ledger.Free(policy.Need{Player: hare}) != 0 {
			t.Error("a new game is taken")
		}
		if ledger.Free(policy.Need{Player: hare, Running: true}) == 0 {
			t.Error("the seat of a running game is not taken")
		}
		ponder, err := pool.Start(engine.Request{Game: g, Position: pos, Ponder: true})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if e.searches() != 0 {
			t.Error("it ponders")
		}
		ponder.Stop()
		play(60)
		if offered() != 1 {
			t.Errorf("%d slots offered after a minute of late searches, want 1", offered())
		}
		e.setDelay(0)
		play(120)
		if offered() != slots || said("searches start late") != 1 || said("all slots are offered") != 1 {
			t.Errorf("%d slots offered in the end: %s", offered(), log)
		}
		if ledger.Free(policy.Need{Player: hare}) != 1 {
			t.Error("no new game is taken")
		}
		if ponder, err = pool.Start(engine.Request{Game: g, Position: pos, Ponder: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if e.searches() != 1 {
			t.Error("it does not ponder")
		}
		ponder.Stop()
	})
}
