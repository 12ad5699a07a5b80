package xboard_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"sparring/pipe/xboard"
)

// TestHoiXiangqi reads the answers of HoiXiangqi 0.22.0 to protover 2, post, st 1,
// two moves, ping 2, go, a mate, an illegal move and a bad position. In the file the
// parsed reply follows each line; the options whose names begin with search are
// left out of the features.
func TestHoiXiangqi(t *testing.T) {
	file, err := os.Open("testdata/hoixiangqi.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		text, want, ok := strings.Cut(lines.Text(), " => ")
		if !ok {
			t.Fatalf("line %d has no => ", n)
		}
		r, err := xboard.Parse(text)
		if err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		got := fmt.Sprintf("%s|%s|%d|%s|%s", r.Kind, r.Move, r.N, r.Result, r.Text)
		if r.Kind == xboard.Chatter {
			got = "chatter"
		}
		if r.Kind == xboard.Thinking {
			got = fmt.Sprintf("%+v", r.Thought)
		}
		if r.Kind == xboard.FeatureReply {
			f := xboard.DefaultFeatures()
			var rejected []string
			for _, o := range r.Features {
				if a := f.Set(o); strings.HasPrefix(a, "rejected") {
					rejected = append(rejected, a)
				}
			}
			got = fmt.Sprintf("%+v %v", f, rejected)
		}
		if got != want {
			t.Errorf("line %d: %s\n got %s\nwant %s", n, text, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want xboard.Reply
	}{
		{"move h2e2\r\n", xboard.Reply{Kind: xboard.MoveReply, Move: "h2e2"}},
		{"1. ... h2e2", xboard.Reply{Kind: xboard.MoveReply, Move: "h2e2"}},
		{"resign", xboard.Reply{Kind: xboard.Resign}},
		{"offer draw", xboard.Reply{Kind: xboard.OfferDraw}},
		{"offer tea", xboard.Reply{Text: "offer tea"}},
		{"1/2-1/2 {Draw by repetition}", xboard.Reply{Kind: xboard.ResultClaim, Result: "1/2-1/2", Text: "Draw by repetition"}},
		{"Illegal move (moves into check): h2e2", xboard.Reply{Kind: xboard.Illegal, Move: "h2e2", Text: "moves into check"}},
		{"Hint: b0c2", xboard.Reply{Kind: xboard.Hint, Move: "b0c2"}},
		{"tellics whisper hello", xboard.Reply{Kind: xboard.Tell, Text: "whisper hello"}},
		{"12+\t-35 104\t2000  a b", xboard.Reply{Kind: xboard.Thinking,
			Thought: xboard.Thought{Depth: 12, Score: -35, Time: 1040 * time.Millisecond, Nodes: 2000, Line: "a b"}}},
		{"# debug 1 2 3 4", xboard.Reply{Text: "# debug 1 2 3 4"}},
		{"", xboard.Reply{}},
	} {
		got, err := xboard.Parse(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
	for _, bad := range []string{"move", "move a b", "pong", "pong x", `feature myname="x`, "feature ping", `feature a"b=1`} {
		if r, err := xboard.Parse(bad); !errors.Is(err, xboard.ErrSyntax) {
			t.Errorf("%q: %+v, %v, want ErrSyntax", bad, r, err)
		}
	}
}

func TestSend(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{xboard.Level(0, 5*time.Minute, 2500*time.Millisecond), "level 0 5 2"},
		{xboard.Level(40, 90*time.Second, 0), "level 40 1:30 0"},
		{xboard.Clocks(61250*time.Millisecond, -time.Second), "time 6125\notim 0"},
		{xboard.Move(xboard.Features{}, "h2e2"), "h2e2"},
		{xboard.Move(xboard.Features{UserMove: true}, "h2e2"), "usermove h2e2"},
		{xboard.Option("Clear", ""), "option Clear"},
		{xboard.Option("Threads", "2"), "option Threads=2"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	got, err := xboard.FEN("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1")
	if want := "rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR w 0 1"; got != want || err != nil {
		t.Errorf("FEN %q, %v, want %q", got, err, want)
	}
	if _, err := xboard.FEN("9/9 w"); !errors.Is(err, xboard.ErrSyntax) {
		t.Errorf("a short FEN: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("testdata/hoixiangqi.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := xboard.Parse(text)
		if err != nil && !errors.Is(err, xboard.ErrSyntax) {
			t.Errorf("%q: %v", text, err)
		}
		features := xboard.DefaultFeatures()
		for _, o := range r.Features {
			if a := features.Set(o); strings.ContainsAny(a, "\r\n") {
				t.Errorf("%q: answer %q", text, a)
			}
		}
		if r.Kind == xboard.MoveReply && strings.ContainsAny(r.Move, " \t\r\n") {
			t.Errorf("%q: move %q", text, r.Move)
		}
	})
}
