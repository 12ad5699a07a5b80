package openings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"sparring/internal/journal"
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
	ErrInUse = journal.ErrInUse
)

// VerdictFile keeps verdicts as lines of JSON, after a line with the [Terms], so that
// an interrupted run is resumed. It is locked while it is open, see [journal.File]. A
// nil VerdictFile keeps nothing.
type VerdictFile struct {
	*journal.File
	known map[about]Evaluation
}

// OpenVerdicts opens or creates a file. A last line that was truncated by a crash is
// removed. The error wraps ErrTerms or ErrInUse, or names the line that can't be read.
func OpenVerdicts(path string, t Terms) (*VerdictFile, error) {
	t.Judge = verdictVersion
	v := &VerdictFile{known: map[about]Evaluation{}}
	var err error
	v.File, err = journal.Open(path, journal.Layout{
		Name: "verdicts", What: "a file of verdicts", Prefix: `{"judge":`, Terms: t,
		Same: func(line []byte) error { return sameTerms(line, t) }, Take: v.take,
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Len returns the number of verdicts in the file.
func (v *VerdictFile) Len() int { return len(v.known) }

// sameTerms compares the first line of a file with the terms.
func sameTerms(line []byte, t Terms) error {
	var have Terms
	if err := json.Unmarshal(line, &have); err != nil {
		return err
	}
	if have.Judge != t.Judge {
		return fmt.Errorf("version %d of the file; this program reads version %d", have.Judge, t.Judge)
	}
	if differ := journal.Differences(have, t); len(differ) > 0 {
		return fmt.Errorf("%w: %s", ErrTerms, strings.Join(differ, "; "))
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
	if err := v.Append(verdict); err != nil {
		return err
	}
	v.known[verdict.about()] = verdict.Evaluation
	return nil
}
