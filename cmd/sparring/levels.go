package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sparring/arena/glicko"
	"sparring/configs"
	"sparring/engine/level"
	"sparring/game/catalog"
	"sparring/internal/chart"
	"sparring/lab/match"
	"sparring/lab/train/calibrate"
	"sparring/protocol"
)

func levelsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "levels",
		Short: "Show or measure the strength of the levels",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(levelsShow(), levelsCalibrate())
	return c
}

func levelsShow() *cobra.Command {
	var gameName, plot string
	c := &cobra.Command{
		Use:   "show [FILE...]",
		Short: "Print the shipped calibrations, or those in files",
		RunE: func(c *cobra.Command, args []string) error {
			if gameName != "" {
				if _, err := catalog.Game(gameName); err != nil {
					return usage(err)
				}
			}
			if err := checkPlot(plot); err != nil {
				return err
			}
			var all []*calibrate.File
			for _, path := range args {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				f, err := calibrate.Read(data)
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				all = append(all, f)
			}
			if len(args) == 0 {
				var err error
				if all, err = shippedLevels(); err != nil {
					return err
				}
			}
			all = slices.DeleteFunc(all, func(f *calibrate.File) bool { return gameName != "" && gameName != f.Game })
			for _, f := range all {
				if err := printLevels(c.OutOrStdout(), f); err != nil {
					return err
				}
			}
			return drawLevels(plot, all)
		},
	}
	c.Flags().StringVar(&gameName, "game", "", anyGame()+" (default: all)")
	plotFlag(c, &plot, levelsPlot)
	return c
}

// levelsPlot describes the drawings of levels.
const levelsPlot = "the levels on a scale of Elo, with 95 % errors"

// drawLevels draws calibrations to a file, unless path is "".
func drawLevels(path string, all []*calibrate.File) error {
	if path == "" || len(all) == 0 {
		return nil
	}
	return drawFile(path, func(out io.Writer, format chart.Format) error { return calibrate.Draw(out, format, all) })
}

// shippedLevels returns the shipped calibrations in the order of the catalog.
func shippedLevels() ([]*calibrate.File, error) {
	var all []*calibrate.File
	for _, g := range catalog.Games() {
		name := "levels-" + g.Name + ".json"
		data, err := fs.ReadFile(configs.Levels, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f, err := calibrate.Read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, f)
	}
	return all, nil
}

// anchorDeviation is the deviation of the ratings of levels on a ladder. They are its
// scale, so that their own errors, which docs/levels.md has, are not those of the
// players who meet them.
const anchorDeviation = 30

// levelAnchors returns the ratings that the levels have on a ladder: their measured
// strength, so that the mean of a game's levels is the rating of a new player.
func levelAnchors() map[protocol.PlayerID]glicko.Rating {
	anchors := make(map[protocol.PlayerID]glicko.Rating)
	for _, g := range catalog.Names() {
		sum, elos := 0.0, map[int]float64{}
		for n := level.Weakest; n <= level.Strongest; n++ {
			if elo, _, ok := levelElo(g, n); ok {
				elos[n] = elo
				sum += elo
			}
		}
		for n, elo := range elos {
			r := glicko.Start
			r.Rating, r.Deviation = math.Round(r.Rating+elo-sum/float64(len(elos))), anchorDeviation
			anchors[protocol.LevelPlayer(g, n)] = r
		}
	}
	return anchors
}

// levelElo returns the measured strength of a level over the beginner and its 95 %
// error, for playerspec.Options.
func levelElo(gameName string, level int) (elo, plusMinus float64, ok bool) {
	all, err := readLevels()
	if err != nil {
		return 0, 0, false // a test reads them
	}
	for _, f := range all {
		if f.Game == gameName {
			e := f.Levels[level-1].Elo
			elo, plusMinus = float64(e.Elo), float64(e.Error)
			return elo, plusMinus, !math.IsInf(elo, 0) && !math.IsInf(plusMinus, 0)
		}
	}
	return 0, 0, false
}

// readLevels is shippedLevels, once.
var readLevels = sync.OnceValues(shippedLevels)

func printLevels(out io.Writer, f *calibrate.File) error {
	fmt.Fprintf(out, "%s, measured by %s\n", f.Rules, f.Build)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "level\tnodes\tnotice\tcompare\tslip\tworst\tgames\tW-D-L\tElo over the one below\tElo over a beginner\t")
	for _, s := range f.Levels {
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t%d\t%d-%d-%d\t%s\t%s\t\n", s.Level, s.Nodes,
			orDash(float64(s.Notice)), orDash(float64(s.Compare)), orDash(s.Slip), orDash(s.Worst),
			s.Games, s.Wins, s.Draws, s.Losses, s.Above, s.Elo)
	}
	return w.Flush()
}

// orDash formats an optional parameter.
func orDash(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%g", v)
}

func levelsCalibrate() *cobra.Command {
	var gameName, rules, from, out, plot string
	var gamesOf []string
	plan := calibrate.Plan{}
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure the levels of a game by games between neighbours",
		Long: `Measure the levels of a game: each plays the one below it, and the lowest plays
a scripted beginner that looks one ply ahead. Levels are limited by nodes, so the
load of the machine does not matter. With --keep the games are saved, and the
same command resumes an interrupted run. See docs/levels.md.`,
		Example: `  sparring levels calibrate --game xiangqi --games 200 --out configs/levels-xiangqi.json`,
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkPlot(plot, [2]string{"--out", out}); err != nil {
				return err
			}
			r, err := rulesOf(gameName, rules)
			errs := []error{err, checkOutput("--out", out)}
			if plan.Games < 2 || plan.Games%2 != 0 {
				errs = append(errs, fmt.Errorf("--games %d: want an even number", plan.Games))
			}
			errs = append(errs, match.CheckConcurrency(plan.Concurrency))
			if plan.UpTo < level.Weakest || plan.UpTo > level.Strongest {
				errs = append(errs, fmt.Errorf("--up-to %d: want %d to %d", plan.UpTo, level.Weakest, level.Strongest))
			}
			switch whole := plan.UpTo == level.Strongest; {
			case whole && out == "":
				errs = append(errs, errors.New("--out is required, unless --up-to leaves levels out"))
			case !whole && out != "":
				errs = append(errs, fmt.Errorf("--out: a file is of all levels: leave out --out, or --up-to %d", plan.UpTo))
			}
			if r != nil {
				plan.Rules = r
				plan.Openings, plan.Described, err = openingsFor(r, from, plan.Seed)
				errs = append(errs, err)
			}
			plan.GamesOf, err = gamesOfLevels(gamesOf)
			errs = append(errs, err)
			if err := errors.Join(errs...); err != nil {
				return usage(err)
			}
			plan.Command = fmt.Sprintf("sparring levels calibrate --game %s --rules %s --games %d", gameName, r.Name, plan.Games)
			for _, of := range gamesOf {
				plan.Command += " --games-of " + of
			}
			if from != "" {
				plan.Command += " --openings " + from
			}
			plan.Command += fmt.Sprintf(" --seed %d --out %s", plan.Seed, out)
			return runCalibration(c, plan, out, plot)
		},
	}
	f := c.Flags()
	f.StringVar(&gameName, "game", "", anyGame()+" (required)")
	f.StringVar(&rules, "rules", "", "rule set, such as wxf or renju-15 (default: the game's)")
	f.IntVar(&plan.Games, "games", 200, "games per step, an even number")
	f.StringArrayVar(&gamesOf, "games-of", nil, "LEVEL=GAMES: games of the step of a level, instead of --games; repeatable")
	f.StringVar(&from, "openings", "", "opening file (see openings convert), shipped, or none (default: generated balanced openings); levels that make no random choices play each opening of a file twice at most")
	f.IntVar(&plan.Concurrency, "concurrency", 1, "games played in parallel")
	f.Uint64Var(&plan.Seed, "seed", 1, "seed of openings and of the levels' errors")
	f.IntVar(&plan.UpTo, "up-to", level.Strongest, "highest level to measure; below the strongest no file is written")
	fileFlag(f, &plan.Keep, "keep", "folder for the games; games already there are not played again")
	fileFlag(f, &out, "out", "file to write")
	plotFlag(c, &plot, levelsPlot)
	return c
}

// gamesOfLevels reads the values of --games-of.
func gamesOfLevels(texts []string) (map[int]int, error) {
	of := make(map[int]int)
	for _, text := range texts {
		before, after, _ := strings.Cut(text, "=")
		n, errLevel := strconv.Atoi(before)
		games, errGames := strconv.Atoi(after)
		if errLevel != nil || errGames != nil || n < level.Weakest || n > level.Strongest || games < 2 || games%2 != 0 {
			return nil, fmt.Errorf("--games-of %.40q: want LEVEL=GAMES, a level from %d to %d and an even number", text, level.Weakest, level.Strongest)
		}
		of[n] = games
	}
	return of, nil
}

// runCalibration runs a calibration, shows its progress, and writes and prints the
// result.
func runCalibration(c *cobra.Command, plan calibrate.Plan, out, plot string) error {
	if plan.Keep != "" {
		if err := os.MkdirAll(plan.Keep, 0o755); err != nil {
			return err
		}
	}
	show, began := newDisplay(c.ErrOrStderr()), time.Now()
	plan.Watch = func(n int, s *match.Standing, games int) {
		line := fmt.Sprintf("%s level %d of %d: %d/%d games, %d/%d pairs: %s, %v", plan.Rules.Game, n, plan.UpTo, s.Games, games, s.Pairs(), games/2, s.Line(nil), time.Since(began).Round(time.Second))
		if show.Live() || s.Games == games {
			show.Line("calibration", line)
		}
	}
	f, err := calibrate.Run(c.Context(), plan)
	show.Clear()
	if err != nil {
		return err
	}
	if out != "" {
		if err := f.Write(out); err != nil {
			return err
		}
	}
	if err := printLevels(c.OutOrStdout(), f); err != nil {
		return err
	}
	return drawLevels(plot, []*calibrate.File{f})
}
