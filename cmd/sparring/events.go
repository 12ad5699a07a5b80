package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/internal/texttable"
	"sparring/lab/match/event"
)

// anEvent explains the --event of commands.
const anEvent = "an event (see sparring events), or the path of an event file"

func eventsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "events",
		Short: "List the competitions whose rules, clock and records --event stands for",
		Long: `List the events that are shipped: competitions, with all that match, analyse,
records export and up take from them. "events show NAME" prints the file of one,
with its sources and what they leave open. A copy of it, changed, is an event of
your own: --event PATH.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return listEvents(c) },
	}
	c.AddCommand(&cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Print an event file, after checking it",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s: want one event (see sparring events)", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return showEvent(c, args[0]) },
	})
	return c
}

func listEvents(c *cobra.Command) error {
	names, err := event.Names(configs.Events())
	if err != nil {
		return err
	}
	t := texttable.Table{{"EVENT", "RULES", "CLOCK", "MOVE", "RECORDS", "SOURCE"}}
	for _, name := range names {
		e, err := openEvent(name)
		if err != nil {
			return err
		}
		clock, move, latest := "?", "", time.Time{}
		if e.Clock != nil {
			clock = e.Clock.String()
		}
		if e.Move > 0 {
			move = e.Move.String()
		}
		for _, s := range e.Sources {
			if s.Date.After(latest) {
				latest = s.Date
			}
		}
		t.Add(name, e.Rules.Name, clock, move, e.Record.Format, latest.Format("2006"))
	}
	return t.Write(c.OutOrStdout())
}

func showEvent(c *cobra.Command, name string) error {
	e, err := openEvent(name)
	if err != nil {
		return err
	}
	data, err := fs.ReadFile(configs.Events(), e.Name+".yaml")
	if name != e.Name {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return err
	}
	_, err = c.OutOrStdout().Write(data)
	return err
}

// openEvent opens the event that --event names.
func openEvent(name string) (*event.Event, error) {
	e, err := event.Find(name, configs.Events())
	if err != nil {
		return nil, usagef("--event: %w", err)
	}
	return e, nil
}

// prescription is what an event prescribes for a flag; "" is nothing.
type prescription struct{ flag, value string }

// follow sets the flags of a command to what an event prescribes. A flag that was
// given stays, and a line on standard error says so.
func follow(c *cobra.Command, e *event.Event, all ...prescription) error {
	for _, p := range all {
		f := c.Flags().Lookup(p.flag)
		switch {
		case p.value == "" || f.Changed && f.Value.String() == p.value:
		case f.Changed && p.flag == "game":
			return usagef("--game %s: event %s is for %s", f.Value, e.Name, p.value)
		case f.Changed:
			fmt.Fprintf(c.ErrOrStderr(), "event %s: --%s %s instead of %s\n", e.Name, p.flag, f.Value, p.value)
		default:
			if err := c.Flags().Set(p.flag, p.value); err != nil {
				return fmt.Errorf("event %s: %s: %w", e.Name, p.flag, err)
			}
		}
	}
	return nil
}

// ofGame is what an event prescribes for --game and --rules.
func ofGame(e *event.Event) []prescription {
	return []prescription{{"game", e.Rules.Game}, {"rules", strings.TrimPrefix(e.Rules.Name, e.Rules.Game+"/")}}
}

// clockOf is what an event prescribes for --clock; "" if its sources do not say it.
func clockOf(e *event.Event) string {
	if e.Clock == nil {
		return ""
	}
	return e.Clock.String()
}
