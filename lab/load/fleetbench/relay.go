package fleetbench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

// Latency are percentiles of a time, in milliseconds.
type Latency struct {
	Samples int     `json:"samples"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
}

// latencyOf returns the percentiles of a list, which it sorts.
func latencyOf(all []time.Duration) Latency {
	slices.Sort(all)
	l := Latency{Samples: len(all)}
	if len(all) > 0 {
		at := func(percent int) float64 { return ms(all[(len(all)*percent+99)/100-1]) }
		l.P50, l.P99 = at(50), at(99)
	}
	return l
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// The relay's players, and how often they move, of which each move is followed by a
// bare request halfway to the next.
const (
	mover     protocol.PlayerID = "bench-mover"
	other     protocol.PlayerID = "bench-other"
	relayPace                   = 40 * time.Millisecond
	bareBytes                   = 700 // of a request and its answer: those of a state in mid-game
	arrival                     = 5 * time.Second
	relayBeat                   = 500 * time.Millisecond
)

// relayRules are those of the timed game, which is a random one of many moves.
const (
	relayRules = "xiangqi/simple"
	relayPlies = 300
)

// relay times the moves of two players who are connected apart, as two instances.
type relay struct {
	s       *session
	conns   []*nats.Conn
	players [2]*protocol.Client // by seat
	moves   []string
	cancel  context.CancelFunc
	beats   sync.WaitGroup
	seen    [2]chan seenPly // states by seat

	mu     sync.Mutex
	game   protocol.GameID        // running
	states [2]*protocol.Following // by seat
	ply    int
	moved  []time.Duration
	bare   []time.Duration
}

// seenPly is when a state with a number of moves came.
type seenPly struct {
	plies int
	at    time.Time
}

func newRelay(ctx context.Context, s *session) (r *relay, err error) {
	ctx, cancel := context.WithCancel(ctx)
	r = &relay{s: s, cancel: cancel, seen: [2]chan seenPly{make(chan seenPly, 16), make(chan seenPly, 16)}}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.moves, err = randomMoves(); err != nil {
		return r, err
	}
	for seat, id := range []protocol.PlayerID{mover, other} {
		nc, err := protocol.Connect(s.fleet.Connection(Owner, s.log))
		if err != nil {
			return r, err
		}
		r.conns = append(r.conns, nc)
		if r.players[seat], err = protocol.NewClient(nc, s.subjects, id, protocol.InstanceID(id), s.log); err != nil {
			return r, err
		}
		if err := r.join(ctx, r.players[seat], id); err != nil {
			return r, err
		}
	}
	return r, nil
}

// join says hello for a player, who accepts what it is offered, and sends heartbeats
// until ctx ends.
func (r *relay) join(ctx context.Context, c *protocol.Client, id protocol.PlayerID) error {
	if _, err := c.Offers(protocol.OwnPool(id), func(protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Accept, Player: id}
	}); err != nil {
		return err
	}
	hello, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := c.Hello(hello, protocol.Hello{
		Kind: protocol.Bot, Slots: 4, Games: []protocol.Capability{{Game: "xiangqi"}}, Pools: []protocol.Pool{protocol.OwnPool(id)},
	}); err != nil {
		return err
	}
	r.beats.Go(func() {
		for ctx.Err() == nil {
			r.mu.Lock()
			playing := []protocol.GameID{}
			if r.game != "" {
				playing = append(playing, r.game)
			}
			r.mu.Unlock()
			within, done := context.WithTimeout(ctx, relayBeat)
			c.Alive(within, protocol.Alive{Free: 4 - len(playing), Games: playing}) // the next one makes up for a lost one
			done()
			sleep(ctx, relayBeat)
		}
	})
	return nil
}

func (r *relay) close() {
	r.cancel()
	r.beats.Wait()
	for _, nc := range r.conns {
		nc.Close()
	}
}

// begin starts a game of the two players.
func (r *relay) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	first := game.First
	ans, err := r.players[game.First].Challenge(ctx, protocol.ChallengeRequest{
		Terms: protocol.Terms{Game: "xiangqi", Rules: relayRules, Clock: clock.Spec{Kind: clock.SuddenDeath, Initial: time.Hour}},
		Seat:  &first, Opponent: other, ExpireMS: patience.Milliseconds(),
	})
	if err != nil {
		return err
	}
	for seat, c := range r.players {
		r.states[seat], err = c.Follow(ans.Game, func(st protocol.State) {
			select {
			case r.seen[seat] <- seenPly{len(st.Moves), time.Now()}:
			default: // nobody waits for it
			}
		})
		if err != nil {
			return err
		}
	}
	r.mu.Lock()
	r.game, r.ply = ans.Game, 0
	r.mu.Unlock()
	for seat := range r.players {
		if _, err := r.saw(ctx, seat, 0); err != nil {
			return fmt.Errorf("the timed game did not begin: %w", err)
		}
	}
	return nil
}

// measure plays moves at the relay's pace for d, and times them. It returns an error if
// ctx ends before, or a move does not arrive.
func (r *relay) measure(ctx context.Context, d time.Duration) error {
	r.moved, r.bare = nil, nil
	bare := make([]byte, bareBytes)
	until := time.Now().Add(d)
	for next := time.Now(); next.Before(until); next = next.Add(relayPace) {
		if err := sleep(ctx, time.Until(next)); err != nil {
			return err
		}
		if err := r.move(ctx); err != nil {
			return err
		}
		if err := sleep(ctx, time.Until(next.Add(relayPace/2))); err != nil {
			return err
		}
		began := time.Now()
		if _, err := r.conns[0].Request(BareSubject, bare, arrival); err != nil {
			return fmt.Errorf("bare request: %w", err)
		}
		r.bare = append(r.bare, time.Since(began))
		if late := time.Since(next); late > relayPace { // it is overloaded: don't hurry to catch up
			next = next.Add(late - relayPace)
		}
	}
	return nil
}

// move plays the next move, and times it until the opponent is informed.
func (r *relay) move(ctx context.Context) error {
	if r.ply == len(r.moves) {
		if err := r.again(ctx); err != nil {
			return err
		}
	}
	within, cancel := context.WithTimeout(ctx, arrival)
	defer cancel()
	seat := r.ply % 2
	began := time.Now()
	_, err := r.players[seat].SendMove(within, r.game, protocol.MoveRequest{ // as bots do
		Epoch: 1, Ply: r.ply, Move: r.moves[r.ply], AnswerOnly: true, Watching: r.states[seat].Watching(),
	})
	// The state may have come before the answer; its time is that of its arrival.
	at, unseen := r.saw(within, 1-seat, r.ply+1)
	if err = errors.Join(err, unseen); err != nil {
		return fmt.Errorf("ply %d of the timed game: %w", r.ply+1, err)
	}
	r.moved = append(r.moved, at.Sub(began))
	r.ply++
	return nil
}

// again ends the game and begins another.
func (r *relay) again(ctx context.Context) error {
	if _, err := r.players[game.First].Resign(ctx, r.game, 1, r.ply); err != nil {
		return err
	}
	for _, sub := range r.states {
		sub.Unsubscribe()
	}
	for _, seen := range r.seen {
		for len(seen) > 0 {
			<-seen
		}
	}
	return r.begin(ctx)
}

// saw waits for the state with a number of moves, and returns when it came.
func (r *relay) saw(ctx context.Context, seat, plies int) (time.Time, error) {
	for {
		select {
		case s := <-r.seen[seat]:
			if s.plies == plies {
				return s.at, nil
			}
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("the state did not come: %w", context.Cause(ctx))
		}
	}
}

// latencies returns the times of the last measurement.
func (r *relay) latencies() (relay, bare Latency) { return latencyOf(r.moved), latencyOf(r.bare) }

// randomMoves returns the moves of a long random game.
func randomMoves() ([]string, error) {
	rules, err := catalog.Rules(relayRules)
	if err != nil {
		return nil, err
	}
	for seed := uint64(1); ; seed++ {
		rng := rand.New(rand.NewPCG(seed, 0))
		pos, err := rules.New("")
		if err != nil {
			return nil, err
		}
		var moves []string
		for !pos.Outcome().Over() && len(moves) < relayPlies {
			legal := pos.Legal(nil)
			m := legal[rng.IntN(len(legal))]
			moves = append(moves, pos.Format(m))
			if err := pos.Play(m); err != nil {
				return nil, err
			}
		}
		if len(moves) == relayPlies {
			return moves, nil
		}
	}
}
