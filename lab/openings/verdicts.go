package openings

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/gofrs/flock"
)

// Terms are the settings that verdicts depend on. The first line of a verdict file
// has them.
type Terms struct {
	Judge   int      `json:"judge"` // version of the file
	Engines []string `json:"engines"`
	TimeMS  int64    `json:"time_ms"`         // per evaluation
	Build   string   `json:"build,omitempty"` // if our engine judges
}

// verdictVersion is the version of verdict files.
const verdictVersion = 1

var (
	// ErrTerms is returned by OpenVerdicts if the file has verdicts of other
	// engines or with another time. Choose another file.
	ErrTerms = errors.New("the file holds verdicts with different settings")
	// ErrInUse is returned by OpenVerdicts if another process writes to the file.
	ErrInUse = errors.New("another process writes to this file")
)

// VerdictFile keeps verdicts as lines of JSON, after a line with the [Terms], so that
// an interrupted run is resumed. It is locked while it is open, by the file of the
// same name with ".lock" added, which stays. A nil VerdictFile keeps nothing.
type VerdictFile struct {
	f     *os.File
	lock  *flock.Flock
	known map[about]Evaluation
}

// OpenVerdicts opens or creates a file. A last line that was truncated by a crash is
// removed. The error wraps ErrTerms or ErrInUse, or names the line that can't be read.
func OpenVerdicts(path string, t Terms) (*VerdictFile, error) {
	t.Judge = verdictVersion
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("verdicts: %w", err)
	}
	v := &VerdictFile{f: f, lock: flock.New(path + ".lock"), known: map[about]Evaluation{}}
	locked, err := v.lock.TryLock()
	if err == nil && !locked {
		err = ErrInUse
	}
	if err == nil {
		err = v.load(t)
	}
	if err != nil {
		v.Close()
		return nil, fmt.Errorf("verdicts: %s: %w", path, err)
	}
	return v, nil
}

// Len returns the number of verdicts in the file.
func (v *VerdictFile) Len() int { return len(v.known) }

// Close closes the file.
func (v *VerdictFile) Close() error {
	defer v.lock.Close()
	return v.f.Close()
}

// load reads the file and leaves the offset at its end.
func (v *VerdictFile) load(t Terms) error {
	in := bufio.NewReader(v.f)
	var complete int64
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			if n == 1 && len(line) > 0 && !bytes.HasPrefix(line, []byte(`{"judge":`)) {
				return errors.New("line 1: not a file of verdicts")
			}
			if err := v.f.Truncate(complete); err != nil {
				return err
			}
			if _, err := v.f.Seek(complete, io.SeekStart); err != nil {
				return err
			}
			if n == 1 {
				return v.write(t)
			}
			return nil
		}
		if err == nil && n == 1 {
			err = sameTerms(line, t)
		} else if err == nil {
			err = v.take(line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		complete += int64(len(line))
	}
}

// sameTerms compares the first line of a file with the terms.
func sameTerms(line []byte, t Terms) error {
	var have Terms
	switch err := json.Unmarshal(line, &have); {
	case err != nil || have.Judge == 0:
		return errors.New("not a file of verdicts")
	case have.Judge != t.Judge:
		return fmt.Errorf("version %d of the file; this program reads version %d", have.Judge, t.Judge)
	case !slices.Equal(have.Engines, t.Engines):
		return fmt.Errorf("%w: engines %q, not %q", ErrTerms, have.Engines, t.Engines)
	case have.TimeMS != t.TimeMS:
		return fmt.Errorf("%w: %d ms per evaluation, not %d", ErrTerms, have.TimeMS, t.TimeMS)
	case have.Build != t.Build:
		return fmt.Errorf("%w: build %q, not %q", ErrTerms, have.Build, t.Build)
	}
	return nil
}

func (v *VerdictFile) take(line []byte) error {
	var verdict Verdict
	if err := json.Unmarshal(line, &verdict); err != nil {
		return err
	}
	if c := verdict.Chance; verdict.Opening == "" || verdict.Engine == "" || !(c >= 0 && c <= 1) || math.IsNaN(c) {
		return fmt.Errorf("not a verdict: %.80q", line)
	}
	v.known[verdict.about()] = verdict.Evaluation
	return nil
}

func (v *VerdictFile) write(line any) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = v.f.Write(append(b, '\n'))
	return err
}

func (v *VerdictFile) find(a about) (Evaluation, bool) {
	if v == nil {
		return Evaluation{}, false
	}
	e, ok := v.known[a]
	return e, ok
}

func (v *VerdictFile) append(verdict *Verdict) error {
	if v == nil {
		return nil
	}
	if err := v.write(verdict); err != nil {
		return fmt.Errorf("verdicts: %w", err)
	}
	v.known[verdict.about()] = verdict.Evaluation
	return nil
}
