//go:build !linux && !darwin

package diskspace

import (
	"errors"
	"fmt"
)

// Disk returns how many bytes of the disk of a directory are used, and how many there
// are for users. The error wraps [errors.ErrUnsupported] on systems where it can't tell.
func Disk(dir string) (used, most int64, err error) {
	return 0, 0, fmt.Errorf("disk of %s: %w", dir, errors.ErrUnsupported)
}
