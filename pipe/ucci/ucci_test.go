package ucci_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"sparring/pipe/ucci"
	"sparring/pipe/uci"
)

var commands = []struct {
	line string
	want ucci.Command
	back string // as written, if that differs from line
	bad  string // part of the error
}{
	{line: "ucci", want: ucci.Hello{}},
	{line: "isready\r", want: ucci.IsReady{}, back: "isready"},
	{line: "setoption usemillisec true", want: ucci.SetOption{Name: "usemillisec", Value: "true"}},
	{line: "setoption newgame", want: ucci.SetOption{Name: "newgame"}},
	{line: "setoption bookfiles a b;c", want: ucci.SetOption{Name: "bookfiles", Value: "a b;c"}},
	{line: "setoption", want: ucci.SetOption{}, bad: "no name"},
	{line: "position startpos moves h2e2", want: ucci.Position{Moves: []string{"h2e2"}}},
	{line: "position fen 4k4/9/9/9/9/9/9/9/9/3K5 r - - 0 1", want: ucci.Position{FEN: "4k4/9/9/9/9/9/9/9/9/3K5 r - - 0 1"}},
	{line: "position", want: ucci.Position{}, back: "position startpos", bad: "want startpos or fen"},
	{line: "banmoves h6i4 a0a1", want: ucci.BanMoves{Moves: []string{"h6i4", "a0a1"}}},
	{line: "go time 300000 increment 0", want: ucci.Go{Clock: &ucci.Clock{Time: 300000}}},
	{line: "go draw time 300 increment 3 opptime 250 oppincrement 3", want: ucci.Go{Draw: true, Clock: &ucci.Clock{Time: 300, Increment: 3, OppTime: 250, OppIncrement: 3}}},
	{line: "go ponder time 300 movestogo 20 opptime 400 oppmovestogo 21", want: ucci.Go{Ponder: true, Clock: &ucci.Clock{Time: 300, MovesToGo: 20, OppTime: 400, OppMovesToGo: 21}}},
	{line: "go depth 6", want: ucci.Go{Depth: 6}},
	{line: "go depth 0", want: ucci.Go{Static: true}},
	{line: "go depth infinite", want: ucci.Go{Infinite: true}},
	{line: "go infinite", want: ucci.Go{Infinite: true}, back: "go depth infinite"},
	{line: "go nodes 5000", want: ucci.Go{Nodes: 5000}},
	{line: "go time soon nodes 7", want: ucci.Go{Nodes: 7, Clock: &ucci.Clock{}}, back: "go time 0 increment 0 nodes 7", bad: `time "soon"`},
	{line: "ponderhit", want: ucci.PonderHit{}},
	{line: "ponderhit draw", want: ucci.PonderHit{Draw: true}},
	{line: "stop", want: ucci.Stop{}},
	{line: "probe startpos moves h2e2", want: ucci.Probe{Position: ucci.Position{Moves: []string{"h2e2"}}}},
	{line: "quit", want: ucci.Quit{}},
	{line: "hello there", want: ucci.Unknown{Text: "hello there"}},
	{line: "", want: ucci.Unknown{}},
}

func TestParse(t *testing.T) {
	for _, c := range commands {
		got, err := ucci.Parse(c.line)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %#v, want %#v", c.line, got, c.want)
		}
		check(t, c.line, got.String(), err, c.back, c.bad)
	}
}

func check(t *testing.T, line, written string, err error, back, bad string) {
	t.Helper()
	switch {
	case bad == "" && err != nil:
		t.Errorf("%q: %v", line, err)
	case bad != "" && (!errors.Is(err, ucci.ErrSyntax) || !strings.Contains(err.Error(), bad)):
		t.Errorf("%q: error %v, want one with %q", line, err, bad)
	}
	if back == "" {
		back = line
	}
	if written != back {
		t.Errorf("%q is written %q, want %q", line, written, back)
	}
}

func score(n int) *int { return &n }

var replies = []struct {
	line string
	want ucci.Reply
	back string
	bad  string
}{
	{line: "id copyright 2004-2006 www.xqbase.com", want: ucci.ID{Key: "copyright", Value: "2004-2006 www.xqbase.com"}},
	{line: "option usemillisec type check default false", want: ucci.Option{Option: uci.Option{Name: "usemillisec", Kind: uci.Check, Default: "false"}}},
	{line: "option hashsize type spin min 0 max 1024 default 0", want: ucci.Option{Option: uci.Option{Name: "hashsize", Kind: uci.Spin, Default: "0", Max: 1024}}, back: "option hashsize type spin default 0 min 0 max 1024"},
	{line: "option style type combo var solid var normal var risky default normal", want: ucci.Option{Option: uci.Option{Name: "style", Kind: uci.Combo, Default: "normal", Vars: []string{"solid", "normal", "risky"}}}, back: "option style type combo default normal var solid var normal var risky"},
	{line: "option newgame type button", want: ucci.Option{Option: uci.Option{Name: "newgame", Kind: uci.Button}}},
	{line: "ucciok", want: ucci.OK{}},
	{line: "readyok", want: ucci.ReadyOK{}},
	{line: "info depth 6 score 4 pv b0c2 b9c7 c3c4", want: ucci.Info{Depth: 6, Score: score(4), PV: []string{"b0c2", "b9c7", "c3c4"}}},
	{line: "info nodes 5000000 time 5000", want: ucci.Info{Nodes: 5000000, Time: 5 * time.Second}, back: "info time 5000 nodes 5000000"},
	{line: "info depth 3 score cp -30 pv a0a1", want: ucci.Info{Depth: 3, Score: score(-30), PV: []string{"a0a1"}}, back: "info depth 3 score -30 pv a0a1"},
	{line: "info currmove a0a1", want: ucci.Info{CurrMove: "a0a1"}},
	{line: "info message depth 3 was easy", want: ucci.Info{Message: "depth 3 was easy"}},
	{line: "bestmove c3c4 ponder h9i7", want: ucci.BestMove{Move: "c3c4", Ponder: "h9i7"}},
	{line: "bestmove c3c4 draw", want: ucci.BestMove{Move: "c3c4", Draw: true}},
	{line: "bestmove c3c4 ponder h9i7 resign", want: ucci.BestMove{Move: "c3c4", Ponder: "h9i7", Resign: true}},
	{line: "bestmove (none)", want: ucci.NoBestMove{}, back: "nobestmove"},
	{line: "nobestmove", want: ucci.NoBestMove{}},
	{line: "bestmove", want: ucci.BestMove{}, back: "bestmove ", bad: "bestmove"},
	{line: "pophash", want: ucci.PopHash{}},
	{line: "pophash bestmove a0a1 lowerbound 5 depth 7 upperbound -3 depth 2", want: ucci.PopHash{BestMove: "a0a1", Lower: &ucci.Bound{Score: 5, Depth: 7}, Upper: &ucci.Bound{Score: -3, Depth: 2}}},
	{line: "bye", want: ucci.Bye{}},
	{line: "loading the book ...", want: ucci.Chatter{Text: "loading the book ..."}},
}

func TestParseReply(t *testing.T) {
	for _, c := range replies {
		got, err := ucci.ParseReply(c.line)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %#v, want %#v", c.line, got, c.want)
		}
		check(t, c.line, got.String(), err, c.back, c.bad)
	}
}

// FuzzParse: the command of any line is written as a line with the same meaning.
func FuzzParse(f *testing.F) {
	for _, c := range commands {
		f.Add(c.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		first, _ := ucci.Parse(line)
		if strings.ContainsAny(first.String(), "\r\n") {
			t.Fatalf("%q is written in two lines: %q", line, first)
		}
		if again, _ := ucci.Parse(first.String()); again.String() != first.String() {
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
		first, _ := ucci.ParseReply(line)
		if strings.ContainsAny(first.String(), "\r\n") {
			t.Fatalf("%q is written in two lines: %q", line, first)
		}
		if again, _ := ucci.ParseReply(first.String()); again.String() != first.String() {
			t.Fatalf("%q: %q, then %q", line, first, again)
		}
	})
}
