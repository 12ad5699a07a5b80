package otb

import "time"

// timekeeper gives a table its time. It begins as the time of day and goes on evenly,
// also while the machine sleeps: setting the machine's clock does not change it.
type timekeeper struct {
	wall   func() time.Time
	steady func() time.Duration // see steadyTime
	base   time.Time            // the table's time when steady was from
	from   time.Duration
}

func newTimekeeper() *timekeeper {
	k := &timekeeper{wall: wall, steady: steadyTime}
	k.set(k.wall())
	return k
}

// set makes it the given time now.
func (k *timekeeper) set(at time.Time) { k.base, k.from = at, k.steady() }

func (k *timekeeper) now() time.Time {
	return k.base.Add(k.steady() - k.from).Truncate(time.Millisecond)
}

// ahead is how far the table's time is ahead of the time of day.
func (k *timekeeper) ahead() time.Duration {
	for {
		before := k.now()
		at := k.wall()
		if k.now().Sub(before) < leap/4 { // else the process was stopped between the readings
			return before.Sub(at)
		}
	}
}

// wall returns the time of day.
func wall() time.Time { return time.Now().Round(0).UTC().Truncate(time.Millisecond) }
