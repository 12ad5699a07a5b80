package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sparring/protocol/filelock"
)

// lockFile is held while a server uses the directory. It tells who does.
const lockFile = "lock"

// lockDir makes the directory, shows that it can be written to, and keeps
// other processes out of it until release is called.
func lockDir(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("data directory can't be written to: %w", err)
	}
	if err := filelock.TryLock(f); err != nil {
		holder := make([]byte, 64)
		n, _ := f.Read(holder) // the name is a courtesy
		f.Close()
		return nil, fmt.Errorf("data directory %s is in use by another server (%s, lock file %s): %w",
			dir, strings.TrimSpace(string(holder[:n])), path, err)
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "process %-12d\n", os.Getpid()), 0)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("data directory can't be written to: %w", err)
	}
	return func() { f.Close() }, nil
}
