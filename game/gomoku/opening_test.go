package gomoku

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"sparring/game"
)

// Each story is a list of moves with their seats ("1" is the first, "2" the
// second). A '!' marks moves that must be refused. At the end, turn is the seat to
// act and black the seat that holds Black.
var openingStories = []struct {
	clause, rules, moves, turn, black string
}{
	{"swap: the first seat puts three stones, the second takes Black", "freestyle-15+swap",
		"1:a1 1:b2 1:c3 2:!d4 2:swap 1:d4 2:e5", "first", "second"},
	{"swap: or keeps White", "freestyle-15+swap", "1:a1 1:b2 1:c3 2:!put-two 2:stay 2:d4 1:e5", "second", "first"},
	{"swap2: the second seat keeps White", "freestyle-15+swap2", "1:h8 1:h9 1:i9 2:stay 2:a1", "first", "first"},
	{"swap2: the second seat takes Black", "freestyle-15+swap2", "1:h8 1:h9 1:i9 2:swap 1:a1", "second", "second"},
	{"swap2: the second seat puts two more, the first chooses", "freestyle-20+swap2",
		"1:h8 1:h9 1:i9 2:put-two 2:a1 2:t20 1:!put-two 1:swap 1:b1", "second", "second"},
	{"swap2: ... and keeps Black, White to move", "standard-15+swap2", "1:h8 1:h9 1:i9 2:put-two 2:a1 2:b1 1:stay", "second", "first"},
	{"rif: the first stone in the centre", "renju-15+rif", "1:!h9 1:h8", "first", "first"},
	{"rif: the second stone next to it", "renju-15+rif", "1:h8 1:!h10 1:!h8 1:i9", "first", "first"},
	{"rif: the third within two steps of the centre", "renju-15+rif", "1:h8 1:i9 1:!h11 1:!k8 1:j10", "second", "first"},
	{"rif: White puts the fourth anywhere, Black offers two fifths, White picks and puts the sixth", "renju-15+rif",
		"1:h8 1:h9 1:j9 2:swap 1:a1 2:!i7 2:offer:i7 2:!offer:i7 2:!offer:h9 2:offer:g7 1:!h10 1:g7 1:a2", "second", "second"},
	{"rif: offers may not be symmetric: the board's mirror", "renju-15+rif",
		"1:h8 1:h9 1:h10 2:stay 2:h7 1:offer:g6 1:!offer:i6 1:offer:g7 2:g6", "second", "first"},
	{"rif: ... a diagonal", "renju-15+rif", "1:h8 1:i9 1:j10 2:stay 2:g7 1:offer:h7 1:!offer:g8 1:offer:i7", "second", "first"},
	{"rif: where the stones have no symmetry, mirror images differ", "renju-15+rif",
		"1:h8 1:h9 1:i10 2:stay 2:a1 1:offer:g6 1:offer:i6", "second", "first"},
	{"ccgc-N: N offers", "renju-15+ccgc-3", "1:h8 1:h9 1:j9 2:stay 2:a1 1:offer:i7 1:offer:g7 1:offer:h7 2:h7", "second", "first"},
	{"ccgc-N: with one, Black just plays", "renju-15+ccgc-1", "1:h8 1:h9 1:j9 2:stay 2:a1 1:i7 2:a2", "first", "first"},
	{"yamaguchi: the first seat says with the opening how many fifths", "renju-15+yamaguchi-4",
		"1:h8 1:h9 1:j9 1:!fifths-5 1:fifths-2 2:swap 1:a1 2:offer:i7 2:offer:g7 1:i7 1:b1", "second", "second"},
	{"soosyrv: White says with the fourth how many fifths, the other may swap", "renju-15+soosyrv-4",
		"1:h8 1:h9 1:j9 2:stay 2:a1 2:!fifths-5 2:fifths-3 1:swap 2:offer:i7 2:offer:g7 2:offer:h7 1:h7 1:b1", "second", "second"},
	{"soosyrv: without swaps", "renju-15+soosyrv-8", "1:h8 1:h9 1:j9 2:stay 2:a1 2:fifths-2 1:stay 1:offer:i7 1:offer:g7 2:g7", "second", "first"},
	{"soosyrv: one fifth is just played", "renju-15+soosyrv-4", "1:h8 1:h9 1:j9 2:stay 2:a1 2:fifths-1 1:stay 1:i7", "second", "first"},
	{"taraguchi: a swap after each of the first stones", "renju-15+taraguchi-10",
		"1:h8 2:swap 1:!h10 1:i9 2:swap 1:!k8 1:j10 2:stay 2:!l8 2:k9 1:stay 1:!m8 1:l8 2:stay 2:o15", "first", "first"},
	{"taraguchi: or ten fifths, without a swap", "renju-15+taraguchi-10",
		"1:h8 2:stay 2:i9 1:stay 1:j9 2:stay 2:k9 1:fifths-10 1:offer:a1 1:offer:a2 1:offer:a3 1:offer:a4 1:offer:a5 1:offer:a6 1:offer:a7 1:offer:a8 1:offer:a9 1:offer:a10 2:!a11 2:a10 2:a11", "first", "first"},
	{"taraguchi: the fifth may be swapped", "renju-15+taraguchi-10",
		"1:h8 2:stay 2:i9 1:stay 1:j9 2:stay 2:k9 1:swap 2:l8 1:swap 2:o15", "first", "first"},
}

func TestOpeningProcedures(t *testing.T) {
	for _, tt := range openingStories {
		p := newGame(t, "gomoku/"+tt.rules, "")
		for i, word := range strings.Fields(tt.moves) {
			seat, text, _ := strings.Cut(word, ":")
			if want := map[string]game.Seat{"1": game.First, "2": game.Second}[seat]; p.Turn() != want {
				t.Fatalf("%s: before move %d (%s) it is the turn of %s", tt.clause, i+1, word, p.Turn())
			}
			text, refused := strings.CutPrefix(text, "!")
			_, err := game.PlayText(p, text)
			if refused != errors.Is(err, game.ErrIllegal) || !refused && err != nil {
				t.Fatalf("%s: move %d (%s): %v", tt.clause, i+1, word, err)
			}
		}
		if p.Turn().String() != tt.turn || p.Seat(Black).String() != tt.black {
			t.Errorf("%s: turn of %s and Black with %s, want %s and %s", tt.clause, p.Turn(), p.Seat(Black), tt.turn, tt.black)
		}
	}
}

// The rules' page lists the steps of every procedure: a program of another make needs their
// numbers for the keys.
func TestPageListsSteps(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules-gomoku.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procedures {
		row := []string{fmt.Sprintf("\n%-10s", p.name)}
		for _, s := range p.steps(2) {
			row = append(row, s.name)
		}
		if row := strings.Join(row, " ") + "\n"; !strings.Contains(string(page), row) {
			t.Errorf("the page lacks %q", row)
		}
	}
}

// TestOpeningsEnd walks the whole tree of choices of every procedure, with a few
// stones for each step: it ends and always leaves a move.
func TestOpeningsEnd(t *testing.T) {
	for _, name := range Game().Sets {
		p := newGame(t, name, "")
		if p.Set().Opening.Name == "" {
			continue
		}
		var walk func(depth int)
		walk = func(depth int) {
			kind, running := p.Step()
			if !running {
				if p.Turn() != p.Seat(p.ToMove()) {
					t.Fatalf("%s: after the opening %s acts and %s is to move", p, p.Turn(), p.ToMove())
				}
				return
			}
			moves := p.Legal(nil)
			if len(moves) == 0 || depth > 40 {
				t.Fatalf("%s: no moves at depth %d", p, depth)
			}
			if kind == PlaceStep || kind == OfferStep || kind == PickStep {
				moves = moves[len(moves)/2:][:1]
			}
			for _, m := range moves {
				if err := p.Play(m); err != nil {
					t.Fatal(err)
				}
				walk(depth + 1)
				p.Undo()
			}
		}
		walk(0)
	}
}

func TestPlain(t *testing.T) {
	p := newGame(t, "gomoku/freestyle-15+swap", "")
	play(t, p, "h8 a1 h9 swap a2 h10")
	q := p.Plain()
	if q.Rules().Name != "gomoku/freestyle-15" || q.Turn() != game.Second || q.ToMove() != White || q.Outcome().Over() {
		t.Errorf("plain: %s, turn %s, %s to move", q.Rules().Name, q.Turn(), q.ToMove())
	}
	if want := newGame(t, "gomoku/freestyle-15", q.String()); want.Key() != q.Key() {
		t.Errorf("plain: key %#x, want %#x", q.Key(), want.Key())
	}
	play(t, p, "a3 h11 a4 h12")
	if p.Outcome().Result != game.SecondWins || p.Plain().Outcome().Result != game.FirstWins {
		t.Errorf("Black, in the second seat, made five: %v, plain %v", p.Outcome(), p.Plain().Outcome())
	}
}

func TestBadOpeningPositions(t *testing.T) {
	const empty = "15/15/15/15/15/15/15/15/15/15/15/15/15/15/15 b"
	const three = "15/15/15/15/15/15/7o7/7xx6/15/15/15/15/15/15/15 w"
	const four = "15/15/15/15/15/7o7/7o7/7xx6/15/15/15/15/15/15/15 b"
	for _, tt := range []struct {
		rules, position string
		want            error
		says            string
	}{
		{"gomoku/freestyle-16+rif", "", game.ErrRules, "needs a board with a centre"},
		{"gomoku/renju-15+soosyrv", "", game.ErrRules, "soosyrv-N"},
		{"gomoku/renju-15+soosyrv-0", "", game.ErrRules, "from 1 to 12"},
		{"gomoku/renju-15+soosyrv-08", "", game.ErrRules, "from 1 to 12"},
		{"gomoku/renju-15+swap2-3", "", game.ErrRules, "want swap2"},
		{"gomoku/renju-15+", "", game.ErrRules, "no opening procedure"},
		{"gomoku/renju-15+pro", "", game.ErrRules, "have swap, swap2"},
		{"gomoku/renju-15", empty + " swapped", game.ErrSyntax, "no opening procedure"},
		{"gomoku/renju-15+swap", empty + " step=4:first", game.ErrSyntax, "step=0:first to step=3:second"},
		{"gomoku/renju-15+swap", empty + " step=0:third", game.ErrSyntax, "step=0"},
		{"gomoku/renju-15+swap", empty + " step=0:first step=1:first", game.ErrSyntax, "twice"},
		{"gomoku/renju-15+swap", empty + " swapped=yes", game.ErrSyntax, "swapped without a value"},
		{"gomoku/renju-15+swap", empty + " ", game.ErrSyntax, "want swapped"},
		{"gomoku/renju-15+swap", empty + " nonsense", game.ErrSyntax, "want swapped"},
		{"gomoku/renju-15+swap", empty + " step=1:first", game.ErrPosition, "want 1 stones"},
		{"gomoku/renju-15+rif", three + " step=4:first", game.ErrPosition, "the other seat acts"},
		{"gomoku/renju-15+rif", four + " step=5:first fifths=2 offers=i8", game.ErrPosition, "i8 is taken"},
		{"gomoku/renju-15+rif", four + " step=5:first fifths=2 offers=a1,b1", game.ErrPosition, "2 offers of 2"},
		{"gomoku/renju-15+rif", four + " step=6:second fifths=2 offers=a1", game.ErrPosition, "1 offers of 2"},
		{"gomoku/renju-15+rif", four + " fifths=2", game.ErrPosition, "without a step"},
	} {
		r, err := rulesNamed(tt.rules)
		if err == nil {
			_, err = r.New(tt.position)
		}
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s %q: error %v, want %v saying %q", tt.rules, tt.position, err, tt.want, tt.says)
		}
	}
	p := newGame(t, "gomoku/renju-15+rif", four+" step=5:first fifths=2 offers=a1")
	play(t, p, "offer:b1 b1 a2")
}
