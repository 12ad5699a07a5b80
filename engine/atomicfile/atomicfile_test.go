package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	check := func(want string) {
		t.Helper()
		if have, err := os.ReadFile(path); err != nil || string(have) != want {
			t.Errorf("%q, %v; want %q", have, err, want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("the folder has %v, %v", left, err)
		}
	}
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	check("old")
	failed := errors.New("failed")
	err := Write(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil { // more than is buffered
			return err
		}
		unchanged(t, path, "old")
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	check("old")
	if err := WriteBytes(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	check("new")
	if err := WriteBytes(filepath.Join(dir, "none", "file"), nil); err == nil {
		t.Error("a file in a folder that is not there")
	}
}

// unchanged checks a file while another is written in its place.
func unchanged(t *testing.T, path, want string) {
	t.Helper()
	if have, err := os.ReadFile(path); err != nil || string(have) != want {
		t.Errorf("meanwhile: %q, %v; want %q", have, err, want)
	}
}
