package xiangqi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/gametest"
)

func setUp(t testing.TB, fen string) *Position {
	t.Helper()
	r, err := parseRules("xiangqi/simple+limit=none")
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.start(fen)
	if err != nil {
		t.Fatalf("%s: %v", fen, err)
	}
	return p.(*Position)
}

// TestNotations checks moves in all notations, one clause for each case.
func TestNotations(t *testing.T) {
	for _, c := range []struct{ clause, fen, iccs, uci, wxf, chinese string }{
		{"cannon across", "", "h2e2", "h3e3", "C2=5", "炮二平五"},
		{"horse forward names the file it comes to", "", "h0g2", "h1g3", "H2+3", "马二进三"},
		{"line piece forward counts points", "", "h2h9", "h3h10", "C2+7", "炮二进七"},
		{"Black counts from its own right", "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b", "h7e7", "h8e8", "C8=5", "炮8平5"},
		{"backward", "3k5/9/9/9/9/4R4/9/9/9/4K4 w", "e4e2", "e5e3", "R5-2", "车五退二"},
		{"front of two", "3k5/9/9/4R4/9/4R4/9/9/9/4K4 w", "e6a6", "e7a7", "R+=9", "前车平九"},
		{"rear of two", "3k5/9/9/4R4/9/4R4/9/9/9/4K4 w", "e4a4", "e5a5", "R-=9", "后车平九"},
		{"Black's front is nearer to Red", "4k4/9/9/4r4/9/4r4/9/9/9/3K5 b", "e4a4", "e5a5", "R+=1", "前车平1"},
		{"three pawns: the middle by its file", "3k5/4P4/4P4/4P4/9/9/9/9/9/5K3 w", "e7d7", "e8d8", "P5=6", "中兵平六"},
		{"three pawns: the rear", "3k5/4P4/4P4/4P4/9/9/9/9/9/5K3 w", "e6d6", "e7d7", "P-=6", "后兵平六"},
		{"four pawns: the front", "3k5/4P4/4P4/4P4/4P4/9/9/9/9/5K3 w", "e8d8", "e9d9", "++=6", "一兵平六"},
		{"four pawns: the second", "3k5/4P4/4P4/4P4/4P4/9/9/9/9/5K3 w", "e7d7", "e8d8", "P+=6", "二兵平六"},
		{"five pawns: the middle", "3k5/4P4/4P4/4P4/4P4/4P4/9/9/9/5K3 w", "e6d6", "e7d7", "P5=6", "三兵平六"},
		{"five pawns: the last", "3k5/4P4/4P4/4P4/4P4/4P4/9/9/9/5K3 w", "e4e5", "e5e6", "", ""},
		{"tandems on two files: right one first", "3k5/9/2P3P2/2P3P2/9/9/9/9/9/5K3 w", "g7f7", "g8f8", "3+=4", "一兵平四"},
		{"tandems on two files: left one last", "3k5/9/2P3P2/2P3P2/9/9/9/9/9/5K3 w", "c6b6", "c7b7", "7-=8", "四兵平八"},
		{"three and two: the middle of three by its file twice", "3k5/2P6/2P3P2/2P3P2/9/9/9/9/9/5K3 w", "c7b7", "c8b8", "77=8", "四兵平八"},
		{"a pawn beside the tandems", "3k5/9/2P3P2/2P3P2/4P4/9/9/9/9/5K3 w", "e5d5", "e6d6", "P5=6", "兵五平六"},
		{"advisors on one file", "4k4/9/9/9/9/9/9/5A3/9/3K1A3 w", "f2e1", "f3e2", "A+-5", "前仕退五"},
		{"king", "3k5/9/9/9/9/9/9/9/9/4K4 w", "e0e1", "e1e2", "K5+1", "帅五进一"},
	} {
		p := setUp(t, c.fen)
		m, err := p.Parse(c.iccs)
		if err != nil {
			if c.wxf == "" {
				continue
			}
			t.Errorf("%s: %s: %v", c.clause, c.iccs, err)
			continue
		}
		if c.wxf == "" {
			t.Errorf("%s: %s is legal", c.clause, c.iccs)
		}
		for n, want := range map[game.Notation]string{ICCS: c.iccs, Algebra: c.uci, WXF: c.wxf, Chinese: c.chinese} {
			if got := p.FormatIn(n, m); got != want {
				t.Errorf("%s: %s in %s is %s, want %s", c.clause, c.iccs, n, got, want)
			}
			if back, err := p.ParseIn(n, want); err != nil || back != m {
				t.Errorf("%s: %s read as %s: %s, %v", c.clause, want, n, FormatMove(back), err)
			}
		}
	}
}

// TestReadVariants reads the variants that other programs write.
func TestReadVariants(t *testing.T) {
	for _, c := range []struct {
		n               game.Notation
		fen, text, iccs string
	}{
		{ICCS, "", "H2-E2", "h2e2"},
		{WXF, "", "c2.5", "h2e2"},
		{WXF, "", "N2+3", "h0g2"},
		{WXF, "", "b3+5", "g0e2"},
		{WXF, "", "g4+5", "f0e1"},
		{WXF, "3k5/4P4/4P4/4P4/4P4/9/9/9/9/5K3 w", "Pb=6", "e7d7"},
		{WXF, "4k4/9/9/9/9/9/9/5A3/9/3K1A3 w", "A4-5", "f2e1"},
		{Chinese, "", "砲二平五", "h2e2"},
		{Chinese, "", "馬二進三", "h0g2"},
		{Chinese, "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b", "炮８平５", "h7e7"},
		{Chinese, "3k5/9/9/4R4/9/4R4/9/9/9/4K4 w", "後車平九", "e4a4"},
		{Chinese, "3k5/4P4/4P4/4P4/4P4/9/9/9/9/5K3 w", "前兵平六", "e8d8"},
		{Chinese, "4k4/9/9/9/9/9/9/5A3/9/3K1A3 w", "仕四退五", "f2e1"},
		// The other side's names and numerals.
		{Chinese, "", "砲2平5", "h2e2"},
		{Chinese, "", "象三进五", "g0e2"},
		{Chinese, "", "士4進5", "f0e1"},
		{Chinese, "", "卒三进1", "g3g4"},
		{Chinese, "", "將5进一", "e0e1"},
		{Chinese, "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b", "马八进七", "h9g7"},
		{Chinese, "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b", "相3进五", "c9e7"},
		{Chinese, "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b", "帥五进1", "e9e8"},
		{Chinese, "3k5/4P4/4P4/4P4/4P4/9/9/9/9/5K3 w", "2卒平6", "e7d7"},
		{Chinese, "3k5/9/9/9/4p4/4p4/4p4/4p4/9/5K3 b", "2兵平六", "e3f3"},
	} {
		p := setUp(t, c.fen)
		m, err := p.ParseIn(c.n, c.text)
		if err != nil || FormatMove(m) != c.iccs {
			t.Errorf("%s as %s: %s, %v; want %s", c.text, c.n, FormatMove(m), err, c.iccs)
		}
		if any, err := p.ParseAny(c.text); err != nil || any != m {
			t.Errorf("%s, notation unknown: %s, %v; want %s", c.text, FormatMove(any), err, c.iccs)
		}
	}
}

// TestTandemUnmarked: a piece of a tandem may be written without its place, or by one that
// other tandems have, too, where only one can move so; else the error names the candidates.
func TestTandemUnmarked(t *testing.T) {
	const (
		cannons = "3k5/9/9/1C7/9/1C7/9/9/9/4K4 w"
		black   = "4k4/9/9/7c1/9/7c1/9/9/9/3K5 b"
		three   = "3k5/4P4/4P4/4P4/9/9/9/9/9/5K3 w"
		two     = "3k5/9/2P3P2/2P3P2/9/9/9/9/9/5K3 w"
		apart   = "3k5/2P6/9/2P6/6P2/9/6P2/9/9/5K3 w"
	)
	for _, c := range []struct {
		n                    game.Notation
		fen, text, iccs, err string
	}{
		{Chinese, cannons, "炮八进二", "b6b8", ""}, // the rear one would take the front one's way
		{Chinese, cannons, "炮八平五", "", "ambiguous: 前炮 or 后炮"},
		{Chinese, cannons, "炮八进一", "", "ambiguous: 前炮 or 后炮"},
		{WXF, cannons, "C8+2", "b6b8", ""},
		{WXF, cannons, "C8=5", "", "ambiguous: C+ or C-"},
		{Chinese, black, "炮8退2", "h6h8", ""},
		{Chinese, black, "炮8平5", "", "ambiguous: 前炮 or 后炮"},
		{Chinese, three, "兵五进一", "e8e9", ""},
		{Chinese, three, "兵五平六", "", "ambiguous: 前兵, 中兵 or 后兵"},
		{Chinese, three, "二兵平六", "e7d7", ""},
		{Chinese, two, "前兵平四", "g7f7", ""},
		{Chinese, two, "后兵平八", "c6b6", ""},
		{Chinese, two, "前三平四", "g7f7", ""},
		{Chinese, two, "兵七平八", "", "ambiguous: 三兵 or 四兵"},
		{Chinese, apart, "兵七进一", "", "ambiguous: 三兵 or 四兵"},
		{Chinese, apart, "前兵进一", "", "ambiguous: "},
		{Chinese, apart, "前七进一", "c8c9", ""},
		{WXF, two, "P+=4", "g7f7", ""},
	} {
		p := setUp(t, c.fen)
		m, err := p.ParseIn(c.n, c.text)
		switch {
		case c.err == "" && (err != nil || FormatMove(m) != c.iccs):
			t.Errorf("%s: %s, %v; want %s", c.text, FormatMove(m), err, c.iccs)
		case c.err != "" && (!errors.Is(err, game.ErrIllegal) || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %s, %v; want %s", c.text, FormatMove(m), err, c.err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	p := setUp(t, "")
	for _, c := range []struct {
		n    game.Notation
		text string
		want error
	}{
		{WXF, "", game.ErrSyntax}, {WXF, "C2=", game.ErrSyntax}, {WXF, "X2=5", game.ErrSyntax}, {WXF, "C2=55", game.ErrSyntax}, {WXF, "C0=5", game.ErrSyntax},
		{WXF, "C2=0", game.ErrSyntax}, {WXF, "C2+9", game.ErrIllegal}, {WXF, "R+=5", game.ErrIllegal}, {WXF, "C5=2", game.ErrIllegal},
		{Chinese, "", game.ErrSyntax}, {Chinese, "炮二平", game.ErrSyntax}, {Chinese, "炮二炮五", game.ErrSyntax}, {Chinese, "x二平五", game.ErrSyntax},
		{Chinese, "炮五平二", game.ErrIllegal}, {Chinese, "后炮平五", game.ErrIllegal}, {Chinese, "\xff\xfe\xfd\xfc", game.ErrSyntax},
		{Algebra, "h2e2x", game.ErrSyntax}, {Algebra, "h0e0", game.ErrSyntax}, {Algebra, "h11e3", game.ErrSyntax}, {Algebra, "h03e3", game.ErrSyntax},
		{Algebra, "h3h3", game.ErrIllegal}, {Algebra, "h4e4", game.ErrIllegal}, {ICCS, "H2--E2", game.ErrSyntax}, {"nonesuch", "h2e2", game.ErrSyntax},
	} {
		if m, err := p.ParseIn(c.n, c.text); !errors.Is(err, c.want) {
			t.Errorf("%q as %s: %s, %v; want %v", c.text, c.n, FormatMove(m), err, c.want)
		}
	}
}

// randomPosition returns a position from a random game, or one with pieces strewn
// about, many of a kind on a file.
func randomPosition(t testing.TB, rng *rand.Rand) *Position {
	if rng.IntN(2) == 0 {
		p := setUp(t, "")
		gametest.Stroll(t, rng, p, rng.IntN(120))
		return p
	}
	r, err := parseRules("xiangqi/simple")
	if err != nil {
		t.Fatal(err)
	}
	for {
		var board [Ranks][Files]byte
		put := func(piece byte, files, low, high int) {
			board[low+rng.IntN(high-low+1)][(files+rng.IntN(2))%Files] = piece
		}
		column := rng.IntN(Files)
		for range 1 + rng.IntN(5) {
			put('P', column, 5, 9)
			put('p', rng.IntN(Files), 0, 4)
		}
		for range 2 {
			put('R', column+1, 0, 9)
			put('r', column+2, 0, 9)
			put('C', column+3, 0, 9)
			put('n', column+4, 0, 9)
		}
		board[rng.IntN(3)][3+rng.IntN(3)] = 'K'
		board[7+rng.IntN(3)][3+rng.IntN(3)] = 'k'
		fen := ""
		for rank := Ranks - 1; rank >= 0; rank-- {
			for _, c := range board[rank] {
				if c == 0 {
					c = '1'
				}
				fen += string(rune(c))
			}
			if rank > 0 {
				fen += "/"
			}
		}
		if p, err := r.start(fen + [2]string{" w", " b"}[rng.IntN(2)]); err == nil {
			return p.(*Position)
		}
	}
}

// TestNotationRoundTrip writes every legal move of 10,000 random positions in
// every notation and reads it back; no two moves may have the same text.
func TestNotationRoundTrip(t *testing.T) {
	positions := 10_000
	if testing.Short() {
		positions = 500
	}
	rng := rand.New(rand.NewPCG(3, 1))
	for range positions {
		p := randomPosition(t, rng)
		legal := p.Legal(nil)
		if len(legal) == 0 {
			continue
		}
		for _, m := range legal {
			for _, n := range []game.Notation{ICCS, Algebra} {
				if back, err := p.ParseIn(n, p.FormatIn(n, m)); err != nil || back != m {
					t.Fatalf("%s: %s in %s is %s, which is read as %s, %v", p, FormatMove(m), n, p.FormatIn(n, m), FormatMove(back), err)
				}
			}
		}
		unambiguous(t, p, legal, p.board.wxf, plainWXF)
		unambiguous(t, p, legal, p.board.chinese, func(text string) string { return plainChinese(text, p.board.side) })
		m := legal[rng.IntN(len(legal))]
		for _, n := range p.Notations() {
			if back, err := p.ParseAny(p.FormatIn(n, m)); n != Algebra && (err != nil || back != m) {
				t.Fatalf("%s: %s is read as %s, %v", p, p.FormatIn(n, m), FormatMove(back), err)
			}
		}
	}
}

// unambiguous checks all legal moves together: the text of a move must have a valid
// form and must not be a text of another move.
func unambiguous(t *testing.T, p *Position, legal []game.Move, writings func(game.Move) []string, plain func(string) string) {
	t.Helper()
	all := make(map[string][]game.Move, len(legal))
	for _, m := range legal {
		for _, text := range writings(m) {
			all[text] = append(all[text], m)
		}
	}
	for _, m := range legal {
		text := writings(m)[0]
		if len(all[text]) != 1 || plain(text) != text {
			t.Fatalf("%s: %s is written %s, read as %q, which names %d moves", p, FormatMove(m), text, plain(text), len(all[text]))
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"h2e2", "H2-E2", "h3e3", "C2=5", "炮二平五", "前车平九", "++=6", "\xff", "R+.3"} {
		f.Add(s)
	}
	p := setUp(f, "")
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range p.Notations() {
			m, err := p.ParseIn(n, text)
			if err == nil && !p.board.IsLegal(m) {
				t.Errorf("%q as %s is %s, which is not legal", text, n, FormatMove(m))
			}
			if err != nil && !errors.Is(err, game.ErrSyntax) && !errors.Is(err, game.ErrIllegal) {
				t.Errorf("%q as %s: %v", text, n, err)
			}
		}
		if m, err := p.ParseAny(text); err == nil && !p.board.IsLegal(m) {
			t.Errorf("%q is %s, which is not legal", text, fmt.Sprint(m))
		}
	})
}
