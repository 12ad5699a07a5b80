package bot

import (
	"errors"
	"sync"
	"time"

	"sparring/protocol"
)

// Errors of a ledger.
var (
	// errFull: no slot, or no core, is free for what is wanted.
	errFull = errors.New("no slot free")
	// errClosed: the ledger gives out nothing any more, the process drains.
	errClosed = errors.New("draining")
)

// bounds are what a ledger gives out at most.
type bounds struct {
	Games     int // games at once
	ForHumans int // of these, kept for games against humans
	Threads   int // threads that the games' searches may have together
}

// want is what one game needs.
type want struct {
	Player  protocol.PlayerID
	Most    int  // the player's own bound of games; 0: none
	Human   bool // against a human: may take a slot kept for them
	Threads int
}

// ledger is the process's one book of slots. Whoever offers, accepts,
// challenges or resumes a game reserves here first, so that the process never
// promises more than it can play. It is safe for concurrent use.
type ledger struct {
	bounds  bounds
	changed chan struct{}

	mu      sync.Mutex
	leases  map[*lease]struct{}
	players map[protocol.PlayerID]int
	bots    int // leases not for humans
	threads int
	closed  bool
}

// newLedger makes an empty ledger.
func newLedger(b bounds) *ledger {
	return &ledger{
		bounds: b, changed: make(chan struct{}, 1),
		leases: make(map[*lease]struct{}), players: make(map[protocol.PlayerID]int),
	}
}

// lease is one reserved slot. It begins as a hold that may lapse, and is kept
// once the game is granted.
type lease struct {
	ledger *ledger
	want   want
	lapse  *time.Timer // nil once kept
}

// Reserve takes a slot, or returns errFull or errClosed. The lease lapses
// after hold unless it is kept by then, and lapsed is called (without locks)
// when it does; a hold of 0 is kept from the start.
func (l *ledger) Reserve(w want, hold time.Duration, lapsed func()) (*lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, errClosed
	case l.room(w) < 1:
		return nil, errFull
	}
	s := &lease{ledger: l, want: w}
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
func (s *lease) Keep() bool {
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
func (s *lease) Release() {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	s.ledger.drop(s)
}

func (s *lease) expire() bool {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.lapse != nil && s.ledger.drop(s)
}

// drop removes a lease; false when it is gone already.
func (l *ledger) drop(s *lease) bool {
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

func (l *ledger) count(w want, n int) {
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
func (l *ledger) room(w want) int {
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
func (l *ledger) Free(w want) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0
	}
	return l.room(w)
}

// Used is how many slots are taken, holds included.
func (l *ledger) Used() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.leases)
}

// Close makes the ledger give out nothing any more. What is taken stays.
func (l *ledger) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.signal()
}

// Changed carries a word whenever something was taken or given back since the
// last one was received. One reader.
func (l *ledger) Changed() <-chan struct{} { return l.changed }

func (l *ledger) signal() {
	select {
	case l.changed <- struct{}{}:
	default: // a word is waiting already
	}
}
