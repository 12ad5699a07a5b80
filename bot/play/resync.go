package play

import (
	"time"

	"sparring/protocol"
)

// resyncTimer asks for the state of a game if no state has arrived for a while, with
// growing intervals: the platform sends every change once, and messages can be lost.
type resyncTimer struct {
	timer    *time.Timer
	interval time.Duration
	longest  time.Duration       // interval
	seen     protocol.StateOrder // of the last state: another one is news
	ending   bool                // the platform does not know us in this game; its last state is awaited
}

const (
	minResync = time.Second
	maxResync = 30 * time.Second
	// In a game of days a lost state costs at most this much. Every question is for the
	// states of all games of the player, which then have them all.
	maxDaysResync = time.Hour
	idleResync    = time.Minute     // if no clock runs; also the longest interval in other games
	lastStateWait = 5 * time.Second // for a state that is on its way, or repeated
	vacantWait    = 5 * time.Second // for a vacant seat to be given back
)

// reset restarts the timer after a state. With little time on a clock the interval
// is short.
func (t *resyncTimer) reset(s *Session) {
	t.ending, t.longest = false, idleResync
	most := maxResync
	if s.isCorrespondence() && s.Held() {
		t.longest, most = maxDaysResync, maxDaysResync
	}
	news := s.newest.Order != t.seen
	if t.seen = s.newest.Order; news || t.interval == 0 || !s.isCorrespondence() {
		t.interval = t.firstInterval(s, most)
	}
	t.timer.Reset(t.interval)
}

// firstInterval returns the interval after news.
func (t *resyncTimer) firstInterval(s *Session, most time.Duration) time.Duration {
	d := idleResync
	if s.isCorrespondence() && s.st.Terms.Clock.Traits().Limited {
		d = maxDaysResync
	}
	for _, c := range s.st.Clocks.Seats {
		if left, limited := s.st.Terms.Clock.Budget(c.State()); limited {
			d = min(d, max(minResync, min(left/8, most)))
		}
	}
	return d
}

// endAfter ends the session unless a state comes within d.
func (t *resyncTimer) endAfter(d time.Duration) {
	if !t.ending {
		t.ending = true
		t.timer.Reset(d)
	}
}

// fired asks for the state, or ends the session.
func (t *resyncTimer) fired(s *Session) {
	if t.ending {
		s.log.Warn().Msg("the platform no longer has us in this game; leaving it")
		s.ended = true
		return
	}
	if s.Held() { // a seat that is only promised expires by itself
		s.player.Process.RequestHello()
	}
	t.interval = min(2*t.interval, t.longest)
	t.timer.Reset(t.interval)
}
