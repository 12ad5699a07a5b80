package arena

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/protocol"
)

var (
	loadPeople = flag.Int("load.people", 0, "people in play in TestLoad; 0 skips it")
	loadFor    = flag.Duration("load.for", 30*time.Second, "how long TestLoad measures")
)

// TestLoad measures what a move costs while many people play each other, a move
// a second in each game: the NATS server, the arena and the gateway's clients are
// all in this process. It fails only if moves are lost.
//
//	go test ./arena -run TestLoad -load.people 500 -cpuprofile cpu.out
func TestLoad(t *testing.T) {
	if *loadPeople == 0 {
		t.Skip("measures only with -load.people")
	}
	srv := arenatest.StartServer(t, t.TempDir())
	cfg := Defaults()
	cfg.LostAfter = patience // whatever else this machine does
	a := prepareArenaLog(t, srv, cfg, zerolog.Nop())
	a.start()
	l := &load{t: t, a: a, moves: randomGame(t, "xiangqi/simple", 300), begun: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range *loadPeople / 2 {
		all.Go(func() { l.play(ctx, i) })
	}
	gametest.Eventually(t, "all games running", func() bool { return len(a.Running()) == *loadPeople/2 })
	close(l.begun)
	time.Sleep(2 * time.Second) // until the games are in step
	l.reset()
	began, used := time.Now(), arenatest.CPUTime(t)
	time.Sleep(*loadFor)
	took, cost := time.Since(began), arenatest.CPUTime(t)-used
	l.mu.Lock()
	informed, accepted, lost := l.informed, l.accepted, l.lost
	l.mu.Unlock()
	cancel()
	all.Wait()
	if len(informed) == 0 || lost > 0 {
		t.Fatalf("%d moves, %d lost", len(informed), lost)
	}
	t.Logf("%d people, %.0f moves a second, %.2f ms of processor time a move",
		*loadPeople, float64(len(informed))/took.Seconds(), float64(cost.Microseconds())/1000/float64(len(informed)))
	t.Logf("until the other is informed: %s; until the mover is answered: %s", arenatest.Quantiles(informed), arenatest.Quantiles(accepted))
}

// load is many games of people.
type load struct {
	t     *testing.T
	a     *running
	moves []string
	begun chan struct{}

	mu                 sync.Mutex
	informed, accepted []time.Duration
	lost               int
}

func (l *load) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.informed, l.accepted = nil, nil
}

// play plays one game of two people until ctx ends.
func (l *load) play(ctx context.Context, n int) {
	var people [2]*loadPerson
	for seat := range people {
		people[seat] = l.person(ctx, protocol.PlayerID(fmt.Sprintf("human-%d-%d", n, seat)))
	}
	first := game.First
	terms := protocol.Terms{Game: "xiangqi", Rules: "xiangqi/simple", Clock: clock.Spec{Kind: clock.SuddenDeath, Initial: time.Hour}}
	ans, err := people[0].Challenge(ctx, protocol.ChallengeRequest{Terms: terms, Seat: &first, Opponent: people[1].id, ExpireMS: patience.Milliseconds()})
	if err != nil {
		l.t.Errorf("challenge: %v", err)
		return
	}
	for _, p := range people {
		p.follow(ans.Game)
	}
	<-l.begun
	for ply, move := range l.moves {
		select {
		case <-ctx.Done():
			return
		case <-time.After(500*time.Millisecond + rand.N(time.Second)):
		}
		mover, other := people[ply%2], people[1-ply%2]
		began := time.Now()
		_, err := mover.SendMove(ctx, ans.Game, protocol.MoveRequest{Epoch: 1, Ply: ply, Move: move})
		if ctx.Err() != nil {
			return
		}
		accepted := time.Since(began)
		at := other.saw(ctx, ply+1)
		l.mu.Lock()
		if err != nil || at.IsZero() {
			l.lost++
			l.t.Errorf("game %d, ply %d: %v", n, ply, err)
		}
		l.accepted, l.informed = append(l.accepted, accepted), append(l.informed, at.Sub(began))
		l.mu.Unlock()
	}
}

// loadPerson is a person whose gateway sends heartbeats.
type loadPerson struct {
	*protocol.Client
	id    protocol.PlayerID
	l     *load
	plies chan seenPly
}

// seenPly is when a state with a number of moves came.
type seenPly struct {
	n  int
	at time.Time
}

func (l *load) person(ctx context.Context, id protocol.PlayerID) *loadPerson {
	client, err := l.a.Person(id, "gateway", zerolog.Nop())
	if err != nil {
		l.t.Error(err)
		return nil
	}
	p := &loadPerson{Client: client, id: id, l: l, plies: make(chan seenPly, 16)}
	if _, err := p.Offers(protocol.OwnPool(id), func(protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Accept, Player: id}
	}); err != nil {
		l.t.Error(err)
	}
	hello := protocol.Hello{Kind: protocol.Human, Slots: 10, Games: []protocol.Capability{{Game: "xiangqi"}}}
	if _, err := p.Hello(ctx, hello); err != nil {
		l.t.Error(err)
	}
	return p
}

// follow follows a game, and sends heartbeats until it ends or the test does.
func (p *loadPerson) follow(g protocol.GameID) {
	if _, err := p.Game(g, func(st protocol.State) {
		select {
		case p.plies <- seenPly{len(st.Moves), time.Now()}:
		default: // nobody waits for it
		}
	}); err != nil {
		p.l.t.Error(err)
	}
	p.l.a.wg.Go(func() {
		sleep(p.l.a.life, rand.N(p.l.a.cfg.Heartbeat))
		for p.l.a.life.Err() == nil {
			p.Alive(p.l.a.life, protocol.Alive{Free: 9, Games: []protocol.GameID{g}}) // the next one makes up for a lost one
			sleep(p.l.a.life, p.l.a.cfg.Heartbeat)
		}
	})
}

// saw returns when the person was told of a number of moves; zero if never.
func (p *loadPerson) saw(ctx context.Context, plies int) time.Time {
	for {
		select {
		case s := <-p.plies:
			if s.n == plies {
				return s.at
			}
		case <-ctx.Done():
			return time.Now()
		case <-time.After(patience):
			return time.Time{}
		}
	}
}

// randomGame returns a random game of at least so many plies.
func randomGame(t *testing.T, rulesName string, plies int) []string {
	t.Helper()
	rules, err := catalog.Rules(rulesName)
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); ; seed++ {
		rng := rand.New(rand.NewPCG(seed, 0))
		pos, err := rules.New("")
		if err != nil {
			t.Fatal(err)
		}
		var moves []string
		for !pos.Outcome().Over() && len(moves) < plies {
			legal := pos.Legal(nil)
			m := legal[rng.IntN(len(legal))]
			moves = append(moves, pos.Format(m))
			if err := pos.Play(m); err != nil {
				t.Fatal(err)
			}
		}
		if len(moves) == plies {
			return moves
		}
	}
}
