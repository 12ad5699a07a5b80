package match

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sparring/engine"
)

// stalls measures how long this process did not run: it was stopped, as by SIGSTOP, or the
// machine was too busy. Its clocks went on meanwhile, and no player can be charged for it.
type stalls struct {
	mu    sync.Mutex
	last  time.Time // of the latest look
	total time.Duration
	end   chan struct{}
}

// stallTime is what a process is off for at least to be counted, and stallLook how
// often it looks.
const (
	stallTime = 500 * time.Millisecond
	stallLook = 100 * time.Millisecond
)

// watchStalls begins to measure. Close it.
func watchStalls() *stalls {
	s := &stalls{last: time.Now(), end: make(chan struct{})}
	go func() {
		tick := time.NewTicker(stallLook)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.look(time.Now())
			case <-s.end:
				return
			}
		}
	}()
	return s
}

// look returns the time of all stalls, one that has just ended included.
func (s *stalls) look(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if off := now.Sub(s.last); off > stallTime {
		s.total += off
	}
	s.last = now
	return s.total
}

func (s *stalls) close() { close(s.end) }

// Attempt is a game that does not count, since this process stalled in it.
type Attempt struct {
	StalledMS int64  `json:"stalled_ms"`
	Plies     int    `json:"plies"`           // with those of the opening
	Fault     *Fault `json:"fault,omitempty"` // by which it had ended
}

// ErrStalled is returned if this process stalled in every attempt at a game, which then
// ended by a loss on time or the like. Nobody can be charged for it: play fewer games at
// once.
var ErrStalled = errors.New("this process did not get to run")

// maxAttempts is how often a game is played at most.
const maxAttempts = 4

// steadily plays a game, again if this process stalled in it and that can have changed
// the game. The last attempt counts even so, unless it ended by a fault of timing.
// Stalled returns the time of all stalls so far.
func steadily(t *Terms, stalled func() time.Duration, play func() (*Game, error)) (*Game, error) {
	var discarded []Attempt
	for {
		before := stalled()
		g, err := play()
		if err != nil {
			return nil, err
		}
		off := (stalled() - before).Milliseconds()
		fault, clocked := g.Match.Fault, t.clocked()
		timing := fault != nil && ofTiming(fault.Kind)
		g.Match.Discarded = discarded
		if timing || clocked {
			g.Match.StalledMS = off
		}
		switch {
		case off == 0 || fault != nil && !timing || fault == nil && !clocked:
			return g, nil
		case len(discarded) < maxAttempts-1:
			discarded = append(discarded, Attempt{off, len(g.Plies), fault})
		case timing:
			return nil, fmt.Errorf("game %s: %w in each of %d attempts, for %d ms in the last one, which ended so: %s; play fewer games at once",
				g.ID, ErrStalled, maxAttempts, off, g.Text)
		default:
			return g, nil
		}
	}
}

// ofTiming reports whether a stall of this process can look like this fault of an engine.
func ofTiming(k engine.FaultKind) bool {
	return k == engine.FaultTime || k == engine.FaultHang || k == engine.FaultStart
}

// Stalls counts in the games of a match how often this process did not run while a clock
// did, or a player lost by a fault of timing.
type Stalls struct {
	Games   int           // in which it did not
	Again   int           // of these, played again
	Within  int           // of these, in the attempt that counts
	Longest time.Duration // of an attempt
	// Lost are, by the player's index, the faults in attempts that do not count.
	Lost map[int]map[engine.FaultKind]int
}

func (s *Stalls) add(p *GameInfo) {
	again, within := len(p.Discarded) > 0, p.StalledMS > 0
	if again {
		s.Again++
	}
	if within {
		s.Within++
	}
	if again || within {
		s.Games++
	}
	s.Longest = max(s.Longest, time.Duration(p.StalledMS)*time.Millisecond)
	for _, a := range p.Discarded {
		s.Longest = max(s.Longest, time.Duration(a.StalledMS)*time.Millisecond)
		if a.Fault == nil {
			continue
		}
		i := p.Players[a.Fault.Seat]
		if s.Lost[i] == nil {
			if s.Lost == nil {
				s.Lost = map[int]map[engine.FaultKind]int{}
			}
			s.Lost[i] = map[engine.FaultKind]int{}
		}
		s.Lost[i][a.Fault.Kind]++
	}
}

// text writes the counts: "this process did not run for up to 1.5s: games played again 2,
// counted nevertheless 0; losses that do not count: a (time 1)".
func (s *Stalls) text(players []Tally) string {
	text := fmt.Sprintf("this process did not run for up to %v: games played again %d, counted nevertheless %d", s.Longest, s.Again, s.Within)
	var lost []string
	for _, i := range slices.Sorted(maps.Keys(s.Lost)) {
		lost = append(lost, fmt.Sprintf("%s (%s)", players[i].Name, kindsText(s.Lost[i])))
	}
	if len(lost) > 0 {
		text += "; losses that do not count: " + strings.Join(lost, ", ")
	}
	return text
}

// StallText says what became of a game in which this process stalled; "" if it did not.
func (g *Game) StallText() string {
	off := g.Match.StalledMS
	for _, a := range g.Match.Discarded {
		off = max(off, a.StalledMS)
	}
	switch what := fmt.Sprintf("game %s: this process did not run for %v", g.ID, time.Duration(off)*time.Millisecond); {
	case off == 0:
		return ""
	case len(g.Match.Discarded) == 1:
		return what + ", the game was played again"
	case len(g.Match.Discarded) > 1:
		return fmt.Sprintf("%s, the game was played %d times more", what, len(g.Match.Discarded))
	default:
		return what
	}
}
