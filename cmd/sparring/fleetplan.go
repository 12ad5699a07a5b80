package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/texttable"
	"sparring/lab/load/capacity"
)

func fleetPlan(f *fleetFlags) *cobra.Command {
	var ask capacity.Ask
	var clockText string
	var games []string
	var platformMS float64
	c := &cobra.Command{
		Use:   "plan",
		Short: "Estimate what a number of running games needs (cores, memory, disk a day), and how many fit",
		Long: `Estimate what a number of running games needs (processor time, moves a second, memory,
disk a day), and how many fit on the cores. It needs no platform. What a move of the
level costs is measured on this machine, in about a second for each game; what the
platform adds is as docs/performance.md states, or --platform-ms, such as "sparring
bench fleet" measures it on this machine. Games fit if all moves can be searched in the
time that the clock gives for them, with three tenths of the cores left over.`,
		Example: `  sparring fleet plan --games 1000 --clock 60+0.6 --level 3 --cores 8
  sparring fleet plan --games 300 --clock 600+5 --level 10 --cores 16 --game gomoku --json
  sparring fleet plan --games 3000 --clock 60+0.6 --platform-ms 1.4    # games of people, or of engines elsewhere`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			names, err := askOf(&ask, clockText, games, platformMS)
			if err != nil {
				return usage(err)
			}
			costs := capacity.Documented()
			if platformMS > 0 {
				costs.PlatformMS, costs.Platform = platformMS, "--platform-ms, else "+costs.Platform
			}
			costs.Search = "none: the moves are thought of elsewhere"
			if ask.Level > 0 {
				costs.Search = "measured on this machine now"
				began := time.Now()
				if costs.SearchMS, err = capacity.Measure(names, ask.Level, func() time.Duration {
					if d, err := processorTime(); err == nil {
						return d
					}
					return time.Since(began) // one search at a time
				}); err != nil {
					return err
				}
			}
			p, err := capacity.Of(ask, costs)
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(c.OutOrStdout(), p)
			}
			return printPlan(c.OutOrStdout(), p)
		},
	}
	fl := c.Flags()
	fl.IntVar(&ask.Games, "games", 100, "games at once")
	fl.StringVar(&clockText, "clock", "60+0.6", "clock of the games: 60+0.6, 300, 60/5x10 or 5/move; seconds")
	fl.IntVar(&ask.Level, "level", 0, "level of our engine on both sides, 1 to 10; 0: other programs or people, elsewhere")
	fl.IntVar(&ask.Cores, "cores", runtime.NumCPU(), "cores of the machines together")
	fl.IntVar(&ask.HashMB, "hash", 64, "hash tables of the bot processes together, MiB")
	fl.StringSliceVar(&games, "game", nil, "games that are played, a share each: names or rule sets (default: all)")
	fl.Float64Var(&platformMS, "platform-ms", 0, "processor time a move beyond the search, as \"sparring bench fleet\" measures it; 0: as documented")
	return c
}

// askOf completes what is asked by the flags, and returns the names of its games. The
// error names every fault.
func askOf(ask *capacity.Ask, clockText string, games []string, platformMS float64) (names []string, err error) {
	var faults []error
	if ask.Clock, err = clock.Parse(clockText); err != nil {
		faults = append(faults, fmt.Errorf("--clock: %w", err))
		ask.Clock = clock.Spec{Kind: clock.SuddenDeath, Initial: time.Minute} // it is told once
	}
	if platformMS < 0 {
		faults = append(faults, fmt.Errorf("--platform-ms %g: want more than 0, or 0 for what is documented", platformMS))
	}
	if len(games) == 0 {
		for _, g := range catalog.Games() {
			games = append(games, g.Default)
		}
	}
	ask.Rules = games
	for i, name := range games {
		if rules, err := catalog.Rules(name); err != nil {
			faults = append(faults, fmt.Errorf("--game: %w", err))
		} else {
			ask.Rules[i], names = rules.Name, append(names, rules.Game)
		}
	}
	return names, errors.Join(append(faults, ask.Validate())...)
}

func printPlan(out io.Writer, p *capacity.Plan) error {
	verdict := fmt.Sprintf("fits: up to %d games at once do", p.MaxGames)
	if !p.Fits {
		verdict = fmt.Sprintf("DOES NOT FIT: %d games at once do, or %.0f cores", p.MaxGames, float64(p.Cores)*float64(p.Games)/max(float64(p.MaxGames), 1)+0.5)
	}
	t := texttable.Table{{"", fmt.Sprintf("%s at once, %s, on %s", count(p.Games, "game", "games"), p.Clock, count(p.Cores, "core", "cores"))}}
	t.Add("verdict", verdict)
	t.Add("a move", fmt.Sprintf("%.2f s by the clock; %.2f ms of a core for the search, %.2f ms for the rest", p.SecondsPerMove, p.Costs.SearchMS, p.Costs.PlatformMS))
	t.Add("moves a second", fmt.Sprintf("%.0f if all take their time; %.0f at most, if bots move at once", p.MovesPerSecond, p.MaxMovesPerSecond))
	t.Add("cores", fmt.Sprintf("%.2f busy", p.CoresNeeded))
	t.Add("memory", fmt.Sprintf("%.0f MB", p.MemoryMB))
	t.Add("disk a day", fmt.Sprintf("%s; %s at most", megabytes(p.DiskMBPerDay), megabytes(p.MaxDiskMBPerDay)))
	t.Add("search from", p.Costs.Search)
	t.Add("rest from", p.Costs.Platform)
	return t.Write(out)
}

// megabytes formats MB for people.
func megabytes(mb float64) string {
	if mb >= 10_000 {
		return fmt.Sprintf("%.0f GB", mb/1000)
	}
	return fmt.Sprintf("%.0f MB", mb)
}
