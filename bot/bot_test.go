package bot

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"sparring/bot/play"
	"sparring/engine"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/pipe/external/faultyengine"
	"sparring/protocol"
)

// TestMain lets the test binary be an external engine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "broken" {
		faultyengine.Main()
	}
	goleak.VerifyTestMain(m)
}

const hare, tortoise = protocol.PlayerID("amazons-hare"), protocol.PlayerID("amazons-tortoise")

// fixture is a running bot with its log and events.
type fixture struct {
	*Bot
	engine *greedy // nil: a real one
	log    *gametest.Output
	cancel context.CancelFunc
	done   chan struct{}
	err    error

	mu     sync.Mutex
	events []play.Event
}

func startBot(t *testing.T, nc *nats.Conn, change ...func(*Config)) *fixture {
	t.Helper()
	return startBotWith(t, nc, nil, change...)
}

func startBotWith(t *testing.T, nc *nats.Conn, records play.Records, change ...func(*Config)) *fixture {
	t.Helper()
	e := &greedy{winProb: 0.5}
	f := runBot(t, nc, Deps{NewGame: e.newGame, Build: "test 1", Records: records}, change...)
	f.engine = e
	return f
}

func runBot(t *testing.T, nc *nats.Conn, d Deps, change ...func(*Config)) *fixture {
	t.Helper()
	cfg := defaults(t)
	cfg.Players = []string{string(hare) + ":amazons"}
	cfg.Play.HumanDelay = 0
	for _, f := range change {
		f(&cfg)
	}
	f := &fixture{log: new(gametest.Output), done: make(chan struct{})}
	if d.Pool == nil {
		d.Pool = engine.NewPool(2)
		t.Cleanup(d.Pool.Close)
	}
	d.Log, d.Observe = zerolog.New(f.log), f.observe
	b, err := New(nc, cfg, d)
	if err != nil {
		t.Fatal(err)
	}
	f.Bot = b
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	go func() {
		f.err = b.Run(ctx)
		close(f.done)
	}()
	t.Cleanup(func() {
		f.stop(t)
		if t.Failed() {
			t.Logf("the bot's log:\n%s", f.log)
		}
	})
	return f
}

func (f *fixture) observe(e play.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
}

func (f *fixture) stop(t *testing.T) {
	t.Helper()
	f.cancel()
	f.wait(t)
	if f.engine == nil {
		return
	}
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	if f.engine.running != 0 || f.engine.open != 0 {
		t.Errorf("%d searches still run, %d games are open", f.engine.running, f.engine.open)
	}
}

func (f *fixture) wait(t *testing.T) {
	t.Helper()
	select {
	case <-f.done:
	case <-time.After(waitFor):
		t.Fatal("Run does not return")
	}
}

func (f *fixture) count(kind play.EventKind) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, e := range f.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// playing returns one bot against the script, in mid-game.
func playing(t *testing.T, prepare func(*platform), change ...func(*Config)) (*platform, *scriptedGame, *fixture) {
	t.Helper()
	return playingAt(t, "60+1", prepare, change...)
}

func playingAt(t *testing.T, clock string, prepare func(*platform), change ...func(*Config)) (*platform, *scriptedGame, *fixture) {
	t.Helper()
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	if prepare != nil {
		prepare(p)
	}
	f := startBot(t, connect(t, srv.Player("bots")), change...)
	o := offerOf(small(t), "game1", game.Second)
	o.Terms.Clock = spec(t, clock)
	ans := p.offer(protocol.OwnPool(hare), o)
	if ans.Answer != protocol.Accept || ans.Player != hare {
		t.Fatalf("offer answered %+v", ans)
	}
	return p, p.grant(o, ans), f
}

// thinking returns one bot against the script, in the search for its first move,
// which does not end by itself.
func thinking(t *testing.T) (*platform, *scriptedGame, *fixture) {
	t.Helper()
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")))
	f.engine.setPause(time.Hour)
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	gametest.Eventually(t, "a search", func() bool { return f.engine.searches() > 0 })
	return p, m, f
}

func TestPlaysAGameToItsEnd(t *testing.T) {
	p, m, f := playing(t, nil)
	p.finished(m)
	gametest.Eventually(t, "the end event", func() bool { return f.count(play.GameEnded) == 1 })
	p.mu.Lock()
	plies := len(m.Moves)
	p.mu.Unlock()
	if n := f.count(play.MovePlayed); n != plies || f.count(play.GameStarted) != 1 {
		t.Errorf("%d move events for %d plies", n, plies)
	}
	f.mu.Lock()
	last := f.events[len(f.events)-1]
	f.mu.Unlock()
	if last.Kind != play.GameEnded || last.Outcome != m.Outcome || !last.Outcome.Over() {
		t.Errorf("last event %+v, the platform's outcome %+v", last, m.Outcome)
	}
	gametest.Eventually(t, "the slot back", func() bool { return f.ledger.Used() == 0 })
	if f.engine.hits == 0 {
		t.Error("no ponder hit, although the script plays what the engine expects")
	}
	for _, bad := range []string{`"level":"error"`, `"level":"warn"`} {
		if f.log.Has(bad) {
			t.Errorf("the log has %s:\n%s", bad, f.log)
		}
	}
}

func TestTwoPlayersOfOneProcess(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) {
		c.Players = append(c.Players, string(tortoise)+":amazons")
	})
	gametest.Eventually(t, "both players known", func() bool {
		return f.log.Has(`"player":"`+string(hare)+`","held"`) && f.log.Has(`"player":"`+string(tortoise)+`","held"`)
	})
	o := offerOf(small(t), "derby", game.First)
	o.Opponent = nil
	first := p.offer("amazons.bullet", o)
	o2 := o
	o2.Seat, o2.Opponent = game.Second, &protocol.Opponent{Player: first.Player, Kind: protocol.Bot}
	second := p.offer("amazons.bullet", o2)
	if first.Answer != protocol.Accept || second.Answer != protocol.Accept || first.Player == second.Player {
		t.Fatalf("answers %+v and %+v", first, second)
	}
	m := p.grant(o, first, second)
	p.finished(m)
	gametest.Eventually(t, "both sessions to end", func() bool { return f.ledger.Used() == 0 && f.count(play.GameEnded) == 2 })
}

func spec(t *testing.T, text string) clock.Spec {
	t.Helper()
	s, err := clock.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
