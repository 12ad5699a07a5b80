package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// trial is one run of a scenario. It ends as a test does: fail and skip stop the scenario's
// goroutine, so that its steps return values and no errors. Only that goroutine may call them,
// and no hook of the other side, which runs in another one.
type trial struct {
	ctx     context.Context
	prefix  string // of every failure
	outcome *outcome
}

// outcome is the end of a trial. Trials with shorter contexts share it.
type outcome struct {
	verdict  Verdict
	seen     string
	cleanups []func()
}

// runTrial runs a scenario, which returns what it saw of a program that passes.
func runTrial(ctx context.Context, scenario func(trial) string) (Verdict, string) {
	end := &outcome{verdict: Fail}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range end.cleanups {
				f()
			}
		}()
		seen := scenario(trial{ctx: ctx, outcome: end})
		end.verdict, end.seen = Pass, seen
	}()
	<-done
	return end.verdict, end.seen
}

// failf ends the scenario: the program did something wrong.
func (t trial) failf(format string, args ...any) {
	t.end(Fail, t.prefix+fmt.Sprintf(format, args...))
}

// skipf ends the scenario without a verdict on the program.
func (t trial) skipf(format string, args ...any) { t.end(NotTried, fmt.Sprintf(format, args...)) }

// must ends the scenario if there is an error.
func (t trial) must(err error) {
	if skipped, ok := errors.AsType[*notTriedError](err); ok {
		t.skipf("%s", skipped.why)
	}
	if err != nil {
		t.failf("%v", err)
	}
}

// mustf is must with an explanation before the error.
func (t trial) mustf(err error, format string, args ...any) {
	if err != nil {
		t.failf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

func (t trial) end(v Verdict, seen string) {
	t.outcome.verdict, t.outcome.seen = v, seen
	runtime.Goexit()
}

// within returns a trial with less time.
func (t trial) within(d time.Duration) trial {
	ctx, cancel := context.WithTimeout(t.ctx, d)
	t.outcome.cleanups = append(t.outcome.cleanups, cancel)
	t.ctx = ctx
	return t
}

// during returns a trial with a longer prefix of its failures.
func (t trial) during(format string, args ...any) trial {
	t.prefix += fmt.Sprintf(format, args...) + ": "
	return t
}

// sleep waits for d. The scenario fails if its time ends first.
func (t trial) sleep(d time.Duration) { t.must(sleep(t.ctx, d)) }

// notTriedError is returned by a step that the circumstances forbid.
type notTriedError struct{ why string }

func (e *notTriedError) Error() string { return "not tried: " + e.why }

func notTried(format string, args ...any) error { return &notTriedError{fmt.Sprintf(format, args...)} }
