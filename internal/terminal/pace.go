package terminal

import (
	"fmt"
	"time"
)

// Pace decides when progress is shown: on a terminal always, elsewhere after each
// part of the work and at least every paceTime.
type Pace struct {
	screen *Display
	part   int // of the work
	said   int // progress that was shown last
	at     time.Time
}

// paceTime is the longest time between two lines of progress without a terminal.
const paceTime = 10 * time.Second

// NewPace divides work of a total into MaxLines parts.
func NewPace(screen *Display, total int) *Pace {
	return &Pace{screen: screen, part: max(total/MaxLines, 1), at: time.Now()}
}

// Due reports whether the progress n is to be shown.
func (p *Pace) Due(n int) bool {
	if !p.screen.Live() && n < p.said+p.part && time.Since(p.at) < paceTime {
		return false
	}
	p.said, p.at = n, time.Now()
	return true
}

// TimeLeft estimates how long the rest of some work takes, in words, after done of
// total since begin.
func TimeLeft(begin time.Time, done, total int) string {
	if done == 0 {
		return "unknown time left"
	}
	return fmt.Sprintf("%v left", (time.Since(begin) / time.Duration(done) * time.Duration(total-done)).Round(time.Second))
}

// MaxLines is the number of progress lines of a match without a terminal.
const MaxLines = 20
