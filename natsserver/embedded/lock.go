package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// InUseError is returned if another server uses the data directory.
type InUseError struct {
	Dir     string
	Process string // its id; "" if unknown
	Lock    string // path of the lock file
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("data directory %s is in use by another server (process %s, lock file %s)", e.Dir, e.Process, e.Lock)
}

// lockDir makes the directory, checks that it can be written to, and keeps other
// servers out of it until release is called. While it is locked, the file pid
// holds the id of the process.
func lockDir(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	lock, pid := flock.New(filepath.Join(dir, "lock")), filepath.Join(dir, "pid")
	locked, err := lock.TryLock()
	if err == nil && !locked {
		holder, _ := os.ReadFile(pid) // the message helps without it, too
		return nil, &InUseError{Dir: dir, Process: strings.TrimSpace(string(holder)), Lock: lock.Path()}
	}
	if err == nil {
		err = os.WriteFile(pid, fmt.Appendln(nil, os.Getpid()), 0o640)
	}
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("data directory can't be written to: %w", err)
	}
	return func() { lock.Close() }, nil
}
