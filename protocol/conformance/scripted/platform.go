// Package scripted has a small platform and a small player for tests of the other
// side. Both speak the protocol correctly, keep everything in memory, and have hooks
// through which a test makes them do something else.
//
//   - [Platform] grants, referees, and plays the seats that it offers to nobody. With
//     [Config.Matching] it takes challenges, too, and is complete enough to play on.
//   - [Player] accepts offers and plays random legal moves.
package scripted

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/protocol"
)

// Script is the player in the seats that nobody was asked to take.
const Script = protocol.PlayerID("script")

// Config are the settings of a platform. Zero values have the defaults named.
type Config struct {
	Prefix    string // of all subjects
	Limits    protocol.Limits
	Heartbeat time.Duration // 100 ms
	LostAfter time.Duration // without heartbeats, an instance loses its seats; 0: never
	Matching  bool          // take challenges, and offer vacant seats
	PoolOnly  bool          // offer the challenges of a pool in no other one
	Seed      uint64        // of the script's moves
	Log       zerolog.Logger
}

// Platform is the platform. Everything that it calls is called under its lock: see Do.
type Platform struct {
	cfg      Config
	nc       *nats.Conn
	server   *protocol.Server
	subjects protocol.Subjects
	life     context.Context
	end      context.CancelFunc
	wg       sync.WaitGroup
	stops    []func()

	monitor    // protects what follows
	rng        *rand.Rand
	hooks      Hooks
	games      map[protocol.GameID]*Game
	peers      map[peerID]*Peer
	challenges map[protocol.GameID]*challenge
	used       map[challengeID]protocol.GameID
	withdrawn  map[protocol.GameID]protocol.PlayerID // by whom
}

// Hooks change what the platform does. Each may be nil.
type Hooks struct {
	// Tell is called instead of sending a state to the seat.
	Tell func(g *Game, st protocol.State, send func(protocol.State))
	// Act is called before the referee rules. Its answer, unless nil, is sent instead.
	Act func(g *Game, q protocol.GameRequest) *protocol.ActAnswer
	// Answer may change the referee's answer. With the code Unanswered none is sent.
	Answer func(g *Game, q protocol.GameRequest, ans *protocol.ActAnswer)
	// Hello, Alive, Leave and Challenge may change the answer.
	Hello     func(from protocol.From, m protocol.Hello, ans *protocol.HelloAnswer)
	Alive     func(from protocol.From, m protocol.Alive, ans *protocol.AliveAnswer)
	Leave     func(from protocol.From, m protocol.Leave, ans *protocol.Answer)
	Challenge func(from protocol.From, m protocol.ChallengeRequest, ans *protocol.ChallengeAnswer)
	// Notice is called before a notice is sent; false: it is not sent.
	Notice func(player protocol.PlayerID, n protocol.Notice) bool
	// Trust says whether an accept is believed, instead of comparing secrets.
	Trust func(protocol.OfferAnswer) bool
	// Grant is called when a challenge has been accepted by both players.
	Grant func(g *Game)
}

// peerID is an instance of a player.
type peerID struct {
	player   protocol.PlayerID
	instance protocol.InstanceID
}

// Peer is what the platform knows of an instance of a player.
type Peer struct {
	Player   protocol.PlayerID
	Hello    protocol.Hello // the last one
	Hellos   int
	Known    bool // false: the platform has forgotten it
	Heard    time.Time
	Beats    int
	LongGap  time.Duration  // longest time between two signs of life
	Alive    protocol.Alive // the last heartbeat
	LastBeat time.Time
	left     string // id of the last request that gave seats back
}

// NewPlatform starts a platform on a connection, which the caller closes after Close.
func NewPlatform(nc *nats.Conn, cfg Config) (*Platform, error) {
	subjects, err := protocol.NewSubjects(cfg.Prefix)
	if err != nil {
		return nil, err
	}
	if cfg.Limits == (protocol.Limits{}) {
		cfg.Limits = protocol.DefaultLimits
	}
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 100*time.Millisecond)
	p := &Platform{
		cfg: cfg, nc: nc, subjects: subjects, server: protocol.NewServer(nc, subjects, cfg.Limits, nil, cfg.Log),
		monitor: newMonitor(), rng: rand.New(rand.NewPCG(cfg.Seed, 1)),
		games: make(map[protocol.GameID]*Game), peers: make(map[peerID]*Peer),
		challenges: make(map[protocol.GameID]*challenge), used: make(map[challengeID]protocol.GameID),
		withdrawn: make(map[protocol.GameID]protocol.PlayerID),
	}
	p.life, p.end = context.WithCancel(context.Background())
	if err := p.serve(); err != nil {
		p.Close()
		return nil, err
	}
	if cfg.LostAfter > 0 {
		p.wg.Go(p.watchPeers)
	}
	return p, nil
}

// Close ends the platform.
func (p *Platform) Close() {
	p.end()
	p.mu.Lock()
	for _, g := range p.games {
		g.quit()
	}
	p.mu.Unlock()
	for _, stop := range p.stops {
		stop()
	}
	p.wg.Wait()
}

// spawn runs f in a goroutine that Close waits for. After Close it does nothing: handlers
// may still run. p.mu is held.
func (p *Platform) spawn(f func()) {
	if p.life.Err() == nil {
		p.wg.Go(f)
	}
}

// Subjects returns the platform's subjects.
func (p *Platform) Subjects() protocol.Subjects { return p.subjects }

// SetHooks replaces the hooks.
func (p *Platform) SetHooks(h Hooks) { p.Do(func() { p.hooks = h }) }

// Peer returns what is known of the instance of a player that was heard last, nil if
// there is none. Call it under the lock.
func (p *Platform) Peer(player protocol.PlayerID) *Peer {
	var last *Peer
	for id, q := range p.peers {
		if id.player == player && (last == nil || q.Heard.After(last.Heard)) {
			last = q
		}
	}
	return last
}

// Forget forgets all instances, like a restart. Call it under the lock.
func (p *Platform) Forget() {
	for _, q := range p.peers {
		q.Known = false
	}
}

// Game returns a game; nil if there is none of the name. Call it under the lock.
func (p *Platform) Game(id protocol.GameID) *Game { return p.games[id] }

// heard notes a sign of life. It returns nil for an unknown instance.
func (p *Platform) heard(player protocol.PlayerID, instance protocol.InstanceID, hello bool) *Peer {
	id := peerID{player, instance}
	q := p.peers[id]
	switch {
	case q == nil && !hello:
		return nil
	case q == nil:
		q = &Peer{Player: player, Heard: time.Now()}
		p.peers[id] = q
	}
	if hello {
		q.Known = true
	}
	if !q.Known {
		return nil
	}
	now := time.Now()
	q.LongGap, q.Heard = max(q.LongGap, now.Sub(q.Heard)), now
	p.broadcast()
	return q
}

// serve answers the verbs.
func (p *Platform) serve() error {
	stop, err := p.server.ServeVerbs(protocol.Verbs{
		Hello: p.hello, Alive: p.alive, Leave: p.leave, Challenge: p.challenge, Withdraw: p.withdraw,
		Standings: func(protocol.From, protocol.StandingsRequest) protocol.StandingsAnswer {
			return protocol.StandingsAnswer{Standings: []protocol.Standing{}} // nobody has a rating
		},
	})
	if err != nil {
		return err
	}
	p.stops = append(p.stops, stop)
	stop, err = p.server.ServeOrphans(func(id protocol.GameID, player protocol.PlayerID) (refereed, seated bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		g := p.games[id]
		if g == nil {
			return false, false
		}
		_, seated = g.SeatOf(player)
		return true, seated
	}, func(protocol.GameID) *protocol.Error { return protocol.Refuse(protocol.NoGame, "no such game") })
	if err != nil {
		return err
	}
	p.stops = append(p.stops, stop)
	return p.nc.Flush()
}

func (p *Platform) hello(from protocol.From, m protocol.Hello) protocol.HelloAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	ans := protocol.HelloAnswer{HeartbeatMS: p.cfg.Heartbeat.Milliseconds(), Limits: p.cfg.Limits}
	q := p.heard(from.Player, m.Instance, true)
	q.Hello, q.Hellos = m, q.Hellos+1
	p.returnSeats(q)
	ans.Held = p.held(from.Player, m.Instance)
	for _, id := range ans.Held {
		p.tellAll(p.games[id])
	}
	ans.Waiting = p.waiting(from.Player)
	if h := p.hooks.Hello; h != nil {
		h(from, m, &ans)
	}
	return ans
}

func (p *Platform) alive(from protocol.From, m protocol.Alive) protocol.AliveAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ans protocol.AliveAnswer
	if q := p.heard(from.Player, m.Instance, false); q == nil {
		ans.Error = protocol.Refuse(protocol.UnknownPeer, "say hello first")
	} else {
		q.Beats, q.Alive, q.LastBeat = q.Beats+1, m, q.Heard
		p.returnSeats(q)
		ans.Held = p.held(from.Player, m.Instance)
	}
	if h := p.hooks.Alive; h != nil {
		h(from, m, &ans)
	}
	return ans
}

func (p *Platform) leave(from protocol.From, m protocol.Leave) (ans protocol.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.peers[peerID{from.Player, m.Instance}]
	switch {
	case q != nil && q.Hello.Secret != "" && m.Secret != "" && m.Secret != q.Hello.Secret:
		ans.Error = protocol.Refuse(protocol.Denied, "another process acts as this instance")
	case q == nil || q.left != m.ID:
		for id, g := range p.games {
			if len(m.Games) == 0 || slices.Contains(m.Games, id) {
				p.vacate(g, from.Player, m.Instance)
			}
		}
		if q != nil {
			q.left = m.ID
		}
	}
	if h := p.hooks.Leave; h != nil {
		h(from, m, &ans)
	}
	return ans
}

// held lists the running games in which an instance has a seat.
func (p *Platform) held(player protocol.PlayerID, instance protocol.InstanceID) []protocol.GameID {
	var ids []protocol.GameID
	for id, g := range p.games {
		if seat, ok := g.SeatOf(player); ok && g.Status != protocol.Finished && g.Holders[seat].Instance == instance {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// watchPeers vacates the seats of instances that are silent.
func (p *Platform) watchPeers() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.life.Done():
			return
		case <-tick.C:
		}
		p.mu.Lock()
		for id, q := range p.peers {
			if time.Since(q.Heard) > p.cfg.LostAfter {
				for _, g := range p.games {
					p.vacate(g, id.player, id.instance)
				}
			}
		}
		p.mu.Unlock()
	}
}

// vacate takes a seat from an instance, in a new epoch.
func (p *Platform) vacate(g *Game, player protocol.PlayerID, instance protocol.InstanceID) {
	seat, ok := g.SeatOf(player)
	if !ok || g.Status == protocol.Finished || g.Holders[seat].Instance != instance || instance == "" {
		return
	}
	h := &g.Holders[seat]
	h.Instance, h.Epoch, h.VacantSince = "", h.Epoch+1, time.Now().UTC()
	p.Advance(g)
	if p.cfg.Matching {
		p.offerSeat(g, seat)
	}
}

// Vacate takes a seat from its instance. Call it under the lock.
func (p *Platform) Vacate(g *Game, seat game.Seat) {
	p.vacate(g, g.Holders[seat].Player, g.Holders[seat].Instance)
}

// Seat gives a seat to an instance. Call it under the lock.
func (p *Platform) Seat(g *Game, player protocol.PlayerID, instance protocol.InstanceID) {
	seat, ok := g.SeatOf(player)
	if !ok || g.Status == protocol.Finished {
		return
	}
	h := &g.Holders[seat]
	h.Instance, h.Epoch, h.VacantSince = instance, h.Epoch+1, time.Time{}
	p.Advance(g)
}

// returnSeats gives an instance the vacant seats back that it still plays.
func (p *Platform) returnSeats(q *Peer) {
	if !p.cfg.Matching {
		return
	}
	for _, id := range q.Alive.Games {
		g := p.games[id]
		if g == nil || q.Alive.Instance != q.Hello.Instance {
			continue
		}
		if seat, ok := g.SeatOf(q.Player); ok && g.Holders[seat].Instance == "" {
			p.Seat(g, q.Player, q.Hello.Instance)
		}
	}
}

// Offer asks a pool until an instance answers, for its place in the queue may be
// new. An offer without a deadline gets one in a second.
func (p *Platform) Offer(ctx context.Context, pool protocol.Pool, o protocol.Offer) (protocol.OfferAnswer, error) {
	for {
		try := o
		if try.Deadline.IsZero() {
			try.Deadline = time.Now().Add(time.Second)
		}
		ans, err := p.server.Offer(ctx, pool, try)
		if !errors.Is(err, nats.ErrNoResponders) {
			return ans, err
		}
		select {
		case <-ctx.Done():
			return ans, err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Notify sends a notice. Do not call it under the lock.
func (p *Platform) Notify(player protocol.PlayerID, n protocol.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notify(player, n)
}

func (p *Platform) notify(player protocol.PlayerID, n protocol.Notice) {
	if h := p.hooks.Notice; h == nil || h(player, n) {
		p.server.Notify(player, n)
	}
}
