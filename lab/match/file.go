package match

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

	"sparring/record"
)

var (
	// ErrTerms is returned if the result file holds a match with different
	// terms. Choose another file, or repeat the settings of the match.
	ErrTerms = errors.New("the file holds a match with different settings")
	// ErrInUse is returned if another process writes to the result file. Wait
	// until it ends.
	ErrInUse = errors.New("another match writes to this file")
)

// File is the result file of a match, as lines of JSON: the [Terms], then each
// [Game] as it ends. It is locked while it is open, by the file of the same name
// with ".lock" added, which stays when it is closed.
type File struct {
	f      *os.File
	lock   *flock.Flock
	games  []*Game
	torn   bool
	failed error // a write that may have left a partial line
}

// OpenFile opens or creates a result file and sets t.ID to the id of the match it
// holds. It returns an error that wraps ErrTerms and names the differences if the
// settings differ, ErrInUse while another process has the file open, or an error
// that names the line that cannot be read. A truncated last line is removed (see
// Torn).
func OpenFile(path string, t *Terms) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	r := &File{f: f, lock: flock.New(path + ".lock")}
	if locked, failed := r.lock.TryLock(); failed != nil {
		err = failed
	} else if !locked {
		err = ErrInUse
	} else {
		err = r.load(t)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("results: %s: %w", path, err)
	}
	return r, nil
}

// Games returns the games that the file held when it was opened.
func (r *File) Games() []*Game { return r.games }

// Torn reports whether the last line was truncated, by a crash or a full disk.
// Its game is played again.
func (r *File) Torn() bool { return r.torn }

// Close closes the file.
func (r *File) Close() error {
	defer r.lock.Close()
	return r.f.Close()
}

// Append writes a game. When it returns, the game survives the end of this
// process. After a write error nothing more is written and every call returns
// that error; opening the file again removes the partial line.
func (r *File) Append(g *Game) error {
	if err := r.write(g); err != nil {
		return fmt.Errorf("results: game %s: %w", g.ID, err)
	}
	return nil
}

// load reads the file and leaves the offset at its end.
func (r *File) load(t *Terms) error {
	in := bufio.NewReaderSize(r.f, 1<<20)
	var complete int64 // bytes of complete lines
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			r.torn = len(line) > 0
			if n == 1 && r.torn && !bytes.HasPrefix(line, []byte(record.TermsPrefix)) && !strings.HasPrefix(record.TermsPrefix, string(line)) {
				return errors.New("line 1: not a match's result file")
			}
			if err := r.truncate(complete); err != nil {
				return err
			}
			if n == 1 {
				return r.write(t)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if len(line) > record.MaxLine {
			return fmt.Errorf("line %d: more than %d bytes", n, record.MaxLine)
		}
		if n == 1 {
			err = sameTerms(line, t)
		} else {
			err = r.take(line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		complete += int64(len(line))
	}
}

// truncate removes everything after the last complete line.
func (r *File) truncate(size int64) error {
	if err := r.f.Truncate(size); err != nil {
		return err
	}
	_, err := r.f.Seek(size, io.SeekStart)
	return err
}

func (r *File) take(line []byte) error {
	if _, err := record.Decode(line); err != nil {
		return err
	}
	g := &Game{}
	if err := json.Unmarshal(line, g); err != nil {
		return err
	}
	if g.Match.Pair < 1 || g.Match.Leg < 1 || g.Match.Leg > 2 {
		return fmt.Errorf("pair %d, leg %d: not a game of this match", g.Match.Pair, g.Match.Leg)
	}
	r.games = append(r.games, g)
	return nil
}

func (r *File) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if g, ok := v.(*Game); ok {
		if err := g.Validate(); err != nil {
			return err
		}
	}
	if r.failed == nil {
		_, r.failed = r.f.Write(append(b, '\n'))
	}
	return r.failed
}

// sameTerms compares the first line with the terms, field by field.
func sameTerms(line []byte, t *Terms) error {
	var have Terms
	if err := json.Unmarshal(line, &have); err != nil || have.V == 0 {
		return errors.New("not a match's result file")
	}
	if have.V != FileVersion {
		return fmt.Errorf("result file version %d; this program reads version %d", have.V, FileVersion)
	}
	t.ID = have.ID
	var differ []string
	a, b := reflect.ValueOf(have), reflect.ValueOf(*t)
	for i := range a.NumField() {
		x, y := a.Field(i).Interface(), b.Field(i).Interface()
		if !reflect.DeepEqual(x, y) {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
			differ = append(differ, fmt.Sprintf("%s is %s in the file and %s now", name, jsonText(x), jsonText(y)))
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("%w: %s", ErrTerms, strings.Join(differ, "; "))
	}
	return nil
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
