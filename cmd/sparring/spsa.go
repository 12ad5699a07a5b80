package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sparring/engine/search"
	"sparring/internal/texttable"
	"sparring/lab/match"
	"sparring/lab/train/spsa"
	"sparring/pipe/external"
	"sparring/pipe/playerspec"
	"sparring/pipe/uci"
)

// spsaFlags holds the flags of a tuning of options.
type spsaFlags struct {
	matchFlags
	player string
	params []string
	rate   float64
	keep   string

	base  playerspec.Spec
	began time.Time // of this run
	done  int       // pairs before it
	drawn time.Time // when the plot was drawn last
}

func learnSPSA() *cobra.Command {
	f := &spsaFlags{}
	c := &cobra.Command{
		Use:   "spsa --engine SPEC --param NAME=START,MIN,MAX,STEP...",
		Short: "Tune numeric options of an engine, ours or another, by games against itself",
		Long: `Tune numeric options of an engine by games against itself (SPSA). In each pair of
games one player has every parameter a step higher or lower, at random, and the
other the other way round; the result moves all of them. STEP is how far that is
at the end: a change that a match of some hundred games would notice. Parameters
are options of a program's protocol or, of our engine, numbers of its search
(self:set.NAME). Whole numbers are rounded up or down at random; a parameter whose
START, MIN or MAX has a decimal point need not be whole.

With --keep the same command goes on after an interruption. At the end the spec
with the new values is printed, and the match that shows what they are worth: the
tuning itself does not prove it. See docs/training.md.`,
		Example: `  sparring learn spsa --game xiangqi --engine uci:./engine --param Contempt=0,-50,50,10 --param Aggression=100,0,300,25 \
      --clock nodes=20000 --games 4000 --openings shipped --keep spsa.jsonl --plot spsa.svg
  sparring learn spsa --game gomoku --engine self:nodes=2000 --param LMPBase=4,1,16,2 --games 2000 --openings shipped`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.conditions(c)
	fl := c.Flags()
	fl.StringVar(&f.player, "engine", "", "spec of the engine to tune (required)")
	fl.StringArrayVar(&f.params, "param", nil, "NAME=START,MIN,MAX,STEP, repeatable: an option to tune")
	fl.Float64Var(&f.rate, "rate", 0, "how far the last pair moves a parameter for each point by which one side wins, in steps (r_end; default: 10 over the number of pairs, from 0.002 to 0.1)")
	fileFlag(fl, &f.keep, "keep", "file for the games, as of a match; an existing one is resumed")
	plotFlag(c, &f.plot, "each parameter and of the score of its higher value over the games, renewed every minute")
	games := fl.Lookup("games")
	games.Usage = "games in all, an even number"
	games.DefValue = "1000"
	f.games = 1000
	return c
}

func (f *spsaFlags) run(c *cobra.Command) error {
	plan, err := f.prepare(c.Context())
	if err != nil {
		return err
	}
	if err := checkPlot(f.plot, [2]string{"--keep", f.keep}); err != nil {
		return err
	}
	errs := c.ErrOrStderr()
	if f.keep != "" {
		file, err := openResults(errs, f.keep, &plan.Match.Terms)
		if err != nil {
			return err
		}
		defer file.Close()
		sayResumed(errs, f.keep, len(file.Games()))
		f.done = len(file.Games()) / 2
		plan.Match.File = file
	}
	f.began = time.Now()
	show := newDisplay(errs)
	pace := newPace(show, plan.Pairs)
	plan.Watch = func(t *spsa.Tuning) {
		if n := len(t.Results); pace.Due(n) {
			show.Line("spsa", f.progress(t))
			f.redraw(t)
		}
	}
	plan.Failed = func(failed spsa.Failure) {
		show.Say("sparring: pair %d is not counted: the player with %s lost by a fault (%s): %s", failed.Pair, f.listed(plan.Params, failed.Values), failed.Kind, failed.Text)
	}
	t, err := spsa.Run(c.Context(), *plan)
	show.Clear()
	if len(t.Results) == 0 && err != nil {
		return err
	}
	if wrong := f.report(c, t); err == nil {
		err = wrong
	}
	if f.plot != "" {
		if wrong := drawFile(f.plot, t.Draw); err == nil {
			err = wrong
		}
	}
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted after %d pairs", len(t.Results))
		if f.keep != "" {
			err = fmt.Errorf("%w; run the same command to resume", err)
		}
	}
	return err
}

// redraw renews the plot of a long run; the last drawing reports errors.
func (f *spsaFlags) redraw(t *spsa.Tuning) {
	const renewed = time.Minute
	if f.plot != "" && time.Since(f.drawn) >= renewed {
		f.drawn = time.Now()
		_ = drawFile(f.plot, t.Draw)
	}
}

// prepare returns what the flags describe.
func (f *spsaFlags) prepare(ctx context.Context) (*spsa.Plan, error) {
	if f.player == "" {
		return nil, usagef("--engine is required: the spec of the engine to tune, such as uci:./engine")
	}
	var err error
	if f.base, err = playerspec.Parse(f.player); err != nil {
		return nil, usage(fmt.Errorf("--engine: %w", err))
	}
	if len(f.params) == 0 {
		return nil, usagef("--param is required: NAME=START,MIN,MAX,STEP")
	}
	if err := f.base.Check(f.game); err != nil {
		return nil, usage(fmt.Errorf("--engine: %w", err))
	}
	if f.base.Outside == nil && (f.base.Level > 0 || f.base.As != "") {
		return nil, usagef("--engine %s: the numbers of a level are given; tune those of self", f.player)
	}
	f.a, f.b, f.tournament = f.named(0).String(), f.named(1).String(), string(match.RoundRobin)
	plan, err := f.plan()
	if err != nil {
		return nil, usage(err)
	}
	s := spsa.Settings{Pairs: f.games / 2, Rate: f.rate, Lag: spsa.LagFor(f.concurrency), Seed: f.seed}
	if f.rate == 0 {
		s.Rate = spsa.RateFor(s.Pairs)
	}
	if s.Params, err = f.parameters(ctx); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, usage(err)
	}
	plan.Terms.Design = s.Design()
	return &spsa.Plan{Settings: s, Match: plan, Concurrency: f.concurrency, Spec: func(player int, values []float64) string {
		return f.with(f.named(player), s.Params, values).String()
	}}, nil
}

// named returns the spec of a player before it gets its values.
func (f *spsaFlags) named(player int) playerspec.Spec {
	s := f.base
	s.Name = experimentPlayers[player]
	return s
}

// with returns a spec with values of the parameters.
func (f *spsaFlags) with(s playerspec.Spec, params []spsa.Param, values []float64) playerspec.Spec {
	if s.Outside == nil {
		s.Numbers = maps.Clone(s.Numbers)
		if s.Numbers == nil {
			s.Numbers = map[string]int{}
		}
		for i, p := range params {
			s.Numbers[p.Name], _ = strconv.Atoi(p.Text(values[i])) // they are whole
		}
		return s
	}
	program := *s.Outside
	program.Options = slices.Clone(program.Options)
	for i, p := range params {
		program.Options = append(program.Options, external.Option{Name: p.Name, Value: p.Text(values[i])})
	}
	s.Outside = &program
	return s
}

// parameters returns the parameters, by the names that the engine has for them. The
// error lists all that is wrong with them.
func (f *spsaFlags) parameters(ctx context.Context) (params []spsa.Param, err error) {
	check := f.ownNumber
	if f.base.Outside != nil {
		some := *f.base.Outside
		if some.Options = []external.Option{{Name: "NAME"}}; some.Check(f.game) != nil {
			return nil, usagef("--engine %s: %w", f.player, some.Check(f.game))
		}
		options, known, err := external.Announced(ctx, *f.base.Outside, f.game)
		if err != nil {
			return nil, fmt.Errorf("--engine %s: %w", f.player, err)
		}
		check = func(p *spsa.Param) error { return f.option(p, options, known) }
	}
	var errs []error
	for _, text := range f.params {
		p, err := spsa.ParseParam(text)
		if err == nil {
			err = check(&p)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--param %w", err))
		}
		params = append(params, p)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, usage(err)
	}
	return params, nil
}

// ownNumber checks a parameter of our engine.
func (f *spsaFlags) ownNumber(p *spsa.Param) error {
	all := search.NumberNames()
	i := slices.IndexFunc(all, func(name string) bool { return strings.EqualFold(name, p.Name) })
	switch {
	case i < 0:
		return fmt.Errorf("%s: %w", p.Name, new(search.Params).SetNumber(p.Name, 1))
	case !p.Whole:
		return fmt.Errorf("%s: has whole numbers only; write them without a decimal point", p.Name)
	case p.Min < 1:
		return fmt.Errorf("%s: the minimum is %g, want at least 1: 0 stands for the default", p.Name, p.Min)
	}
	p.Name = all[i]
	if _, set := f.base.Numbers[p.Name]; set {
		return fmt.Errorf("%s: --engine sets it, too", p.Name)
	}
	return new(search.Params).SetNumber(p.Name, int(p.Max))
}

// option checks a parameter of a program against the options that it has.
func (f *spsaFlags) option(p *spsa.Param, all []uci.Option, known bool) error {
	if slices.ContainsFunc(f.base.Outside.Options, func(o external.Option) bool { return strings.EqualFold(o.Name, p.Name) }) {
		return fmt.Errorf("%s: --engine sets it, too", p.Name)
	}
	if !known {
		return nil
	}
	i := slices.IndexFunc(all, func(o uci.Option) bool { return strings.EqualFold(o.Name, p.Name) })
	if i < 0 {
		return fmt.Errorf("%s: the engine has no such option; its numbers are %s", p.Name, numbersOf(all))
	}
	o := all[i]
	p.Name = o.Name
	switch {
	case o.Kind == uci.Text: // may hold a number
	case o.Kind != uci.Spin:
		return fmt.Errorf("%s: is an option of type %s; only numbers (type spin) can be tuned", p.Name, o.Kind)
	case !p.Whole:
		return fmt.Errorf("%s: has whole numbers only; write them without a decimal point", p.Name)
	case p.Min < float64(o.Min) || p.Max > float64(o.Max):
		return fmt.Errorf("%s: %g to %g is outside of the engine's %d to %d", p.Name, p.Min, p.Max, o.Min, o.Max)
	}
	return nil
}

// numbersOf lists the numeric options.
func numbersOf(all []uci.Option) string {
	var names []string
	for _, o := range all {
		if o.Kind == uci.Spin {
			names = append(names, fmt.Sprintf("%s (%s, from %d to %d)", o.Name, o.Default, o.Min, o.Max))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// listed lists parameters with values.
func (f *spsaFlags) listed(params []spsa.Param, values []float64) string {
	var parts []string
	for i, p := range params {
		parts = append(parts, p.Name+" "+p.Text(values[i]))
	}
	return strings.Join(parts, ", ")
}

func (f *spsaFlags) progress(t *spsa.Tuning) string {
	n := len(t.Results)
	text := fmt.Sprintf("%d/%d games: ", 2*n, 2*t.Pairs)
	for i, p := range t.Params {
		text += fmt.Sprintf("%s %.4g, ", p.Name, t.Values()[i])
	}
	if bad := n - t.Counted(); bad > 0 {
		text += count(bad, "pair not counted, ", "pairs not counted, ")
	}
	return text + timeLeft(f.began, n-f.done, t.Pairs-f.done)
}

// report prints the result.
func (f *spsaFlags) report(c *cobra.Command, t *spsa.Tuning) error {
	out, n := c.OutOrStdout(), len(t.Results)
	fmt.Fprintf(out, "%d of %d games of %s", 2*n, 2*t.Pairs, f.player)
	if bad := n - t.Counted(); bad > 0 {
		fmt.Fprintf(out, ", %s not counted", count(bad, "pair", "pairs"))
	}
	fmt.Fprintf(out, "; rate %g\n\n", t.Rate)
	rows := texttable.Table{{"PARAMETER", "START", "NOW", "BOUNDS", "STEP", "THE HIGHER VALUE SCORED"}}
	var start []float64
	var notes []string
	for i, p := range t.Params {
		start = append(start, p.Start)
		v := t.Values()[i]
		higher := t.Higher(i, 0, n)
		low, high := higher.Interval()
		rows.Add(p.Name, p.Text(p.Start), p.Text(v), fmt.Sprintf("%g to %g", p.Min, p.Max), p.Step, fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*higher.Score(), 100*low, 100*high))
		if bound, at := p.AtBound(v); at {
			notes = append(notes, fmt.Sprintf("%s is at its bound %g: better values may lie beyond it", p.Name, bound))
		}
	}
	if err := rows.Write(out); err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(out, note)
	}
	tuned, before := f.with(f.base, t.Params, t.Values()), f.with(f.base, t.Params, start)
	fmt.Fprintf(out, "\nspec       %s\n", shellWord(tuned.String()))
	if tuned.String() == before.String() {
		fmt.Fprintln(out, "The values are those of the start, so there is nothing to prove.")
		return nil
	}
	fmt.Fprintf(out, "match      %s\n", f.proof(c, tuned, before))
	return nil
}

// proofGames is the length of the match that is proposed: its error is some 20 Elo.
const proofGames = 1000

// proof returns the command of a match of the new values against those of the start,
// under the same conditions but from other random choices.
func (f *spsaFlags) proof(c *cobra.Command, tuned, before playerspec.Spec) string {
	tuned.Name, before.Name = "tuned", "start"
	parts := []string{"sparring match", "--a", shellWord(tuned.String()), "--b", shellWord(before.String()), "--games", strconv.Itoa(proofGames), "--seed", strconv.FormatUint(f.seed+1, 10)}
	of := matchCommand().Flags()
	c.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "engine", "games", "seed", "plot":
			return
		}
		if of.Lookup(flag.Name) != nil {
			parts = append(parts, "--"+flag.Name, shellWord(flag.Value.String()))
		}
	})
	return strings.Join(parts, " ")
}

// shellWord quotes a word for a shell, if it needs that.
func shellWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
