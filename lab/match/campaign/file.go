package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"sparring/internal/strictyaml"
	"sparring/lab/match"
)

// File is what the file of a campaign says. The conditions of its matches are not
// read further: see Setting.
type File struct {
	Name        string // identifies the campaign
	Title       string // for people; "": the name
	Until       string // see Ends; "": until all is played
	Concurrency int    // games at once; 0: not said
	Players     []Player
	Matches     []Entry

	file      string
	untilLine int
}

// Player is a player of a campaign.
type Player struct {
	Name, Spec string
	Line       int // of the file
}

// Entry is a match of the file: games between some players under one set of
// conditions.
type Entry struct {
	Name     string
	Players  []Player // all of the file unless it names some
	Kind     match.Kind
	Settings []Setting
	Line     int
}

// Setting is a condition of a match by the name of a flag of sparring match.
type Setting struct {
	Key, Value string
	Line       int
}

// At returns an error at a line of a file.
func At(file string, line int, err error) error {
	return fmt.Errorf("%s: line %d: %w", file, line, err)
}

// isFileName reports whether a name has the form of names that become those of files. A
// regular expression for it would take a part of every command's start.
func isFileName(name string) bool {
	return utf8.ValidString(name) && utf8.RuneCountInString(name) <= 40 && strings.IndexFunc(name, isAlphanumeric) == 0 &&
		!strings.ContainsFunc(name, func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune("._-", r) })
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// Parse reads the file of a campaign. Conditions are the keys that a match may have
// besides those of this package. An error names the file and the line.
func Parse(data []byte, file string, conditions []string) (*File, error) {
	f := &File{file: file, Name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))}
	if err := f.read(data, conditions); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	f.Title = cmp.Or(f.Title, f.Name)
	return f, nil
}

func (f *File) read(data []byte, conditions []string) error {
	top, err := strictyaml.Parse(data)
	if err != nil {
		return err
	}
	var matches *yaml.Node // read when the players are known
	err = strictyaml.Keys{
		"name":        strictyaml.Text(&f.Name),
		"title":       strictyaml.Text(&f.Title),
		"until":       f.readUntil,
		"concurrency": strictyaml.Number(&f.Concurrency),
		"players":     strictyaml.Names(f.readPlayer),
		"matches":     func(n *yaml.Node) error { matches = n; return nil },
	}.Read(top)
	switch {
	case err != nil:
		return err
	case !isFileName(f.Name):
		return fmt.Errorf("name %.60q: want letters, digits, dots and hyphens, at most 40: give the key name", f.Name)
	case f.Players == nil || matches == nil:
		return errors.New("want players and matches")
	}
	return strictyaml.Read("matches", matches, strictyaml.Names(func(key, value *yaml.Node) error { return f.readMatch(key, value, conditions) }))
}

func (f *File) readUntil(n *yaml.Node) error {
	if err := strictyaml.Text(&f.Until)(n); err != nil {
		return err
	}
	f.untilLine = n.Line
	if _, err := ParseUntil(f.Until, time.Now()); err != nil && !errors.Is(err, ErrOver) {
		return err
	}
	return nil
}

// Ends returns when a run that begins now ends, zero if that is when all is played. An error
// names the file and the line, and wraps ErrOver.
func (f *File) Ends(now time.Time) (time.Time, error) {
	if f.Until == "" {
		return time.Time{}, nil
	}
	t, err := ParseUntil(f.Until, now)
	if err != nil {
		return t, At(f.file, f.untilLine, fmt.Errorf("until: %w", err))
	}
	return t, nil
}

// longest is that of a player's name, in characters.
const longest = 60

func (f *File) readPlayer(key, value *yaml.Node) error {
	p := Player{Name: key.Value, Line: key.Line}
	if strings.TrimSpace(p.Name) != p.Name || p.Name == "" || len([]rune(p.Name)) > longest || strings.ContainsFunc(p.Name, func(c rune) bool { return c < ' ' }) {
		return strictyaml.At(key, fmt.Errorf("player %.80q: want a name of at most %d characters", p.Name, longest))
	}
	if err := strictyaml.Text(&p.Spec)(value); err != nil {
		return strictyaml.At(value, fmt.Errorf("player %s: want a spec, such as self:level=5 or uci:./engine", p.Name))
	}
	f.Players = append(f.Players, p)
	return nil
}

func (f *File) readMatch(key, value *yaml.Node, conditions []string) error {
	e := Entry{Name: key.Value, Line: key.Line, Kind: match.RoundRobin, Players: f.Players}
	if !isFileName(e.Name) {
		return strictyaml.At(key, fmt.Errorf("match %.60q: want letters, digits, dots and hyphens, at most 40", e.Name))
	}
	keys := strictyaml.Keys{
		"players": func(n *yaml.Node) error {
			e.Players = nil
			return strictyaml.Items(func(item *yaml.Node) error { return f.choose(&e, item) })(n)
		},
		"tournament": func(n *yaml.Node) error {
			if e.Kind = match.Kind(n.Value); e.Kind != match.RoundRobin && e.Kind != match.Gauntlet {
				return fmt.Errorf("%.40q: want %s or %s", n.Value, match.RoundRobin, match.Gauntlet)
			}
			return nil
		},
	}
	for _, c := range conditions {
		keys[c] = func(n *yaml.Node) error {
			var text string
			err := strictyaml.Text(&text)(n)
			e.Settings = append(e.Settings, Setting{c, text, n.Line})
			return err
		}
	}
	if err := keys.Read(value); err != nil {
		return err
	}
	if len(e.Players) < 2 {
		return strictyaml.At(key, fmt.Errorf("match %s: want at least two players", e.Name))
	}
	f.Matches = append(f.Matches, e)
	return nil
}

// choose adds a player of the file to a match.
func (f *File) choose(e *Entry, item *yaml.Node) error {
	at := slices.IndexFunc(f.Players, func(p Player) bool { return p.Name == item.Value })
	switch {
	case at < 0:
		var names []string
		for _, p := range f.Players {
			names = append(names, p.Name)
		}
		return strictyaml.At(item, fmt.Errorf("players: there is no %.60q (have %s)", item.Value, strings.Join(names, ", ")))
	case slices.Contains(e.Players, f.Players[at]):
		return strictyaml.At(item, fmt.Errorf("players: %s is given twice", item.Value))
	}
	e.Players = append(e.Players, f.Players[at])
	return nil
}

// untilForms are those of ParseUntil that have a date, in the machine's time zone
// unless they have one.
var untilForms = []string{"2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339}

// ErrOver is wrapped by the error of a time that is over: a run can't end then, but one may have.
var ErrOver = errors.New("is over")

// ParseUntil reads a time of the day, whose next occurrence after now it returns, or a
// date with a time, of which ErrOver says that it is over: "07:30", "2026-11-23 07:30".
func ParseUntil(text string, now time.Time) (time.Time, error) {
	if t, err := time.ParseInLocation("15:04", text, now.Location()); err == nil {
		y, m, d := now.Date()
		next := time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, now.Location())
		if !next.After(now) {
			next = time.Date(y, m, d+1, t.Hour(), t.Minute(), 0, 0, now.Location())
		}
		return next, nil
	}
	for _, form := range untilForms {
		t, err := time.ParseInLocation(form, text, now.Location())
		if err != nil {
			continue
		}
		if !t.After(now) {
			return time.Time{}, fmt.Errorf("%s %w: it is %s", text, ErrOver, now.Format(untilForms[0]))
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%.40q: want a time such as 07:30 or 2026-11-23 07:30", text)
}
