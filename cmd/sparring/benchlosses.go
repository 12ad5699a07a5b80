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
	"sparring/internal/texttable"
	"sparring/lab/load/fleetbench"
)

// benchLossesFlags are the flags of "bench losses".
type benchLossesFlags struct {
	plan      fleetbench.LossPlan
	processes []int
	room      []int
	by        string
	clock     string
	games     []string
	json      bool
	data      string
}

func benchLossesCommand() *cobra.Command {
	var f benchLossesFlags
	c := &cobra.Command{
		Use:   "losses",
		Short: "Lose bot processes again and again while games run, and count the games that this costs",
		Long: `Keep rated games running on a NATS server, an arena and several bot processes, all
processes of their own on this machine, and lose one bot process after the other: it is
killed and, after --away, started again. The bots think as long as the clock gives them.
A run for each of --processes and --room ends when --games have ended. The exit code is
1 if a game was lost: on time, abandoned, not begun, void. With --room 100, games may be
lost that the arena's metric fleet_survives_losses had announced, by 0 before the loss.

  ROOM        percent of all slots that are taken
  ANNOUNCED   losses before which the metric said that the fleet survives none
  SEATS       seats that lost processes left to others
  VACANT      how long a seat had no process
  CHARGED     longest time that a move was charged`,
		Example: `  sparring bench losses
  sparring bench losses --processes 2,3,6 --room 50,90,100 --games 300
  sparring bench losses --by stop --away 10s           # SIGSTOP, as on a machine that sleeps
  sparring bench losses --by server --away 5s          # the NATS server is stopped`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.complete(); err != nil {
				return usage(err)
			}
			return f.run(c)
		},
	}
	fl := c.Flags()
	fl.IntSliceVar(&f.processes, "processes", []int{3}, "bot processes, a run each")
	fl.IntSliceVar(&f.room, "room", []int{90}, "percent of all slots that games take, a run each")
	fl.IntVar(&f.plan.Slots, "slots", 4, "slots of each process")
	fl.IntVar(&f.plan.Games, "games", 100, "games that have to end in a run")
	fl.StringSliceVar(&f.games, "game", nil, "games to play in turn, each a name or a rule set (default: all)")
	fl.StringVar(&f.clock, "clock", "20+0.2", "clock of the games")
	fl.StringVar(&f.by, "by", string(fleetbench.LossKill), "how: kill, stop (SIGSTOP, then SIGCONT), or server (SIGSTOP of the NATS server)")
	fl.DurationVar(&f.plan.Away, "away", 5*time.Second, "how long a process is lost")
	fl.DurationVar(&f.plan.Every, "every", 5*time.Second, "time from its return to the next loss")
	fl.StringVar(&f.data, "data", "", "folder for the data and logs of the processes (default: a temporary one)")
	fl.BoolVar(&f.json, "json", false, "print a line of JSON for each run")
	return c
}

// complete checks the flags and makes the plan of them.
func (f *benchLossesFlags) complete() (err error) {
	if f.plan.Clock, err = clock.Parse(f.clock); err != nil {
		return fmt.Errorf("--clock: %w", err)
	}
	f.plan.By = fleetbench.LossKind(f.by)
	if len(f.games) == 0 {
		for _, g := range catalog.Games() {
			f.games = append(f.games, g.Default)
		}
	}
	for _, name := range f.games {
		rules, err := catalog.Rules(name)
		if err != nil {
			return fmt.Errorf("--game: %w", err)
		}
		f.plan.Rules = append(f.plan.Rules, rules.Name)
	}
	if len(f.processes) == 0 || len(f.room) == 0 {
		return errors.New("--processes and --room: at least one number each")
	}
	var faults []error
	for _, plan := range f.plans() {
		if err := plan.Validate(); err != nil && len(faults) == 0 {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// plans returns the runs.
func (f *benchLossesFlags) plans() (all []fleetbench.LossPlan) {
	for _, n := range f.processes {
		for _, room := range f.room {
			p := f.plan
			p.Processes, p.Room = n, room
			all = append(all, p)
		}
	}
	return all
}

func (f *benchLossesFlags) run(c *cobra.Command) error {
	dir, done, err := benchFolder(f.data)
	if err != nil {
		return err
	}
	defer done()
	screen := newDisplay(c.ErrOrStderr())
	launch := func(ctx context.Context, w fleetbench.Want) (fleetbench.LossFleet, error) {
		return launchParts(ctx, dir, nil, w)
	}
	table := texttable.Table{fleetbench.LossHeading}
	var faults []error
	for _, plan := range f.plans() {
		last := ""
		watch := func(format string, args ...any) {
			text := fmt.Sprintf("%d processes, room %d %%, ", plan.Processes, plan.Room) + fmt.Sprintf(format, args...)
			losses, _, _ := strings.Cut(text, ", games")
			if screen.Live() {
				screen.Set(text)
			} else if losses != last {
				screen.Say("%s", text)
			}
			last = losses
		}
		r, err := fleetbench.RunLosses(c.Context(), plan, launch, watch, zerolog.New(zerolog.ConsoleWriter{Out: io.Discard}))
		if errors.Is(err, context.Canceled) && c.Context().Err() != nil {
			err = errors.New("interrupted")
		}
		if r != nil {
			table = append(table, r.Row())
			faults = append(faults, r.Err())
			if f.json {
				err = errors.Join(err, json.NewEncoder(c.OutOrStdout()).Encode(r))
			}
		}
		if err != nil {
			faults = append(faults, err)
			break
		}
	}
	screen.Clear()
	if len(table) > 1 && !f.json {
		faults = append(faults, table.Write(c.OutOrStdout()))
	}
	return errors.Join(faults...)
}

// benchFolder returns the folder for the data of processes: a temporary one, which done removes,
// if none is named.
func benchFolder(name string) (dir string, done func(), err error) {
	if name == "" {
		dir, err = os.MkdirTemp("", "sparring-bench-")
		return dir, func() { os.RemoveAll(dir) }, err
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return "", nil, fmt.Errorf("--data: %w", err)
	}
	return name, func() {}, nil
}
