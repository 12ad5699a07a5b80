package sgf

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/format/formattest"
)

// setups are start positions other than the usual.
var setups = map[string][]string{
	"gomoku/freestyle-15":  {"", "15/15/15/15/15/15/15/6xo7/7x7/15/15/15/15/15/15 w"},
	"gomoku/freestyle-20":  {""},
	"gomoku/renju-15":      {""},
	"gomoku/continuous-15": {""},
	// The choices of opening procedures: swapped colours, offers, ....
	"gomoku/freestyle-15+swap2":            {""},
	"gomoku/renju-15+rif":                  {""},
	"gomoku/renju-15+soosyrv-8":            {""},
	"gomoku/renju-15+taraguchi-10":         {""},
	"gomoku/renju-15+yamaguchi-12":         {""},
	"gomoku/renju-15+ccgc-2":               {""},
	"xiangqi/simple":                       {"", "4k4/9/9/9/9/9/9/9/4R4/4K4 b - - 0 1"},
	"xiangqi/wxf":                          {""},
	"xiangqi/cxa+limit=100+handicap=horse": {""},
	"amazons/10x10":                        {"", "3q2q3/10/10/q8q/10/4*5/Q8Q/10/10/3Q2Q3 b"},
	"amazons/6x6":                          {""},
	"amazons/5x4":                          {"1q3/5/3*1/2Q2 w"},
}

func TestRoundTrip(t *testing.T) {
	var all []*record.Record
	for rules, positions := range setups {
		for _, position := range positions {
			for seed := range uint64(5) {
				all = append(all, formattest.Random(t, rules, position, seed, 20*int(seed+1)*int(seed+1)))
			}
		}
	}
	for _, charset := range []format.Charset{format.UTF8, format.GBK} {
		back := formattest.RoundTrip(t, Format(), format.WriteOptions{Charset: charset}, all...)
		for i, want := range all {
			got := back[i]
			if got.Event != want.Event || got.Place != want.Place || got.Clock != want.Clock || got.Reason != want.Reason ||
				!got.Start.Equal(want.Start.Truncate(24*time.Hour)) {
				t.Errorf("%s: got %s, %s, %s, %s, %s", want.Rules, got.Event, got.Place, got.Clock, got.Reason, got.Start)
			}
			if got.Seats[1].Player != "bob-2" || got.Seats[1].Display != "北理工 二队" {
				t.Errorf("seat second: %+v", got.Seats[1])
			}
			for j := range want.Plies {
				g, w := got.Plies[j], want.Plies[j]
				if g.UsedMS != w.UsedMS || g.LeftMS != w.LeftMS || g.Comment != w.Comment || !reflect.DeepEqual(g.Think, w.Think) {
					t.Fatalf("%s ply %d: %+v (%+v), want %+v (%+v)", want.Rules, j+1, g, g.Think, w, w.Think)
				}
			}
		}
	}
}

func TestSetUp(t *testing.T) {
	for _, rules := range []string{"gomoku/freestyle-15", "gomoku/freestyle-15+swap2", "xiangqi/wxf", "amazons/6x6"} {
		formattest.SetUp(t, Format(), format.WriteOptions{}, rules)
	}
}

func TestClocks(t *testing.T) {
	for _, text := range []string{"unlimited", "300", "10+0.1", "0+2", "60/5x10", "0/3x30", "5/move"} {
		c, err := clock.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r := formattest.Random(t, "gomoku/freestyle-15", "", 1, 6)
		r.Clock = c
		if back := formattest.RoundTrip(t, Format(), format.WriteOptions{}, r); back[0].Clock != c {
			t.Errorf("%s comes back as %s", text, back[0].Clock)
		}
	}
}

func TestResults(t *testing.T) {
	for _, x := range []struct {
		result game.Result
		reason game.Reason
		want   string
	}{
		{game.FirstWins, "resign", "B+R"}, {game.SecondWins, "time", "W+T"}, {game.FirstWins, "abandoned", "B+F"},
		{game.SecondWins, "", "W+"}, {game.Draw, "", "Draw"}, {game.Undecided, "", "?"}, {game.Undecided, "void", "Void"},
	} {
		r := formattest.Random(t, "gomoku/freestyle-15", "", 1, 6)
		r.Result, r.Reason = x.result, x.reason
		text, err := write([]*record.Record{r}, format.WriteOptions{})
		if err != nil || !strings.Contains(text, "RE["+x.want+"]") {
			t.Errorf("%s %s: want RE[%s] in %s, %v", x.result, x.reason, x.want, text, err)
		}
		if back := formattest.RoundTrip(t, Format(), format.WriteOptions{}, r)[0]; back.Reason != x.reason {
			t.Errorf("RE[%s]: reason %q, want %q", x.want, back.Reason, x.reason)
		}
	}
}

// variant is what a file of testdata has.
type variant struct {
	games  int
	rules  string
	moves  string // of the first game
	result game.Result
	names  [2]string
}

// variants are the hand-written files of testdata; each says which clause of
// the specification it shows.
var variants = map[string]variant{
	"amazons-specification.sgf": {1, "amazons/10x10", "d1d7/g7 a7d4/a7 g1e3/e10", game.Undecided, [2]string{"", ""}},
	"gomoku-variations.sgf":     {1, "gomoku/freestyle-15", "h8 i9 h9", game.FirstWins, [2]string{"Ann [1]", "Bob\\"}},
	"gomoku-collection.sgf":     {2, "gomoku/freestyle-19", "j10", game.Undecided, [2]string{"", ""}},
	"gomoku-old.sgf":            {1, "gomoku/freestyle-15", "h8 g7", game.SecondWins, [2]string{"a", "b"}},
	"gomoku-setup.sgf":          {1, "gomoku/freestyle-15", "h11", game.Undecided, [2]string{"", ""}},
	"gomoku-one-node.sgf":       {1, "gomoku/freestyle-15", "h8 i9 g6", game.Draw, [2]string{"Qi", "Yi"}},
	// As the game server of renju.net exports: GM[5], and properties with digits.
	"renju-orc.sgf": {1, "gomoku/renju-15", "h8 h9 j9 i9 i8 g8", game.SecondWins, [2]string{"b", "a"}},
	// Black may not play the only point that stops the five.
	"renju-forced-forbidden.sgf": {1, "gomoku/renju-15", "h8 i8 j10 i7 h9 i6 j9 i5 i4 a15 b1 i9", game.SecondWins, [2]string{"a", "b"}},
	"xiangqi-red-is-b.sgf":       {1, "xiangqi/wxf", "h2e2 h9g7", game.FirstWins, [2]string{"红", "黑"}},
	"xiangqi-fen.sgf":            {1, "xiangqi/wxf", "e1e8", game.Undecided, [2]string{"", ""}},
}

func TestVariants(t *testing.T) {
	formattest.Variants(t, Format(), variants, func(t *testing.T, games []*record.Record, want variant) {
		r := games[0]
		if len(games) != want.games || strings.TrimSuffix(r.Rules, "+limit=none") != want.rules || formattest.Moves(r) != want.moves || r.Result != want.result {
			t.Errorf("%d games, %s, %v, %s", len(games), r.Rules, formattest.Moves(r), r.Result)
		}
		if names := [2]string{format.Name(r.Seats[0]), format.Name(r.Seats[1])}; names != want.names {
			t.Errorf("players %q", names)
		}
	})
}

// TestRulesByWords: RU, the name of the game or of the event says by what rules it was played, and
// which game it is where GM does not.
func TestRulesByWords(t *testing.T) {
	for root, want := range map[string]string{
		"GM[4]RU[RIF]": "renju-15", "GM[4]RU[Yamaguchi]": "renju-15", "GM[4]RU[Soosõrv-8]": "renju-15", "GM[4]RU[Taraguchi-10]": "renju-15",
		"GM[4]RU[Tarannikov]": "renju-15", "GM[4]RU[renju]": "renju-15", "GM[4]RU[五手两打]": "renju-15", "GM[4]GN[a-b(B) : Yamaguchi rule]": "renju-15",
		"GM[4]EV[Renju World Championship]": "renju-15", "GM[4]RU[standard]": "standard-15", "GM[4]RU[freestyle]EV[Renju Open]": "freestyle-15",
		"GM[4]": "freestyle-15", "GM[4]RU[无禁手]": "freestyle-15", "GM[4]EV[terrific]": "freestyle-15",
		"GM[4]PB[renju fan]PW[x]GN[renju fan-x : Gomoku rule]": "freestyle-15", "GM[4]GN[a-b(B) : Gomoku rule]EV[Renju club]": "freestyle-15",
		"GM[5]GN[a-b(B) : RIF rule]": "renju-15", "GM[1]RU[Soosyrv]": "renju-15", "GN[a-b(B) : Gomoku rule]": "freestyle-15", "RU[RIF]": "renju-15",
	} {
		games, err := formattest.All(read("(;"+root+"5A[jj]SW[NO]X_1[a][b];B[hh];W[hg])", format.ReadOptions{}))
		if err != nil || len(games) != 1 || games[0].Rules != "gomoku/"+want || len(games[0].Plies) != 2 {
			t.Errorf("%s: %+v, %v, want %s", root, games, err, want)
		}
	}
	for _, gm := range []string{"", "GM[1]", "GM[5]", "GM[99]"} {
		games, err := formattest.All(read("(;"+gm+";B[hh];W[hg])", format.ReadOptions{Rules: "gomoku/renju-15"}))
		if err != nil || games[0].Rules != "gomoku/renju-15" {
			t.Errorf("%q with the rules given: %v", gm, err)
		}
	}
	if _, err := formattest.All(read("(;GM[7];B[hh])", format.ReadOptions{Rules: "gomoku/renju-15"})); err == nil {
		t.Error("a game of Xiangqi is read under rules of Gomoku")
	}
}

// TestCharset: CA is found in the bytes of a file, wherever its first game has it.
func TestCharset(t *testing.T) {
	for text, want := range map[string]string{
		"(;FF[4]CA[Big5]GM[4];B[hh])": "Big5", "x (\n;GM[4]C[a]\n CA [ gbk ];B[hh])": "gbk", "(;CA[Shift_JIS])": "Shift_JIS",
		"(;GM[4];B[hh])": "", "(;GM[4]LOCA[x];B[hh])": "", "[CA \"x\"]": "", "(;GM[4]CA[];B[hh])": "",
	} {
		if got := charset([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// damaged are invalid files, and the expected errors.
var damaged = []formattest.Broken{
	{"", "sgf, line 1, column 1: syntax: no game"},
	{"(;GM[4]SZ[15];B[hh]", "line 1, column 1: syntax: the game has no end: 1 ) missing"},
	{"(;GM[4]SZ[15];B[hh", "line 1, column 16: syntax: a value without its ]"},
	{"(;GM[4]\nSZ[99];B[hh])", "line 2, column 4: syntax: SZ[99]"},
	{"(;GM[4]SZ[15];B[hh]C[a\\", "line 1, column 21: syntax: a value without its ]"},
	{"(;GM[4]SZ[0];B[hh])", "SZ[0]: want a board of 1 to 26"},
	{"(;GM[4]SZ[x];B[hh])", "SZ[x]: want a board of 1 to 26"},
	{"(;GM[18]SZ[6:-6];B[aabbcc])", "SZ[6:-6]: want a board of 1 to 26"},
	{"(;GM[18]SZ[6:];B[aabbcc])", "SZ[6:]: want a board of 1 to 26"},
	{"(;GM[4]SZ[15]AB[cc:aa];W[hh])", "\"cc:aa\" is not a point of a board of 15x15"},
	{"(;GM[4]SZ[15]AB[aa:ap];W[hh])", "\"aa:ap\" is not a point of a board of 15x15"},
	{"(;GM[4]SZ[15]AB[a];W[hh])", "\"a\" is not a point of a board of 15x15"},
	{"(;GM[4]SZ[15];B[ph])", "ply 1: syntax: \"ph\" is not a point"},
	{"(;GM[4]SZ[15];B[Hh])", "ply 1: syntax: \"Hh\" is not a point"},
	{"(;GM[1]SZ[19];B[dd])", "line 1, column 6: syntax: GM[1]: want 4"},
	{"(;SZ[15];B[hh])", "no GM"},
	{"(;GM[4]SZ[15];B[hh];W[hh])", "line 1, column 23, ply 2: illegal move"},
	{"(;GM[4]SZ[15];B[hh];B[hi])", "ply 2: illegal move: a move of B, but W is to move"},
	{"(;GM[4]SZ[15];B[hz])", "ply 1: syntax: \"hz\" is not a point"},
	{"(;GM[4]SZ[15];B[])", "ply 1: syntax: move \"\": want 2 letters"},
	{"(;GM[4]SZ[15];B[hh]W[hi]W[hg])", "line 1, column 27, ply 3: illegal move"},
	{"(;GM[4]SZ[15]\n;B[hh]\n;W hi)", "line 3, column 2: syntax: property W has no value"},
	{"(;GM[4]SZ[15];B[hh] & ;W[ii])", "'&': want a node or a property"},
	{"(;GM[4]SZ[15](B[hh]))", "a property outside of a node"},
	{"(;GM[4]RU[gomoku/nonsense-15];B[hh])", "unknown rules"},
	{"(;GM[4]SZ[15]AB[zz];B[hh])", "column 17: syntax: \"zz\" is not a point of a board of 15x15"},
	{"(;GM[4]SZ[40];B[hh])", "want a board of 1 to 26"},
	{"(;GM[4]SZ[13];B[hh])", "no rule set of gomoku fits a board of 13x13"},
	{"(;GM[4]SZ[1];W[])", "no rule set of gomoku fits a board of 1x1"},
	{"(;GM[18]SZ[99:1];W[])", "want a board of 1 to 26"},
	{"(;GM[18]SZ[3];W[])", "amazons"},
	{"(;GM[18];B[djddgd];W[aaaaaa])", "ply 2: illegal move"},
	{"(;GM[18];B[djdd])", "want 6 letters"},
	{"(;GM[7]FEN[9/9/9 w];W[hheh])", "column 12: FEN"},
	{"(;GM[7];W[hheh];B[hheh])", "ply 2: illegal move"},
	{"(;GM[4]SZ[15];B[hh])(;GM[4]SZ[15];B[hh];W[hh])", "sgf, game 2, line 1, column 43, ply 2: illegal move"},
	{"(;GM[4]SZ[15];B[ad];W[aa];B[bd];W[ba];B[cd];W[ca];B[dd];W[da];B[ed];W[ea])", "ply 10: game is over under gomoku/freestyle-15: first (five)"},
}

func TestDamaged(t *testing.T) { formattest.Refuses(t, Format(), damaged) }

func TestCannot(t *testing.T) {
	for _, position := range []string{
		"15/15/15/15/15/15/15/6xo7/7x7/15/15/15/15/15/15 w rows=1:0",
		"#####10/15/15/15/15/15/15/6xo7/7x7/15/15/15/15/15/15 w rows=1:0",
	} {
		r := formattest.Random(t, "gomoku/continuous-15", position, 1, 6)
		if _, err := write([]*record.Record{r}, format.WriteOptions{}); !errors.Is(err, format.ErrCannot) {
			t.Errorf("%s: %v", position, err)
		}
	}
	r := formattest.Random(t, "gomoku/freestyle-15", "", 1, 6)
	r.Plies[3].Move = r.Plies[2].Move
	if _, err := write([]*record.Record{r}, format.WriteOptions{}); !errors.Is(err, game.ErrIllegal) || !strings.Contains(err.Error(), "ply 4") {
		t.Errorf("an illegal move is written: %v", err)
	}
}

// TestText: all that a file says of a game.
func TestText(t *testing.T) {
	r := &record.Record{
		ID: "g1", Game: "gomoku", Rules: "gomoku/freestyle-15", Seats: [2]record.Seat{{Player: "ann"}, {Player: "bob", Display: "Bob]"}},
		Result: game.SecondWins, Reason: "time", Start: time.Date(2024, 7, 11, 2, 0, 0, 0, time.UTC), Place: "place", Event: "event", Text: "about",
		Plies: []record.Ply{
			{Move: "h8", LeftMS: 61500, Periods: 3, Think: &record.Think{Score: 25, Depth: 9}},
			{Seat: game.Second, Move: "i9", UsedMS: 1500, Think: &record.Think{Score: 40, Depth: 8}, Comment: "good"},
			{Move: "h9"},
		},
	}
	var err error
	if r.Clock, err = clock.Parse("60/5x10"); err != nil {
		t.Fatal(err)
	}
	const want = "(;FF[4]GM[4]CA[%s]AP[Sparring:1]RU[gomoku/freestyle-15]EV[event]PC[place]DT[2024-07-11]TM[60]OT[5x10 byo-yomi]GN[g1]GC[about]SZ[15]" +
		"PB[ann]PW[Bob\\]]WP[bob]RE[W+T]\n;B[hh]BL[61.5]OB[3]V[25]C[[%%eval 0.25,9\\]];W[ig]V[-40]C[[%%eval -0.40,8\\] [%%emt 1.5\\] good];B[hg])\n"
	for charset, name := range map[format.Charset]string{format.UTF8: "UTF-8", format.GBK: "GB18030"} {
		text, err := write([]*record.Record{r}, format.WriteOptions{Charset: charset})
		if err != nil || text != fmt.Sprintf(want, name) {
			t.Errorf("%s, %v", text, err)
		}
		back, err := formattest.All(read(text, format.ReadOptions{}))
		if err != nil || len(back) != 1 || back[0].Text != r.Text || back[0].Plies[0].Periods != 3 || back[0].Plies[1].Periods != 0 {
			t.Errorf("it is read as %+v, %v", back, err)
		}
	}
}

// TestEscapes: a backslash stands before a character that means itself, or before a line end,
// of any system, that does not count.
func TestEscapes(t *testing.T) {
	for escaped, want := range map[string]string{
		`a\]b`: "a]b", `a\\`: `a\`, `\a\:`: "a:", "a\\\nb": "ab", "a\\\r\nb": "ab", "a\\\n\rb": "ab", "a\\\rb": "ab", "a\\\n\nb": "a b", "a\nb": "a b",
	} {
		games, err := formattest.All(read("(;GM[4]SZ[15];B[hh]C["+escaped+"])", format.ReadOptions{}))
		if err != nil || len(games) != 1 || games[0].Plies[0].Comment != want {
			t.Errorf("%q: %+v, want %q: %v", escaped, games, want, err)
		}
	}
}

// TestTurn: the colour that PL names, or else that of the first move, begins.
func TestTurn(t *testing.T) {
	for text, want := range map[string]string{
		"": "", ";B[hh]": "", "PL[b];B[hh]": "", "PL[W]": "w", "PL[white];W[hh]": "w", ";W[hh]": "w", "PL[?];W[hh]": "w",
		"AB[aa]": "b", "AB[aa]PL[W]": "w", "AB[aa:ba]AW[ac];W[hh]": "w",
	} {
		games, err := formattest.All(read("(;GM[4]SZ[15]"+text+")", format.ReadOptions{}))
		if err != nil || len(games) != 1 {
			t.Errorf("%s: %+v, %v", text, games, err)
			continue
		}
		_, turn, _ := strings.Cut(games[0].Position, " ")
		if turn != want {
			t.Errorf("%s: %q begins, want %q", text, turn, want)
		}
	}
}

// TestDepth: variations may be nested to any depth.
func TestDepth(t *testing.T) {
	const depth = 100_000
	text := "(;GM[4]SZ[15];B[hh]" + strings.Repeat("(;C[x]", depth) + strings.Repeat(")", depth) + ")"
	games, err := formattest.All(read(text, format.ReadOptions{}))
	if err != nil || len(games[0].Plies) != 1 {
		t.Fatalf("%v", err)
	}
}

func TestRulesGiven(t *testing.T) {
	games, err := formattest.All(read("(;GM[1]SZ[15];B[hh];W[gg])", format.ReadOptions{Rules: "gomoku/freestyle-15"}))
	if err != nil || games[0].Game != "gomoku" || len(games[0].Plies) != 2 {
		t.Fatalf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	formattest.Fuzz(f, Format(), damaged, slices.Sorted(maps.Keys(variants)))
}
