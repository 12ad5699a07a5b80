package ccgc

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/format/formattest"
)

// championship is the rule set that texts of Gomoku are read under.
var championship = gomokuRules()[0]

func TestRoundTrip(t *testing.T) {
	var all []*record.Record
	for _, rules := range []string{"amazons/10x10", championship} {
		for seed := range uint64(10) {
			all = append(all, formattest.Random(t, rules, "", seed, 25*int(seed)))
		}
	}
	for _, charset := range []format.Charset{format.UTF8, format.GBK} {
		back := formattest.RoundTrip(t, Format(), format.WriteOptions{Charset: charset}, all...)
		for i, want := range all {
			if got := back[i]; got.Event != want.Event || got.Place != want.Place || !got.Start.Equal(want.Start) {
				t.Errorf("%s: got %s, %s, %s", want.Rules, got.Event, got.Place, got.Start)
			}
		}
	}
}

// TestNames: names with characters that the format can't have, and the colours that
// the championship adds to names.
func TestNames(t *testing.T) {
	r := formattest.Random(t, "amazons/10x10", "", 3, 12)
	r.Seats = [2]record.Seat{{Display: "Team B"}, {Display: "Team W"}}
	formattest.RoundTrip(t, Format(), format.WriteOptions{}, r)
	r.Seats = [2]record.Seat{}
	r.Event, r.Place, r.Start = "", "", time.Time{}
	formattest.RoundTrip(t, Format(), format.WriteOptions{}, r)
	r.Seats[0].Display = "a[1];\nb"
	text, err := write([]*record.Record{r}, format.WriteOptions{})
	if err != nil || !strings.HasPrefix(text, "#[AM][a(1), b B][]") {
		t.Errorf("%.60q, %v", text, err)
	}
}

// TestOpenings: an opening procedure is reduced to its stones, and Black comes first.
func TestOpenings(t *testing.T) {
	formattest.Opened(t, Format(), "gomoku/renju-15", "+ccgc-2")
}

// TestFileName: the player who held Black comes first, and what is unknown is left out.
func TestFileName(t *testing.T) {
	r := &record.Record{Game: "gomoku", Rules: "gomoku/freestyle-15+swap", Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}}, Result: game.FirstWins,
		Plies: []record.Ply{{Move: "h8"}, {Move: "a1"}, {Move: "i8"}, {Move: "swap"}}}
	if name, want := fileName(r), "C5-bB vs aW-后手胜.txt"; name != want {
		t.Errorf("%q, want %q", name, want)
	}
	r = &record.Record{Game: "amazons", Rules: "amazons/10x10", Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}}, Result: game.FirstWins, Event: "event"}
	if name, want := fileName(r), "AM-aB vs bW-先手胜-event.txt"; name != want {
		t.Errorf("%q, want %q", name, want)
	}
}

func TestText(t *testing.T) {
	r := &record.Record{
		Game: "amazons", Rules: "amazons/10x10", Seats: [2]record.Seat{{Player: "first"}, {Player: "second"}},
		Result: game.FirstWins, Start: time.Date(2024, 7, 11, 2, 0, 0, 0, time.UTC), Place: "place", Event: "event",
		Plies: []record.Ply{{Move: "d1d7/g7"}, {Move: "d10d8/g8"}, {Move: "g1g6/d6"}},
	}
	want := "#[AM][first B][second W][先手胜][2024.07.11 10:00 place][event];\r\n1 d1d7(g7) d10d8(g8)\r\n2 g1g6(d6)\r\n"
	if text, err := write([]*record.Record{r}, format.WriteOptions{}); text != want || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if name := fileName(r); name != "AM-firstB vs secondW-先手胜-20240711 1000 place-event.txt" {
		t.Errorf("file name %q", name)
	}
	r.Game, r.Rules, r.Result = "gomoku", "gomoku/freestyle-15", game.Draw
	r.Plies = []record.Ply{{Move: "h8"}, {Move: "i9"}}
	want = "{[C5][first B][second W][平局][2024.07.11 10:00 place][event];B(H,8);W(I,9)}\r\n"
	if text, err := write([]*record.Record{r}, format.WriteOptions{}); text != want || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// want is the expected content of a text.
type want struct {
	moves  string
	result game.Result
	names  string
	when   string // date, place and event
}

const opening = "d1d7/g7 d10d8/g8 g1g6/d6"

// variants are the hand-written files of testdata, named for the liberty they take.
var variants = map[string]want{
	"amazons.txt":              {opening, game.FirstWins, "甲队 乙队", "2024-07-11 10:00 沈阳 2024 CCGC"},
	"amazons-gbk.txt":          {opening, game.SecondWins, "甲队 乙队", "2024-07-11 10:00 沈阳 2024 CCGC"},
	"amazons-capitals.txt":     {opening, game.FirstWins, "A b", "2021-04-16 00:00 Love 2021 CCGC"},
	"amazons-fullwidth.txt":    {opening, game.FirstWins, "先手参赛队 后手参赛队", "2018-08-03 14:00 合肥 2018 CCGC"},
	"amazons-one-line.txt":     {opening, game.Undecided, "a b", "0001-01-01 00:00 2018.8.x 14:00 合肥 比赛名称"},
	"amazons-no-semicolon.txt": {opening, game.Undecided, "先手 后手", "2050-12-31 23:59 河北 国赛"},
	"amazons-hyphens.txt":      {opening, game.SecondWins, "a b", "2023-04-05 12:03 四川 国赛"},
	"amazons-fields.txt":       {opening, game.Undecided, "a b", "2024-07-11 10:00 "},
	"gomoku.txt":               {"h8 i9 i8", game.FirstWins, "first second", "2024-07-11 10:00 place event"},
	"gomoku-doubled.txt":       {"j10 l10 j11", game.FirstWins, "先手参赛队 后手参赛队", "2017-07-29 14:00 重庆 2017 CCGC"},
	"gomoku-bare.txt":          {"h8 h9 i8", game.Undecided, " ", "0001-01-01 00:00 "},
	"gomoku-empty-fields.txt":  {"h8 h9 i8", game.FirstWins, " ", "2017-12-12 14:26 "},
	"gomoku-remarks.txt":       {"h8 h9 i8", game.Draw, "a b", "2026-05-01 00:00 辽宁 赛"},
	"gomoku-result-free.txt":   {"h8 h9", game.Draw, "a b", "2021-05-01 09:30:15 沈阳 2021"},
}

func TestVariants(t *testing.T) {
	formattest.Variants(t, Format(), variants, func(t *testing.T, games []*record.Record, want want) {
		r := games[0]
		if len(games) != 1 || formattest.Moves(r) != want.moves || r.Result != want.result {
			t.Errorf("%d games, %v, %s", len(games), formattest.Moves(r), r.Result)
		}
		if names := format.Name(r.Seats[0]) + " " + format.Name(r.Seats[1]); names != want.names {
			t.Errorf("players %q, want %q", names, want.names)
		}
		if r.Start.Hour()+r.Start.Minute() > 0 { // a date alone stays what it is
			r.Start = r.Start.In(beijing)
		}
		layout := "2006-01-02 15:04"
		if r.Start.Second() != 0 {
			layout += ":05"
		}
		if when := r.Start.Format(layout) + strings.TrimRight(" "+r.Place+" "+r.Event, " "); strings.TrimSpace(when) != strings.TrimSpace(want.when) {
			t.Errorf("%q, want %q", when, want.when)
		}
	})
}

func TestResult(t *testing.T) {
	for text, want := range map[string]game.Result{
		"先手胜": game.FirstWins, "先手 勝": game.FirstWins, "黑方获胜": game.FirstWins, "后手负": game.FirstWins,
		"后手胜": game.SecondWins, "後手胜": game.SecondWins, "白胜": game.SecondWins, "先手负": game.SecondWins,
		"平局": game.Draw, "和棋": game.Draw, "": game.Undecided, "先/后手胜": game.Undecided, "先(后)手胜": game.Undecided,
		"胜负关系": game.Undecided, "未知结果": game.Undecided,
	} {
		if got, ok := resultOf(text); got != want || !ok {
			t.Errorf("%q: %s, %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"2024.07.11 10:00 沈阳", "2024 CCGC", "和平杯"} {
		if got, ok := resultOf(text); ok {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

var damaged = []formattest.Broken{
	{"", "ccgc, line 1, column 1: syntax: no game"},
	{"hello", "'h': want a game"},
	{"#[XX][a][b];", "line 1, column 3: syntax: game \"XX\": want AM or C5"},
	{"#[AM][甲队][乙队][先手胜][2024.07.11][e];\r\n1 d1d7(g7) d10d4(g4)\r\n2 g1g6(d6)", "line 2, column 12, ply 2: illegal move"},
	{"#[AM][a][b];\n1 d1d7(g7) d10d8\n2 g1g6(d6)", "line 2, column 12: syntax: \"d10d8\": want a move"},
	{"#[AM][a][b];\n1 d1d7(g7) d10d8(g8)\n3 g1g6(d6)", "line 3, column 1: syntax: move number 3, want 2"},
	{"#[AM][a][b];\n1 d1d7(g7) ?", "line 2, column 12: syntax: '?'"},
	{"#[AM][a][b];\n1 k1d7(g7)", "line 2, column 3, ply 1: syntax"},
	{"{[C5][a][b];B(H,8);W(H,8)}", "line 1, column 20, ply 2: illegal move"},
	{"{[C5][a][b];B(H,8);B(H,9)}", "ply 2: illegal move: a stone of B, but W is to move"},
	{"{[C5][a][b];B(H,88)}", "ply 1: syntax"},
	{"{[C5][a][b];B(H,8;W(H,9)}", "line 1, column 18: syntax: the stone has no closing bracket"},
	{"{[C5][a][b];B(8,H)}", "\"B(8\": want a stone such as B(H,8)"},
	{"{[C5][a][b];MARK(", "MARK lacks its closing bracket"},
	{"{[C5][a][b];X}", "\"X\": want a stone such as B(H,8)"},
	{"{[C5][a][b];B(H,8)}\n{[C5][a][b];W(H,8)}", "ccgc, game 2, line 2, column 13, ply 1: illegal move"},
}

func TestDamaged(t *testing.T) { formattest.Refuses(t, Format(), damaged) }

func TestCannot(t *testing.T) {
	for _, r := range []*record.Record{
		formattest.Random(t, "amazons/6x6", "", 1, 6),
		formattest.Random(t, "gomoku/freestyle-19", "", 1, 6),
		formattest.Random(t, "xiangqi/simple", "", 1, 6),
		formattest.Random(t, "amazons/10x10", "3q2q3/10/10/q8q/10/4*5/Q8Q/10/10/3Q2Q3 b", 1, 6),
	} {
		if _, err := write([]*record.Record{r}, format.WriteOptions{}); !errors.Is(err, format.ErrCannot) {
			t.Errorf("%s %s: %v", r.Rules, r.Position, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	formattest.Fuzz(f, Format(), damaged, slices.Sorted(maps.Keys(variants)))
}
