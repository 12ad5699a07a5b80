package otb

import "golang.org/x/sys/unix"

// steadyClock is a clock that nobody sets and that goes on while the machine sleeps.
const steadyClock = unix.CLOCK_MONOTONIC
