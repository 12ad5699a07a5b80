package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/chart"
	"sparring/lab/match"
	"sparring/lab/match/elo"
	"sparring/lab/match/openings"
	"sparring/lab/match/overnats"
	"sparring/lab/study/report"
	"sparring/pipe/external"
	"sparring/pipe/playerspec"
)

// matchFlags are the flags of the match command.
type matchFlags struct {
	game, rules   string
	a, b          string
	engines       []string
	tournament    string
	games         int
	clock         string
	clockOf       []string
	openings      string
	seed          uint64
	concurrency   int
	sprt          string
	json          string
	margin        time.Duration
	patience      time.Duration
	hash, threads int
	resign, draw  string
	maxPlies      int
	tables        string
	over          string
	log           string
	plot          string
	nats          serverFlags
	wait          bool
	event         string
	ctx           context.Context // its end ends the reading of games for self:as=NAME
	errs          io.Writer       // what self:as=NAME finds
	title         string          // of the event, in records
	move          time.Duration   // longest for a move; 0: no limit
	memory        int             // MiB for a program whose spec has no limit; 0: none
}

// defaultPatience limits a move without a clock.
const defaultPatience = 5 * time.Minute

func matchCommand() *cobra.Command {
	var f matchFlags
	c := &cobra.Command{
		Use:   "match",
		Short: "Play engines against each other and report the result with its error",
		Long: `Play engines against each other, each opening twice with seats swapped, and
report the result with its error. A player is named by a spec: self,
self:nodes=10000, uci:fairy-stockfish, ... With --json every finished game is
saved, and the same command resumes the match. See docs/match.md.

The exit code is 0 for a match that was played to its end, 10 and 11 if --sprt
accepted H0 or H1, 3 if a player lost every game by its own fault, 2 for wrong
settings, and 1 for any other failure or an interruption.`,
		Example: `  sparring match --game xiangqi --a self:nodes=2000 --b self:nodes=1000 --games 20
  sparring match --game xiangqi --a self --b uci:fairy-stockfish --clock movetime=100ms --json out.jsonl`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.ctx, f.errs = c.Context(), c.ErrOrStderr()
			if err := f.follow(c); err != nil {
				return err
			}
			plan, err := f.plan()
			if err != nil {
				return usage(err)
			}
			if err := checkPlot(f.plot, [2]string{"--json", f.json}); err != nil {
				return err
			}
			if f.tables != "" {
				done, err := f.adjudicateByTables(c, plan)
				if err != nil {
					return usagef("--tablebase: %w", err)
				}
				defer done()
			}
			ctx := c.Context()
			if f.over == overNATS {
				var done func()
				if ctx, done, err = platformBackend(c, plan, &f.nats, f.wait); err != nil {
					return err
				}
				defer done()
			}
			sayUntold(c.ErrOrStderr(), &plan.Terms)
			return f.play(ctx, c, plan)
		},
	}
	f.conditions(c)
	fl := c.Flags()
	fl.StringVar(&f.a, "a", "", "spec of the player to measure")
	fl.StringVar(&f.b, "b", "", "spec of its opponent")
	fl.StringArrayVar(&f.engines, "engine", nil, "spec of a player, repeatable; replaces --a and --b")
	fl.StringVar(&f.tournament, "tournament", string(match.RoundRobin), "roundrobin, or gauntlet (the first player meets all others)")
	fl.StringArrayVar(&f.clockOf, "clock-of", nil, "NAME=CLOCK: the clock or limit of a player, by its name or spec, instead of --clock; repeatable")
	fl.StringVar(&f.sprt, "sprt", "", "stop by a sequential test, such as elo0=0,elo1=5 (optionally alpha=0.05,beta=0.05)")
	fileFlag(fl, &f.json, "json", "result file; an existing one is resumed")
	fl.StringVar(&f.tables, "tablebase", "", "adjudicate wins by the endgame tables in this directory (Xiangqi)")
	fl.StringVar(&f.over, "over", "", "nats: play on a platform; --a and --b are names of its players, or pool:NAME")
	fileFlag(fl, &f.log, "log", "folder for all that is said to and by the programs, one file per game (up to 8 MiB, together 1 GiB)")
	fl.StringVar(&f.event, "event", "", anEvent+": its game, rules, clock, limits, openings, memory and title, where no flag says otherwise")
	fl.Lookup("game").Usage = anyGame() + " (required, unless --event tells)"
	plotFlag(c, &f.plot, "the score over the games, and with --sprt of the LLR; of several players on a scale")
	f.nats.add(c)
	fl.BoolVar(&f.wait, "wait", false, "with --over nats: wait for the platform if it is not there yet")
	return c
}

// conditions adds the flags for game, limits, openings and adjudication.
func (f *matchFlags) conditions(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.game, "game", "", anyGame()+" (required)")
	fl.StringVar(&f.rules, "rules", "", "rule set, such as wxf or renju-15 (default: the game's)")
	fl.IntVar(&f.games, "games", 100, "games per pairing, an even number")
	fl.StringVar(&f.clock, "clock", "", "5+0.05 (or 300, 60/5x10), movetime=100ms, nodes=N, depth=N; optional if every player has a limit or, as sau: and botzone:, a time of its own")
	fl.StringVar(&f.openings, "openings", "", "opening file (see openings convert), shipped, or none (default: generated balanced openings; sau: players need none)")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random choices, including openings and their order")
	fl.IntVar(&f.concurrency, "concurrency", 1, "games played in parallel")
	fl.DurationVar(&f.move, "max-move", 0, "longest time for a move besides the clock, such as 30s; 0: no limit")
	fl.DurationVar(&f.margin, "margin", 50*time.Millisecond, "how far a move may exceed its time without losing the game")
	fl.DurationVar(&f.patience, "patience", defaultPatience, "time limit of a move without a clock")
	fl.IntVar(&f.hash, "hash", 64, "hash table per player, MiB")
	fl.IntVar(&f.threads, "threads", 1, "threads per player")
	fl.StringVar(&f.resign, "resign", "", "adjudicate wins, such as chance=0.02,moves=4: both players agree for that many moves")
	fl.StringVar(&f.draw, "draw", "", "adjudicate draws, such as within=0.02,moves=8,after=80: both players agree")
	fl.IntVar(&f.maxPlies, "max-plies", 0, "adjudicate a draw after this many plies; 0: never")
}

// follow takes over what --event prescribes.
func (f *matchFlags) follow(c *cobra.Command) error {
	if f.event == "" {
		return nil
	}
	e, err := openEvent(f.event)
	if err != nil {
		return err
	}
	f.title, f.memory = e.Title, e.Memory
	all := append(ofGame(e), prescription{"clock", clockOf(e)}, prescription{"openings", e.Openings})
	if e.Move > 0 {
		all = append(all, prescription{"max-move", e.Move.String()})
	}
	if e.Margin != nil {
		all = append(all, prescription{"margin", e.Margin.String()})
	}
	if e.MaxPlies > 0 {
		all = append(all, prescription{"max-plies", strconv.Itoa(e.MaxPlies)})
	}
	return follow(c, e, all...)
}

// bounded returns a spec with the event's limit of memory, if it names a program
// without one.
func (f *matchFlags) bounded(s playerspec.Spec, text string) string {
	if s.Outside == nil || s.Outside.Memory > 0 || f.memory == 0 {
		return text
	}
	limited := *s.Outside
	limited.Memory = int64(f.memory) << 20
	s.Outside = &limited
	return s.String()
}

// plan returns the match that the flags describe, without its result file.
func (f *matchFlags) plan() (*match.Plan, error) {
	var errs []error
	check := func(flag string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	t := match.Terms{
		V: match.FileVersion, ID: match.NewID(), Game: f.game, Kind: match.Kind(f.tournament), Seed: f.seed,
		MoveMS: f.move.Milliseconds(), Event: f.title, MarginMS: f.margin.Milliseconds(), PatienceMS: f.patience.Milliseconds(),
		HashMB: f.hash, Threads: f.threads, MaxPlies: f.maxPlies, Over: f.over, Build: engine.Build(),
	}
	asked, err := f.readPlayers(&t)
	errs = append(errs, err)
	t.Limits, err = limitsOf(t.Names(), f.clockOf)
	check("clock-of", err)
	free := slices.ContainsFunc(asked.untimed, func(i int) bool { _, ok := t.Limits[i]; return !ok })
	t.Limit, err = f.limit(f.over == "" && !free)
	check("clock", err)
	plan := &match.Plan{Games: f.games, Concurrency: f.concurrency}
	if f.sprt != "" {
		test, err := elo.ParseSPRT(f.sprt)
		check("sprt", err)
		plan.SPRT = &test
	}
	if f.resign != "" {
		t.Resign, err = match.ParseResign(f.resign)
		check("resign", err)
	}
	if f.draw != "" {
		t.Draw, err = match.ParseDraw(f.draw)
		check("draw", err)
	}
	rules, err := rulesOf(f.game, f.rules)
	errs = append(errs, err, checkPrograms(&t, rules, asked.programs))
	if rules != nil {
		t.Rules = rules.Name
		plan.Openings, t.Openings, err = openingsFor(rules, f.openings, f.seed)
		check("openings", err)
		if err == nil && len(asked.wholeGames) > 0 {
			check("openings", fromTheStart(rules, plan.Openings, asked.wholeGames))
		}
	}
	switch f.over {
	case "":
		errs = append(errs, checkHash(f.hash))
		if f.log != "" {
			check("log", external.CheckLog(f.log))
		}
	case overNATS:
		errs = append(errs, overnats.Check(&t))
		if f.log != "" {
			check("log", errors.New("over NATS: the engines run in the bots; set engineLog in their profiles"))
		}
	default:
		check("over", fmt.Errorf("%.20q: want nats, or no value for this machine", f.over))
	}
	if f.errs == nil {
		f.errs = io.Discard
	}
	if f.ctx == nil {
		f.ctx = context.Background()
	}
	like := newImitator(f.ctx, f.errs)
	plan.Terms = t
	plan.Backend = localBackend(&t, like, f.log)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return plan, plan.Validate()
}

// localBackend plays matches with such terms in this process.
func localBackend(t *match.Terms, like *imitator, log string) *match.Local {
	o := playerspec.Options{HashBytes: t.HashMB << 20, Threads: t.Threads, Shipped: configs.Books(), LevelElo: levelElo, Likeness: like.find, Log: log}
	return &match.Local{Open: func(spec string) (engine.Searcher, error) {
		s, err := playerspec.Open(spec, t.Game, o)
		if p, parseErr := playerspec.Parse(spec); err != nil && parseErr == nil && p.Outside == nil && !errors.Is(err, context.Canceled) {
			err = usage(err) // its book or games are read only now, but are a setting
		}
		return s, err
	}}
}

// needs is what players of this machine ask of a match.
type needs struct {
	untimed    []int     // players with neither a limit nor a time of their own
	programs   []program // of players
	wholeGames []string  // specs of players that cannot start from a position
}

// readPlayers sets the players of a match, and their labels.
func (f *matchFlags) readPlayers(t *match.Terms) (n needs, err error) {
	t.Players, err = f.players()
	if f.over != "" { // names, and not specs
		return n, err
	}
	errs := []error{err}
	var labels []string
	for i, text := range t.Players {
		s, err := playerspec.Parse(text)
		if err == nil {
			err = s.Check(f.game)
		}
		if err == nil {
			t.Players[i] = f.bounded(s, text)
		}
		errs = append(errs, err)
		labels = append(labels, s.Name)
		if err == nil && !limited(s) && !untimed(s) { // what is wrong is said once
			n.untimed = append(n.untimed, i)
		}
		if o := s.Outside; o != nil && !o.Dialect.SetsUp() {
			n.wholeGames = append(n.wholeGames, text)
		}
		if err == nil && s.Outside != nil {
			n.programs = append(n.programs, program{i, s})
		}
	}
	if strings.Join(labels, "") != "" {
		t.Labels = labels
	}
	return n, errors.Join(errs...)
}

// players returns the specs of --a and --b, or of --engine.
func (f *matchFlags) players() ([]string, error) {
	switch {
	case len(f.engines) > 0 && f.a+f.b != "":
		return nil, errors.New("--engine cannot be combined with --a and --b")
	case len(f.engines) > 0:
		return f.engines, nil
	case f.a == "" || f.b == "":
		return nil, errors.New("--a and --b are required, or --engine at least twice")
	}
	return []string{f.a, f.b}, nil
}

// rulesOf returns the rule set that --game and --rules name.
func rulesOf(gameName, rules string) (*game.Rules, error) {
	if gameName == "" {
		return nil, errors.New("--game is required: " + anyGame())
	}
	return catalog.RulesOf(gameName, rules)
}

// Special values of --openings.
const (
	noOpenings      = "none"    // the start position
	shippedOpenings = "shipped" // configs/openings
)

// openingsFor returns the source of openings and a description that identifies it.
func openingsFor(rules *game.Rules, from string, seed uint64) (openings.Source, string, error) {
	if from == noOpenings {
		return openings.Start{}, noOpenings, nil
	}
	if from != "" {
		set, name, err := openingFile(rules, from)
		if err != nil {
			return nil, "", err
		}
		return openings.Shuffle(set.Openings, seed), name + " " + set.Digest(), nil
	}
	recipe, err := openings.Usual(rules)
	if err != nil {
		return nil, "", err
	}
	if recipe.Plies == 0 {
		return openings.Start{}, noOpenings, nil // the players make the opening
	}
	recipe.Seed = seed
	judge, err := ownJudge(rules.Game, judgeNodes)
	if err != nil {
		return nil, "", err
	}
	maker, err := openings.NewMaker([]*game.Rules{rules}, []openings.Judge{judge}, recipe)
	if err != nil {
		return nil, "", err
	}
	return maker, fmt.Sprintf("generated: %d plies, winning probability within %g of one half after %d nodes", recipe.Plies, recipe.Bound, judgeNodes), nil
}

// fromTheStart returns an error unless all openings are the usual start, for players
// that cannot set up another position.
func fromTheStart(rules *game.Rules, from openings.Source, players []string) error {
	recipe, err := openings.Usual(rules)
	if err != nil {
		return err
	}
	why := ""
	if recipe.Plies == 0 {
		why = rules.Name + " has an opening procedure"
	} else if _, ok := from.(openings.Start); !ok {
		why = "want --openings none"
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%s: its protocol cannot set up a position: %s", strings.Join(players, ", "), why)
}

// adjudicateByTables opens the tables that --tablebase names; call done at the end.
func (f *matchFlags) adjudicateByTables(c *cobra.Command, plan *match.Plan) (done func(), err error) {
	local, ok := plan.Backend.(*match.Local)
	if !ok || f.over != "" {
		return nil, errors.New("the platform referees the games")
	}
	tables, err := matchTables(f.game, f.tables, func(err error) { fmt.Fprintln(c.ErrOrStderr(), "sparring: table ignored:", err) })
	if err != nil {
		return nil, err
	}
	local.Winner, plan.Terms.Tablebase = tableWinner(tables), tables.Men()
	return func() { tables.Close() }, nil // opened read-only
}

// openingFile reads an opening file, in any form, or the shipped openings.
func openingFile(rules *game.Rules, from string) (set *openings.Set, name string, err error) {
	if from == shippedOpenings {
		return openings.Find(configs.Openings(), rules.Name)
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	read, err := openings.Import(f, from, openings.ImportOptions{Usual: []string{rules.Name}})
	if err != nil {
		return nil, "", err
	}
	if n := len(read.Skipped); n > 0 {
		return nil, "", fmt.Errorf("%s can't be played, such as %w; openings convert leaves what can't be played out", count(n, "opening", "openings"), read.Skipped[0])
	}
	return read.Set, filepath.Base(from), read.For(rules.Name)
}

// play plays the match, prints the result and draws it.
func (f *matchFlags) play(ctx context.Context, c *cobra.Command, plan *match.Plan) error {
	begin := time.Now()
	standing, err := playMatch(ctx, c, plan, f.json)
	if standing == nil {
		return err
	}
	if standing.Games > 0 {
		if err := standing.Write(c.OutOrStdout(), plan.SPRT); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "time       %v\n", time.Since(begin).Round(time.Millisecond))
		verdict, err := report.Verdict("en", standing.Verdict(plan.SPRT))
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "verdict    %s\n", verdict)
		if f.plot != "" {
			if err := drawFile(f.plot, func(out io.Writer, format chart.Format) error { return standing.Draw(out, format, plan.SPRT) }); err != nil {
				return err
			}
		}
	}
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted after %s", count(standing.Games, "game", "games"))
		if f.json != "" {
			err = fmt.Errorf("%w; run the same command to resume", err)
		}
	}
	if errors.Is(err, match.ErrStart) && lostAll(standing) {
		fmt.Fprintf(c.ErrOrStderr(), "sparring: %v\n", err)
		return outcome(exitFaulty)
	}
	if err != nil {
		return err
	}
	return matchOutcome(standing, plan.SPRT)
}

// lostAll reports whether a player lost every game by its own fault.
func lostAll(s *match.Standing) bool {
	return slices.ContainsFunc(s.Players, func(p match.Tally) bool { return p.Games() > 0 && p.FaultCount() == p.Games() })
}

// matchOutcome returns the exit code of a match that was played to its end; nil for 0.
func matchOutcome(s *match.Standing, test *elo.SPRT) error {
	if lostAll(s) {
		return outcome(exitFaulty)
	}
	if test != nil {
		switch test.Verdict(s.Pairings[0].Pairs) {
		case elo.AcceptH0:
			return outcome(exitH0)
		case elo.AcceptH1:
			return outcome(exitH1)
		}
	}
	return nil
}
