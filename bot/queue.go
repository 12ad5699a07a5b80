package bot

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/bot/play"
	"sparring/bot/policy"
	"sparring/protocol"
)

// queue is the process's place in the match queue of a pool, for all its players
// of that pool. It is in the queue while one of them has a free slot.
type queue struct {
	pool   protocol.Pool
	client *protocol.Client
	log    zerolog.Logger
	clock  *play.ServerClock
	sub    *nats.Subscription // nil: not in the queue

	mu      sync.Mutex
	players []*player
}

// arrange returns the queues of the players' pools. It keeps the places in those that
// there were before, and leaves those that nobody wants.
func arrange(before []*queue, players []*player, b *Bot) []*queue {
	want := make(map[protocol.Pool][]*player)
	var pools []protocol.Pool
	for _, p := range players {
		for _, pool := range p.queuePools() {
			if want[pool] == nil {
				pools = append(pools, pool)
			}
			if !slices.Contains(want[pool], p) {
				want[pool] = append(want[pool], p)
			}
		}
	}
	var all []*queue
	for _, q := range before {
		q.mu.Lock()
		q.players = want[q.pool]
		q.mu.Unlock()
		if want[q.pool] == nil {
			q.update()
			continue
		}
		all = append(all, q)
		delete(want, q.pool)
	}
	for _, pool := range pools {
		if want[pool] != nil {
			all = append(all, &queue{pool: pool, client: b.base, clock: b.clock, log: b.log.With().Str("pool", string(pool)).Logger(), players: want[pool]})
		}
	}
	return all
}

// queuePools returns the pools that the player takes offers from.
func (p *player) queuePools() []protocol.Pool {
	if p.retired.Load() {
		return nil
	}
	return p.profile().Pools
}

// seatPools returns the pools in which the player takes vacant seats while it takes no
// new games.
func (p *player) seatPools() []protocol.Pool {
	if now, _, _ := p.bot.mode.current(); now != protocol.ModePaused || p.retired.Load() {
		return nil
	}
	return []protocol.Pool{protocol.OwnPool(p.profile().Player)}
}

// members returns the players of the queue.
func (q *queue) members() []*player {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.players)
}

// update joins or leaves the queue, as slots are free. Only Run calls it.
func (q *queue) update() {
	free := slices.ContainsFunc(q.members(), func(p *player) bool { return p.free(q.pool) })
	switch {
	case free && q.sub == nil:
		sub, err := q.client.Offers(q.pool, q.take)
		if err != nil {
			q.log.Error().Err(err).Msg("can't join the queue")
			return
		}
		q.sub = sub
	case !free && q.sub != nil:
		// Drain still answers offers that are on their way; the platform
		// waits for an answer. It fails only on a closed connection.
		q.sub.Drain()
		q.sub = nil
	}
}

// take answers an offer, for the player with the fewest games that accepts it.
func (q *queue) take(o protocol.Offer) protocol.OfferAnswer {
	if q.clock.Age(o.Deadline, time.Now()) > 0 {
		// The platform no longer waits for the answer: reserve nothing.
		return protocol.OfferAnswer{Answer: protocol.Busy}
	}
	candidates := slices.DeleteFunc(q.members(), func(p *player) bool {
		return o.Player != "" && o.Player != p.profile().Player
	})
	slices.SortStableFunc(candidates, func(a, b *player) int { return cmp.Compare(a.games(), b.games()) })
	why := policy.Refusal{Reason: protocol.DeclineOpponent, Text: "the seat belongs to a player of another process"}
	busy := false
	for i, p := range candidates {
		refusal, err := p.answer(o)
		switch {
		case errors.Is(err, policy.ErrClosed), errors.Is(err, errStopping):
			refusal = policy.Refusal{Reason: protocol.DeclineDraining, Text: "shutting down"}
		case errors.Is(err, policy.ErrPaused):
			refusal = policy.Refusal{Reason: protocol.DeclineDraining, Text: "paused"}
		case err != nil:
			busy = true
			continue
		case refusal == (policy.Refusal{}):
			q.log.Debug().Str("player", string(p.profile().Player)).Str("game", string(o.Game)).Msg("offer accepted")
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: p.profile().Player}
		}
		if i == 0 {
			why = refusal
		}
	}
	if busy {
		return protocol.OfferAnswer{Answer: protocol.Busy}
	}
	q.log.Debug().Str("reason", string(why.Reason)).Str("game", string(o.Game)).Msg("offer declined")
	return protocol.OfferAnswer{Answer: protocol.Decline, Reason: why.Reason, Text: why.Text}
}
