package xiangqi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sparring/game"
)

// The notations.
const (
	ICCS    game.Notation = "iccs"    // h2e2, ranks from 0; also read as H2-E2
	Algebra game.Notation = "uci"     // h3e3, ranks from 1 to 10, as Fairy-Stockfish writes them
	WXF     game.Notation = "wxf"     // C2=5; also read with a point for "=", N or B for H or E
	Chinese game.Notation = "chinese" // 炮二平五, Red's numbers Chinese, Black's Arabic; also read in traditional characters
)

var _ game.Notated = (*Position)(nil)

// Notations lists the notations.
func (*Position) Notations() []game.Notation {
	return []game.Notation{ICCS, Algebra, WXF, Chinese}
}

// FormatIn writes a legal move in a notation. Tandem pieces are distinguished as
// in the World Xiangqi Federation's official notation, and in Chinese by 前, 中,
// 后 and, for four or five pawns on a file or tandems on two files, by numbers:
// from the right file to the left, from the front to the rear.
func (p *Position) FormatIn(n game.Notation, m game.Move) string {
	switch n {
	case Algebra:
		return fmt.Sprintf("%c%d%c%d", 'a'+From(m).File(), From(m).Rank()+1, 'a'+To(m).File(), To(m).Rank()+1)
	case WXF:
		return p.board.wxf(m)[0]
	case Chinese:
		return p.board.chinese(m)[0]
	}
	return FormatMove(m)
}

// ParseIn finds the legal move that a text in a notation names. The error wraps
// game.ErrSyntax if the text is not in the form of a move, and game.ErrIllegal
// if it names no legal move or more than one.
func (p *Position) ParseIn(n game.Notation, text string) (game.Move, error) {
	switch n {
	case ICCS:
		return p.Parse(strings.ToLower(strings.Replace(text, "-", "", 1)))
	case Algebra:
		return p.readAlgebra(text)
	case WXF:
		return p.unique(text, plainWXF(text), inWXF)
	case Chinese:
		return p.unique(text, plainChinese(text, p.board.side), inChinese)
	}
	return game.NoMove, fmt.Errorf("move %.40q: %w: no notation %.20q", text, game.ErrSyntax, n)
}

// ParseAny reads a move in any of the notations. A text that gives squares is
// read as ICCS, with ranks from 0.
func (p *Position) ParseAny(text string) (game.Move, error) {
	for _, r := range text {
		if r > 0x7f {
			return p.ParseIn(Chinese, text)
		}
	}
	if len(text) > 1 && strings.ContainsAny(text[2:], "+-=.") && !strings.Contains(text, "-") || len(text) == 4 && strings.ContainsAny(text[2:3], "+-=.") {
		return p.ParseIn(WXF, text)
	}
	return p.ParseIn(ICCS, text)
}

func (p *Position) readAlgebra(text string) (game.Move, error) {
	var a, b byte
	var from, to int
	if n, err := fmt.Sscanf(text, "%c%d%c%d", &a, &from, &b, &to); err != nil || n != 4 ||
		a < 'a' || a > 'i' || b < 'a' || b > 'i' || from < 1 || from > Ranks || to < 1 || to > Ranks ||
		text != fmt.Sprintf("%c%d%c%d", a, from, b, to) {
		return game.NoMove, fmt.Errorf("move %.20q: %w: want a form like h3e3, ranks 1 to 10", text, game.ErrSyntax)
	}
	m := MakeMove(MakeSquare(int(a-'a'), from-1), MakeSquare(int(b-'a'), to-1))
	if From(m) == To(m) || !p.board.IsLegal(m) {
		return game.NoMove, fmt.Errorf("%w: %s", game.ErrIllegal, text)
	}
	return m, nil
}

// unique finds the one legal move that may be written so: by the rules of the notation or, where
// these give none, as people write who leave out what only one move allows.
func (p *Position) unique(text, plain string, n notation) (game.Move, error) {
	if plain == "" {
		return game.NoMove, fmt.Errorf("move %.40q: %w: want a form like C2=5 or 炮二平五", text, game.ErrSyntax)
	}
	legal := p.board.Legal(nil)
	for _, writings := range []func(*Board, game.Move) []string{n.exact, n.loose} {
		var found []game.Move
		for _, m := range legal {
			if slices.Contains(writings(p.board, m), plain) {
				found = append(found, m)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		return game.NoMove, fmt.Errorf("%w: %.40q is ambiguous: %s", game.ErrIllegal, text, n.pieces(p.board, found))
	}
	return game.NoMove, fmt.Errorf("%w: %.40q", game.ErrIllegal, text)
}

// notation is one that names a piece and where it goes.
type notation struct {
	exact func(*Board, game.Move) []string // as it is written, the usual way first
	loose func(*Board, game.Move) []string // ways of writing a piece of a tandem that may fit another, too
}

var (
	inWXF     = notation{(*Board).wxf, (*Board).looseWXF}
	inChinese = notation{(*Board).chinese, (*Board).looseChinese}
)

// pieces names the pieces of the moves, from the front to the rear: "前炮 or 后炮".
func (n notation) pieces(b *Board, moves []game.Move) string {
	slices.SortFunc(moves, func(l, m game.Move) int {
		t, u := b.tandem(From(l)), b.tandem(From(m))
		return cmp.Or(cmp.Compare(t.file, u.file), cmp.Compare(t.place, u.place))
	})
	var names []string
	for _, m := range moves {
		r := []rune(n.exact(b, m)[0])
		names = append(names, string(r[:len(r)-2]))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// tandem is the place of a piece among those of its kind.
type tandem struct {
	file  int // of the piece, 1 to 9 from its owner's right
	place int // from the front, 0 first
	count int // of the same kind on the file
	// number is the piece's place, from 0, among all pieces in tandems, file by
	// file from the right; files is the number of these files.
	number, files int
}

func (b *Board) tandem(at Square) tandem {
	piece := b.At(at)
	var files [Files + 1][]Square // by file, from the front
	for s := b.Of(piece); s.Any(); s = s.Rest() {
		f := ownFile(piece.Colour(), s.First())
		files[f] = append(files[f], s.First())
	}
	t := tandem{file: ownFile(piece.Colour(), at)}
	for f, on := range files {
		if piece.Colour() == Red {
			slices.Reverse(on) // squares come from Red's side
		}
		if f == t.file {
			t.place, t.count = slices.Index(on, at), len(on)
			t.number += t.place
		}
		if len(on) > 1 {
			t.files++
			if f < t.file {
				t.number += len(on)
			}
		}
	}
	return t
}

// ownFile counts files from the owner's right, from 1.
func ownFile(c Colour, s Square) int {
	if c == Red {
		return Files - s.File()
	}
	return s.File() + 1
}

// going returns the second half of a move's text: direction and number.
func (b *Board) going(m game.Move) (direction byte, number int) {
	from, to, piece := From(m), To(m), b.At(From(m))
	steps := to.Rank() - from.Rank()
	if piece.Colour() == Black {
		steps = -steps
	}
	direction, number = '=', ownFile(piece.Colour(), to)
	switch {
	case steps > 0:
		direction = '+'
	case steps < 0:
		direction = '-'
	}
	if from.File() == to.File() {
		number = max(steps, -steps)
	}
	return direction, number
}

// wxf returns how a move may be written in WXF notation, the official way first.
func (b *Board) wxf(m game.Move) []string {
	piece, t := b.At(From(m)), b.tandem(From(m))
	direction, number := b.going(m)
	letter := ".KAEHRCP"[piece.Kind()]
	var heads []string
	add := func(head ...byte) { heads = append(heads, string(head)) }
	digit := '0' + byte(t.file)
	switch {
	case t.count < 2:
		add(letter, digit)
	case piece.Kind() != Pawn:
		add(letter, "+-"[t.place])
		if piece.Kind() == Advisor || piece.Kind() == Elephant {
			add(letter, digit) // at most one of the two can move there
		}
	case t.files > 1:
		add(digit, fileMark(t, digit))
		add(letter, 'a'+byte(t.number))
	default:
		first, second := pawnMark(t, letter, digit)
		add(first, second)
		if t.count > 3 {
			add(letter, 'a'+byte(t.number))
		}
	}
	for i, head := range heads {
		heads[i] = fmt.Sprintf("%s%c%d", head, direction, number)
	}
	return heads
}

// looseWXF returns how a move of a piece in a tandem is written without its place, or by a place
// that other tandems have, too.
func (b *Board) looseWXF(m game.Move) (texts []string) {
	piece, t := b.At(From(m)), b.tandem(From(m))
	if t.count < 2 {
		return nil
	}
	direction, number := b.going(m)
	letter, digit := ".KAEHRCP"[piece.Kind()], '0'+byte(t.file)
	for _, second := range []byte{digit, fileMark(t, digit)} {
		texts = append(texts, fmt.Sprintf("%c%c%c%d", letter, second, direction, number))
	}
	return texts
}

// fileMark returns the second character for pawns in tandems on two files.
func fileMark(t tandem, digit byte) byte {
	switch {
	case t.place == 0:
		return '+'
	case t.place == t.count-1:
		return '-'
	}
	return digit
}

// pawnMark returns the first two characters for pawns in a tandem on one file: of
// four or more the outer two are ++ and --, the inner as of three or two.
func pawnMark(t tandem, letter, digit byte) (first, second byte) {
	if t.count >= 4 {
		switch t.place {
		case 0:
			return '+', '+'
		case t.count - 1:
			return '-', '-'
		}
		t.place--
		t.count -= 2
	}
	return letter, fileMark(t, digit)
}

// The characters of the Chinese notation.
var (
	redNames   = [Kinds]string{King: "帅", Advisor: "仕", Elephant: "相", Horse: "马", Rook: "车", Cannon: "炮", Pawn: "兵"}
	blackNames = [Kinds]string{King: "将", Advisor: "士", Elephant: "象", Horse: "马", Rook: "车", Cannon: "炮", Pawn: "卒"}
	numerals   = [Files + 1]string{"", "一", "二", "三", "四", "五", "六", "七", "八", "九"}
	directions = map[byte]string{'+': "进", '-': "退", '=': "平"}
)

// nameOf returns a piece's name and its side's numerals.
func nameOf(piece Piece) (name string, digit func(int) string) {
	if piece.Colour() == Black {
		return blackNames[piece.Kind()], func(n int) string { return fmt.Sprint(n) }
	}
	return redNames[piece.Kind()], func(n int) string { return numerals[n] }
}

// mark returns the character for a place on a file: 前, 中 or 后.
func (t tandem) mark() string {
	switch t.place {
	case 0:
		return "前"
	case t.count - 1:
		return "后"
	}
	return "中"
}

// chinese returns how a move may be written in Chinese, the usual way first.
func (b *Board) chinese(m game.Move) []string {
	piece, t := b.At(From(m)), b.tandem(From(m))
	name, digit := nameOf(piece)
	var heads []string
	switch {
	case t.count < 2:
		heads = []string{name + digit(t.file)}
	case piece.Kind() == Pawn && (t.files > 1 || t.count > 3):
		// The numbers are Chinese for both sides: they are places, not files.
		heads = []string{numerals[t.number+1] + name}
		if t.files == 1 && t.mark() != "中" {
			heads = append(heads, t.mark()+name)
		}
	default:
		heads = []string{t.mark() + name}
		if piece.Kind() == Advisor || piece.Kind() == Elephant {
			heads = append(heads, name+digit(t.file))
		}
	}
	return b.headed(m, heads)
}

// headed returns the writings of a move that begin with the heads.
func (b *Board) headed(m game.Move, heads []string) []string {
	direction, number := b.going(m)
	_, digit := nameOf(b.At(From(m)))
	for i, head := range heads {
		heads[i] = head + directions[direction] + digit(number)
	}
	return heads
}

// looseChinese returns how a move of a piece in a tandem is written without its place, or by a
// place that other tandems have, too: 炮八进二, 前兵进一, and of pawns also 前三进一 for the first
// on the third file, and 二兵平五 for the second of three.
func (b *Board) looseChinese(m game.Move) []string {
	piece, t := b.At(From(m)), b.tandem(From(m))
	if t.count < 2 {
		return nil
	}
	name, digit := nameOf(piece)
	heads := []string{name + digit(t.file), t.mark() + name}
	if piece.Kind() == Pawn {
		heads = append(heads, t.mark()+digit(t.file), numerals[t.place+1]+name)
	}
	return b.headed(m, heads)
}

// plainWXF converts the variants of WXF notation to the one that wxf writes. It
// returns "" for a text of another form.
func plainWXF(text string) string {
	if len(text) != 4 {
		return ""
	}
	b := []byte(text)
	for i, c := range b {
		if c >= 'a' && c <= 'z' && !(i == 1 && c <= 'e') {
			b[i] = c - 'a' + 'A'
		}
	}
	switch b[0] {
	case 'N':
		b[0] = 'H'
	case 'B', 'M':
		b[0] = 'E'
	case 'G':
		b[0] = 'A'
	}
	if b[2] == '.' {
		b[2] = '='
	}
	const head, middle = "KAEHRCP123456789+-", "123456789+-abcde"
	if strings.IndexByte(head, b[0]) < 0 || strings.IndexByte(middle, b[1]) < 0 ||
		strings.IndexByte("+-=", b[2]) < 0 || b[3] < '1' || b[3] > '9' {
		return ""
	}
	return string(b)
}

// chineseVariants maps characters that mean the same to the one that is written.
var chineseVariants = strings.NewReplacer(
	"帥", "帅", "將", "将", "馬", "马", "傌", "马", "車", "车", "俥", "车", "砲", "炮", "包", "炮",
	"進", "进", "後", "后",
	"１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9", " ", "",
)

// sideNames and sideNumerals give the characters that differ between the sides those of
// one side. Many programs use one side's for both.
var (
	sideNames = [2]*strings.Replacer{
		Red:   strings.NewReplacer("将", "帅", "士", "仕", "象", "相", "卒", "兵"),
		Black: strings.NewReplacer("帅", "将", "仕", "士", "相", "象", "兵", "卒"),
	}
	sideNumerals = [2]*strings.Replacer{
		Red:   strings.NewReplacer("1", "一", "2", "二", "3", "三", "4", "四", "5", "五", "6", "六", "7", "七", "8", "八", "9", "九"),
		Black: strings.NewReplacer("一", "1", "二", "2", "三", "3", "四", "4", "五", "5", "六", "6", "七", "7", "八", "8", "九", "9"),
	}
)

// plainChinese converts the variants of Chinese notation to the one that chinese
// writes. It returns "" for a text of another form. Red's and Black's names for
// a piece, and their numerals, are interchangeable; the side to move decides.
func plainChinese(text string, mover Colour) string {
	r := []rune(chineseVariants.Replace(text))
	if len(r) != 4 || !strings.ContainsRune("进退平", r[2]) {
		return ""
	}
	for _, c := range r {
		if !strings.ContainsRune("帅将仕士相象马车炮兵卒前中后进退平一二三四五六七八九123456789", c) {
			return ""
		}
	}
	// A number that comes first is the place of a pawn, which is Chinese for both sides.
	plain := sideNumerals[Red].Replace(string(r[0])) + sideNumerals[mover].Replace(string(r[1:]))
	return sideNames[mover].Replace(plain)
}
