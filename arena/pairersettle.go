package arena

import (
	"context"
	"errors"
	"time"

	"sparring/game"
	"sparring/protocol"
)

// contender is what the pairer remembers of a player.
type contender struct {
	present time.Time           // when it was seen last
	since   time.Time           // when it became free; zero if it is not
	free    time.Time           // when it was free last
	until   time.Time           // it is not paired before
	missed  int                 // pairings in a row for which it did not take its seat, or did not begin its game
	met     []protocol.PlayerID // the last opponents that it was given, the latest first
	// balance is the lead of its games on the first seat, by ladder. It counts games as
	// they begin: ratings may lag behind.
	balance map[ladderID]int
}

// settle looks up what the pairings have become. One that nobody has decided on in
// time is closed, and one that may not have been stored is stored again.
func (p *pairer) settle(ctx context.Context, now time.Time) error {
	var again []*postedPairing
	for g, w := range p.posted {
		last, known := p.a.index.last(g)
		if !known && now.After(w.ch.Expires) {
			// The queue has lost it, or the index has forgotten it, or no arena had room.
			var err error
			if last, _, err = p.a.store.lastEvent(ctx, g); errors.Is(err, ErrNoGame) {
				err = p.a.close(ctx, w.ch, "", protocol.ReasonExpired, "no arena had room for the game")
			}
			if errors.Is(err, errLost) {
				continue // decided just now
			}
			if err != nil {
				return err
			}
			known = true
		}
		switch {
		case known:
			p.decided(w, last, now)
			delete(p.posted, g)
		case p.a.index.isCorrupt(g):
			delete(p.posted, g)
		case !w.stored:
			again = append(again, w)
		}
	}
	return p.store(ctx, again)
}

// decided notes what a pairing has become.
func (p *pairer) decided(w *postedPairing, last protocol.Event, now time.Time) {
	off := last.Kind == "" || last.Kind == protocol.EventEnd && last.Index == 1
	if off {
		p.a.metrics.pairings.WithLabelValues("off").Inc()
	} else {
		p.a.metrics.pairings.WithLabelValues("game").Inc()
	}
	for seat, wanted := range w.ch.Seats {
		c := p.contender(wanted.Player)
		switch {
		case !off: // whether it misses the pairing shows when the game ends
			c.lead(w.ch.Terms, 1-2*seat)
		case last.Seat != nil && int(*last.Seat) == seat:
			c.miss(now)
		default:
			c.since = w.since[seat] // as if it had waited all the time
		}
	}
}

// miss notes that a player has missed a pairing.
func (c *contender) miss(now time.Time) {
	c.missed++
	c.until = now.Add(min(firstRest<<min(c.missed-1, 20), longestRest))
}

// lead adds to the lead of a player's games on the first seat, once it is known.
func (c *contender) lead(t protocol.Terms, n int) {
	if _, known := c.balance[ladderOf(t)]; known {
		c.balance[ladderOf(t)] += n
	}
}

// noteEnd notes the end of a game of the ladder for the next step. Only the end itself
// says which seat has caused it: the entry after it does not.
func (p *pairer) noteEnd(e protocol.Event, _ uint64) {
	if e.Kind != protocol.EventEnd || e.Index == 1 || e.Pool != ladderPoolOf(e.Terms) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, e)
}

// settleEnded notes who has played the games that have ended, and who has missed a
// pairing by not beginning its game: if that cost nothing, a player could choose its
// opponents so.
func (p *pairer) settleEnded(now time.Time) {
	p.mu.Lock()
	ended := p.ended
	p.ended = nil
	p.mu.Unlock()
	for _, e := range ended {
		atFault, unbegun := notBegunBy(&e)
		for seat, h := range e.Holders {
			c := p.contender(h.Player)
			if unbegun {
				c.lead(e.Terms, 2*seat-1) // it is no game for the ratings either
			}
			switch {
			case !unbegun:
				c.missed = 0
			case int(atFault) == seat:
				c.miss(now)
			default:
				c.since = e.Started // as if it had waited all the time
			}
		}
	}
}

// notBegunBy returns the seat that did not make its first move in time, left before
// both had moved, or has sent a position key with its first move that is not the referee's, if
// a game has ended by that.
func notBegunBy(end *protocol.Event) (seat game.Seat, ok bool) {
	o := end.Outcome
	if end.Seat == nil || o.Result != game.Undecided {
		return 0, false
	}
	switch o.Reason {
	case protocol.ReasonNoStart, protocol.ReasonAbandoned, protocol.ReasonDispute:
		return *end.Seat, true
	}
	return 0, false
}

func (p *pairer) contender(id protocol.PlayerID) *contender {
	c := p.known[id]
	if c == nil {
		c = &contender{present: time.Now(), balance: make(map[ladderID]int)}
		p.known[id] = c
	}
	return c
}
