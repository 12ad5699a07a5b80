package play

import (
	"testing"
	"testing/synctest"
	"time"

	"sparring/protocol"
)

func TestWatchAsksEverLessOften(t *testing.T) {
	for _, c := range []struct {
		clock string
		asks  []time.Duration // when, since the last state
	}{
		{"40", []time.Duration{5 * time.Second, 15 * time.Second, 35 * time.Second}},
		{"2", []time.Duration{time.Second, 3 * time.Second, 7 * time.Second}},
		{"3600", []time.Duration{30 * time.Second, 90 * time.Second, 150 * time.Second}},
		{"unlimited", []time.Duration{time.Minute, 2 * time.Minute}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := bare(t, c.clock)
			asked := new(asked)
			s.player.Process = asked
			begun := time.Now()
			s.held.Store(&begun)
			s.resync.timer = time.NewTimer(time.Hour)
			s.resync.reset(s)
			for i, want := range c.asks {
				<-s.resync.timer.C
				s.resync.fired(s)
				if asked.hellos != i+1 {
					t.Fatalf("clock %s: no request for the state", c.clock)
				}
				if got := time.Since(begun); got != want {
					t.Errorf("clock %s: asks after %v, want %v", c.clock, got, want)
				}
			}
			if s.ended {
				t.Error("the session ended")
			}
		})
	}
}

func TestWatchGivesAForgottenGameUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, "60")
		s.resync.timer = time.NewTimer(time.Hour)
		begun := time.Now()
		s.handleSignal(seatUnknown)
		time.Sleep(lastStateWait / 2)
		s.handleSignal(seatUnknown) // a second signal does not prolong the wait
		<-s.resync.timer.C
		s.resync.fired(s)
		if !s.ended || time.Since(begun) != lastStateWait {
			t.Errorf("ended %v after %v, want the end after %v", s.ended, time.Since(begun), lastStateWait)
		}

		// A state in between cancels the end.
		s = bare(t, "60")
		s.resync.timer = time.NewTimer(time.Hour)
		s.handleSignal(seatUnknown)
		s.resync.reset(s)
		<-s.resync.timer.C
		s.resync.fired(s)
		if s.ended {
			t.Error("the session ended despite a state")
		}
	})
}

// asked counts a session's requests to its process.
type asked struct{ hellos, givenBack int }

func (a *asked) RequestHello()             { a.hellos++ }
func (*asked) GameBegan(protocol.PlayerID) {}
func (a *asked) GiveBack(protocol.GameID)  { a.givenBack++ }
func (*asked) EngineFailed(string, error)  {}
