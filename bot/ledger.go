package bot

import (
	"errors"
	"sync"
	"time"

	"sparring/protocol"
)

// Errors of a ledger.
var (
	// ErrFull: no slot, or no core, is free for what is wanted.
	ErrFull = errors.New("no slot free")
	// ErrClosed: the ledger gives out nothing any more, the process drains.
	ErrClosed = errors.New("draining")
)

// Bounds are what a ledger gives out at most.
type Bounds struct {
	Games     int // games at once
	ForHumans int // of these, kept for games against humans
	Threads   int // threads that the games' searches may have together
}

// Want is what one game needs.
type Want struct {
	Player  protocol.PlayerID
	Most    int  // the player's own bound of games; 0: none
	Human   bool // against a human: may take a slot kept for them
	Threads int
}

// Ledger is the process's one book of slots. Whoever offers, accepts,
// challenges or resumes a game reserves here first, so that the process never
// promises more than it can play. It is safe for concurrent use.
type Ledger struct {
	bounds  Bounds
	changed chan struct{}

	mu      sync.Mutex
	leases  map[*Lease]struct{}
	players map[protocol.PlayerID]int
	bots    int // leases not for humans
	threads int
	closed  bool
}

// NewLedger makes an empty ledger.
func NewLedger(b Bounds) *Ledger {
	return &Ledger{
		bounds: b, changed: make(chan struct{}, 1),
		leases: make(map[*Lease]struct{}), players: make(map[protocol.PlayerID]int),
	}
}

// Lease is one reserved slot. It begins as a hold that may lapse, and is kept
// once the game is granted.
type Lease struct {
	ledger *Ledger
	want   Want
	lapse  *time.Timer // nil once kept
}

// Reserve takes a slot, or returns ErrFull or ErrClosed. The lease lapses
// after hold unless it is kept by then, and lapsed is called (without locks)
// when it does; a hold of 0 is kept from the start.
func (l *Ledger) Reserve(w Want, hold time.Duration, lapsed func()) (*Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.room(w) < 1:
		return nil, ErrFull
	}
	s := &Lease{ledger: l, want: w}
	l.leases[s] = struct{}{}
	l.count(w, 1)
	if hold > 0 {
		s.lapse = time.AfterFunc(hold, func() {
			if s.expire() {
				lapsed()
			}
		})
	}
	l.signal()
	return s, nil
}

// Keep makes the hold a game. False means that it has lapsed or was released.
func (s *Lease) Keep() bool {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	if _, there := s.ledger.leases[s]; !there {
		return false
	}
	if s.lapse != nil {
		s.lapse.Stop()
		s.lapse = nil // a callback that is already on its way finds it kept
	}
	return true
}

// Release gives the slot back; again, or after it lapsed, it does nothing.
func (s *Lease) Release() {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	s.ledger.drop(s)
}

func (s *Lease) expire() bool {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.lapse != nil && s.ledger.drop(s)
}

// drop removes a lease; false when it is gone already.
func (l *Ledger) drop(s *Lease) bool {
	if _, there := l.leases[s]; !there {
		return false
	}
	if s.lapse != nil {
		s.lapse.Stop()
	}
	delete(l.leases, s)
	l.count(s.want, -1)
	l.signal()
	return true
}

func (l *Ledger) count(w Want, n int) {
	l.players[w.Player] += n
	if l.players[w.Player] == 0 {
		delete(l.players, w.Player)
	}
	l.threads += n * w.Threads
	if !w.Human {
		l.bots += n
	}
}

// room is how many more games like w there is room for.
func (l *Ledger) room(w Want) int {
	n := l.bounds.Games - len(l.leases)
	if !w.Human {
		n = min(n, l.bounds.Games-l.bounds.ForHumans-l.bots)
	}
	if w.Most > 0 {
		n = min(n, w.Most-l.players[w.Player])
	}
	if w.Threads > 0 {
		n = min(n, (l.bounds.Threads-l.threads)/w.Threads)
	}
	return max(n, 0)
}

// Free is how many more games like w there is room for; 0 when closed.
func (l *Ledger) Free(w Want) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0
	}
	return l.room(w)
}

// Used is how many slots are taken, holds included.
func (l *Ledger) Used() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.leases)
}

// Close makes the ledger give out nothing any more. What is taken stays.
func (l *Ledger) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.signal()
}

// Changed carries a word whenever something was taken or given back since the
// last one was received. One reader.
func (l *Ledger) Changed() <-chan struct{} { return l.changed }

func (l *Ledger) signal() {
	select {
	case l.changed <- struct{}{}:
	default: // a word is waiting already
	}
}
