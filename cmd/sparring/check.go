package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sparring/game/clock"
	"sparring/pipe/external"
	"sparring/pipe/playerspec"
)

func checkCommand() *cobra.Command {
	var gameName, clockText string
	var deep bool
	c := &cobra.Command{
		Use:   "check SPEC",
		Short: "Check whether an engine can play",
		Long: `Check whether an engine can play: that its output is not buffered, that it plays
legal moves in the notation of its protocol, keeps its clock, stops when it is
told to, writes no debug output between its answers, stays within its memory
limit, and leaves no processes behind. Each check prints a line with ok, warn,
FAULT or skip (not checked, and why); a fault shows what was sent and what came
back. The exit code is 1 if there is a fault.

With --deep two short games follow, on a platform in this process, by the code of
a bot: with pondering, on the ladder's clock, against Sparring's engine, which
resigns after a dozen moves. An engine that has to be started again, ends
pondering by itself, answers oddly or loses on time has a fault there.`,
		Example: `  sparring engine check uci:fairy-stockfish
  sparring engine check gomocup:./pbrain,memory=350
  sparring engine check uci:./engine,arg=--uci --game amazons --deep`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			spec, err := programSpec(c, args, &gameName)
			if err != nil {
				return err
			}
			limit, err := clock.Parse(clockText)
			if err == nil && !limit.Traits().Limited {
				err = errors.New("want a limit, or a game might never end")
			}
			if err != nil {
				return usagef("--clock: %w", err)
			}
			var faults []string
			report := func(f external.Finding) {
				fmt.Fprintf(c.OutOrStdout(), "%-5s  %-8s  %s\n", f.Verdict, f.Check, f.Text)
				if f.Verdict == external.Bad {
					faults = append(faults, f.Check)
				}
			}
			err = external.Check(c.Context(), *spec, gameName, report)
			if err == nil && deep {
				err = newDeepCheck(*spec, gameName, clockText, newDisplay(c.ErrOrStderr())).run(c.Context(), report)
			}
			if err == nil && len(faults) > 0 {
				err = fmt.Errorf("faults found: %s", strings.Join(slices.Compact(faults), ", "))
			}
			return err
		},
	}
	c.Flags().StringVar(&gameName, "game", "", "the game to play (default: xiangqi, or another that the protocol knows)")
	c.Flags().BoolVar(&deep, "deep", false, "also play two games as a bot on the ladder would")
	c.Flags().StringVar(&clockText, "clock", ladderClock, "clock of the games of --deep")
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
