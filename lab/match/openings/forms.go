package openings

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gomoku"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/interchange"
)

// The forms of openings, beside those of package interchange, which have games.
const (
	Text = "text" // this package's
	// EPD is a position a line: board, side to move, two fields that chess needs, and
	// operations, which end with semicolons. It is written without history; lines with
	// the counters of a FEN, or with moves, are read as well, see catalog.ParseLine.
	EPD = "epd"
	// Gomocup is the form of the openings that Gomocup publishes: a line of stones,
	// columns and rows counted from the centre of the board, to the right and down.
	//
	//	8,-3, 6,-4, 5,-4
	Gomocup = "gomocup"
	// Records are our own, a line of JSON each, and the result files of matches. They can
	// only be read.
	Records = "records"
)

// Forms lists the forms that can be read and written. [Records] can be read, too.
func Forms() []string {
	names := []string{Text, EPD, Gomocup}
	for _, f := range interchange.Formats() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// ImportOptions give what files of other programs do not say.
type ImportOptions struct {
	// Rules are the full names of the rule sets that the openings are for, whatever
	// the file says; an opening that one of them does not allow is skipped.
	Rules []string
	// Usual are those of a file that names none. Without them its games are read as
	// package interchange does.
	Usual []string
	// Plies is how many moves of a game, or of a longer opening, are taken; 0: all.
	Plies int
}

// Imported is what Import has read.
type Imported struct {
	*Set
	Form     string  // one of Forms, or Records
	Repeated int     // openings that lead to a position that was there already
	Skipped  []error // openings and games that can't be played, with their place
}

// Import reads openings in any of the forms. Without Plies the text form is read
// as Read does. Otherwise each position is taken once, and what can't be played is
// skipped. The error names the file.
func Import(in io.Reader, name string, o ImportOptions) (*Imported, error) {
	data, err := io.ReadAll(io.LimitReader(in, interchange.MaxFile+1))
	if err == nil && len(data) > interchange.MaxFile {
		err = fmt.Errorf("more than %d bytes", interchange.MaxFile)
	}
	text := ""
	if err == nil {
		text, err = interchange.Decode(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	i := &importer{Imported: Imported{Set: &Set{}}, options: o, name: name, seen: map[uint64]bool{}}
	first := firstLine(text)
	switch f, err := interchange.Detect(text); {
	case strings.HasPrefix(first, recordHead):
		i.Form = Records
		i.games(record.Read(name, strings.NewReader(text)), "") // whose errors have the name
	case err == nil && !strings.HasPrefix(first, "rules "):
		i.Form = f.Name
		i.games(f.Read(text, i.reading()), name+": ")
	case offsets.MatchString(first):
		i.Form = Gomocup
		i.lines(text, fromCentre)
	case position.MatchString(first):
		i.Form = EPD
		i.lines(text, fromLine)
	case bareMoves.MatchString(first):
		i.Form = Text
		i.lines(text, fromLine)
	default:
		set, err := Read(strings.NewReader(text), name)
		if err != nil || o.Plies == 0 && len(o.Rules) == 0 {
			return &Imported{Set: set, Form: Text}, err
		}
		i.Form, i.Notes = Text, set.Notes
		i.again(set)
	}
	if i.wrong != nil {
		return nil, fmt.Errorf("%s: %w", name, i.wrong)
	}
	if len(i.Openings) == 0 {
		return nil, fmt.Errorf("%s: no openings: %w", name, i.whyNone())
	}
	return &i.Imported, nil
}

// whyNone says why there are no openings.
func (i *importer) whyNone() error {
	const most = 3 // the others are like them
	switch n := len(i.Skipped) - most; {
	case len(i.Skipped) == 0:
		return errors.New("the file has no games")
	case n > 0:
		return fmt.Errorf("%w\nand %d more", errors.Join(i.Skipped[:most]...), n)
	}
	return errors.Join(i.Skipped...)
}

// recordHead begins every record, and the first line of a result file.
const recordHead = `{"`

// firstLine returns the first line that is neither empty nor a comment.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line
		}
	}
	return ""
}

// importer is an import under way.
type importer struct {
	Imported
	options ImportOptions
	name    string
	rules   []*game.Rules
	seen    map[uint64]bool
	wrong   error // nothing can be read
}

// setRules sets the rule sets of the openings, by default to those of the file.
func (i *importer) setRules(own ...string) {
	for _, i.Rules = range [][]string{i.options.Rules, own, i.options.Usual} {
		if len(i.Rules) > 0 {
			break
		}
	}
	if len(i.Rules) == 0 {
		i.wrong = fmt.Errorf("a file in the form %s %w: give them", i.Form, ErrNoRules)
	}
	for _, name := range i.Rules {
		r, err := catalog.Rules(name)
		if err != nil {
			i.wrong = err
			return
		}
		i.rules = append(i.rules, r)
	}
}

// add adds an opening; where is its place.
func (i *importer) add(o Opening, where string) {
	key, err := check(o, i.rules)
	switch {
	case err != nil:
		i.Skipped = append(i.Skipped, fmt.Errorf("%s: %w", where, err))
	case i.seen[key]:
		i.Repeated++
	default:
		i.seen[key] = true
		i.Openings = append(i.Openings, o)
	}
}

// reading returns how games of other programs are read.
func (i *importer) reading() (o format.ReadOptions) {
	if given := append(i.options.Rules, i.options.Usual...); len(given) > 0 {
		o.Rules = given[0]
	}
	return o
}

// games takes the openings of games. An error of one is told with the text before it.
func (i *importer) games(all iter.Seq2[*record.Record, error], before string) {
	n := 0
	for r, err := range all {
		n++
		where := fmt.Sprintf("%s, game %d", i.name, n)
		if err != nil {
			i.Skipped = append(i.Skipped, fmt.Errorf("%s%w", before, err))
			continue
		}
		if i.rules == nil {
			plain, _, _ := strings.Cut(r.Rules, "+") // such as a lenient count of moves
			if i.setRules(plain); i.wrong != nil {
				return
			}
		}
		o := Opening{Start: r.Position}
		for ply, p := range r.Plies {
			if i.options.Plies > 0 && ply == i.options.Plies {
				break
			}
			o.Moves = append(o.Moves, p.Move)
		}
		i.add(o, where)
	}
}

// again takes the openings of a set, or their first moves.
func (i *importer) again(set *Set) {
	if i.setRules(set.Rules...); i.wrong != nil {
		return
	}
	for n, o := range set.Openings {
		if i.options.Plies > 0 {
			o.Moves = o.Moves[:min(len(o.Moves), i.options.Plies)]
		}
		i.add(o, fmt.Sprintf("%s, opening %d", i.name, n+1))
	}
}

// lines takes an opening of each line.
func (i *importer) lines(text string, parse func(line string, r *game.Rules) (Opening, error)) {
	if i.setRules(); i.wrong != nil {
		return
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		where := fmt.Sprintf("%s:%d", i.name, n)
		o, err := parse(line, i.rules[0])
		if err != nil {
			i.Skipped = append(i.Skipped, fmt.Errorf("%s: %w", where, err))
			continue
		}
		if i.options.Plies > 0 {
			o.Moves = o.Moves[:min(len(o.Moves), i.options.Plies)]
		}
		i.add(o, where)
	}
}

// How a file without a line of rules may begin: with a position, as in EPD and FEN, or with moves.
var (
	position  = regexp.MustCompile(`^(position\s+)?(fen\s+)?\S+/\S+\s+[a-z](\s|$)`)
	bareMoves = regexp.MustCompile(`^(position\s+)?(startpos\b|moves\s)`)
)

// fromLine reads a line of EPD, or one of the text form. Counters as every game begins with them
// are left out.
func fromLine(line string, r *game.Rules) (Opening, error) {
	o, err := parse(line)
	if err != nil {
		return o, err
	}
	fields := strings.Fields(o.Start)
	if len(fields) < 2 {
		return o, nil
	}
	if short := fields[0] + " " + fields[1]; short != o.Start {
		p, err := r.New(o.Start)
		q, without := r.New(short)
		if err == nil && without == nil && p.String() == q.String() {
			o.Start = short
		}
	}
	return o, nil
}

// offsets is a line in Gomocup's form.
var offsets = regexp.MustCompile(`^-?\d{1,2}\s*,\s*-?\d{1,2}(\s*,\s*-?\d{1,2}\s*,\s*-?\d{1,2})*\s*,?$`)

// fromCentre reads a line in Gomocup's form.
func fromCentre(line string, r *game.Rules) (Opening, error) {
	size, err := boardSize(r)
	if err != nil {
		return Opening{}, err
	}
	if !offsets.MatchString(line) {
		return Opening{}, fmt.Errorf("%w: %.60q: want offsets such as 8,-3, 6,-4", game.ErrSyntax, line)
	}
	var numbers []int
	for text := range strings.SplitSeq(strings.TrimSuffix(line, ","), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return Opening{}, err // the expression has checked it
		}
		numbers = append(numbers, n)
	}
	o := Opening{}
	for at := 0; at+1 < len(numbers); at += 2 {
		col, row := numbers[at]+size/2, size-1-(numbers[at+1]+size/2)
		if col < 0 || col >= size || row < 0 || row >= size {
			return Opening{}, fmt.Errorf("%w: %d,%d is not on a board of %d", game.ErrSyntax, numbers[at], numbers[at+1], size)
		}
		o.Moves = append(o.Moves, string(rune('a'+col))+strconv.Itoa(row+1))
	}
	return o, nil
}

// boardSize returns the size of Gomoku's board under a rule set.
func boardSize(r *game.Rules) (int, error) {
	p, err := r.New("")
	if err != nil {
		return 0, err
	}
	g, ok := p.(*gomoku.Position)
	if !ok {
		return 0, fmt.Errorf("%w: the form %s is for Gomoku, not for %s", format.ErrCannot, Gomocup, r.Game)
	}
	return g.Set().Size, nil
}

// WriteAs writes the set in a form. The error wraps format.ErrUnknown, or
// format.ErrCannot and names an opening that the form can't represent. Comments and
// rule sets are written in the text form alone.
func (s *Set) WriteAs(out io.Writer, form string) error {
	if form == Text {
		return s.Write(out)
	}
	if !slices.Contains(Forms(), form) {
		return fmt.Errorf("%w %.20q (have %s)", format.ErrUnknown, form, strings.Join(Forms(), ", "))
	}
	rules, err := catalog.Rules(s.Rules[0])
	if err != nil {
		return err
	}
	var games []*record.Record
	var text strings.Builder
	for n, o := range s.Openings {
		r, err := asGame(o, rules, n+1)
		if err != nil {
			return fmt.Errorf("opening %d: %w", n+1, err)
		}
		line := ""
		switch form {
		case EPD:
			line, err = epdLine(o, rules, n+1)
		case Gomocup:
			line, err = offsetLine(r)
		default:
			games = append(games, r)
			continue
		}
		if err != nil {
			return fmt.Errorf("opening %d: %w", n+1, err)
		}
		text.WriteString(line + "\n")
	}
	if games != nil {
		return interchange.Export(out, form, games, format.WriteOptions{})
	}
	_, err = io.WriteString(out, text.String())
	return err
}

// asGame returns an opening as the record of a game that has not ended.
func asGame(o Opening, rules *game.Rules, n int) (*record.Record, error) {
	r := &record.Record{V: record.Version, ID: fmt.Sprintf("opening-%d", n), Game: rules.Game, Rules: rules.Name, Position: o.Start,
		Event: fmt.Sprintf("Opening %d", n), Source: record.Source{By: record.ByImport}}
	p, err := rules.New(o.Start)
	if err != nil {
		return nil, err
	}
	for _, text := range o.Moves {
		r.Plies = append(r.Plies, record.Ply{Seat: p.Turn(), Move: text})
		if _, err := game.PlayText(p, text); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// epdLine returns the position after an opening.
func epdLine(o Opening, rules *game.Rules, n int) (string, error) {
	p, err := o.Setup(rules)
	if err != nil {
		return "", err
	}
	fields := strings.Fields(p.String())
	plain, err := rules.New(fields[0] + " " + fields[1])
	if err != nil || plain.Key() != p.Key() {
		return "", fmt.Errorf("%w: %s has more than its board", format.ErrCannot, p)
	}
	return fmt.Sprintf("%s %s - - id \"%d\";", fields[0], fields[1], n), nil
}

// offsetLine returns the stones of an opening in Gomocup's form.
func offsetLine(r *record.Record) (string, error) {
	if r.Game == gomoku.Name && r.Position != "" {
		return "", fmt.Errorf("%w: a start position", format.ErrCannot)
	}
	stones, size, _, err := format.Stones(r)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, s := range stones {
		parts = append(parts, fmt.Sprintf("%d,%d", s.Col-size/2, size-1-s.Row-size/2))
	}
	return strings.Join(parts, ", "), nil
}
