package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sparring/engine/search"
	"sparring/game"
	"sparring/internal/atomicfile"
	"sparring/internal/chart"
	"sparring/internal/texttable"
	"sparring/lab/study/analysis"
	"sparring/record"
)

// reviewFlags are the flags of records analyse.
type reviewFlags struct {
	analystFlags
	from        *archive
	keep        string
	annotated   string
	plot        string
	notation    string
	json        bool
	concurrency int
}

// defaultReviewTime is the time for a search of a review without limits.
const defaultReviewTime = time.Second

func recordsAnalyse(from *archive) *cobra.Command {
	f := reviewFlags{from: from}
	c := &cobra.Command{
		Use:   "analyse ID|SOURCE...",
		Short: "Find the mistakes of finished games, and draw their course",
		Long: `Analyse every position of recorded games with our engine or another: the winning
chance after each move, what each move lost compared with the best one, and the
better line. A move that loses 10 % of winning chance is called an inaccuracy, 20 % a
mistake, 30 % a blunder, as on the page. Where the chances before and after a move
differ, it is compared with the best one in a search of its own.

` + aSource + ` All
of its games are analysed. With --keep every search is saved, and the same command
resumes an interrupted run. See docs/analysis.md.`,
		Example: `  sparring records analyse g5x2 --time 2s --plot g5x2.svg
  sparring records analyse games.jsonl --nodes 200000 --keep analyses.jsonl --json
  sparring records analyse game.pgn --engine uci:fairy-stockfish --annotated annotated.jsonl`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s: want IDs of games (see records list), or files", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.flags(c)
	fl := c.Flags()
	fl.Lookup("time").Usage = "end a search after this time (default: 1s, unless there is another limit)"
	fileFlag(fl, &f.keep, "keep", "file for the searches; those already there are not made again")
	fileFlag(fl, &f.annotated, "annotated", "file to write the records to, with the analysis in the comments of the moves")
	fileFlag(fl, &f.plot, "plot", "drawing of the winning chance over the plies: a .svg or .png file, or a folder for one of each game")
	fl.StringVar(&f.notation, "notation", "", "notation of moves: iccs, uci, wxf, chinese (Xiangqi); slash, hyphens, parens (Amazons)")
	fl.BoolVar(&f.json, "json", false, "print an object for each game")
	fl.IntVar(&f.concurrency, "concurrency", 1, "games analysed in parallel")
	return c
}

func (f *reviewFlags) run(c *cobra.Command, args []string) error {
	limits, err := f.limits()
	if err != nil {
		return err
	}
	if f.concurrency < 1 {
		return usagef("--concurrency %d: want 1 or more", f.concurrency)
	}
	if err := checkApart([2]string{"--keep", f.keep}, [2]string{"--annotated", f.annotated}, [2]string{"--plot", f.plot}); err != nil {
		return err
	}
	if err := checkAnnotated(f.annotated, append(slices.Clone(args), f.from.data)...); err != nil {
		return err
	}
	games, err := f.from.named(c, args)
	if err != nil {
		return err
	}
	games, left, err := reviewable(c, games)
	if err != nil {
		return err
	}
	plots, err := f.plots(games)
	if err != nil {
		return err
	}
	w := &reviewing{flags: f, games: games, plots: plots, out: c.OutOrStdout(), show: newDisplay(c.ErrOrStderr())}
	w.each = w.print
	if err := w.open(c, limits); err != nil {
		return err
	}
	defer w.close()
	err = w.all(c.Context())
	if f.annotated != "" {
		if err != nil && w.loses(f.annotated) {
			fmt.Fprintf(c.ErrOrStderr(), "sparring: %s stays as it was: it has games whose analysis is not complete\n", f.annotated)
		} else if e := w.annotate(f.annotated); err == nil {
			err = e
		}
	}
	if err == nil && left > 0 {
		err = fmt.Errorf("%d of %d games can't be analysed", left, left+len(games))
	}
	return err
}

// checkAnnotated is checkOutput for the file of --annotated, which may be that of an
// earlier run.
func checkAnnotated(path string, sources ...string) error {
	if err := checkReplaced("--annotated", path, sources...); err != nil || !holdsGames(path) {
		return err
	}
	if !isMatch(path) {
		for r, err := range record.File(path) {
			if err == nil && analysis.Annotated(r) {
				return nil
			}
		}
	}
	return usagef("--annotated %s: has games that it was not written from, which would be lost; want another file", path)
}

// reviewable returns the games that can be analysed, and how many can't: these are
// reported. It is an error if none can.
func reviewable(c *cobra.Command, games []*record.Record) (good []*record.Record, left int, err error) {
	for _, r := range games {
		err := analysis.Check(r)
		if err == nil {
			good = append(good, r)
			continue
		}
		if len(games) == 1 {
			return nil, 0, err
		}
		fmt.Fprintln(c.ErrOrStderr(), "sparring: skipped:", err)
		left++
	}
	if len(good) == 0 {
		return nil, 0, errors.New("none of the games can be analysed")
	}
	return good, left, nil
}

// analysts opens an analyst for each game of the records. Those that are open are
// returned with an error as well.
func (f *reviewFlags) analysts(games []*record.Record, l search.Limits) (map[string]*analysis.Analyst, error) {
	all := make(map[string]*analysis.Analyst)
	for _, r := range games {
		if all[r.Game] != nil {
			continue
		}
		start, _, err := analysis.Moves(r)
		if err != nil {
			return all, err // it was checked before
		}
		if _, err := notationOf(start, game.Notation(f.notation)); err != nil {
			return all, err
		}
		a, err := f.analyst(r.Game, 1, l)
		if err != nil {
			return all, err
		}
		if endless(a) {
			a.Close() // nothing is open yet
			l.Hard = defaultReviewTime
			if a, err = f.analyst(r.Game, 1, l); err != nil {
				return all, err
			}
		}
		all[r.Game] = a
	}
	return all, nil
}

// plots returns the files for the drawings of the games; nil without --plot.
func (f *reviewFlags) plots(games []*record.Record) (paths []string, err error) {
	if f.plot == "" {
		return nil, nil
	}
	if filepath.Ext(f.plot) != "" && !isDir(f.plot) {
		if len(games) > 1 {
			return nil, usagef("--plot %s: there are %d games; want a folder", f.plot, len(games))
		}
		return []string{f.plot}, checkPlot(f.plot)
	}
	if err := os.MkdirAll(f.plot, 0o755); err != nil {
		return nil, fmt.Errorf("--plot: %w", err)
	}
	for _, r := range games {
		paths = append(paths, filepath.Join(f.plot, r.ID+string(chart.SVG)))
	}
	return paths, nil
}

// reviewing is a run of records analyse.
type reviewing struct {
	flags    *reviewFlags
	analysts map[string]*analysis.Analyst
	games    []*record.Record
	plots    []string
	cache    *analysis.Cache
	out      io.Writer
	show     *display
	each     func(i int) error // is called with the games in their order; nil: for none

	mu      sync.Mutex
	reports []*analysis.Report // of games; nil: not finished
	printed int                // games
}

// review analyses all positions of the games and returns a report for each.
func (f *reviewFlags) review(c *cobra.Command, games []*record.Record, l search.Limits) ([]*analysis.Report, error) {
	w := &reviewing{flags: f, games: games, show: newDisplay(c.ErrOrStderr())}
	if err := w.open(c, l); err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.all(c.Context()); err != nil {
		return nil, err
	}
	return w.reports, nil
}

// open opens the analysts and the file of searches. Close it.
func (w *reviewing) open(c *cobra.Command, limits search.Limits) (err error) {
	f := w.flags
	w.reports = make([]*analysis.Report, len(w.games))
	if w.analysts, err = f.analysts(w.games, limits); err != nil || f.keep == "" {
		if err != nil {
			w.close()
		}
		return err
	}
	if w.cache, err = analysis.OpenCache(f.keep, w.analysts[w.games[0].Game], f.hash, f.threads); err != nil {
		w.close()
		return err
	}
	if n := w.cache.Len(); n > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "%s: resuming after %s\n", f.keep, count(n, "search", "searches"))
	}
	return nil
}

func (w *reviewing) close() {
	for _, a := range w.analysts {
		a.Close() // the searches have ended
	}
	if w.cache != nil {
		w.cache.Close()
	}
}

// all analyses all games and reports them in their order.
func (w *reviewing) all(ctx context.Context) error {
	todo := make(chan int)
	workers, working := errgroup.WithContext(ctx)
	for range min(w.flags.concurrency, len(w.games)) {
		workers.Go(func() error {
			for i := range todo {
				if err := w.one(working, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	workers.Go(func() error {
		defer close(todo)
		for i := range w.games {
			select {
			case todo <- i:
			case <-working.Done():
				return nil
			}
		}
		return nil
	})
	err := workers.Wait()
	w.show.Clear()
	if ctx.Err() == nil {
		return err
	}
	err = fmt.Errorf("interrupted after %d of %d games", w.printed, len(w.games))
	if w.cache != nil {
		err = fmt.Errorf("%w; run the same command to resume", err)
	}
	return err
}

// one analyses a game.
func (w *reviewing) one(ctx context.Context, i int) error {
	r := w.games[i]
	start, _, err := analysis.Moves(r)
	if err != nil {
		return fmt.Errorf("game %s: %w", r.ID, err)
	}
	s, err := w.analysts[r.Game].Open(ctx, r.ID, start.Rules())
	if err != nil {
		return err
	}
	defer s.Close()
	rep, err := s.Review(ctx, r, w.cache, func(done, total int) {
		w.mu.Lock() // nothing is drawn while a report is printed
		defer w.mu.Unlock()
		if w.show.Live() {
			w.show.Line(r.ID, fmt.Sprintf("game %s (%d of %d): position %d of %d", r.ID, i+1, len(w.games), done, total))
		}
	})
	if err != nil {
		return err
	}
	if w.plots != nil {
		draw := func(out io.Writer, f chart.Format) error { return analysis.Course(rep, out, f) }
		if err := drawFile(w.plots[i], draw); err != nil {
			return fmt.Errorf("game %s: the drawing: %w", rep.Game, err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports[i] = rep
	w.show.Remove(r.ID)
	for w.printed < len(w.games) && w.reports[w.printed] != nil {
		if w.each != nil {
			if err := w.each(w.printed); err != nil {
				return err
			}
		}
		w.printed++
	}
	return nil
}

// print prints a game's report.
func (w *reviewing) print(i int) error {
	rep := w.reports[i]
	if w.flags.notation != "" {
		var err error
		if rep, err = inNotation(w.games[i], rep, game.Notation(w.flags.notation)); err != nil {
			return err
		}
	}
	if w.flags.json {
		return json.NewEncoder(w.out).Encode(rep)
	}
	if i > 0 {
		fmt.Fprintln(w.out)
	}
	return printReview(w.out, rep)
}

// inNotation returns a report with its moves in another notation.
func inNotation(r *record.Record, rep *analysis.Report, n game.Notation) (*analysis.Report, error) {
	p, _, err := analysis.Moves(r)
	if err != nil {
		return nil, err
	}
	c := *rep
	c.Plies = slices.Clone(rep.Plies)
	for i := range c.Plies {
		m := &c.Plies[i]
		game.PlayOn(p)
		var line []game.Move
		for q, rest := p.Clone(), m.Line; len(rest) > 0; rest = rest[1:] {
			move, err := game.PlayText(q, rest[0])
			if err != nil {
				break
			}
			line = append(line, move)
		}
		if m.Line = game.FormatLine(p, n, line); len(m.Line) > 0 {
			m.Best = m.Line[0]
		}
		as, err := notationOf(p, n)
		if err != nil {
			return nil, err
		}
		move, err := p.Parse(m.Move)
		if err != nil {
			return nil, err
		}
		m.Move = as.format(move)
		if err := p.Play(move); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// printReview prints a report for people.
func printReview(out io.Writer, rep *analysis.Report) error {
	fmt.Fprintf(out, "game      %s\nrules     %s\n", rep.Game, rep.Rules)
	if rep.Position != "" {
		fmt.Fprintf(out, "position  %s\n", rep.Position)
	}
	for seat, name := range rep.Names {
		fmt.Fprintf(out, "%-8s  %s\n", game.Seat(seat), name)
	}
	fmt.Fprintf(out, "result    %s", rep.Result)
	if rep.Reason != "" {
		fmt.Fprintf(out, " (%s)", rep.Reason)
	}
	fmt.Fprintf(out, "\nengine    %s\n\n", rep.Engine)
	t := texttable.Table{{"PLY", "SEAT", "MOVE", "CHANCE", "LOST", "", "BETTER"}}
	for _, m := range rep.Plies {
		chance, lost, better := "", "", ""
		if m.Chance != nil {
			chance = fmt.Sprintf("%3.0f %%", 100**m.Chance)
		}
		if m.Class != "" {
			lost, better = fmt.Sprintf("%4.1f %%", 100*m.Lost), strings.Join(m.Line, " ")
		}
		t.Add(m.Ply, m.Seat, m.Move, chance, lost, m.Class, better)
	}
	if err := t.Write(out); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for seat, total := range rep.Totals {
		fmt.Fprintf(out, "%-8s  %s, %s, %s, %s; %.1f %% lost on average\n", game.Seat(seat), count(total.Moves, "move", "moves"),
			count(total.Inaccuracies, "inaccuracy", "inaccuracies"), count(total.Mistakes, "mistake", "mistakes"),
			count(total.Blunders, "blunder", "blunders"), 100*total.Lost)
	}
	return nil
}

// loses reports whether a file, of an earlier run, has games that this one has not
// analysed, so that annotate would lose them.
func (w *reviewing) loses(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	done := map[string]bool{}
	for i, rep := range w.reports {
		if rep != nil {
			done[w.games[i].ID] = true
		}
	}
	for r, err := range record.File(path) {
		if err == nil && !done[r.ID] {
			return true
		}
	}
	return false
}

// annotate writes the records that are analysed to a file, with the analysis in
// comments. An existing file is replaced when the new one is complete.
func (w *reviewing) annotate(path string) error {
	var all bytes.Buffer
	for i, rep := range w.reports {
		if rep == nil {
			continue
		}
		line, err := record.Encode(rep.Annotate(w.games[i]))
		if err != nil {
			return err
		}
		all.Write(line)
	}
	if all.Len() == 0 {
		return nil
	}
	return atomicfile.WriteBytes(path, all.Bytes())
}
