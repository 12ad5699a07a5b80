package catalog

import (
	"errors"
	"strings"
	"testing"

	"sparring/game"
)

// TestLine: one text means one position, and nothing of it is left out without a word.
func TestLine(t *testing.T) {
	const usual = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"
	const after = "rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2"
	for text, want := range map[string]string{
		"":                                   usual + " - - 0 1",
		"startpos":                           usual + " - - 0 1",
		usual:                                usual + " - - 0 1",
		usual + " - - 70 90":                 usual + " - - 70 90",
		"moves h2e2 h9g7":                    after,
		usual + " moves h2e2 h9g7":           after,
		usual + " - - 0 1 moves  h2e2 h9g7 ": after,
		usual + " - - moves h2e2 h9g7 id \"a; b\";":          after,
		"position startpos moves h2e2 h9g7":                  after,
		"position fen " + usual + " - - 0 1 moves h2e2 h9g7": after,
		"fen " + usual + " moves h2e2 h9g7":                  after,
		usual + " - - bm h2e2; id \"x\"; foo \"a\" 3; rc 1;": usual + " - - 0 1",
		usual + " - - 0 1 junk":                              "7 fields",
		usual + " - - 0 1 h2e2 h9g7":                         "8 fields",
		usual + " moves h2e2 junk":                           `ply 2: move "junk": syntax`,
		usual + " moves h2e2 moves h9g7":                     `ply 2: move "moves": syntax`,
		usual + " moves h2e2 h2e2":                           "ply 2: illegal move",
		usual + " - - bm h2e2; h9g7":                         "syntax: \"h9g7\": must be an operation of EPD",
		usual + " - - id \"open":                             `field 5 is "id"`,
		usual + " - - bm h2e2; id \"open":                    "must be an operation of EPD",
		"startpos h2e2":                                      "\"h2e2\" after startpos",
		"h2e2 h9g7":                                          "syntax",
		"position":                                           usual + " - - 0 1",
	} {
		var got string
		l, err := ParseLine(text)
		if err == nil {
			var p game.Position
			if p, err = l.Position("xiangqi", "", nil); err == nil {
				got = p.String()
			}
		}
		if err != nil {
			got = err.Error()
		}
		if good := strings.HasPrefix(want, "rnb"); good != (err == nil) || !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if err != nil && !errors.Is(err, game.ErrSyntax) && !errors.Is(err, game.ErrIllegal) {
			t.Errorf("%q: %v wraps neither ErrSyntax nor ErrIllegal", text, err)
		}
	}
	for _, x := range []struct{ game, text, want string }{
		{"gomoku", strings.Repeat("15/", 14) + "15 b - - moves h8 id \"first\";", strings.Repeat("15/", 7) + "7x7/" + strings.Repeat("15/", 6) + "15 w"},
		{"amazons", "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w - -", "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w"},
	} {
		l, err := ParseLine(x.text)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := l.Position(x.game, "", nil); err != nil || p.String() != x.want {
			t.Errorf("%s: %v, %v", x.text, p, err)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("3k5/4R4/9/9/9/9/9/9/9/4K4 w - - moves e0d0 id \"a\";")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLine(text)
		if err != nil {
			return
		}
		for _, name := range Names() {
			l.Position(name, "", nil) // must not panic
		}
	})
}
