package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sparring/configs"
)

// EndSignals returns the signals that end a command. The end of its terminal is one, unless it was
// started with nohup, or reads its settings again then.
func EndSignals(rereads bool) []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !rereads && !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// helpCommand is cobra's, but refuses what is no command instead of describing another one.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Describe a command",
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return Usagef("unknown command %q (see sparring --help)", strings.Join(args, " "))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// PlainFlagError says what a flag wants instead of what Go's parser found.
func PlainFlagError(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	flag := bad.GetFlag()
	if _, ok := flag.Value.(FileValue); ok {
		return fmt.Errorf("--%s %.40q: %w", flag.Name, bad.GetValue(), bad.Unwrap())
	}
	want := configs.Wanted(flag.Value.Type())
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %.40q: want %s", flag.Name, bad.GetValue(), want)
}

// NoArgs refuses arguments, as cobra.PositionalArgs.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if !c.HasParent() { // main begins errors with the program's name
			return Usagef("unknown command %q (see %s --help)", args[0], c.CommandPath())
		}
		return Usagef("%s: unexpected %q (see %s --help)", c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}

// PrintJSON writes a value for people who read JSON, indented.
func PrintJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Group runs a command that only groups others.
func Group(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s: no command %q (see %s --help)", c.CommandPath(), args[0], c.CommandPath())
	}
	return c.Help()
}
