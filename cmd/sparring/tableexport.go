package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sparring/internal/atomicfile"
	"sparring/otb"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/interchange"
)

// keep returns what writes a game's record: as the event wants it, and, once the game
// has ended, to the records of the data directory.
func (f *tableFlags) keep(t otb.Terms, dir string) func(r *record.Record) ([]string, error) {
	if f.out != "" {
		dir = f.out
	}
	before := "" // the file that was written last
	return func(r *record.Record) (files []string, err error) {
		x, err := exportOf(t.Follows)
		if err != nil {
			return nil, err
		}
		path, err := x.exportTo(dir, r, f.earlier(r))
		if err == nil {
			files = append(files, path)
			// The name may have the result, which was corrected, or not known yet.
			if before != "" && before != path {
				err = os.Remove(before)
			}
			if errors.Is(err, os.ErrNotExist) {
				err = nil // taken away
			}
			before = path
		}
		if !r.End.IsZero() {
			line, failed := record.Encode(r)
			name := filepath.Join(recordsDir(f.data), r.ID+".jsonl")
			if failed == nil {
				failed = os.MkdirAll(filepath.Dir(name), 0o755)
			}
			if failed == nil {
				failed = atomicfile.WriteBytes(name, line)
			}
			if failed == nil {
				files = append(files, name)
			}
			err = errors.Join(err, failed)
		}
		return files, err
	}
}

// earlier counts the recorded games of the same players with the same seats before r.
func (f *tableFlags) earlier(r *record.Record) (n int) {
	games, err := gather(record.All(recordsDir(f.data)), io.Discard)
	if err != nil {
		return 0 // no records yet
	}
	for _, g := range games {
		if goesBefore(g, r) {
			n++
		}
	}
	return n
}

// goesBefore reports whether g is a game of the same players with the same seats before r.
func goesBefore(g, r *record.Record) bool {
	return pairing(g) == pairing(r) && g.Game == r.Game && g.Start.Before(r.Start)
}

// earlierJournals is earlier for the finished games whose journals are in a folder.
func earlierJournals(dir string, r *record.Record) (n int) {
	files, err := filesOf(dir)
	if err != nil {
		return 0
	}
	for _, path := range files {
		if g, err := otb.Load(path); err == nil && g.Phase() == otb.Ended && goesBefore(g.Record(), r) {
			n++
		}
	}
	return n
}

// exportOf returns an export in the form of an event; "" is the championship's form.
func exportOf(name string) (*exportFlags, error) {
	x := &exportFlags{charset: string(format.UTF8), moves: string(format.ICCS)}
	if name == "" {
		return x, nil
	}
	e, err := openEvent(name)
	if err != nil {
		return nil, err
	}
	x.follows, x.format = e, e.Record.Format
	if e.Record.Charset != "" {
		x.charset = string(e.Record.Charset)
	}
	if e.Record.Moves != "" {
		x.moves = string(e.Record.Moves)
	}
	return x, nil
}

// exportTo writes a game to a file in a folder, named as the event or the format wants
// it, and returns its path. N is how many games of these players with these seats came
// before.
func (f *exportFlags) exportTo(dir string, r *record.Record, n int) (path string, err error) {
	to, err := f.formatOf(r)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, f.fileName(to, r, n))
	return path, atomicfile.Write(path, func(w io.Writer) error { return f.write(w, to, r) })
}

func tableExport() *cobra.Command {
	var out, eventName, form string
	c := &cobra.Command{
		Use:   "export JOURNAL",
		Short: "Write the record of a game at a table, also while it is played",
		Long: `Write the record of the game in a journal, finished or not: in the form of its event,
or of another one, to a file named as that wants it; or with --format record as a line
of JSON, which records, learn and book read.`,
		Example: `  sparring table export data/table/table-20260711-0930-x7ab.jsonl --out games/
  sparring table export game.jsonl --format record > game.record.jsonl`,
		Args: someFiles(1, "journal to read"),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := otb.Load(args[0])
			if err != nil {
				return err
			}
			r := g.Record()
			if form == "record" {
				line, err := record.Encode(r)
				if err == nil {
					_, err = c.OutOrStdout().Write(line)
				}
				return err
			}
			if eventName == "" {
				eventName = g.Terms.Follows
			}
			x, err := exportOf(eventName)
			if err != nil {
				return err
			}
			if form != "" {
				x.format = form
				if _, err := interchange.Find(form); err != nil {
					return usage(err)
				}
			}
			if out == "" {
				return x.exportOne(c.OutOrStdout(), r, args)
			}
			path, err := x.exportTo(out, r, earlierJournals(filepath.Dir(args[0]), r))
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), path)
			}
			return err
		},
	}
	outFlag(c.Flags(), &out, "o", "folder for the file (default: standard output)")
	c.Flags().StringVar(&eventName, "event", "", anEvent+" whose form the record has (default: that of the game)")
	c.Flags().StringVar(&form, "format", "", "record, or a format as in records export (default: the event's)")
	return c
}
