package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sparring/protocol/filelock"
)

// TestTryLock: one at a time has the lock, what is in the file can be read all
// the same, and it is free when the file is closed.
func TestTryLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open(), open()
	if err := filelock.TryLock(a); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(b); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("the second: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "text" {
		t.Errorf("read %q, %v", text, err)
	}
	a.Close()
	if err := filelock.TryLock(b); err != nil {
		t.Errorf("after the first: %v", err)
	}
}
