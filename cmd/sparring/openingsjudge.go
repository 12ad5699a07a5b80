package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game/catalog"
	"sparring/internal/texttable"
	"sparring/lab/match/openings"
	"sparring/pipe/external"
	"sparring/pipe/playerspec"
	"sparring/protocol"
)

// judgeFlags are the flags of the openings judge command.
type judgeFlags struct {
	importFlags
	engines []string
	time    time.Duration
	bound   float64
	keep    int
	hash    int
	out     string
	json    string
}

func judgeOpeningsCommand() *cobra.Command {
	var f judgeFlags
	c := &cobra.Command{
		Use:   "judge FILE|-",
		Short: "Ask engines how even openings are, and drop those that are not",
		Long: `Ask engines for their evaluation of each opening of a file, in any form that
openings convert reads, under each rule set of the file. An opening is even if the
winning chance is within --bound of one half for every engine under every rule
set. The table shows, for each opening, the evaluation of the side to move that is
furthest from even, in the engine's own points; M7 is the end of the game in 7 plies.
Several engines are asked in the order given, and the next one only if all before it
consider the opening even; below the table stands how many each of them was asked
about, how many it found even, and the mean distance of its winning chances from
one half. Other protocols than UCI with UCI_ShowWDL have no winning chance: it is
computed from the points by the Elo formula, so that 100 points are 64 %.

With --out, the even openings are written to a file at the end. With --json, the
verdicts are kept in a file as they come, and the same command resumes. "-" reads
the openings from standard input, and --out - writes them to standard output.`,
		Example: `  sparring openings judge --engine gomocup:pbrain-rapfi --time 1s --bound 0.14 --keep 100 --out even.txt candidates.txt
  sparring openings judge --engine self --engine uci:fairy-stockfish xiangqi.txt`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.add(c)
	fl := c.Flags()
	fl.StringArrayVar(&f.engines, "engine", nil, "spec of a player that must consider the openings even, repeatable (required)")
	fl.DurationVar(&f.time, "time", time.Second, "time per evaluation")
	fl.Float64Var(&f.bound, "bound", 0, "largest deviation of the winning chance from one half; 0: the game's default")
	fl.IntVar(&f.keep, "keep", 0, "number of even openings to find, then stop; 0: judge all")
	fl.IntVar(&f.hash, "hash", 64, "hash table per engine, MiB")
	fl.StringVar(&f.out, "out", "", "file for the even openings (default: none; -: standard output, without the table)")
	fileFlag(fl, &f.json, "json", "file of verdicts; an existing one is resumed")
	return c
}

// check returns everything that is wrong with the flags.
func (f *judgeFlags) check() error {
	var errs []error
	bad := func(when bool, format string, args ...any) {
		if when {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(len(f.engines) == 0, "--engine is required")
	bad(f.time < time.Millisecond, "--time %v: want at least 1ms", f.time)
	bad(!(f.bound >= 0 && f.bound <= 0.5), "--bound %g: want above 0, up to 0.5", f.bound)
	bad(f.keep < 0, "--keep %d: want 0 or more", f.keep)
	errs = append(errs, checkHash(f.hash))
	for i, spec := range f.engines {
		bad(slices.Contains(f.engines[:i], spec), "--engine %s: given twice", spec)
	}
	return errors.Join(errs...)
}

// run judges the openings of a file.
func (f *judgeFlags) run(c *cobra.Command, path string) error {
	if err := f.check(); err != nil {
		return usage(err)
	}
	if err := cmp.Or(checkApart([2]string{"--json", f.json}, [2]string{"--out", f.out}), checkOutput("--out", f.out, path)); err != nil {
		return err
	}
	read, err := f.read(c, path)
	if err != nil {
		return err
	}
	set := read.Set
	engines := playerspec.NewEngines(playerspec.Options{HashBytes: f.hash << 20, Threads: 1})
	defer engines.Close() // the error does not matter at the end
	panel, err := f.panel(set, engines)
	if err != nil {
		return err
	}
	if f.json != "" {
		if panel.File, err = openings.OpenVerdicts(f.json, f.terms()); err != nil {
			return err
		}
		defer panel.File.Close()
		if n := panel.File.Len(); n > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "%s: resuming after %s\n", f.json, count(n, "verdict", "verdicts"))
		}
	}
	table := c.OutOrStdout()
	if f.out == "-" {
		table = io.Discard
	}
	even, judged, err := f.judge(c, panel, set, table)
	if err != nil {
		if f.json != "" && judged > 0 {
			err = fmt.Errorf("%w; run the same command to resume", err)
		}
		return err
	}
	summary := fmt.Sprintf("%d of %d openings are even: a winning probability within %.4g of one half", len(even), judged, panel.Bound)
	fmt.Fprintln(table, summary)
	if len(even) < f.keep {
		return fmt.Errorf("%d even openings among %d, want %d: more candidates are needed", len(even), judged, f.keep)
	}
	if f.out == "" {
		return nil
	}
	if len(even) == 0 {
		return fmt.Errorf("%s is not written: no opening is even", f.out)
	}
	var names []string
	for _, e := range panel.Engines {
		if err := e.Game.Ready(); err != nil { // all verdicts may be from the file
			return fmt.Errorf("%s: %w", e.Spec, err)
		}
		d := e.Game.Describe()
		name := protocol.Engine(d).String()
		switch {
		case d.Nodes > 0:
			name += fmt.Sprintf(" (%d nodes)", d.Nodes)
		case d.Depth > 0:
			name += fmt.Sprintf(" (depth %d)", d.Depth)
		}
		names = append(names, name)
	}
	return writeOpenings(c, &openings.Set{
		Notes: append(set.Notes, fmt.Sprintf("Judged by %s, at most %v each: %s.", strings.Join(names, " and "), f.time, summary)),
		Rules: set.Rules, Openings: even,
	}, f.out)
}

// panel returns the engines for the openings of a set.
func (f *judgeFlags) panel(set *openings.Set, engines *playerspec.Engines) (*openings.Panel, error) {
	panel := &openings.Panel{Limits: search.Limits{Hard: f.time}, Bound: f.bound}
	for _, name := range set.Rules {
		r, err := catalog.Rules(name)
		if err != nil {
			return nil, err
		}
		panel.Rules = append(panel.Rules, r)
	}
	recipe, err := openings.Usual(panel.Rules[0])
	if err != nil && f.bound == 0 {
		return nil, usagef("--bound is required: %w", err)
	}
	panel.Bound = cmp.Or(f.bound, recipe.Bound)
	for _, spec := range f.engines {
		g, err := engines.NewGame(spec, engine.GameOptions{Rules: panel.Rules[0], Reproducible: true})
		if err != nil {
			return nil, usagef("--engine: %w", err)
		}
		panel.Engines = append(panel.Engines, openings.Engine{Spec: spec, Game: g})
	}
	return panel, nil
}

// terms returns the settings that the verdicts depend on.
func (f *judgeFlags) terms() openings.Terms {
	t := openings.Terms{Engines: f.engines, TimeMS: f.time.Milliseconds()}
	for _, spec := range f.engines {
		if !isProgram(spec) {
			t.Build = engine.Build()
		}
	}
	return t
}

// isProgram reports whether a spec names an external engine.
func isProgram(spec string) bool {
	s, err := playerspec.Parse(spec)
	return err == nil && s.Outside != nil
}

// judge judges openings until enough are even, and prints a line for each.
func (f *judgeFlags) judge(c *cobra.Command, panel *openings.Panel, set *openings.Set, out io.Writer) (even []openings.Opening, judged int, err error) {
	screen := newDisplay(c.ErrOrStderr())
	defer screen.Clear()
	every := max(len(set.Openings)/maxLines, 1) // without a terminal or a table
	several := len(panel.Engines)*len(panel.Rules) > 1
	counts := judgeCounts{}
	for _, spec := range f.engines {
		counts[spec] = &judgeCount{}
	}
	fmt.Fprintln(out, "even   score   chance  depth  opening")
	for _, o := range set.Openings {
		if f.keep > 0 && len(even) >= f.keep {
			break
		}
		if screen.Live() || out == io.Discard && judged > 0 && judged%every == 0 {
			screen.Line("openings", fmt.Sprintf("%d/%d judged, %d even", judged, len(set.Openings), len(even)))
		}
		verdicts, ok, err := panel.Judge(c.Context(), o)
		if errors.Is(err, context.Canceled) {
			err = fmt.Errorf("interrupted after %s", count(judged, "opening", "openings"))
		}
		if err != nil {
			return nil, judged, err
		}
		judged++
		if ok {
			even = append(even, o)
		}
		counts.add(verdicts, ok)
		worst := slices.MaxFunc(verdicts, func(a, b openings.Verdict) int {
			return cmp.Compare(math.Abs(a.Chance-0.5), math.Abs(b.Chance-0.5))
		})
		screen.Clear()
		fmt.Fprint(out, verdictLine(panel.Rules[0].Game, worst, ok, several))
	}
	return even, judged, counts.write(out, f.engines)
}

// judgeCount says what an engine thinks of the openings that it was asked about.
type judgeCount struct {
	asked, even int // openings
	verdicts    int // one for each rule set
	off         float64
}

// judgeCounts has the counts by engine.
type judgeCounts map[string]*judgeCount

// add counts an opening. Only its last verdict may be that it is not even.
func (j judgeCounts) add(verdicts []openings.Verdict, even bool) {
	last := ""
	for _, v := range verdicts {
		n := j[v.Engine]
		n.verdicts++
		n.off += math.Abs(v.Chance - 0.5)
		if v.Engine != last {
			n.asked++
			n.even++
		}
		last = v.Engine
	}
	if !even {
		j[last].even--
	}
}

// write prints the counts of several engines.
func (j judgeCounts) write(out io.Writer, engines []string) error {
	if len(engines) < 2 {
		return nil
	}
	t := texttable.Table{{"engine", "asked", "even", "from even, on average"}}
	for _, spec := range engines {
		n := j[spec]
		t.Add(spec, n.asked, n.even, fmt.Sprintf("%.1f %%", 100*n.off/float64(max(n.verdicts, 1))))
	}
	fmt.Fprintln(out)
	return t.Write(out)
}

// verdictLine formats a verdict for the table; by adds who has given it.
func verdictLine(gameName string, v openings.Verdict, even, by bool) string {
	depth := "-"
	if v.Depth > 0 {
		depth = fmt.Sprint(v.Depth)
	}
	who := ""
	if by {
		who = fmt.Sprintf("  (%s, %s)", v.Engine, v.Rules)
	}
	return fmt.Sprintf("%-4s  %6s  %5.1f %%  %5s  %s%s\n", yesNo(even), pointsText(gameName, v), 100*v.Chance, depth, v.Opening, who)
}

// yesNo returns the word for a verdict.
func yesNo(even bool) string {
	if even {
		return "yes"
	}
	return "no"
}

// pointsText returns a score in the unit of the engine that gave it.
func pointsText(gameName string, v openings.Verdict) string {
	switch {
	case v.Score >= search.WinBound:
		return fmt.Sprintf("+M%d", search.Win-v.Score)
	case v.Score <= -search.WinBound:
		return fmt.Sprintf("-M%d", search.Win+v.Score)
	}
	if isProgram(v.Engine) {
		if points, err := external.Points(gameName, v.Score); err == nil {
			return fmt.Sprintf("%+d", points)
		}
	}
	return fmt.Sprintf("%+d", v.Score)
}
