package sau_test

import (
	"errors"
	"strings"
	"testing"

	"sparring/pipe/sau"
)

func TestLines(t *testing.T) {
	for text, want := range map[string]sau.Line{
		"name?":            {Word: sau.AskName},
		"new black":        {Word: sau.New, Side: sau.Black},
		"new white":        {Word: sau.New, Side: sau.White},
		"move DJDDGD":      {Word: sau.Move, Squares: "DJDDGD"},
		"move HH":          {Word: sau.Move, Squares: "HH"},
		"error":            {Word: sau.Refused},
		"end":              {Word: sau.End},
		"end white":        {Word: sau.End, Side: sau.White},
		"quit":             {Word: sau.Quit},
		"name Sparring 1":  {Word: sau.Name, Text: "Sparring 1"},
		"take 2 AABB":      {Word: "take", Text: "2 AABB"},
		"Mobility is high": {Word: "Mobility", Text: "is high"},
	} {
		got, err := sau.Parse(text + "\r\n")
		if got != want || err != nil {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
		if s := want.String(); s != text {
			t.Errorf("%+v is written %q, want %q", want, s, text)
		}
	}
	for _, bad := range []string{"new", "new red", "end draw", "move", "move A", "move A1", "move AABBCCDD", "name " + strings.Repeat("x", 300)} {
		if l, err := sau.Parse(bad); !errors.Is(err, sau.ErrSyntax) {
			t.Errorf("%.20q: %+v, %v, want ErrSyntax", bad, l, err)
		}
	}
	if s := (sau.Line{Word: sau.Name, Text: strings.Repeat("棋", 200) + "\nquit"}).String(); len(s) > sau.MaxLine-2 || strings.Contains(s, "\n") {
		t.Errorf("a long name is written in %d bytes: %q", len(s), s)
	}
}

// TestMoves: the pair DJDDGD and d1d7/g7 is from a game record of the
// championship, which has the same opening move as d1d7(g7).
func TestMoves(t *testing.T) {
	for _, c := range []struct {
		squares, move string
		rows          int
	}{
		{"DJDDGD", "d1d7/g7", 10},
		{"DADGDC", "d10d4/d8", 10},
		{"HH", "h8", 15},
		{"AA", "a15", 15},
		{"OO", "o1", 15},
	} {
		if got, err := sau.Ours(c.squares, c.rows); got != c.move || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.squares, got, err, c.move)
		}
		if got, err := sau.Squares(c.move, c.rows); got != c.squares || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.move, got, err, c.squares)
		}
	}
	for _, bad := range []string{"", "h", "h0", "h16", "8h", "h8h", "a1a2/a3a4", "swap", "a1/", "a1a2/"} {
		if got, err := sau.Squares(bad, 15); !errors.Is(err, sau.ErrSyntax) {
			t.Errorf("%q: %q, %v, want ErrSyntax", bad, got, err)
		}
	}
	if got, err := sau.Ours("AK", 10); !errors.Is(err, sau.ErrSyntax) {
		t.Errorf("AK on ten rows: %q, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"name?", "new black", "move DJDDGD", "end black", "error"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := sau.Parse(text)
		if err != nil {
			if !errors.Is(err, sau.ErrSyntax) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if strings.ContainsAny(l.String(), "\r\n") {
			t.Fatalf("%q is written %q", text, l)
		}
		if l.Word != sau.Move {
			return
		}
		move, err := sau.Ours(l.Squares, 26)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if back, err := sau.Squares(move, 26); len(l.Squares) != 4 && (back != l.Squares || err != nil) {
			t.Fatalf("%q is %s is %q, %v", text, move, back, err)
		}
	})
}
