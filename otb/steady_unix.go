//go:build linux || darwin

package otb

import (
	"time"

	"golang.org/x/sys/unix"
)

// steadyTime returns a time of which only differences matter. It goes on while the
// machine sleeps, as Go's own monotonic clock does not on these systems, and nobody
// sets it.
func steadyTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(steadyClock, &t); err != nil {
		panic(err) // every kernel that Go supports has it
	}
	return time.Duration(t.Nano())
}
