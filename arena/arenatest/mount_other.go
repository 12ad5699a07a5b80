//go:build !linux

package arenatest

import "errors"

// mountMemory is for Linux alone.
func mountMemory(string, string) (func() error, error) {
	return nil, errors.ErrUnsupported
}
