package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sparring/arena"
	"sparring/game"
	"sparring/internal/texttable"
	"sparring/lab/study/analysis"
	"sparring/protocol"
	"sparring/record"
	"sparring/record/format"
)

// recordsDir returns the folder of records in a data directory.
func recordsDir(data string) string { return filepath.Join(data, "records") }

// archive holds the flags that select the records.
type archive struct {
	data   string
	nats   serverFlags
	wait   bool
	server string // that all has read from, without its password
}

func (a *archive) flags(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringVar(&a.data, "data", "data", "data directory; the records are in its folder records")
	a.nats.add(c)
	f.Lookup("nats").Usage = "read the platform's records from this NATS server instead, as the user that SPARRING_NATS_USER, _PASSWORD, _CREDS and _CA name (default: platform)"
	f.BoolVar(&a.wait, "wait", false, "with --nats: wait for the platform if it is not there yet")
}

// all returns the games of the sources, or without any those of the archive: one
// record a game, oldest first. Damaged ones are reported and skipped.
func (a *archive) all(c *cobra.Command, sources []string) ([]*record.Record, error) {
	switch {
	case a.nats.given() && len(sources) > 0:
		return nil, usagef("--nats: the games are the platform's; want no %q", sources[0])
	case len(sources) > 0:
		return gather(until(c.Context(), inSources(c, sources)), c.ErrOrStderr())
	case !a.nats.given():
		games, err := gather(until(c.Context(), record.All(recordsDir(a.data))), c.ErrOrStderr())
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // no records yet
		}
		return games, err
	}
	s, err := platformSettings(&a.nats)
	if err != nil {
		return nil, err
	}
	nc, ctx, done, err := s.dial(c, "sparring records", a.wait)
	if err != nil {
		return nil, err
	}
	defer done()
	subjects, err := protocol.NewSubjects(s.NATS.Prefix)
	if err != nil {
		return nil, usage(err)
	}
	a.server = nc.ConnectedUrlRedacted()
	games, err := gather(untilSilent(ctx, a.server, func(ctx context.Context) iter.Seq2[*record.Record, error] { return arena.Records(ctx, nc, subjects) }), c.ErrOrStderr())
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return games, err
}

// readTime is how long none of a platform's records may come while they are read. There may
// be millions, so that how long all of them take says nothing.
const readTime = time.Minute

// untilSilent yields what read yields from a server, and an error if nothing comes for
// readTime.
func untilSilent(ctx context.Context, server string, read func(context.Context) iter.Seq2[*record.Record, error]) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		silent := time.AfterFunc(readTime, func() { cancel(fmt.Errorf("%s: no record came for %v, before the last one", server, readTime)) })
		defer silent.Stop()
		for r, err := range read(ctx) {
			if silent.Reset(readTime); !yield(r, err) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
		}
	}
}

// find returns the record of a game in the sources, or without any in the archive.
func (a *archive) find(c *cobra.Command, id string, sources []string) (*record.Record, error) {
	r, err := a.lookUp(c, id, sources)
	switch info, bad := os.Stat(id); {
	case err == nil || c.Context().Err() != nil:
	case bad == nil && info.Mode().IsRegular():
		err = usagef("%s: is a file, want the ID of a game before it (see sparring records list %s)", id, id)
	case errors.Is(err, fs.ErrNotExist) && len(sources) == 0:
		err = a.empty(id)
	}
	return r, err
}

// empty is the error for a game that is looked for where there are no records: perhaps
// another --data was meant.
func (a *archive) empty(id string) error {
	return fmt.Errorf("%w: %.40q: no records in %s", record.ErrNotFound, id, recordsDir(a.data))
}

// lookUp is find with the errors of what it reads.
func (a *archive) lookUp(c *cobra.Command, id string, sources []string) (*record.Record, error) {
	if !a.nats.given() && len(sources) == 0 {
		return record.Find(c.Context(), recordsDir(a.data), id)
	}
	var games []*record.Record
	var err error
	if len(sources) > 0 && !a.nats.given() { // of this game only, so that it is there although it is the export of another
		games, err = gather(withID(id, until(c.Context(), inSources(c, sources))), c.ErrOrStderr())
	} else {
		games, err = a.all(c, sources)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range games {
		if r.ID == id {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%w: %.40q", record.ErrNotFound, id)
}

// withID yields the records of one game, and all errors.
func withID(id string, records iter.Seq2[*record.Record, error]) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		for r, err := range records {
			if (err != nil || r.ID == id) && !yield(r, err) {
				return
			}
		}
	}
}

// named returns the games that arguments name: each is a source, see aSource, or the
// ID of a game of the archive. There is at least one.
func (a *archive) named(c *cobra.Command, names []string) (all []*record.Record, err error) {
	for _, name := range names {
		if _, err := os.Stat(name); err != nil && name != fromStandardInput {
			if strings.ContainsAny(name, "./\\") {
				return nil, err // no ID looks like this
			}
			r, err := a.find(c, name, nil)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
			continue
		}
		some, err := gather(until(c.Context(), inSources(c, []string{name})), c.ErrOrStderr())
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("no games in %s", name)
		}
		all = append(all, some...)
	}
	return all, nil
}

// gather merges the records of each game by several writers, and leaves out what was exported
// of one and read again. If something is there and nothing of it can be read, that is an error.
func gather(records iter.Seq2[*record.Record, error], errs io.Writer) ([]*record.Record, error) {
	byID := map[string][]*record.Record{}
	skipped := 0
	for r, err := range records {
		switch {
		case damaged(err):
			skipped++
			fmt.Fprintln(errs, "sparring: skipped:", err)
		case err != nil:
			return nil, err
		default:
			byID[r.ID] = append(byID[r.ID], r)
		}
	}
	var games, imported []*record.Record
	for id, versions := range byID {
		merged, err := record.Merge(versions...)
		if err != nil {
			skipped++
			fmt.Fprintf(errs, "sparring: skipped: game %s: %v\n", id, err)
			continue
		}
		if merged.Source.By == record.ByImport {
			imported = append(imported, merged)
			continue
		}
		games = append(games, merged)
	}
	if len(imported) > 0 {
		var copies format.Copies
		for _, r := range games {
			copies.Note(r)
		}
		slices.SortFunc(imported, oldest)
		for _, r := range imported {
			copies.NoteImport(r)
		}
		distinct := slices.DeleteFunc(slices.Clone(imported), func(r *record.Record) bool { return copies.Of(r) != "" })
		if n := len(imported) - len(distinct); n > 0 {
			fmt.Fprintln(errs, leftOut(n))
		}
		games = append(games, distinct...)
	}
	slices.SortFunc(games, oldest)
	if skipped > 0 && len(games) == 0 {
		return nil, fmt.Errorf("no game could be read, %s skipped", count(skipped, "was", "were"))
	}
	return games, nil
}

// leftOut says of how many games there are exports besides their records.
func leftOut(n int) string {
	return fmt.Sprintf("sparring: %s whose record is there too, left out", count(n, "export of a game", "exports of games"))
}

// oldest orders games by their start, and then by their id.
func oldest(a, b *record.Record) int {
	return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.ID, b.ID))
}

func recordsCommand() *cobra.Command {
	var from archive
	c := &cobra.Command{
		Use:   "records",
		Short: "Read the records of finished games",
		RunE:  func(c *cobra.Command, args []string) error { return subcommand(c, args) },
	}
	from.flags(c)
	c.AddCommand(recordsList(&from), recordsShow(&from), recordsExport(&from), recordsImport(&from), recordsReplay(&from), recordsAnalyse(&from), recordsReport(&from), recordsErase(&from))
	return c
}

func recordsList(from *archive) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [SOURCE...]",
		Short: "List the games, oldest first",
		Long:  "List the games of the data directory or of the sources, oldest first.\n" + aSource,
		RunE: func(c *cobra.Command, sources []string) error {
			games, err := from.all(c, sources)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if asJSON {
				return writeLines(out, games)
			}
			if len(games) == 0 && len(sources) == 0 && from.server == "" { // perhaps another --data was meant
				fmt.Fprintf(c.ErrOrStderr(), "sparring: no records in %s\n", recordsDir(from.data))
			}
			t := texttable.Table{{"ID", "START (UTC)", "RULES", "CLOCK", "FIRST", "SECOND", "PLIES", "RESULT", "REASON"}}
			for _, r := range games {
				t.Add(r.ID, timeText(r.Start), r.Rules, r.Clock, format.Name(r.Seats[game.First]), format.Name(r.Seats[game.Second]),
					len(r.Plies), r.Result, r.Reason)
			}
			return t.Write(out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the full records as JSON lines")
	return c
}

func writeLines(out io.Writer, games []*record.Record) error {
	enc := json.NewEncoder(out)
	for _, r := range games {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// timeText formats the time of a game, which may be unknown.
func timeText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateTime)
}

// anID requires a game's id, which sources may follow.
func anID(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%s: want one game's ID (see records list)", c.CommandPath())
	}
	return nil
}

func recordsShow(from *archive) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show ID [SOURCE...]",
		Short: "Show a game: players, result, and the analysis of each move",
		Long: `Show a game of the data directory or of the sources: players, result, and the
analysis of each move.
` + aSource,
		Args: anID,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := from.find(c, args[0], args[1:])
			if err != nil {
				return err
			}
			if asJSON {
				return writeLines(c.OutOrStdout(), []*record.Record{r})
			}
			return showRecord(c.OutOrStdout(), r)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the full record as JSON")
	return c
}

func showRecord(out io.Writer, r *record.Record) error {
	fmt.Fprintf(out, "game      %s\nrules     %s\nclock     %s, %s\n", r.ID, r.Rules, r.Clock, map[bool]string{true: "rated", false: "casual"}[r.Rated])
	if r.Position != "" {
		fmt.Fprintf(out, "position  %s\n", r.Position)
	}
	for seat, s := range r.Seats {
		fmt.Fprintf(out, "%-8s  %s%s%s\n", game.Seat(seat), nameText(s), ratingChange(s), oddsText(s)+engineText(s))
	}
	switch {
	case r.Start.IsZero():
	case r.End.IsZero():
		fmt.Fprintf(out, "played    from %s UTC\n", timeText(r.Start))
	default:
		fmt.Fprintf(out, "played    %s to %s UTC\n", timeText(r.Start), timeText(r.End))
	}
	if r.Event+r.Place != "" {
		fmt.Fprintf(out, "event     %s\n", strings.Trim(r.Event+", "+r.Place, ", "))
	}
	if r.Result == game.Undecided && r.Reason == "" {
		fmt.Fprint(out, "result    unfinished")
	} else {
		fmt.Fprintf(out, "result    %s", r.Result)
	}
	if r.Reason != "" {
		fmt.Fprintf(out, " (%s)", r.Reason)
	}
	if r.Text != "" {
		fmt.Fprintf(out, "\n          %s", strings.Join(strings.Fields(r.Text), " "))
	}
	fmt.Fprint(out, "\n\n")
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PLY\tSEAT\tMOVE\tUSED\tLEFT\tDEPTH\tSCORE\tCHANCE\tNODES\tPONDER\tLINE")
	timed := slices.ContainsFunc(r.Plies, func(p record.Ply) bool { return p.UsedMS > 0 }) // games read from other files may have no times
	for i, p := range r.Plies {
		used, left := "", ""
		if timed {
			used = fmt.Sprintf("%.2f", float64(p.UsedMS)/1000)
		}
		if p.LeftMS > 0 { // else it is unknown, or the game had no clock
			left = fmt.Sprintf("%.1f", float64(p.LeftMS)/1000)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", i+1, p.Seat, p.Move, used, left, thinkColumns(p.Think))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, d := range r.Disputes {
		fmt.Fprintf(out, "dispute after ply %d: %s (claimed %s, ruled %s)\n", d.Ply, d.Text, cmp.Or(d.Claimed, "unknown"), cmp.Or(d.Ruled, "unknown"))
	}
	return nil
}

// nameText returns the name of a player for people, and the id where it is another.
func nameText(s record.Seat) string {
	if s.Display != "" && s.Player != "" && s.Display != s.Player {
		return fmt.Sprintf("%s (%s)", s.Display, s.Player)
	}
	return format.Name(s)
}

// oddsText names the clock of a seat that has another one than the game.
func oddsText(s record.Seat) string {
	if s.Clock == nil {
		return ""
	}
	return fmt.Sprintf("  clock %s", s.Clock)
}

func ratingChange(s record.Seat) string {
	if s.Before == nil || s.After == nil {
		return ""
	}
	return fmt.Sprintf("  %.0f -> %.0f", s.Before.Rating, s.After.Rating)
}

// engineText says who played a seat, if the record knows.
func engineText(s record.Seat) string {
	if s.Build == "" {
		return ""
	}
	text := "  " + s.Build
	if s.Settings != nil && s.Settings.Spec != "" {
		text += " (" + s.Settings.Spec + ")"
	}
	return text
}

// thinkColumns returns the columns depth to line, empty without analysis.
func thinkColumns(t *record.Think) string {
	if t == nil {
		return "\t\t\t\t\t"
	}
	ponder := ""
	switch {
	case t.PonderHit:
		ponder = fmt.Sprintf("hit, saved %.2f", float64(t.PonderSavedMS)/1000)
	case t.Ponder != "":
		ponder = "miss"
	}
	chance, known := analysis.ChanceSeen(t) // not of a choice in an opening procedure
	if t.Source != record.FromSearch && t.Depth == 0 && !known {
		return fmt.Sprintf("%s\t\t\t\t%s\t", t.Source, ponder)
	}
	found, nodes := "\t\t", ""
	if known {
		depth := ""
		if t.Depth > 0 || t.Source == record.FromSearch { // else it is unknown
			depth = fmt.Sprint(t.Depth)
		}
		found = fmt.Sprintf("%s\t%+d\t%.0f%%", depth, t.Score, 100*chance)
	}
	if t.Nodes > 0 { // else they are unknown, or it took none
		nodes = fmt.Sprint(t.Nodes)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s", found, nodes, ponder, strings.Join(t.PV[:min(len(t.PV), 6)], " "))
}
