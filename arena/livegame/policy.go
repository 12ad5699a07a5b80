package livegame

import (
	"errors"
	"fmt"
	"time"

	"sparring/game/clock"
	"sparring/protocol"
)

// Policy has the limits of a platform's games.
type Policy struct {
	// FirstMove is how long a seat may take for its first move before the game is
	// aborted without a result, and AbandonAfter how long a seat may stay vacant
	// before its player loses, or before the game is aborted if it has not started.
	// They hold for bullet and blitz games; slower games get more: see limitsOf.
	FirstMove, AbandonAfter time.Duration
	// ResumeWithin is how long a clock is stopped at most after a change of
	// referee, until a message of the seat to act. This time is not charged.
	ResumeWithin time.Duration
	// FlagGrace is how long the referee waits after a flag has fallen for a move
	// that arrived in time but has not been handled yet.
	FlagGrace time.Duration
	// LogLimit is the largest number of entries in a game's log, with those that wait in
	// memory because they can't be stored. A game that comes close to it is void, unless
	// one seat's changes of hands have filled it: that player has abandoned the game.
	LogLimit int
	// Lag is the credit for network lag that people get whose gateway measures it, but
	// nobody else.
	Lag LagPolicy
}

// LagPolicy is a quota of network lag for people, like the compensation of
// lichess: lag is credited up to the quota, and the quota grows with every
// move. The zero value credits nothing.
type LagPolicy struct {
	Base      time.Duration // growth per move, whatever the clock
	PerSecond time.Duration // growth per move for each second of the clock's expected time, see clock.Spec.Expected
	Max       time.Duration // largest growth per move
	Start     int           // quota at the start, as a number of growths
	Cap       int           // largest quota, as a number of growths
}

// DefaultPolicy returns the policy for games between bots and people on the internet. The
// lag numbers are lichess's.
func DefaultPolicy() Policy {
	return Policy{
		FirstMove:    30 * time.Second,
		AbandonAfter: time.Minute,
		ResumeWithin: 30 * time.Second,
		FlagGrace:    100 * time.Millisecond,
		LogLimit:     10_000,
		Lag:          LagPolicy{Base: 150 * time.Millisecond, PerSecond: 4 * time.Millisecond, Max: time.Second, Start: 3, Cap: 7},
	}
}

// reserve is how many entries of a log are kept free for ending the game.
const reserve = 8

// A seat that becomes vacant again and again is taken seatBurst times at once, which is
// enough for a process that is restarted several times, and then once in seatPause.
// Each time takes two entries of the log: without a limit, a player about to lose could
// fill it in minutes by giving the seat back. A pause is a part of the time after which a
// vacant seat loses.
const (
	seatBurst = 5
	seatPause = 5 * time.Second
)

// Validate checks what can't be set by an environment variable. The arena's
// settings include the rest.
func (p Policy) Validate() error {
	var errs []error
	if p.ResumeWithin <= 0 {
		errs = append(errs, fmt.Errorf("ResumeWithin: %v: want more than 0", p.ResumeWithin))
	}
	if p.FlagGrace < 0 || p.FlagGrace > 2*time.Second {
		errs = append(errs, fmt.Errorf("FlagGrace: %v: want 0 to 2s", p.FlagGrace))
	}
	if p.LogLimit < 2*reserve {
		errs = append(errs, fmt.Errorf("LogLimit: %d: want at least %d", p.LogLimit, 2*reserve))
	}
	if l := p.Lag; min(l.Base, l.PerSecond, l.Max) < 0 || min(l.Start, l.Cap) < 0 {
		errs = append(errs, fmt.Errorf("lag credit: %+v: want no negative value", l))
	}
	return errors.Join(errs...)
}

// limits are those of one game.
type limits struct {
	firstMove, forfeit time.Duration
	// unhurried says by seat that only its clock bounds the first move: a person's in a
	// casual game against a program, where nobody waits.
	unhurried [2]bool
	turn      time.Duration // after which a seat on a clock without a limit has abandoned the game; 0: never
	// keeps says by seat that its player keeps it while none of its instances is
	// present.
	keeps [2]bool
}

// limitsOf returns the limits of a game. They grow with its clock. In a
// correspondence game people come and go: they keep their seats, and have as much
// time for the first move as for any other.
func (p Policy) limitsOf(terms protocol.Terms, holders [2]protocol.Holder) limits {
	spec, factor := terms.Clock, time.Duration(1)
	people := false
	l := limits{}
	for seat, h := range holders {
		l.unhurried[seat] = !terms.Rated && h.Kind == protocol.Human && holders[1-seat].Kind == protocol.Bot
	}
	switch spec.Speed() {
	case clock.Rapid:
		factor = 2
	case clock.Classical:
		factor = 4
	case clock.Correspondence:
		for seat, h := range holders {
			l.keeps[seat] = h.Kind == protocol.Human
			people = people || l.keeps[seat]
		}
	}
	l.firstMove, l.forfeit = factor*p.FirstMove, factor*p.AbandonAfter
	if budget, limited := spec.Budget(spec.Start()); limited && spec.Speed() == clock.Correspondence {
		l.firstMove = budget
	} else if !limited {
		l.turn = clock.Longest
		if people {
			l.firstMove = clock.Longest
		}
	}
	if people {
		l.forfeit = clock.Longest // of a bot's seat
	}
	return l
}

// lag is the credit that a seat has left.
type lag struct{ quota, growth, most time.Duration }

func (p LagPolicy) quota(spec clock.Spec) lag {
	expected, _ := spec.Expected()
	seconds := expected / time.Second
	growth := min(p.Max, p.Base+seconds*p.PerSecond)
	return lag{time.Duration(p.Start) * growth, growth, time.Duration(p.Cap) * growth}
}

// credit deducts claimed lag from the quota, as far as it reaches, and lets the
// quota grow for the next move. It returns the credited time.
func (l *lag) credit(claimed time.Duration) time.Duration {
	c := max(min(claimed, l.quota), 0)
	l.quota = min(l.quota-c+l.growth, l.most)
	return c
}
