package arena

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/arena/livegame"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

// player is a scripted player: it accepts all offers, plays random legal moves, and
// sends heartbeats, all through protocol.Client.
type player struct {
	id   protocol.PlayerID
	kind protocol.Kind
	*protocol.Client
	t   testing.TB
	nc  *nats.Conn
	log zerolog.Logger

	mu     sync.Mutex
	rng    *rand.Rand
	answer func(protocol.Offer) protocol.OfferAnswer
	play   func(protocol.State) // what to do with a state; nil: nothing
	games  map[protocol.GameID]*protocol.State
	subs   map[protocol.GameID]*protocol.Following
	notes  []protocol.Notice
	held   []protocol.GameID
	change chan struct{} // closed and renewed at every news
	quiet  bool          // sends no heartbeats
	slots  int           // games at once
	plays  []string      // games
	takes  *protocol.Takes
	pools  []protocol.Pool
	left   bool // by leaveTable
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

// join connects a player, changes it as asked, and says hello.
func join(t testing.TB, srv platform, id protocol.PlayerID, instance protocol.InstanceID, change ...func(*player)) *player {
	t.Helper()
	nc := arenatest.Connect(t, srv.Player(string(id)))
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	client, err := protocol.NewClient(nc, subjects, id, instance, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return sit(t, nc, client, id, protocol.Bot, change...)
}

// joinPerson is join for a person, over a connection of the platform.
func joinPerson(t testing.TB, srv platform, a *running, id protocol.PlayerID, instance protocol.InstanceID) *player {
	t.Helper()
	nc := arenatest.Connect(t, srv.Platform())
	client, err := protocol.NewPersonClient(nc, a.Subjects(), a.store.peopleKey, id, instance, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return sit(t, nc, client, id, protocol.Human)
}

// sit starts a player with its client.
func sit(t testing.TB, nc *nats.Conn, client *protocol.Client, id protocol.PlayerID, kind protocol.Kind, change ...func(*player)) *player {
	p := &player{
		t: t, id: id, kind: kind, nc: nc, Client: client, log: zerolog.Nop(), rng: rand.New(rand.NewPCG(1, uint64(len(id)))),
		games: make(map[protocol.GameID]*protocol.State), subs: make(map[protocol.GameID]*protocol.Following),
		change: make(chan struct{}), slots: 10, pools: []protocol.Pool{protocol.OwnPool(id)}, plays: catalog.Names(),
	}
	p.answer = func(protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Accept, Player: id}
	}
	p.play = p.random
	for _, f := range change {
		f(p)
	}
	if _, err := p.Notices(func(n protocol.Notice) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.notes = append(p.notes, n)
		p.news()
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	p.hello(ctx)
	for _, pool := range p.pools {
		p.listen(pool)
	}
	p.spawn(func() { p.beat(ctx) })
	t.Cleanup(p.leaveTable)
	return p
}

// leaveTable stops the player without notice.
func (p *player) leaveTable() {
	p.set(func(p *player) { p.left = true })
	p.stop()
	p.nc.Close()
	p.wg.Wait()
}

// spawn runs f in a goroutine that leaveTable waits for. It does nothing after that: a
// state may still be with its handler when the connection is closed.
func (p *player) spawn(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.left {
		p.wg.Go(f)
	}
}

func (p *player) hello(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m := protocol.Hello{Kind: p.kind, Display: "Player " + string(p.id), Build: "test 1", Slots: 10, Takes: p.takes, Pools: p.pools}
	for _, name := range p.plays {
		m.Games = append(m.Games, protocol.Capability{Game: name})
	}
	ans, err := p.Hello(ctx, m)
	if err != nil && ctx.Err() == nil {
		p.t.Errorf("hello: %v", err)
	}
	p.resume(ans.Held)
}

// listen joins a pool's queue.
func (p *player) listen(pool protocol.Pool) {
	p.t.Helper()
	if _, err := p.Offers(pool, func(o protocol.Offer) protocol.OfferAnswer {
		p.mu.Lock()
		answer := p.answer
		p.mu.Unlock()
		ans := answer(o)
		if ans.Answer == protocol.Accept {
			p.follow(o.Game)
		}
		return ans
	}); err != nil {
		p.t.Fatal(err)
	}
}

// resume follows the games that we hold according to the platform.
func (p *player) resume(held []protocol.GameID) {
	p.mu.Lock()
	p.held = held
	p.mu.Unlock()
	for _, g := range held {
		p.follow(g)
	}
}

// follow listens to a game and plays in it.
func (p *player) follow(g protocol.GameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.subs[g] != nil {
		return
	}
	sub, err := p.Follow(g, func(st protocol.State) {
		p.mu.Lock()
		p.games[g] = &st
		play := p.play
		p.news()
		p.mu.Unlock()
		if play != nil {
			play(st)
		}
	})
	if err != nil {
		if !errors.Is(err, nats.ErrConnectionClosed) { // the test may be over
			p.t.Errorf("follow %s: %v", g, err)
		}
		return
	}
	p.subs[g] = sub
}

// news wakes up all waiting goroutines; p.mu is held.
func (p *player) news() {
	close(p.change)
	p.change = make(chan struct{})
}

func (p *player) beat(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p.mu.Lock()
		quiet, slots := p.quiet, p.slots
		var games []protocol.GameID
		for g, st := range p.games {
			if st.Status != protocol.Finished {
				games = append(games, g)
			}
		}
		p.mu.Unlock()
		if quiet {
			continue
		}
		try, cancel := context.WithTimeout(ctx, time.Second)
		ans, err := p.Alive(try, protocol.Alive{Free: max(slots-len(games), 0), Games: games})
		cancel()
		switch {
		case errors.Is(err, &protocol.Error{Code: protocol.UnknownPeer}):
			p.hello(ctx)
		case err == nil:
			p.resume(ans.Held)
		}
	}
}

// mine reports whether the seat of a state is ours to act.
func (p *player) mine(st protocol.State) bool {
	return st.Status == protocol.Playing && st.Turn == st.You && st.Holders[st.You].Instance == p.Instance()
}

// random plays a random legal move when it is our turn.
func (p *player) random(st protocol.State) {
	if !p.mine(st) {
		return
	}
	pos := position(p.t, st.Snapshot)
	legal := pos.Legal(nil)
	p.mu.Lock()
	move := legal[p.rng.IntN(len(legal))]
	p.mu.Unlock()
	text := pos.Format(move)
	if err := pos.Play(move); err != nil {
		p.t.Errorf("game %s: %v", st.Game, err)
		return
	}
	p.spawn(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, err := p.move(ctx, st, text, key(pos))
		if err != nil && !p.nc.IsClosed() && !expected(err) {
			p.t.Errorf("game %s ply %d: %v", st.Game, len(st.Moves), err)
		}
	})
}

// move plays a move in a state, and says whether the player is watching the game.
func (p *player) move(ctx context.Context, st protocol.State, text, key string) (protocol.ActAnswer, error) {
	p.mu.Lock()
	sub := p.subs[st.Game]
	p.mu.Unlock()
	return p.SendMove(ctx, st.Game, protocol.MoveRequest{
		Epoch: st.Holders[st.You].Epoch, Ply: len(st.Moves), Move: text, Key: key, Watching: sub != nil && sub.Watching(),
	})
}

// expected reports whether a correct player may get this refusal, because the game
// has changed meanwhile.
func expected(err error) bool {
	for _, c := range []protocol.Code{protocol.Stale, protocol.Over, protocol.Late, protocol.Paused, protocol.NotYourTurn, protocol.Unavailable} {
		if errors.Is(err, &protocol.Error{Code: c}) {
			return true
		}
	}
	return false
}

// position sets up the position of a snapshot.
func position(t testing.TB, s protocol.Snapshot) game.Position {
	t.Helper()
	rules, err := catalog.Rules(s.Terms.Rules)
	if err != nil {
		t.Fatal(err)
	}
	pos, err := game.Replay(rules, s.Terms.Position, s.Moves)
	if err != nil {
		t.Fatalf("game %s: %v", s.Game, err)
	}
	if key(pos) != s.Key {
		t.Fatalf("game %s ply %d: key %s, the snapshot says %s", s.Game, len(s.Moves), key(pos), s.Key)
	}
	return pos
}

// until waits until the game's state, as the player sees it, fulfils ok.
func (p *player) until(g protocol.GameID, what string, ok func(protocol.State) bool) protocol.State {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		st, change := p.games[g], p.change
		p.mu.Unlock()
		if st != nil && ok(*st) {
			return *st
		}
		if st != nil && finished(*st) {
			p.t.Fatalf("%s, game %s: it ended before %s; the last state is %+v", p.id, g, what, st)
		}
		select {
		case <-change:
		case <-deadline:
			p.t.Fatalf("%s, game %s: waited for %s; the last state is %+v", p.id, g, what, st)
		}
	}
}

// notice waits for a notice of a kind.
func (p *player) notice(k protocol.NoticeKind) protocol.Notice {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		i := slices.IndexFunc(p.notes, func(n protocol.Notice) bool { return n.Kind == k })
		var n protocol.Notice
		if i >= 0 {
			n = p.notes[i]
		}
		change := p.change
		p.mu.Unlock()
		if i >= 0 {
			return n
		}
		select {
		case <-change:
		case <-deadline:
			p.t.Fatalf("%s: no notice %q", p.id, k)
		}
	}
}

// set changes how the player behaves.
func (p *player) set(change func(p *player)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// finished and playing are what tests wait for.
func finished(st protocol.State) bool { return st.Status == protocol.Finished }

func plies(n int) func(protocol.State) bool {
	return func(st protocol.State) bool { return len(st.Moves) >= n }
}

// small are terms of a short game.
func small(t testing.TB, spec string) protocol.Terms {
	t.Helper()
	c, err := clock.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Terms{Game: "amazons", Rules: "amazons/6x6", Clock: c}
}

// challenge asks for a game against an opponent and follows it.
func (p *player) challenge(opponent protocol.PlayerID, terms protocol.Terms, seat game.Seat) protocol.GameID {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	m := protocol.ChallengeRequest{Terms: terms, Seat: &seat, Opponent: opponent}
	m.ID = protocol.NewID()
	g := gameID(p.id, m.ID)
	_, err := p.Challenge(ctx, m)
	// On a slow machine the request is sent again, and the challenge may have ended by then.
	if err != nil && !errors.Is(err, &protocol.Error{Code: protocol.Over}) {
		p.t.Fatalf("challenge: %v", err)
	}
	p.follow(g)
	return g
}

func contains(err error, part string) bool { return strings.Contains(err.Error(), part) }

// position0 returns the start position under the terms.
func position0(t testing.TB, terms protocol.Terms) game.Position {
	t.Helper()
	pos, e := livegame.Setup(terms)
	if e != nil {
		t.Fatal(e)
	}
	return pos
}

// counterValue sums up a counter of the arena over its labels, or over those with
// one of the given values.
func counterValue(t testing.TB, a *Arena, name string, values ...string) float64 {
	t.Helper()
	families, err := a.metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				if len(values) == 0 || len(m.GetLabel()) > 0 && slices.Contains(values, m.GetLabel()[0].GetValue()) {
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}
