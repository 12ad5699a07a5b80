package fleetbench

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/protocol"
)

// lossBook follows the logs of all games.
type lossBook struct {
	more chan struct{} // has one for each game that is to be posted

	mu     sync.Mutex
	games  map[protocol.GameID]*lossGame // that run
	vacant []time.Duration
	losses []bool // announced or not
	r      LossResult
}

// lossGame is a running game.
type lossGame struct {
	losses int          // when it began
	vacant [2]time.Time // since when a seat is vacant
}

func newLossBook(atOnce int) *lossBook {
	b := &lossBook{more: make(chan struct{}, atOnce), games: make(map[protocol.GameID]*lossGame)}
	for range atOnce {
		b.more <- struct{}{}
	}
	return b
}

// note handles an entry of a log.
func (b *lossBook) note(m *nats.Msg) {
	var e protocol.Event
	if json.Unmarshal(m.Data, &e) != nil {
		return // the arena wrote it, and its tests say that it can be read
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.games[e.Game]
	switch {
	case e.Kind == protocol.EventEnd && e.Index == 1: // it never began
		b.post()
	case e.Kind == protocol.EventEnd && g != nil:
		delete(b.games, e.Game)
		b.end(g, e.Outcome.Reason)
		b.post()
	case e.Kind == protocol.EventStart:
		b.games[e.Game] = &lossGame{losses: len(b.losses)}
	case e.Kind == protocol.EventSeat && g != nil && e.Seat != nil:
		b.seat(&g.vacant[*e.Seat], e.Holders[*e.Seat].Instance == "", e.Time)
	case e.Kind == protocol.EventMove:
		b.r.Moves++
		if e.Receipt != nil {
			b.r.ChargedMaxMS = max(b.r.ChargedMaxMS, e.Receipt.ChargedMS)
		}
	}
}

// post asks for another game.
func (b *lossBook) post() {
	select {
	case b.more <- struct{}{}:
	default: // as many as there are games wait already
	}
}

// seat notes that a seat was vacated or taken.
func (b *lossBook) seat(since *time.Time, vacated bool, at time.Time) {
	switch {
	case vacated:
		*since = at
		b.r.Seats++
	case !since.IsZero():
		b.vacant = append(b.vacant, at.Sub(*since))
		*since = time.Time{}
	}
}

// end notes the end of a game.
func (b *lossBook) end(g *lossGame, why game.Reason) {
	b.r.Ended++
	switch why {
	case protocol.ReasonTime, protocol.ReasonAbandoned, protocol.ReasonNoStart, protocol.ReasonDispute, protocol.ReasonVoid:
	default:
		return
	}
	if b.r.Lost == nil {
		b.r.Lost = make(map[string]int)
	}
	b.r.Lost[string(why)]++
	if slices.Contains(b.losses[min(max(g.losses-1, 0), len(b.losses)):], true) { // the last loss before it counts: its processes may still be away
		b.r.LostAnnounced++
	}
}

// loss notes that a process is lost.
func (b *lossBook) loss(announced bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.losses = append(b.losses, announced)
	b.r.Losses++
	if announced {
		b.r.Announced++
	}
}

func (b *lossBook) running() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.games)
}

func (b *lossBook) ended() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.r.Ended
}

func (b *lossBook) lost() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.r.lost()
}

// result returns what was seen so far.
func (b *lossBook) result() *LossResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.r
	if len(b.vacant) > 0 {
		slices.Sort(b.vacant)
		r.VacantP50MS, r.VacantMaxMS = b.vacant[len(b.vacant)/2].Milliseconds(), b.vacant[len(b.vacant)-1].Milliseconds()
	}
	return &r
}
