package uci_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"sparring/pipe/uci"
)

// ms is milliseconds.
func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// commands are lines of a GUI, their meaning, and the line as written if that
// differs.
var commands = []struct {
	line string
	want uci.Command
	back string
	bad  string // part of the error
}{
	{line: "uci", want: uci.Hello{}},
	{line: "ucicyclone", want: uci.Hello{Cyclone: true}},
	{line: "debug on", want: uci.Debug{On: true}},
	{line: "debug off", want: uci.Debug{}},
	{line: "\tisready \r\n", want: uci.IsReady{}, back: "isready"},
	{line: "joho debug on", want: uci.Debug{On: true}, back: "debug on"},
	{line: "ucinewgame", want: uci.NewGame{}},
	{line: "stop", want: uci.Stop{}},
	{line: "ponderhit", want: uci.PonderHit{}},
	{line: "quit", want: uci.Quit{}},
	{line: "d", want: uci.Show{}},
	{line: "register later", want: uci.Register{Text: "later"}},
	{line: "", want: uci.Unknown{}},
	{line: "what is this", want: uci.Unknown{Text: "what is this"}},
	{line: "setoption name Hash value 128", want: uci.SetOption{Name: "Hash", Value: "128"}},
	{line: "setoption name Clear Hash", want: uci.SetOption{Name: "Clear Hash"}},
	{line: "setoption name A  File value /a  b", want: uci.SetOption{Name: "A File", Value: "/a  b"}, back: "setoption name A File value /a  b"},
	{line: "setoption Hash value 1", want: uci.SetOption{Name: "Hash", Value: "1"}, back: "setoption name Hash value 1", bad: "want name"},
	{line: "position startpos", want: uci.Position{}},
	{line: "position startpos moves h2e2 h9g7", want: uci.Position{Moves: []string{"h2e2", "h9g7"}}},
	{line: "position fen 4k4/9/9/9/9/9/9/9/9/3K5 w - - 0 1 moves d0d1", want: uci.Position{FEN: "4k4/9/9/9/9/9/9/9/9/3K5 w - - 0 1", Moves: []string{"d0d1"}}},
	{line: "fen 4k4/9/9/9/9/9/9/9/9/3K5 w", want: uci.Position{FEN: "4k4/9/9/9/9/9/9/9/9/3K5 w", Cyclone: true}},
	{line: "startpos moves a0a1", want: uci.Position{Moves: []string{"a0a1"}, Cyclone: true}},
	{line: "position fen", want: uci.Position{}, back: "position startpos", bad: "position fen"},
	{line: "position moves a0a1", want: uci.Position{}, back: "position startpos", bad: "want startpos or fen"},
	{line: "go", want: uci.Go{}},
	{line: "go infinite", want: uci.Go{Infinite: true}},
	{line: "go wtime 1000 btime -20 winc 10 binc 20 movestogo 7", want: uci.Go{Clocks: &uci.Clocks{White: ms(1000), Black: ms(-20), WhiteIncrement: ms(10), BlackIncrement: ms(20), MovesToGo: 7}}},
	{line: "go ponder wtime 1 btime 2", want: uci.Go{Ponder: true, Clocks: &uci.Clocks{White: ms(1), Black: ms(2)}}},
	{line: "go movetime 100 depth 5 nodes 7 mate 3", want: uci.Go{MoveTime: ms(100), Depth: 5, Nodes: 7, Mate: 3}},
	{line: "go searchmoves a0a1 b0c2 depth 3", want: uci.Go{Moves: []string{"a0a1", "b0c2"}, Depth: 3}, back: "go depth 3 searchmoves a0a1 b0c2"},
	{line: "go perft 3", want: uci.Go{Perft: 3}},
	{line: "go depth x nodes 5", want: uci.Go{Nodes: 5}, back: "go nodes 5", bad: `depth "x"`},
	{line: "go depth nodes 5", want: uci.Go{Nodes: 5}, back: "go nodes 5", bad: `depth "nodes"`},
	{line: "go brightly depth 99999999999999999999", want: uci.Go{Depth: 1<<31 - 1}, back: "go depth 2147483647"},
	{line: "go nodes -3", want: uci.Go{}, back: "go"},
}

func TestParse(t *testing.T) {
	for _, c := range commands {
		got, err := uci.Parse(c.line)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %#v, want %#v", c.line, got, c.want)
		}
		check(t, c.line, err, c.bad)
		want := c.line
		if c.back != "" {
			want = c.back
		}
		if got.String() != want {
			t.Errorf("%q is written %q, want %q", c.line, got, want)
		}
	}
}

// check compares an error with the expected text, "" for none.
func check(t *testing.T, line string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%q: %v", line, err)
	case want != "" && (!errors.Is(err, uci.ErrSyntax) || !strings.Contains(err.Error(), want)):
		t.Errorf("%q: error %v, want one with %q", line, err, want)
	}
}

var replies = []struct {
	line string
	want uci.Reply
	back string
	bad  string
}{
	{line: "id name Fairy-Stockfish 11.1 LB 64", want: uci.ID{Key: "name", Value: "Fairy-Stockfish 11.1 LB 64"}},
	{line: "uciok", want: uci.OK{}},
	{line: "readyok", want: uci.ReadyOK{}},
	{line: "registration checking", want: uci.State{Key: "registration", Value: "checking"}},
	{line: "bestmove h3e3 ponder h10g8", want: uci.BestMove{Move: "h3e3", Ponder: "h10g8"}},
	{line: "bestmove h3e3", want: uci.BestMove{Move: "h3e3"}},
	{line: "bestmove (none)", want: uci.BestMove{Move: "(none)"}},
	{line: "bestmove", want: uci.BestMove{}, back: "bestmove ", bad: "bestmove"},
	{line: "Fairy-Stockfish 11.1 by Fabian Fichter", want: uci.Chatter{Text: "Fairy-Stockfish 11.1 by Fabian Fichter"}},
	{line: "option name Hash type spin default 16 min 1 max 131072", want: uci.Option{Name: "Hash", Kind: uci.Spin, Default: "16", Min: 1, Max: 131072}},
	{line: "option name Analysis Contempt type combo default Both var Both var Off var White", want: uci.Option{Name: "Analysis Contempt", Kind: uci.Combo, Default: "Both", Vars: []string{"Both", "Off", "White"}}},
	{line: "option name Clear Hash type button", want: uci.Option{Name: "Clear Hash", Kind: uci.Button}},
	{line: "option name SyzygyPath type string default <empty>", want: uci.Option{Name: "SyzygyPath", Kind: uci.Text}},
	{line: "option name Debug Log File type string default ", want: uci.Option{Name: "Debug Log File", Kind: uci.Text}, back: "option name Debug Log File type string default <empty>"},
	{line: "option name Ponder type check default false", want: uci.Option{Name: "Ponder", Kind: uci.Check, Default: "false"}},
	{line: "option name Hash type spin default 1 min x max 5", want: uci.Option{Name: "Hash", Kind: uci.Spin, Default: "1", Max: 5}, back: "option name Hash type spin default 1 min 0 max 5", bad: `min "x"`},
	{line: "info depth 10 seldepth 11 multipv 1 score cp 89 nodes 29922 nps 213728 hashfull 3 tbhits 1 time 140 pv h1g3 b10c8",
		want: uci.Info{Depth: 10, SelDepth: 11, Line: 1, Score: uci.Score{Unit: uci.Centipawns, Value: 89}, Nodes: 29922, NPS: 213728, HashFull: 3, TableHits: 1, Time: ms(140), PV: []string{"h1g3", "b10c8"}}},
	{line: "info depth 5 score cp -7 lowerbound wdl 10 900 90", want: uci.Info{Depth: 5, Score: uci.Score{Unit: uci.Centipawns, Value: -7, Bound: uci.Lower}, WDL: &uci.WDL{Win: 10, Draw: 900, Loss: 90}}},
	{line: "info depth 5 wdl 1500 0 -500", want: uci.Info{Depth: 5, WDL: &uci.WDL{Win: 1500}}, back: "info depth 5 wdl 1500 0 0"},
	{line: "info depth 5 wdl 900 x -5", want: uci.Info{Depth: 5}, back: "info depth 5", bad: `wdl "x"`},
	{line: "info score mate -3 upperbound", want: uci.Info{Score: uci.Score{Unit: uci.Mate, Value: -3, Bound: uci.Upper}}},
	{line: "info score mate 0", want: uci.Info{Score: uci.Score{Unit: uci.Mate}}},
	{line: "info currmove h2e2 currmovenumber 3", want: uci.Info{CurrMove: "h2e2", CurrNumber: 3}},
	{line: "info pv a0a1 b0b1 depth 3", want: uci.Info{Depth: 3, PV: []string{"a0a1", "b0b1"}}, back: "info depth 3 pv a0a1 b0b1"},
	{line: "info refutation d1h5 g6h5", want: uci.Info{Refutation: []string{"d1h5", "g6h5"}}},
	{line: "info string depth 3 is not depth 3", want: uci.Info{Note: "depth 3 is not depth 3"}},
	{line: "info strange 5 depth 3 nodes many", want: uci.Info{Depth: 3}, back: "info depth 3", bad: `nodes "many"`},
}

func TestParseReply(t *testing.T) {
	for _, c := range replies {
		got, err := uci.ParseReply(c.line)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %#v, want %#v", c.line, got, c.want)
		}
		check(t, c.line, err, c.bad)
		want := c.line
		if c.back != "" {
			want = c.back
		}
		if got.String() != want {
			t.Errorf("%q is written %q, want %q", c.line, got, want)
		}
	}
}

// TestLongLine: a line beyond the limit is refused, one within is read.
func TestLongLine(t *testing.T) {
	line := "position startpos moves" + strings.Repeat(" h2e2", uci.MaxLine/5-5)
	if c, err := uci.Parse(line); err != nil || len(c.(uci.Position).Moves) != uci.MaxLine/5-5 {
		t.Errorf("a line of %d bytes: %v", len(line), err)
	}
	line += strings.Repeat(" h2e2", 10)
	if c, err := uci.Parse(line); !errors.Is(err, uci.ErrSyntax) || c != (uci.Unknown{}) {
		t.Errorf("a line of %d bytes: %v, %.40s", len(line), err, c)
	}
	if _, err := uci.ParseReply(line); !errors.Is(err, uci.ErrSyntax) {
		t.Errorf("a reply of %d bytes: %v", len(line), err)
	}
}

func TestDialect(t *testing.T) {
	for _, c := range []struct {
		dialect      uci.Dialect
		ours, theirs string
	}{
		{uci.Dialect{Game: "xiangqi"}, "h2e2", "h2e2"},
		{uci.Dialect{Game: "xiangqi", Ranks: 1}, "h2e2", "h3e3"},
		{uci.Dialect{Game: "xiangqi", Ranks: 1}, "a9a8", "a10a9"},
		{uci.Dialect{Game: "xiangqi", Ranks: 1}, "a8a9", "a9a10"},
		{uci.Dialect{Game: "xiangqi", Ranks: 1}, "a0a9", "a1a10"},
		{uci.Dialect{Game: "gomoku"}, "h8", "h8"},
		{uci.Dialect{Game: "gomoku"}, "swap", "swap"},
		{uci.Dialect{Game: "amazons"}, "d1d7/b7", "d1d7,d7b7"},
		{uci.Dialect{Game: "amazons"}, "a10j10/a10", "a10j10,j10a10"},
	} {
		if got := c.dialect.Theirs(c.ours); got != c.theirs {
			t.Errorf("%v: %s is %s there, want %s", c.dialect, c.ours, got, c.theirs)
		}
		if got := c.dialect.Ours(c.theirs); got != c.ours {
			t.Errorf("%v: %s is %s here, want %s", c.dialect, c.theirs, got, c.ours)
		}
	}
	one := uci.Dialect{Game: "xiangqi", Ranks: 1}
	for _, same := range []string{"", "h", "h0e0", "h3", "h3e3x", "h03e3", "h3e3e3", "swap"} {
		if got := one.Ours(same); got != same {
			t.Errorf("%q, of no move's form, became %q", same, got)
		}
	}
	for move, below := range map[string]bool{"h2e2": false, "a10a9": false, "b0c2": true, "B0-C2": true, "a1a0": true, "h0": false, "h0e0x": false} {
		if one.BelowRanks(move) != below || (uci.Dialect{Game: "xiangqi"}).BelowRanks(move) {
			t.Errorf("%q: a move with a rank below 1 should be %v", move, below)
		}
	}
	if got := one.Ours("H3-E3"); got != "h2e2" {
		t.Errorf("H3-E3 is %q", got)
	}
	if got := (uci.Dialect{Game: "gomoku"}).Ours("P@h8"); got != "h8" {
		t.Errorf("P@h8 is %q", got)
	}
	amazons := uci.Dialect{Game: "amazons"}
	const there, here = "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w - - 0 1", "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w"
	if got := amazons.OurPosition(there); got != here {
		t.Errorf("position %q", got)
	}
	if got := amazons.TheirPosition(here); got != there {
		t.Errorf("position %q", got)
	}
}

// FuzzParse: the command of any line is written as a line with the same meaning.
func FuzzParse(f *testing.F) {
	for _, c := range commands {
		f.Add(c.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		first, _ := uci.Parse(line)
		if strings.ContainsAny(first.String(), "\r\n") {
			t.Fatalf("%q is written in two lines: %q", line, first)
		}
		if _, unknown := first.(uci.Unknown); unknown {
			return
		}
		if again, _ := uci.Parse(first.String()); again.String() != first.String() {
			t.Fatalf("%q: %q, then %q", line, first, again)
		}
	})
}

// FuzzParseReply does the same for replies.
func FuzzParseReply(f *testing.F) {
	for _, c := range replies {
		f.Add(c.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		first, _ := uci.ParseReply(line)
		if strings.ContainsAny(first.String(), "\r\n") {
			t.Fatalf("%q is written in two lines: %q", line, first)
		}
		if again, _ := uci.ParseReply(first.String()); again.String() != first.String() {
			t.Fatalf("%q: %q, then %q", line, first, again)
		}
	})
}

// FuzzDialect: a move of the dialect survives the conversion to ours and back.
func FuzzDialect(f *testing.F) {
	f.Add("h3e3")
	f.Add("d1d7,d7b7")
	f.Add("d1d7/b7")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []uci.Dialect{{Game: "xiangqi", Ranks: 1}, {Game: "amazons"}} {
			ours := d.Ours(text)
			if again := d.Ours(d.Theirs(ours)); again != ours && ours != text {
				t.Fatalf("%v: %q is %q here, then %q", d, text, ours, again)
			}
			d.OurPosition(text)
		}
	})
}
