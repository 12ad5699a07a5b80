//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// processorTime returns an error: it is not measured on this system.
func processorTime() (time.Duration, error) {
	return 0, errors.New("processor time is measured on Unix systems only")
}

// apart does nothing on this system.
func apart(*exec.Cmd) {}

// A process can't be stopped where it is on this system.
func suspendProcess(*os.Process) error { return errors.ErrUnsupported }

func resumeProcess(*os.Process) error { return errors.ErrUnsupported }
