// Package cli is what the commands of the program share: how one is run and ends (exit codes,
// usage errors, interruptions), and flags for files to write. It knows none of the commands.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"sparring/internal/journal"
	"sparring/internal/terminal"
)

// Prepare makes a command the root of all: errors are left to Execute, flags say what they want,
// and help refuses what is no command.
func Prepare(root *cobra.Command) {
	root.SilenceUsage, root.SilenceErrors, root.CompletionOptions.HiddenDefaultCmd = true, true, true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return Usagef("%w (see %s --help)", PlainFlagError(err), c.CommandPath())
	})
	root.SetHelpCommand(helpCommand())
}

// Execute runs the command of the arguments below root, which is prepared, with these streams. It returns the exit
// code of the program.
func Execute(root *cobra.Command, args []string, in io.Reader, out, errs io.Writer) int {
	root.SetArgs(args)
	command, _, err := root.Find(args)
	ctx, stop := signal.NotifyContext(context.Background(), EndSignals(err == nil && command.Name() == "bot")...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends a command that does not end by the first, as while it opens a FIFO
	root.SetIn(in)
	o := terminal.NewOutput(out)
	root.SetOut(o)
	root.SetErr(errs)
	err = root.ExecuteContext(ctx)
	code, printed := errors.AsType[Outcome](err)
	if err == nil || printed {
		if err = o.Failed(); err == nil {
			return int(code)
		}
	}
	text := textOf(ctx, err)
	if !strings.HasPrefix(text, "sparring ") { // else it begins with the command
		text = "sparring: " + text
	}
	fmt.Fprintln(errs, text)
	_, invalid := errors.AsType[*usageError](err)
	_, unfit := errors.AsType[*journal.UnfitError](err) // the same command would never go on
	if invalid || unfit {
		return ExitUsage
	}
	return ExitFailed
}
