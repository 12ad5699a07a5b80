package xiangqi

import (
	"errors"
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
		{"a pawn that can be taken is no stalemate", "simple", "3k5/9/3P5/9/9/9/9/9/9/4K4 w", "d7d8", game.Outcome{}},
		{"stalemate by a pawn", "simple", "5k3/9/4P4/9/9/9/9/9/9/4K4 w", "e7e8", game.Outcome{Result: game.FirstWins, Reason: game.Stalemate}},
		{"two occurrences are not judged", "simple", "3k5/9/9/9/9/9/9/9/9/R3K4 w", "a0a9 d9d8 a9a0 d8d9", game.Outcome{}},
		{"quiet repetition draws", "simple", "3k5/9/9/9/9/9/9/9/9/R3K4 w", "a0b0 d9d8 b0a0 d8d9 a0b0 d9d8 b0a0 d8d9", game.Outcome{Result: game.Draw, Reason: game.Repetition}},
		{"perpetual check loses", "simple", "3k5/9/9/9/9/9/9/9/9/R3K4 w", "a0a9 d9d8 a9a8 d8d9 a8a9 d9d8 a9a8 d8d9 a8a9", game.Outcome{Result: game.SecondWins, Reason: game.PerpetualCheck}},
		{"perpetual check by Black loses", "simple", "4k4/9/9/9/9/9/9/9/9/r2K5 w", "d0d1 a0a1 d1d0 a1a0 d0d1 a0a1 d1d0 a1a0", game.Outcome{Result: game.FirstWins, Reason: game.PerpetualCheck}},
		{"check only every other move draws", "simple", "3k5/9/9/9/9/9/9/9/9/R3K4 w", "a0a9 d9d8 a9a0 d8d9 a0a9 d9d8 a9a0 d8d9", game.Outcome{Result: game.Draw, Reason: game.Repetition}},
		{"the move limit", "simple+limit=10", "3k5/9/9/9/9/9/9/9/9/R3K4 w - - 19 30", "a0b0", game.Outcome{Result: game.Draw, Reason: game.MoveLimit}},
		{"one ply before the limit", "simple+limit=10", "3k5/9/9/9/9/9/9/9/9/R3K4 w - - 18 30", "a0b0", game.Outcome{}},
		{"a capture resets the limit", "simple+limit=10", "3k5/9/9/9/9/9/9/9/9/Rn2K4 w - - 19 30", "a0b0", game.Outcome{}},
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
		"xiangqi/simple":            "xiangqi/simple",
		"xiangqi/simple+limit=60":   "xiangqi/simple",
		"xiangqi/simple+limit=100":  "xiangqi/simple+limit=100",
		"xiangqi/simple+limit=none": "xiangqi/simple+limit=none",
	} {
		r, err := FindRules(name)
		if err != nil || r.Name != full || r.Game != "xiangqi" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for _, name := range []string{"", "xiangqi", "xiangqi/", "xiangqi/foo", "xiangqi/simple+", "xiangqi/simple+limit", "xiangqi/simple+limit=0",
		"xiangqi/simple+limit=060", "xiangqi/simple+limit=60+limit=60", "xiangqi/simple+x=1", "gomoku/simple"} {
		if r, err := FindRules(name); !errors.Is(err, game.ErrRules) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
