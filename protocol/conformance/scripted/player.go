package scripted

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game/catalog"
	"sparring/protocol"
)

// PlayerConfig are the settings of a player. Zero values have the defaults named.
type PlayerConfig struct {
	Prefix   string // of all subjects
	Player   protocol.PlayerID
	Instance protocol.InstanceID // random
	Kind     protocol.Kind       // a bot
	Display  string
	Slots    int                   // 4
	Games    []protocol.Capability // all of the catalog
	Pools    []protocol.Pool       // to listen in; the player's own
	Silent   bool                  // do not say hello by itself, nor send heartbeats
	Idle     bool                  // make no moves by itself
	Watch    bool                  // take the opponent's moves from the log, where the platform offers that
	Think    time.Duration         // before a move
	Seed     uint64                // of the moves
	// Unlisted is how long a game is kept that the platform does not list: its last
	// state may be on its way, or its vacated seat may come back. 1 s.
	Unlisted time.Duration
	Log      zerolog.Logger
}

// Player is a bot: it accepts offers as long as it has a free slot, plays random legal
// moves, and survives what the protocol says that a bot survives. Its fields and hooks
// are protected by its lock: see Do.
type Player struct {
	*protocol.Client
	cfg  PlayerConfig
	nc   *nats.Conn
	life context.Context
	end  context.CancelFunc
	wg   sync.WaitGroup

	beating sync.Mutex // held while a heartbeat is under way

	monitor   // protects what follows
	rng       *rand.Rand
	hooks     PlayerHooks
	seats     map[protocol.GameID]*Seat
	ended     map[protocol.GameID]protocol.State // last states
	notices   []protocol.Notice
	offers    []protocol.Offer
	greeting  protocol.HelloAnswer // the answer to the last hello
	heard     time.Time            // the last answer
	quiet     bool                 // send no heartbeats
	patient   bool                 // do not reconnect when no answers come
	helloDue  chan struct{}
	heartbeat time.Duration
	faults    []error
}

// PlayerHooks change what a player does. Each may be nil.
type PlayerHooks struct {
	// Offer answers offers instead of the player. An empty answer is none.
	Offer func(protocol.Offer) protocol.OfferAnswer
	// State is called with each state before the player acts; false: ignore it.
	State func(s *Seat, st protocol.State) bool
	// Move is called instead of sending a move; send sends it.
	Move func(s *Seat, st protocol.State, m protocol.MoveRequest, send func(protocol.MoveRequest))
	// Refused is called with the refusal of a move; true: the player does nothing more
	// about it.
	Refused func(s *Seat, m protocol.MoveRequest, e *protocol.Error) bool
	// Held may change the games that the platform says we hold.
	Held func([]protocol.GameID) []protocol.GameID
	// Expired is called when a slot was held in vain; false: keep it.
	Expired func(s *Seat) bool
	// Resync is called when no state has come for a second; false: do not ask for it.
	Resync func(s *Seat) bool
}

// Seat is a seat that the player holds or is promised.
type Seat struct {
	Game    protocol.GameID
	Granted bool
	State   protocol.State // the last one; Seq is 0 before the first
	Epoch   uint64
	Since   time.Time // when it was taken
	Heard   time.Time // when the last state came

	sub     subscription
	sent    *protocol.MoveRequest // under way, or accepted
	waiting bool                  // sent is under way
	until   time.Time             // how long the slot is kept for the grant
	missing time.Time             // since when the platform does not list the game

	receiptPly int      // of the last receipt
	left       [2]int64 // milliseconds by the last receipts, 0 if unknown
}

// subscription is one to the states of a game.
type subscription interface{ Unsubscribe() error }

// watching reports whether the last move came from the log of the game.
func (s *Seat) watching() bool {
	f, ok := s.sub.(*protocol.Following)
	return ok && f.Watching()
}

// NewPlayer makes a player on a connection, which the caller closes after Close.
func NewPlayer(nc *nats.Conn, cfg PlayerConfig) (*Player, error) {
	subjects, err := protocol.NewSubjects(cfg.Prefix)
	if err != nil {
		return nil, err
	}
	cfg.Instance = cmp.Or(cfg.Instance, protocol.InstanceID(protocol.NewID()))
	cfg.Kind, cfg.Slots, cfg.Unlisted = cmp.Or(cfg.Kind, protocol.Bot), cmp.Or(cfg.Slots, 4), cmp.Or(cfg.Unlisted, time.Second)
	if cfg.Pools == nil {
		cfg.Pools = []protocol.Pool{protocol.OwnPool(cfg.Player)}
	}
	if cfg.Games == nil {
		for _, g := range catalog.Games() {
			cfg.Games = append(cfg.Games, protocol.Capability{Game: g.Name})
		}
	}
	client, err := protocol.NewClient(nc, subjects, cfg.Player, cfg.Instance, cfg.Log)
	if err != nil {
		return nil, err
	}
	p := &Player{
		Client: client, cfg: cfg, nc: nc, monitor: newMonitor(), rng: rand.New(rand.NewPCG(cfg.Seed, 2)),
		seats: make(map[protocol.GameID]*Seat), ended: make(map[protocol.GameID]protocol.State), heard: time.Now(),
		helloDue: make(chan struct{}, 1), heartbeat: 200 * time.Millisecond,
	}
	p.life, p.end = context.WithCancel(context.Background())
	return p, nil
}

// Start says hello and plays until Close.
func (p *Player) Start(ctx context.Context) error {
	if _, err := p.Notices(func(n protocol.Notice) {
		p.Do(func() {
			p.notices = append(p.notices, n)
			if s := p.seats[n.Game]; s != nil && !s.Granted && n.Kind != protocol.NoticeWaiting && n.Kind != protocol.NoticeChat {
				p.drop(s)
			}
			p.broadcast()
		})
	}); err != nil {
		return err
	}
	if !p.cfg.Silent {
		if err := p.SayHello(ctx); err != nil {
			return err
		}
		p.wg.Go(p.helloLoop)
		p.wg.Go(p.beat)
	}
	for _, pool := range p.cfg.Pools {
		if err := p.Listen(pool); err != nil {
			return err
		}
	}
	p.wg.Go(p.watch)
	return p.nc.Flush()
}

// Close stops the player without a word to the platform.
func (p *Player) Close() {
	p.end()
	p.mu.Lock()
	for _, s := range p.seats {
		p.drop(s)
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// spawn runs f in a goroutine that Close waits for. After Close it does nothing: handlers
// may still run. p.mu is held.
func (p *Player) spawn(f func()) {
	if p.life.Err() == nil {
		p.wg.Go(f)
	}
}

// ID returns the player's id.
func (p *Player) ID() protocol.PlayerID { return p.cfg.Player }

// Conn returns the player's connection.
func (p *Player) Conn() *nats.Conn { return p.nc }

// SetHooks replaces the hooks.
func (p *Player) SetHooks(h PlayerHooks) { p.Do(func() { p.hooks = h }) }

// SetNoReconnect makes the player leave a dead connection as it is.
func (p *Player) SetNoReconnect(on bool) { p.Do(func() { p.patient = on }) }

// SetQuiet makes the player send no heartbeats and hellos by itself, or send them again. A
// heartbeat that is under way is answered, or given up, when it returns.
func (p *Player) SetQuiet(on bool) {
	p.Do(func() { p.quiet = on })
	p.beating.Lock()
	defer p.beating.Unlock()
}

// Wait is monitor.Wait with the player's name in the error.
func (p *Player) Wait(ctx context.Context, what string, ok func() bool) error {
	if err := p.monitor.Wait(ctx, what, ok); err != nil {
		return fmt.Errorf("%s %w", p.cfg.Player, err)
	}
	return nil
}

// Until waits until the game's last state, as the player saw it, fulfils ok, and
// returns it. A game that ends before is an error.
func (p *Player) Until(ctx context.Context, g protocol.GameID, what string, ok func(protocol.State) bool) (st protocol.State, err error) {
	over := false
	err = p.Wait(ctx, what, func() bool {
		last, known := p.Last(g)
		st = last
		if known && ok(last) {
			return true
		}
		over = known && last.Status == protocol.Finished
		return over
	})
	if err == nil && over && !ok(st) {
		err = fmt.Errorf("the game ended by %q (%s) before %s", st.Outcome.Reason, st.Outcome.Result, what)
	}
	return st, err
}

// Last returns the last state of a game that has come. Call it under the lock.
func (p *Player) Last(g protocol.GameID) (protocol.State, bool) {
	if st, ok := p.ended[g]; ok {
		return st, true
	}
	if s := p.seats[g]; s != nil && s.State.Seq > 0 {
		return s.State, true
	}
	return protocol.State{}, false
}

// Notices returns what came as notices. Call it under the lock.
func (p *Player) NoticesSeen() []protocol.Notice { return p.notices }

// OffersSeen returns the offers that came. Call it under the lock.
func (p *Player) OffersSeen() []protocol.Offer { return p.offers }

// Greeting returns the platform's answer to the last hello. Call it under the lock.
func (p *Player) Greeting() protocol.HelloAnswer { return p.greeting }

// Faults returns what the platform did wrong, as far as the player noticed.
func (p *Player) Faults() (list []error) {
	p.Do(func() { list = slices.Clone(p.faults) })
	return list
}

// fault notes a fault of the platform; p.mu is held.
func (p *Player) fault(format string, args ...any) {
	if len(p.faults) < 20 {
		p.faults = append(p.faults, fmt.Errorf(format, args...))
	}
}

// Listen joins a pool's queue.
func (p *Player) Listen(pool protocol.Pool) error {
	_, err := p.Offers(pool, p.answer)
	return err
}

func (p *Player) answer(o protocol.Offer) protocol.OfferAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offers = append(p.offers, o)
	p.broadcast()
	if h := p.hooks.Offer; h != nil {
		p.mu.Unlock() // it may take its time
		ans := h(o)
		p.mu.Lock()
		if ans.Answer == protocol.Accept {
			p.take(o.Game, time.Duration(o.HoldMS)*time.Millisecond)
		}
		return ans
	}
	if s := p.seats[o.Game]; s != nil && o.Kind == protocol.OfferMatch {
		return protocol.OfferAnswer{Answer: protocol.Accept, Player: p.cfg.Player} // the same offer again
	}
	if p.seats[o.Game] == nil && len(p.seats) >= p.cfg.Slots {
		return protocol.OfferAnswer{Answer: protocol.Busy}
	}
	if p.take(o.Game, time.Duration(o.HoldMS)*time.Millisecond) == nil {
		return protocol.OfferAnswer{Answer: protocol.Busy}
	}
	return protocol.OfferAnswer{Answer: protocol.Accept, Player: p.cfg.Player}
}

// Follow subscribes to a game that will be ours, such as that of a challenge.
func (p *Player) Follow(g protocol.GameID) {
	p.Do(func() { p.take(g, time.Hour) })
}

// take subscribes to a game; p.mu is held. It returns nil if it can't.
func (p *Player) take(g protocol.GameID, hold time.Duration) *Seat {
	now := time.Now()
	if s := p.seats[g]; s != nil {
		s.until = now.Add(hold)
		return s
	}
	s := &Seat{Game: g, Since: now, Heard: now, until: now.Add(hold)}
	var err error
	if receive := func(st protocol.State) { p.receive(s, st) }; p.cfg.Watch {
		s.sub, err = p.Client.Follow(g, receive)
	} else {
		s.sub, err = p.Game(g, receive)
	}
	if err != nil {
		return nil // the connection is closed
	}
	p.seats[g] = s
	p.broadcast()
	return s
}

// drop frees the slot of a game; p.mu is held.
func (p *Player) drop(s *Seat) {
	s.sub.Unsubscribe() // fails only on a closed connection
	if p.seats[s.Game] == s {
		delete(p.seats, s.Game)
	}
	if s.State.Seq > 0 {
		p.ended[s.Game] = s.State
	}
	p.broadcast()
}

// watch frees slots that were held in vain, and asks for states that do not come.
func (p *Player) watch() {
	for {
		select {
		case <-p.life.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
		p.Do(func() {
			for _, s := range p.seats {
				switch {
				case !s.Granted && time.Now().After(s.until):
					if h := p.hooks.Expired; h == nil || h(s) {
						p.drop(s)
					}
				case s.Granted && time.Since(s.Heard) > time.Second:
					s.Heard = time.Now()
					if h := p.hooks.Resync; h == nil || h(s) {
						p.needHello()
					}
				}
			}
		})
	}
}

// Watching reports whether the last move of a game came from its log. Call it under the lock.
func (p *Player) Watching(g protocol.GameID) bool { return p.seats[g] != nil && p.seats[g].watching() }

// Holds reports whether the player keeps a slot for a game. Call it under the lock.
func (p *Player) Holds(g protocol.GameID) bool { return p.seats[g] != nil }

// Playing lists the games for which the player keeps slots. Call it under the lock.
func (p *Player) Playing() []protocol.GameID { return slices.Sorted(maps.Keys(p.seats)) }

// Forget frees the slot of a game that has not begun.
func (p *Player) Forget(g protocol.GameID) {
	p.Do(func() {
		if s := p.seats[g]; s != nil && !s.Granted {
			p.drop(s)
		}
	})
}

// ResignAll resigns the games whose seats the player holds. What is refused has ended
// or is somebody else's.
func (p *Player) ResignAll(ctx context.Context) {
	var states []protocol.State
	p.Do(func() {
		for _, s := range p.seats {
			if s.Granted && s.State.Holders[s.State.You].Instance == p.cfg.Instance {
				states = append(states, s.State)
			}
		}
	})
	for _, st := range states {
		p.Resign(ctx, st.Game, st.Holders[st.You].Epoch, len(st.Moves))
	}
}
