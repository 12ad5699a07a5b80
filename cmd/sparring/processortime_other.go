//go:build !unix

package main

import (
	"errors"
	"os/exec"
	"time"
)

// processorTime returns an error: it is not measured on this system.
func processorTime() (time.Duration, error) {
	return 0, errors.New("processor time is measured on Unix systems only")
}

// apart does nothing on this system.
func apart(*exec.Cmd) {}
