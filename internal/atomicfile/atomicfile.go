// Package atomicfile writes files that are there in full, or as they were before,
// whatever happens meanwhile. [Write] is for what is made while it is written, and
// [WriteBytes] for what is in memory; [Check] says beforehand whether they can begin.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// longest is how many bytes of a file's name its temporary one has, which has others
// besides: most file systems allow 255.
const longest = 200

// maxLinks is how many links lead to a file at most, as Linux has it.
const maxLinks = 40

// Write writes a file that everybody may read. It has its name only when write has
// returned without an error, and what it wrote is on the disk. By a link the file is
// written that it leads to. An error names the path, not the temporary file.
func Write(path string, write func(io.Writer) error) error { return writeMode(path, 0o644, write) }

func writeMode(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, to, err := create(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	out := bufio.NewWriter(file{f, path})
	if err = write(out); err == nil {
		err = out.Flush()
	}
	if err := errors.Join(err, naming(path, f.Chmod(mode)), naming(path, f.Sync()), naming(path, f.Close())); err != nil {
		return err
	}
	return naming(path, os.Rename(f.Name(), to))
}

// Check returns the error with which Write would begin, such as that of a folder in which
// nothing may be written. A long run calls it before what is to be written is there.
func Check(path string) error {
	f, _, err := create(path)
	if err != nil {
		return err
	}
	return errors.Join(naming(path, f.Close()), naming(path, os.Remove(f.Name())))
}

// create creates the temporary file for a file, which is renamed to the path that it
// returns.
func create(path string) (f *os.File, to string, err error) {
	if to, err = behind(path); err != nil {
		return nil, "", naming(path, err)
	}
	base := filepath.Base(to)
	base = strings.ToValidUTF8(base[:min(len(base), longest)], "")
	f, err = os.CreateTemp(filepath.Dir(to), "."+base+".*.part")
	return f, to, naming(path, err)
}

// behind returns the file that a path leads to, which need not be there: a rename to the
// path of a link would replace the link, and leave the file to its other readers as it is.
func behind(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // where ".." leads from
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", &os.PathError{Op: "open", Path: path, Err: errors.New("too many links")}
}

// file is the temporary file, whose errors name the one that it becomes.
type file struct {
	temp *os.File
	path string
}

func (f file) Write(p []byte) (int, error) {
	n, err := f.temp.Write(p)
	return n, naming(f.path, err)
}

// naming returns the error of a file operation with a path in place of its own.
func naming(path string, err error) error {
	var of *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &of):
		return &os.PathError{Op: of.Op, Path: path, Err: of.Err}
	case errors.As(err, &link):
		return &os.PathError{Op: link.Op, Path: path, Err: link.Err}
	}
	return err
}

// WriteBytes is Write for what is in memory.
func WriteBytes(path string, data []byte) error { return Write(path, writing(data)) }

// WriteSecret is WriteBytes for a file that only its owner can read.
func WriteSecret(path string, data []byte) error { return writeMode(path, 0o600, writing(data)) }

func writing(data []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(data); return err }
}
