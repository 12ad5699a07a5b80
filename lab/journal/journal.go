// Package journal keeps the results of a long run as lines of JSON in a file, so
// that an interrupted run is resumed: first the terms that the results depend on,
// then a line for each result as it comes.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/gofrs/flock"
)

// ErrInUse is returned by Open if another process writes to the file. Wait until it
// ends.
var ErrInUse = errors.New("another process writes to this file")

// Layout describes a kind of file.
type Layout struct {
	Name   string // begins the text of every error: "results"
	What   string // for errors about another file: "a match's result file"
	Prefix string // of the first line, by which such a file is known
	// MaxLine is the largest size of a line in bytes; 0: any.
	MaxLine int
	// Sync: Append returns when the line is on the disk, so that it also survives the
	// end of the machine.
	Sync bool
	// Terms are the first line of a new file.
	Terms any
	// Same compares the first line of an existing file with the terms.
	Same func(line []byte) error
	// Take is called for each further line of an existing file.
	Take func(line []byte) error
}

// File is an open file. It is locked, by the file of the same name with ".lock"
// added, which stays when it is closed. Its methods are not safe for concurrent use.
type File struct {
	name   string
	f      *os.File
	lock   *flock.Flock
	torn   bool
	sync   bool
	failed error // a write that may have left a partial line
}

// Open opens or creates a file. A last line that was truncated by a crash or a full
// disk is removed (see Torn). The error wraps ErrInUse, is that of Same or Take with
// the number of the line, or says what else is wrong; the file is then unchanged.
func Open(path string, l Layout) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	j := &File{name: l.Name, f: f, sync: l.Sync, lock: flock.New(path + ".lock")}
	if locked, failed := j.lock.TryLock(); failed != nil {
		err = failed
	} else if !locked {
		err = ErrInUse
	} else {
		err = j.load(&l)
	}
	if err != nil {
		j.Close()
		return nil, fmt.Errorf("%s: %s: %w", l.Name, path, err)
	}
	return j, nil
}

// Torn reports whether the last line was truncated when the file was opened. Its
// result is missing.
func (j *File) Torn() bool { return j.torn }

// Close closes the file.
func (j *File) Close() error {
	defer j.lock.Close()
	return j.f.Close()
}

// Append writes a line. When it returns, the line survives the end of this process,
// with Layout.Sync also that of the machine. After a write error nothing more is written and every call returns that error;
// opening the file again removes the partial line.
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
	if j.failed == nil {
		_, j.failed = j.f.Write(append(b, '\n'))
	}
	if j.failed == nil && j.sync {
		j.failed = j.f.Sync()
	}
	return j.failed
}

// load reads the file and leaves the offset at its end.
func (j *File) load(l *Layout) error {
	foreign := fmt.Errorf("not %s", l.What)
	in := bufio.NewReaderSize(j.f, 1<<20)
	var complete int64 // bytes of complete lines
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
			return j.resume(l, complete)
		case l.MaxLine > 0 && len(line) > l.MaxLine:
			err = fmt.Errorf("more than %d bytes", l.MaxLine)
		case n > 1:
			err = l.Take(line)
		case !ours || !json.Valid(line):
			err = foreign
		default:
			err = l.Same(line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		complete += int64(len(line))
	}
}

// resume removes everything after the last complete line, and begins a new file with
// the terms.
func (j *File) resume(l *Layout, complete int64) error {
	if err := j.f.Truncate(complete); err != nil {
		return err
	}
	if _, err := j.f.Seek(complete, io.SeekStart); err != nil {
		return err
	}
	if complete == 0 {
		return j.write(l.Terms)
	}
	return nil
}

// Differences lists the fields in which two structs of one type differ, by their
// JSON names, as "seed is 2 in the file and 1 now".
func Differences(inFile, now any) (differ []string) {
	a, b := reflect.ValueOf(inFile), reflect.ValueOf(now)
	for i := range a.NumField() {
		x, y := a.Field(i).Interface(), b.Field(i).Interface()
		if !reflect.DeepEqual(x, y) {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
			differ = append(differ, fmt.Sprintf("%s is %s in the file and %s now", name, jsonText(x), jsonText(y)))
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
