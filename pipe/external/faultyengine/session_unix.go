//go:build unix

package faultyengine

import (
	"os/exec"
	"syscall"
)

// ownSession takes a child out of the process group, so that it is not killed
// with it.
func ownSession(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
