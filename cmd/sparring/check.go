package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/doctor"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/lab/match"
	"sparring/pipe/external"
	"sparring/pipe/playerspec"
)

// ladderClock is the default clock of the ladder.
const ladderClock = "60+1"

// checkFlags are the flags of the check command.
type checkFlags struct {
	game, rules, clock string
	moves              int
	deep               bool
}

func checkCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check SPEC",
		Short: "Check whether an engine can play",
		Long: `Check whether an engine can play: that its output is not buffered, that it plays
legal moves in the notation of its protocol, keeps its clock, stops when it is
told to, writes no debug output between its answers, stays within its memory
limit, and leaves no processes behind. It is asked for a move in some 60 positions
in which few moves are legal and a rule is easily broken (blocked horses, facing
kings, pinned pieces, forbidden points, enclosed amazons), and its moves are
counted against the rules where it has "go perft". Then it plays on against random
moves, in many short games: a fault that comes once in N moves is seen with 63 %
after N moves, with 95 % after 3 N. Each check prints a line with ok, warn, FAULT
or skip (not checked, and why); a fault shows what was sent and what came back,
and the rule that was broken. The exit code is 1 if there is a fault.

It takes half a minute; --moves 500 takes another half, and a night finds what
comes once in a million moves.

With --deep two short games follow, on a platform in this process, by the code of
a bot: with pondering, on the ladder's clock, against Sparring's engine, which
resigns after a dozen moves. An engine that has to be started again, ends
pondering by itself, answers oddly or loses on time has a fault there.`,
		Example: `  sparring engine check uci:fairy-stockfish
  sparring engine check gomocup:./pbrain,memory=350 --rules renju-15 --moves 500
  sparring engine check uci:./engine,arg=--uci --game amazons --deep`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.game, "game", "", "the game to play (default: xiangqi, or another that the protocol knows)")
	c.Flags().StringVar(&f.rules, "rules", "", "rule set, such as renju-15 (default: the game's)")
	c.Flags().IntVar(&f.moves, "moves", doctor.DefaultMoves, "moves of the long run against random moves; 0: none (sau: and botzone: engines, which keep their own time: none unless given)")
	c.Flags().BoolVar(&f.deep, "deep", false, "also play two games as a bot on the ladder would")
	c.Flags().StringVar(&f.clock, "clock", ladderClock, "clock of the games of --deep")
	return c
}

func (f *checkFlags) run(c *cobra.Command, args []string) error {
	spec, err := programSpec(c, args, &f.game)
	if err != nil {
		return err
	}
	options, err := f.options(c, spec)
	if err != nil {
		return usage(err)
	}
	var faults []string
	report := func(found doctor.Finding) {
		fmt.Fprintf(c.OutOrStdout(), "%-5s  %-8s  %s\n", found.Verdict, found.Check, found.Text)
		if found.Verdict == doctor.Bad {
			faults = append(faults, found.Check)
		}
	}
	err = doctor.Check(c.Context(), *spec, options, report)
	if err == nil && f.deep {
		err = f.playGames(c.Context(), spec, newDisplay(c.ErrOrStderr()), report)
	}
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("faults found: %s", strings.Join(slices.Compact(faults), ", "))
	}
	return err
}

// options checks the flags.
func (f *checkFlags) options(c *cobra.Command, spec *external.Spec) (o doctor.Options, err error) {
	limit, err := clock.Parse(f.clock)
	if err == nil && !limit.Traits().Limited {
		err = errors.New("must have a limit, or a game might never end")
	}
	switch {
	case err != nil:
		return o, fmt.Errorf("--clock: %w", err)
	case f.moves < 0 || f.moves > maxCheckMoves:
		return o, fmt.Errorf("--moves %d: must be 0 to %d", f.moves, maxCheckMoves)
	}
	o = doctor.Options{Game: f.game, Moves: f.moves}
	if spec.Dialect.Untimed() && !c.Flags().Changed("moves") {
		o.Moves = 0
	}
	if f.rules == "" {
		return o, nil
	}
	rules, err := catalog.RulesOf(f.game, f.rules)
	switch {
	case err != nil:
	case strings.Contains(rules.Name, "+"):
		err = fmt.Errorf("%s has an opening procedure, which the check leaves out: give the rules without it", rules.Name)
	default:
		err = spec.Dialect.CheckRules(rules)
		o.Rules = rules.Name
	}
	if err != nil {
		return o, fmt.Errorf("--rules: %w", err)
	}
	return o, nil
}

// maxCheckMoves bounds --moves: some days.
const maxCheckMoves = 10_000_000

// playGames plays the games of --deep.
func (f *checkFlags) playGames(ctx context.Context, spec *external.Spec, show *display, report func(doctor.Finding)) error {
	m := matchFlags{game: f.game, rules: f.rules, a: string(doctor.Checked), b: string(doctor.Opponent), tournament: string(match.RoundRobin), games: 2, clock: f.clock,
		seed: 1, concurrency: 1, margin: 50 * time.Millisecond, patience: time.Minute, hash: 1, threads: 1, over: overNATS}
	if m.rules == "" {
		m.rules = spec.Dialect.Rules(f.game)
	}
	if !spec.Dialect.SetsUp() || spec.Dialect.UsualStart() { // an opening is a position there
		m.openings = noOpenings
	}
	plan, err := m.plan()
	if err != nil {
		return err
	}
	pace := newPace(show, doctor.MovesOfGames)
	games := doctor.Games{Spec: *spec, Plan: *plan, Progress: func(moves int, line string) {
		if pace.Due(moves) {
			show.Line("check", line)
		}
	}}
	err = games.Run(ctx, func(found doctor.Finding) {
		show.Clear()
		report(found)
	})
	show.Clear()
	return err
}

// programSpec returns the program that the only argument names. It sets the game to
// the first that the protocol plays if there is none.
func programSpec(c *cobra.Command, args []string, gameName *string) (*external.Spec, error) {
	if len(args) != 1 {
		return nil, usagef("%s: want one spec, such as uci:fairy-stockfish (see %s --help)", c.CommandPath(), c.CommandPath())
	}
	spec, err := playerspec.Parse(args[0])
	if err != nil {
		return nil, usage(err)
	}
	if spec.Outside == nil {
		return nil, usagef("%s: %q is our own engine; want a program, such as uci:fairy-stockfish", c.CommandPath(), args[0])
	}
	if *gameName == "" {
		*gameName = spec.Outside.Dialect.Games()[0]
	}
	if err := spec.Check(*gameName); err != nil {
		return nil, usage(err)
	}
	return spec.Outside, nil
}
