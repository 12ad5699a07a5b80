// Package journal keeps the results of a long run as lines of JSON in a file, so
// that an interrupted run is resumed: first the terms that the results depend on,
// unless each result has them, then a line for each result as it comes.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// ErrInUse is returned by Open if another process writes to the file. Wait until it
// ends.
var ErrInUse = errors.New("another process writes to this file")

// ErrWrite is returned by Append if the line could not be written, as on a full disk.
// Append may be called again.
var ErrWrite = errors.New("not written")

// UnfitError is returned by Open for a path that the same call can never open: its folder
// is missing, it is a folder itself, or its first line is that of other terms or of another
// kind of file.
type UnfitError struct{ error }

func (e *UnfitError) Unwrap() error { return e.error }

// Layout describes a kind of file.
type Layout struct {
	Name   string // begins the text of every error: "results"
	What   string // for errors about another file: "a match's result file"
	Prefix string // of the first line, by which such a file is known
	// MaxLine is the largest size of a line in bytes, with its end; 0: any. A longer one
	// is not written: it would make the file unreadable.
	MaxLine int
	// Sync: Append returns when the line is on the disk, so that it also survives the
	// end of the machine.
	Sync bool
	// Terms are the first line of a new file.
	Terms any
	// Same compares the first line of an existing file with the terms. Without it the
	// file has no terms, and its first line is like the others.
	Same func(line []byte) error
	// Differs is wrapped by the error of Same for other terms that may be replaced in a file
	// that has no further line; nil: none.
	Differs error
	// Take is called for each further line of an existing file.
	Take func(line []byte) error
}

// File is an open file. It is locked, by the file of the same name (that of the target, of a
// link) with ".lock" added, which stays when it is closed. Its methods are not safe for concurrent use.
type File struct {
	name   string
	path   string
	info   os.FileInfo // of f
	f      *os.File
	lock   *flock.Flock
	torn   bool
	sync   bool
	max    int   // bytes of a line; 0: any
	size   int64 // of the complete lines
	failed error // a write that has left a partial line
	head   any   // the terms, until the first line is written after them
	made   bool  // the file was not there before
}

// Open opens or creates a file. Its terms are written with the first line after them, and a
// new file that gets no line is removed again, so that a run that fails at its start leaves
// nothing that the next one, perhaps with other terms, would have to keep to. A last line that was truncated by a crash or a full
// disk is removed (see Torn). The error wraps ErrInUse or an UnfitError, is that of Take
// with the number of the line, or says what else is wrong; the file is then unchanged.
func Open(path string, l Layout) (*File, error) {
	_, absent := os.Lstat(path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	info, unknown := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || unknown == nil && info.IsDir() { // the folder is missing, or it is one
		err = &UnfitError{err}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	j := &File{name: l.Name, path: path, f: f, sync: l.Sync, max: l.MaxLine, lock: lockOf(path), made: errors.Is(absent, fs.ErrNotExist)}
	if j.info, err = f.Stat(); err != nil {
		// told below
	} else if locked, failed := j.lock.TryLock(); failed != nil {
		err = failed
	} else if !locked {
		err = ErrInUse
	} else {
		err = j.load(&l, true)
		if err == nil {
			err = j.resume(&l)
		}
	}
	if err != nil {
		j.Close()
		return nil, fmt.Errorf("%s: %s: %w", l.Name, path, err)
	}
	return j, nil
}

// Read reads a file that another process may be writing to, without the terms being
// written to a new one. A last line that is not complete is passed over.
func Read(path string, l Layout) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	defer f.Close()
	if err := (&File{f: f}).load(&l, false); err != nil {
		return fmt.Errorf("%s: %s: %w", l.Name, path, err)
	}
	return nil
}

// InUse reports whether a process has an existing file open.
func InUse(path string) bool {
	lock := lockOf(path)
	defer lock.Close()
	free, err := lock.TryRLock()
	return err == nil && !free
}

// Lock locks an existing file that is read and then replaced, as a File is while it is open,
// until the function returned is called. The error wraps ErrInUse if another process has it.
func Lock(path string) (unlock func(), err error) {
	lock := lockOf(path)
	locked, err := lock.TryLock()
	if err == nil && !locked {
		err = ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return func() { lock.Close() }, nil
}

// lockOf returns the lock of an existing file. It is beside the file itself, so that those who
// open the file by a link share it.
func lockOf(path string) *flock.Flock {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return flock.New(path + ".lock")
}

// Torn reports whether the last line was truncated when the file was opened. Its
// result is missing.
func (j *File) Torn() bool { return j.torn }

// Close closes the file. A new one that has got no line is removed.
func (j *File) Close() error {
	defer j.lock.Close()
	if info, err := os.Lstat(j.path); j.made && j.size == 0 && err == nil && os.SameFile(info, j.info) && info.Size() == 0 {
		os.Remove(j.path) // otherwise it stays, empty, and is used by the next run
	}
	return j.f.Close()
}

// Append writes a line. When it returns, the line survives the end of this process,
// with Layout.Sync also that of the machine.
// After a write error, which wraps ErrWrite, there is nothing of the line in the file.
// If what was written of it can't be removed, nothing more is written until that
// succeeds: each call tries it again, in a newly opened file too. The file stays locked.
func (j *File) Append(v any) error {
	if err := j.write(v); err != nil {
		return fmt.Errorf("%s: %w", j.name, err)
	}
	return nil
}

func (j *File) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if j.max > 0 && len(b) >= j.max {
		return fmt.Errorf("not written: a line of %d bytes, more than %d", len(b)+1, j.max)
	}
	if j.head != nil {
		head, err := json.Marshal(j.head)
		if err != nil {
			return err
		}
		b = slices.Concat(head, []byte{'\n'}, b)
	}
	if j.failed != nil {
		if err := j.repair(); err != nil {
			return fmt.Errorf("%w: %w", ErrWrite, err)
		}
		j.failed = nil
	}
	n, err := j.f.Write(append(b, '\n'))
	if err == nil && j.sync {
		err = j.f.Sync()
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrWrite, err)
		if j.rewind() != nil {
			j.failed = err
		}
		return err
	}
	j.size += int64(n)
	j.head = nil
	return nil
}

// rewind removes everything after the last complete line.
func (j *File) rewind() error {
	if err := j.f.Truncate(j.size); err != nil {
		return err
	}
	_, err := j.f.Seek(j.size, io.SeekStart)
	return err
}

// repair removes a partial line. If the open file allows no more, it is opened again.
func (j *File) repair() error {
	if j.rewind() == nil {
		return nil
	}
	f, err := os.OpenFile(j.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(info, j.info) {
		f.Close() // nothing was written
		return fmt.Errorf("%s has been replaced", j.path)
	}
	j.f.Close() // it can't be used any more
	j.f = f
	return j.rewind()
}

// load reads the file, and sets size and torn. With fresh, other terms count only if the file
// holds more.
func (j *File) load(l *Layout, fresh bool) error {
	foreign := &UnfitError{fmt.Errorf("not %s", l.What)}
	in := bufio.NewReaderSize(j.f, 1<<20)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		ours := bytes.HasPrefix(line, []byte(l.Prefix))
		switch {
		case err == io.EOF:
			j.torn = len(line) > 0
			if n == 1 && j.torn && !ours && !strings.HasPrefix(l.Prefix, string(line)) {
				return fmt.Errorf("line 1: %w", foreign)
			}
			return nil
		case l.MaxLine > 0 && len(line) > l.MaxLine:
			err = fmt.Errorf("more than %d bytes", l.MaxLine)
		case n == 1 && (!ours || !json.Valid(line)):
			err = foreign
		case n > 1 || l.Same == nil:
			err = l.Take(line)
		default:
			if err = l.Same(line); err != nil {
				if _, rest := in.Peek(1); fresh && rest == io.EOF && l.Differs != nil && errors.Is(err, l.Differs) {
					return nil
				}
				err = &UnfitError{err}
			}
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		j.size += int64(len(line))
	}
}

// resume removes everything after the last complete line. A new file begins with the terms.
func (j *File) resume(l *Layout) error {
	if err := j.rewind(); err != nil {
		return err
	}
	if j.size == 0 && l.Same != nil {
		j.head = l.Terms
	}
	return nil
}

// Differences lists the fields in which two structs of one type differ, by their
// JSON names, as "seed is 2 in the file and 1 now". Of maps of texts it lists the keys.
func Differences(inFile, now any) (differ []string) {
	a, b := reflect.ValueOf(inFile), reflect.ValueOf(now)
	for i := range a.NumField() {
		x, y := a.Field(i).Interface(), b.Field(i).Interface()
		if m, ok := x.(map[string]string); ok {
			differ = append(differ, mapDifferences(m, y.(map[string]string))...)
		} else if !reflect.DeepEqual(x, y) {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
			differ = append(differ, fmt.Sprintf("%s is %s in the file and %s now", name, jsonText(x), jsonText(y)))
		}
	}
	return differ
}

func mapDifferences(inFile, now map[string]string) (differ []string) {
	all := maps.Clone(inFile)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, now)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		a, inA := inFile[key]
		b, inB := now[key]
		switch {
		case inA && inB && a != b:
			differ = append(differ, fmt.Sprintf("%s is %s in the file and %s now", key, a, b))
		case !inB:
			differ = append(differ, fmt.Sprintf("%s is %s in the file and not given now", key, a))
		case !inA:
			differ = append(differ, fmt.Sprintf("%s is not in the file and %s now", key, b))
		}
	}
	return differ
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
