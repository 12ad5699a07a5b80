package external

import (
	"os/exec"
	"syscall"
	"testing"
)

func TestGroup(t *testing.T) {
	c := exec.Command("engine.exe")
	setGroup(c)
	if c.SysProcAttr == nil || c.SysProcAttr.CreationFlags&syscall.CREATE_NEW_PROCESS_GROUP == 0 {
		t.Errorf("%+v: it gets our console's Ctrl-C", c.SysProcAttr)
	}
}
