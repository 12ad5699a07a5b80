package convert

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/record"
)

// random plays n random moves, or to the end, and records them.
func random(t *testing.T, rules, position string, n int, rng *rand.Rand) *record.Record {
	t.Helper()
	s, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.New(position)
	if err != nil {
		t.Fatal(err)
	}
	r := &record.Record{
		ID: "g", Game: s.Game, Rules: s.Name, Position: position,
		Clock:  clock.Spec{Kind: clock.Fischer, Initial: time.Minute, Increment: time.Second},
		Event:  "杯赛 [2026]; \"final\"",
		Place:  "北京",
		Start:  time.Date(2026, 11, 21, 16, 30, 0, 0, time.UTC),
		Source: record.Source{By: record.ByArena},
		Seats:  [2]record.Seat{{Player: "ann", Display: "安"}, {Player: "bob \\ ]}"}},
	}
	for range n {
		moves := p.Legal(nil)
		if len(moves) == 0 {
			break
		}
		m := moves[rng.IntN(len(moves))]
		r.Plies = append(r.Plies, record.Ply{Seat: p.Turn(), Move: p.Format(m)})
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
	}
	if out := p.Outcome(); out.Over() {
		r.Result, r.Reason = out.Result, out.Reason
	} else {
		r.Result = game.Result(rng.IntN(4))
		if r.Game == "amazons" && r.Result == game.Draw {
			r.Result = game.SecondWins
		}
	}
	return r
}

func moves(r *record.Record) (texts []string) {
	for _, p := range r.Plies {
		texts = append(texts, p.Seat.String()+" "+p.Move)
	}
	return texts
}

// TestRoundTrip: every format keeps moves, result and players of every game
// that it can hold.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		rules, position string
		formats         []Format
	}{
		{"amazons/10x10", "", []Format{SGF, CCGC}},
		{"amazons/6x6", "", []Format{SGF}},
		{"amazons/5x4", "1q1q1/q3q/Q3Q/1Q1Q1 b", []Format{SGF}},
		{"gomoku/freestyle-15", "", []Format{SGF, PSQ, CCGC}},
		{"gomoku/freestyle-20", "", []Format{SGF, PSQ}},
		{"gomoku/renju-15", "", []Format{SGF, CCGC}},
		{"gomoku/renju-15+swap2", "", []Format{SGF}},
		{"gomoku/renju-15+rif", "", []Format{SGF}},
		{"gomoku/renju-15+taraguchi-10", "", []Format{SGF}},
		{"gomoku/renju-15+ccgc-2", "", []Format{SGF}},
		{"gomoku/freestyle-15", "15/15/15/15/15/15/15/7x7/8o6/15/15/15/15/15/15 w", []Format{SGF}},
		{"xiangqi/simple", "", []Format{SGF, PGN}},
		{"xiangqi/simple", "4k4/9/9/9/9/9/9/3R5/9/3K5 w", []Format{SGF, PGN}},
	} {
		for range 8 {
			r := random(t, c.rules, c.position, rng.IntN(70), rng)
			for _, f := range c.formats {
				checkRoundTrip(t, r, f, nil)
				checkRoundTrip(t, r, f, simplifiedchinese.GBK.NewEncoder().Bytes)
			}
		}
	}
}

func checkRoundTrip(t *testing.T, r *record.Record, f Format, encode func([]byte) ([]byte, error)) {
	t.Helper()
	text, err := Export(r, f)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Rules, f, err)
	}
	if encode != nil {
		if text, err = encode(text); err != nil {
			t.Fatal(err)
		}
	}
	back, err := Import(text)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", r.Rules, f, err, text)
	}
	if len(back) != 1 {
		t.Fatalf("%s %s: %d games\n%s", r.Rules, f, len(back), text)
	}
	b := back[0]
	if !reflect.DeepEqual(moves(b), moves(r)) {
		t.Errorf("%s %s: moves %v, want %v\n%s", r.Rules, f, moves(b), moves(r), text)
	}
	if b.Result != r.Result || r.Reason != "" && b.Reason != r.Reason {
		t.Errorf("%s %s: result %v %s, want %v %s\n%s", r.Rules, f, b.Result, b.Reason, r.Result, r.Reason, text)
	}
	if b.Rules != r.Rules && !(f == CCGC && r.Game == "gomoku") {
		t.Errorf("%s %s: read as %s", r.Rules, f, b.Rules)
	}
	if b.Seats[0].Display != name(r.Seats[0]) || f != CCGC && b.Seats[1].Display != r.Seats[1].Player {
		t.Errorf("%s %s: players %+v\n%s", r.Rules, f, b.Seats, text)
	}
	if f == SGF || f == PGN {
		if b.Event != r.Event || b.Place != r.Place || b.Clock != r.Clock || !b.Start.Truncate(24*time.Hour).Equal(r.Start.Truncate(24*time.Hour)) {
			t.Errorf("%s %s: event %q place %q clock %v start %v\n%s", r.Rules, f, b.Event, b.Place, b.Clock, b.Start, text)
		}
	}
	if f == CCGC && !b.Start.Equal(r.Start) {
		t.Errorf("start %v, want %v\n%s", b.Start, r.Start, text)
	}
	if _, err := record.Encode(b); err != nil {
		t.Errorf("%s %s: the imported record is not valid: %v", r.Rules, f, err)
	}
}

func name(s record.Seat) string {
	if s.Display != "" {
		return s.Display
	}
	return s.Player
}

// TestExact pins one small game of each format to the letter.
func TestExact(t *testing.T) {
	amazons := &record.Record{ID: "g", Game: "amazons", Rules: "amazons/10x10", Result: game.SecondWins, Reason: "time",
		Event: "2024", Place: "北京", Start: time.Date(2024, 7, 11, 2, 0, 0, 0, time.UTC),
		Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}},
		Plies: []record.Ply{{Seat: 0, Move: "d1d7/g7", LeftMS: 61500}, {Seat: 1, Move: "d10d8/g5", Comment: "why?"}, {Seat: 0, Move: "a4a5/b5"}}}
	gomoku := &record.Record{ID: "g", Game: "gomoku", Rules: "gomoku/freestyle-15", Result: game.Draw,
		Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}},
		Plies: []record.Ply{{Seat: 0, Move: "h8", UsedMS: 12}, {Seat: 1, Move: "i9"}, {Seat: 0, Move: "a15"}}}
	xiangqi := &record.Record{ID: "g", Game: "xiangqi", Rules: "xiangqi/simple", Result: game.FirstWins, Reason: "resign",
		Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}},
		Plies: []record.Ply{{Seat: 0, Move: "h2e2"}, {Seat: 1, Move: "h9g7", Comment: "good"}, {Seat: 0, Move: "h0g2"}}}
	for _, c := range []struct {
		r    *record.Record
		f    Format
		want string
	}{
		{amazons, CCGC, "#[AM][a][b][后手胜][2024.07.11 10:00 北京][2024];\r\n1 d1d7(g7) d10d8(g5)\r\n2 a4a5(b5)\r\n"},
		{amazons, SGF, "(;FF[4]CA[UTF-8]AP[sparring]GM[18]SZ[10]RU[amazons/10x10]PB[a]PW[b]EV[2024]PC[北京]DT[2024-07-11]RE[W+T]\n;B[djddgd]BL[61.5]\n;W[dadcgf]C[why?]\n;B[agafbf])\n"},
		{gomoku, CCGC, "{[C5][a][b][平局][][];B(h,8);W(i,9);B(a,15)}\r\n"},
		{gomoku, PSQ, "Piskvorky 15x15, 0:0, 0\r\n8,8,12\r\n9,7,0\r\n1,1,0\r\na\r\nb\r\n-1\r\n; result draw\r\n"},
		{gomoku, SGF, "(;FF[4]CA[UTF-8]AP[sparring]GM[4]SZ[15]RU[gomoku/freestyle-15]PB[a]PW[b]RE[Draw]\n;B[hh]\n;W[ig]\n;B[aa])\n"},
		{xiangqi, PGN, "[Game \"Chinese Chess\"]\r\n[Red \"a\"]\r\n[Black \"b\"]\r\n[Result \"1-0\"]\r\n[Termination \"resign\"]\r\n[TimeControl \"unlimited\"]\r\n[Rules \"xiangqi/simple\"]\r\n[Format \"ICCS\"]\r\n\r\n1. H2-E2 H9-G7 {good} 2. H0-G2 1-0\r\n"},
		{xiangqi, SGF, "(;FF[4]CA[UTF-8]AP[sparring]GM[7]SZ[9:10]RU[xiangqi/simple]PB[a]PW[b]RE[B+R]\n;B[hheh]\n;W[hagc]C[good]\n;B[hjgh])\n"},
	} {
		got, err := Export(c.r, c.f)
		if err != nil || string(got) != c.want {
			t.Errorf("%s %s: %v\n%q, want\n%q", c.r.Game, c.f, err, got, c.want)
		}
	}
	back, err := Import([]byte("(;GM[18]PB[a]PW[b];B[djddgd]BL[61.5];W[dadcgf]C[why?]RE[W+T])"))
	if err != nil || back[0].Plies[0].LeftMS != 61500 || back[0].Plies[1].Comment != "why?" {
		t.Errorf("%v %+v", err, back)
	}
}

// TestVariants reads what other programs write.
func TestVariants(t *testing.T) {
	const twoAmazons = "first d1d7/g7, second d10d8/g5"
	for _, c := range []struct {
		name, text string
		moves      string
		result     game.Result
		players    [2]string
		start      string
	}{
		{"ccgc amazons", "#[AM][红队][蓝队][先手胜][2024.07.11 10:00 北京][2024 CCGC];\r\n1 d1d7(g7) d10d8(g5)\r\n", twoAmazons, game.FirstWins, [2]string{"红队", "蓝队"}, "2024-07-11 02:00"},
		{"capitals, dots, no semicolon", "#[AM][a][b][后手胜][2024-7-1 09:05:10 x][y]\n1. D1D7(G7) D10D8(G5)", twoAmazons, game.SecondWins, [2]string{"a", "b"}, "2024-07-01 01:05"},
		{"full width", "＃[AM][a][b][平局][2024/07/11][y]；1 d1d7（g7） d10d8（g5）", twoAmazons, game.Draw, [2]string{"a", "b"}, "2024-07-10 16:00"},
		{"no numbers, result not filled in", "#[AM][a][b][先/后手胜][][];d1d7(g7)\nd10d8(g5)\n", twoAmazons, game.Undecided, [2]string{"a", "b"}, ""},
		{"other move forms", "#[AM][a][b][先手胜];1 d1-d7-g7 d10d8/g5", twoAmazons, game.FirstWins, [2]string{"a", "b"}, ""},
		{"gomoku", "{[C5][队 B][队 W][先手胜][2017.07.29 14:00 重庆][2017 CCGC];B(H,8);W(i,9);B(J,10)}", "first h8, second i9, first j10", game.FirstWins, [2]string{"队 B", "队 W"}, "2017-07-29 06:00"},
		{"gomoku, doubled brackets", "{{C5}[a][b][后手胜][2017.07.29 14:00 x][y];B(h,08);W(I , 9)MARK[1];}", "first h8, second i9", game.SecondWins, [2]string{"a", "b"}, "2017-07-29 06:00"},
		{"gomoku, doubled square brackets", "{[[C5]][a][b][先手负][2020-1-2 14:00 x][y]\nB(h,8);\nW(i,9)\n}", "first h8, second i9", game.SecondWins, [2]string{"a", "b"}, "2020-01-02 06:00"},
		{"psq by Piskvork", "Piskvorky 20x20, 11:11, 0\n10,4,0\n11,5,1203\npela.zip\nother.zip\n-1\n", "first j17, second k16", game.Undecided, [2]string{"pela.zip", "other.zip"}, ""},
		{"psq, the second player opened", "Piskvorky 15x15, 11:11, 1\n1,15\na\nb\n0\n", "first a1", game.Undecided, [2]string{"b", "a"}, ""},
		{"psq without names", "Piskvorky 15x15, 0:0, 0\n8,8,0\n", "first h8", game.Undecided, [2]string{}, ""},
		{"sgf amazons of the standard", "(;GM[18]FF[3]SiZe[10]\n;Black[djddgd];White[dadcgf])", twoAmazons, game.Undecided, [2]string{}, ""},
		{"sgf main line", `(;GM[4]SZ[15]PB[a\]b]PW[w]RE[W+Resign](;B[hh](;W[ig])(;W[aa];B[bb]))(;B[ab]))`, "first h8, second i9", game.SecondWins, [2]string{"a]b", "w"}, ""},
		{"sgf, white opens", "(;GM[4]SZ[15]PB[a]PW[b]RE[B+];W[hh];B[ig])", "second h8, first i9", game.FirstWins, [2]string{"a", "b"}, ""},
		{"sgf with a rectangle", "(;GM[4]SZ[15]AB[aa:bb]AW[oo]PL[W];W[ig])", "second i9", game.Undecided, [2]string{}, ""},
		{"sgf amazons, upper side opens", "(;GM[18];W[dadcgf])", "second d10d8/g5", game.Undecided, [2]string{}, ""},
		{"pgn", "[Game \"Chinese Chess\"]\n[Red \"a\"]\n[Black \"b\"]\n[Date \"2004.12.??\"]\n\n1. h2e2 (1. b2e2 (1. c3c4)) $1 {x {y} h9g7! ; rest of the line\n2.H0-G2 1/2-1/2\n", "first h2e2, second h9g7, first h0g2", game.Draw, [2]string{"a", "b"}, ""},
		{"pgn, black opens", "[FEN \"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b\"]\n[BlackTeam \"t\"]\n[Black \"b\"]\n[Result \"0-1\"]\n1... H9-G7 *", "second h9g7", game.SecondWins, [2]string{"", "t b"}, ""},
	} {
		got, err := Import([]byte(c.text))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %d games, %v", c.name, len(got), err)
			continue
		}
		r := got[0]
		if text := strings.Join(moves(r), ", "); text != c.moves {
			t.Errorf("%s: moves %s, want %s", c.name, text, c.moves)
		}
		if players := [2]string{r.Seats[0].Display, r.Seats[1].Display}; r.Result != c.result || players != c.players {
			t.Errorf("%s: result %v players %q, want %v %q", c.name, r.Result, players, c.result, c.players)
		}
		start := ""
		if !r.Start.IsZero() {
			start = r.Start.UTC().Format("2006-01-02 15:04")
		}
		if start != c.start {
			t.Errorf("%s: start %s, want %s", c.name, start, c.start)
		}
	}
}

func TestSeveralGames(t *testing.T) {
	for name, text := range map[string]string{
		"sgf": "(;GM[4]SZ[15];B[hh])\n(;GM[18];B[djddgd])",
		"pgn": "[Red \"a\"]\n1. h2e2 *\n\n[Red \"b\"]\n\n1. b2e2 1-0\n",
	} {
		got, err := Import([]byte(text))
		if err != nil || len(got) != 2 {
			t.Errorf("%s: %d games, %v", name, len(got), err)
			continue
		}
		again, err := Import([]byte(text))
		if err != nil || got[0].ID == got[1].ID || again[1].ID != got[1].ID {
			t.Errorf("%s: ids %s, %s, then %s", name, got[0].ID, got[1].ID, again[1].ID)
		}
	}
}

func TestImportErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		kind error
		says string
	}{
		{"", ErrFormat, ""},
		{"hello", ErrFormat, "hello"},
		{"\xff\xff\xff", ErrSyntax, "neither UTF-8 nor GBK"},
		{"(;GM[4]SZ[15]\n;B[zz])", ErrSyntax, `line 1, column 1: node 2: move "zz"`},
		{"(;GM[1])", ErrSyntax, "GM[1], want 4"},
		{"(;GM[4]SZ[15]\n;B[hh]", ErrSyntax, "line 1, column 1: a bracket that is never closed"},
		{"(;GM[4]\n;B[hh", ErrSyntax, "line 2, column 3: a value that is never closed"},
		{"(;GM[4]\n;B hh)", ErrSyntax, `line 2, column 2: property "B " without a value`},
		{strings.Repeat("(;", 500), ErrSyntax, "nested deeper"},
		{"(;GM[4]SZ[15];B[hh];W[hh])", game.ErrIllegal, "game 1: ply 2"},
		{"(;GM[18]SZ[10:5];B[aabbcc])", game.ErrPosition, ""},
		{"Piskvorky 15", ErrSyntax, "line 1, column 1"},
		{"Piskvorky 15x16, 1:1, 0\n", ErrSyntax, "a board of 15x16"},
		{"Piskvorky 15x15, 1:1, 0\n8,8,0\n16,1,0\n", ErrSyntax, "line 3, column 1"},
		{"Piskvorky 15x15, 1:1, 0\n8,8,0\n8,8,0\n", game.ErrIllegal, "ply 2"},
		{"{[C5][a][b]}", ErrSyntax, "3 fields"},
		{"{[C5][a][b][先手胜];\nB(h,8);B(i,9)}", ErrSyntax, `line 2, column 8: "B(i,9)", but it is W's turn`},
		{"{[C5][a][b][先手胜];B(h,8);W[i,9]}", ErrSyntax, "want a stone such as B(h,8)"},
		{"{[C5][a][b][先手胜];B(p,8)}", game.ErrSyntax, "ply 1"},
		{"#[AM][a][b][先手胜];1 d1d7(g7) d10d4(g4)", game.ErrIllegal, "ply 2"},
		{"[Red \"a\"]\n1. h2e2 {x", ErrSyntax, "line 2, column 9: a comment without end"},
		{"[Red \"a\"]\n1. h2e2 (1. b2e2", ErrSyntax, "line 2, column 9: a variation without end"},
		{"[Red \"a\"]\n1. h2e2 )", ErrSyntax, "closing bracket"},
		{"[Red a]\n", ErrSyntax, "line 1, column 1"},
		{"[Red \"a\"]\n1. h2h8 *", game.ErrIllegal, "ply 1"},
		{"[FEN \"nonsense\"]\n1. h2e2 *", game.ErrSyntax, "game 1"},
	} {
		_, err := Import([]byte(c.text))
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.60q: %v, want %v saying %q", c.text, err, c.kind, c.says)
		}
	}
}

func TestExportErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		rules, position string
		f               Format
		kind            error
	}{
		{"gomoku/freestyle-15", "", "doc", ErrFormat},
		{"gomoku/freestyle-15", "", PGN, ErrUnsupported},
		{"gomoku/freestyle-19", "", CCGC, ErrUnsupported},
		{"xiangqi/simple", "", CCGC, ErrUnsupported},
		{"xiangqi/simple", "", PSQ, ErrUnsupported},
		{"amazons/8x8", "", CCGC, ErrUnsupported},
		{"amazons/10x10", "", PSQ, ErrUnsupported},
		{"amazons/10x10", "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 b", CCGC, ErrUnsupported},
		{"gomoku/freestyle-15", "15/15/15/15/15/15/15/7x7/15/15/15/15/15/15/15 w", PSQ, ErrUnsupported},
	} {
		r := random(t, c.rules, c.position, 4, rng)
		if _, err := Export(r, c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s as %s: %v, want %v", c.rules, c.f, err, c.kind)
		}
	}
	r := random(t, "gomoku/freestyle-15", "", 4, rng)
	r.Plies[2].Move = r.Plies[1].Move
	if _, err := Export(r, SGF); !errors.Is(err, game.ErrIllegal) || !strings.Contains(err.Error(), "ply 3") {
		t.Errorf("an illegal move: %v", err)
	}
}

// FuzzImport: whatever is read can be written as SGF, and read again.
func FuzzImport(f *testing.F) {
	for _, s := range []string{
		"#[AM][a][b][先手胜][2024.07.11 10:00 x][y];1 d1d7(g7) d10d8(g5)",
		"{[C5][a][b][先手胜][2017.07.29 14:00 x][y];B(H,8);W(i,9)}",
		"Piskvorky 15x15, 11:11, 1\n1,15,7\na\nb\n0\n; result black\n",
		"(;GM[18]SZ[10]AB[aa]AW[jj]AA[bb:cc]PL[W];W[jjjiii]C[x])",
		"(;GM[4]SZ[15]PB[a\\]b](;B[hh];W[ig])(;B[ab]))",
		"(;GM[7];B[hheh];W[hagc])",
		"[Red \"a\"]\n[FEN \"4k4/9/9/9/9/9/9/3R5/9/3K5 w\"]\n1. d2e2 {x} (1. d2d4) e9f9 *",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := Import(data)
		if err != nil {
			return
		}
		for _, r := range records {
			text, err := Export(r, SGF)
			if err != nil {
				t.Fatalf("%q: read but not written: %v", data, err)
			}
			again, err := Import(text)
			if err != nil || len(again) != 1 || !reflect.DeepEqual(moves(again[0]), moves(r)) {
				t.Fatalf("%q: written as %q, read as %v, %v", data, text, again, err)
			}
		}
	})
}
