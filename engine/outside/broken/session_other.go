//go:build !unix

package broken

import "os/exec"

func ownSession(*exec.Cmd) {}
