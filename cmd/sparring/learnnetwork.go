package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/gomoku"
	gomokurules "sparring/game/gomoku"
	"sparring/internal/atomicfile"
	"sparring/lab/train/lookups"
)

// networkFlags holds the flags of the fit of a network.
type networkFlags struct {
	plan             lookups.Plan
	out, check, from string
	games            []string
	fromGames        lookups.GamesPlan
}

func learnNetwork() *cobra.Command {
	f := &networkFlags{}
	c := &cobra.Command{
		Use:   "network TREES...",
		Short: "Fit the network that corrects Gomoku's evaluation to labelled trees",
		Long: `Fit the network of look-ups that corrects Gomoku's evaluation to the files that
"learn trees" made. It prints the mean squared error of winning chances after each
pass, beside that of the evaluation without the network. The output is a network file
that names its inputs; --check reproduces such a file and compares.

With --games positions of games are learnt from as well, labelled with the game's
result mixed with the score of the search: what a search of the engine itself does not
see, results tell. A SOURCE is as for "learn trees". See docs/training.md.`,
		Example: `  sparring learn network --game gomoku --rules freestyle --out freestyle.network trees.jsonl
  sparring learn network --check freestyle.network trees.jsonl
  sparring learn network --game gomoku --rules freestyle --from freestyle.network --rate 0.03 --games games.jsonl --out next.network trees.jsonl
  sparring learn network --game gomoku --rules renju --from freestyle.network --rate 0.02 --out renju.network renju.jsonl`,
		Args: someFiles(1, "files of labelled trees"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.plan.Game, "game", "", "gomoku (required)")
	flags.StringVar(&f.plan.Rules, "rules", "", "the rules that the network is for: freestyle, standard or renju (required)")
	fileFlag(flags, &f.out, "out", "network file to write")
	flags.StringVar(&f.from, "from", "", "network file to start from, of these rules or of freestyle or standard (default: random numbers)")
	flags.StringVar(&f.check, "check", "", "network file to reproduce, with its options, from the same trees")
	flags.Uint64Var(&f.plan.Seed, "seed", 1, "seed of all random choices")
	flags.IntVar(&f.plan.HoldOut, "hold-out", 10, "reserve one of every N trees for validation; 0: none")
	flags.IntVar(&f.plan.Passes, "passes", 5, "passes over all positions")
	flags.Float64Var(&f.plan.Rate, "rate", 0.16, "learning rate at the start")
	flags.StringArrayVar(&f.games, "games", nil, "SOURCE of games to learn from besides the trees, repeatable")
	flags.IntVar(&f.fromGames.PerGame, "per-game", 8, "with --games: maximum positions per game")
	flags.Float64Var(&f.fromGames.Mix, "mix", 0.8, "with --games: share of the game's result in the label; the rest is the score of the search")
	c.MarkFlagsMutuallyExclusive("out", "check")
	return c
}

func (f *networkFlags) run(c *cobra.Command, paths []string) error {
	var want *lookups.Manifest
	if f.check != "" {
		var err error
		if want, err = lookups.ReadManifest(f.check); err != nil {
			return err
		}
		f.plan = want.Plan
		if learnt := want.Games > 0; learnt != (len(f.games) > 0) {
			return usagef("--games: %s was fitted to %d games besides the trees", f.check, want.Games)
		}
	} else if len(f.games) > 0 {
		f.plan.Games = f.fromGames
	}
	start, err := f.start()
	if err := errors.Join(err, f.validate(paths)); err != nil {
		return usage(err)
	}
	show := newDisplay(c.ErrOrStderr())
	got, data, err := f.fit(c, show, start, paths)
	show.Clear()
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	if want != nil {
		if err := want.Same(got, data); err != nil {
			return fmt.Errorf("%s is not reproduced: %w", f.check, err)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s is reproduced from %d positions\n", f.check, got.Positions)
		return nil
	}
	return atomicfile.WriteBytes(f.out, data)
}

// start reads the network to start from, and notes its digest in the plan.
func (f *networkFlags) start() (*gomoku.NetworkWeights, error) {
	data, digest, err := startingFile(f.from)
	if err != nil {
		return nil, err
	}
	if f.check != "" && digest != f.plan.From {
		return nil, otherStart(f.check, f.plan.From, digest)
	}
	f.plan.From = digest
	if data == nil {
		return nil, nil
	}
	_, w, err := gomoku.ReadNetworkWeights(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.from, err)
	}
	return w, nil
}

// fit reads the trees and fits the network.
func (f *networkFlags) fit(c *cobra.Command, show *display, start *gomoku.NetworkWeights, paths []string) (*lookups.Manifest, []byte, error) {
	out := c.OutOrStdout()
	reading := newPace(show, maxReading)
	positions, err := lookups.Load(c.Context(), f.plan.Rules, f.plan.HoldOut, f.plan.Seed, paths, func(n int) {
		if reading.Due(n) {
			show.Line("network", fmt.Sprintf("%d positions", n))
		}
	})
	if err != nil {
		return nil, nil, err
	}
	of := fmt.Sprint("trees      ", positions.Trees)
	if len(f.games) > 0 {
		linear, err := gomoku.NewLinear(f.plan.Rules, nil)
		if err != nil {
			return nil, nil, err
		}
		games, err := gamesFrom(c, f.games, f.plan.Game, linear.Fits)
		if err != nil {
			return nil, nil, err
		}
		inTrees := positions.Len()
		err = positions.AddGames(f.plan.Rules, games, f.plan.Games, f.plan.HoldOut, f.plan.Seed, func(int) error { return c.Context().Err() })
		if err != nil {
			return nil, nil, err
		}
		of += fmt.Sprintf(" with %d positions, games %d with %d", inTrees, positions.Games, positions.Len()-inTrees)
	}
	fmt.Fprintf(out, "%s (digest of the positions %s)\n", of, positions.Digest)
	fmt.Fprintf(out, "positions  %d, %d of trees left out: settled, or a five to be stopped\n", positions.Len(), positions.Left)
	begin := time.Now()
	var pace *pace
	return f.plan.Run(c.Context(), positions, start, engine.Build(), func(p lookups.Progress) {
		if pace == nil {
			fmt.Fprintf(out, "linear     error %.5f, held out %s\n", p.Linear.Learnt, heldOut(p.Linear.Held, "%.5f", p.Linear.Held))
			pace = newPace(show, p.Of*f.plan.Passes)
		}
		done := (p.Pass-1)*p.Of + p.Done
		if p.Loss != nil {
			show.Clear()
			fmt.Fprintf(out, "pass %-5d error %.5f, held out %s\n", p.Pass, p.Loss.Learnt, heldOut(p.Loss.Held, "%.5f", p.Loss.Held))
		} else if pace.Due(done) {
			show.Line("network", fmt.Sprintf("pass %d of %d: %d of %d positions, %s", p.Pass, f.plan.Passes, p.Done, p.Of, timeLeft(begin, done, p.Of*f.plan.Passes)))
		}
	})
}

// maxReading makes progress lines while positions are read rare.
const maxReading = 1 << 24

func (f *networkFlags) validate(sources []string) error {
	_, err := gomoku.NewLinear(f.plan.Rules, nil)
	errs := []error{err, f.plan.Validate()}
	if f.plan.Game != gomokurules.Name {
		errs = append(errs, fmt.Errorf("--game %.20q: want %s", f.plan.Game, gomokurules.Name))
	}
	if f.out == "" && f.check == "" {
		errs = append(errs, errors.New("--out or --check is required"))
	}
	return errors.Join(append(errs, checkOutput("--out", f.out, sources...))...)
}
