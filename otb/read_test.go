package otb

import (
	"errors"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
)

// TestRead: an operator's text is read in every notation, completed where it is clear,
// and refused with a reason.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		rules, moves string
		text         string
		want         string // the move, or a part of the error
	}{
		{"xiangqi", "", "h2e2", "h2e2"},
		{"xiangqi", "", "H2-E2", "h2e2"},
		{"xiangqi", "", "h2 e2", "h2e2"},
		{"xiangqi", "", "炮二平五", "h2e2"},
		{"xiangqi", "", "砲二平五", "h2e2"},
		{"xiangqi", "", "C2=5", "h2e2"},
		{"xiangqi", "", "c2.5", "h2e2"},
		{"xiangqi", "h2e2", "炮8平5", "h7e7"},
		{"xiangqi", "h2e2", "炮８平５", "h7e7"},
		{"xiangqi", "h2e2", "马8进7", "h9g7"},
		{"xiangqi", "", "炮二平", `"炮二平" may be `},
		{"xiangqi", "", "h2e", "h2e2"},
		{"xiangqi", "", "兵五", "e3e4"},
		{"xiangqi", "", "e3", "e3e4"},
		{"xiangqi", "", "h0", `"h0" may be `},
		{"xiangqi", "", "h2f4", "illegal move: h2f4: The cannon moves along lines."},
		{"xiangqi", "", "h9g7", "This piece is your opponent's."},
		{"xiangqi", "", "e5e6", "There is no piece on this point."},
		{"xiangqi", "", "炮五平二", "illegal move"},
		{"xiangqi", "", "hello", `"hello": not a move (such as `},
		{"xiangqi", "", "", "no move"},
		{"gomoku/renju-15+ccgc-2", "", "h8", "h8"},
		{"gomoku/renju-15+ccgc-2", "", "H8", "h8"},
		{"gomoku/renju-15+ccgc-2", "", "B(H,8)", "h8"},
		{"gomoku/renju-15+ccgc-2", "", "a1", "In this opening the stone must be closer to the centre."},
		{"gomoku/renju-15+ccgc-2", "h8 h9 h10", "swap", "swap"},
		{"gomoku/renju-15+ccgc-2", "h8 h9 h10", "sw", "swap"},
		{"gomoku/renju-15+ccgc-2", "h8 h9 h10", "s", `"s" may be swap, stay`},
		{"gomoku/renju-15+ccgc-2", "h8 h9 h10", "a1", "First make the choice"},
		{"gomoku/renju-15+ccgc-2", "h8 h9 h10 stay i9", "k11", "offer:k11"},
		{"gomoku/renju-15+ccgc-2", "h8 h9 h10 stay i9", "offer:k11", "offer:k11"},
		{"gomoku/renju-15+ccgc-2", "h8 h9 h10 stay i9 offer:k11", "k11", "This point was offered before."},
		{"gomoku/freestyle-15", "h8", "h8", "This point is taken."},
		{"gomoku/freestyle-15", "h8", "w(i,9)", "i9"},
		{"amazons", "", "d1d7/b7", "d1d7/b7"},
		{"amazons", "", "D1-D7(B7)", "d1d7/b7"},
		{"amazons", "", "d1 d7 b7", "d1d7/b7"},
		{"amazons", "", "d1d7b7", "d1d7/b7"},
		{"amazons", "", "d1d7", `"d1d7" may be `},
		{"amazons", "", "d1e3/b7", "An amazon moves along a line or a diagonal."},
		{"amazons", "", "d1d7/e9", "The arrow flies along a line or a diagonal."},
		{"amazons", "", "d2d7/b7", "There is no piece on this point."},
	} {
		rules, err := catalog.Rules(c.rules)
		if err != nil {
			t.Fatal(err)
		}
		p, err := game.Replay(rules, "", strings.Fields(c.moves))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		r, err := Read(p, c.text, false)
		if err != nil {
			got = err.Error()
		} else if got = r.Text; p.Play(r.Move) != nil {
			t.Errorf("%s %s: %q is not legal", c.rules, c.moves, c.text)
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s %s: %q is %q, want %q", c.rules, c.moves, c.text, got, c.want)
		}
	}
}

// TestReadPointsInFull: a point named in full is not the beginning of others.
func TestReadPointsInFull(t *testing.T) {
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.New("")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Read(p, "b1", false); err != nil || r.Text != "b1" || r.Completed {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = Read(p, "b", false)
	if e, ok := errors.AsType[*AmbiguousError](err); !ok || len(e.Candidates) != maxCandidates || e.More != 7 {
		t.Errorf("%v", err)
	}
}

// TestReadFromOne: Xiangqi coordinates with ranks from 1, where the operator says so.
func TestReadFromOne(t *testing.T) {
	rules, err := catalog.Rules("xiangqi")
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.New("")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"h3e3": "h2e2", "h3e": "h2e2", "炮二平五": "h2e2", "b1c3": "b0c2"} {
		if r, err := Read(p, text, true); err != nil || r.Text != want {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	if r, err := Read(p, "h2e2", true); err == nil {
		t.Errorf("ranks from 0 are read as %+v", r)
	}
	for _, want := range []string{"炮二平五", "h3e3", "C2=5"} {
		m, _ := p.Parse("h2e2")
		if all := strings.Join(Writings(p, m, true), " "); !strings.Contains(all, want) {
			t.Errorf("%s lacks %s", all, want)
		}
	}
}

// FuzzRead: whatever is typed, the answer is a legal move or an error.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"h2e2", "炮二平五", "C2=5", "swap", "offer:h8", "B(H,8)", "d1d7/b7", "ｈ８", "-", "()", "后炮", "\x00", "h99999999999"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	var positions []game.Position
	for _, name := range []string{"xiangqi", "gomoku/renju-15+ccgc-2", "amazons/8x8"} {
		rules, err := catalog.Rules(name)
		if err != nil {
			f.Fatal(err)
		}
		p, err := rules.New("")
		if err != nil {
			f.Fatal(err)
		}
		positions = append(positions, p)
	}
	f.Fuzz(func(t *testing.T, text string, uci bool) {
		for _, p := range positions {
			r, err := Read(p, text, uci)
			if err == nil && p.Clone().Play(r.Move) != nil {
				t.Errorf("%s: %q is read as %q, which is not legal", p.Rules().Name, text, r.Text)
			}
			if err != nil && err.Error() == "" {
				t.Errorf("%s: %q: an error without words", p.Rules().Name, text)
			}
		}
	})
}
