package fleetbench

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/protocol"
)

// entry is an entry of a game's log, as it comes from the stream.
func (b *lossBook) entry(id protocol.GameID, index uint64, kind protocol.EventKind, change func(*protocol.Event)) {
	e := protocol.Event{V: protocol.Version, Kind: kind, Index: index, Time: time.Now()}
	e.Game = id
	if change != nil {
		change(&e)
	}
	b.note(&nats.Msg{Data: e.Encode()})
}

// A game that ends by a fault is lost, and fails the run, unless the fleet was full and the metric
// had announced the loss of its process.
func TestLostGames(t *testing.T) {
	for name, c := range map[string]struct {
		why       game.Reason
		announced bool
		room      int
		err       string
	}{
		"by its moves":            {"mate", false, 90, ""},
		"on time":                 {protocol.ReasonTime, false, 90, "1 game was lost"},
		"abandoned":               {protocol.ReasonAbandoned, true, 90, "abandoned:1"},
		"abandoned, unannounced":  {protocol.ReasonAbandoned, false, 100, "1 game was lost"},
		"no start, as announced":  {protocol.ReasonNoStart, true, 100, ""},
		"void":                    {protocol.ReasonVoid, false, 50, "void:1"},
		"before it began, at all": {"", false, 50, ""},
	} {
		b := newLossBook(1)
		<-b.more
		if c.why != "" {
			b.entry("a", 1, protocol.EventStart, nil)
		}
		b.loss(c.announced)
		seat := game.Second
		vacated := time.Now()
		b.entry("a", 2, protocol.EventSeat, func(e *protocol.Event) { e.Seat, e.Time = &seat, vacated })
		b.entry("a", 3, protocol.EventSeat, func(e *protocol.Event) {
			e.Seat, e.Time = &seat, vacated.Add(300*time.Millisecond)
			e.Holders[seat].Instance = "other"
		})
		b.entry("a", 4, protocol.EventMove, func(e *protocol.Event) { e.Receipt = &protocol.Receipt{ChargedMS: 700} })
		index := uint64(5)
		if c.why == "" {
			index = 1
		}
		b.entry("a", index, protocol.EventEnd, func(e *protocol.Event) { e.Outcome.Reason = c.why })
		r := b.result()
		r.Room = c.room
		if err := r.Err(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", name, err, c.err)
		}
		began := c.why != ""
		if (r.Ended == 1) != began || (r.Seats == 1) != began || (r.VacantMaxMS == 300) != began || r.ChargedMaxMS != 700 || r.Losses != 1 || len(b.more) != 1 || b.running() != 0 {
			t.Errorf("%s: %+v, %d more to post", name, r, len(b.more))
		}
	}
}
