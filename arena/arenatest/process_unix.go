//go:build unix

package arenatest

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// CPUTime returns the processor time that this process has used.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Pause stops a process that the test started, as by SIGSTOP, and returns when it has
// stopped.
func Pause(t testing.TB, p *os.Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	var status syscall.WaitStatus // it takes effect a moment later
	if _, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Errorf("not stopped: %v", err)
	}
}

// Continue lets a process go on that was paused.
func Continue(t testing.TB, p *os.Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
}
