package policy

import (
	"errors"
	"sync"
	"time"

	"sparring/protocol"
)

var (
	// ErrFull is returned by Reserve when no slot is free for the game. The caller answers that it is busy, or tries again later.
	ErrFull = errors.New("no slot free")
	// ErrPaused is returned by Reserve for a new game while only running ones are
	// admitted. The caller declines, or tries again later.
	ErrPaused = errors.New("paused")
	// ErrClosed is returned by Reserve while no games are admitted: the process is
	// about to end.
	ErrClosed = errors.New("draining")
)

// Admission says which games a ledger admits.
type Admission uint8

// The admissions.
const (
	AdmitAll     Admission = iota
	AdmitRunning           // no new games, but seats of games that have begun
	AdmitNone
)

// Limits bound the new games that a ledger admits. Seats of running games are taken beyond them.
type Limits struct {
	Games     int // games at once
	ForHumans int // of these, kept for games against humans
	Levels    int // games of the levels at once, which are not counted in the limits above
	PerBot    int // of these, against one bot; 0 is no limit
}

// Need is what one game takes.
type Need struct {
	Player   protocol.PlayerID
	MaxGames int  // the player's own limit; 0 is none
	Human    bool // against a human: may take a slot kept for them
	Level    bool // a game of a level
	// Bot is the opponent of a level, if that is or may be a bot. "": a person for whom the
	// platform's gateway acts, or not known yet
	Bot protocol.PlayerID
	// Running: it has begun, and the process takes or resumes a seat. Without one, the game is
	// lost, so it needs no free slot, unless Spare is set.
	Running bool
	// Spare: another process may have a free slot for the seat.
	Spare bool
}

// beyondSlots reports whether the game is admitted however many slots are taken.
func (n Need) beyondSlots() bool { return n.Running && !n.Spare }

// Ledger counts the slots of the process. Every offered, accepted, challenged or
// resumed game is reserved here first, so that the process never promises more
// than it can play. It is safe for concurrent use.
type Ledger struct {
	limits  Limits
	changed chan struct{}

	mu       sync.Mutex
	reserved map[*Reservation]struct{}
	players  map[protocol.PlayerID]int
	bots     int                       // reservations for games that are not against humans
	levels   int                       // reservations for games of levels
	against  map[protocol.PlayerID]int // of these, by Need.Bot
	admits   Admission
	most     int // games at once for now, see Restrict; or unrestricted
}

// NewLedger returns an empty ledger.
func NewLedger(limits Limits) *Ledger {
	return &Ledger{
		limits: limits, changed: make(chan struct{}, 1),
		reserved: make(map[*Reservation]struct{}), players: make(map[protocol.PlayerID]int),
		against: make(map[protocol.PlayerID]int), most: unrestricted,
	}
}

const unrestricted = -1

// Restrict admits new games only while there are fewer than most, those of levels not
// counted.
func (l *Ledger) Restrict(most int) { l.restrict(max(most, 0)) }

// Unrestrict ends the restriction.
func (l *Ledger) Unrestrict() { l.restrict(unrestricted) }

func (l *Ledger) restrict(most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = most
	l.signal()
}

// Reservation is one reserved slot. It expires unless it is confirmed, which
// happens when the game is granted.
type Reservation struct {
	ledger *Ledger
	need   Need
	expiry *time.Timer // nil once confirmed
}

// Reserve takes a slot, or returns ErrFull, ErrPaused or ErrClosed. A reservation that is not
// confirmed within hold expires, and expired is then called without locks held.
// With a hold of 0 it is confirmed from the start.
func (l *Ledger) Reserve(need Need, hold time.Duration, expired func()) (*Reservation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refuses(need); err != nil {
		return nil, err
	}
	r := &Reservation{ledger: l, need: need}
	l.reserved[r] = struct{}{}
	l.count(need, 1)
	if hold > 0 {
		r.expiry = time.AfterFunc(hold, func() {
			if r.expire() {
				expired()
			}
		})
	}
	l.signal()
	return r, nil
}

// refuses returns why a game is not admitted.
func (l *Ledger) refuses(need Need) error {
	switch {
	case l.admits == AdmitNone:
		return ErrClosed
	case l.admits == AdmitRunning && !need.Running:
		return ErrPaused
	case l.room(need) < 1:
		return ErrFull
	}
	return nil
}

// Confirm keeps the slot until Release. It returns false if the reservation has
// expired or was released.
func (r *Reservation) Confirm() bool {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	if _, there := r.ledger.reserved[r]; !there {
		return false
	}
	if r.expiry != nil {
		r.expiry.Stop()
		r.expiry = nil // tells a callback that has already started
	}
	return true
}

// Release gives the slot back. After the first call, or expiry, it does nothing.
func (r *Reservation) Release() {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	r.ledger.drop(r)
}

func (r *Reservation) expire() bool {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	return r.expiry != nil && r.ledger.drop(r)
}

// drop removes a reservation. It returns false if it was already removed.
func (l *Ledger) drop(r *Reservation) bool {
	if _, there := l.reserved[r]; !there {
		return false
	}
	if r.expiry != nil {
		r.expiry.Stop()
	}
	delete(l.reserved, r)
	l.count(r.need, -1)
	l.signal()
	return true
}

func (l *Ledger) count(need Need, n int) {
	l.players[need.Player] += n
	if l.players[need.Player] == 0 {
		delete(l.players, need.Player)
	}
	if need.Level {
		l.levels += n
		if need.Bot == "" {
			return
		}
		l.against[need.Bot] += n
		if l.against[need.Bot] == 0 {
			delete(l.against, need.Bot)
		}
		return
	}
	if !need.Human {
		l.bots += n
	}
}

// room returns how many more such games fit.
func (l *Ledger) room(need Need) int {
	if need.beyondSlots() {
		return max(protocol.MaxPlaying-l.players[need.Player], 0) // more can't be named in its heartbeats
	}
	n := l.limits.Levels - l.levels
	if need.Bot != "" && l.limits.PerBot > 0 {
		n = min(n, l.limits.PerBot-l.against[need.Bot])
	}
	if !need.Level {
		used := len(l.reserved) - l.levels
		n = l.limits.Games - used
		if l.most != unrestricted {
			n = min(n, l.most-used)
		}
		if !need.Human {
			n = min(n, l.limits.Games-l.limits.ForHumans-l.bots)
		}
	}
	if need.MaxGames > 0 {
		n = min(n, need.MaxGames-l.players[need.Player])
	}
	return max(n, 0)
}

// Free returns how many more such games can be reserved.
func (l *Ledger) Free(need Need) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses(need) != nil {
		return 0
	}
	return l.room(need)
}

// Used returns the number of reserved slots, confirmed or not.
func (l *Ledger) Used() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.reserved)
}

// UsedByLevels returns how many of the reserved slots are for games of levels.
func (l *Ledger) UsedByLevels() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.levels
}

// Admit says which games Reserve admits from now on. Existing reservations stay.
func (l *Ledger) Admit(a Admission) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admits = a
	l.signal()
}

// Changed receives a value when a slot was taken or given back since the last
// receive. It has one reader.
func (l *Ledger) Changed() <-chan struct{} { return l.changed }

func (l *Ledger) signal() {
	select {
	case l.changed <- struct{}{}:
	default: // one is already waiting
	}
}
