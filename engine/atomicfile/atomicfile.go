// Package atomicfile writes files that are there in full, or as they were before,
// whatever happens meanwhile. [Write] is for what is made while it is written, and
// [WriteBytes] for what is in memory.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// longest is how many bytes of a file's name its temporary one has, which has others
// besides: most file systems allow 255.
const longest = 200

// Write writes a file that everybody may read. It has its name only when write has
// returned without an error, and what it wrote is on the disk. An error names the file,
// not the temporary one.
func Write(path string, write func(io.Writer) error) error {
	base := filepath.Base(path)
	base = strings.ToValidUTF8(base[:min(len(base), longest)], "")
	f, err := os.CreateTemp(filepath.Dir(path), "."+base+".*.part")
	if err != nil {
		return naming(path, err)
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	out := bufio.NewWriter(file{f, path})
	if err = write(out); err == nil {
		err = out.Flush()
	}
	if err := errors.Join(err, naming(path, f.Chmod(0o644)), naming(path, f.Sync()), naming(path, f.Close())); err != nil {
		return err
	}
	return naming(path, os.Rename(f.Name(), path))
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
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
}
