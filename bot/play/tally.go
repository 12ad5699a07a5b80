package play

import (
	"sync"
	"time"

	"sparring/game"
	"sparring/protocol"
)

// Tally counts what the sessions of a process did, for its operator. It is safe for
// concurrent use; a nil *Tally counts nothing.
type Tally struct {
	mu        sync.Mutex
	counts    Counts
	overheads samples
}

// Counts are the numbers of a tally.
type Counts struct {
	Moves      int64 // played
	Ended      int64 // games, also those given up
	LostOnTime int64
	SeatsLost  int64 // of running games, to the platform
	Faults     int64 // of engines, and disagreements with the platform
	LastFault  string
	// Overhead is what a move cost on the clock beyond thinking: the 50th, 95th and 99th
	// percentile of the last Measured moves.
	Overhead [3]time.Duration
	Measured int
}

// tallySamples is how many moves the percentiles of the overhead are of.
const tallySamples = 1000

// NewTally returns a tally of nothing.
func NewTally() *Tally { return &Tally{overheads: newSamples(tallySamples)} }

// Counts returns the numbers so far.
func (t *Tally) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts
	copy(c.Overhead[:], t.overheads.percentiles(50, 95, 99))
	c.Measured = t.overheads.kept()
	return c
}

// Fault counts a fault, and keeps what it was.
func (t *Tally) Fault(what string) {
	t.change(func(c *Counts) {
		c.Faults++
		c.LastFault = what
	})
}

func (t *Tally) change(f func(*Counts)) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.counts)
}

// move counts a move; timed says that our clock ran.
func (t *Tally) move(overhead time.Duration, timed bool) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Moves++
	if timed {
		t.overheads.add(overhead)
	}
}

// end counts the end of a session in which a seat was held. Lost says that the platform
// took the seat.
func (t *Tally) end(st *protocol.State, lost bool) {
	t.change(func(c *Counts) {
		c.Ended++
		if st.Status != protocol.Finished {
			if lost {
				c.SeatsLost++
			}
			return
		}
		if st.Outcome.Reason == protocol.ReasonTime && st.Outcome.Result == game.WonBy(st.You.Other()) {
			c.LostOnTime++
		}
	})
}
