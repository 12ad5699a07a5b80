// Package conformance checks programs that speak the protocol of docs/protocol.md.
//
// [CheckBot] is a platform for a bot under test, and a bad one: it loses states, repeats
// them, hands the seat over, is cut off. [CheckPlatform] plays on a platform under test
// with players that are no better. Each scenario asks for one thing that the protocol
// demands, and reports what was seen.
//
// The other side is package scripted, bad networks are package netfault, and a [Program]
// is a process under test that the suite may kill and pause.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"sparring/internal/texttable"
)

// Verdict is the outcome of a scenario.
type Verdict string

// The verdicts.
const (
	Pass     Verdict = "PASS"
	Fail     Verdict = "FAIL"
	NotTried Verdict = "not tried"
)

// Result is the outcome of one scenario.
type Result struct {
	Scenario string  `json:"scenario"`
	Asks     string  `json:"asks"` // what the program must do
	Verdict  Verdict `json:"verdict"`
	Seen     string  `json:"seen"` // what it did, or why the scenario was not tried
	TookMS   int64   `json:"took_ms"`
}

// Report is the outcome of all scenarios.
type Report struct {
	Side    string   `json:"side"`              // "bot" or "platform"
	Program string   `json:"program,omitempty"` // as it names itself
	Results []Result `json:"results"`
}

// Count returns how many scenarios ended in a way.
func (r Report) Count(v Verdict) (n int) {
	for _, res := range r.Results {
		if res.Verdict == v {
			n++
		}
	}
	return n
}

// Description describes a scenario without running it.
type Description struct {
	Scenario string `json:"scenario"`
	Asks     string `json:"asks"`
	Why      string `json:"why"` // the section of docs/protocol.md, or the known fault of other programs
	Needs    string `json:"needs,omitempty"`
}

// Options choose scenarios.
type Options struct {
	Only []string // names, or patterns as path.Match has them; empty: all
	Slow bool     // also those that take longer than some seconds
	// Limit bounds each scenario; 0: a minute and a half.
	Limit time.Duration
	// Done, unless nil, is called after each scenario.
	Done func(Result)
}

// defaultLimit bounds a scenario.
const defaultLimit = 90 * time.Second

// Validate returns an error for a pattern that is malformed or matches none of the
// scenarios.
func (o Options) Validate(all []Description) error {
	var errs []error
	for _, pattern := range o.Only {
		found := false
		for _, d := range all {
			ok, err := path.Match(pattern, d.Scenario)
			if err != nil {
				errs = append(errs, fmt.Errorf("pattern %.40q: %w", pattern, err))
				break
			}
			found = found || ok
		}
		if !found {
			errs = append(errs, fmt.Errorf("no scenario is named %.40q", pattern))
		}
	}
	return errors.Join(errs...)
}

func (o Options) wants(name string) bool {
	for _, pattern := range o.Only {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			return true
		}
	}
	return len(o.Only) == 0
}

// What a scenario may need beyond a connection.
type need string

const (
	needProxy   need = "a connection through the suite's proxy"
	needProgram need = "a process that the suite has started (--exec)"
	needSlow    need = "more time (--slow)"
	needDisk    need = "a small disk for the NATS server of the suite"
)

// scenario is one scenario for trials of type T.
type scenario[T any] struct {
	name, asks, why string
	needs           []need
	run             func(T) (seen string)
}

// rig is what a scenario runs on.
type rig interface {
	has(need) bool
	// begin prepares a scenario, and returns an error if the program under test is not
	// there.
	begin(ctx context.Context, name string) error
	// end cleans up after a scenario, and returns what the program did wrong beside it.
	end(ctx context.Context) error
}

// plyCount writes a number of plies.
func plyCount(n int) string { return texttable.Count(n, "ply", "plies") }

func describe[T any](all []scenario[T]) []Description {
	list := make([]Description, len(all))
	for i, s := range all {
		list[i] = Description{Scenario: s.name, Asks: s.asks, Why: s.why}
		for _, n := range s.needs {
			if list[i].Needs != "" {
				list[i].Needs += ", "
			}
			list[i].Needs += string(n)
		}
	}
	return list
}

// runAll runs the chosen scenarios one after the other on a rig; of makes its trials. It
// returns the cause of ctx when that ends.
func runAll[T any](ctx context.Context, r rig, all []scenario[T], of func(trial) T, o Options) ([]Result, error) {
	limit := cmp.Or(o.Limit, defaultLimit)
	var results []Result
	for _, s := range all {
		if !o.wants(s.name) {
			continue
		}
		began := time.Now()
		res := Result{Scenario: s.name, Asks: s.asks}
		if res.Seen = missing(r, s.needs, o.Slow); res.Seen != "" {
			res.Verdict = NotTried
		} else {
			res.Verdict, res.Seen = runOne(ctx, r, s.name, limit, func(t trial) string { return s.run(of(t)) })
		}
		if err := context.Cause(ctx); err != nil {
			return results, err
		}
		res.TookMS = time.Since(began).Milliseconds()
		results = append(results, res)
		if o.Done != nil {
			o.Done(res)
		}
	}
	return results, nil
}

// missing names the first need that is not there.
func missing(r rig, needs []need, slow bool) string {
	for _, n := range needs {
		if n == needSlow && !slow || n != needSlow && !r.has(n) {
			return "needs " + string(n)
		}
	}
	return ""
}

func runOne(ctx context.Context, r rig, name string, limit time.Duration, run func(trial) string) (Verdict, string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := r.begin(ctx, name); err != nil {
		return NotTried, err.Error()
	}
	verdict, seen := runTrial(ctx, run)
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer stop()
	beside := r.end(after)
	switch {
	case beside == nil || verdict == NotTried:
		return verdict, seen
	case verdict == Fail: // often the reason, such as a malformed message
		return Fail, fmt.Sprintf("%s; beside that: %v", seen, beside)
	}
	return Fail, beside.Error()
}
