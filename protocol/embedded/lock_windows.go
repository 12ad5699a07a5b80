package embedded

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the file's lock for as long as the file is open; the system
// gives it back when the process dies, however it dies.
func tryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
}
