package psq

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"sparring/game"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/format/formattest"
)

func TestRoundTrip(t *testing.T) {
	var all []*record.Record
	for _, size := range []int{15, 19, 20} {
		for seed := range uint64(10) {
			all = append(all, formattest.Random(t, fmt.Sprintf("gomoku/freestyle-%d", size), "", seed, 25*int(seed)))
		}
	}
	for _, charset := range []format.Charset{format.UTF8, format.GBK} {
		back := formattest.RoundTrip(t, Format(), format.WriteOptions{Charset: charset}, all...)
		for i, want := range all {
			got := back[i]
			if got.Event != want.Event || got.Place != want.Place || got.Clock != want.Clock || got.Reason != want.Reason || !got.Start.Equal(want.Start) {
				t.Errorf("%s: got %s, %s, %s, %s, %s", want.Rules, got.Event, got.Place, got.Clock, got.Reason, got.Start)
			}
			if got.Seats[1] != (record.Seat{Player: "bob-2", Display: "北理工 二队", Kind: record.Human}) || got.Seats[0].Kind != record.Bot {
				t.Errorf("seats: %+v", got.Seats)
			}
			for j := range want.Plies {
				if got.Plies[j].UsedMS != want.Plies[j].UsedMS {
					t.Fatalf("ply %d: %d ms, want %d", j+1, got.Plies[j].UsedMS, want.Plies[j].UsedMS)
				}
			}
		}
	}
}

func TestSetUp(t *testing.T) {
	formattest.SetUp(t, Format(), format.WriteOptions{}, "gomoku/freestyle-15")
}

// TestOpenings: an opening procedure is reduced to its stones, and Black comes first.
func TestOpenings(t *testing.T) {
	formattest.Opened(t, Format(), "gomoku/freestyle-15", "+swap2")
}

// TestOddNames: a name may look like a code or a note.
func TestOddNames(t *testing.T) {
	for _, names := range [][2]string{{"-1", "0"}, {"# rules: x", "15"}, {"", ""}, {"15", "bob"}, {"bob", "0"}} {
		r := formattest.Random(t, "gomoku/freestyle-15", "", 3, 12)
		for i := range names {
			r.Seats[i] = record.Seat{Player: names[i]}
		}
		formattest.RoundTrip(t, Format(), format.WriteOptions{}, r, r)
	}
}

// variant is what a file of testdata has.
type variant struct {
	rules  string
	moves  string
	result game.Result
	reason game.Reason
	names  [2]string
}

// variants are the hand-written files of testdata.
var variants = map[string]variant{
	"piskvork.psq":       {"gomoku/freestyle-15", "h8 i8 h9", game.Undecided, "", [2]string{"", ""}},
	"gomocup.psq":        {"gomoku/freestyle-20", "a20 t1 b20", game.Undecided, "", [2]string{"FIRST25.zip", "SECOND25.zip"}},
	"timeout.psq":        {"gomoku/freestyle-15", "h8 i8 h9", game.FirstWins, "time", [2]string{"pbrain-a.exe", "pbrain-b.exe"}},
	"second-began.psq":   {"gomoku/freestyle-15", "h8 i8", game.Undecided, "", [2]string{"b", "homo-1"}},
	"no-times.psq":       {"gomoku/freestyle-15", "h8 i8", game.Undecided, "", [2]string{"", ""}},
	"winner-as-code.psq": {"gomoku/freestyle-15", "h8 i8", game.SecondWins, "", [2]string{"甲", "乙"}},
	"five.psq":           {"gomoku/freestyle-15", "a15 a14 b15 b14 c15 c14 d15 d14 e15", game.FirstWins, game.Five, [2]string{"x", "y"}},
}

func TestVariants(t *testing.T) {
	formattest.Variants(t, Format(), variants, func(t *testing.T, games []*record.Record, want variant) {
		r := games[0]
		if len(games) != 1 || r.Rules != want.rules || formattest.Moves(r) != want.moves || r.Result != want.result || r.Reason != want.reason {
			t.Errorf("%d games, %s, %v, %s %s", len(games), r.Rules, formattest.Moves(r), r.Result, r.Reason)
		}
		if names := [2]string{format.Name(r.Seats[0]), format.Name(r.Seats[1])}; names != want.names {
			t.Errorf("players %q", names)
		}
	})
}

var damaged = []formattest.Broken{
	{"", "psq, line 1, column 1: syntax: no game"},
	{"hello\n8,8,0\n", "line 1, column 1: syntax: \"hello\""},
	{"Piskvorky 15x20, 11:11, 0\n8,8,0\n", "a board of 15x20"},
	{"Piskvorky 99x99, 11:11, 0\n8,8,0\n", "a board of 99: want 15 to 20"},
	{"Piskvorky 15x15, 11:11, 0\n8,8,0\n8,8,5\n-1\n", "line 3, column 1, ply 2: illegal move"},
	{"Piskvorky 15x15, 11:11, 0\n8,16,0\n", "line 2, column 1, ply 1: syntax: 8,16 is not on a board of 15"},
	{"Piskvorky 15x15, 11:11, 0\n0,8,0\n", "ply 1: syntax: 0,8"},
	{"Piskvorky 15x15, 11:11, 0\n8,8,0\na\nb\n0\nPiskvorky 15x15, 11:11, 0\n8,8,0\n8,8,0\n", "psq, game 2, line 8, column 1, ply 2: illegal move"},
	{"Piskvorky 15x15, 11:11, 0\n8,8,0\na\nb\n0\n# rules: gomoku/nonsense-15\n", "unknown rules"},
	{"Piskvorky 15x15, 11:11, 0\n1,1,0\n1,2,0\n2,1,0\n2,2,0\n3,1,0\n3,2,0\n4,1,0\n4,2,0\n5,1,0\n5,2,0\n", "line 11, column 1, ply 10: game is over"},
}

func TestDamaged(t *testing.T) { formattest.Refuses(t, Format(), damaged) }

func TestCannot(t *testing.T) {
	setup := formattest.Random(t, "gomoku/freestyle-15", "15/15/15/15/15/15/15/6xo7/7x7/15/15/15/15/15/15 w", 1, 6)
	xiangqi := formattest.Random(t, "xiangqi/simple", "", 1, 6)
	named := formattest.Random(t, "gomoku/freestyle-15", "", 1, 6)
	named.Seats[0] = record.Seat{Player: "8,8,0"}
	for _, r := range []*record.Record{setup, xiangqi, named} {
		if _, err := write([]*record.Record{r}, format.WriteOptions{}); !errors.Is(err, format.ErrCannot) {
			t.Errorf("%s %s %s: %v", r.Rules, r.Position, r.Seats[0].Player, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	formattest.Fuzz(f, Format(), damaged, slices.Sorted(maps.Keys(variants)))
}
