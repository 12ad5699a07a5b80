package play

import "time"

// watch is a session's patience. The platform says every change once, and a
// message can be lost; so a session that hears nothing for a while asks, ever
// less often.
type watch struct {
	timer   *time.Timer
	pause   time.Duration
	leaving bool // the platform does not know us there; only its last word is awaited
}

// Bounds of a session's patience.
const (
	leastQuiet = time.Second
	mostQuiet  = 10 * time.Second
	calmQuiet  = time.Minute     // where no clock runs, and at most
	lastWord   = 5 * time.Second // for a state that is on its way, or repeated
	seatWait   = 5 * time.Second // for a vacant seat to be given back
)

// reset starts anew, for something was heard. Who has little time on the
// clock is the more impatient.
func (w *watch) reset(s *Session) {
	w.leaving, w.pause = false, calmQuiet
	for _, c := range s.st.Clocks.Seats {
		if left, limited := s.st.Terms.Clock.Budget(c.State()); limited {
			w.pause = min(w.pause, max(leastQuiet, min(left/8, mostQuiet)))
		}
	}
	w.timer.Reset(w.pause)
}

// last waits a little for the platform's last word, then ends the session.
func (w *watch) last(s *Session, d time.Duration) {
	if !w.leaving {
		w.leaving = true
		w.timer.Reset(d)
	}
}

// expired asks for the state.
func (w *watch) expired(s *Session) {
	switch {
	case w.leaving:
		s.log.Warn().Msg("the platform plays this game without us")
		s.ended = true
	case s.Held():
		s.player.Process.RequestHello()
		fallthrough
	default: // a hold has its own end
		w.pause = min(2*w.pause, calmQuiet)
		w.timer.Reset(w.pause)
	}
}
