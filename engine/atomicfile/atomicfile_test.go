package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	absent, folder := filepath.Join(dir, "none", "file"), filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Check(path); err != nil {
		t.Error(err)
	}
	if err := Check(absent); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), absent) {
		t.Errorf("checked: %v", err)
	}
	for path, want := range map[string]error{absent: os.ErrNotExist, folder: nil} {
		err := WriteBytes(path, nil)
		var of *os.PathError
		if !errors.As(err, &of) || of.Path != path || want != nil && !errors.Is(err, want) {
			t.Errorf("%s can't be written: %v", path, err)
		}
	}
}

// TestLongName: a file may have a name as long as the file system allows.
func TestLongName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("赛", 83)+".txt")
	if err := WriteBytes(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != "x" {
		t.Errorf("%q, %v", have, err)
	}
}

// TestWriteError: what can't be written, as on a full disk, is said of the file and not
// of the temporary one.
func TestWriteError(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	_, err = file{f, "games.html"}.Write([]byte("x"))
	var of *os.PathError
	if !errors.As(err, &of) || of.Path != "games.html" || !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// unchanged checks a file while another is written in its place.
func unchanged(t *testing.T, path, want string) {
	t.Helper()
	if have, err := os.ReadFile(path); err != nil || string(have) != want {
		t.Errorf("meanwhile: %q, %v; want %q", have, err, want)
	}
}
