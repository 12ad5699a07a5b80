//go:build !unix

package external

import (
	"os"
	"os/exec"
	"time"
)

const canMeasure = false

// reap waits for the program's end, then calls last.
func reap(c *exec.Cmd, last func()) error {
	err := c.Wait()
	last()
	return err
}

// signalTree does nothing: a program can't be stopped on this system.
func signalTree(int, string, bool) {}

// killTree kills the program. Its children are expected to end with their input.
func killTree(leader int, _ string) {
	if p, err := os.FindProcess(leader); err == nil {
		p.Kill()
		p.Release()
	}
}

func treeMemory(int, string) int64 { return 0 }

func countDescendants(int, string) (running, zombies int) { return 0, 0 }

// processorWaits returns nothing: it is not known on this system.
func processorWaits(int) map[string]time.Duration { return nil }
