package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/engine/search"
	"sparring/game"
	"sparring/lab/study/analysis"
	"sparring/pipe/external"
	"sparring/pipe/playerspec"
	"sparring/protocol"
)

// analystFlags name the engine of an analysis and the limits of its searches.
type analystFlags struct {
	engine        string
	nodes         uint64
	depth, mate   int
	time          time.Duration
	hash, threads int
}

func (f *analystFlags) flags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.engine, "engine", playerspec.Self, "spec of the engine: self, self:level=5, uci:PATH, gomocup:PATH, ...")
	fl.Uint64Var(&f.nodes, "nodes", 0, "end a search after this many nodes")
	fl.IntVar(&f.depth, "depth", 0, "end a search after this depth, in plies")
	fl.DurationVar(&f.time, "time", 0, "end a search after this time, such as 10s")
	fl.IntVar(&f.hash, "hash", 64, "hash table, MiB")
	fl.IntVar(&f.threads, "threads", 1, "search threads; more than one does not give the same result each time")
}

// limits returns the limits of a search.
func (f *analystFlags) limits() (search.Limits, error) {
	switch {
	case f.depth < 0 || f.depth > search.MaxPly:
		return search.Limits{}, usagef("--depth %d: want 1 to %d, or 0 for no limit", f.depth, search.MaxPly)
	case f.mate < 0:
		return search.Limits{}, usagef("--mate %d: want a number of moves, or 0 for no limit", f.mate)
	case f.time < 0:
		return search.Limits{}, usagef("--time %v: want a positive time", f.time)
	}
	return search.Limits{Nodes: f.nodes, Depth: f.depth, Mate: f.mate, Hard: f.time, Threads: f.threads}, checkSizes(f.hash, f.threads)
}

// analyst opens the engine for a game. Close it.
func (f *analystFlags) analyst(gameName string, lines int, l search.Limits) (*analysis.Analyst, error) {
	a, err := analysis.New(gameName, f.engine, lines, l, playerspec.Options{
		HashBytes: f.hash << 20, Threads: f.threads, Shipped: configs.Books(), LevelElo: levelElo})
	if err != nil {
		return nil, usagef("--engine: %w", err)
	}
	return a, nil
}

// endless reports whether nothing but the user ends a search.
func endless(a *analysis.Analyst) bool {
	l := a.Limits()
	return l.Nodes == 0 && l.Depth == 0 && l.Hard == 0 && l.Mate == 0 && !limited(a.Spec())
}

// analyseFlags are the flags of the analyse command.
type analyseFlags struct {
	place
	analystFlags
	archive
	moves, notation string
	record          string
	ply             int
	lines           int
	json            bool
}

func analyseCommand() *cobra.Command {
	f := analyseFlags{}
	c := &cobra.Command{
		Use:   "analyse [FILE... | --record ID [SOURCE...]]",
		Short: "Analyse positions: the best lines with their winning chances, or a proven result",
		Long: `Analyse a position with our engine or another, within limits or until Ctrl-C. The
lines so far are shown live if standard error is a terminal, the result is
printed on standard output. Winning chances are those of the side to move, draws
counted half; a proven result is called win or loss, with its length in plies.

The position is given by --position and --moves, or is one of a recorded game
(--record, --ply) of --data or of the sources that follow the flags.
` + aSource + `

A FILE ("-" is standard input) has a position a line: as in opening files, a
position, "moves" with moves from the usual start, or both; or in EPD, of whose
operations id names the position in the output. Empty lines and lines that begin
with # are skipped. See docs/analysis.md.`,
		Example: `  sparring analyse --game xiangqi --moves "h2e2 h9g7" --lines 3
  sparring analyse --game amazons --rules 8x8 --time 10s --threads 4
  sparring analyse --game gomoku --engine gomocup:./pbrain --time 5s --moves "h8 i9"
  sparring analyse --game xiangqi --nodes 1000000 --json positions.epd | jq 'select(.final)'
  sparring analyse --record g5x2 --ply 24 games.jsonl`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.place.flags(c)
	f.analystFlags.flags(c)
	fl := c.Flags()
	c.Flags().Lookup("game").Usage = anyGame() + " (required, unless a record tells)"
	fl.IntVar(&f.mate, "mate", 0, "end a search with a proven win in at most this many moves")
	fl.StringVar(&f.moves, "moves", "", "moves to play first, separated by spaces")
	fl.StringVar(&f.notation, "notation", "", "notation of moves: iccs, uci, wxf, chinese (Xiangqi); slash, hyphens, parens (Amazons)")
	fl.IntVar(&f.lines, "lines", 1, "number of lines, the best first (MultiPV)")
	fl.BoolVar(&f.json, "json", false, `print JSON: an object for each new depth of each position, ten a second at most, the last one with "final":true`)
	fl.StringVar(&f.record, "record", "", "analyse a position of the game with this ID, or the game of a file that has one")
	fl.IntVar(&f.ply, "ply", 0, "with --record: after this many plies (default: before the last move)")
	fl.StringVar(&f.data, "data", "data", "with --record: data directory")
	return c
}

func (f *analyseFlags) run(c *cobra.Command, args []string) error {
	if f.lines < 1 || f.lines > 256 {
		return usagef("--lines %d: want 1 to 256", f.lines)
	}
	l, err := f.limits()
	if err != nil {
		return err
	}
	positions, err := f.positions(c, args)
	if err != nil {
		return err
	}
	if _, err := notationOf(positions[0].pos, game.Notation(f.notation)); err != nil {
		return err
	}
	a, err := f.analyst(positions[0].pos.Rules().Game, f.lines, l)
	if err != nil {
		return err
	}
	defer a.Close()
	if len(positions) > 1 && endless(a) {
		return usagef("a limit is required for several positions: --nodes, --depth, --time or --mate")
	}
	if o := a.Spec().Outside; o != nil && l.Hard == 0 && !o.Dialect.Stops() && o.Dialect != external.SAU {
		return usagef("--time is required: a %s engine can't be stopped before it has answered", o.Dialect)
	}
	for i, p := range positions {
		left := fmt.Errorf("interrupted after %d of %d positions", i, len(positions))
		if c.Context().Err() != nil {
			return left
		}
		if i > 0 && !f.json {
			fmt.Fprintln(c.OutOrStdout())
		}
		if err := f.analyse(c, a, p); err != nil {
			if len(positions) > 1 && errors.Is(err, context.Canceled) { // while the engine started
				return left
			}
			if p.id != "" {
				err = fmt.Errorf("%s: %w", p.id, err)
			}
			return err
		}
	}
	return nil
}

// analyse analyses one position and prints what was found.
func (f *analyseFlags) analyse(c *cobra.Command, a *analysis.Analyst, p analysed) error {
	out := c.OutOrStdout()
	v := analysisView{ID: p.id, Game: p.pos.Rules().Game, Rules: p.pos.Rules().Name, Position: p.pos.String(), Turn: p.pos.Turn(),
		Outcome: p.pos.Outcome().Result, Reason: p.pos.Outcome().Reason, Lines: []lineView{}, notation: game.Notation(f.notation), pos: p.pos, program: a.Spec().Outside != nil}
	if v.Outcome != game.Undecided {
		v.Final = true
		return v.write(out, f.json)
	}
	s, err := a.Open(c.Context(), "analysis", p.pos.Rules())
	if err != nil {
		return err
	}
	defer s.Close()
	v.Engine = protocol.Engine(s.Describe()).String()
	show := newDisplay(c.ErrOrStderr())
	began := time.Now()
	update := func(lines []search.Info, fresh bool) {
		v.take(lines, true)
		switch {
		case f.json && fresh:
			v.write(out, true) // a failed write comes back at the end
		case !f.json && show.Live():
			show.Set(append(v.text(), fmt.Sprintf("%-9s for %v; Ctrl-C ends the search", "running", time.Since(began).Round(time.Second)))...)
		}
	}
	found, err := s.Search(c.Context(), p.pos, nil, update)
	show.Clear()
	if err != nil {
		return err
	}
	for _, text := range found.Result.Incidents {
		fmt.Fprintln(c.ErrOrStderr(), "sparring:", text)
	}
	v.take(found.Lines, found.Scored)
	v.Final, v.Source, v.Resigns = true, found.Result.Source, found.Result.Resign
	took := cmp.Or(found.Result.Time, time.Since(began))
	v.Nodes, v.TimeMS = max(v.Nodes, found.Result.Nodes), took.Milliseconds()
	v.NPS = uint64(float64(v.Nodes) / max(took.Seconds(), 1e-3))
	if len(v.Lines) == 0 && !v.Resigns {
		return errors.New("stopped before the engine had found a move")
	}
	return v.write(out, f.json)
}
