package pgn

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/game/xiangqi"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/format/formattest"
)

// TestMoves: invalid moves, and their errors.
func TestMoves(t *testing.T) {
	rules, err := catalog.Rules("xiangqi/wxf")
	if err != nil {
		t.Fatal(err)
	}
	start, err := rules.New("")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]error{
		"炮二平": game.ErrSyntax, "Che2": game.ErrSyntax, "炮二平五五": game.ErrSyntax, "炮十平五": game.ErrSyntax, "O-O": game.ErrSyntax,
		"炮三平五": game.ErrIllegal, "前炮平五": game.ErrIllegal, "h2h8": game.ErrIllegal, "C3=5": game.ErrIllegal, "２": game.ErrSyntax,
	} {
		if m, err := parseMove(start.(*xiangqi.Position), text); !errors.Is(err, want) {
			t.Errorf("%q: %d, %v, want %v", text, m, err, want)
		}
	}
}

var notations = []format.Moves{"", format.ICCS, format.WXF, format.Chinese}

func TestRoundTrip(t *testing.T) {
	var all []*record.Record
	for _, position := range []string{"", "4k4/9/9/9/9/9/9/9/4R4/4K4 b - - 0 1", "3akab2/9/4b4/p3p3p/2p6/6P2/P1P1P3P/4C4/9/RN1AKA1NR w - - 3 20"} {
		for seed := range uint64(8) {
			all = append(all, formattest.Random(t, "xiangqi/simple", position, seed, 10+30*int(seed)))
		}
	}
	for _, rules := range []string{"xiangqi/wxf", "xiangqi/cxa+limit=100+handicap=rook"} {
		all = append(all, formattest.Random(t, rules, "", 3, 150))
	}
	for _, moves := range notations {
		for _, charset := range []format.Charset{format.UTF8, format.GBK} {
			back := formattest.RoundTrip(t, Format(), format.WriteOptions{Charset: charset, Moves: moves}, all...)
			for i, want := range all {
				got := back[i]
				if got.Event != want.Event || got.Place != want.Place || got.Clock != want.Clock || got.Reason != want.Reason || !got.Start.Equal(want.Start) {
					t.Errorf("%s, %s, %s, %s, %s", got.Event, got.Place, got.Clock, got.Reason, got.Start)
				}
				if got.Seats[1].Player != "bob-2" || got.Seats[1].Display != "北理工 二队" {
					t.Errorf("seat second: %+v", got.Seats[1])
				}
				for j := range want.Plies {
					g, w := got.Plies[j], want.Plies[j]
					if g.UsedMS != w.UsedMS || g.LeftMS != w.LeftMS || g.Comment != w.Comment || !reflect.DeepEqual(g.Think, w.Think) {
						t.Fatalf("ply %d: %+v (%+v), want %+v (%+v)", j+1, g, g.Think, w, w.Think)
					}
				}
			}
		}
	}
}

// TestTime: UTCDate and UTCTime are the time of a game. Date and Time, by the clocks of an unknown
// place, are taken for it where there are no others.
func TestTime(t *testing.T) {
	const noon, at = "2024-02-29T12:00:00Z", "2024-02-29T23:30:01Z"
	for tags, want := range map[string]string{
		`[Date "2024.03.01"][Time "07:30:01"][UTCDate "2024.02.29"][UTCTime "23:30:01"]`: at,
		`[Date "2024.03.01"][UTCTime "23:30:01"][UTCDate "2024.02.29"]`:                  at,
		`[Date "2024.02.29"][Time "23:30:01"]`:                                           at,
		`[Date "2024.02.29"][UTCDate "????.??.??"][Time "12:00:00"]`:                     noon,
		`[Date "2024.02.29"][Time "?"]`:                                                  "2024-02-29T00:00:00Z",
		`[Date "????.??.??"]`:                                                            "0001-01-01T00:00:00Z",
	} {
		games, err := formattest.All(read(`[Game "Chinese Chess"]`+tags+"\n\n1. H2-E2 *\n", format.ReadOptions{}))
		if err != nil || len(games) != 1 || games[0].Start.Format(time.RFC3339) != want {
			t.Errorf("%s: %v, want %s: %v", tags, games[0].Start, want, err)
		}
	}
	r := formattest.Random(t, "xiangqi/wxf", "", 1, 6)
	for start, want := range map[string]string{
		at:                     "[Date \"2024.02.29\"]\n[UTCDate \"2024.02.29\"]\n[UTCTime \"23:30:01\"]\n[Round",
		"2024-02-29T00:00:00Z": "[Date \"2024.02.29\"]\n[Round", // a day alone
	} {
		var err error
		if r.Start, err = time.Parse(time.RFC3339, start); err != nil {
			t.Fatal(err)
		}
		if text, err := write([]*record.Record{r}, format.WriteOptions{}); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: want %s in %s, %v", start, want, text, err)
		}
	}
}

// TestRunners: what cutechess and fastchess write at a move is read, with the score of its
// mover. Other comments are text.
func TestRunners(t *testing.T) {
	const red, black = "H2-E2", "H9-G7"
	for comment, want := range map[string]struct {
		red, black, depth int // scores
		used, left        int64
		nodes             uint64
		rest              string
	}{
		"+0.35/12 1.2s":                    {35, 35, 12, 1200, 0, 0, ""},
		"-12.05/7 0.083s":                  {-1205, -1205, 7, 83, 0, 0, ""},
		"0.00/9 0s":                        {0, 0, 9, 0, 0, 0, ""},
		"+M5/31 2s":                        {31995, 31995, 31, 2000, 0, 0, ""},
		"-M14/31 2s":                       {-31986, -31986, 31, 2000, 0, 0, ""},
		"1.25s":                            {used: 1250},
		"/14 3.0s":                         {used: 3000}, // a program that gave no score
		"0.00/0 0.100s":                    {used: 100},
		"ERR/3 0.100s":                     {used: 100},
		"-0.10/8 0.5s, Red resigns, again": {-10, -10, 8, 500, 0, 0, "Red resigns, again"},
		"+0.22/18 0.5s, tl=59.5s, n=81234, sd=25, nps=9, Black mates": {22, 22, 18, 500, 59500, 81234, "nps=9, Black mates"},
		"[%eval 0.20,5] +0.35/12 1.2s":                                {20, -20, 5, 1200, 0, 0, ""},
		"+0.35/12":                                                    {rest: "+0.35/12"},
		"+0.35/12 1.2s and more":                                      {rest: "+0.35/12 1.2s and more"},
		"about 5s":                                                    {rest: "about 5s"},
	} {
		file := fmt.Sprintf("[Game \"Chinese Chess\"]\n\n1. %s {%s} %s {%s} *\n", red, comment, black, comment)
		games, err := formattest.All(read(file, format.ReadOptions{}))
		if err != nil || len(games) != 1 {
			t.Fatalf("%s: %v", comment, err)
		}
		for i, score := range []int{want.red, want.black} {
			p := games[0].Plies[i]
			var got record.Think
			if p.Think != nil {
				got = *p.Think
			}
			if (p.Think != nil) != (want.depth > 0) || got.Score != score || got.Depth != want.depth || got.Nodes != want.nodes ||
				p.UsedMS != want.used || p.LeftMS != want.left || p.Comment != want.rest {
				t.Errorf("%s, ply %d: %+v, used %d, left %d, %q", comment, i+1, p.Think, p.UsedMS, p.LeftMS, p.Comment)
			}
		}
	}
}

// TestTermination: the words of the standard, of runners and of records.
func TestTermination(t *testing.T) {
	for text, want := range map[string]game.Reason{
		"time forfeit": "time", "abandoned": "abandoned", "adjudication": "adjudication", "normal": "", "unterminated": "",
		"illegal move": "illegal", "stalled connection": "hang", "crash": "crash", "draw-rule": "draw-rule", "He left": "",
	} {
		file := fmt.Sprintf("[Game \"Chinese Chess\"]\n[Termination %q]\n\n1. H2-E2 1-0\n", text)
		if games, err := formattest.All(read(file, format.ReadOptions{})); err != nil || len(games) != 1 || games[0].Reason != want {
			t.Errorf("%s: %+v, want %q: %v", text, games, want, err)
		}
	}
}

// TestNotations: moves are written in the notation that was asked for.
func TestNotations(t *testing.T) {
	r := &record.Record{Game: "xiangqi", Rules: "xiangqi/wxf", Plies: []record.Ply{{Move: "h2e2"}, {Move: "h9g7"}}}
	for notation, want := range map[format.Moves]string{
		"": "1. H2-E2 H9-G7", format.ICCS: "1. H2-E2 H9-G7", format.WXF: "1. C2=5 H8+7", format.Chinese: "1. 炮二平五 马8进7",
	} {
		if text, err := write([]*record.Record{r}, format.WriteOptions{Moves: notation}); err != nil || !strings.Contains(text, " "+want+"\n") {
			t.Errorf("%q: want %s in %s, %v", notation, want, text, err)
		}
	}
}

// TestRemarks: comments in braces and to the end of a line belong to the move before them, or
// to the game. Lines after a percent sign, and comments in variations, are left out.
func TestRemarks(t *testing.T) {
	const text = head + "\n; of the game\n1. H2-E2 ; a cannon {in the middle}\n%1. C3-C4 escaped\nH9-G7 {a horse} (H7-E7 {no} ; neither\n) ; 50% of all\n2. H0-G2 *\n"
	games, err := formattest.All(read(text, format.ReadOptions{}))
	if err != nil || len(games) != 1 || formattest.Moves(games[0]) != "h2e2 h9g7 h0g2" {
		t.Fatalf("%+v, %v", games, err)
	}
	got := []string{games[0].Text}
	for _, ply := range games[0].Plies {
		got = append(got, strings.Join(strings.Fields(ply.Comment), " "))
	}
	if want := []string{"of the game", "a cannon {in the middle}", "a horse 50% of all", ""}; !slices.Equal(got, want) {
		t.Errorf("comments %q, want %q", got, want)
	}
}

// TestResult: the tag counts, and the sign after the moves where it says nothing.
func TestResult(t *testing.T) {
	for text, want := range map[string]game.Result{
		`[Result "1-0"] 1. H2-E2`: game.FirstWins, `[Result "0 - 1"] 1. H2-E2 *`: game.SecondWins, `[Result "1/2-1/2"] 1. H2-E2 1-0`: game.Draw,
		`[Result "*"] 1. H2-E2 0-1`: game.SecondWins, `1. H2-E2 1-0`: game.FirstWins, `[Result "?"] 1. H2-E2`: game.Undecided,
	} {
		games, err := formattest.All(read(head+strings.Replace(text, "] ", "]\n\n", 1)+"\n", format.ReadOptions{}))
		if err != nil || len(games) != 1 || games[0].Result != want {
			t.Errorf("%s: %+v, %v, want %s", text, games, err, want)
		}
	}
}

func TestSetUp(t *testing.T) {
	formattest.SetUp(t, Format(), format.WriteOptions{Moves: format.Chinese}, "xiangqi/wxf")
}

func TestTags(t *testing.T) {
	for _, text := range []string{"unlimited", "300", "10+0.1", "60/5x10", "5/move"} {
		r := formattest.Random(t, "xiangqi/simple", "", 1, 6)
		r.Clock, _ = clock.Parse(text)
		r.Seats = [2]record.Seat{{Display: `a "quoted" \ name"`}, {}}
		r.Event, r.Place, r.Start = `"] [Red "x"]`, "", time.Time{}
		r.Text = "about the end"
		for _, x := range []struct {
			result game.Result
			reason game.Reason
		}{{game.Draw, "agreement"}, {game.SecondWins, "time"}, {game.Undecided, "void"}, {game.Undecided, ""}} {
			r.Result, r.Reason = x.result, x.reason
			back := formattest.RoundTrip(t, Format(), format.WriteOptions{}, r, r)[0]
			if back.Clock != r.Clock || back.Reason != r.Reason || back.Event != r.Event || back.Text != r.Text || !back.Start.IsZero() {
				t.Errorf("%s: %+v", text, back)
			}
		}
	}
}

// variant is what a file of testdata has.
type variant struct {
	games  int
	moves  string // of the first game
	result game.Result
	names  string
	what   string // date, place and event
}

// variants are the hand-written files of testdata, named for what they show.
var variants = map[string]variant{
	"iccs.pgn":          {1, "b2e2 b9c7 b0c2 a9b9", game.Draw, "柳大华 杨官璘", "1982-12-11 成都 1982年全国赛 (round 1)"},
	"iccs-lower.pgn":    {1, "h2e2 h9g7", game.FirstWins, "a b", "2021-01-01"},
	"website.pgn":       {2, "h2e2 h9g7 h0g2", game.Undecided, "红 黑", "0001-01-01"},
	"black-first.pgn":   {1, "e8e0 d0e0", game.Draw, "a b", "0001-01-01"},
	"chess-tags.pgn":    {1, "h2e2", game.SecondWins, "a b", "2024-02-29 x"},
	"wxf-fullwidth.pgn": {1, "h2e2 h9g7 h0g2 i9h9", game.Undecided, "ZHAO KE", "1997-01-02 Zhongli Cup"},
	"wxf-signs.pgn":     {1, "a5a4 d9d8 a1a2 d8d9 a4b4", game.FirstWins, "a b", "0001-01-01"},
	"chinese-gbk.pgn":   {1, "h2e2 h9g7 h0g2 i9h9 d0e1 d9e8", game.SecondWins, "甲 乙", "2006-08-03 北京"},
	"chinese-mixed.pgn": {1, "h2e2 h9g7 d0e1 d9e8 c0a2", game.Undecided, "a b", "0001-01-01"},
	"chinese-pawns.pgn": {1, "c7d7 g1f1 c6d6 f9f8 c8b8", game.Undecided, "a b", "0001-01-01"},
	// Want of material, which people's platforms do not know, and then a fallen flag.
	"material-played-on.pgn": {1, "d1d8 d9d8 e1f2 d8d9 f2e1", game.FirstWins, "a b", "0001-01-01 own test"},
	// A tandem without marks, where one alone can make the move.
	"tandem-unmarked.pgn": {1, "b6b8 d9d8", game.Undecided, "a b", "0001-01-01 own test"},
	"quotes.pgn":          {1, "", game.Undecided, "a b", `0001-01-01 第24届"五羊杯"冠军赛`},
}

func TestVariants(t *testing.T) {
	formattest.Variants(t, Format(), variants, func(t *testing.T, games []*record.Record, want variant) {
		r := games[0]
		if len(games) != want.games || formattest.Moves(r) != want.moves || r.Result != want.result {
			t.Errorf("%d games, %v, %s", len(games), formattest.Moves(r), r.Result)
		}
		if names := format.Name(r.Seats[0]) + " " + format.Name(r.Seats[1]); names != want.names {
			t.Errorf("players %q", names)
		}
		what := strings.Join(strings.Fields(r.Start.Format("2006-01-02")+" "+r.Place+" "+r.Event), " ")
		if what != want.what {
			t.Errorf("%q, want %q", what, want.what)
		}
	})
}

const head = "[Game \"Chinese Chess\"]\n[Red \"a\"]\n"

var damaged = []formattest.Broken{
	{"", "pgn, line 1, column 1: syntax: no game"},
	{"[Game \"Chess\"]\n1. e4 e5", "line 1, column 8: syntax: game \"Chess\""},
	{"[Event \"x\"]\n[White \"a\"]\n1. e4 e5", "this looks like chess"},
	{"[Game \"Chinese Chess]\n1. h2e2", "line 1, column 8: syntax: tag Game without its closing"},
	{head + "[Black]\n", "line 3, column 1: syntax: want a tag"},
	{head + "1. H2-E2 H2-E2", "pgn, line 3, column 10, ply 2: illegal move"},
	{head + "1. H2-E2 H9-G7\n2. hello", "line 4, column 4, ply 3: move \"hello\": syntax"},
	{head + "1. H2-E2 {never ends", "line 3, column 10: syntax: a comment without its }"},
	{head + "1. H2-E2 (H9-G7", "a variation without its )"},
	{head + "1. H2-E2 (H9-G7\n[Game \"x\"]", "a variation without its )"},
	{head + "1. H2-E2) H9-G7", "a ) without its ("},
	{head + "1. H2-E2 } H9-G7", "move \"}\": syntax"},
	{head + "[FEN \"9/9 w\"]\n", "line 3, column 7: FEN"},
	{head + "[Rules \"xiangqi/nonsense\"]\n", "unknown rules"},
	{head + "1. H2-E2 1-0\n\n" + head + "1. H9-G7 0-1\n", "pgn, game 2, line 7, column 4, ply 1: illegal move"},
}

func TestDamaged(t *testing.T) { formattest.Refuses(t, Format(), damaged) }

func TestCannot(t *testing.T) {
	r := formattest.Random(t, "gomoku/freestyle-15", "", 1, 6)
	if _, err := write([]*record.Record{r}, format.WriteOptions{}); !errors.Is(err, format.ErrCannot) {
		t.Error(err)
	}
	r = formattest.Random(t, "xiangqi/simple", "", 1, 6)
	if _, err := write([]*record.Record{r}, format.WriteOptions{Moves: "nonsense"}); !errors.Is(err, format.ErrCannot) {
		t.Error(err)
	}
}

// TestLongGame: a game that continues beyond the move limit is read under a set
// without one, unless the file or the caller names the rules.
func TestLongGame(t *testing.T) {
	const unlimited = "xiangqi/wxf+limit=none"
	r := formattest.Random(t, unlimited, "", 1, 0)
	rules, err := catalog.Rules(unlimited)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.New("")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for len(r.Plies) < 150 {
		legal := p.Legal(nil)
		m := legal[rng.IntN(len(legal))]
		if p.(*xiangqi.Position).Board().At(xiangqi.To(m)) != xiangqi.NoPiece {
			continue
		}
		text := p.Format(m)
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
		if p.Outcome().Over() || len(p.Legal(nil)) < 5 {
			p.Undo()
			continue
		}
		r.Plies = append(r.Plies, record.Ply{Seat: p.Turn().Other(), Move: text})
	}
	r.Result, r.Reason = game.Draw, "agreement"
	text, err := write([]*record.Record{r}, format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text = strings.Replace(text, `[Rules "`+unlimited+`"]`, "", 1)
	games, err := formattest.All(read(text, format.ReadOptions{}))
	if err != nil || formattest.Moves(games[0]) != formattest.Moves(r) || games[0].Rules != unlimited {
		t.Errorf("%v", err)
	}
	if _, err := formattest.All(read(text, format.ReadOptions{Rules: "xiangqi/wxf"})); !errors.Is(err, game.ErrOver) {
		t.Errorf("%v, want the end of the game", err)
	}
}

// TestRepeats: a game that its arbiter continued after a third occurrence is read
// under a set without repetitions.
func TestRepeats(t *testing.T) {
	const text = head + "1. H0-G2 H9-G7 2. G2-H0 G7-H9 3. H0-G2 H9-G7 4. G2-H0 G7-H9 5. H2-E2 H9-G7 1/2-1/2\n"
	games, err := formattest.All(read(text, format.ReadOptions{}))
	if err != nil || len(games[0].Plies) != 10 || games[0].Rules != "xiangqi/wxf+repetition=none" || games[0].Result != game.Draw {
		t.Fatalf("%+v, %v", games, err)
	}
	if _, err := formattest.All(read(text, format.ReadOptions{Rules: "xiangqi/wxf"})); !errors.Is(err, game.ErrOver) || !strings.Contains(err.Error(), "ply 9") {
		t.Errorf("%v, want the end of the game", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("[Game \"Chinese Chess\"]\n\n1. H2-E2 {book} H9-G7 {+0.35/12 1.2s} 2. H0-G2 {-M4/7 0.5s, tl=59.5s, n=81, sd=9, Red mates} *\n")
	formattest.Fuzz(f, Format(), damaged, slices.Sorted(maps.Keys(variants)), notations...)
}
