package external

import (
	"os/exec"
	"syscall"
)

// setGroup gives a program its own process group: otherwise Ctrl-C at the console that
// we share would end it in the middle of a game that is to be finished.
func setGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
