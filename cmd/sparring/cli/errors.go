package cli

import (
	"context"
	"fmt"
	"strings"
)

// Exit codes.
const (
	ExitOK     = 0
	ExitFailed = 1 // the command failed
	ExitUsage  = 2 // invalid command line or settings; nothing was done

	// Of a match that was played to its end.
	ExitFaulty = 3  // a player lost every game by its own fault; a scenario of the conformance suite failed
	ExitH0     = 10 // --sprt accepted H0
	ExitH1     = 11 // --sprt accepted H1
)

// Outcome is the end of a command that only its exit code reports: the command has printed all
// that there is to say.
type Outcome int

// Error names the exit code.
func (o Outcome) Error() string { return fmt.Sprintf("exit code %d", int(o)) }

// textOf returns the text of a command's error for people: the end of its context is an
// interruption, whatever was done then.
func textOf(ctx context.Context, err error) string {
	text := err.Error()
	if ctx.Err() == nil {
		return text
	}
	for _, end := range []error{context.Canceled, context.Cause(ctx)} {
		if what, ok := strings.CutSuffix(text, end.Error()); ok {
			return what + "interrupted"
		}
	}
	return text
}

// usageError marks an invalid command line.
type usageError struct{ error }

// Unwrap returns what is invalid.
func (e *usageError) Unwrap() error { return e.error }

// Usage returns an error that ends the program with exit code 2.
func Usage(err error) error { return &usageError{err} }

// Usagef is [Usage] with a format, as of fmt.Errorf.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }
