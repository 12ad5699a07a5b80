//go:build unix

package embedded

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the file's lock for as long as the file is open; the system
// gives it back when the process dies, however it dies.
func tryLock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
