// Package psq reads and writes the game files of Piskvork, the manager of the
// Gomocup tournaments.
//
//	Piskvorky 15x15, 11:11, 0    board, levels of both players (0: a person), player that began
//	8,8,1500                     column, row from the top, both from 1; milliseconds
//	9,8,800
//	alice.zip                    the players, if the game is of a tournament
//	bob.zip
//	0                            how it ended: 0 by the rules, 15 out of time, -1 unknown
//
// The last line does not say who won; that follows from the moves. Other data of
// a record are written below it, where Piskvork does not look, in lines of the
// form "# result: second resign". The format has stones only: of an opening
// procedure it keeps the stones, not the choices.
package psq

import (
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/gomoku"
	"sparring/record"
	"sparring/record/format"
)

// Format describes the format.
func Format() format.Format {
	return format.Format{
		Name:  "psq",
		Ext:   ".psq",
		About: "Piskvork game files, Gomoku",
		Games: []string{gomoku.Name},
		Detect: func(text string) bool {
			return header.MatchString(strings.TrimLeft(text[:min(len(text), 256)], " \t\r\n"))
		},
		Write: write,
		Read:  read,
	}
}

// header is the first line: columns, rows, levels, player that began.
var header = regexp.MustCompile(`^(?i:piskvorky)[ \t]+(\d+)[ \t]*x[ \t]*(\d+)[ \t]*(?:,[ \t]*(\d+)[ \t]*[:\-][ \t]*(\d+)[ \t]*)?(?:,[ \t]*(\d+)[ \t]*)?`)

// The codes of the line after the players.
const (
	codeRules   = 0
	codeFirst   = 1 // the first player has won, as other programs write it
	codeSecond  = 2
	codeTimeout = 15
	codeUnknown = -1
)

// levelBot stands for a program in the header; Piskvork has 1 to 11.
const levelBot = 11

func write(records []*record.Record, _ format.WriteOptions) (string, error) {
	var s strings.Builder
	for _, r := range records {
		if err := writeGame(&s, r); err != nil {
			return "", &format.GameError{Format: "psq", Game: r.ID, Err: err}
		}
	}
	return s.String(), nil
}

func writeGame(s *strings.Builder, r *record.Record) error {
	if r.Game != gomoku.Name {
		return fmt.Errorf("%w: a game of %s", format.ErrCannot, r.Game)
	}
	if r.Position != "" {
		return fmt.Errorf("%w: the start position %.60q", format.ErrCannot, r.Position)
	}
	stones, size, black, err := format.Stones(r)
	if err != nil {
		return err
	}
	for i, stone := range stones {
		if stone.Black != (i%2 == 0) {
			return fmt.Errorf("%w: ply %d: the colours do not alternate", format.ErrCannot, stone.Ply)
		}
	}
	players := [2]record.Seat{r.Seats[black], r.Seats[black.Other()]} // Black first, as the stones
	fmt.Fprintf(s, "Piskvorky %dx%d, %d:%d, 0\n", size, size, level(players[0]), level(players[1]))
	for _, stone := range stones {
		fmt.Fprintf(s, "%d,%d,%d\n", stone.Col+1, size-stone.Row, r.Plies[stone.Ply-1].UsedMS)
	}
	for _, p := range players {
		name, err := playerLine(p)
		if err != nil {
			return err
		}
		s.WriteString(name + "\n")
	}
	fmt.Fprintf(s, "%d\n", code(r))
	note := func(key, value string) {
		if value != "" {
			fmt.Fprintf(s, "# %s: %s\n", key, line(value))
		}
	}
	rules, _, _ := strings.Cut(r.Rules, "+") // the format has no choices of an opening
	note("rules", rules)
	note("result", strings.TrimSpace(format.Turned(r.Result, black).String()+" "+string(r.Reason)))
	for i, key := range []string{"first", "second"} {
		note(key, format.ID(players[i]))
	}
	if n := given(r, stones); n > 0 {
		note("book", strconv.Itoa(n))
	}
	note("event", r.Event)
	note("place", r.Place)
	if !r.Start.IsZero() {
		note("date", format.FormatDate(r.Start, "2006-01-02 15:04:05", time.UTC))
	}
	note("clock", r.Clock.String())
	return nil
}

// given returns how many of the first stones no player of the game chose.
func given(r *record.Record, stones []format.Stone) (n int) {
	for n < len(stones) && stones[n].Ply <= r.OpeningPlies() {
		n++
	}
	return n
}

func level(s record.Seat) int {
	if s.Kind == record.Human {
		return 0
	}
	return levelBot
}

// line returns a text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// playerLine returns a name for a line of its own, "?" if there is none.
func playerLine(s record.Seat) (string, error) {
	name := line(format.Name(s))
	switch {
	case name == "":
		return "?", nil
	case moveLine.MatchString(name), header.MatchString(name):
		return "", fmt.Errorf("%w: a player named %q", format.ErrCannot, name)
	}
	return name, nil
}

func code(r *record.Record) int {
	switch {
	case r.Result == game.Undecided:
		return codeUnknown
	case r.Reason == "time":
		return codeTimeout
	}
	return codeRules
}

// reader reads a file line by line.
type reader struct {
	src   *format.Source
	at    int // where the line begins
	after int // where the next one does
	line  string
	began int // where the game does
}

// next goes to the next line that is not empty; false is the end.
func (r *reader) next() bool {
	for r.after < len(r.src.Text) {
		r.at = r.after
		text := r.src.Text[r.at:]
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			text = text[:i]
			r.after++
		}
		r.after += len(text)
		if r.line = strings.TrimSpace(text); r.line != "" {
			r.at += strings.Index(text, r.line)
			return true
		}
	}
	r.at, r.line = r.after, ""
	return false
}

func read(text string, o format.ReadOptions) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		r := &reader{src: &format.Source{Format: "psq", Text: text, Game: 1}}
		if !r.next() {
			yield(nil, r.src.Syntax(0, "no game: want a line such as Piskvorky 15x15, 11:11, 0"))
			return
		}
		for ; r.line != ""; r.src.Game++ {
			rec, err := r.game(o)
			if err != nil && r.at == r.began { // the header is damaged: go to the next one
				for r.next() && !header.MatchString(r.line) {
				}
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// game reads a game from its header up to the next one.
func (r *reader) game(o format.ReadOptions) (*record.Record, error) {
	r.began = r.at
	h := header.FindStringSubmatch(r.line)
	if h == nil {
		return nil, r.src.Syntax(r.at, "%.40q: want a line such as Piskvorky 15x15, 11:11, 0", r.line)
	}
	if h[1] != h[2] {
		return nil, r.src.Syntax(r.at, "a board of %.10sx%.10s: want a square one", h[1], h[2])
	}
	size, err := strconv.Atoi(h[1])
	if err != nil || size > gomoku.MaxSize || size < gomoku.MinSize {
		return nil, r.src.Syntax(r.at, "a board of %.10s: want %d to %d", h[1], gomoku.MinSize, gomoku.MaxSize)
	}
	d := &format.Draft{Source: r.src, At: r.began, Game: gomoku.Name}
	for r.next() {
		if !r.move(d, size) {
			break
		}
	}
	t := r.tail()
	fits := func(name string) bool { return strings.HasSuffix(name, "-"+h[1]) }
	d.Rules = format.RuleSets(gomoku.Name, t.rest, fits)
	if rules := t.notes["rules"]; rules != "" {
		d.Rules = []string{rules}
	}
	rec := &d.Record
	for seat, id := range []string{t.notes["first"], t.notes["second"]} {
		player := seat
		if h[5] == "1" { // the second player of the file began
			player = 1 - seat
		}
		s := &rec.Seats[seat]
		if t.names[player] != "?" {
			format.SetName(s, t.names[player], id)
		}
		switch level := h[3+player]; {
		case level == "0" || strings.HasPrefix(t.names[player], "homo-"):
			s.Kind = record.Human
		case level != "":
			s.Kind = record.Bot
		}
	}
	if n, err := strconv.Atoi(t.notes["book"]); err == nil {
		d.SetUp(n)
	}
	rec.Event, rec.Place = t.notes["event"], t.notes["place"]
	rec.Start, _, _ = format.ParseDate(t.notes["date"], time.UTC)
	rec.Clock = format.ParseClock(t.notes["clock"])
	d.AtEnd = func(end game.Position) { d.Result, d.Reason = t.result(end) }
	return d.Finish(o)
}

var moveLine = regexp.MustCompile(`^(\d{1,4})[ \t]*,[ \t]*(\d{1,4})[ \t]*(?:,[ \t]*(\d{1,12})[ \t]*)?$`)

// move adds the move of a line; it returns false for a line without one.
func (r *reader) move(d *format.Draft, size int) bool {
	m := moveLine.FindStringSubmatch(r.line)
	if m == nil {
		return false
	}
	var ply record.Ply
	ply.UsedMS, _ = strconv.ParseInt(m[3], 10, 64) // "" is none
	d.Move(r.at, ply, func(p game.Position) (game.Move, error) {
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		if x < 1 || y < 1 || x > size || y > size {
			return game.NoMove, fmt.Errorf("%w: %s,%s is not on a board of %d, which begins at 1,1", game.ErrSyntax, m[1], m[2], size)
		}
		return p.Parse(string(rune('a'+x-1)) + strconv.Itoa(size-y+1))
	})
	return true
}

// tail is the text below the moves.
type tail struct {
	names [2]string
	code  int
	notes map[string]string
	rest  string // what other programs add
}

func (r *reader) tail() *tail {
	var lines []string
	for ; r.line != "" && !header.MatchString(r.line); r.next() {
		lines = append(lines, r.line)
	}
	t := &tail{code: codeUnknown, notes: map[string]string{}}
	isCode := func(i int) bool {
		if i >= len(lines) {
			return false
		}
		_, err := strconv.Atoi(lines[i])
		return err == nil
	}
	// Three lines of which the last is a code are players and code, whatever the
	// players' names; otherwise a code may be alone.
	if isCode(2) || len(lines) >= 2 && !isCode(0) && !isCode(1) {
		t.names = [2]string{lines[0], lines[1]}
		lines = lines[2:]
	}
	if isCode(0) {
		t.code, _ = strconv.Atoi(lines[0])
		lines = lines[1:]
	}
	for _, text := range lines {
		key, value, ok := strings.Cut(text, ":")
		if name, note := strings.CutPrefix(key, "# "); ok && note {
			t.notes[name] = strings.TrimSpace(value)
		} else {
			t.rest += text + "\n"
		}
	}
	return t
}

// result returns the result of the game, as far as the file has it.
func (t *tail) result(end game.Position) (result game.Result, reason game.Reason) {
	if text, ok := t.notes["result"]; ok {
		who, why, _ := strings.Cut(text, " ")
		if result.UnmarshalText([]byte(who)) == nil {
			return result, game.Reason(why)
		}
	}
	switch {
	case end.Outcome().Over():
	case t.code == codeFirst:
		return game.FirstWins, ""
	case t.code == codeSecond:
		return game.SecondWins, ""
	case t.code == codeTimeout:
		return game.WonBy(end.Turn().Other()), "time"
	}
	return game.Undecided, ""
}
