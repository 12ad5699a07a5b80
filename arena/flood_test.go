package arena

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/protocol"
)

var longFloods = flag.Bool("flood.long", false, "TestFloods sends as much as the attackers did that took everybody's seats: 48,000 heartbeats of 8 KB in 15 s")

// flood is what one player sends too much of.
type flood struct {
	name    string
	subject func(protocol.Subjects, protocol.GameID) string
	data    string
	n       int // in CI
	long    int // with -flood.long
	over    time.Duration
}

// floods are of the player eve, who has no seat in the game.
func floods() []flood {
	verb := func(v protocol.Verb) func(protocol.Subjects, protocol.GameID) string {
		return func(s protocol.Subjects, _ protocol.GameID) string { return s.Play("eve", v) }
	}
	var games []string
	for i := range 240 {
		games = append(games, fmt.Sprintf(`"%032d"`, i))
	}
	const head = `{"v":1,"id":"e1","instance":"e1"`
	list := `,"games":[` + strings.Join(games, ",") + `]`
	return []flood{
		{"heartbeats of 8 KB", verb(protocol.VerbAlive), head + `,"free":1` + list + "}", 8_000, 48_000, 15 * time.Second},
		{"small heartbeats", verb(protocol.VerbAlive), head + `,"free":1}`, 10_000, 100_000, 4 * time.Second},
		{"hellos", verb(protocol.VerbHello), head + `,"kind":"bot","slots":1,"games":[{"game":"amazons"}]}`, 10_000, 100_000, 4 * time.Second},
		{"leaves", verb(protocol.VerbLeave), head + list + "}", 4_000, 48_000, 15 * time.Second},
		{"requests for standings", verb(protocol.VerbStandings), `{"v":1,"id":"e1","game":"amazons"}`, 10_000, 100_000, 4 * time.Second},
		{"verbs that do not exist", verb("castle"), head + "}", 10_000, 100_000, 4 * time.Second},
		{"moves in a game of others", func(s protocol.Subjects, g protocol.GameID) string { return s.Act("eve", g, protocol.ActMove) },
			head + `,"epoch":1,"ply":0,"move":"a1a2/a1"}`, 20_000, 200_000, 5 * time.Second},
		{"moves in no game", func(s protocol.Subjects, _ protocol.GameID) string { return s.Act("eve", "nothing", protocol.ActMove) },
			head + `,"epoch":1,"ply":0,"move":"a1a2/a1"}`, 10_000, 100_000, 5 * time.Second},
	}
}

// answersSoon reports whether the platform answers a player before long.
func answersSoon(p *player) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := p.Standings(ctx, "amazons")
	return err == nil
}

// A player's flood costs only that player: the others' messages are not dropped,
// their seats are not vacated and their games end by their own moves.
func TestFloods(t *testing.T) {
	t.Parallel()
	onEither(t, func(t *testing.T, srv platform) {
		cfg := Defaults()
		cfg.Heartbeat = 100 * time.Millisecond
		a := prepareArenaLog(t, srv, cfg, zerolog.Nop())
		var overflows atomic.Int64 // of subscriptions
		a.nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrSlowConsumer) {
				overflows.Add(1)
			}
		})
		a.start()
		ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
		for _, p := range []*player{ann, bob} {
			slow(p, 30*time.Millisecond)
		}
		eve := arenatest.Connect(t, srv.Player("eve"))
		for _, f := range floods() {
			g := ann.challenge("bob", small(t, "60+1"), game.First)
			ann.until(g, "the first moves", plies(2))
			before := a.server.Dropped()
			n, pause := f.n, time.Duration(0)
			if *longFloods {
				n, pause = f.long, f.over/time.Duration(f.long)*100
			}
			begun := time.Now()
			for i := range n {
				if err := eve.PublishRequest(f.subject(a.server.Subjects(), g), eve.NewRespInbox(), []byte(f.data)); err != nil {
					t.Fatalf("%s: %v", f.name, err)
				}
				if i%100 == 99 {
					time.Sleep(pause)
				}
			}
			if err := eve.FlushTimeout(patience); err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			took := time.Since(begun)
			st := ann.until(g, "the end", finished)
			if st.Outcome.Reason != game.NoMoves || st.Holders[0].Epoch != 1 || st.Holders[1].Epoch != 1 {
				t.Errorf("%s: the game ended by %s, with the seats in epochs %d and %d", f.name, st.Outcome.Reason, st.Holders[0].Epoch, st.Holders[1].Epoch)
			}
			dropped := a.server.Dropped() - before
			slowly := took > time.Duration(n)*f.over/time.Duration(f.long)
			if !slowly && dropped < int64(n)/2 {
				t.Errorf("%s: only %d of %d were dropped", f.name, dropped, n)
			}
			if overflows.Load() > 0 {
				t.Errorf("%s: messages of all players were lost", f.name)
			}
			for i, e := range whole(t, a.store, g) {
				if e.Kind == protocol.EventSeat {
					t.Errorf("%s: entry %d: %s", f.name, i+1, e.Text)
				}
			}
			if slowly && !answersSoon(ann) { // to read a message takes so long that no limit is reached
				t.Skipf("%s: %d in %v are no flood on this machine, which is still busy with them; %d were dropped", f.name, n, took, dropped)
			}
		}
		if n := counterValue(t, a.Arena, "sparring_arena_refusals_total", string(protocol.Denied)); n != 0 {
			t.Errorf("%v requests of strangers reached the referees", n)
		}
	})
}
