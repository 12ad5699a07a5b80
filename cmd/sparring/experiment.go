package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sparring/lab/match"
	"sparring/lab/study/experiment"
	"sparring/pipe/playerspec"
)

func experimentCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "experiment",
		Short: "Repeat an experiment of a paper and print its tables beside the paper's",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("which experiment? (see sparring experiment --help)")
		},
	}
	c.AddCommand(experimentGuo2012())
	return c
}

// guo2012Flags are the flags of the experiment of the paper on Amazons.
type guo2012Flags struct {
	times       []time.Duration
	games       int
	openings    string
	keep        string
	margin      time.Duration
	seed        uint64
	concurrency int
	hash        int
}

func experimentGuo2012() *cobra.Command {
	var f guo2012Flags
	c := &cobra.Command{
		Use:   "guo2012",
		Short: "Evaluations of Amazons: weights by stage against constant weights and weights by progress",
		Long: `Play tables 2 to 4 of Guo, Li, Bao, "Research on evaluation function computer
game of Amazon", 2012: eval=staged against eval=fixed and eval=lieberum, with
either to move first, at each of the times a move. The tables are printed beside
the paper's, with mean nodes and depth a move. With --keep every finished game
is saved, and the same command goes on where it was stopped. See
docs/experiments.md.`,
		Example: `  sparring experiment guo2012 --time 10s,20s,30s --games 20 --openings none --keep guo2012
  sparring experiment guo2012 --time 100ms,200ms,300ms --games 100 --keep guo2012`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fl := c.Flags()
	fl.DurationSliceVar(&f.times, "time", experiment.Guo2012Times(), "times a move")
	fl.IntVar(&f.games, "games", experiment.Guo2012Games, "games in each row of a table: with the same players and the same one to move first")
	fl.StringVar(&f.openings, "openings", shippedOpenings, "opening file, shipped, or none: always from the usual start, as in the paper")
	fileFlag(fl, &f.keep, "keep", "folder for the games, one file for each match; existing ones are resumed")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	fl.DurationVar(&f.margin, "margin", time.Second, "how far a move may exceed its time without losing the game; moves over by 20 ms are counted as late")
	fl.IntVar(&f.concurrency, "concurrency", 1, "games played in parallel")
	fl.IntVar(&f.hash, "hash", 64, "hash table per player, MiB")
	return c
}

// run plays all matches and prints the tables, those so far if it is interrupted.
func (f *guo2012Flags) run(c *cobra.Command) error {
	plans, err := f.plans()
	if err != nil {
		return usage(err)
	}
	if f.keep != "" {
		if err := os.MkdirAll(f.keep, 0o755); err != nil {
			return err
		}
	}
	var rounds []experiment.Guo2012Round
	var stopped error
	for i, t := range f.times {
		round := experiment.Guo2012Round{Time: t}
		for k, opponent := range experiment.Guo2012Opponents() {
			path := ""
			if f.keep != "" {
				path = filepath.Join(f.keep, fmt.Sprintf("%v-%s.jsonl", t, opponent))
			}
			standing, err := playMatch(c.Context(), c, plans[i][k], path)
			if standing != nil && standing.Games > 0 {
				round.Standings = append(round.Standings, standing)
			}
			if err != nil {
				stopped = err
				break
			}
		}
		if len(round.Standings) > 0 {
			rounds = append(rounds, round)
		}
		if stopped != nil {
			break
		}
	}
	if err := experiment.WriteGuo2012(c.OutOrStdout(), rounds); err != nil {
		return err
	}
	if errors.Is(stopped, context.Canceled) {
		stopped = errors.New("interrupted")
		if f.keep != "" {
			stopped = fmt.Errorf("%w; run the same command to resume", stopped)
		}
	}
	return stopped
}

// plans returns the match at each time against each opponent.
func (f *guo2012Flags) plans() (all [][]*match.Plan, err error) {
	if len(f.times) == 0 {
		return nil, errors.New("--time: want at least one")
	}
	if f.games < 1 {
		return nil, fmt.Errorf("--games %d: want at least 1", f.games)
	}
	for i, t := range f.times {
		switch {
		case t < time.Millisecond || t%time.Millisecond != 0:
			return nil, fmt.Errorf("--time %v: want a whole number of milliseconds, at least 1ms", t)
		case slices.Contains(f.times[:i], t):
			return nil, fmt.Errorf("--time %v twice", t)
		}
		var round []*match.Plan
		for _, opponent := range experiment.Guo2012Opponents() {
			m := matchFlags{
				game: "amazons", tournament: string(match.RoundRobin), games: 2 * f.games,
				a: evalSpec(experiment.Guo2012Staged), b: evalSpec(opponent),
				clock: "movetime=" + t.String(), margin: f.margin, patience: defaultPatience,
				openings: f.openings, seed: f.seed, concurrency: f.concurrency, hash: f.hash, threads: 1,
			}
			plan, err := m.plan()
			if err != nil {
				return nil, err
			}
			round = append(round, plan)
		}
		all = append(all, round)
	}
	return all, nil
}

// evalSpec is the spec of our engine with a named evaluation.
func evalSpec(eval string) string {
	return fmt.Sprintf("%s:name=%s,eval=%s", playerspec.Self, eval, eval)
}
