package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/elo"
	"sparring/lab/match"
	"sparring/lab/openings"
	"sparring/lab/overnats"
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
}

func matchCommand() *cobra.Command {
	var f matchFlags
	c := &cobra.Command{
		Use:   "match",
		Short: "Play engines against each other and say how sure the outcome is",
		Long: `Play engines against each other, each opening twice with the seats changed, and
say how sure the outcome is. A player is a spec: self, self:nodes=10000,
uci:fairy-stockfish, ... With --json the games are kept as they end, and the
same command goes on where it was stopped. See docs/match.md.`,
		Example: `  sparring match --game xiangqi --a self:nodes=2000 --b self:nodes=1000 --games 20
  sparring match --game xiangqi --a self --b uci:fairy-stockfish --clock movetime=100ms --json out.jsonl`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			plan, err := f.plan()
			if err != nil {
				return &usageError{err}
			}
			if f.tables != "" {
				done, err := f.judgeByTables(c, plan)
				if err != nil {
					return usagef("--tablebase: %w", err)
				}
				defer done()
			}
			if f.over == overNATS {
				done, err := platformBackend(c, plan)
				if err != nil {
					return err
				}
				defer done()
			}
			return runMatch(c, plan, f.json)
		},
	}
	f.conditions(c)
	fl := c.Flags()
	fl.StringVar(&f.a, "a", "", "spec of the player that is measured")
	fl.StringVar(&f.b, "b", "", "spec of its opponent")
	fl.StringArrayVar(&f.engines, "engine", nil, "spec of a player, repeated: instead of --a and --b")
	fl.StringVar(&f.tournament, "tournament", string(match.RoundRobin), "roundrobin, or gauntlet: the first meets all others")
	fl.StringVar(&f.sprt, "sprt", "", "stop by sequential test, such as elo0=0,elo1=5 (alpha=0.05,beta=0.05 may be added)")
	fl.StringVar(&f.json, "json", "", "result file; where it is there already, the match goes on")
	fl.StringVar(&f.tables, "tablebase", "", "adjudicate wins that the endgame tables in this directory know (Xiangqi)")
	fl.StringVar(&f.over, "over", "", "nats: the games are played by bots on a platform; --a and --b are players there, or pool:NAME")
	return c
}

// conditions are the flags that say what is played, and how, whoever plays.
func (f *matchFlags) conditions(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.game, "game", "", anyGame()+" (required)")
	fl.StringVar(&f.rules, "rules", "", "rule set, such as wxf or renju-15 (default: the game's)")
	fl.IntVar(&f.games, "games", 100, "games of each pairing, an even number")
	fl.StringVar(&f.clock, "clock", "", "5+0.05 (or 300, 60/5x10), movetime=100ms, nodes=N, depth=N; may be left out where every spec has a limit")
	fl.StringVar(&f.openings, "openings", "", "file of openings, shipped, or none (default: balanced random ones are made; sau: players want none)")
	fl.Uint64Var(&f.seed, "seed", 1, "for the openings, their order, and all that is drawn by lot")
	fl.IntVar(&f.concurrency, "concurrency", 1, "games at once")
	fl.DurationVar(&f.margin, "margin", 50*time.Millisecond, "how far a move may overshoot its time before it has lost")
	fl.DurationVar(&f.patience, "patience", 5*time.Minute, "how long a move without a clock may take")
	fl.IntVar(&f.hash, "hash", 64, "hash table of each player, MiB")
	fl.IntVar(&f.threads, "threads", 1, "threads of each player")
	fl.StringVar(&f.resign, "resign", "", "adjudicate wins, such as chance=0.02,moves=4: both players agree for so many moves")
	fl.StringVar(&f.draw, "draw", "", "adjudicate draws, such as within=0.02,moves=8,after=80: both players agree")
	fl.IntVar(&f.maxPlies, "max-plies", 0, "adjudicate a draw after so many plies; 0: never")
}

// plan is what the flags ask for, but for its result file.
func (f *matchFlags) plan() (*match.Plan, error) {
	var errs []error
	check := func(flag string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	t := match.Terms{
		V: match.FileVersion, ID: match.NewID(), Game: f.game, Kind: match.Kind(f.tournament), Seed: f.seed,
		MarginMS: f.margin.Milliseconds(), PatienceMS: f.patience.Milliseconds(),
		HashMB: f.hash, Threads: f.threads, MaxPlies: f.maxPlies, Over: f.over, Build: engine.Build(),
	}
	var err error
	t.Players, err = f.players()
	errs = append(errs, err)
	var labels []string
	var wholeGames []string // players that take over no position
	own := f.over == ""     // every player has a limit of its own
	if f.over == "" {
		for _, text := range t.Players {
			s, err := playerspec.Parse(text)
			if err == nil {
				err = s.Check(f.game)
			}
			errs = append(errs, err)
			labels = append(labels, s.Name)
			own = own && limited(s)
			if o := s.Outside; o != nil && !o.Dialect.SetsUp() {
				wholeGames = append(wholeGames, text)
			}
		}
	}
	if strings.Join(labels, "") != "" {
		t.Labels = labels
	}
	t.Limit, err = f.limit(own)
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
	errs = append(errs, err)
	if rules != nil {
		t.Rules = rules.Name
		plan.Openings, t.Openings, err = openingsFor(rules, f.openings, f.seed)
		check("openings", err)
		if err == nil && len(wholeGames) > 0 {
			check("openings", fromTheStart(rules, plan.Openings, wholeGames))
		}
	}
	switch f.over {
	case "":
	case overNATS:
		errs = append(errs, overnats.Check(&t))
	default:
		check("over", fmt.Errorf("%.20q: want nats, or nothing for this machine", f.over))
	}
	plan.Terms = t
	plan.Backend = &match.Local{Open: func(spec string) (engine.Searcher, error) {
		return playerspec.Open(spec, f.game, playerspec.Options{HashBytes: f.hash << 20, Threads: f.threads, Shipped: configs.Books()})
	}}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return plan, plan.Validate()
}

// players are the specs of --a and --b, or of --engine.
func (f *matchFlags) players() ([]string, error) {
	switch {
	case len(f.engines) > 0 && f.a+f.b != "":
		return nil, errors.New("--engine stands instead of --a and --b")
	case len(f.engines) > 0:
		return f.engines, nil
	case f.a == "" || f.b == "":
		return nil, errors.New("--a and --b are required, or --engine twice or more")
	}
	return []string{f.a, f.b}, nil
}

// limited reports whether a player bounds its moves by itself.
func limited(s playerspec.Spec) bool {
	if o := s.Outside; o != nil {
		return o.Nodes > 0 || o.Depth > 0
	}
	return s.Nodes > 0 || s.Depth > 0 || s.Level > 0
}

// limit is what a move may take; without --clock, what the players allow
// themselves if each does.
func (f *matchFlags) limit(own bool) (match.Limit, error) {
	switch {
	case f.clock != "":
		return match.ParseLimit(f.clock)
	case own:
		return match.Limit{}, nil
	}
	return match.Limit{}, errors.New("required: 5+0.05, movetime=100ms, nodes=N or depth=N (but where every player has a limit of its own, as self:nodes=N)")
}

// rulesOf is the rule set that --game and --rules name.
func rulesOf(gameName, rules string) (*game.Rules, error) {
	if gameName == "" {
		return nil, errors.New("--game is required: " + anyGame())
	}
	name := gameName
	if rules != "" {
		name += "/" + strings.TrimPrefix(rules, gameName+"/")
	}
	return catalog.Rules(name)
}

// Values of --openings that are no files.
const (
	noOpenings      = "none"    // the usual start
	shippedOpenings = "shipped" // configs/openings
)

// openingsFor is the source of openings, and words that tell it from others.
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
		return openings.Start{}, noOpenings, nil // the procedure makes the opening
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
	return maker, fmt.Sprintf("made: %d plies, chance within %g of one half after %d nodes", recipe.Plies, recipe.Bound, judgeNodes), nil
}

// fromTheStart refuses what players that play only whole games can't begin from.
func fromTheStart(rules *game.Rules, from openings.Source, players []string) error {
	recipe, err := openings.Usual(rules)
	if err != nil {
		return err
	}
	why := ""
	if recipe.Plies == 0 {
		why = "the opening procedure of " + rules.Name + " makes the opening"
	} else if _, ok := from.(openings.Start); !ok {
		why = "want --openings none"
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%s: its protocol has no words for a position, it plays from the usual start alone: %s", strings.Join(players, ", "), why)
}

// judgeByTables opens the tables that --tablebase names; call done at the end.
func (f *matchFlags) judgeByTables(c *cobra.Command, plan *match.Plan) (done func(), err error) {
	local, ok := plan.Backend.(*match.Local)
	if !ok || f.over != "" {
		return nil, errors.New("the platform referees, not the match")
	}
	tables, err := matchTables(f.game, f.tables, func(err error) { fmt.Fprintln(c.ErrOrStderr(), "sparring: not used:", err) })
	if err != nil {
		return nil, err
	}
	local.Winner, plan.Terms.Tablebase = tableWinner(tables), tables.Men()
	return func() { tables.Close() }, nil // read only: nothing can be lost
}

// openingFile reads the openings of a file, or the shipped ones.
func openingFile(rules *game.Rules, from string) (set *openings.Set, name string, err error) {
	if from == shippedOpenings {
		return openings.Find(configs.Openings(), rules.Name)
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	if set, err = openings.Read(f, from); err != nil {
		return nil, "", err
	}
	return set, filepath.Base(from), set.For(rules.Name)
}

// runMatch plays the match and prints what came of it.
func runMatch(c *cobra.Command, plan *match.Plan, path string) error {
	errs := c.ErrOrStderr()
	if path != "" {
		file, err := match.OpenFile(path, &plan.Terms)
		if err != nil {
			return err
		}
		defer file.Close()
		if file.Torn() {
			fmt.Fprintf(errs, "sparring: %s: the last line was cut off; its game is played again\n", path)
		}
		if n := len(file.Games()); n > 0 {
			fmt.Fprintf(errs, "%s: going on after %d games\n", path, n)
		}
		plan.File = file
	}
	progress := newProgress(errs, plan)
	plan.Watch = progress.game
	begin := time.Now()
	standing, err := match.Run(c.Context(), *plan)
	progress.end()
	if standing.Games > 0 {
		if err := standing.Write(c.OutOrStdout(), plan.SPRT); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "time       %v\n", time.Since(begin).Round(time.Millisecond))
	}
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted after %d games", standing.Games)
		if path != "" {
			err = fmt.Errorf("%w; the same command goes on", err)
		}
	}
	return err
}
