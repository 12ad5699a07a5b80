//go:build !unix

package conformance

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// The signals that pause a process and let it go on, which are not known here.
const (
	sigPause  syscall.Signal = 0x13
	sigResume syscall.Signal = 0x12
)

// ownGroup does nothing: a process has no group here.
func ownGroup(*exec.Cmd) {}

// signalGroup ends the process of a command. Other signals are an error.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	if s != syscall.SIGKILL {
		return errors.New("this system can't pause a process, or ask it to end")
	}
	if err := cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
