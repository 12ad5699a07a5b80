package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock takes the file's lock for as long as the file is open; the system
// gives it back when the process dies, however it dies. The error is ErrLocked
// when another open file has the lock, in this process or elsewhere, or says why
// the file can't be locked. Only who asks for the lock is kept out by it.
func TryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	// Nobody can read what is locked here: the byte lies far behind the end.
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
