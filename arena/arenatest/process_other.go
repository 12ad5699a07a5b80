//go:build !unix

package arenatest

import (
	"os"
	"testing"
	"time"
)

// CPUTime skips the test: processor time is not measured on this system.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	t.Skip("processor time is measured on Unix systems only")
	return 0
}

// Pause skips the test: this system can't pause a process.
func Pause(t testing.TB, _ *os.Process) {
	t.Helper()
	t.Skip("this system can't pause a process")
}

// Continue does nothing on this system.
func Continue(testing.TB, *os.Process) {}
