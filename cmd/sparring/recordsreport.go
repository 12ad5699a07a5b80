package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/internal/atomicfile"
	"sparring/lab/match"
	"sparring/lab/study/analysis"
	"sparring/lab/study/report"
	"sparring/record"
	"sparring/screen/static"
)

// reportFlags are the flags of records report.
type reportFlags struct {
	reviewFlags
	html    string
	lang    string
	analyse string
	boards  int
}

// Values of --analyse that are no limit.
const (
	analyseWorst = "worst" // only the positions of the worst moves
	analyseNone  = "none"
)

// worstNodes are the nodes of a search for the better line of one of the worst moves.
const worstNodes = 100_000

func recordsReport(from *archive) *cobra.Command {
	f := reportFlags{reviewFlags: reviewFlags{from: from}}
	c := &cobra.Command{
		Use:   "report [SOURCE...]",
		Short: "Write a page about many games: result, boards that replay, times, worst moves",
		Long: `Write a page about the games of the data directory or of the sources: who is better
and by how much, a crosstable with errors, times, depths and faults, the five worst
moves of each player with the better line, and every game on a board that replays.
The page is one file that needs no network, for phones, desktops and paper.

Moves are judged by the winning chances in the records, as the players saw them; our
engine adds the better lines of the worst moves. --analyse nodes=N searches every
position instead, as records analyse does, and --keep saves these searches.
` + aSource,
		Example: `  sparring records report match.jsonl --html report.html
  sparring records report --data data --html report.html --lang zh --analyse nodes=20000 --keep searches.jsonl`,
		RunE: func(c *cobra.Command, sources []string) error { return f.run(c, sources) },
	}
	fl := c.Flags()
	fileFlag(fl, &f.html, "html", "file to write (required)")
	fl.StringVar(&f.lang, "lang", "", strings.Join(static.Languages, " or ")+" (default: that of LC_ALL, LC_MESSAGES or LANG)")
	fl.StringVar(&f.analyse, "analyse", analyseWorst, "positions to search: "+analyseWorst+" (those of the worst moves), "+analyseNone+", or all with a limit: nodes=N, depth=N or movetime=1s")
	fl.IntVar(&f.boards, "boards", report.DefaultBoards, "maximum number of games with a board; all games count")
	fl.StringVar(&f.engine, "engine", "self", "spec of the engine that searches, see records analyse")
	fileFlag(fl, &f.keep, "keep", "file for the searches of all positions; those already there are not made again")
	fl.IntVar(&f.hash, "hash", 64, "hash table, MiB")
	fl.IntVar(&f.threads, "threads", 1, "search threads")
	fl.IntVar(&f.concurrency, "concurrency", 1, "games analysed in parallel")
	return c
}

func (f *reportFlags) run(c *cobra.Command, sources []string) error {
	if err := f.check(sources); err != nil {
		return err
	}
	games, err := f.from.all(c, sources)
	if err != nil {
		return err
	}
	if len(games) == 0 {
		return errors.New("no games to report")
	}
	o := report.Options{Lang: f.lang, From: sourcesText(f.from, sources), Build: engine.Build(), Now: time.Now(), Boards: f.boards}
	switch f.analyse {
	case analyseNone:
	case analyseWorst:
		better := &betterLines{flags: f, analysts: map[string]*analysis.Analyst{}}
		defer better.close()
		o.Better = better.find
	default:
		if o.Reviews, err = f.reviews(c, games); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	boards, err := report.Write(c.Context(), &page, games, o)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(f.html, page.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %s, %d with a board, %d KiB\n", f.html, count(len(games), "game", "games"), boards, (page.Len()+1023)>>10)
	return nil
}

// check checks the flags, and sets the language.
func (f *reportFlags) check(sources []string) error {
	f.lang = cmp.Or(f.lang, environmentLanguage())
	switch {
	case f.html == "":
		return usagef("--html is required: the file to write")
	case !slices.Contains(static.Languages, f.lang):
		return usagef("--lang %.10q: want %s", f.lang, strings.Join(static.Languages, " or "))
	case f.boards < 0:
		return usagef("--boards %d: want 0 or more", f.boards)
	case f.concurrency < 1:
		return usagef("--concurrency %d: want 1 or more", f.concurrency)
	}
	if err := cmp.Or(checkApart([2]string{"--keep", f.keep}, [2]string{"--html", f.html}), checkOutput("--html", f.html, sources...)); err != nil {
		return err
	}
	if err := checkSizes(f.hash, f.threads); err != nil {
		return err
	}
	if f.analyse == analyseWorst || f.analyse == analyseNone {
		if f.keep != "" {
			return usagef("--keep is for --analyse with a limit, such as nodes=20000")
		}
		return nil
	}
	_, err := f.searchLimits()
	return err
}

// searchLimits reads --analyse.
func (f *reportFlags) searchLimits() (search.Limits, error) {
	if !strings.Contains(f.analyse, "=") {
		return search.Limits{}, usagef("--analyse %.20q: want %s, %s, nodes=N, depth=N or movetime=1s", f.analyse, analyseWorst, analyseNone)
	}
	l, err := match.ParseLimit(f.analyse)
	if err != nil {
		return search.Limits{}, usagef("--analyse: %w", err)
	}
	return search.Limits{Nodes: l.Nodes, Depth: l.Depth, Hard: l.Clock.Period, Threads: f.threads}, nil
}

// reviews analyses all positions of the games.
func (f *reportFlags) reviews(c *cobra.Command, games []*record.Record) (map[string]*analysis.Report, error) {
	limits, err := f.searchLimits()
	if err != nil {
		return nil, err
	}
	games, _, err = reviewable(c, games)
	if err != nil {
		return nil, err
	}
	all, err := f.review(c, games, limits)
	if err != nil {
		return nil, err
	}
	reviews := map[string]*analysis.Report{}
	for _, rep := range all {
		reviews[rep.Game] = rep
	}
	return reviews, nil
}

// sourcesText says for people where games come from.
func sourcesText(a *archive, sources []string) string {
	var names []string
	for _, s := range sources {
		if s == fromStandardInput {
			names = append(names, standardInputName)
		} else {
			names = append(names, filepath.Base(s))
		}
	}
	if len(names) == 0 {
		names = []string{cmp.Or(a.server, a.data)}
	}
	return strings.Join(names, ", ")
}

// environmentLanguage is the language that the environment asks for, as POSIX has it.
func environmentLanguage() string {
	text := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
	if strings.HasPrefix(strings.ToLower(text), "zh") {
		return "zh"
	}
	return static.Languages[0]
}

// betterLines searches for the better lines of the worst moves.
type betterLines struct {
	flags    *reportFlags
	analysts map[string]*analysis.Analyst // by game
}

func (b *betterLines) close() {
	for _, a := range b.analysts {
		a.Close() // the searches have ended
	}
}

// find searches the position of a record after so many plies.
func (b *betterLines) find(ctx context.Context, r *record.Record, ply int) (line []string, err error) {
	a := b.analysts[r.Game]
	if a == nil {
		if a, err = b.flags.analyst(r.Game, 1, search.Limits{Nodes: worstNodes, Threads: b.flags.threads}); err != nil {
			return nil, err
		}
		b.analysts[r.Game] = a
	}
	p, moves, err := analysis.Moves(r)
	if err != nil {
		return nil, err
	}
	for _, m := range moves[:ply] {
		game.PlayOn(p)
		if _, err := game.PlayText(p, m); err != nil {
			return nil, err
		}
	}
	game.PlayOn(p)
	s, err := a.Open(ctx, r.ID, p.Rules())
	if err != nil {
		return nil, err
	}
	defer s.Close()
	found, err := s.Search(ctx, p, nil, nil)
	switch {
	case errors.Is(err, analysis.ErrNoLine): // it has none to tell
		return nil, nil
	case err != nil:
		return nil, err
	case found.Stopped:
		return nil, context.Cause(ctx)
	case len(found.Lines) == 0: // it resigns
		return nil, nil
	}
	return game.FormatLine(p, "", found.Lines[0].PV), nil
}
