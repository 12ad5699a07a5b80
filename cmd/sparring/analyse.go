package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/analysis"
	"sparring/pipe/external"
	"sparring/pipe/playerspec"
	"sparring/protocol"
	"sparring/record"
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
(--record, --ply) of --data or of the sources that follow the flags. ` + aSource + `

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
	fl.BoolVar(&f.json, "json", false, `print JSON: an object for each depth of each position, the last one with "final":true`)
	fl.StringVar(&f.record, "record", "", "analyse a position of the game with this ID, or the game of a file that has one")
	fl.IntVar(&f.ply, "ply", 0, "with --record: after this many plies (default: before the last move)")
	fl.StringVar(&f.data, "data", "data", "with --record: data directory")
	return c
}

// analysed is a position to analyse.
type analysed struct {
	id  string // name in the output, or ""
	pos game.Position
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
	if _, err := writing(positions[0].pos, game.Notation(f.notation)); err != nil {
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
		if c.Context().Err() != nil {
			return fmt.Errorf("interrupted after %d of %d positions", i, len(positions))
		}
		if i > 0 && !f.json {
			fmt.Fprintln(c.OutOrStdout())
		}
		if err := f.analyse(c, a, p); err != nil {
			if p.id != "" {
				err = fmt.Errorf("%s: %w", p.id, err)
			}
			return err
		}
	}
	return nil
}

// positions returns what is to be analysed, at least one position.
func (f *analyseFlags) positions(c *cobra.Command, args []string) ([]analysed, error) {
	switch {
	case f.record != "" && (f.position != "" || f.moves != "" || f.rules != ""):
		return nil, usagef("--record has its own position: leave out --rules, --position and --moves")
	case f.record != "":
		p, err := f.recorded(c, args)
		return []analysed{p}, err
	case c.Flags().Changed("ply"):
		return nil, usagef("--ply goes with --record")
	case len(args) > 0 && (f.position != "" || f.moves != ""):
		return nil, usagef("want either --position and --moves, or files")
	case len(args) == 0:
		pos, err := f.setup()
		if err != nil {
			return nil, err
		}
		if err := playMoves(pos, game.Notation(f.notation), f.moves); err != nil {
			return nil, usagef("--moves, %w", err)
		}
		return []analysed{{pos: pos}}, nil
	}
	if f.game == "" {
		return nil, usagef("--game is required: %s", anyGame())
	}
	if _, err := catalog.Game(f.game); err != nil {
		return nil, &usageError{err}
	}
	var all []analysed
	for _, name := range args {
		some, err := f.readFile(name, c.InOrStdin())
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no positions in %s", strings.Join(args, ", "))
	}
	return all, nil
}

func (f *analyseFlags) readFile(name string, stdin io.Reader) ([]analysed, error) {
	in := stdin
	if name == "-" {
		name = "standard input"
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	var all []analysed
	rules := f.rules
	lines := bufio.NewScanner(in)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if sets := strings.Fields(line); sets[0] == "rules" && len(sets) > 1 {
			if f.rules == "" {
				rules = sets[1]
			}
			continue
		}
		p, err := readPosition(f.game, rules, game.Notation(f.notation), line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if p.id == "" {
			p.id = fmt.Sprintf("%s:%d", name, n)
		}
		all = append(all, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return all, nil
}

// operation finds the operations of EPD: an opcode, operands and a semicolon.
var operation = regexp.MustCompile(`(?:^|\s)(id|bm|am|ac[dns]|c\d|ce|dm|eco|fmvn|hmvc|noop|pm|pv|rc|sm|v\d)(?:\s+([^;]*))?;`)

// readPosition reads a line of a file of positions.
func readPosition(gameName, rules string, n game.Notation, line string) (p analysed, err error) {
	for _, op := range operation.FindAllStringSubmatch(line, -1) {
		if op[1] == "id" {
			p.id = strings.Trim(strings.TrimSpace(op[2]), `"`)
		}
	}
	if at := operation.FindStringIndex(line); at != nil {
		line = line[:at[0]]
	}
	start, moves, _ := strings.Cut(" "+line+" ", " moves ")
	if p.pos, err = catalog.Setup(gameName, rules, strings.TrimSpace(start)); err != nil {
		return p, err
	}
	return p, playMoves(p.pos, n, moves)
}

// recorded returns the position of --record and --ply. The game is in the sources, if
// there are any.
func (f *analyseFlags) recorded(c *cobra.Command, sources []string) (p analysed, err error) {
	var r *record.Record
	if len(sources) > 0 {
		r, err = f.archive.find(c, f.record, sources)
	} else {
		var games []*record.Record
		if games, err = f.archive.named(c, []string{f.record}); len(games) > 1 {
			return p, usagef("--record: %s has %d games; want --record ID %s", f.record, len(games), f.record)
		}
		if err == nil {
			r = games[0]
		}
	}
	if err != nil {
		return p, err
	}
	if f.game != "" && f.game != r.Game {
		return p, usagef("--game %s: the record is of %s", f.game, r.Rules)
	}
	start, moves, err := analysis.Moves(r)
	if err != nil {
		return p, fmt.Errorf("game %s: %w", r.ID, err)
	}
	ply := max(len(moves)-1, 0)
	if c.Flags().Changed("ply") {
		ply = f.ply
	}
	if ply < 0 || ply > len(moves) {
		return p, usagef("--ply %d: the game has %d plies", ply, len(moves))
	}
	for _, m := range moves[:ply] {
		game.PlayOn(start)
		if _, err := game.PlayText(start, m); err != nil {
			return p, fmt.Errorf("game %s: %w", r.ID, err)
		}
	}
	return analysed{fmt.Sprintf("game %s after ply %d", r.ID, ply), start}, nil
}

// analyse analyses one position and prints what was found.
func (f *analyseFlags) analyse(c *cobra.Command, a *analysis.Analyst, p analysed) error {
	out := c.OutOrStdout()
	v := analysisView{ID: p.id, Game: p.pos.Rules().Game, Rules: p.pos.Rules().Name, Position: p.pos.String(), Turn: p.pos.Turn(),
		Outcome: p.pos.Outcome().Result, Reason: p.pos.Outcome().Reason, Lines: []lineView{}, notation: game.Notation(f.notation), pos: p.pos}
	if v.Outcome != game.Undecided {
		v.Final = true
		return v.write(out, f.json)
	}
	s, err := a.Open("analysis", p.pos.Rules())
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
		case !f.json && show.live():
			show.set(append(v.text(), fmt.Sprintf("%-9s for %v; Ctrl-C ends the search", "running", time.Since(began).Round(time.Second)))...)
		}
	}
	found, err := s.Search(c.Context(), p.pos, nil, update)
	show.clear()
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

// analysisView is the analysis of a position as the analyse command shows it.
type analysisView struct {
	ID       string      `json:"id,omitempty"` // of a position of a file or a record
	Game     string      `json:"game"`
	Rules    string      `json:"rules"`
	Position string      `json:"position"`
	Turn     game.Seat   `json:"turn"`
	Outcome  game.Result `json:"outcome"` // by the rules; then nothing is searched
	Reason   game.Reason `json:"reason"`
	Engine   string      `json:"engine,omitempty"`
	Final    bool        `json:"final"`
	Source   string      `json:"source,omitempty"` // final: search, external or the kind of a proof
	Resigns  bool        `json:"resigns,omitempty"`
	Depth    int         `json:"depth"`
	SelDepth int         `json:"seldepth"`
	Nodes    uint64      `json:"nodes"`
	TimeMS   int64       `json:"time_ms"`
	NPS      uint64      `json:"nps"`
	HashFull int         `json:"hashfull"` // thousandths
	Lines    []lineView  `json:"lines"`    // best first

	pos      game.Position
	notation game.Notation
}

// lineView is a line of an analysis. Values are those of the side to move; they are
// null in an opening procedure, and from programs that give none.
type lineView struct {
	Score  *int     `json:"score"`            // in the engine's unit
	Chance *float64 `json:"chance"`           // of winning, 0 to 1, draws counted half
	Result string   `json:"result,omitempty"` // win or loss, if that is proven
	Plies  int      `json:"plies,omitempty"`  // of the proven result
	PV     []string `json:"pv"`
}

// take notes the lines.
func (v *analysisView) take(lines []search.Info, scored bool) {
	v.Lines = v.Lines[:0:0]
	for i, l := range lines {
		if i == 0 {
			v.Depth, v.SelDepth, v.HashFull = l.Depth, l.SelDepth, l.HashFull
		}
		if l.Nodes >= v.Nodes {
			v.Nodes, v.NPS, v.TimeMS = l.Nodes, l.NPS, l.Time.Milliseconds()
		}
		line := lineView{PV: game.FormatLine(v.pos, v.notation, l.PV)}
		if scored {
			score, chance := int(l.Score), l.WinProb
			line.Score, line.Chance = &score, &chance
			if plies, ok := search.MateIn(l.Score); ok {
				line.Result, line.Plies = "win", plies
				if plies < 0 || plies == 0 && l.Score < 0 {
					line.Result, line.Plies = "loss", -plies
				}
			} else if l.Score >= search.RepBound {
				line.Result = "win"
			} else if l.Score <= -search.RepBound {
				line.Result = "loss"
			}
		}
		v.Lines = append(v.Lines, line)
	}
}

// value says what a line is worth.
func (l *lineView) value() string {
	switch {
	case l.Result != "" && l.Plies > 0:
		return fmt.Sprintf("%s in %s", l.Result, count(l.Plies, "ply", "plies"))
	case l.Result != "":
		return l.Result + " by repetition"
	case l.Chance != nil:
		return fmt.Sprintf("%.0f %%  %+d", 100**l.Chance, *l.Score)
	}
	return "no score"
}

// count writes a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// write prints the analysis.
func (v *analysisView) write(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(v)
	}
	_, err := fmt.Fprintln(out, strings.Join(v.text(), "\n"))
	return err
}

// text returns the analysis as lines.
func (v *analysisView) text() (lines []string) {
	say := func(what, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%-9s ", what)+fmt.Sprintf(format, args...))
	}
	if v.ID != "" {
		say("id", "%s", v.ID)
	}
	say("rules", "%s", v.Rules)
	say("position", "%s", v.Position)
	if v.Outcome != game.Undecided {
		say("outcome", "%s (%s)", v.Outcome, v.Reason)
		return lines
	}
	say("to act", "%s", v.Turn)
	say("engine", "%s", v.Engine)
	searched := fmt.Sprintf("%d nodes in %.2f s", v.Nodes, float64(v.TimeMS)/1000)
	if v.SelDepth > 0 {
		searched = fmt.Sprintf("selective %d, ", v.SelDepth) + searched
	}
	if v.Depth > 0 {
		searched = fmt.Sprintf("depth %d, ", v.Depth) + searched
	}
	if v.NPS > 0 {
		searched += fmt.Sprintf(", %d nodes/s", v.NPS)
	}
	if v.HashFull > 0 {
		searched += fmt.Sprintf(", hash %.1f %%", float64(v.HashFull)/10)
	}
	say("searched", "%s", searched)
	switch {
	case v.Resigns && len(v.Lines) == 0:
		say("result", "the engine resigns")
	case len(v.Lines) > 0 && v.Lines[0].Result != "":
		say("result", "%s", v.Lines[0].value())
	}
	values := 0
	for i := range v.Lines {
		values = max(values, len(v.Lines[i].value()))
	}
	for i := range v.Lines {
		say(fmt.Sprintf("line %d", i+1), "%-*s  %s", values, v.Lines[i].value(), strings.Join(v.Lines[i].PV, " "))
	}
	return lines
}
