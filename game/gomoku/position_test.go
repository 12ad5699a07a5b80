package gomoku

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/gametest"
)

func newGame(t testing.TB, rules, position string) *Position {
	t.Helper()
	r, err := rulesNamed(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New(position)
	if err != nil {
		t.Fatalf("%s %q: %v", rules, position, err)
	}
	return p.(*Position)
}

func play(t testing.TB, p game.Position, moves string) {
	t.Helper()
	for _, text := range strings.Fields(moves) {
		if _, err := game.PlayText(p, text); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPerftOfTheEmptyBoard(t *testing.T) {
	for _, tt := range []struct {
		rules string
		depth int
		want  uint64
	}{
		{"gomoku/freestyle-15", 1, 225},
		{"gomoku/freestyle-15", 2, 225 * 224},
		{"gomoku/freestyle-15", 3, 225 * 224 * 223},
		{"gomoku/freestyle-19", 2, 361 * 360},
		{"gomoku/freestyle-20", 2, 400 * 399},
	} {
		if got := game.Perft(newGame(t, tt.rules, ""), tt.depth); got != tt.want {
			t.Errorf("%s depth %d: %d leaves, want %d", tt.rules, tt.depth, got, tt.want)
		}
	}
}

// TestPerftWithWins checks perft where games end within the tree: with e empty
// points, of which some win at once for the side to move and some for the other,
// the leaves at depth 2 and 3 follow by counting.
func TestPerftWithWins(t *testing.T) {
	// Black to move: b8 and g8 win (c8-f8 stand); White: a single e1 stone row
	// b1-e1 wins at a1 and f1. 15*15 - 8 = 217 empty points.
	p := newGame(t, "gomoku/freestyle-15", "15/15/15/15/15/15/15/2xxxx9/15/15/15/15/15/15/1oooo10 b")
	const e, black, white = 217, 2, 2
	want := []uint64{1, e, (e - black) * (e - 1)}
	// Depth 3: after a black move that does not win, White's reply ends the
	// game at a1 or f1 unless Black took one of them.
	quiet := uint64(e - black) // first moves that do not win
	took := uint64(white)      // of those, the ones on a White winning point
	want = append(want, took*(e-1-(white-1))*(e-2)+(quiet-took)*(e-1-white)*(e-2))
	for depth, n := range want {
		if got := game.Perft(p, depth); got != n {
			t.Errorf("depth %d: %d leaves, want %d", depth, got, n)
		}
	}
}

func TestPointsAreCountedFromTheBottom(t *testing.T) {
	p := newGame(t, "gomoku/freestyle-15", "")
	play(t, p, "a1 o15 h8")
	want := "14o/15/15/15/15/15/15/7x7/15/15/15/15/15/15/x14 w"
	if p.String() != want {
		t.Errorf("position %q, want %q", p, want)
	}
	if p.Turn() != game.Second || p.Ply() != 3 {
		t.Errorf("turn %s ply %d", p.Turn(), p.Ply())
	}
	if m, _ := p.Parse("b1"); m != 2 {
		t.Errorf("b1 is move %d, want 2", m)
	}
	if want := game.Zobrist(0x676f6d6f6b75, 0) ^ game.Zobrist(0x676f6d6f6b75, 2*224+1) ^
		game.Zobrist(0x676f6d6f6b75, 2*112) ^ game.Zobrist(0x676f6d6f6b75, 800); p.Key() != want {
		t.Errorf("key %#x, want %#x", p.Key(), want)
	}
}

func TestFiveEndsTheGame(t *testing.T) {
	for _, tt := range []struct{ name, moves string }{
		{"east", "a8 a1 b8 b1 c8 c1 d8 d1 e8"},
		{"north", "h1 a1 h2 b1 h3 c1 h5 d1 h4"},
		{"north-east, corner", "o15 a1 n14 b1 m13 c1 l12 d1 k11"},
		{"north-west, corner", "o1 a1 n2 b1 m3 c1 l4 d1 k5"},
		{"six", "a8 a1 b8 b1 c8 c1 e8 d1 f8 e2 d8"},
	} {
		p := newGame(t, "gomoku/freestyle-15", "")
		play(t, p, tt.moves)
		if got := p.Outcome(); got != (game.Outcome{Result: game.FirstWins, Reason: game.Five}) {
			t.Errorf("%s: outcome %v", tt.name, got)
		}
		if n := len(p.Legal(nil)); n != 0 {
			t.Errorf("%s: %d legal moves after the end", tt.name, n)
		}
		if err := p.Play(StoneMove(p.Board().Point(8, 8))); !errors.Is(err, game.ErrOver) {
			t.Errorf("%s: play after the end: %v", tt.name, err)
		}
		again := newGame(t, "gomoku/freestyle-15", p.String())
		if again.Outcome() != p.Outcome() || again.Key() != p.Key() {
			t.Errorf("%s: set up again: %v key %#x, want %v %#x", tt.name, again.Outcome(), again.Key(), p.Outcome(), p.Key())
		}
		p.Undo()
		if p.Outcome().Over() {
			t.Errorf("%s: over after undo", tt.name)
		}
	}
}

// quietRow returns a row of a full board without any five: xxoo, shifted by two
// from row to row.
func quietRow(size, row int) string {
	var s strings.Builder
	for col := range size {
		if (col+2*row)%4 < 2 {
			s.WriteByte('x')
		} else {
			s.WriteByte('o')
		}
	}
	return s.String()
}

func TestFullBoardIsADraw(t *testing.T) {
	var rows []string
	for row := range 15 {
		rows = append(rows, quietRow(15, row))
	}
	rows[14] = "1" + rows[14][1:]
	p := newGame(t, "gomoku/freestyle-15", strings.Join(rows, "/")+" w")
	if got := game.Perft(p, 2); got != 0 || len(p.Legal(nil)) != 1 {
		t.Errorf("perft 2 = %d, %d legal moves", got, len(p.Legal(nil)))
	}
	play(t, p, "a1")
	want := game.Outcome{Result: game.Draw, Reason: game.BoardFull}
	if p.Outcome() != want {
		t.Errorf("outcome %v, want %v", p.Outcome(), want)
	}
	if again := newGame(t, "gomoku/freestyle-15", p.String()); again.Outcome() != want {
		t.Errorf("set up again: %v", again.Outcome())
	}
}

// TestRandomGames compares random games with a plain row counter.
func TestRandomGames(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sets := Game().Sets
	for n := range 3 * len(sets) {
		p := newGame(t, sets[n%len(sets)], "")
		for !p.Outcome().Over() {
			mover := p.ToMove()
			gametest.Stroll(t, rng, p, 1)
			if p.Set().Continuous() {
				continue
			}
			if got, want := p.Outcome().Reason == game.Five, wonByHand(p.Board(), mover, p.Set().variant.name); got != want {
				t.Fatalf("%s: five %v, want %v:\n%s", p.Rules().Name, got, want, p.Diagram())
			}
		}
	}
}

// wonByHand finds winning rows cell by cell.
func wonByHand(b Board, c Colour, variant string) bool {
	stone := func(col, row int, c Colour) bool {
		p := b.Point(col, row)
		if p == NoPoint {
			return false
		}
		got, ok := b.At(p)
		return ok && got == c
	}
	for p := range Point(b.Points) {
		col, row := b.Column(p), b.RowOf(p)
		for _, d := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}} {
			if !stone(col, row, c) || stone(col-d[0], row-d[1], c) {
				continue // not the first of a row
			}
			n := 1
			for stone(col+n*d[0], row+n*d[1], c) {
				n++
			}
			enclosed := stone(col-d[0], row-d[1], c.Other()) && stone(col+n*d[0], row+n*d[1], c.Other())
			exact := variant == "standard" || variant == "standardcaro" || variant == "renju" && c == Black
			caro := variant == "caro" || variant == "standardcaro"
			if n == 5 && !(caro && enclosed) || n > 5 && !exact {
				return true
			}
		}
	}
	return false
}

// Which rows win, by variant: drawings as in TestShapes, the point played last
// marked. Clauses: Piskvork's rules 0, 1, 8 and 9, and Renju's.
func TestWinningRows(t *testing.T) {
	for _, tt := range []struct {
		clause, drawing string
		wins            string // variants in which the colour of the row wins, for Black and White
	}{
		{"five wins everywhere but under the continuous rules, where it scores", "...xx*xx......", "freestyle standard renju caro standardcaro"},
		{"six: five or more", "..xxx*xx......", "freestyle caro"},
		{"nine: five or more", "..xxxx*xxxx...", "freestyle caro"},
		{"caro: five enclosed by the other colour does not win", "..oxx*xxo.....", "freestyle standard renju"},
		{"caro: one end open is enough", "..oxx*xx......", "freestyle standard renju caro standardcaro"},
		{"caro: the border encloses nothing", "xx*xxo........", "freestyle standard renju caro standardcaro"},
		{"caro: six enclosed wins where six win", "..oxxx*xxo....", "freestyle caro"},
		{"caro: a gap at the end is open", "..oxx*xx.o....", "freestyle standard renju caro standardcaro"},
	} {
		for _, v := range variants {
			for c := range Colour(2) {
				b, at := line(t, tt.drawing)
				text := b.text() + " b"
				if c == White {
					text = strings.NewReplacer("x", "o", "o", "x").Replace(b.text()) + " w"
				}
				p := newGame(t, "gomoku/"+v.name+"-15", text)
				if err := p.Play(StoneMove(at)); err != nil {
					t.Fatal(err)
				}
				want := game.Outcome{}
				switch won := strings.Contains(" "+tt.wins+" ", " "+v.name+" "); {
				case won, v.name == "renju" && c == White: // White wins with five or more
					want = game.Outcome{Result: game.WonBy(game.Seat(c)), Reason: game.Five}
				case v.name == "renju":
					want = game.Outcome{Result: game.SecondWins, Reason: game.Forbidden}
				}
				if p.Outcome() != want {
					t.Errorf("%s, %s, %s: outcome %v, want %v", tt.clause, v.name, c, p.Outcome(), want)
				}
			}
		}
	}
}

// Piskvork's rule 2: a row scores, its stones are dead for both, play continues
// to the end.
func TestContinuous(t *testing.T) {
	p := newGame(t, "gomoku/continuous-15", "")
	play(t, p, "a1 a15 b1 b15 c1 c15 d1 d15 f1 o8 e1")
	want := "oooo11/15/15/15/15/15/15/14o/15/15/15/15/15/15/######9 w rows=1:0"
	if p.String() != want || p.Outcome().Over() || p.Rows(Black) != 1 {
		t.Fatalf("%q, outcome %v, want %q", p, p.Outcome(), want)
	}
	if _, err := p.Parse("e1"); !errors.Is(err, game.ErrIllegal) || !strings.Contains(err.Error(), "dead stone") {
		t.Errorf("parse of a dead stone's point: %v", err)
	}
	play(t, p, "o9 g1 o10 h1 o11 i1 o12 j1") // dead stones are not part of a new row
	if p.Rows(Black) != 1 || p.Rows(White) != 1 || p.Outcome().Over() {
		t.Errorf("rows %d:%d, outcome %v, want 1:1", p.Rows(Black), p.Rows(White), p.Outcome())
	}
	for range 9 {
		p.Undo()
	}
	if p.Rows(Black) != 0 || p.String() != "oooo11/15/15/15/15/15/15/14o/15/15/15/15/15/15/xxxx1x9 b" {
		t.Errorf("after undo: %q", p)
	}
	// A full board: the rows decide.
	var rows []string
	for row := range 15 {
		rows = append(rows, quietRow(15, row))
	}
	rows[14] = "1" + rows[14][1:]
	for score, want := range map[string]game.Outcome{
		"2:1": {Result: game.FirstWins, Reason: game.Five}, "0:1": {Result: game.SecondWins, Reason: game.Five}, "3:3": {Result: game.Draw, Reason: game.BoardFull},
	} {
		p := newGame(t, "gomoku/continuous-15", strings.Join(rows, "/")+" w rows="+score)
		play(t, p, "a1")
		if p.Outcome() != want {
			t.Errorf("full board, rows %s: %v, want %v", score, p.Outcome(), want)
		}
	}
}

func TestBadInput(t *testing.T) {
	empty := strings.Repeat("15/", 14) + "15 b"
	for _, tt := range []struct {
		rules, position string
		want            error
		says            string
	}{
		{"gomoku/freestyle-14", "", game.ErrRules, "board size of 15 to 20"},
		{"gomoku/freestyle-21", "", game.ErrRules, "board size"},
		{"gomoku/freestyle-015", "", game.ErrRules, "board size"},
		{"gomoku/freestyle", "", game.ErrRules, "board size"},
		{"gomoku/nonsense-15", "", game.ErrRules, "freestyle"},
		{"xiangqi/freestyle-15", "", game.ErrRules, "gomoku/"},
		{"gomoku/freestyle-15", "15/15 b", game.ErrSyntax, "2 rows"},
		{"gomoku/freestyle-15", strings.TrimSuffix(empty, " b"), game.ErrSyntax, "side to move"},
		{"gomoku/freestyle-15", empty + "lack", game.ErrSyntax, `"black"`},
		{"gomoku/freestyle-15", strings.Replace(empty, "15", "14z", 1), game.ErrSyntax, `row 1 from the top: column 15: "z"`},
		{"gomoku/freestyle-15", strings.Replace(empty, "15", "14", 1), game.ErrSyntax, "14 columns"},
		{"gomoku/freestyle-15", strings.Replace(empty, "15", "14xx", 1), game.ErrSyntax, "column 16"},
		{"gomoku/freestyle-15", strings.Replace(empty, "15", "999999999999999999999", 1), game.ErrSyntax, "beyond"},
		{"gomoku/freestyle-15", strings.Replace(empty, "15", "015", 1), game.ErrSyntax, "want x, o, # or a number"},
		{"gomoku/freestyle-15", strings.Repeat("15/", 5000), game.ErrSyntax, "characters"},
		{"gomoku/freestyle-15", strings.Replace(empty, "15", "#14", 1), game.ErrPosition, "dead stone (#) at a15"},
		{"gomoku/freestyle-15", empty + " rows=1:0", game.ErrSyntax, "rows=1:0"},
		{"gomoku/continuous-15", empty + " rows=-1:0", game.ErrSyntax, "0 to 80"},
		{"gomoku/continuous-15", empty + " rows=1", game.ErrSyntax, "0 to 80"},
		{"gomoku/continuous-15", strings.Replace(empty, "15", "xxxxx10", 1), game.ErrPosition, "should be #"},
		{"gomoku/freestyle-16", empty, game.ErrPosition, "a board of 15"},
		{"gomoku/freestyle-15", strings.Replace(empty, "15", "xxxxx10", 1), game.ErrPosition, "black is to move"},
	} {
		r, err := rulesNamed(tt.rules)
		if err == nil {
			_, err = r.New(tt.position)
		}
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s %.40q: error %v, want %v saying %q", tt.rules, tt.position, err, tt.want, tt.says)
		}
	}
	p := newGame(t, "gomoku/freestyle-15", "")
	play(t, p, "h8")
	for text, want := range map[string]error{
		"": game.ErrSyntax, "h": game.ErrSyntax, "8": game.ErrSyntax, "h0": game.ErrSyntax, "h08": game.ErrSyntax,
		"h16": game.ErrSyntax, "p1": game.ErrSyntax, "h8x": game.ErrSyntax, "h-1": game.ErrSyntax, "@1": game.ErrSyntax,
		"ä1": game.ErrSyntax, "h8": game.ErrIllegal, "\x001": game.ErrSyntax, "!8": game.ErrSyntax,
	} {
		if _, err := p.Parse(text); !errors.Is(err, want) {
			t.Errorf("parse %q: %v, want %v", text, err, want)
		}
	}
	before := p.String()
	for _, m := range []game.Move{0, StoneMove(p.Board().Point(7, 7)), 226, 400, 1 << 31, ^game.Move(0)} {
		if err := p.Play(m); !errors.Is(err, game.ErrIllegal) || p.String() != before {
			t.Errorf("play %#x: %v, position %q", m, err, p)
		}
		_ = p.Format(m)
	}
}

func TestRulesForFollowsTheSize(t *testing.T) {
	for _, tt := range []struct{ position, want string }{
		{"", "gomoku/freestyle-15"},
		{strings.Repeat("15/", 14) + "15 w", "gomoku/freestyle-15"},
		{strings.Repeat("20/", 19) + "20 w", "gomoku/freestyle-20"},
	} {
		if got, err := Game().RulesFor(tt.position); err != nil || got != tt.want {
			t.Errorf("%.30q: %s, %v, want %s", tt.position, got, err, tt.want)
		}
	}
	if got, err := Game().RulesFor(strings.Repeat("16/", 15) + "####12 w"); err != nil || got != "gomoku/continuous-16" {
		t.Errorf("dead stones: %s, %v", got, err)
	}
	if _, err := Game().RulesFor("15"); !errors.Is(err, game.ErrSyntax) {
		t.Errorf("no board: %v", err)
	}
	for _, name := range Game().Sets {
		if r, err := Game().Rules(name); err != nil || r.Name != name {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

func FuzzPosition(f *testing.F) {
	f.Add("gomoku/freestyle-15", strings.Repeat("15/", 14)+"15 w", "h8")
	f.Add("gomoku/freestyle-20", "", "t20")
	f.Add("gomoku/freestyle-15", "14o/15/15/15/15/15/15/7x7/15/15/15/15/15/15/x14 w", "a1")
	f.Add("gomoku/renju-15+soosyrv-4", "15/15/15/15/15/15/7o7/7xx6/15/15/15/15/15/15/15 w step=3:second", "swap")
	f.Add("gomoku/continuous-15", "oooo11/15/15/15/15/15/15/14o/15/15/15/15/15/15/######9 w rows=1:0", "e15")
	f.Add("gomoku/renju-15+rif", "15/15/15/15/15/7o7/7o7/7xx6/15/15/15/15/15/15/15 b swapped step=5:second fifths=2 offers=a1", "offer:b1")
	f.Add("gomoku/renju-15+yamaguchi-9", "15/15/15/15/15/15/7o7/7xx6/15/15/15/15/15/15/15 w step=3:first", "fifths-9")
	f.Fuzz(func(t *testing.T, rules, position, move string) {
		r, err := rulesNamed(rules)
		if err != nil {
			return
		}
		p, err := r.New(position)
		if err != nil {
			if !errors.Is(err, game.ErrSyntax) && !errors.Is(err, game.ErrPosition) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := r.New(p.String())
		if err != nil || again.Key() != p.Key() || again.String() != p.String() {
			t.Fatalf("%q does not round-trip: %v", p, err)
		}
		m, err := p.Parse(move)
		if err != nil {
			return
		}
		if err := p.Play(m); err != nil {
			t.Fatalf("parsed %q but can't play it: %v", move, err)
		}
		p.Undo()
		if p.String() != again.String() || p.Key() != again.Key() {
			t.Fatalf("undo of %q leaves %q", move, p)
		}
	})
}

// docs/protocol.md gives this key as an example to other implementations.
func TestDocumentedKey(t *testing.T) {
	p := newGame(t, "gomoku/freestyle-15", "")
	play(t, p, "h8")
	if p.Key() != 0x9c46b79a04b70f01 {
		t.Errorf("key after h8 is %016x, the documentation says 9c46b79a04b70f01", p.Key())
	}
}
