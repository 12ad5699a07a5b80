package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/amazons"
	"sparring/engine/gomoku"
	"sparring/engine/xiangqi"
	"sparring/game"
	amazonsrules "sparring/game/amazons"
	gomokurules "sparring/game/gomoku"
	xiangqirules "sparring/game/xiangqi"
	"sparring/lab/train/trees"
	"sparring/lab/train/tune"
	"sparring/record"
	"sparring/record/format"
)

func learnCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "learn",
		Short: "Tune evaluations and options from games and measure the effects of search techniques",
		RunE:  func(c *cobra.Command, args []string) error { return subcommand(c, args) },
	}
	c.AddCommand(learnTune(), learnMoves(), learnTrees(), learnNetwork(), learnWorth(), learnSPSA())
	return c
}

// tuneFlags holds the flags of a tuning run.
type tuneFlags struct {
	plan             tune.Plan
	out, keep, check string
	from             string
	trees            []string
}

func learnTune() *cobra.Command {
	f := &tuneFlags{}
	usual := tune.Usual(0)
	c := &cobra.Command{
		Use:   "tune SOURCE...",
		Short: "Fit the weights of an evaluation to games",
		Long: `Fit the weights of an evaluation to quiet positions of games, using the results
of the games and the scores of the searches.
` + aSource + `
With --trees positions of search trees are learnt from as well, by the scores that
"learn trees" gave them.
The output is a weights file that names its inputs; --check reproduces such a
file and compares. With --keep an interrupted run can be resumed. See
docs/training.md.`,
		Example: `  sparring learn tune --game xiangqi --out weights.json games.jsonl
  sparring learn tune --check weights.json games.jsonl`,
		Args: someFiles(1, "games to read"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.plan.Game, "game", "", "xiangqi, gomoku or amazons (required)")
	flags.StringVar(&f.plan.Rules, "rules", "", "the rules that the weights are for: Gomoku's freestyle, standard or renju, or the Amazons board, 10x10 or 8x8")
	flags.StringVar(&f.from, "from", "", "weights file of an earlier round to start from (Gomoku)")
	fileFlag(flags, &f.out, "out", "weights file to write")
	fileFlag(flags, &f.keep, "keep", "checkpoint file; the same command resumes from it")
	flags.StringVar(&f.check, "check", "", "weights file to reproduce, with its options, from the same games")
	flags.Uint64Var(&f.plan.Sampling.Seed, "seed", 1, "seed of the random sample of positions")
	flags.IntVar(&f.plan.Sampling.PerGame, "per-game", 12, "maximum positions per game")
	flags.IntVar(&f.plan.Sampling.Bound, "bound", 1200, "exclude positions with an absolute score of this or more")
	flags.IntVar(&f.plan.Sampling.HoldOut, "hold-out", 10, "reserve one of every N games for validation; 0: none")
	flags.IntVar(&f.plan.Fit.Passes, "passes", usual.Passes, "passes over all positions")
	flags.Float64Var(&f.plan.Fit.Rate, "rate", usual.Rate, "learning rate: roughly the largest change of a weight in a pass")
	flags.Float64Var(&f.plan.Fit.Mix, "mix", usual.Mix, "share of the game's result in the target; the rest is the score of the search")
	flags.Float64Var(&f.plan.Fit.Pull, "pull", usual.Pull, "regularization toward the initial weights")
	flags.Float64Var(&f.plan.Fit.Scale, "scale", 0, "score that wins 73 % of games; 0: estimated from the games")
	flags.StringArrayVar(&f.trees, "trees", nil, "file of labelled trees to learn from besides the games, repeatable")
	c.MarkFlagsMutuallyExclusive("out", "check")
	return c
}

func (f *tuneFlags) run(c *cobra.Command, args []string) error {
	var want *tune.Manifest
	if f.check != "" {
		var err error
		if want, err = tune.ReadManifest(f.check); err != nil {
			return err
		}
		f.plan = want.Plan
	}
	model, err := f.model()
	if err := errors.Join(err, f.validate(args)); err != nil {
		return usage(err)
	}
	games, err := gamesFrom(c, args, f.plan.Game, model.Fits)
	if err != nil {
		return err
	}
	trees, err := tune.LoadTrees(c.Context(), model, f.plan.Game, f.plan.Sampling, f.trees)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	show := newDisplay(c.ErrOrStderr())
	got, err := f.plan.Run(c.Context(), model, games, trees, f.keep, progressOfTuning(show))
	show.Clear()
	if errors.Is(err, context.Canceled) {
		return f.interrupted()
	}
	if err != nil {
		return err
	}
	if want != nil {
		if err := want.Same(got); err != nil {
			return fmt.Errorf("%s is not reproduced: %w", f.check, err)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s is reproduced: %s from %s\n", f.check, count(len(got.Weights), "weight", "weights"), count(got.Positions, "position", "positions"))
		return nil
	}
	got.Build = engine.Build()
	if got.Matches, err = termsOf(args); err != nil {
		return err
	}
	printTuning(c, got)
	return got.Write(f.out)
}

// interrupted is the error of a run that Ctrl-C has ended.
func (f *tuneFlags) interrupted() error {
	if f.keep != "" {
		return errors.New("interrupted; run the same command to resume")
	}
	return errors.New("interrupted; run with --keep to be able to resume")
}

func (f *tuneFlags) validate(sources []string) error {
	var errs []error
	if f.out == "" && f.check == "" {
		errs = append(errs, errors.New("--out or --check is required"))
	}
	fit := f.plan.Fit
	if fit.Scale == 0 {
		fit.Scale = 1 // estimated later
	}
	return errors.Join(append(errs, checkApart([2]string{"--keep", f.keep}, [2]string{"--out", f.out}),
		checkOutput("--out", f.out, append(slices.Clone(f.trees), sources...)...), f.plan.Sampling.Validate(), fit.Validate())...)
}

// model returns the evaluation to fit, and notes in the plan what it starts from.
func (f *tuneFlags) model() (tune.Model, error) {
	from, digest, err := startingFile(f.from)
	if err != nil {
		return nil, err
	}
	if f.check != "" && digest != f.plan.From {
		return nil, otherStart(f.check, f.plan.From, digest)
	}
	f.plan.From = digest
	name, rules := f.plan.Game, f.plan.Rules
	switch {
	case name == gomokurules.Name:
		l, err := gomoku.NewLinear(rules, from)
		if err != nil && from != nil {
			err = fmt.Errorf("%s: %w", f.from, err)
		}
		if err != nil {
			return nil, err
		}
		return l, nil
	case from != nil && (name == xiangqirules.Name || name == amazonsrules.Name):
		return nil, fmt.Errorf("--from: the weights of %s start from its estimates", name)
	case name == amazonsrules.Name:
		l, err := amazons.NewLinear(rules)
		if err != nil {
			return nil, err
		}
		return l, nil
	case name != xiangqirules.Name:
		return nil, fmt.Errorf("--game %.20q: want %s, %s or %s", name, xiangqirules.Name, gomokurules.Name, amazonsrules.Name)
	case rules != "":
		return nil, fmt.Errorf("--rules %.20q: the weights of %s are for all its rules", rules, name)
	}
	return xiangqi.NewLinear(), nil
}

// startingFile reads the file that a fit starts from, and returns its digest; without a
// path it returns nil and "".
func startingFile(path string) (data []byte, digest string, err error) {
	if path == "" {
		return nil, "", nil
	}
	if data, err = os.ReadFile(path); err != nil {
		return nil, "", err
	}
	return data, fmt.Sprintf("%x", sha256.Sum256(data))[:32], nil
}

// otherStart is the error where --check has a file that was fitted from another one.
func otherStart(file, from, now string) error {
	if now == "" {
		return fmt.Errorf("--from is missing: %s was fitted from weights with digest %q", file, from)
	}
	return fmt.Errorf("--from: %s was fitted from weights with digest %q, these have %q", file, from, now)
}

// gamesFrom reads the games of the sources to fit weights to; fits reports for which rules
// these are.
func gamesFrom(c *cobra.Command, sources []string, name string, fits func(*game.Rules) bool) (*tune.Games, error) {
	games := &tune.Games{Game: name, Fits: fits}
	err := eachGame(c, sources, func(r *record.Record) error { games.Add(r); return nil })
	if err != nil {
		return nil, err
	}
	reportSkipped(c, games.Others, "of another game than "+name)
	reportSkipped(c, games.Rules, "under other rules")
	reportSkipped(c, games.Left, "unfinished or duplicate")
	return games, nil
}

// reportSkipped says of how many games nothing is learnt.
func reportSkipped(c *cobra.Command, n int, why string) {
	if n > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "sparring: %s skipped: %s\n", count(n, "game", "games"), why)
	}
}

// eachGame calls add for each game of the sources: once for a game with several records,
// the platform's and its players', with what they merge to, and not for what was exported of
// one and read again. Damaged games are an error, because a run must be reproducible from the
// same files.
func eachGame(c *cobra.Command, sources []string, add func(*record.Record) error) error {
	versions := map[string]int{} // records of games that were played on a platform, by id
	var copies format.Copies
	later := rereading{wanted: func(r *record.Record) bool { return r.Source.By != record.ByMatch }}
	files, err := sourceFiles(c, sources)
	if err != nil {
		return err
	}
	for _, f := range files {
		games, err := f.games()
		if err != nil {
			return err
		}
		for r, err := range until(c.Context(), games) {
			if err != nil {
				return err // it has the file's name
			}
			if !later.later(f, r) {
				copies.Note(r)
				if err := add(r); err != nil {
					return fmt.Errorf("%s: %w", f.path, err)
				}
			} else if r.Source.By == record.ByImport {
				copies.NoteImport(r)
			} else {
				copies.Note(r)
				versions[r.ID]++
			}
		}
	}
	left := 0
	read := map[string][]*record.Record{} // until all versions of a game are
	err = later.each(c.Context(), func(r *record.Record) error {
		if r.Source.By == record.ByImport {
			if copies.Of(r) != "" {
				left++
				return nil
			}
			return add(r)
		}
		all := append(read[r.ID], r)
		if read[r.ID] = all; len(all) < versions[r.ID] {
			return nil
		}
		delete(read, r.ID)
		merged, err := record.Merge(all...)
		if err != nil {
			return err
		}
		return add(merged)
	})
	if left > 0 {
		fmt.Fprintln(c.ErrOrStderr(), leftOut(left))
	}
	return err
}

// termsOf returns the first lines of those files of the sources that are result
// files of matches. What can be read only once has none any more.
func termsOf(sources []string) (all []json.RawMessage, err error) {
	for _, source := range sources {
		paths, err := filesOf(source)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if info, err := os.Stat(path); path == fromStandardInput || err == nil && !info.Mode().IsRegular() {
				continue
			}
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			line, err := bufio.NewReader(f).ReadBytes('\n')
			if errors.Is(err, io.EOF) { // a single line or an empty file
				err = nil
			}
			if err := errors.Join(err, f.Close()); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if bytes.HasPrefix(line, []byte(record.TermsPrefix)) {
				all = append(all, line)
			}
		}
	}
	return all, nil
}

// progressOfTuning shows the progress of a run: one redrawn line on a terminal,
// otherwise ten lines for each half of the work.
func progressOfTuning(show *display) func(tune.Progress) {
	var last time.Time
	return func(p tune.Progress) {
		part, of := p.Games, p.OfGames
		text := fmt.Sprintf("positions: %d of %d games", p.Games, p.OfGames)
		if p.Passes > 0 {
			part, of = p.Passes, p.OfPasses
			text = fmt.Sprintf("fit: %d of %d passes, error %.6f, held out %s", p.Passes, p.OfPasses, p.Loss.Learnt, heldOut(p.Loss.Held, "%.6f", p.Loss.Held))
		}
		if show.Live() {
			if part < of && time.Since(last) < 50*time.Millisecond {
				return
			}
			last = time.Now()
		} else if part%max(of/10, 1) != 0 {
			return
		}
		show.Line("tune", text)
	}
}

// heldOut writes how well a fit predicts what was held out of it: "none" where nothing was,
// as is likely among few games. The loss is 0 only there.
func heldOut(loss float64, format string, args ...any) string {
	if loss == 0 {
		return "none"
	}
	return fmt.Sprintf(format, args...)
}

func printTrees(out io.Writer, files []trees.Terms, digest string) {
	if len(files) > 0 {
		fmt.Fprintf(out, "trees      %s (digest %s)\n", count(len(files), "file", "files"), digest)
	}
}

func printTuning(c *cobra.Command, m *tune.Manifest) {
	out := c.OutOrStdout()
	fmt.Fprintf(out, "games      %d (digest %s)\n", m.Games, m.GamesDigest)
	printTrees(out, m.Trees, m.TreesDigest)
	fmt.Fprintf(out, "positions  %d\n", m.Positions)
	fmt.Fprintf(out, "error      %.6f before, %.6f after\n", m.Before.Learnt, m.After.Learnt)
	fmt.Fprintf(out, "held out   %s\n", heldOut(m.After.Held, "%.6f before, %.6f after", m.Before.Held, m.After.Held))
	fmt.Fprintf(out, "scale      a score of %.0f wins 73 %% (the fit used %.0f)\n", m.Scale, m.Plan.Fit.Scale)
	win, draw, loss := m.Outcomes.Probabilities(0)
	fmt.Fprintf(out, "at 0       %.0f %% won, %.0f %% drawn, %.0f %% lost\n", 100*win, 100*draw, 100*loss)
	fmt.Fprintf(out, "weights    %d changed\n", len(m.Weights))
}
