package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/amazons"
	"sparring/engine/gomoku"
	amazonsrules "sparring/game/amazons"
	gomokurules "sparring/game/gomoku"
	"sparring/lab/train/tune"
)

// movesFlags holds the flags of the fit of a policy.
type movesFlags struct {
	plan  tune.PolicyPlan
	from  string
	trees []string
	out   string
}

func learnMoves() *cobra.Command {
	f := &movesFlags{}
	c := &cobra.Command{
		Use:   "moves [SOURCE...]",
		Short: "Fit the policy that orders moves to the moves that searches chose",
		Long: `Fit the policy that orders moves, by maximum likelihood, to the moves that searches
chose in games. A SOURCE is as for "learn tune"; the deeper the searches of its games,
the better. With --trees positions of search trees are learnt from as well, by the
moves that "learn trees --moves" found. The output is a weights file that names its
inputs and says how often the chosen move of a game or tree left out is first, and
among the first five. See docs/training.md.`,
		Example: `  sparring learn moves --game gomoku --rules freestyle --out moves.json games.jsonl
  sparring learn moves --game amazons --out moves.json games.jsonl`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.plan.Game, "game", "", "gomoku or amazons (required)")
	flags.StringVar(&f.from, "from", "", "weights file of an earlier round to start from (Gomoku)")
	flags.StringVar(&f.plan.Rules, "rules", "", "freestyle, standard or renju (required for Gomoku)")
	flags.StringArrayVar(&f.trees, "trees", nil, "file of labelled trees with moves to learn from besides the games, repeatable")
	fileFlag(flags, &f.out, "out", "weights file to write (required)")
	flags.Uint64Var(&f.plan.Sampling.Seed, "seed", 1, "seed of the random sample of positions")
	flags.IntVar(&f.plan.Sampling.PerGame, "per-game", 20, "maximum positions per game")
	flags.IntVar(&f.plan.Sampling.Bound, "bound", 20000, "exclude positions with an absolute score of this or more")
	flags.IntVar(&f.plan.Sampling.HoldOut, "hold-out", 10, "reserve one of every N games for validation; 0: none")
	flags.IntVar(&f.plan.Fit.Passes, "passes", 200, "passes over all positions")
	flags.Float64Var(&f.plan.Fit.Rate, "rate", 0.05, "learning rate, in natural logarithms")
	flags.Float64Var(&f.plan.Fit.Pull, "pull", 0.00001, "regularization toward 0")
	return c
}

// policy returns the policy to fit, and notes in the plan what it starts from.
func (f *movesFlags) policy() (tune.Policy, error) {
	from, digest, err := startingFile(f.from)
	if err != nil {
		return nil, err
	}
	f.plan.From = digest
	name, rules := f.plan.Game, f.plan.Rules
	switch {
	case name == gomokurules.Name:
		l, err := gomoku.NewChoices(rules, from)
		if err != nil && from != nil {
			err = fmt.Errorf("%s: %w", f.from, err)
		}
		if err != nil {
			return nil, err
		}
		return l, nil
	case name != amazonsrules.Name:
		return nil, fmt.Errorf("--game %.20q: want %s or %s", name, gomokurules.Name, amazonsrules.Name)
	case from != nil:
		return nil, fmt.Errorf("--from: the order of %s starts from 0", name)
	case rules != "":
		return nil, fmt.Errorf("--rules %.20q: the order of %s is for all its boards", rules, name)
	}
	return amazons.NewChoices(), nil
}

func (f *movesFlags) run(c *cobra.Command, args []string) error {
	var errs []error
	if len(args)+len(f.trees) == 0 {
		errs = append(errs, errors.New("want games to read, or --trees"))
	}
	if f.out == "" {
		errs = append(errs, errors.New("--out is required"))
	}
	policy, err := f.policy()
	if err := errors.Join(append(errs, err, checkOutput("--out", f.out, append(slices.Clone(f.trees), args...)...), f.plan.Sampling.Validate(), f.plan.Fit.Validate())...); err != nil {
		return usage(err)
	}
	games, err := gamesFrom(c, args, f.plan.Game, policy.Fits)
	if err != nil {
		return err
	}
	trees, err := tune.LoadTreeChoices(c.Context(), policy, f.plan.Game, f.plan.Sampling, f.trees)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	show := newDisplay(c.ErrOrStderr())
	got, err := f.plan.Run(c.Context(), policy, games, trees, progressOfTuning(show))
	show.Clear()
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	got.Build = engine.Build()
	if got.Matches, err = termsOf(args); err != nil {
		return err
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "games      %d (digest %s)\n", got.Games, got.GamesDigest)
	printTrees(out, got.Trees, got.TreesDigest)
	fmt.Fprintf(out, "positions  %d\n", got.Positions)
	if got.Before != nil {
		fmt.Fprintf(out, "before     %s\n", accuracy(*got.Before))
	}
	fmt.Fprintf(out, "learnt     %s\n", accuracy(got.Learnt))
	fmt.Fprintf(out, "held out   %s\n", accuracy(got.Held))
	fmt.Fprintf(out, "weights    %d\n", len(got.Weights))
	return got.Write(f.out)
}

func accuracy(a tune.Accuracy) string {
	return heldOut(a.Loss, "loss %.4f, first %.1f %%, among five %.1f %%", a.Loss, 100*a.First, 100*a.Top5)
}
