package view_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/screen/view"
)

// rows returns the lines of a file of tab-separated fields, without comments.
func rows(t *testing.T, path string) (list [][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, strings.Split(line, "\t"))
		}
	}
	return list
}

// board draws the pieces of a view as the first field of its position text.
func board(v *view.View) string {
	var out strings.Builder
	empty := 0
	flush := func() {
		if empty > 0 {
			out.WriteString(strconv.Itoa(empty))
		}
		empty = 0
	}
	for row := v.Rows - 1; row >= 0; row-- {
		for column := range v.Columns {
			piece := v.Pieces[string(rune('a'+column))+strconv.Itoa(v.FirstRow+row)]
			if piece == "" || piece == "?" {
				empty++
				continue
			}
			flush()
			out.WriteString(piece)
		}
		flush()
		if row > 0 {
			out.WriteByte('/')
		}
	}
	return out.String()
}

// check compares a view with its position.
func check(t *testing.T, p game.Position) *view.View {
	t.Helper()
	before := p.String()
	v := of(t, p)
	rows, _, _ := strings.Cut(before, " ")
	if v.Position != before || p.String() != before || board(v) != rows {
		t.Fatalf("%s is shown as %s, pieces %s", before, v.Position, board(v))
	}
	o := p.Outcome()
	if v.Outcome != o || o.Over() != (v.Turn == nil) || v.Turn != nil && *v.Turn != p.Turn() || v.Key != game.KeyText(p.Key()) || v.Ply != p.Ply() {
		t.Fatalf("%s: outcome %v, turn %v, key %s, ply %d", before, v.Outcome, v.Turn, v.Key, v.Ply)
	}
	var texts []string
	for _, m := range p.Legal(nil) {
		text := p.Format(m)
		texts = append(texts, text)
		q := p.Clone()
		if err := q.Play(m); err != nil {
			t.Fatal(err)
		}
		if end, ends := v.Ends[text]; end != q.Outcome() || ends != q.Outcome().Over() {
			t.Fatalf("%s: %s ends the game by %v, want %v", before, text, end, q.Outcome())
		}
	}
	shown := append(slices.Clone(v.Moves), v.Choices...)
	slices.Sort(shown)
	slices.Sort(texts)
	if !slices.Equal(shown, texts) {
		t.Fatalf("%s: moves %v, choices %v; want %v", before, v.Moves, v.Choices, texts)
	}
	if len(v.Choices) > 0 && v.Stage == nil {
		t.Fatalf("%s: choices %v without a stage", before, v.Choices)
	}
	written(t, p, v)
	return v
}

// written reads the moves back, in every notation.
func written(t *testing.T, p game.Position, v *view.View) {
	t.Helper()
	start, moves := game.History(p)
	for n, list := range v.Written {
		if len(list) != len(moves) || v.Last != moves[len(moves)-1] {
			t.Fatalf("%d moves in %s, last %s; want %v", len(list), n, v.Last, moves)
		}
		q, err := p.Rules().New(start)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range list {
			var m game.Move
			if notated, ok := q.(game.Notated); ok {
				m, err = notated.ParseIn(n, text)
			} else {
				m, err = q.Parse(text)
			}
			if err == nil {
				err = q.Play(m)
			}
			if err != nil {
				t.Fatalf("ply %d, %s in %s: %v", i+1, text, n, err)
			}
		}
		if q.Key() != p.Key() {
			t.Fatalf("%v in %s leads elsewhere", list, n)
		}
	}
	if len(moves) > 0 && len(v.Written) == 0 {
		t.Fatal("no notation")
	}
}

// TestAmazons follows a whole game.
func TestAmazons(t *testing.T) {
	p := replay(t, "amazons/10x10", "")
	if v := check(t, p); v.Sides != [2]string{"white", "black"} || len(v.Moves) != 2176 || v.Pieces["d1"] != "Q" || v.Pieces["a7"] != "q" {
		t.Errorf("the start: %v, %d moves, pieces %v", v.Sides, len(v.Moves), v.Pieces)
	}
	for _, row := range rows(t, "../../game/amazons/testdata/game.tsv") {
		if _, err := game.PlayText(p, row[1]); err != nil {
			t.Fatal(err)
		}
		if v := check(t, p); v.Key != row[2] || v.Position != row[3] || v.Last != row[1] || v.Pieces[row[1][strings.Index(row[1], "/")+1:]] != "*" {
			t.Fatalf("ply %s: %+v", row[0], v)
		}
	}
	if o := p.Outcome(); o.Reason != game.NoMoves {
		t.Errorf("the game ended by %v", o)
	}
}

// TestRepetitions plays every cycle of the rules' clauses until one more move ends
// the game: that move is announced, with the rule.
func TestRepetitions(t *testing.T) {
	kinds := map[game.Reason]bool{}
	for _, row := range rows(t, "../../game/xiangqi/testdata/repetition.tsv") {
		for i, set := range []string{"wxf", "cxa", "simple"} {
			cycle := strings.Fields(row[2])
			p := replay(t, "xiangqi/"+set, row[1])
			announced := game.Outcome{}
			for n := 0; !p.Outcome().Over(); n++ {
				if n > 40 {
					t.Fatalf("%s: no end under %s", row[1], set)
				}
				text := cycle[n%len(cycle)]
				if n >= 4 && len(cycle) > 4 { // the first move leads to the cycle
					text = cycle[1+(n-1)%(len(cycle)-1)]
				}
				announced = check(t, p).Ends[text]
				if _, err := game.PlayText(p, text); err != nil {
					t.Fatal(err)
				}
			}
			if announced != p.Outcome() {
				t.Errorf("%s under %s: announced %v, then %v", row[1], set, announced, p.Outcome())
			}
			if draw := announced.Result == game.Draw; draw != (row[3+i] == "draw") {
				t.Errorf("%s under %s: announced %v, want %s", row[1], set, announced, row[3+i])
			}
			kinds[announced.Reason] = true
		}
	}
	for _, r := range []game.Reason{game.PerpetualCheck, game.PerpetualChase, game.Repetition} {
		if !kinds[r] {
			t.Errorf("no move ended a game by %s", r)
		}
	}
}

// TestXiangqi: sides, ranks from 0, the king in check, a mate in one, a mate.
func TestXiangqi(t *testing.T) {
	v := check(t, replay(t, "xiangqi/wxf", "", "h2e2"))
	if v.Sides != [2]string{"red", "black"} || v.Columns != 9 || v.Rows != 10 || v.FirstRow != 0 || v.Pieces["e0"] != "K" || v.Pieces["b9"] != "n" {
		t.Errorf("the start: %+v", v)
	}
	if w := v.Written; w["chinese"][0] != "炮二平五" || w["wxf"][0] != "C2=5" || w["iccs"][0] != "h2e2" || v.Last != "h2e2" {
		t.Errorf("the first move is written %v", w)
	}
	v = check(t, replay(t, "xiangqi/wxf", "3k5/9/9/9/9/9/9/9/R8/5K3 w", "a1d1"))
	if v.Check != "d9" || *v.Turn != game.Second {
		t.Errorf("check on %q, %v to move", v.Check, v.Turn)
	}
	p := replay(t, "xiangqi/wxf", "4k4/R8/9/9/9/9/9/9/9/1R1K5 w")
	if v = check(t, p); v.Ends["b0b9"].Reason != game.Checkmate || v.Check != "" {
		t.Errorf("ends %v", v.Ends)
	}
	if _, err := game.PlayText(p, "b0b9"); err != nil {
		t.Fatal(err)
	}
	if v = check(t, p); v.Turn != nil || len(v.Moves) > 0 || v.Moves == nil || v.Check != "e9" || v.Outcome.Reason != game.Checkmate {
		t.Errorf("a mate: %+v", v)
	}
}

// runs are the empty points of a row.
var runs = regexp.MustCompile(`\.+`)

// TestRenju: the forbidden points of Black, with their kinds, are moves that end the game.
func TestRenju(t *testing.T) {
	text, err := os.ReadFile("../../game/gomoku/testdata/renju-forbidden.txt")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]game.ForbiddenKind{"3": game.DoubleThree, "4": game.DoubleFour, "6": game.Overline}
	positions := 0
	for record := range strings.SplitSeq(string(text), "\n\n") {
		var grid []string
		want := map[string]game.ForbiddenKind{}
		for line := range strings.Lines(record) {
			line = strings.TrimSpace(line)
			if len(line) == 15 && strings.Trim(line, "XO.") == "" {
				grid = append(grid, runs.ReplaceAllStringFunc(strings.ToLower(line), func(dots string) string { return strconv.Itoa(len(dots)) }))
			}
			list, ok := strings.CutPrefix(line, "forbidden:")
			for entry := range strings.FieldsSeq(list) {
				if ok && entry != "none" {
					point, kind, _ := strings.Cut(entry, ":")
					row, err := strconv.Atoi(point[1:])
					if err != nil {
						t.Fatal(err)
					}
					want[point[:1]+strconv.Itoa(16-row)] = kinds[kind] // the file counts rows from the top
				}
			}
		}
		if len(grid) != 15 {
			continue
		}
		positions++
		v := of(t, replay(t, "gomoku/renju-15", strings.Join(grid, "/")+" b"))
		got := map[string]game.ForbiddenKind{}
		for _, f := range v.Forbidden {
			got[f.Point] = f.Kind
			if v.Ends[f.Point].Reason != game.Forbidden {
				t.Errorf("%s: %s ends the game by %v", v.Position, f.Point, v.Ends[f.Point])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: forbidden %v, want %v", v.Position, got, want)
		}
		for point, kind := range want {
			if got[point] != kind {
				t.Errorf("%s: %s is %q, want %s", v.Position, point, got[point], kind)
			}
		}
	}
	if positions < 80 {
		t.Errorf("%d positions, want at least 80", positions)
	}
}

// TestOpenings walks through every opening procedure, by every choice: steps have
// names, choices are apart from moves, and the seat is the one that acts.
func TestOpenings(t *testing.T) {
	g, err := catalog.Game("gomoku")
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range g.Sets {
		_, procedure, ok := strings.Cut(set, "+")
		if !ok {
			continue
		}
		rng := rand.New(rand.NewPCG(1, 1))
		seen := map[string]bool{}
		for range 12 {
			p := replay(t, set, "")
			for {
				v := check(t, p)
				if v.Stage == nil {
					if len(v.Choices) > 0 {
						t.Fatalf("%s: choices %v after the procedure", set, v.Choices)
					}
					break
				}
				s := v.Stage
				if !strings.HasPrefix(procedure, s.Procedure) || s.Step == "" || s.Seat != p.Turn() || s.Left < 1 || s.Stone < 1 {
					t.Fatalf("%s: stage %+v", set, s)
				}
				offered := 0
				for _, piece := range v.Pieces {
					if piece == "?" {
						offered++
					}
				}
				switch s.Step {
				case "offer":
					if offered+s.Left != s.Fifths {
						t.Fatalf("%s: %d of %d offered, %d left", set, offered, s.Fifths, s.Left)
					}
				case "pick":
					if offered != s.Fifths || len(v.Moves) != s.Fifths {
						t.Fatalf("%s: %d offered, %d moves", set, offered, len(v.Moves))
					}
				case "declare":
					if len(v.Choices) != s.Fifths {
						t.Fatalf("%s: choices %v, want %d", set, v.Choices, s.Fifths)
					}
				}
				seen[s.Step] = true
				legal := p.Legal(nil)
				m := legal[rng.IntN(len(legal))]
				seen[strings.TrimRight(p.Format(m), "0123456789")] = true
				if err := p.Play(m); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, want := range []string{"swap", "stay"} {
			if !seen[want] {
				t.Errorf("%s: never %s", set, want)
			}
		}
	}
}

// TestSwap: sides follow the colours.
func TestSwap(t *testing.T) {
	v := check(t, replay(t, "gomoku/freestyle-15+swap2", "", "h8", "h9", "h10", "swap"))
	if v.Sides != [2]string{"white", "black"} || *v.Turn != game.First {
		t.Errorf("sides %v, %v to act", v.Sides, v.Turn)
	}
	v = check(t, replay(t, "gomoku/freestyle-15+swap2", "", "h8", "h9"))
	if s := v.Stage; s == nil || s.Left != 1 || s.Stone != 3 || s.Reach != nil || s.Step != "put-three" {
		t.Errorf("stage %+v", s)
	}
	v = check(t, replay(t, "gomoku/renju-15+soosyrv-8", "", "h8"))
	if s := v.Stage; s == nil || s.Left != 2 || s.Reach == nil || *s.Reach != 1 || len(v.Moves) != 8 {
		t.Errorf("stage %+v", s)
	}
}

// TestRow: the stones that have won, also where the winner holds the other colour.
func TestRow(t *testing.T) {
	for _, c := range []struct {
		rules, moves, want string
	}{
		{"gomoku/freestyle-15", "a1 b1 a2 b2 a3 b3 a4 b4", ""},
		{"gomoku/freestyle-15", "a1 b1 a2 b2 a3 b3 a5 b4 a6 c1 a4", "a1 a2 a3 a4 a5 a6"},
		{"gomoku/freestyle-15+swap2", "e5 a1 f6 put-two b2 g7 swap o1 h8 o3 i9", "e5 f6 g7 h8 i9"},
		{"gomoku/renju-15", "h8 a1 h9 b1 h10 c1 o15 d1 o13 e1", "a1 b1 c1 d1 e1"},
		{"gomoku/renju-15", "a1 o15 b1 o14 c1 o12 e1 o11 f1 n9 d1", ""},
	} {
		v := check(t, replay(t, c.rules, "", strings.Fields(c.moves)...))
		slices.Sort(v.Row)
		if got := strings.Join(v.Row, " "); got != c.want {
			t.Errorf("%s: the row %s of %v, want %s", c.moves, got, v.Outcome, c.want)
		}
	}
	v := of(t, replay(t, "gomoku/standard-15", "15/15/15/15/15/15/15/15/15/15/15/15/ooo12/15/4xxxxx6 w"))
	if len(v.Row) != 5 || v.Row[0] != "e1" {
		t.Errorf("a row that was set up: %v of %v", v.Row, v.Outcome)
	}
}

// TestContinuous: dead stones and the score.
func TestContinuous(t *testing.T) {
	v := check(t, replay(t, "gomoku/continuous-15", "", "a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4", "a5"))
	if v.Score == nil || *v.Score != [2]int{1, 0} || v.Pieces["a3"] != "#" || v.Pieces["b4"] != "o" {
		t.Errorf("score %v, pieces %v", v.Score, v.Pieces)
	}
	if v := of(t, replay(t, "gomoku/freestyle-15", "")); v.Score != nil {
		t.Errorf("score %v under freestyle", v.Score)
	}
}

// TestSizes holds the bytes of a view.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		rules             string
		plain, compressed int
	}{
		{"amazons/10x10", 22500, 7000},
		{"xiangqi/wxf", 1000, 500},
		{"gomoku/freestyle-15", 1600, 550},
	} {
		plain, compressed := sizes(t, of(t, replay(t, c.rules, "")))
		t.Logf("%s: %d bytes, %d compressed", c.rules, plain, compressed)
		if plain > c.plain || compressed > c.compressed {
			t.Errorf("%s: %d bytes, %d compressed; want at most %d, %d", c.rules, plain, compressed, c.plain, c.compressed)
		}
	}
}

// blind is a position of a game that has no picture.
type blind struct{ game.Position }

// TestNoPicture: a clear error.
func TestNoPicture(t *testing.T) {
	v, err := view.Of(blind{replay(t, "xiangqi/wxf", "")})
	if !errors.Is(err, view.ErrNoPicture) || v != nil || !strings.Contains(err.Error(), "xiangqi") {
		t.Errorf("%v, %v", v, err)
	}
}

// TestReadBack: a view survives JSON.
func TestReadBack(t *testing.T) {
	v := of(t, replay(t, "gomoku/renju-15+soosyrv-8", "", "h8", "h9"))
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var again view.View
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if again.Stage == nil || *again.Stage.Reach != 2 || *again.Turn != game.First || again.Sides != v.Sides {
		t.Errorf("%s is read as %+v", text, again)
	}
}

// TestPictureTells: moves that are told are drawn on their points, and nothing else is.
func TestPictureTells(t *testing.T) {
	v, err := view.Still(replay(t, "amazons/10x10", ""))
	if err != nil {
		t.Fatal(err)
	}
	plain := string(view.Picture(v, "start"))
	told := string(view.Picture(v, "start", view.Told{Move: "d1d7/g7", Kind: "mistake"}, view.Told{Move: "z9", Kind: "best"}))
	added := strings.TrimPrefix(told, strings.TrimSuffix(plain, "</svg>"))
	const want = `<g transform="translate(140 380)"><path class="arrow told mistake" transform="rotate(-90)" d="M12 -3.5H219V-9L232 0L219 9V3.5H12Z"/></g>` +
		`<g transform="translate(140 140)"><path class="arrow told mistake" transform="rotate(0)" d="M12 -3.5H99V-9L112 0L99 9V3.5H12Z"/></g></svg>`
	if added != want {
		t.Errorf("drawn: %s", added)
	}
	if stone, err := view.Still(replay(t, "gomoku/freestyle-15", "", "h8")); err != nil || !strings.Contains(string(view.Picture(stone, "", view.Told{Move: "a1", Kind: "best"})), `<g class="told best"><circle r="18.5"/>`) {
		t.Errorf("a stone is not told: %v", err)
	}
}
