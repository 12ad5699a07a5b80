package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/amazons"
	"sparring/engine/gomoku"
	amazonsrules "sparring/game/amazons"
	gomokurules "sparring/game/gomoku"
	"sparring/lab/tune"
)

// movesFlags holds the flags of the fit of a policy.
type movesFlags struct {
	plan tune.PolicyPlan
	out  string
}

func learnMoves() *cobra.Command {
	f := &movesFlags{}
	c := &cobra.Command{
		Use:   "moves SOURCE...",
		Short: "Fit the policy that orders moves to the moves that searches chose",
		Long: `Fit the policy that orders moves, by maximum likelihood, to the moves that searches
chose in games. A SOURCE is as for "learn tune"; the deeper the searches of its games,
the better. The output is a weights file that names its inputs and says how often the
chosen move of a game left out is first, and among the first five. See
docs/training.md.`,
		Example: `  sparring learn moves --game gomoku --rules freestyle --out moves.json games.jsonl
  sparring learn moves --game amazons --out moves.json games.jsonl`,
		Args: someFiles(1, "games to read"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.plan.Game, "game", "", "gomoku or amazons (required)")
	flags.StringVar(&f.plan.Rules, "rules", "", "freestyle, standard or renju (required for Gomoku)")
	flags.StringVar(&f.out, "out", "", "weights file to write (required)")
	flags.Uint64Var(&f.plan.Sampling.Seed, "seed", 1, "seed of the random sample of positions")
	flags.IntVar(&f.plan.Sampling.PerGame, "per-game", 20, "maximum positions per game")
	flags.IntVar(&f.plan.Sampling.Bound, "bound", 20000, "exclude positions with an absolute score of this or more")
	flags.IntVar(&f.plan.Sampling.HoldOut, "hold-out", 10, "reserve one of every N games for validation; 0: none")
	flags.IntVar(&f.plan.Fit.Passes, "passes", 200, "passes over all positions")
	flags.Float64Var(&f.plan.Fit.Rate, "rate", 0.05, "learning rate, in natural logarithms")
	flags.Float64Var(&f.plan.Fit.Pull, "pull", 0.00001, "regularization toward 0")
	return c
}

// policy returns the policy to fit.
func (f *movesFlags) policy() (tune.Policy, error) {
	name, rules := f.plan.Game, f.plan.Rules
	switch {
	case name == gomokurules.Name:
		return gomoku.NewChoices(rules)
	case name != amazonsrules.Name:
		return nil, fmt.Errorf("--game %.20q: want %s or %s", name, gomokurules.Name, amazonsrules.Name)
	case rules != "":
		return nil, fmt.Errorf("--rules %.20q: the order of %s is for all its boards", rules, name)
	}
	return amazons.NewChoices(), nil
}

func (f *movesFlags) run(c *cobra.Command, args []string) error {
	var errs []error
	if f.out == "" {
		errs = append(errs, errors.New("--out is required"))
	}
	policy, err := f.policy()
	if err := errors.Join(append(errs, err, checkOutput("--out", f.out, args...), f.plan.Sampling.Validate(), f.plan.Fit.Validate())...); err != nil {
		return &usageError{err}
	}
	games, err := gamesFrom(c, args, f.plan.Game)
	if err != nil {
		return err
	}
	show := newDisplay(c.ErrOrStderr())
	got, err := f.plan.Run(c.Context(), policy, games, progressOfTuning(show))
	show.clear()
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
	fmt.Fprintf(out, "positions  %d\n", got.Positions)
	for _, a := range []struct {
		name string
		tune.Accuracy
	}{{"learnt", got.Learnt}, {"held out", got.Held}} {
		fmt.Fprintf(out, "%-10s %s\n", a.name, heldOut(a.Loss, "loss %.4f, first %.1f %%, among five %.1f %%", a.Loss, 100*a.First, 100*a.Top5))
	}
	fmt.Fprintf(out, "weights    %d\n", len(got.Weights))
	return got.Write(f.out)
}
