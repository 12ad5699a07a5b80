package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/chart"
	"sparring/internal/texttable"
	"sparring/lab/load/fleetbench"
)

// benchFleetFlags are the flags of "bench fleet".
type benchFleetFlags struct {
	plan  fleetbench.Plan
	clock string
	pace  time.Duration
	games []string
	quick bool
	json  bool
	plot  string
	data  string
	env   []string
	parts partEnvironment // of env
}

func benchFleetCommand() *cobra.Command {
	var f benchFleetFlags
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Measure how many games at once a NATS server, an arena and a bot process play",
		Long: `Measure how many games at once a NATS server, an arena and a bot process, or
several, play on this machine. All are processes of their own, started again for each
step. The bots search 50 nodes a move, and take their time for it as players do
(--pace). The run ends with the first game that is lost on time, or when the 99th
percentile of the relay is above --p99. Ctrl-C ends it, too, and prints what was
measured so far.

With --bots the bot processes have the same players, whose seats they share: there is
room for a tenth more than all games need, and --bots 1,3 gives the second process
three times the room of the first.

  CPU ms/MOVE   processor time a move of all, and of each
  KB/GAME       memory a game after a garbage collection, heap and stacks
  RELAY         from sending a move until the opponent's instance is informed, in a
                game of two players of this command, 25 moves a second, in ms
  BARE          a bare request to another process through the same server, in turn
  BOT           from sending a move to its answer, as the bot process measures it
                over its last 1000 moves, in ms`,
		Example: `  sparring bench fleet
  sparring bench fleet --games 100,1000,3000 --plot fleet.svg
  sparring bench fleet --games 10000 --clock 600+6 --limit 10m --json
  sparring bench fleet --games 300 --bots 1,1,2         # three bot processes
  sparring bench fleet --games 500 --profile profiles   # then go tool pprof`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.complete(c); err != nil {
				return err
			}
			return f.run(c)
		},
	}
	fl := c.Flags()
	fl.IntSliceVar(&f.plan.Games, "games", []int{10, 30, 100, 300, 1000, 3000}, "games at once, a step each")
	fl.DurationVar(&f.plan.Window, "window", 10*time.Second, "how long a step is measured")
	fl.DurationVar(&f.plan.Limit, "limit", 2*time.Minute, "no step begins after this time")
	fl.StringSliceVar(&f.games, "game", nil, "games to play in turn, each a name or a rule set (default: all)")
	fl.StringVar(&f.clock, "clock", "60+0.6", "clock of the games")
	fl.DurationVar(&f.pace, "pace", -1, "shortest time for a move (default: the clock's time for 40 moves, divided by 60)")
	fl.Lookup("pace").DefValue = "0s" // not listed
	fl.IntVar(&f.plan.Players, "players", 0, fmt.Sprintf("players of a bot process, an even number; 0: one for ten games, up to %d", fleetbench.MaxPlayers))
	fl.IntSliceVar(&f.plan.Bots, "bots", nil, "bot processes, each by its share of the capacity, such as 1,1,2 (default: one process)")
	fl.IntVar(&f.plan.Starts, "starts", 1000, "maximum number of games started per second")
	fl.DurationVar(&f.plan.MaxP99, "p99", 50*time.Millisecond, "99th percentile of the relay that ends the run")
	fileFlag(fl, &f.plan.Profile, "profile", "folder for a CPU and a heap profile of each process in each step")
	fl.StringVar(&f.data, "data", "", "folder for the data and logs of the processes (default: a temporary one)")
	fl.StringArrayVar(&f.env, "env", nil, "environment variable of the processes of one kind, such as arena:GOMAXPROCS=1 or nats:GOGC=200; may be repeated")
	fl.BoolVar(&f.quick, "quick", false, "a step of 4 games for a second, to see that it works")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	plotFlag(c, &f.plot, "processor time, memory and relay over the number of games")
	c.AddCommand(benchPartCommand())
	return c
}

// complete checks the flags and makes the plan of them.
func (f *benchFleetFlags) complete(c *cobra.Command) (err error) {
	if f.plan.Clock, err = clock.Parse(f.clock); err != nil {
		return usagef("--clock: %w", err)
	}
	f.plan.Pace = f.pace
	if f.pace < 0 {
		expected, _ := f.plan.Clock.Expected()
		f.plan.Pace = expected / 60
	}
	if f.quick {
		if !c.Flags().Changed("games") {
			f.plan.Games = []int{4}
		}
		if !c.Flags().Changed("window") {
			f.plan.Window = time.Second
		}
		if f.pace < 0 {
			f.plan.Pace = 100 * time.Millisecond
		}
	}
	if len(f.games) == 0 {
		for _, g := range catalog.Games() {
			f.plan.Rules = append(f.plan.Rules, g.Default)
		}
	}
	for _, name := range f.games {
		rules, err := catalog.Rules(name)
		if err != nil {
			return usagef("--game: %w", err)
		}
		f.plan.Rules = append(f.plan.Rules, rules.Name)
	}
	if err := f.plan.Validate(); err != nil {
		return usage(err)
	}
	if f.parts, err = parsePartEnvironment(f.env); err != nil {
		return usagef("--env: %w", err)
	}
	if f.plan.Profile != "" {
		if err := os.MkdirAll(f.plan.Profile, 0o755); err != nil {
			return fmt.Errorf("--profile: %w", err)
		}
	}
	return checkPlot(f.plot)
}

func (f *benchFleetFlags) run(c *cobra.Command) error {
	dir, done, err := benchFolder(f.data)
	if err != nil {
		return err
	}
	defer done()
	screen := newDisplay(c.ErrOrStderr())
	last := ""
	watch := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		stage, _, _ := strings.Cut(text, ", ")
		switch {
		case screen.Live():
			screen.Set(text)
		case stage != last && !strings.Contains(text, " running"):
			screen.Say("%s", text)
		}
		last = stage
	}
	launch := func(ctx context.Context, w fleetbench.Want) (fleetbench.Fleet, error) {
		return launchParts(ctx, dir, f.parts, w)
	}
	result, err := fleetbench.Run(c.Context(), f.plan, launch, watch, zerolog.New(zerolog.ConsoleWriter{Out: io.Discard}))
	screen.Clear()
	if result == nil {
		return err
	}
	if errors.Is(err, context.Canceled) && c.Context().Err() != nil {
		err = errors.New("interrupted")
	}
	return errors.Join(f.print(c.OutOrStdout(), result), err)
}

// print prints and draws what was measured.
func (f *benchFleetFlags) print(out io.Writer, r *fleetbench.Result) error {
	if f.json {
		if err := json.NewEncoder(out).Encode(r); err != nil {
			return err
		}
	} else if rows := r.Rows(); len(rows) > 0 {
		if err := (append(texttable.Table{fleetbench.Heading}, rows...)).Write(out); err != nil {
			return err
		}
		for _, s := range r.Steps {
			if len(s.Seats) > 1 {
				fmt.Fprintf(out, "seats taken with %s: %s\n", count(s.Games, "game", "games"), s.Shares())
			}
			if s.Stop != "" {
				fmt.Fprintf(out, "ended after %s: %s\n", count(s.Games, "game", "games"), s.Stop)
			}
		}
	}
	if f.plot == "" || len(r.Steps) == 0 {
		return nil
	}
	return drawFile(f.plot, func(out io.Writer, format chart.Format) error { return r.Draw(out, format) })
}
