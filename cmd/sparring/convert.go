package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sparring/internal/atomicfile"
	"sparring/lab/match/event"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/interchange"
)

// exportFlags are the flags of the records export command.
type exportFlags struct {
	from           *archive
	format         string // "": the championship's, of each game
	charset, moves string
	out            string
	all            bool
	player         string // of the games that --all writes; "": all
	event          string
	title, place   string                     // to write instead of the record's, unless ""
	follows        *event.Event               // that --event names; nil: --event is a title
	courses        map[string]map[string]bool // of the games, see courseIn, by format; filled in where it is needed
}

func recordsExport(from *archive) *cobra.Command {
	f := &exportFlags{from: from}
	var names []string
	for _, x := range interchange.Formats() {
		names = append(names, x.Name)
	}
	slices.Sort(names)
	c := &cobra.Command{
		Use:   "export ID|--all [SOURCE...]",
		Short: "Write games in the format of another program",
		Long: `Write a game of the data directory or of the sources in the format of another
program, or with --all every game, in a file each. The default format is the
one that the Chinese championship wants for the game: ccgc for Amazons and
Gomoku, pgn for Xiangqi; files are named as it prescribes.
` + aSource,
		Example: `  sparring records export g5x2 --format sgf
  sparring records export --all --player 北理工 --event "2026 CCGC" --place 沈阳 --out games/`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.all && f.out == "":
				return usagef("%s: --all wants --out FOLDER", c.CommandPath())
			case !f.all && f.player != "":
				return usagef("%s: --player is for --all", c.CommandPath())
			case len(args) == 0 && !f.all:
				return usagef("%s: want one game's ID (see records list), or --all", c.CommandPath())
			}
			if err := f.follow(c); err != nil {
				return err
			}
			if err := f.check(); err != nil {
				return usage(err)
			}
			if f.all {
				return f.exportAll(c, args)
			}
			if f.intoFolder() {
				return f.exportInto(c, args[0], args[1:])
			}
			r, err := from.find(c, args[0], args[1:])
			if err != nil {
				return err
			}
			return f.exportOne(c.OutOrStdout(), r, args[1:])
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.format, "format", "", strings.Join(names, ", ")+" (default: the championship's for the game)")
	fl.StringVar(&f.charset, "charset", string(format.UTF8), "utf-8 or gbk")
	fl.StringVar(&f.moves, "moves", string(format.ICCS), "Xiangqi moves in PGN: iccs, wxf or chinese")
	outFlag(fl, &f.out, "o", "output file, or a folder (as in games/) for files named as the format prescribes (default: standard output)")
	fl.BoolVar(&f.all, "all", false, "write every game, into the folder --out")
	fl.StringVar(&f.player, "player", "", "with --all: only the games of this player, by name or id")
	fl.StringVar(&f.event, "event", "", anEvent+": its format, names of files, title and place, where no flag says otherwise; or only the title to write, such as \"2026 CCGC\" (default: the record's)")
	fl.StringVar(&f.title, "title", "", "title of the event to write (default: the event's, or the record's)")
	fl.StringVar(&f.place, "place", "", "place to write (default: the record's)")
	return c
}

// follow takes over what --event prescribes.
func (f *exportFlags) follow(c *cobra.Command) (err error) {
	if f.event == "" {
		return nil
	}
	if !event.Named(f.event) {
		if f.title != "" {
			return usagef("--event %q is a title, and --title another", f.event)
		}
		f.title = f.event
		return nil
	}
	if f.follows, err = openEvent(f.event); err != nil {
		return fmt.Errorf("%w; a title has blanks, capitals or Chinese characters, or is given by --title", err)
	}
	e := f.follows
	return follow(c, e, prescription{"format", e.Record.Format}, prescription{"charset", string(e.Record.Charset)},
		prescription{"moves", string(e.Record.Moves)}, prescription{"place", e.Place}, prescription{"title", e.Title})
}

// check returns an error if --format names no format.
func (f *exportFlags) check() error {
	if f.format == "" {
		return nil
	}
	_, err := interchange.Find(f.format)
	return err
}

// formatOf returns the format for a game.
func (f *exportFlags) formatOf(r *record.Record) (format.Format, error) {
	if f.format == "" {
		return interchange.Championship(r.Game)
	}
	return interchange.Find(f.format)
}

// described returns the record with the event and the place of the flags.
func (f *exportFlags) described(r *record.Record) *record.Record {
	d := *r
	if f.title != "" {
		d.Event = event.TitleAt(f.title, r.Start)
	}
	if f.place != "" {
		d.Place = f.place
	}
	return &d
}

// write writes a game.
func (f *exportFlags) write(out io.Writer, to format.Format, r *record.Record) error {
	return interchange.Export(out, to.Name, []*record.Record{r}, format.WriteOptions{Charset: format.Charset(f.charset), Moves: format.Moves(f.moves)})
}

// intoFolder reports whether --out is a folder.
func (f *exportFlags) intoFolder() bool {
	return f.out != "" && (isDir(f.out) || os.IsPathSeparator(f.out[len(f.out)-1]))
}

// exportOne writes a game to the standard output or a file.
func (f *exportFlags) exportOne(out io.Writer, r *record.Record, sources []string) error {
	r = f.described(r)
	to, err := f.formatOf(r)
	if err != nil {
		return err
	}
	if f.out == "" {
		return f.write(out, to, r)
	}
	if err := checkOutput("--out", f.out, sources...); err != nil {
		return err
	}
	return atomicfile.Write(f.out, func(w io.Writer) error { return f.write(w, to, r) })
}

// exportInto writes a game to the file in a folder that --all would give it.
func (f *exportFlags) exportInto(c *cobra.Command, id string, sources []string) error {
	games, err := f.from.all(c, sources)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(games, func(r *record.Record) bool { return r.ID == id })
	if i < 0 { // unless it is there, but the export of another
		r, err := f.from.find(c, id, sources)
		if err != nil {
			return err
		}
		i, games = len(games), append(games, r)
	}
	r := f.described(games[i])
	to, err := f.formatOf(r)
	if err != nil {
		return err
	}
	if f.follows != nil && r.Game != f.follows.Rules.Game {
		return usagef("--event %s: its game is %s, and this one %s", f.event, f.follows.Rules.Game, r.Game)
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	return f.replace(filepath.Join(f.out, f.names(games)[id]), to, r, games, sources)
}

// replace writes a game to a file in a folder, unless that is a source, or has a game that is
// not one of games: an export of others would be lost.
func (f *exportFlags) replace(path string, to format.Format, r *record.Record, games []*record.Record, sources []string) error {
	if err := checkReplaced("--out", path, sources...); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := f.write(&text, to, r); err != nil {
		return err
	}
	have, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !bytes.Equal(have, text.Bytes()) && !f.among(have, to, games):
		return fmt.Errorf("%s has another game, which would be lost; want another folder, or all games in one export", path)
	}
	return atomicfile.WriteBytes(path, text.Bytes())
}

// among reports whether the text of a file has one of the games. They are compared as the
// format has them, which may leave something out.
func (f *exportFlags) among(text []byte, to format.Format, games []*record.Record) bool {
	if f.courses == nil {
		f.courses = map[string]map[string]bool{}
	}
	if f.courses[to.Name] == nil {
		known := map[string]bool{}
		for _, r := range games {
			var text bytes.Buffer
			if f.write(&text, to, r) != nil {
				continue // it is told where the game is written
			}
			if course, ok := courseIn(text.Bytes()); ok {
				known[course] = true
			}
		}
		f.courses[to.Name] = known
	}
	course, ok := courseIn(text)
	return ok && f.courses[to.Name][course]
}

// courseIn returns where the game of a text begins, and its moves; ok is false if the text is
// not that of one game.
func courseIn(text []byte) (course string, ok bool) {
	n := 0
	for r, err := range interchange.Import(bytes.NewReader(text), format.ReadOptions{}) {
		if n++; err != nil || n > 1 {
			return "", false
		}
		course = r.Position
		for _, p := range r.Plies {
			course += " " + p.Move
		}
	}
	return course, n == 1
}

// names returns the names of the games' files in a folder, by the games' ids. No two
// games have the same, and one that is exported by itself has the same as with --all.
func (f *exportFlags) names(games []*record.Record) map[string]string {
	names, used, met := map[string]string{}, map[string]bool{}, map[[2]string]int{}
	for _, r := range games {
		if f.follows != nil && r.Game != f.follows.Rules.Game {
			continue
		}
		r := f.described(r)
		to, err := f.formatOf(r)
		if err != nil {
			continue // it is told where the game is written
		}
		name := unused(f.fileName(to, r, met[pairing(r)]), used)
		met[pairing(r)]++
		names[r.ID], used[name] = name, true
	}
	return names
}

// exportAll writes the games of the archive, or of the sources, to files in a folder.
// It reports those that a format can't represent, and ends at an error of the file system,
// which the next game would meet too.
func (f *exportFlags) exportAll(c *cobra.Command, sources []string) error {
	games, err := f.from.all(c, sources)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	names := f.names(games)
	written, failed := 0, 0
	for _, r := range games {
		if err := c.Context().Err(); err != nil {
			return err
		}
		if f.player != "" && !plays(r, f.player) || f.follows != nil && r.Game != f.follows.Rules.Game {
			continue
		}
		r := f.described(r)
		to, err := f.formatOf(r)
		if err == nil {
			err = f.replace(filepath.Join(f.out, names[r.ID]), to, r, games, sources)
		}
		if full, ok := errors.AsType[*fs.PathError](err); ok {
			return fmt.Errorf("%w; %s written before", full, count(written, "game was", "games were"))
		}
		if of, ok := errors.AsType[*format.GameError](err); ok {
			err = fmt.Errorf("%s: %w", of.Format, of.Err)
		}
		if err != nil {
			fmt.Fprintf(c.ErrOrStderr(), "sparring: game %s: %v\n", r.ID, err)
			failed++
			continue
		}
		fmt.Fprintln(c.OutOrStdout(), names[r.ID])
		written++
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %d games were not written", failed, failed+written)
	case written == 0 && f.player != "":
		return fmt.Errorf("no game of player %q (have %s)", f.player, strings.Join(playersOf(games), ", "))
	case written == 0:
		return errors.New("no games")
	}
	return nil
}

// fileName returns the name of a game's file: the event's, or that of the format. N is
// how many games of these players with these seats there are before it.
func (f *exportFlags) fileName(to format.Format, r *record.Record, n int) string {
	if f.follows != nil && f.follows.Record.File != "" {
		return f.follows.Record.FileName(r, n)
	}
	return interchange.FileName(to, r)
}

// pairing returns the players of a game, by seat.
func pairing(r *record.Record) [2]string { return [2]string{r.Seats[0].Player, r.Seats[1].Player} }

// plays reports whether a player of this name or id sat on a seat of the game.
func plays(r *record.Record, player string) bool {
	return slices.ContainsFunc(r.Seats[:], func(s record.Seat) bool { return s.Player == player || s.Display == player })
}

// maxPlayers is how many players an error names.
const maxPlayers = 10

// playersOf returns the names of those who played most of the games, in order.
func playersOf(all []*record.Record) []string {
	games := map[string]int{}
	for _, r := range all {
		for _, s := range r.Seats {
			games[format.Name(s)]++
		}
	}
	names := slices.Sorted(maps.Keys(games))
	slices.SortStableFunc(names, func(a, b string) int { return games[b] - games[a] })
	switch {
	case len(names) == 0:
		return []string{"none"}
	case len(names) > maxPlayers:
		return append(names[:maxPlayers], "...")
	}
	return names
}

// unused returns the name, with a number before its ending if it is used.
func unused(name string, used map[string]bool) string {
	ext := filepath.Ext(name)
	free := name
	for n := 2; used[free]; n++ {
		free = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
	}
	return free
}

func recordsImport(to *archive) *cobra.Command {
	var rules string
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Import games from files of other programs (sgf, pgn, psq, ccgc), of records, or of a match",
		Args:  someFiles(1, "files to read"),
		RunE: func(c *cobra.Command, args []string) error {
			if to.nats.given() {
				return usagef("--nats: games are imported into --data only; the platform keeps the games it refereed")
			}
			known, err := to.known(c.ErrOrStderr())
			if err != nil {
				return err
			}
			writer, err := record.NewWriter(recordsDir(to.data), "import", 0)
			if err != nil {
				return err
			}
			defer writer.Close()
			good, damaged := 0, 0
			for _, path := range args {
				n, m, err := importFile(c, path, rules, writer, known)
				if err != nil {
					return err
				}
				good, damaged = good+n, damaged+m
			}
			switch {
			case damaged > 0 && good == 0:
				return errors.New("nothing was imported")
			case good == 0:
				return fmt.Errorf("no games in %s", strings.Join(args, ", "))
			case damaged > 0:
				return fmt.Errorf("%s could not be read, %s could", count(damaged, "game", "games"), count(good, "game", "games"))
			}
			return nil
		},
	}
	c.Flags().StringVar(&rules, "rules", "", "rule set to check the moves by (default: that of the file)")
	return c
}

// recordKey identifies a record: a game has one of each of its writers.
type recordKey struct{ id, by, player, instance string }

func recordKeyOf(r *record.Record) recordKey {
	return recordKey{r.ID, r.Source.By, r.Source.Player, r.Source.Instance}
}

// library is what an import adds to.
type library struct {
	records map[recordKey]bool
	copies  format.Copies
}

func (l *library) add(r *record.Record) {
	l.records[recordKeyOf(r)] = true
	l.copies.Note(r)
}

// known returns what records the data directory has. Damaged ones are reported.
func (a *archive) known(errs io.Writer) (*library, error) {
	known := &library{records: map[recordKey]bool{}}
	for r, err := range record.All(recordsDir(a.data)) {
		switch {
		case errors.Is(err, fs.ErrNotExist) && !damaged(err): // no records yet
		case damaged(err):
			fmt.Fprintln(errs, "sparring: skipped:", err)
		case err != nil:
			return nil, err
		default:
			known.add(r)
		}
	}
	return known, nil
}

// importFile imports the games of a file and lists them. It returns how many there
// are, those that were known included, and how many are damaged, which it reports.
func importFile(c *cobra.Command, path, rules string, writer *record.Writer, known *library) (good, damaged int, err error) {
	games, err := gamesIn(c, path, format.ReadOptions{Rules: rules})
	if err != nil {
		return 0, 0, err
	}
	for r, err := range games {
		if err := c.Context().Err(); err != nil {
			return good, damaged, err
		}
		if err != nil {
			fmt.Fprintln(c.ErrOrStderr(), "sparring:", err)
			damaged++
			continue
		}
		good++
		if known.records[recordKeyOf(r)] {
			fmt.Fprintf(c.OutOrStdout(), "%s  already imported\n", r.ID)
			continue
		}
		if err := writer.Append(r); err != nil {
			return good, damaged, err
		}
		exported := "" // but stored: the file may have comments on the game
		if id := known.copies.Of(r); id != "" {
			exported = fmt.Sprintf(" (an export of %s; they count as one game)", id)
		}
		known.add(r)
		names := [2]string{}
		for i, seat := range r.Seats {
			names[i] = cmp.Or(format.Name(seat), "?") // the file names nobody
		}
		fmt.Fprintf(c.OutOrStdout(), "%s  %s, %s - %s, %s, %s%s\n", r.ID, r.Rules, names[0], names[1], plies(len(r.Plies)), r.Result, exported)
	}
	return good, damaged, nil
}
