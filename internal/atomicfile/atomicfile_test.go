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

// TestLink: what is written by a link is in the file that it leads to, for those who read it
// under its own name, and the link stays one. So it is where the file is not there yet.
func TestLink(t *testing.T) {
	for _, there := range []bool{true, false} {
		dir := t.TempDir()
		target, folder := filepath.Join(dir, "of all", "file"), filepath.Join(dir, "mine")
		for _, d := range []string{filepath.Dir(target), folder} {
			if err := os.Mkdir(d, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if there {
			if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// By a link in a folder that is one itself, with a path from the folder's own place.
		links := map[string]string{filepath.Join(folder, "file"): "../of all/file", filepath.Join(dir, "of all", "here"): folder}
		for name, to := range links {
			if err := os.Symlink(to, name); err != nil {
				t.Skip(err) // as on Windows, where not everybody may
			}
		}
		path := filepath.Join(dir, "of all", "here", "file")
		if err := Check(path); err != nil {
			t.Error(err)
		}
		if err := WriteBytes(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
		if have, err := os.ReadFile(target); err != nil || string(have) != "new" {
			t.Errorf("there %v: the file has %q, %v", there, have, err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("there %v: %v, %v in place of the link", there, info.Mode(), err)
		}
	}
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Skip(err)
	}
	var of *os.PathError
	if err := WriteBytes(loop, nil); !errors.As(err, &of) || of.Path != loop {
		t.Errorf("a link to itself: %v", err)
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
