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
		{"unlimited", []time.Duration{time.Minute, 3 * time.Minute, 7 * time.Minute}},
		{"259200/move", []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}},
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

// In a game of days a state without news does not shorten the intervals: every question is
// answered by one.
func TestWatchOfOldNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, "unlimited")
		s.player.Process = new(asked)
		begun := time.Now()
		s.held.Store(&begun)
		s.resync.timer = time.NewTimer(time.Hour)
		s.newest.Order.Seq = 1
		s.resync.reset(s)
		for range 8 {
			<-s.resync.timer.C
			s.resync.fired(s)
			s.resync.reset(s)
		}
		if s.resync.interval != maxDaysResync {
			t.Errorf("asks every %v, want %v", s.resync.interval, maxDaysResync)
		}
		s.newest.Order.Seq = 2
		s.resync.reset(s)
		if s.resync.interval != idleResync {
			t.Errorf("asks every %v after news, want %v", s.resync.interval, idleResync)
		}
	})
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
