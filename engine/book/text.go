package book

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/textlines"
)

// The text form, for authors. The first line is "sparring book 1" and the family.
// Every other line is a move, preceded by the moves that lead to it from the usual
// start and followed by its wins, draws and losses, and options:
//
//	h2e2 h9g7 b0c2 = 30 10 20 learnt -150 prefer +2
//	h2e2 b9a7 = 0 0 0 avoid
//
// A move of a position that no line of the book leads to is given by the key of the
// position and the number of the move, as in the file:
// "@0123456789abcdef 0x1a2b = 3 0 1". Lines that begin with "games" hold the marks
// of the counted games. A # begins a comment.
const textTitle = "sparring book 1 "

// deepestLine is the longest line of the text form, in plies.
const deepestLine = 1000

// WriteText writes the book as text.
func (b *Book) WriteText(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s%s\n", textTitle, b.family)
	r, err := catalog.Rules(b.family)
	if err != nil {
		return err
	}
	tree := textTree{book: b, out: w, seen: map[uint64]bool{}, written: map[slot]bool{}}
	if start, err := r.New(""); err == nil { // some boards have no usual start
		tree.write(start)
	}
	for _, e := range b.entries {
		if !tree.written[slot{e.Key, e.Move}] {
			fmt.Fprintf(w, "@%s %#x%s\n", game.KeyText(e.Key), uint32(e.Move), e.text())
		}
	}
	for marks := range slices.Chunk(b.games, 6) {
		w.WriteString("games")
		for _, mark := range marks {
			w.WriteString(" " + game.KeyText(mark))
		}
		w.WriteByte('\n')
	}
	return w.Flush()
}

// textTree writes the lines that are reached from the start.
type textTree struct {
	book    *Book
	out     *bufio.Writer
	line    []string
	seen    map[uint64]bool // keys of positions
	written map[slot]bool
}

func (t *textTree) write(p game.Position) {
	key := spotOf(p).key
	if t.seen[key] || len(t.line) == deepestLine {
		return
	}
	t.seen[key] = true
	for _, c := range t.book.candidates(p) {
		if len(c.Moves) == 0 {
			continue
		}
		t.written[slot{c.Key, c.Move}] = true
		t.line = append(t.line, p.Format(c.Moves[0]))
		fmt.Fprintf(t.out, "%s%s\n", strings.Join(t.line, " "), c.text())
		if next := p.Clone(); next.Play(c.Moves[0]) == nil {
			t.write(next)
		}
		t.line = t.line[:len(t.line)-1]
	}
}

// text returns the part of a line after the moves.
func (e Entry) text() string {
	s := fmt.Sprintf(" = %d %d %d", e.Wins, e.Draws, e.Losses)
	if e.Learnt != 0 {
		s += fmt.Sprintf(" learnt %+d", e.Learnt)
	}
	if e.Preference != 0 {
		s += " " + e.Preference.String()
	}
	return s
}

// String returns the preference in the text form: "prefer +2", "avoid", or "".
func (p Preference) String() string {
	switch p {
	case 0:
		return ""
	case Avoid:
		return "avoid"
	}
	return fmt.Sprintf("prefer %+d", int8(p))
}

// ReadText reads the output of WriteText. The error names the line and wraps
// ErrFormat, or is that of the rules for an illegal move or of reading.
func ReadText(in io.Reader) (*Book, error) {
	lines := textlines.New(in)
	var b *Builder
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), "#")
		text = strings.TrimSpace(text)
		var err error
		switch family, title := strings.CutPrefix(text, textTitle); {
		case b == nil && !title:
			err = fmt.Errorf("%w: the first line is not %q and the rules", ErrFormat, strings.TrimSpace(textTitle))
		case b == nil:
			b, err = NewBuilder(strings.TrimSpace(family), 0)
		case text == "":
		default:
			err = b.readLine(text)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", lines.Line(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", lines.Line(), err)
	}
	if b == nil {
		return nil, fmt.Errorf("%w: no first line %q", ErrFormat, strings.TrimSpace(textTitle))
	}
	return b.Book(0), nil
}

func (b *Builder) readLine(text string) error {
	if marks, ok := strings.CutPrefix(text, "games"); ok {
		for word := range strings.FieldsSeq(marks) {
			mark, err := strconv.ParseUint(word, 16, 64)
			if err != nil {
				return fmt.Errorf("%w: %.40q is not a game's mark", ErrFormat, word)
			}
			b.games[mark] = true
		}
		return nil
	}
	line, facts, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("%w: want moves = wins draws losses", ErrFormat)
	}
	e, err := parseFacts(strings.Fields(facts))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	s, err := b.parseSlot(strings.Fields(line))
	if err != nil {
		return err
	}
	if b.entries[s] != nil {
		return fmt.Errorf("%w: the move, or its image, is in an earlier line", ErrFormat)
	}
	e.Key, e.Move = s.key, s.move
	b.entries[s] = &e
	return nil
}

// parseFacts parses the part of a line after the equals sign.
func parseFacts(words []string) (e Entry, err error) {
	if len(words) < 3 {
		return e, errors.New("want wins, draws and losses")
	}
	for i, n := range []*uint32{&e.Wins, &e.Draws, &e.Losses} {
		v, err := strconv.ParseUint(words[i], 10, 32)
		if err != nil {
			return e, fmt.Errorf("%.40q is not a number of games", words[i])
		}
		*n = uint32(v)
	}
	for words = words[3:]; len(words) > 0; words = words[1:] {
		if words[0] == Avoid.String() {
			e.Preference = Avoid
			continue
		}
		if len(words) < 2 || words[0] != "learnt" && words[0] != "prefer" {
			return e, fmt.Errorf("%.40q: want learnt N, prefer N or avoid", strings.Join(words, " "))
		}
		most := maxLearnt
		if words[0] == "prefer" {
			most = int(MaxPreference)
		}
		n, err := strconv.Atoi(words[1])
		switch {
		case err != nil || n < -most || n > most:
			return e, fmt.Errorf("%s %.40q: want %d to %d", words[0], words[1], -most, most)
		case words[0] == "prefer":
			e.Preference = Preference(n)
		default:
			e.Learnt = int16(n)
		}
		words = words[1:]
	}
	return e, nil
}

// parseSlot parses the part of a line before the equals sign: moves, or a key and a
// number.
func (b *Builder) parseSlot(words []string) (slot, error) {
	if len(words) == 2 && strings.HasPrefix(words[0], "@") {
		key, err := strconv.ParseUint(words[0][1:], 16, 64)
		m, err2 := strconv.ParseUint(words[1], 0, 32)
		if err != nil || err2 != nil || m == 0 {
			return slot{}, fmt.Errorf("%w: %.60q: want @KEY and a number", ErrFormat, strings.Join(words, " "))
		}
		return slot{key, game.Move(m)}, nil
	}
	if len(words) == 0 || len(words) > deepestLine {
		return slot{}, fmt.Errorf("%w: %d moves, want 1 to %d", ErrFormat, len(words), deepestLine)
	}
	r, err := catalog.Rules(b.family)
	if err != nil {
		return slot{}, err
	}
	last := len(words) - 1
	p, err := game.Replay(r, "", words[:last])
	if err != nil {
		return slot{}, err
	}
	m, err := p.Parse(words[last])
	if err != nil {
		return slot{}, fmt.Errorf("ply %d: %w", last+1, err)
	}
	at := spotOf(p)
	return slot{at.key, at.fold(m)}, nil
}
