package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/engine/tablebase"
	"sparring/game/catalog"
	rules "sparring/game/xiangqi"
)

func tablebaseCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "tablebase",
		Short: "Build and query endgame tables for Xiangqi",
		Long: `Endgame tables hold the result of every position with a given set of pieces under
perfect play, and the number of plies to the end. A set is named by its pieces,
Red's in upper case: KRkaa is a rook against two advisors.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	data := c.PersistentFlags().String("data", "data", "data directory; the tables are in its folder tablebase")
	dir := func() string { return tablebaseDir(*data) }
	c.AddCommand(tablebaseBuild(dir), tablebaseStats(dir), tablebaseProbe(dir))
	return c
}

// tablebaseDir returns the folder of tables in a data directory.
func tablebaseDir(data string) string { return filepath.Join(data, "tablebase") }

func tablebaseBuild(dir func() string) *cobra.Command {
	var men int
	var o tablebase.Options
	c := &cobra.Command{
		Use:   "build [SET...]",
		Short: "Build tables, including those that captures lead to",
		Long: `Build the tables of the given sets of pieces, after those that captures lead to.
The default is all sets of up to four pieces. Existing tables are kept.`,
		RunE: func(c *cobra.Command, args []string) error {
			sets, err := setsOf(args)
			if err != nil {
				return err
			}
			if men < 2 || men > 5 {
				return usagef("--men %d: want 2 to 5", men)
			}
			if o.Workers < 0 {
				return usagef("--threads %d: want 0 or more", o.Workers)
			}
			if len(sets) == 0 || c.Flags().Changed("men") {
				sets = append(sets, tablebase.UpTo(men)...)
			}
			began, built := time.Now(), 0
			show := newDisplay(c.ErrOrStderr())
			o.Report = func(p tablebase.Progress) {
				switch {
				case p.Done:
					built++
					show.End("", fmt.Sprintf("%s built (%d of %d)", p.Set, p.Number, p.Sets))
				case show.Live():
					show.Line("", bar(p))
				}
				if p.Repaired != nil && p.Done {
					show.Say("%s replaced an %v", p.Set, p.Repaired)
				}
			}
			if err := tablebase.Build(c.Context(), dir(), sets, o); err != nil {
				return err
			}
			if built == 0 {
				fmt.Fprintf(c.OutOrStdout(), "nothing to build: all tables are in %s\n", dir())
				return nil
			}
			fmt.Fprintf(c.OutOrStdout(), "%s in %s, %.1f s\n", count(built, "table", "tables"), dir(), time.Since(began).Seconds())
			return nil
		},
	}
	c.Flags().IntVar(&men, "men", tablebase.Usual, "build all sets of up to this many pieces, kings included")
	c.Flags().IntVar(&o.Workers, "threads", 0, "number of threads (default: one per core)")
	c.Flags().BoolVar(&o.Again, "again", false, "rebuild existing tables")
	return c
}

// bar draws the progress of a build.
func bar(p tablebase.Progress) string {
	const columns = 30
	done := int(p.Steps * columns / max(p.Of, 1))
	return fmt.Sprintf("[%s%s] %3d %%  %s (%d of %d)", strings.Repeat("#", done), strings.Repeat(".", columns-done),
		p.Steps*100/max(p.Of, 1), p.Set, p.Number, p.Sets)
}

func setsOf(names []string) (sets []tablebase.Set, err error) {
	for _, name := range names {
		s, err := tablebase.ParseSet(name)
		if err != nil {
			return nil, usage(err)
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// openTables opens the tables of a directory and reports damaged ones.
func openTables(c *cobra.Command, dir string) (*tablebase.Tables, error) {
	return tablebase.Open(dir, func(err error) { fmt.Fprintln(c.ErrOrStderr(), "sparring: table ignored:", err) })
}

func tablebaseStats(dir func() string) *cobra.Command {
	return &cobra.Command{
		Use:   "stats SET...",
		Short: "Print the numbers of legal, won and lost positions and the longest win",
		RunE: func(c *cobra.Command, args []string) error {
			sets, err := setsOf(args)
			if err != nil {
				return err
			}
			if len(sets) == 0 {
				return usagef("want a set, such as KRkaa")
			}
			tables, err := openTables(c, dir())
			if err != nil {
				return err
			}
			defer tables.Close()
			out := c.OutOrStdout()
			for i, s := range sets {
				stats, err := tables.Stats(s)
				if err != nil {
					return err
				}
				if i == 0 {
					fmt.Fprintf(out, "%-8s %-6s %10s %10s %10s %8s\n", "set", "moves", "legal", "won", "lost", "longest")
				}
				for side, st := range stats {
					fmt.Fprintf(out, "%-8s %-6s %10d %10d %10d %8d\n", s, rules.Colour(side), st.Legal, st.Won, st.Lost, st.Longest)
				}
			}
			return nil
		},
	}
}

func tablebaseProbe(dir func() string) *cobra.Command {
	return &cobra.Command{
		Use:   "probe FEN [moves MOVE...]",
		Short: "Look up a position and the result of each of its moves",
		Long: `Look up a position and the result of each of its moves. Tables ignore repetition
and the move limit: "no forced win" means that neither side can force mate; a rule
may still decide the game.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("want a FEN")
			}
			l, err := catalog.ParseLine(strings.Join(args, " "))
			if err != nil {
				return usage(err)
			}
			p, err := l.Position(rules.Name, "", nil)
			if err != nil {
				return usage(err)
			}
			b := p.(*rules.Position).Board()
			tables, err := openTables(c, dir())
			if err != nil {
				return err
			}
			defer tables.Close()
			distance, err := tables.Find(b)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			moves := tables.Moves(b)
			if len(moves) == 0 {
				fmt.Fprintln(out, "lost: no legal move")
				return nil
			}
			best := moves[0]
			fmt.Fprintf(out, "%s, best %s\n", distanceText(distance, true), rules.FormatMove(best.Move))
			for _, m := range moves {
				fmt.Fprintf(out, "  %s  %s\n", rules.FormatMove(m.Move), distanceText(m.Distance, m.Known))
			}
			return nil
		},
	}
}

// distanceText describes a distance.
func distanceText(d int, known bool) string {
	switch {
	case !known:
		return "unknown: no table"
	case d == tablebase.Drawn:
		return "no forced win"
	case d%2 == 0:
		return "loss in " + plies(d)
	}
	return "win in " + plies(d)
}
