//go:build unix && !linux

package external

import (
	"os/exec"
	"syscall"
	"time"
)

const canMeasure = false

func setGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// reap waits for the program's end, then calls last. The process id is free by
// then, but is unlikely to be reused at once.
func reap(c *exec.Cmd, last func()) error {
	err := c.Wait()
	last()
	return err
}

// signalTree stops or continues a program and its process group.
func signalTree(leader int, _ string, stop bool) {
	sig := syscall.SIGCONT
	if stop {
		sig = syscall.SIGSTOP
	}
	syscall.Kill(-leader, sig)
}

func killTree(leader int, _ string) { syscall.Kill(-leader, syscall.SIGKILL) }

func treeMemory(int, string) int64 { return 0 }

func countDescendants(int, string) (running, zombies int) { return 0, 0 }

// processorWaits returns nothing: it is not known on this system.
func processorWaits(int) map[string]time.Duration { return nil }
