package playerspec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sparring/engine"
	"sparring/engine/book"
	"sparring/engine/search"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/pipe/external"
	"sparring/pipe/external/faultyengine"
	"sparring/pipe/frontend"
)

// TestMain lets the test binary be an engine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "broken" {
		faultyengine.Main()
	}
	if len(os.Args) > 1 && os.Args[1] == "engine" {
		if err := frontend.Serve(context.Background(), os.Stdin, os.Stdout, frontend.Options{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		want Spec
		back string // "" is text
	}{
		{"self", Spec{}, ""},
		{"", Spec{}, "self"},
		{"self:", Spec{}, "self"},
		{"self:nodes=10000,hash=64,threads=2,depth=7", Spec{Nodes: 10000, Hash: 64, Threads: 2, Depth: 7}, "self:nodes=10000,depth=7,hash=64,threads=2"},
		{`self:book=a\,b.book,nodes=5`, Spec{Book: "a,b.book", Nodes: 5}, `self:book=a\,b.book,nodes=5`},
		{"self:nodes=5,eval=xu2006", Spec{Eval: "xu2006", Nodes: 5}, "self:eval=xu2006,nodes=5"},
		{"self:nodes=5,eval=own", Spec{Nodes: 5}, "self:nodes=5"},
		{"self:nodes=5,variety=2,book=none", Spec{Variety: 2, Book: "none", Nodes: 5}, "self:variety=2,book=none,nodes=5"},
		{"self,level=5,name=Five", Spec{Level: 5, Name: "Five"}, "self:level=5,name=Five"},
		{"self:without=NullMove,with=Razoring,nodes=5", Spec{Switches: map[string]bool{"NullMove": false, "Razoring": true}, Nodes: 5},
			"self:without=NullMove,with=Razoring,nodes=5"},
		{"self:set.Margins.Futility=90,set.LMPBase=4", Spec{Numbers: map[string]int{"LMPBase": 4, "Margins.Futility": 90}},
			"self:set.LMPBase=4,set.Margins.Futility=90"},
		{"uci:fairy-stockfish", Spec{Outside: &external.Spec{Dialect: external.UCI, Path: "fairy-stockfish"}}, ""},
		{`ucci:C:\x\eleeye.exe,arg=-a,arg=1\,2,dir=/tmp/a=b,option.style=solid,option.Some Thing=,memory=350,pause=200,nodes=5,hash=16`, Spec{Outside: &external.Spec{
			Dialect: external.UCCI, Path: `C:\x\eleeye.exe`, Args: []string{"-a", "1,2"}, Dir: "/tmp/a=b",
			Options: []external.Option{{Name: "style", Value: "solid"}, {Name: "Some Thing"}}, Memory: 350 << 20, Pause: 200 * time.Millisecond, Nodes: 5, Hash: 16,
		}}, ""},
	}
	for _, test := range tests {
		s, err := Parse(test.text)
		if err != nil || !reflect.DeepEqual(s, test.want) {
			t.Errorf("%s: %+v, %v", test.text, s, err)
			continue
		}
		if test.back == "" {
			test.back = test.text
		}
		if s.String() != test.back {
			t.Errorf("%s is written %s", test.text, s)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		text string
		says []string
	}{
		{"usi:x", []string{`no kind "usi"`, "self, botzone, botzone-json, gomocup, sau, ucci, uci, xboard"}},
		{"uci", []string{"uci:PATH"}},
		{"./engine", []string{`"./engine": want self, or before a program what it speaks, as in uci:PROGRAM`, "ucci, uci, xboard"}},
		{"uci:x,level=3,hash=-1,nonsense,option.=1", []string{`no key "level"`, "hash=", "nonsense", "want its name"}},
		{"self:nodes=0,arg=x,level=11", []string{"nodes=", `no key "arg"`, "1 to 10"}},
		{"self:book=", []string{"book: want"}},
		{"self:without=Luck", []string{`no heuristic "Luck"`, "NullMove"}},
		{"self:level=3,without=NullMove", []string{"heuristics"}},
		{"self:set.Luck=1,set.LMPBase=x,set.PruneMaxDepth=-1", []string{`no number "Luck"`, "Margins.*", "whole number", "PruneMaxDepth is -1"}},
		{"self:set.margins.Luck=1", []string{"Margins.Futility", "LMR.*"}},
		{"self:level=3,set.LMPBase=4", []string{"heuristics"}},
		{"self:eval=", []string{"eval: want"}},
		{"self:level=3,eval=xu2006", []string{"its own evaluation"}},
		{"self:search=mcts", []string{`"search"`}},
		{"self:variety=0", []string{"variety=", "1 to 50"}},
		{"self:variety=51", []string{"variety=", "1 to 50"}},
		{"self:variety=some", []string{"variety=", "1 to 50"}},
		{"self:variety=2,level=6", []string{"without variety"}},
		{"self:variety=2,as=x,from=y", []string{"as: plays at a level"}},
		{"uci:x,variety=2", []string{`no key "variety"`}},
		{"uci:x,eval=xu2006", []string{`no key "eval"`}},
		{"self:level=3,hash=5", []string{"a hash table and threads of its own"}},
		{"self:" + strings.Repeat("x", 1000), []string{"want key=value"}},
	}
	for _, test := range tests {
		_, err := Parse(test.text)
		for _, s := range test.says {
			if err == nil || !strings.Contains(err.Error(), s) {
				t.Errorf("%.40s: %v does not say %q", test.text, err, s)
			}
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 800) {
			t.Errorf("%.40s: not one clear line: %v", test.text, err)
		}
	}
}

// TestVariety: players that differ in their spec choose independently in a game of one seed, and
// the same spec chooses the same.
func TestVariety(t *testing.T) {
	e := NewEngines(Options{HashBytes: 1 << 20})
	defer e.Close()
	play := func(spec string) string {
		t.Helper()
		moves, err := playGame(e, spec, "gomoku/freestyle-15", 3)
		if err != nil {
			t.Fatal(err)
		}
		return moves
	}
	if a, b := play("self:variety=5"), play("self:variety=5"); a != b {
		t.Errorf("one spec and one seed: %s, then %s", a, b)
	}
	if a, b := play("self:variety=5"), play("self:variety=5,name=copy"); a == b {
		t.Errorf("two specs play the same: %s", a)
	}
	if a, b := play("self"), play("self:name=copy"); a != b {
		t.Errorf("without variety: %s, but %s", a, b)
	}
}

// TestOpen: the player of every spec plays a legal move within its limits.
func TestOpen(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := Spec{Outside: &external.Spec{Dialect: external.UCI, Path: self, Args: []string{"broken", faultyengine.Fine}}}.String()
	for _, spec := range []string{"self", "self:nodes=500", "self:depth=2", "self:level=2", program} {
		for _, g := range catalog.Games() {
			if g.Name == "amazons" && spec == "self" {
				continue // nothing new, and slow
			}
			s, err := Open(spec, g.Name, Options{HashBytes: 1 << 20})
			if err != nil {
				t.Errorf("%s: %v", spec, err)
				continue
			}
			p, err := catalog.Setup(g.Name, "", "")
			if err != nil {
				t.Fatal(err)
			}
			g, err := s.NewGame(engine.GameOptions{Rules: p.Rules()})
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			run, err := g.Search(p, search.Limits{Nodes: 2000}, nil)
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			r := run.Wait()
			if err := p.Play(r.Move); r.Err != nil || err != nil {
				t.Errorf("%s: %v, %v", spec, r.Err, err)
			}
			if spec == "self:nodes=500" && r.Nodes > 500 || spec == "self:depth=2" && r.Depth > 2 {
				t.Errorf("%s: %d nodes, depth %d", spec, r.Nodes, r.Depth)
			}
			if err := errors.Join(g.Close(), s.Close()); err != nil {
				t.Errorf("%s: %v", spec, err)
			}
		}
	}
	for _, spec := range []string{"uci:no-such-program-anywhere", "ucci:sh", "self:nodes=x", "self:eval=xu2006"} {
		if _, err := Open(spec, "amazons", Options{}); err == nil || !strings.Contains(err.Error(), "player") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, err := Open("self", "chess", Options{}); err == nil {
		t.Error("an engine for chess")
	}
}

// TestBook: our own engine plays from the book of its spec or else from the default
// one. A damaged book is an error, or a warning and no book.
func TestBook(t *testing.T) {
	b, err := book.NewBuilder("amazons/6x6", 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := catalog.Setup("amazons", "6x6", "")
	if err != nil {
		t.Fatal(err)
	}
	favourite := p.Legal(nil)[7]
	if err := b.Prefer(p, favourite, 1); err != nil {
		t.Fatal(err)
	}
	sound := b.Book(0).Bytes()
	dir := t.TempDir()
	for name, data := range map[string][]byte{"sound.book": sound, "torn.book": sound[:70]} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shipped := fstest.MapFS{"a.book": {Data: sound}}
	shelf, err := book.Open(book.Shipped, "", shipped)
	if err != nil {
		t.Fatal(err)
	}
	sources := func(spec string, o Options) string {
		t.Helper()
		o.HashBytes = 1 << 20
		s, err := Open(spec, "amazons", o)
		if err != nil {
			return err.Error()
		}
		g, err := s.NewGame(engine.GameOptions{})
		if err != nil {
			t.Fatal(err)
		}
		run, err := g.Search(p, search.Limits{Nodes: 20}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return run.Wait().Source
	}
	var warned []error
	warn := func(err error) { warned = append(warned, err) }
	for _, tt := range []struct {
		spec string
		o    Options
		want string
		n    int // warnings
	}{
		{"self", Options{}, "search", 0},
		{"self", Options{Books: shelf}, "book", 0},
		{"self:level=2", Options{Books: shelf}, "book", 0},
		{"self:book=none", Options{Books: shelf}, "search", 0},
		{"self:book=shipped,nodes=10", Options{Shipped: shipped}, "book", 0},
		{"self:book=" + filepath.Join(dir, "sound.book"), Options{}, "book", 0},
		{"self:book=" + filepath.Join(dir, "torn.book"), Options{}, "torn.book", 0},
		{"self:book=" + filepath.Join(dir, "torn.book"), Options{Books: shelf, Warn: warn}, "search", 1},
		{"self:book=" + filepath.Join(dir, "none.book"), Options{Warn: warn}, "search", 1},
	} {
		warned = nil
		if got := sources(tt.spec, tt.o); !strings.Contains(got, tt.want) || len(warned) != tt.n {
			t.Errorf("%s: %s, want %s; warnings %v", tt.spec, got, tt.want, warned)
		}
	}
}

func TestMoreThreadsThanCores(t *testing.T) {
	for _, text := range []string{"self:threads=1000", "uci:/bin/sh,threads=1000"} {
		spec, err := Parse(text) // as a record from another machine may say
		if err != nil {
			t.Fatal(err)
		}
		if err := spec.Check(""); err == nil || !strings.Contains(err.Error(), "this machine has") {
			t.Errorf("%s: %v, want an error that says how many cores there are", text, err)
		}
	}
}

// TestMaxTime: the key limits the time of a search for a move, and of a ponder hit, from when
// it begins, of our engine and of programs; nothing else.
func TestMaxTime(t *testing.T) {
	const most = 30 * time.Second
	for _, text := range []string{"self:maxtime=30s", "uci:engine,maxtime=30s"} {
		s, err := Parse(text)
		if err != nil || s.MaxTime != most || s.String() != text {
			t.Fatalf("%s: %+v, %v", text, s, err)
		}
		long := &search.Clock{Spec: clock.Spec{Kind: clock.PerMove, Period: time.Hour}}
		l := s.within(search.Limits{Soft: time.Minute, Hard: time.Hour, From: time.Now().Add(-30 * time.Minute), Clock: long})
		if rest := l.Hard - time.Since(l.From); rest > most || rest < most-10*time.Second || l.Soft > l.Hard || l.Clock.MoveLimit != l.Hard || long.MoveLimit != 0 {
			t.Errorf("%s: half an hour after its beginning %+v, clock %+v", text, l, l.Clock)
		}
		if l := s.within(search.Limits{Nodes: 5}); l.Hard != most || l.Nodes != 5 {
			t.Errorf("%s: without a clock %+v", text, l)
		}
		if l := s.within(search.Limits{Hard: time.Second, Soft: time.Millisecond}); l.Hard != time.Second || l.Soft != time.Millisecond {
			t.Errorf("%s: a shorter time became %+v", text, l)
		}
		if l := s.within(search.Limits{Wait: true}); l.Hard != 0 {
			t.Errorf("%s: pondering ends after %v", text, l.Hard)
		}
	}
	for _, bad := range []string{"0s", "-1s", "30", "soon", "1us"} {
		if _, err := Parse("self:maxtime=" + bad); err == nil {
			t.Errorf("maxtime=%s is accepted", bad)
		}
	}
}
