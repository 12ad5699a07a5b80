// Package event reads event files: what a competition prescribes of its games, from
// the rules and the clock to the names of the records' files. [Find] opens an event by
// its name or its path, [Names] lists the shipped ones.
//
// A file is YAML, with these keys. Only game is required; what is absent is not
// prescribed, or not known.
//
//	title: "{year} CCGC"     # the event in records; {year} is that of the game
//	game: gomoku
//	rules: renju-15+ccgc-2   # with the opening procedure; default: the game's
//	clock: 1000              # seconds, as --clock of sparring match
//	move: 300s               # longest time for a move
//	margin: 200ms            # how far a move may exceed its time
//	max-plies: 200           # drawn after so many plies
//	openings: none           # as --openings of sparring match
//	memory: 350              # MiB that a program may take
//	place: 沈阳
//	penalties:               # for people, a list of sentences
//	record:
//	  format: pgn            # psq, ccgc, ...
//	  charset: gbk
//	  moves: chinese         # notation of Xiangqi moves in PGN
//	  file: "{first}-{second}{n}.pgn"   # default: the format's own names
//	sources:                 # where this comes from
//	  - url: https://...
//	    date: 2024-05-17
//	    says: ...
//	uncertain:               # for people: what the sources do not say
//
// In the name of a file {first} and {second} are the players, {n} counts the games of
// these two with these seats from 0, {date} and {time} are those of the start in UTC,
// {result} is first, second, draw or none, and {id} is the game's.
package event

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/interchange"
)

// Event is what a competition prescribes. A zero value is not prescribed.
type Event struct {
	Name      string      // of its file, without .yaml
	Title     string      // of the event in records, see TitleAt
	Rules     *game.Rules // never nil
	Clock     *clock.Spec // nil: not known
	Move      time.Duration
	Margin    *time.Duration // nil: not prescribed
	MaxPlies  int
	Openings  string // as --openings of sparring match
	Memory    int    // MiB
	Place     string
	Penalties []string
	Record    Record
	Sources   []Source
	Uncertain []string
}

// Record is the form in which a competition wants its games.
type Record struct {
	Format  string // name of a format of package interchange
	Charset format.Charset
	Moves   format.Moves
	File    string // template of the name of a file; "": the format's own
}

// Source is where a part of an event comes from.
type Source struct {
	URL  string
	Date time.Time // a day
	Says string
}

// ErrUnknown is returned by Find if no event has the name. Names lists those that
// there are.
var ErrUnknown = errors.New("no event")

// ending is that of event files.
const ending = ".yaml"

// name is the form of a shipped event's name. It tells names from titles.
var name = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// Named reports whether a text is the name of an event or the path of its file,
// rather than a title such as "2026 CCGC".
func Named(text string) bool { return name.MatchString(text) || isPath(text) }

func isPath(text string) bool {
	return strings.HasSuffix(text, ending) || strings.HasSuffix(text, ".yml")
}

// Names lists the events of a folder, in order.
func Names(folder fs.FS) ([]string, error) {
	files, err := fs.Glob(folder, "*"+ending)
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ending)
	}
	slices.Sort(files) // "a" before "a-b"
	return files, err
}

// Find opens the event of a name in a folder, or of the path of a file, which ends in
// .yaml or .yml. The error wraps ErrUnknown, or names the file, the line and the key.
func Find(text string, folder fs.FS) (*Event, error) {
	if isPath(text) {
		data, err := os.ReadFile(text)
		if err != nil {
			return nil, err
		}
		return Parse(data, text)
	}
	data, err := fs.ReadFile(folder, text+ending)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		names, err := Names(folder)
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w %.40q (have %s, or give the path of a file that ends in %s)", ErrUnknown, text, strings.Join(names, ", "), ending)
	}
	if err != nil {
		return nil, err
	}
	return Parse(data, text+ending)
}

// Parse reads an event file; its name is for errors and gives the event its name.
func Parse(data []byte, file string) (*Event, error) {
	e := &Event{Name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))}
	if err := e.read(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return e, nil
}

// TitleAt returns a title for a game of this time, which may be zero.
func TitleAt(title string, start time.Time) string {
	year := ""
	if !start.IsZero() {
		year = start.Format("2006")
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(title, "{year}", year)), " ")
}

// words are those that the name of a file may have in braces.
var words = []string{"first", "second", "n", "date", "time", "result", "id"}

// word finds words in braces.
var word = regexp.MustCompile(`\{[^{}]*\}`)

// checkFile reports what is wrong with a template of names.
func checkFile(template string) error {
	for _, w := range word.FindAllString(template, -1) {
		if !slices.Contains(words, strings.Trim(w, "{}")) {
			return fmt.Errorf("no word %s (have {%s})", w, strings.Join(words, "}, {"))
		}
	}
	if template == "" || strings.ContainsAny(word.ReplaceAllString(template, ""), `{}/\`) {
		return errors.New(`want a name with words in braces, without / and \`)
	}
	return nil
}

// FileName returns the name of a game's file, by the template of the event; "" if
// it has none. N is how many games of these players with these seats came before.
func (r Record) FileName(g *record.Record, n int) string {
	date, at := "", ""
	if !g.Start.IsZero() {
		date, at = g.Start.UTC().Format("2006-01-02"), g.Start.UTC().Format("1504")
	}
	return interchange.SafeName(strings.NewReplacer(
		"{first}", format.Name(g.Seats[game.First]), "{second}", format.Name(g.Seats[game.Second]), "{n}", fmt.Sprint(n),
		"{date}", date, "{time}", at, "{result}", g.Result.String(), "{id}", g.ID,
	).Replace(r.File))
}
