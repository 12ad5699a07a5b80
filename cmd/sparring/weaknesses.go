package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sparring/engine/search"
	"sparring/game"
	"sparring/internal/atomicfile"
	"sparring/internal/texttable"
	"sparring/lab/match"
	"sparring/lab/match/openings"
	"sparring/lab/study/analysis"
	"sparring/lab/study/weakness"
	"sparring/record"
	"sparring/record/format"
)

// weaknessFlags are the flags of the weaknesses command.
type weaknessFlags struct {
	reviewFlags
	player    string
	game      string
	analyse   string
	positions string
	control   string
	group     string
	most      int
}

func weaknessesCommand() *cobra.Command {
	var from archive
	f := weaknessFlags{reviewFlags: reviewFlags{from: &from}}
	c := &cobra.Command{
		Use:   "weaknesses --player P [SOURCE...]",
		Short: "Find where a player is weaker than elsewhere, and in which positions",
		Long: `Group the games of a player by opening, opponent and length, its moves by colour,
phase, time left, kind and plies without progress, and its faults, and say which groups
are weaker than chance and strength explain. A group of moves is weak if the player
loses more there, compared with its opponents, than it does elsewhere: by a factor,
over undecided positions, beyond what a difference in strength explains. P is corrected
for the number of groups; up to 5 %, a group is called weak.

What a move lost is known from a search of every position (--analyse), by the code of
records analyse. The engine should search more than the players did. Without it, the
scores in the records are shown and no group of moves is tested: a player that searches
less notices less of what it loses.

--positions writes the positions before the player's worst moves, those of weak groups first, as openings
for match. They look bad because they were chosen for that. Whether a group is weak
is shown by a match from positions of --group, which are drawn at random whatever the
moves lost, and another from those of --control: as many positions of the same player
outside of the group, with the same winning chances at the same time of the game.

` + aSource,
		Example: `  sparring weaknesses --player uci:fairy-stockfish --analyse nodes=20000 games.jsonl
  sparring weaknesses --player 天津理工大学 --analyse nodes=50000 --keep searches.jsonl games/
  sparring weaknesses --player B --positions bad.txt games.jsonl
  sparring match --game xiangqi --a B --b A --openings bad.txt --clock 5+0.05
  sparring weaknesses --player B --group quiet --positions quiet.txt --control others.txt --most 100 more.jsonl`,
		RunE: func(c *cobra.Command, sources []string) error { return f.run(c, sources) },
	}
	fl := c.Flags()
	from.flags(c)
	fl.StringVar(&f.player, "player", "", "name or id of the player (required)")
	fl.StringVar(&f.game, "game", "", anyGame()+" (required if there are several)")
	fl.StringVar(&f.analyse, "analyse", "", "search every position: nodes=N, depth=N or movetime=1s (default: the scores in the records, which test no group of moves)")
	fl.StringVar(&f.engine, "engine", "self", "spec of the engine that searches, see records analyse")
	fileFlag(fl, &f.keep, "keep", "file for the searches; those already there are not made again")
	fl.IntVar(&f.hash, "hash", 64, "hash table, MiB")
	fl.IntVar(&f.threads, "threads", 1, "search threads")
	fl.IntVar(&f.concurrency, "concurrency", 1, "games analysed in parallel")
	fileFlag(fl, &f.positions, "positions", "file for the positions before the worst moves, as openings for match")
	fileFlag(fl, &f.control, "control", "file for as many other positions of the player, with like winning chances and plies")
	fl.StringVar(&f.group, "group", "", "write positions of this group of the table, drawn at random, instead of those before the worst moves")
	fl.IntVar(&f.most, "most", 20, "maximum number of moves to list, and of positions to write")
	fl.StringVar(&f.notation, "notation", "", "notation of moves: iccs, uci, wxf, chinese (Xiangqi); slash, hyphens, parens (Amazons)")
	fl.BoolVar(&f.json, "json", false, "print the groups and moves as JSON")
	return c
}

func (f *weaknessFlags) run(c *cobra.Command, sources []string) error {
	limits, err := f.check(sources)
	if err != nil {
		return err
	}
	games, err := f.from.all(c, sources)
	if err != nil {
		return err
	}
	if games, err = f.ofPlayer(games); err != nil {
		return err
	}
	games, repeated := distinct(games)
	if repeated > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "sparring: %s of another, which tells nothing new, left out\n", count(repeated, "game that repeats the moves", "games that repeat the moves"))
	}
	if games, _, err = reviewable(c, games); err != nil {
		return err
	}
	reports, err := f.reports(c, games, limits)
	if err != nil {
		return err
	}
	var all []*weakness.Game
	for i, r := range games {
		all = append(all, &weakness.Game{Record: r, Seat: f.seatOf(r), Report: reports[i]})
	}
	found, err := weakness.Find(all)
	if err != nil {
		return err
	}
	if f.positions != "" {
		if err := f.writePositions(c.ErrOrStderr(), found); err != nil {
			return err
		}
	}
	if f.json {
		return f.printJSON(c.OutOrStdout(), found)
	}
	return f.print(c.OutOrStdout(), found)
}

func (f *weaknessFlags) check(sources []string) (l search.Limits, err error) {
	switch {
	case f.player == "":
		return l, usagef("--player is required: a name, as records list prints it")
	case f.analyse == "" && f.keep != "":
		return l, usagef("--keep is for --analyse")
	case f.positions == "" && (f.control != "" || f.group != ""):
		return l, usagef("--control and --group are for --positions")
	case f.most < 1:
		return l, usagef("--most %d: want 1 or more", f.most)
	case f.concurrency < 1:
		return l, usagef("--concurrency %d: want 1 or more", f.concurrency)
	}
	if f.analyse != "" {
		m, err := match.ParseLimit(f.analyse)
		if err != nil || !strings.Contains(f.analyse, "=") {
			return l, usagef("--analyse %.40q: want nodes=N, depth=N or movetime=1s", f.analyse)
		}
		l = search.Limits{Nodes: m.Nodes, Depth: m.Depth, Hard: m.Clock.Period, Threads: f.threads}
	}
	if err := checkApart([2]string{"--keep", f.keep}, [2]string{"--positions", f.positions}, [2]string{"--control", f.control}); err != nil {
		return l, err
	}
	if err := cmp.Or(checkOutput("--positions", f.positions, sources...), checkOutput("--control", f.control, sources...)); err != nil {
		return l, err
	}
	return l, checkSizes(f.hash, f.threads)
}

// ofPlayer returns the finished games of the player, against others.
func (f *weaknessFlags) ofPlayer(games []*record.Record) (own []*record.Record, err error) {
	kinds := map[string]bool{}
	for _, r := range games {
		if !plays(r, f.player) || r.Result == game.Undecided || f.game != "" && r.Game != f.game || format.Identity(r.Seats[0]) == format.Identity(r.Seats[1]) {
			continue
		}
		own = append(own, r)
		kinds[r.Game] = true
	}
	switch {
	case len(own) == 0:
		return nil, fmt.Errorf("no finished game of player %q (have %s)", f.player, strings.Join(playersOf(games), ", "))
	case len(kinds) > 1:
		return nil, usagef("--game is required: %q has games of %d kinds", f.player, len(kinds))
	}
	return own, nil
}

// distinct returns the games without those whose players and moves are those of an
// earlier one, as between engines that do not vary, and how many those are. They are no
// further evidence.
func distinct(games []*record.Record) (all []*record.Record, repeated int) {
	seen := map[string]bool{}
	for _, r := range games {
		key := strings.Join([]string{format.Identity(r.Seats[0]), format.Identity(r.Seats[1]), r.Rules, r.Position}, "\n")
		for _, p := range r.Plies {
			key += " " + p.Move
		}
		if seen[key] {
			repeated++
			continue
		}
		seen[key] = true
		all = append(all, r)
	}
	return all, repeated
}

// seatOf returns the seat of the player.
func (f *weaknessFlags) seatOf(r *record.Record) game.Seat {
	if s := r.Seats[game.First]; s.Player == f.player || s.Display == f.player {
		return game.First
	}
	return game.Second
}

// reports returns what is known of the course of each game.
func (f *weaknessFlags) reports(c *cobra.Command, games []*record.Record, l search.Limits) (all []*analysis.Report, err error) {
	if f.analyse == "" {
		for _, r := range games {
			rep, err := analysis.Scored(r)
			if err != nil {
				return nil, err
			}
			all = append(all, rep)
		}
		return all, nil
	}
	return f.review(c, games, l)
}

// print prints the result for people.
func (f *weaknessFlags) print(out io.Writer, r *weakness.Result) error {
	fmt.Fprintf(out, "player    %s, %s, score %.1f %%", f.player, count(r.Games, "game", "games"), 100*r.Score)
	fmt.Fprintln(out)
	for _, n := range r.Faults {
		fmt.Fprintf(out, "lost by   %s: %s, the opponents %d\n", n.Name, count(n.Lost, "game", "games"), n.Theirs)
	}
	switch {
	case r.Judged > 0:
		fmt.Fprintf(out, "moves     %d judged; in undecided positions %.2f %% of winning chance lost a move, the opponents' %.2f %%\n", r.Judged, 100*r.Lost, 100*r.Theirs)
	case f.analyse != "":
		fmt.Fprintln(out, "moves     none judged")
	default:
		fmt.Fprintln(out, "moves     none judged: the records have no scores; give --analyse nodes=20000")
	}
	fmt.Fprintln(out)
	t := texttable.Table{{"BY", "GROUP", "GAMES", "SCORE", "ELSEWHERE", "MOVES", "LOST", "THEIRS", "WORSE BY", "P", ""}}
	for _, g := range r.Groups {
		t.Add(groupCells(g)...)
	}
	if err := t.Write(out); err != nil {
		return err
	}
	printVerdict(out, r)
	return f.printMoves(out, r)
}

// groupCells are the cells of a group in the table.
func groupCells(g weakness.Group) []any {
	score, elsewhere, moves, lost, theirs, worse, p := "", "", "", "", "", "", "not tested"
	if g.By.OfGames() {
		score, elsewhere = fmt.Sprintf("%.1f %%", 100*g.Score), fmt.Sprintf("%.1f %%", 100*g.Other)
	} else {
		moves, lost, theirs = fmt.Sprint(g.Moves), fmt.Sprintf("%.2f %%", 100*g.Lost), fmt.Sprintf("%.2f %%", 100*g.Theirs)
	}
	switch {
	case g.By.OfMoves():
		worse = fmt.Sprintf("x%.2f (%.2f to %.2f)", g.Factor, g.Low, g.High)
	case g.Tested:
		worse = fmt.Sprintf("%+.1f ± %.1f %%", 100*g.Excess, 100*g.Error)
	}
	switch {
	case g.Tested && g.P < 0.001:
		p = "< 0.001"
	case g.Tested:
		p = fmt.Sprintf("%.3f", g.P)
	}
	return []any{g.By, g.Name, g.Games, score, elsewhere, moves, lost, theirs, worse, p, map[bool]string{true: "weak"}[g.Weak]}
}

// weakerBelow is the score below which a player is the weaker one, and a group of moves may be
// called weak for that alone: the margins of package weakness do not suffice.
const weakerBelow = 0.4

// printVerdict says what the table shows, and what it does not.
func printVerdict(out io.Writer, r *weakness.Result) {
	tested := r.Tested()
	switch n := len(r.Weak()); {
	case len(r.Groups) == 0:
		fmt.Fprintln(out, "\nThere are too few games and moves to compare one group with the rest.")
	case tested == 0:
		fmt.Fprintln(out, "\nNo group was tested.")
	case n == 0:
		fmt.Fprintf(out, "\nNo group of %d is weaker than chance and strength explain.\n", tested)
	default:
		fmt.Fprintf(out, "\nWeak: %s of %d. If there were nothing but chance and strength, some group would be called weak in at most 5 %% of such tables.\n",
			count(n, "group", "groups"), tested)
	}
	if r.Score < weakerBelow && slices.ContainsFunc(r.Weak(), func(g weakness.Group) bool { return g.By.OfMoves() }) {
		fmt.Fprintln(out, "This is not certain: the player is the weaker one in these games, and where strength shows most, as in the middle game of Amazons, that alone can look like a weakness. Compare games against equals, or play a match from --positions.")
	}
	if r.Own && r.Judged > 0 {
		fmt.Fprintln(out, "Groups of moves are not tested: by its own scores, a player that notices less loses less. Give --analyse nodes=20000, or as many nodes as make the search stronger than the players.")
	}
}

// printMoves prints the worst moves.
func (f *weaknessFlags) printMoves(out io.Writer, r *weakness.Result) error {
	if len(r.Moves) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	t := texttable.Table{{"GAME", "PLY", "MOVE", "LOST", "BETTER", "WHAT", ""}}
	for _, m := range r.Moves[:min(len(r.Moves), f.most)] {
		p, err := before(m)
		if err != nil {
			return err
		}
		as, err := notationOf(p, game.Notation(f.notation))
		if err != nil {
			return err
		}
		written := func(text string) string {
			if text == "" {
				return ""
			}
			if move, err := p.Parse(text); err == nil {
				return as.format(move)
			}
			return text
		}
		t.Add(m.Game.Record.ID, m.Ply, cmp.Or(written(m.Text()), "none"), fmt.Sprintf("%.0f %%", 100*m.Lost), written(m.Best),
			strings.Join(m.Groups, ", "), map[bool]string{true: "weak"}[m.Weak])
	}
	return t.Write(out)
}

// before returns the position in which a move was played.
func before(m weakness.Move) (game.Position, error) {
	p, moves, err := analysis.Moves(m.Game.Record)
	if err != nil {
		return nil, err
	}
	for _, text := range moves[:m.Ply-1] {
		game.PlayOn(p)
		if _, err := game.PlayText(p, text); err != nil {
			return nil, err
		}
	}
	game.PlayOn(p)
	return p, nil
}

// groupsText names the groups of the table.
func groupsText(r *weakness.Result) string {
	if len(r.Groups) == 0 {
		return "there are too few games for any"
	}
	var names []string
	for _, g := range r.Groups {
		names = append(names, g.Title())
	}
	return "it has " + strings.Join(names, ", ")
}

// writePositions writes the positions that --positions and --control ask for, each once
// in both together.
func (f *weaknessFlags) writePositions(say io.Writer, r *weakness.Result) error {
	w := positionWriter{seen: map[uint64]bool{}}
	var chosen, controls []weakness.Move
	var of *weakness.Group
	if f.group != "" {
		g, ok := r.Named(f.group)
		if !ok {
			return usagef("--group %.60q: the table has no such group; %s", f.group, groupsText(r))
		}
		of, chosen = &g, r.Sample(g, f.most, w.take)
	} else {
		for _, m := range r.Moves {
			if len(chosen) < f.most && w.take(m) {
				chosen = append(chosen, m)
			}
		}
	}
	switch {
	case w.err != nil:
		return w.err
	case len(chosen) == 0 && of != nil:
		return fmt.Errorf("--group %s: no position of it is undecided", f.group)
	case len(chosen) == 0:
		return errors.New("--positions: no move of the player lost 10 % of winning chance or more")
	}
	if err := w.write(say, f.positions, fmt.Sprintf("Made by: sparring weaknesses --player %s", f.player), chosen); err != nil || f.control == "" {
		return err
	}
	controls, err := r.Controls(chosen, of, w.take)
	if err := cmp.Or(err, w.err); err != nil {
		return err
	}
	if len(controls) == 0 {
		return errors.New("--control: there are no other positions of the player")
	}
	return w.write(say, f.control, fmt.Sprintf("Made by: sparring weaknesses --player %s, as control of %s", f.player, filepath.Base(f.positions)), controls)
}

// positionWriter makes openings of the positions before moves.
type positionWriter struct {
	rules string // of the first
	seen  map[uint64]bool
	err   error
}

// take reports whether the position before a move can be an opening and is new.
func (w *positionWriter) take(m weakness.Move) bool {
	p, err := before(m)
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return false
	}
	rec := m.Game.Record
	w.rules = cmp.Or(w.rules, rec.Rules)
	o := openingOf(m)
	if _, err := o.Setup(p.Rules()); err != nil || rec.Rules != w.rules || o.String() == "" || w.seen[p.Key()] {
		return false // played on after an end, of another rule set, or the usual start
	}
	w.seen[p.Key()] = true
	return true
}

func openingOf(m weakness.Move) openings.Opening {
	o := openings.Opening{Start: m.Game.Record.Position}
	for _, ply := range m.Game.Record.Plies[:m.Ply-1] {
		o.Moves = append(o.Moves, ply.Move)
	}
	return o
}

// write writes the positions before moves to a file and says what they are.
func (w *positionWriter) write(say io.Writer, file, note string, moves []weakness.Move) error {
	set := openings.Set{Notes: []string{note}, Rules: []string{w.rules}}
	chance, ply := 0.0, 0.0
	for _, m := range moves {
		set.Openings = append(set.Openings, openingOf(m))
		chance += m.Chance / float64(len(moves))
		ply += float64(m.Ply) / float64(len(moves))
	}
	if err := atomicfile.Write(file, set.Write); err != nil {
		return err
	}
	fmt.Fprintf(say, "%s: %s, on average at ply %.0f with a winning chance of %.0f %%\n", file, count(len(moves), "position", "positions"), ply, 100*chance)
	return nil
}

// mistakeView is a move in JSON.
type mistakeView struct {
	Game   string   `json:"game"`
	Ply    int      `json:"ply"`
	Move   string   `json:"move,omitempty"` // absent: a fault
	Lost   float64  `json:"lost"`
	Best   string   `json:"best,omitempty"`
	Groups []string `json:"groups"`
	Weak   bool     `json:"weak"`
	First  string   `json:"first"`
	Second string   `json:"second"`
}

func (f *weaknessFlags) printJSON(out io.Writer, r *weakness.Result) error {
	view := struct {
		Player string `json:"player"`
		*weakness.Result
		Moves []mistakeView `json:"moves"`
	}{Player: f.player, Result: r, Moves: []mistakeView{}}
	for _, m := range r.Moves[:min(len(r.Moves), f.most)] {
		rec := m.Game.Record
		view.Moves = append(view.Moves, mistakeView{rec.ID, m.Ply, m.Text(), math.Round(1e4*m.Lost) / 1e4, m.Best, m.Groups, m.Weak,
			format.Name(rec.Seats[game.First]), format.Name(rec.Seats[game.Second])})
	}
	return json.NewEncoder(out).Encode(view)
}
