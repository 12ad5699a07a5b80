package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sparring/lab/match"
	"sparring/lab/match/openings"
	"sparring/record"
	"sparring/record/format"
)

// resultFlags are the flags of the openings results command.
type resultFlags struct {
	importFlags
	bound float64
	games int
	keep  int
	out   string
}

func openingResultsCommand() *cobra.Command {
	var f resultFlags
	c := &cobra.Command{
		Use:   "results FILE SOURCE...",
		Short: "Count how games from openings ended, and drop openings that one side wins",
		Long: `Count the results of games by the opening of FILE that they began with, in any form
that openings convert reads: games of sparring match, or of anybody else. An opening is
even if the share of the points that the player who moves first made is within --bound
of one half, in --games games at least. Of games that are move for move alike only one
counts, and none that was lost on time or by a fault of a player.

` + aSource,
		Example: `  sparring match --game gomoku --a self:nodes=20000 --b self:nodes=22000 --openings candidates.txt --games 800 --json games.jsonl
  sparring openings results candidates.txt games.jsonl --games 4 --bound 0.25 --out even.txt`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("want a file of openings, and games")
			}
			return f.run(c, args[0], args[1:])
		},
	}
	f.add(c)
	fl := c.Flags()
	fl.Float64Var(&f.bound, "bound", 0.25, "largest deviation of the first player's share from one half")
	fl.IntVar(&f.games, "games", 4, "minimum number of games from an opening")
	fl.IntVar(&f.keep, "keep", 0, "number of openings to write, those with the most even results; 0: all that are even")
	fl.StringVar(&f.out, "out", "", "file for the even openings (default: none; -: standard output, without the table)")
	return c
}

// check returns an error that says what is wrong with the flags.
func (f *resultFlags) check(path string, sources []string) error {
	switch {
	case !(f.bound >= 0 && f.bound <= 0.5):
		return usagef("--bound %g: want 0 to 0.5", f.bound)
	case f.games < 1:
		return usagef("--games %d: want at least 1", f.games)
	case f.keep < 0:
		return usagef("--keep %d: want 0 or more", f.keep)
	}
	return checkOutput("--out", f.out, append(slices.Clone(sources), path)...)
}

// run counts the results of the sources for the openings of a file.
func (f *resultFlags) run(c *cobra.Command, path string, sources []string) error {
	if err := f.check(path, sources); err != nil {
		return err
	}
	read, err := f.read(c, path)
	if err != nil {
		return err
	}
	results, err := openings.NewResults(read.Set)
	if err != nil {
		return err
	}
	players, faults := map[string]bool{}, 0
	err = eachGame(c, sources, func(g *record.Record) error {
		if match.FaultOf(g.Reason) != "" {
			faults++
			return nil
		}
		counted, err := results.Add(g)
		if counted {
			for _, s := range g.Seats {
				players[format.Name(s)] = true
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	table := c.OutOrStdout()
	if f.out == "-" {
		table = io.Discard
	}
	even := f.even(results)
	fmt.Fprintln(table, "even  games  first  drawn  second   share  opening")
	counted, played := 0, 0
	for i, o := range read.Openings {
		t := results.Tallies[i]
		share := "-"
		if t.Games() > 0 {
			share = fmt.Sprintf("%.1f %%", 100*t.Share())
			counted += t.Games()
			played++
		}
		fmt.Fprintf(table, "%-4s  %5d  %5d  %5d  %6d  %7s  %s\n", yesNo(slices.Contains(even, i)), t.Games(), t.First, t.Drawn, t.Second, share, o)
	}
	summary := fmt.Sprintf("%d of %d openings are even: %s or more, and a share of the first player within %.4g of one half",
		len(even), len(read.Openings), count(f.games, "game", "games"), f.bound)
	kept := f.kept(results, even)
	if len(kept) < len(even) {
		summary += fmt.Sprintf("; kept: the %d most even", len(kept))
	}
	fmt.Fprintln(table, summary)
	fmt.Fprintf(table, "%s from %s; not counted: %d that began otherwise or have no result, %d like others, %d lost on time or by a fault\n",
		count(counted, "game", "games"), count(played, "opening", "openings"), results.Others, results.Repeated, faults)
	switch {
	case len(even) < f.keep:
		return fmt.Errorf("%d even openings, want %d: more candidates are needed", len(even), f.keep)
	case f.out == "":
		return nil
	case len(even) == 0:
		return fmt.Errorf("%s is not written: no opening is even", f.out)
	}
	set := &openings.Set{Rules: read.Rules, Notes: append(read.Notes,
		fmt.Sprintf("By results: %s; %s of %s.", summary, count(counted, "game", "games"), strings.Join(slices.Sorted(maps.Keys(players)), ", ")))}
	for _, i := range kept {
		set.Openings = append(set.Openings, read.Openings[i])
	}
	return writeOpenings(c, set, f.out)
}

// even returns the numbers of the even openings, in order.
func (f *resultFlags) even(r *openings.Results) (even []int) {
	for i, t := range r.Tallies {
		if t.Games() >= f.games && math.Abs(t.Share()-0.5) <= f.bound {
			even = append(even, i)
		}
	}
	return even
}

// kept returns those of the even openings that are written, in order: with --keep so many,
// those with the most even results, of as even ones those with the most games.
func (f *resultFlags) kept(r *openings.Results, even []int) []int {
	if f.keep == 0 || len(even) <= f.keep {
		return even
	}
	kept := slices.Clone(even)
	slices.SortStableFunc(kept, func(a, b int) int { return r.Tallies[a].Compare(r.Tallies[b]) })
	kept = kept[:f.keep]
	slices.Sort(kept)
	return kept
}
