package web

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// bot is a scripted player that accepts what it is offered and plays legal moves.
type bot struct {
	id     protocol.PlayerID
	client *protocol.Client
	t      testing.TB
	nc     *nats.Conn

	mu     sync.Mutex
	rng    *rand.Rand
	pick   func(st protocol.State, legal []string) string // "" plays nothing
	answer protocol.OfferDecision
	free   int
	games  map[protocol.GameID]*nats.Subscription
	left   bool // the test is over
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

// players is a NATS server that players may connect to.
type players interface {
	Player(user string) protocol.Connection
}

// joinBot connects a bot and says hello.
func joinBot(t testing.TB, srv players, id protocol.PlayerID, hello protocol.Hello) *bot {
	t.Helper()
	b := &bot{id: id, t: t, nc: arenatest.Connect(t, srv.Player(string(id))), rng: rand.New(rand.NewPCG(1, 2)), answer: protocol.Accept, free: 1000,
		games: make(map[protocol.GameID]*nats.Subscription)}
	b.pick = func(_ protocol.State, legal []string) string { return legal[b.rng.IntN(len(legal))] }
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	if b.client, err = protocol.NewClient(b.nc, subjects, id, protocol.InstanceID(protocol.NewID()), zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	if hello.Games == nil {
		for _, g := range catalog.Games() {
			hello.Games = append(hello.Games, protocol.Capability{Game: g.Name})
		}
	}
	hello.Kind, hello.Slots = protocol.Bot, 1000
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	if _, err := b.client.Offers(protocol.OwnPool(id), b.offered); err != nil {
		t.Fatal(err)
	}
	b.greet(ctx, hello)
	b.spawn(func() { b.beat(ctx, hello) })
	t.Cleanup(func() {
		b.set(func(b *bot) { b.left = true })
		b.stop()
		b.nc.Close()
		b.wg.Wait()
	})
	return b
}

// spawn runs f in a goroutine that the end of the test waits for. It does nothing after
// that: a state may still be with its handler when the connection is closed.
func (b *bot) spawn(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.left {
		b.wg.Go(f)
	}
}

func (b *bot) greet(ctx context.Context, hello protocol.Hello) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ans, err := b.client.Hello(ctx, hello)
	if err != nil && ctx.Err() == nil {
		b.t.Errorf("hello: %v", err)
	}
	for _, g := range ans.Held {
		b.follow(g)
	}
}

func (b *bot) beat(ctx context.Context, hello protocol.Hello) {
	for ctx.Err() == nil {
		b.mu.Lock()
		games, free := []protocol.GameID{}, b.free
		for g := range b.games {
			games = append(games, g)
		}
		b.mu.Unlock()
		try, cancel := context.WithTimeout(ctx, time.Second)
		ans, err := b.client.Alive(try, protocol.Alive{Free: free, Games: games[:min(len(games), 256)]})
		cancel()
		if protocolCode(err) == protocol.UnknownPeer {
			b.greet(ctx, hello)
		}
		for _, g := range ans.Held {
			b.follow(g)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func protocolCode(err error) protocol.Code {
	if e, ok := err.(*protocol.Error); ok {
		return e.Code
	}
	return ""
}

func (b *bot) offered(o protocol.Offer) protocol.OfferAnswer {
	b.mu.Lock()
	answer := b.answer
	b.mu.Unlock()
	if answer == protocol.Accept {
		b.follow(o.Game)
	}
	return protocol.OfferAnswer{Answer: answer, Player: b.id, Reason: protocol.DeclineOpponent, Text: "no"}
}

func (b *bot) follow(g protocol.GameID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.games[g] != nil {
		return
	}
	sub, err := b.client.Game(g, b.state)
	if err == nil {
		b.games[g] = sub
	}
}

// set changes how the bot behaves.
func (b *bot) set(change func(*bot)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

func (b *bot) state(st protocol.State) {
	if st.Status == protocol.Finished {
		b.mu.Lock()
		defer b.mu.Unlock()
		if sub := b.games[st.Game]; sub != nil {
			sub.Unsubscribe()
			delete(b.games, st.Game)
		}
		return
	}
	seat := st.Holders[st.You]
	if st.TakebackBy != nil && *st.TakebackBy != st.You {
		b.spawn(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			b.client.Takeback(ctx, st.Game, seat.Epoch, len(st.Moves), protocol.StepAccept)
		})
		return
	}
	if st.Status != protocol.Playing || st.Turn != st.You || seat.Instance != b.client.Instance() {
		return
	}
	pos, legal := legalMoves(b.t, st.Snapshot)
	b.mu.Lock()
	text := b.pick(st, legal)
	b.mu.Unlock()
	if text == "" {
		return
	}
	if _, err := game.PlayText(pos, text); err != nil {
		b.t.Error(err)
		return
	}
	b.spawn(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		b.client.Move(ctx, st.Game, seat.Epoch, len(st.Moves), text, game.KeyText(pos.Key()))
	})
}

// legalMoves sets up a position and lists its moves.
func legalMoves(t testing.TB, s protocol.Snapshot) (game.Position, []string) {
	rules, err := catalog.Rules(s.Terms.Rules)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	pos, err := game.Replay(rules, s.Terms.Position, s.Moves)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	var list []string
	for _, m := range pos.Legal(nil) {
		list = append(list, pos.Format(m))
	}
	return pos, list
}
