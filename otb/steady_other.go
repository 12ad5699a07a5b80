//go:build !linux && !darwin

package otb

import "time"

var firstTime = time.Now()

// steadyTime returns a time of which only differences matter, by Go's monotonic
// clock. That goes on while Windows sleeps.
func steadyTime() time.Duration { return time.Since(firstTime) }
