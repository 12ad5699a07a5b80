package xiangqi

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sparring/game"
)

// replay plays moves, given as one text, under a rule set's short name.
func replay(t *testing.T, rules, fen, moves string) game.Position {
	t.Helper()
	r, err := FindRules("xiangqi/" + rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := game.Replay(r, fen, strings.Fields(moves))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name, rules, fen, moves string
		want                    game.Outcome
	}{
		{"start", "simple", "", "", game.Outcome{}},
		{"double cannon mates", "simple", "3aka3/9/9/9/9/9/9/4C4/9/3K3C1 w", "h0e0", game.Outcome{Result: game.FirstWins, Reason: game.Checkmate}},
		{"capturing the pawn avoids stalemate", "simple", "3k5/9/3P5/9/9/9/9/9/9/4K4 w", "d7d8", game.Outcome{}},
		{"stalemate by a pawn", "simple", "5k3/9/4P4/9/9/9/9/9/9/4K4 w", "e7e8", game.Outcome{Result: game.FirstWins, Reason: game.Stalemate}},
		{"two occurrences are not a repetition", "simple", "3k5/9/9/9/9/9/9/9/9/R3K4 w", "a0a9 d9d8 a9a0 d8d9", game.Outcome{}},
		{"quiet repetition draws", "simple", "3k5/9/9/9/9/9/9/9/9/R3K4 w", "a0b0 d9d8 b0a0 d8d9 a0b0 d9d8 b0a0 d8d9", game.Outcome{Result: game.Draw, Reason: game.Repetition}},
		{"perpetual check loses", "simple", "3k5/9/9/9/9/9/9/9/9/R3K4 w", "a0a9 d9d8 a9a8 d8d9 a8a9 d9d8 a9a8 d8d9 a8a9", game.Outcome{Result: game.SecondWins, Reason: game.PerpetualCheck}},
		{"perpetual check by Black loses", "simple", "4k4/9/9/9/9/9/9/9/9/r2K5 w", "d0d1 a0a1 d1d0 a1a0 d0d1 a0a1 d1d0 a1a0", game.Outcome{Result: game.FirstWins, Reason: game.PerpetualCheck}},
		{"check only every other move draws", "simple", "3k5/9/9/9/9/9/9/9/9/R3K4 w", "a0a9 d9d8 a9a0 d8d9 a0a9 d9d8 a9a0 d8d9", game.Outcome{Result: game.Draw, Reason: game.Repetition}},
		{"the move limit", "simple+limit=10", "3k5/9/9/9/9/9/9/9/9/R3K4 w - - 19 30", "a0b0", game.Outcome{Result: game.Draw, Reason: game.MoveLimit}},
		{"one ply before the limit", "simple+limit=10", "3k5/9/9/9/9/9/9/9/9/R3K4 w - - 18 30", "a0b0", game.Outcome{}},
		{"a capture resets the limit", "simple+limit=10", "3k5/9/9/9/9/9/9/9/9/Rn2K4 w - - 19 30", "a0b0", game.Outcome{}},
		{"only guards are left", "wxf", "3k1a3/9/4b4/9/9/9/9/9/4p4/3AK4 w", "d0e1", game.Outcome{Result: game.Draw, Reason: game.InsufficientMaterial}},
		{"a cannon and elephants against a bare king", "simple", "3k5/9/9/9/9/9/9/2C1B4/4p4/4K4 w", "e0e1", game.Outcome{Result: game.Draw, Reason: game.InsufficientMaterial}},
		{"a cannon and an advisor may win", "simple", "3k5/9/9/9/9/9/9/2C6/4p4/3AK4 w", "d0e1", game.Outcome{}},
		{"a cannon may use the other's advisor", "simple", "3k1a3/9/9/9/9/9/9/2C6/4p4/4K4 w", "e0e1", game.Outcome{}},
		{"a pawn may win", "simple", "3k5/9/9/9/4P4/9/9/9/4p4/4K4 w", "e0e1", game.Outcome{}},
		{"no limit", "simple+limit=none", "3k5/9/9/9/9/9/9/9/9/R3K4 w - - 999 600", "a0b0", game.Outcome{}},
	} {
		p := replay(t, c.rules, c.fen, c.moves)
		if got := p.Outcome(); got != c.want {
			t.Errorf("%s: outcome %v, want %v\n%s", c.name, got, c.want, p.Diagram())
			continue
		}
		if !c.want.Over() {
			continue
		}
		if n := len(p.Legal(nil)); n != 0 {
			t.Errorf("%s: %d legal moves after the end", c.name, n)
		}
		if err := p.Play(MakeMove(0, 1)); !errors.Is(err, game.ErrOver) {
			t.Errorf("%s: Play after the end gives %v", c.name, err)
		}
		p.Undo()
		if p.Outcome().Over() || len(p.Legal(nil)) == 0 {
			t.Errorf("%s: the game is still over after Undo", c.name)
		}
	}
}

// TestLimitCountsTenChecks: at most ten of a side's checks since the last capture
// count, with the replies.
func TestLimitCountsTenChecks(t *testing.T) {
	b := mustBoard(t, "3k5/9/9/9/9/9/9/n8/9/R3K4 w")
	do := func(counted uint16, moves string) {
		t.Helper()
		for _, text := range strings.Fields(moves) {
			m, err := ParseMove(text)
			if err != nil || !b.IsLegal(m) {
				t.Fatalf("%s: %v", text, err)
			}
			b.Do(m)
		}
		if got := b.State().Quiet; got != counted {
			t.Fatalf("%s: %d plies are counted, want %d", b.fen(1), got, counted)
		}
	}
	do(0, "a0a2") // takes
	do(1, "d9d8")
	do(3, "a2a8 d8d9")
	for i := range uint16(9) {
		do(5+2*i, [2]string{"a8a9 d9d8", "a9a8 d8d9"}[i%2])
	}
	do(21, "a9a8") // the eleventh check
	do(21, "d8d9") // its answer
	do(22, "a8a7")
	do(23, "d9d8")
	do(23, "a7a8 d8d9 a8a9 d9d8")
	do(24, "a9a7")
}

func TestMoveText(t *testing.T) {
	p := replay(t, "simple", "", "")
	for _, c := range []struct {
		text string
		is   error
	}{
		{"h2e2", nil}, {"b0c2", nil}, {"a3a4", nil}, {"e0e1", nil},
		{"h2h2", game.ErrSyntax}, {"h2e", game.ErrSyntax}, {"j2e2", game.ErrSyntax}, {"", game.ErrSyntax},
		{"h2e2q", game.ErrSyntax}, {"H2E2", game.ErrSyntax}, {"炮二", game.ErrSyntax},
		{"h2h9x", game.ErrSyntax}, {"h7e7", game.ErrIllegal}, {"h2i3", game.ErrIllegal}, {"e4e5", game.ErrIllegal}, {"h2h8", game.ErrIllegal},
	} {
		m, err := p.Parse(c.text)
		if c.is == nil {
			if err != nil || p.Format(m) != c.text {
				t.Errorf("%s: %v, written as %s", c.text, err, p.Format(m))
			}
		} else if !errors.Is(err, c.is) {
			t.Errorf("%q: error %v, want %v", c.text, err, c.is)
		}
	}
}

func FuzzParseMove(f *testing.F) {
	for _, s := range []string{"h2e2", "a0i9", "h2h2", "炮二平五", "", "h10e10"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMove(text)
		if err == nil && FormatMove(m) != text {
			t.Fatalf("%q reads as %s", text, FormatMove(m))
		}
		if err != nil && !errors.Is(err, game.ErrSyntax) {
			t.Fatalf("untyped error %v", err)
		}
	})
}

func TestPositionCounters(t *testing.T) {
	p := replay(t, "simple", "3k5/9/9/9/9/9/9/9/9/R3K4 b - - 3 7", "d9d8 a0a1")
	if want := "9/3k5/9/9/9/9/9/9/R8/4K4 b - - 5 8"; p.String() != want {
		t.Errorf("FEN %s, want %s", p, want)
	}
	if p.Ply() != 2 || p.Turn() != game.Second {
		t.Errorf("ply %d, turn %s", p.Ply(), p.Turn())
	}
	c := p.Clone()
	c.Undo()
	if p.Ply() != 2 || c.Ply() != 1 || c.Turn() != game.First {
		t.Error("Undo on a clone touched the original")
	}
	if got := game.Perft(p, 2); got != game.Perft(plain{p}, 2) {
		t.Errorf("bulk perft %d differs from the plain one", got)
	}
}

// plain hides the bulk count, so that game.Perft plays every move.
type plain struct{ game.Position }

func TestRuleNames(t *testing.T) {
	for name, full := range map[string]string{
		"xiangqi/simple":                           "xiangqi/simple",
		"xiangqi/simple+limit=60":                  "xiangqi/simple",
		"xiangqi/simple+limit=100":                 "xiangqi/simple+limit=100",
		"xiangqi/simple+limit=none":                "xiangqi/simple+limit=none",
		"xiangqi/wxf":                              "xiangqi/wxf",
		"xiangqi/cxa+repetition=none":              "xiangqi/cxa+repetition=none",
		"xiangqi/wxf+handicap=rook":                "xiangqi/wxf+handicap=rook",
		"xiangqi/wxf+limit=60+handicap=two-horses": "xiangqi/wxf+handicap=two-horses",
	} {
		r, err := FindRules(name)
		if err != nil || r.Name != full || r.Game != "xiangqi" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for _, name := range []string{"", "xiangqi", "xiangqi/", "xiangqi/foo", "xiangqi/simple+", "xiangqi/simple+limit", "xiangqi/simple+limit=0",
		"xiangqi/simple+limit=060", "xiangqi/simple+limit=60+limit=60", "xiangqi/simple+x=1", "gomoku/simple",
		"xiangqi/wxf+handicap", "xiangqi/wxf+handicap=king", "xiangqi/wxf+handicap=horse+limit=50", "xiangqi/wxf+handicap=horse+handicap=rook",
		"xiangqi/wxf+repetition=3", "xiangqi/wxf+repetition=none+limit=none"} {
		if r, err := FindRules(name); !errors.Is(err, game.ErrRules) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestHandicaps(t *testing.T) {
	start := mustBoard(t, StartFEN)
	for name, given := range map[string]string{
		"horse": "N", "two-horses": "NN", "cannon": "C", "two-cannons": "CC", "rook": "R", "rook-horse": "RN", "two-rooks": "RR",
	} {
		p := replay(t, "wxf+handicap="+name, "", "").(*Position)
		if !slices.Contains(Handicaps(), name) {
			t.Errorf("%s is not listed", name)
		}
		lacks := ""
		for s := range Square(Squares) {
			if had, has := start.At(s), p.Board().At(s); has != had {
				lacks += had.String()
				if has != NoPiece {
					t.Errorf("%s: %s on %s", name, has, s)
				}
			}
		}
		if lacks != given || p.Turn() != game.First {
			t.Errorf("%s: Red lacks %s, %s moves", name, lacks, p.Turn())
		}
		if q := replay(t, "wxf+handicap="+name, StartFEN, ""); q.Key() != start.Key() {
			t.Errorf("%s: a position that is given is changed", name)
		}
	}
	if len(Handicaps()) != 7 {
		t.Errorf("%d handicaps", len(Handicaps()))
	}
}

func FuzzRuleNames(f *testing.F) {
	for _, s := range append(Game().Sets, "xiangqi/cxa+limit=100+handicap=rook-horse", "xiangqi/wxf+limit=none", "xiangqi/wxf+", "xiangqi/x+limit=60") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r, err := FindRules(name)
		if err != nil {
			if !errors.Is(err, game.ErrRules) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := FindRules(r.Name)
		if err != nil || again.Name != r.Name {
			t.Fatalf("%q is called %q, which is called %+v (%v)", name, r.Name, again, err)
		}
		if _, err := r.New(""); err != nil {
			t.Fatalf("%q has no start position: %v", r.Name, err)
		}
	})
}

// TestNoRepetition: with repetition=none no repetition ends a game.
func TestNoRepetition(t *testing.T) {
	rules, err := FindRules("xiangqi/wxf+repetition=none")
	if err != nil {
		t.Fatal(err)
	}
	shuffle := []string{"h0g2", "h9g7", "g2h0", "g7h9"}
	p, err := game.Replay(rules, "", slices.Concat(shuffle, shuffle, shuffle))
	if err != nil || p.Outcome().Over() || p.Ply() != 12 {
		t.Errorf("after %d plies %v, %v", p.Ply(), p.Outcome(), err)
	}
}

// TestPlayOn: a game can be continued after a repetition, with insufficient material
// and beyond the limit, but not after a mate.
func TestPlayOn(t *testing.T) {
	rules, err := FindRules("xiangqi/wxf")
	if err != nil {
		t.Fatal(err)
	}
	shuffle := []string{"h0g2", "h9g7", "g2h0", "g7h9"}
	p, err := game.Replay(rules, "", slices.Concat(shuffle, shuffle))
	if err != nil || p.Outcome().Reason != game.Repetition {
		t.Fatalf("outcome %v, %v", p.Outcome(), err)
	}
	m := MakeMove(MakeSquare(7, 0), MakeSquare(6, 2))
	if err := p.Play(m); !errors.Is(err, game.ErrOver) {
		t.Errorf("a move after the end: %v", err)
	}
	if !game.PlayOn(p) {
		t.Error("the game does not continue")
	}
	if n := len(p.Legal(nil)); n != 44 {
		t.Errorf("%d legal moves, want 44", n)
	}
	if err := p.Play(m); err != nil || p.Ply() != 9 || p.Outcome().Over() || p.Rules().Name != "xiangqi/wxf+repetition=none" {
		t.Errorf("going on: %v, ply %d, %v under %s", err, p.Ply(), p.Outcome(), p.Rules().Name)
	}
	for fen, over := range map[string]bool{
		"3ak4/4a4/9/9/9/9/9/9/9/3K5 w - - 0 1":   false, // nobody can win
		"1R1k5/R8/9/9/9/9/9/9/9/5K3 b - - 0 1":   true,  // mated
		"3k5/9/4R4/9/9/9/9/9/9/4K4 b - - 120 99": false, // the move limit
	} {
		p, err := rules.New(fen)
		if err != nil || !p.Outcome().Over() {
			t.Fatalf("%s: %v, %v", fen, p, err)
		}
		if on := game.PlayOn(p); on == over || p.Outcome().Over() != over || (len(p.Legal(nil)) == 0) != over {
			t.Errorf("%s: %v, %d moves", fen, p.Outcome(), len(p.Legal(nil)))
		}
	}
	// The history has all moves, although the game has ended after each of them.
	drawn, err := rules.New("3ak4/4a4/9/9/9/9/9/9/9/3K5 w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	played := []string{"d0d1", "e8d7", "d1d0"}
	for _, text := range played {
		game.PlayOn(drawn)
		if _, err := game.PlayText(drawn, text); err != nil {
			t.Fatal(err)
		}
	}
	if _, moves := game.History(drawn); !slices.Equal(moves, played) {
		t.Errorf("history %q, want %q", moves, played)
	}
	// Beyond the move limit it is played without one.
	rules, err = FindRules("xiangqi/cxa+limit=10+handicap=horse")
	if err != nil {
		t.Fatal(err)
	}
	limited, err := rules.New("3k5/9/4R4/9/9/9/9/9/9/4K4 b - - 20 99")
	if err != nil || !game.PlayOn(limited) || limited.Rules().Name != "xiangqi/cxa+limit=none+handicap=horse" {
		t.Fatalf("%v, %s", err, limited.Rules().Name)
	}
	if err := limited.Play(limited.Legal(nil)[0]); err != nil || limited.Outcome().Over() {
		t.Errorf("%v, %v", err, limited.Outcome())
	}
}
