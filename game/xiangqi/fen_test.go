package xiangqi

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"sparring/game"
)

func TestFENErrors(t *testing.T) {
	for _, c := range []struct {
		name, fen string
		is        error
		says      string
	}{
		{"empty", " ", game.ErrSyntax, "0 fields"},
		{"too long", strings.Repeat("9/", 200), game.ErrSyntax, "too many"},
		{"nine rows", "3k5/9/9/9/9/9/9/9/4K4 w", game.ErrSyntax, "rows: 9, want 10"},
		{"short row", "3k5/9/9/8/9/9/9/9/9/4K4 w", game.ErrSyntax, "row 4"},
		{"long row", "3k5/9/9/9/9/91/9/9/9/4K4 w", game.ErrSyntax, "row 6"},
		{"long row of pieces", "3k5/9/9/9/9/pppppppppp/9/9/9/4K4 w", game.ErrSyntax, "row 6"},
		{"ten in a digit", "3k5/9/9/9/9/0/9/9/9/4K4 w", game.ErrSyntax, "row 6, character 1"},
		{"no such piece", "3k5/9/9/3x5/9/9/9/9/9/4K4 w", game.ErrSyntax, "row 4, character 2"},
		{"no such side", "3k5/9/9/9/9/9/9/9/9/4K4 x", game.ErrSyntax, "side to move"},
		{"castling", "3k5/9/9/9/9/9/9/9/9/4K4 w KQ", game.ErrSyntax, "field 3"},
		{"bad counter", "3k5/9/9/9/9/9/9/9/9/4K4 w - - -1", game.ErrSyntax, "field 5"},
		{"huge counter", "3k5/9/9/9/9/9/9/9/9/4K4 w - - 0 99999", game.ErrSyntax, "field 6"},
		{"more fields", "3k5/9/9/9/9/9/9/9/9/4K4 w - - 0 1 x", game.ErrSyntax, "7 fields"},
		{"no red king", "3k5/9/9/9/9/9/9/9/9/9 w", game.ErrPosition, "red has no king"},
		{"no black king", "9/9/9/9/9/9/9/9/9/4K4 w", game.ErrPosition, "black has no king"},
		{"two kings", "3kk4/9/9/9/9/9/9/9/9/4K4 w", game.ErrPosition, "black has 2 of king"},
		{"facing kings", "4k4/9/9/9/9/9/9/9/9/4K4 w", game.ErrPosition, "face each other"},
		{"king outside", "3k5/9/9/9/9/9/9/9/9/2K6 w", game.ErrPosition, "red's king can never stand on c0"},
		{"king too high", "3k5/9/9/9/9/9/4K4/9/9/9 w", game.ErrPosition, "red's king can never stand on e3"},
		{"advisor off the cross", "3k5/9/9/9/9/9/9/9/9/4KA3 b - - 0 1", nil, ""},
		{"advisor in the middle of an edge", "3k5/9/9/9/9/9/9/3A5/3A5/4K4 w", game.ErrPosition, "red's advisor can never stand on d1"},
		{"elephant over the river", "3k5/9/9/9/2B6/9/9/9/9/4K4 w", game.ErrPosition, "red's elephant can never stand on c5"},
		{"elephant off its points", "3k1b3/9/9/9/9/9/9/9/9/4K4 w", game.ErrPosition, "black's elephant can never stand on f9"},
		{"pawn behind its start", "3k5/9/9/9/9/9/9/9/P8/4K4 w", game.ErrPosition, "red's pawn can never stand on a1"},
		{"black pawn behind its start", "p2k5/9/9/9/9/9/9/9/9/4K4 w", game.ErrPosition, "black's pawn can never stand on a9"},
		{"three rooks", "3k5/9/9/9/9/9/9/9/9/RRR1K4 w", game.ErrPosition, "red has 3 of rook"},
		{"six pawns", "3k5/ppp6/ppp6/9/9/9/9/9/9/4K4 w", game.ErrPosition, "black has 6 of pawn"},
		{"other side in check", "3k5/9/9/9/9/9/9/9/9/3RK4 w", game.ErrPosition, "black is in check on d9"},
	} {
		_, err := ParseFEN(c.fen)
		if c.is == nil {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %v that says %q", c.name, err, c.is, c.says)
		}
	}
}

func TestFENDialects(t *testing.T) {
	want := mustBoard(t, StartFEN)
	for _, fen := range []string{
		"rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR r - - 0 1",
		"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR",
		"rhbakaenr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - -",
		"  rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR   w",
	} {
		b, err := ParseFEN(fen)
		if err != nil || !b.SameAs(want) || b.Key() != want.Key() {
			t.Errorf("%s is not the start position (%v)", fen, err)
		}
	}
}

func TestFENRoundTrip(t *testing.T) {
	walk(t, 4, 5, 150, func(b *Board, _ *rand.Rand) {
		fen := b.fen(7)
		again, n, err := parseFEN(fen)
		if err != nil || n != 7 || again.fen(n) != fen || !again.SameAs(b) {
			t.Fatalf("%s does not round-trip (%v)", fen, err)
		}
	})
}

func FuzzFEN(f *testing.F) {
	f.Add(StartFEN)
	f.Add("2bak4/2c1a3c/4b1n2/1nN1pR3/p5p1p/7r1/P2R2P1P/B3C1N2/1r2C4/3AKAB2 w - - 3 20")
	f.Add("3k5/9/9/9/9/9/9/9/9/4K4 r")
	f.Add("3kk4/9/9/9/9/pppppppppp/9/9/9/4K4 w - -")
	f.Fuzz(func(t *testing.T, text string) {
		b, n, err := parseFEN(text)
		if err != nil {
			if !errors.Is(err, game.ErrSyntax) && !errors.Is(err, game.ErrPosition) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		fen := b.fen(n)
		again, _, err := parseFEN(fen)
		if err != nil || !again.SameAs(b) || again.Key() != b.Key() {
			t.Fatalf("%q became %q, which reads as another position (%v)", text, fen, err)
		}
		for _, m := range b.Legal(nil) {
			b.Do(m)
			checkScratch(t, b)
			b.Undo()
		}
	})
}
