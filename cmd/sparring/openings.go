package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/internal/atomicfile"
	"sparring/lab/match/openings"
	"sparring/pipe/playerspec"
)

// openingFlags are the flags of the openings make command.
type openingFlags struct {
	game   string
	rules  []string
	judges []string
	count  int
	plies  int
	bound  float64
	nodes  uint64
	seed   uint64
	out    string
}

func openingsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "openings",
		Short: "Generate, judge and convert openings for matches",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usagef("want a command (see %s --help)", c.CommandPath())
		},
	}
	c.AddCommand(makeOpeningsCommand(), judgeOpeningsCommand(), openingResultsCommand(), convertOpeningsCommand())
	return c
}

func makeOpeningsCommand() *cobra.Command {
	var f openingFlags
	c := &cobra.Command{
		Use:   "make",
		Short: "Generate balanced random openings",
		Long: `Generate openings by random moves from the start position. Each position occurs
once, and every judge considers it even under every rule set given. The same
command generates the same file.`,
		Example: `  sparring openings make --game xiangqi --count 200 --judge self --judge uci:fairy-stockfish --out xiangqi.txt`,
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkOutput("--out", f.out); err != nil {
				return err
			}
			m, err := f.maker()
			if err != nil {
				return usage(err)
			}
			defer m.close()
			return m.make(c, f.count, f.out)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.game, "game", "", anyGame()+" (required)")
	fl.StringArrayVar(&f.rules, "rules", nil, "rule set, repeatable; openings suit all of them (default: the game's)")
	fl.StringArrayVar(&f.judges, "judge", []string{"self"}, "spec of a player that must consider each opening even, repeatable")
	fl.IntVar(&f.count, "count", 100, "number of openings")
	fl.IntVar(&f.plies, "plies", 0, "number of random moves; 0: the game's default")
	fl.Float64Var(&f.bound, "bound", 0, "largest deviation of the winning chance from one half; 0: the game's default")
	fl.Uint64Var(&f.nodes, "nodes", judgeNodes, "nodes per judgement")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the random moves")
	outFlag(fl, &f.out, "", "output file (default: standard output)")
	return c
}

// openingMaker is a Maker with its judges and the comments of its file.
type openingMaker struct {
	*openings.Maker
	rules   []string
	command string
	engines *playerspec.Engines
}

// maker returns the maker that the flags describe.
func (f *openingFlags) maker() (*openingMaker, error) {
	if f.count < 1 {
		return nil, fmt.Errorf("--count %d: want at least 1", f.count)
	}
	var rules []*game.Rules
	var names []string
	for _, name := range append(f.rules, "")[:max(len(f.rules), 1)] {
		r, err := rulesOf(f.game, name)
		if err != nil {
			return nil, err
		}
		rules, names = append(rules, r), append(names, r.Name)
	}
	recipe, err := openings.Usual(rules[0])
	if err != nil {
		return nil, err
	}
	recipe.Plies, recipe.Bound, recipe.Seed = cmp.Or(f.plies, recipe.Plies), cmp.Or(f.bound, recipe.Bound), f.seed
	if recipe.Plies == 0 {
		return nil, fmt.Errorf("%s has an opening procedure and needs no openings", rules[0].Name)
	}
	m := &openingMaker{rules: names, command: f.command(recipe),
		engines: playerspec.NewEngines(playerspec.Options{HashBytes: judgeHash, Threads: 1})}
	var judges []openings.Judge
	for _, spec := range f.judges {
		g, err := m.engines.NewGame(spec, engine.GameOptions{Rules: rules[0], Reproducible: true})
		if err != nil {
			m.close()
			return nil, fmt.Errorf("--judge: %w", err)
		}
		judges = append(judges, openings.Searching(g, search.Limits{Nodes: f.nodes}))
	}
	if m.Maker, err = openings.NewMaker(rules, judges, recipe); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// command returns a command that makes the same file again, without relying on
// defaults.
func (f *openingFlags) command(r openings.Recipe) string {
	text := "sparring openings make --game " + f.game
	for _, name := range f.rules {
		text += " --rules " + name
	}
	for _, spec := range f.judges {
		text += " --judge " + spec
	}
	return text + fmt.Sprintf(" --count %d --plies %d --bound %g --nodes %d --seed %d", f.count, r.Plies, r.Bound, f.nodes, r.Seed)
}

func (m *openingMaker) close() {
	m.engines.Close() // the error does not matter at the end
}

// make writes the file atomically.
func (m *openingMaker) make(c *cobra.Command, count int, path string) error {
	set := &openings.Set{Rules: m.rules}
	screen := newDisplay(c.ErrOrStderr())
	pace, begin := newPace(screen, count), time.Now()
	m.Watch = func(made, tries int) {
		if pace.Due(made) {
			screen.Line("openings", fmt.Sprintf("%d/%d openings, %d positions tried, %s", made, count, tries, timeLeft(begin, made, count)))
		}
	}
	for n := range count {
		o, err := m.Opening(c.Context(), n)
		if err != nil {
			screen.Clear()
			return err
		}
		set.Openings = append(set.Openings, o)
	}
	screen.Clear()
	set.Notes = []string{
		"Made by: " + m.command,
		fmt.Sprintf("Build: %s. %d random positions were tried.", engine.Build(), m.Tries()),
		"Every judge considers each position even, under each of the rule sets.",
	}
	return writeOpenings(c, set, path)
}

// writeOpenings writes a set to a file, atomically, or to the standard output.
func writeOpenings(c *cobra.Command, set *openings.Set, path string) error {
	if path == "" || path == "-" {
		return set.Write(c.OutOrStdout())
	}
	return atomicfile.Write(path, set.Write)
}

// judgeNodes is the default number of nodes for judging an opening.
const judgeNodes = 5000

// judgeHash is the hash table of a judge, in bytes.
const judgeHash = 8 << 20

// ownJudge judges openings with our own engine.
func ownJudge(gameName string, nodes uint64) (openings.Judge, error) {
	e, err := engine.New(gameName, engine.Options{HashBytes: judgeHash, Threads: 1})
	if err != nil {
		return nil, err
	}
	g, err := e.NewGame(engine.GameOptions{Reproducible: true})
	if err != nil {
		return nil, err
	}
	return openings.Searching(g, search.Limits{Nodes: nodes}), nil
}
