package conformance_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/kelseyhightower/envconfig"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/bot"
	"sparring/engine"
	"sparring/pipe/playerspec"
	"sparring/protocol"
	"sparring/protocol/conformance"
	"sparring/protocol/conformance/scripted"
)

// ease is for machines that run other tests, too.
const ease = 5

// newScripted makes a bot of another make.
func newScripted(t testing.TB, b *bench, nc *nats.Conn, change ...func(*scripted.PlayerConfig)) *scripted.Player {
	t.Helper()
	cfg := scripted.PlayerConfig{Prefix: foreign, Player: "hare"}
	for _, f := range change {
		f(&cfg)
	}
	p, err := scripted.NewPlayer(nc, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// startScripted runs a bot of another make.
func startScripted(t testing.TB, b *bench) {
	t.Helper()
	p := newScripted(t, b, b.connect(b.proxied()))
	go func() {
		if err := p.Start(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	}()
}

// brevity is how long an impatient program waits for an answer.
const brevity = 300 * time.Millisecond

// brief bounds a request that is not repeated.
func brief() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), brevity)
}

// foreign is the prefix of the subjects of programs of another make.
const foreign = "club.games"

// runOurs runs our own bot until ctx ends, and then drains it.
func runOurs(ctx context.Context, at protocol.Connection) error {
	var cfg bot.Config
	if err := envconfig.Process("SPARRING_CONFORMANCE_BOT", &cfg); err != nil {
		return err
	}
	cfg.NATS.Prefix, cfg.Players, cfg.Slots, cfg.HashMB, cfg.Book, cfg.Ponder = foreign, []string{"hare:amazons"}, 4, 1, "none", false
	pool := engine.NewPool(1)
	defer pool.Close()
	engines := playerspec.NewEngines(playerspec.Options{HashBytes: 1 << 20, Threads: 1})
	defer engines.Close()
	nc, err := protocol.Connect(at)
	if err != nil {
		return err
	}
	defer nc.Close()
	newGame := func(_ string, o engine.GameOptions) (engine.Game, error) { return engines.NewGame("self:nodes=200", o) }
	ours, err := bot.New(nc, cfg, bot.Deps{NewGame: newGame, Pool: pool, Build: "ours", Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, ours.Drain)()
	return ours.Run(context.WithoutCancel(ctx))
}

// startOurs runs our own bot until the test ends.
func startOurs(t testing.TB, b *bench) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- runOurs(ctx, b.proxied()) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func checkBot(t testing.TB, b *bench, o conformance.Options, change ...func(*conformance.BotConfig)) conformance.Report {
	t.Helper()
	cfg := conformance.BotConfig{Connection: b.direct(), Prefix: foreign, Player: "hare", Proxy: b.proxy, Ease: ease, Log: zerolog.Nop()}
	for _, f := range change {
		f(&cfg)
	}
	rep, err := conformance.CheckBot(testContext(t), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	logResults(t, rep)
	return rep
}

// TestBots: our own bot and one of another make keep everything.
func TestBots(t *testing.T) {
	for name, start := range map[string]func(testing.TB, *bench){
		"ours":            startOurs,
		"of another make": startScripted,
	} {
		inShards(t, name, conformance.BotScenarios(), func(t *testing.T, o conformance.Options) conformance.Report {
			b := newBench(t)
			start(t, b)
			return checkBot(t, b, o)
		})
	}
}

// A bot may ask for the standings of the ladder, as often as it likes.
func TestBotThatAsksForStandings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := newScripted(t, b, b.connect(b.proxied()))
	go p.Start(t.Context())
	answered := make(chan struct{})
	go func() {
		for first := true; t.Context().Err() == nil; first = false {
			if _, err := p.Standings(t.Context(), "amazons"); err == nil && first {
				close(answered)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	for _, res := range checkBot(t, b, conformance.Options{Only: []string{"game"}}).Results {
		if res.Verdict != conformance.Pass {
			t.Errorf("%s: %s: %s", res.Scenario, res.Verdict, res.Seen)
		}
	}
	select {
	case <-answered:
	default:
		t.Error("the standings were never answered")
	}
}

// TestBotWithoutSecret: no platform believes an accept of a bot whose hello has no secret,
// so that it must not pass.
func TestBotWithoutSecret(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	nc := b.connect(b.proxied())
	subjects, err := protocol.NewSubjects(foreign)
	if err != nil {
		t.Fatal(err)
	}
	header := func() protocol.Header { return protocol.Header{V: protocol.Version, ID: protocol.NewID()} }
	ask := func(v protocol.Verb, m any) error {
		data, err := json.Marshal(m)
		if err == nil {
			_, err = nc.Request(subjects.Play("hare", v), data, time.Second)
		}
		return err
	}
	hello := protocol.Hello{Header: header(), Instance: "i1", Kind: protocol.Bot, Build: "secretless", Slots: 1,
		Games: []protocol.Capability{{Game: "amazons"}}, Pools: []protocol.Pool{protocol.OwnPool("hare")}}
	if _, err := nc.QueueSubscribe(subjects.Offer(protocol.OwnPool("hare")), protocol.BotsQueue, func(msg *nats.Msg) {
		var o protocol.Offer
		if json.Unmarshal(msg.Data, &o) != nil {
			return
		}
		data, err := json.Marshal(protocol.OfferAnswer{Header: o.Header, Answer: protocol.Accept, Player: "hare", Instance: "i1"})
		if err == nil {
			msg.Respond(data)
		}
	}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for known := false; t.Context().Err() == nil; time.Sleep(50 * time.Millisecond) {
			if !known {
				known = ask(protocol.VerbHello, hello) == nil
				continue
			}
			ask(protocol.VerbAlive, protocol.Alive{Header: header(), Instance: "i1", Free: 1, Games: []protocol.GameID{}})
		}
	}()
	foundOut(t, checkBot(t, b, conformance.Options{Only: []string{"game"}, Limit: brokenLimit}), "game", "has no secret")
}
