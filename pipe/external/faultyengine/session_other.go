//go:build !unix

package faultyengine

import "os/exec"

func ownSession(*exec.Cmd) {}
