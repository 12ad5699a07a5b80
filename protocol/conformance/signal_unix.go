//go:build unix

package conformance

import (
	"errors"
	"os/exec"
	"syscall"
)

// The signals that pause a process and let it go on.
const (
	sigPause  = syscall.SIGSTOP
	sigResume = syscall.SIGCONT
)

// ownGroup starts a command in a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to the group of a command. It does nothing if that has
// ended.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	if err := syscall.Kill(-cmd.Process.Pid, s); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
