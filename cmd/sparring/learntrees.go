package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sparring/lab/match"
	"sparring/lab/train/trees"
)

// treesFlags holds the flags of the labelling of search trees.
type treesFlags struct {
	plan               trees.Plan
	game, rules, out   string
	trees, concurrency int
}

func learnTrees() *cobra.Command {
	f := &treesFlags{}
	c := &cobra.Command{
		Use:   "trees SOURCE...",
		Short: "Label positions of search trees with the scores of searches",
		Long: `Search positions of games, draw positions at random where these searches asked for
the static evaluation, and label each with the score of a search of its own. A tree
starts from a random position of a random game, or one or two further moves from it.
` + aSource + `
The output has the settings in its first line and a line of JSON for each tree. It
depends on the games and the seed, not on --concurrency. An interrupted run is resumed
by the same command; more --trees extend the file. See docs/training.md.`,
		Example: `  sparring learn trees --game gomoku --rules freestyle-15 --trees 75000 --out trees.jsonl games.jsonl`,
		Args:    someFiles(1, "games to read"),
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.game, "game", "", anyGame()+" (required)")
	flags.StringVar(&f.rules, "rules", "", "take only games under this rule set (default: any of the game)")
	fileFlag(flags, &f.out, "out", "file to write or to resume (required)")
	flags.IntVar(&f.trees, "trees", 10000, "trees in the file")
	flags.Uint64Var(&f.plan.TreeNodes, "tree-nodes", 1500, "nodes of the search that a tree is of")
	flags.Uint64Var(&f.plan.Nodes, "nodes", 500, "nodes of the search that labels a position")
	flags.IntVar(&f.plan.PerTree, "per-tree", 16, "maximum positions per tree")
	flags.BoolVar(&f.plan.Moves, "moves", false, "draw the positions whose moves a search runs through, to learn a policy from; the others have no moves")
	flags.Uint64Var(&f.plan.Seed, "seed", 1, "seed of all random choices")
	flags.IntVar(&f.concurrency, "concurrency", 1, "trees made in parallel")
	return c
}

func (f *treesFlags) run(c *cobra.Command, args []string) error {
	games := &trees.Games{Game: f.game}
	if err := f.validate(games); err != nil {
		return usage(err)
	}
	if err := eachGame(c, args, games.Add); err != nil {
		return err
	}
	reportSkipped(c, games.Others, "of another game than "+f.game)
	reportSkipped(c, games.Left, "other rules, no moves or duplicates")
	if games.Len() == 0 {
		return errors.New("no games to take positions from")
	}
	file, err := trees.Open(f.out, f.plan.Terms(games))
	if err != nil {
		return err
	}
	defer file.Close() // every line is written when it is appended
	if file.Torn() {
		fmt.Fprintf(c.ErrOrStderr(), "sparring: %s: the last line was truncated; its tree is made again\n", f.out)
	}
	if n := file.Trees(); n > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "%s: resuming after %s\n", f.out, count(n, "tree", "trees"))
	}
	show := newDisplay(c.ErrOrStderr())
	pace, begin, before := newPace(show, f.trees), time.Now(), file.Trees()
	err = f.plan.Run(c.Context(), games, file, f.trees, f.concurrency, func() {
		if n := file.Trees(); pace.Due(n) {
			show.Line("trees", fmt.Sprintf("%d/%d trees, %d positions, %s", n, f.trees, file.Positions(), timeLeft(begin, n-before, f.trees-before)))
		}
	})
	show.Clear()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted after %d of %d trees; run the same command to resume", file.Trees(), f.trees)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "games      %d (digest %s)\n", games.Len(), games.Digest())
	fmt.Fprintf(c.OutOrStdout(), "trees      %d\n", file.Trees())
	fmt.Fprintf(c.OutOrStdout(), "positions  %d\n", file.Positions())
	return nil
}

// validate checks the flags, and sets the rules of the games.
func (f *treesFlags) validate(games *trees.Games) error {
	errs := []error{f.plan.Validate()}
	rules, err := rulesOf(f.game, f.rules)
	if err != nil {
		errs = append(errs, err)
	} else if f.rules != "" {
		games.Rules = rules.Name
	}
	if f.out == "" {
		errs = append(errs, errors.New("--out is required"))
	}
	if f.trees < 1 {
		errs = append(errs, fmt.Errorf("--trees %d: want 1 or more", f.trees))
	}
	errs = append(errs, match.CheckConcurrency(f.concurrency))
	return errors.Join(errs...)
}
