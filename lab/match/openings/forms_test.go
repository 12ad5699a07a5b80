package openings

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"sparring/record/format"
)

// TestRecords: openings are taken from records as from games of other programs.
func TestRecords(t *testing.T) {
	const file = `{"match":1,"id":"m1"}
{"v":1,"id":"g1","game":"gomoku","rules":"gomoku/freestyle-15+swap2","source":{"by":"match"},"plies":[{"seat":"first","move":"h8"},{"seat":"second","move":"swap"}]}
{"v":1,"id":"g2","game":"gomoku","rules":"gomoku/freestyle-15","result":"none","source":{"by":"match"},"plies":[{"seat":"first","move":"h8"},{"seat":"second","move":"a1"},{"seat":"first","move":"o15"}]}
{"v":1,"id":"g3","game":"gomoku","rules":"gomoku/freestyle-15","result":"none","source":{"by":"match"},"plies":[{"seat":"first","move":"h8"},{"seat":"second","move":"a1"},{"seat":"first","move":"b9"}]}
{"v":1,"id":"g4","game":"gomoku","rules":"gomoku/freestyle-15","result":"none","source":{"by":"match"},"plies":[{"seat":"first","move":"b4"},{"seat":"second","move":"c5"}]}
{"v":1,"id":"g5","game":"gom`
	set, err := Import(strings.NewReader(file), "f", ImportOptions{Plies: 2})
	if err != nil {
		t.Fatal(err)
	}
	var skipped []string
	for _, err := range set.Skipped {
		skipped = append(skipped, err.Error())
	}
	if set.Form != Records || len(set.Openings) != 2 || set.Repeated != 1 || !slices.Equal(set.Openings[1].Moves, []string{"b4", "c5"}) || !slices.Equal(set.Rules, []string{"gomoku/freestyle-15"}) {
		t.Errorf("%+v", set)
	}
	if len(skipped) != 2 || !strings.HasPrefix(skipped[0], "f, game 1: ") || !strings.HasPrefix(skipped[1], "f:6: ") {
		t.Errorf("skipped %q", skipped)
	}
}

// TestNoOpenings: of many games that give no opening some are named.
func TestNoOpenings(t *testing.T) {
	over := "(;GM[4]SZ[15];B[aa];W[ba];B[ab];W[bb];B[ac];W[bc];B[ad];W[bd];B[ae])"
	for n, want := range map[int]string{3: "f, game 3: ", 5: "\nand 2 more"} {
		_, err := Import(strings.NewReader(strings.Repeat(over, n)), "f", ImportOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), "f: no openings: f, game 1: ") || strings.Count(err.Error(), "game is over") != 3 || !strings.Contains(err.Error(), want) {
			t.Errorf("%d games: %v, want %q", n, err, want)
		}
	}
	if _, err := Import(strings.NewReader(`{"match":1,"id":"m1"}`+"\n"), "f", ImportOptions{}); err == nil || err.Error() != "f: no openings: the file has no games" {
		t.Error(err)
	}
}

// TestForms: a set comes back the same from every form that can have it, as positions
// from those that have no moves.
func TestForms(t *testing.T) {
	sets := map[string]*Set{
		"xiangqi": {Rules: []string{"xiangqi/wxf"}, Openings: []Opening{{Moves: []string{"h2e2", "h9g7"}}, {Moves: []string{"b2e2", "b9c7", "b0c2"}}}},
		"gomoku":  {Rules: []string{"gomoku/freestyle-15"}, Openings: []Opening{{Moves: []string{"h8", "a1", "o15"}}, {Moves: []string{"g7", "i9"}}}},
		"even":    {Rules: []string{"gomoku/freestyle-20"}, Openings: []Opening{{Moves: []string{"k10", "a20", "t1"}}}},
		"amazons": {Rules: []string{"amazons/10x10"}, Openings: []Opening{{Moves: []string{"d1d7/g7", "j7g4/b4"}}}},
		"setup":   {Rules: []string{"xiangqi/wxf"}, Openings: []Opening{{Start: "2bak4/4a4/4b4/9/9/9/9/4B4/4A4/2BAK1R2 w - - 0 1"}}},
	}
	can := map[string][]string{
		"xiangqi": {EPD, "pgn", "sgf", Text}, "setup": {EPD, "pgn", "sgf", Text},
		"gomoku": {"ccgc", EPD, Gomocup, "psq", "sgf", Text}, "even": {EPD, Gomocup, "psq", "sgf", Text},
		"amazons": {"ccgc", EPD, "sgf", Text},
	}
	for name, set := range sets {
		for _, form := range Forms() {
			var out bytes.Buffer
			err := set.WriteAs(&out, form)
			if !slices.Contains(can[name], form) {
				if !errors.Is(err, format.ErrCannot) || out.Len() > 0 {
					t.Errorf("%s in %s: %v, %s", name, form, err, out.String())
				}
				continue
			}
			if err != nil {
				t.Errorf("%s in %s: %v", name, form, err)
				continue
			}
			text := out.String()
			back, err := Import(strings.NewReader(text), "f", ImportOptions{Rules: set.Rules})
			if err != nil || back.Form != form || len(back.Openings) != len(set.Openings) || len(back.Skipped) > 0 {
				t.Errorf("%s in %s: %v, %+v\n%s", name, form, err, back, text)
				continue
			}
			for i, o := range back.Openings {
				want := set.Openings[i]
				r := rules(t, set.Rules[0])
				p, err := o.Setup(r)
				q, errQ := want.Setup(r)
				if err != nil || errQ != nil || p.Key() != q.Key() || form != EPD && !slices.Equal(o.Moves, want.Moves) {
					t.Errorf("%s in %s: %v became %v, %v", name, form, want, o, err)
				}
			}
		}
	}
	if err := sets["gomoku"].WriteAs(&bytes.Buffer{}, "gif"); !errors.Is(err, format.ErrUnknown) {
		t.Error(err)
	}
}

// TestOneLine: a line means the same position whether its file names the rules or not, and no
// part of it is dropped: neither moves nor counters.
func TestOneLine(t *testing.T) {
	field, err := os.ReadFile("testdata/openings-fen-moves.epd")
	if err != nil {
		t.Fatal(err)
	}
	const start = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"
	for line, want := range map[string]string{
		string(field):                         "rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2",
		"position startpos moves h2e2 h9g7\n": "rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2",
		"moves h2e2\n":                        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 1 1",
		start + " - - 70 90\n":                start + " - - 70 90",
		start + " - - bm h2e2; id \"x\";\n":   start + " - - 0 1",
		start + " - - 0 1 h2e2\n":             "f:1: ", start + " - - 0 1 moves h2e2 h9\n": "f:1: ", start + " - - id \"x\"\n": "f:1: ",
	} {
		for _, file := range []string{line, "rules xiangqi/wxf\n" + line} {
			set, err := Import(strings.NewReader(file), "f", ImportOptions{Usual: []string{"xiangqi/wxf"}})
			if strings.HasPrefix(want, "f:") {
				if err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "f:2: ") {
					t.Errorf("%q: %v, want %s", file, err, want)
				}
				continue
			}
			if err != nil {
				t.Errorf("%q: %v", file, err)
				continue
			}
			p, err := set.Openings[0].Setup(rules(t, "xiangqi/wxf"))
			if err != nil || p.String() != want {
				t.Errorf("%q: %v, %v, want %s", file, p, err, want)
			}
		}
	}
}

// TestImport: what other programs write, what is left out of it, and what is an error.
func TestImport(t *testing.T) {
	for _, test := range []struct {
		name, text string
		o          ImportOptions
		want       string // the openings, or what the error says
		repeated   int
		skipped    []string
	}{
		{"epd", "# comment\nrnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - bm h2e2; id \"1\";\n\nrnbakabnr/9 w - -\n" +
			"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 4 9\n", ImportOptions{Rules: []string{"xiangqi/wxf"}},
			"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w", 1, []string{"f:4: "}},
		{"gomocup", "\ufeff0,0, 1,1, -7,-7\n0,0, 0,0\n8,0\n0,0, 1\n", ImportOptions{Rules: []string{"gomoku/freestyle-15"}, Plies: 2},
			"moves h8 i7", 0, []string{"f:2: ", "f:3: ", "f:4: "}},
		{"games", "[Game \"Chinese Chess\"]\n1. h2e2 h9g7 2. h0g2 *\n[Game \"Chinese Chess\"]\n1. h2e2 h9g7 2. b0c2 *\n[Game \"Chinese Chess\"]\n1. h2e9 *\n",
			ImportOptions{Plies: 2}, "moves h2e2 h9g7", 1, []string{"f: pgn, game 3"}},
		{"finished", "(;GM[4]SZ[15];B[aa];W[ba];B[ab];W[bb];B[ac];W[bc];B[ad];W[bd];B[ae])", ImportOptions{}, "game is over", 0, nil},
		{"text", "rules gomoku/freestyle-15\nmoves h8\n", ImportOptions{Rules: []string{"gomoku/renju-15"}}, "moves h8", 0, nil},
		{"text, usual rules", "rules gomoku/freestyle-15\nmoves h8\n", ImportOptions{Usual: []string{"gomoku/renju-15"}}, "moves h8", 0, nil},
		{"text, other rules", "rules gomoku/freestyle-20\nmoves h8\nmoves t20\n", ImportOptions{Rules: []string{"gomoku/freestyle-15"}}, "moves h8", 0, []string{"f, opening 2: "}},
		{"text, other game", "rules gomoku/freestyle-20\nmoves h8\n", ImportOptions{Rules: []string{"xiangqi/wxf"}}, "no openings", 0, nil},
		{"no rules", "0,0, 1,1\n", ImportOptions{}, "f: a file in the form gomocup does not name its rules", 0, nil},
		{"other game", "0,0, 1,1\n", ImportOptions{Rules: []string{"xiangqi/wxf"}}, "gomocup is for Gomoku", 0, nil},
		{"nothing", "# nothing\n", ImportOptions{Rules: []string{"xiangqi/wxf"}}, "no openings", 0, nil},
		{"neither", "hello\n", ImportOptions{Rules: []string{"xiangqi/wxf"}}, "f:1: ", 0, nil},
	} {
		got, err := Import(strings.NewReader(test.text), "f", test.o)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		var lines []string
		for _, o := range got.Openings {
			lines = append(lines, o.String())
		}
		if rules := test.o.Rules; len(rules) > 0 && !slices.Equal(got.Rules, rules) {
			t.Errorf("%s: rules %v", test.name, got.Rules)
		}
		if strings.Join(lines, "; ") != test.want || got.Repeated != test.repeated || len(got.Skipped) != len(test.skipped) {
			t.Errorf("%s: %q, %d repeated, skipped %v", test.name, lines, got.Repeated, got.Skipped)
			continue
		}
		for i, s := range test.skipped {
			if !strings.HasPrefix(got.Skipped[i].Error(), s) {
				t.Errorf("%s: skipped %v, want %s", test.name, got.Skipped[i], s)
			}
		}
	}
}
