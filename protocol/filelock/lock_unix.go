//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock takes the file's lock for as long as the file is open; the system
// gives it back when the process dies, however it dies. The error is ErrLocked
// when another open file has the lock, in this process or elsewhere, or says why
// the file can't be locked. Only who asks for the lock is kept out by it.
func TryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
