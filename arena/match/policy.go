package match

import (
	"errors"
	"fmt"
	"time"

	"sparring/game/clock"
)

// Policy is what a platform holds its games to.
type Policy struct {
	// FirstMove is how long a seat may take for its first move before the
	// game is aborted without a result.
	FirstMove time.Duration
	// AbandonAfter is how long a seat may stay vacant before its player has
	// lost (or the game is aborted, when it never started).
	AbandonAfter time.Duration
	// ResumeWithin is the longest time that a clock stands after a change of
	// referee while the seat to act has not been heard yet: what the
	// platform caused is not charged.
	ResumeWithin time.Duration
	// FlagGrace is how long after a flag fell the referee still waits for a
	// move that arrived in time but is not handled yet.
	FlagGrace time.Duration
	// LogLimit is the most entries of one game's log; a game that comes
	// close to it is void.
	LogLimit int
	// Lag is the credit that people, not bots, have for the network.
	Lag LagPolicy
}

// LagPolicy is a quota of network lag for people, after lichess's
// compensation: a claim is credited as far as the quota reaches, and the quota
// grows with every move. The zero value credits nothing.
type LagPolicy struct {
	Base      time.Duration // growth per move, whatever the clock
	PerSecond time.Duration // growth per move for each second of the clock's expected time, see clock.Spec.Expected
	Most      time.Duration // bound of the growth per move
	Start     int           // quota at the start, in moves' growths
	Cap       int           // quota at most, in moves' growths
}

// DefaultPolicy is for games between bots and people over the internet. The
// lag numbers are lichess's.
func DefaultPolicy() Policy {
	return Policy{
		FirstMove:    30 * time.Second,
		AbandonAfter: time.Minute,
		ResumeWithin: 30 * time.Second,
		FlagGrace:    100 * time.Millisecond,
		LogLimit:     10_000,
		Lag:          LagPolicy{Base: 150 * time.Millisecond, PerSecond: 4 * time.Millisecond, Most: time.Second, Start: 3, Cap: 7},
	}
}

// reserve is how many entries of a log are kept for ending the game.
const reserve = 8

// Validate reports the faults of what no setting of the command fills.
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
	if l := p.Lag; min(l.Base, l.PerSecond, l.Most) < 0 || min(l.Start, l.Cap) < 0 {
		errs = append(errs, errors.New("Lag: a value below 0"))
	}
	return errors.Join(errs...)
}

// lag is the credit one seat has left.
type lag struct{ quota, growth, most time.Duration }

func (p LagPolicy) quota(spec clock.Spec) lag {
	expected, _ := spec.Expected()
	seconds := expected / time.Second
	growth := min(p.Most, p.Base+seconds*p.PerSecond)
	return lag{time.Duration(p.Start) * growth, growth, time.Duration(p.Cap) * growth}
}

// credit takes what is claimed off the quota, as far as it reaches, and lets
// the quota grow for the next move.
func (l *lag) credit(claimed time.Duration) time.Duration {
	c := max(min(claimed, l.quota), 0)
	l.quota = min(l.quota-c+l.growth, l.most)
	return c
}
