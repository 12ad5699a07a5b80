package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sparring/pipe/external"
	"sparring/pipe/playerspec"
)

func checkCommand() *cobra.Command {
	var gameName string
	c := &cobra.Command{
		Use:   "check SPEC",
		Short: "Check whether an engine can play",
		Long: `Check whether an engine can play: that its output is not buffered, that it plays
legal moves in the notation of its protocol, keeps its clock, stops when it is
told to, writes no debug output between its answers, stays within its memory
limit, and leaves no processes behind. Each check prints a line with ok, warn,
FAULT or skip (not supported by the protocol); a fault shows what was sent and
what came back. The exit code is 1 if there is a fault.`,
		Example: `  sparring engine check uci:fairy-stockfish
  sparring engine check gomocup:./pbrain,memory=350
  sparring engine check uci:./engine,arg=--uci --game amazons`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			spec, err := programSpec(c, args, &gameName)
			if err != nil {
				return err
			}
			var faults []string
			err = external.Check(c.Context(), *spec, gameName, func(f external.Finding) {
				fmt.Fprintf(c.OutOrStdout(), "%-5s  %-8s  %s\n", f.Verdict, f.Check, f.Text)
				if f.Verdict == external.Bad {
					faults = append(faults, f.Check)
				}
			})
			if err == nil && len(faults) > 0 {
				err = fmt.Errorf("faults found: %s", strings.Join(slices.Compact(faults), ", "))
			}
			return err
		},
	}
	c.Flags().StringVar(&gameName, "game", "", "the game to play (default: the first of the protocol)")
	return c
}

// programSpec returns the program that the only argument names. It sets the game to
// the first that the protocol plays if there is none.
func programSpec(c *cobra.Command, args []string, gameName *string) (*external.Spec, error) {
	if len(args) != 1 {
		return nil, usagef("%s: want one spec, such as uci:fairy-stockfish (see %s --help)", c.CommandPath(), c.CommandPath())
	}
	spec, err := playerspec.Parse(args[0])
	if err != nil {
		return nil, &usageError{err}
	}
	if spec.Outside == nil {
		return nil, usagef("%s: %q is our own engine; want a program, such as uci:fairy-stockfish", c.CommandPath(), args[0])
	}
	if *gameName == "" {
		*gameName = spec.Outside.Dialect.Games()[0]
	}
	if err := spec.Check(*gameName); err != nil {
		return nil, &usageError{err}
	}
	return spec.Outside, nil
}
