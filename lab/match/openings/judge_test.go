package openings

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// scripted is an engine.Game whose searches end at once with a result, after
// reporting it if told is set, from the search after the first silent ones on.
type scripted struct {
	engine.Game
	result search.Result
	told   bool
	silent int
	asked  *int
}

func (s scripted) Search(_ game.Position, _ search.Limits, report func(search.Info)) (engine.Running, error) {
	*s.asked++
	if s.told && *s.asked > s.silent {
		report(search.Info{Score: s.result.Score, WinProb: s.result.WinProb})
	}
	return ended{nil, s.result}, nil
}

type ended struct {
	engine.Running
	result search.Result
}

func (e ended) Stop()               {}
func (e ended) Wait() search.Result { return e.result }

// panelOf returns a panel of engines a, b, ... with these winning chances, and
// the counter of their searches.
func panelOf(t *testing.T, ruleSets []string, chances ...float64) (*Panel, *int) {
	t.Helper()
	asked := new(int)
	p := &Panel{Bound: 0.125}
	for _, name := range ruleSets {
		p.Rules = append(p.Rules, rules(t, name))
	}
	for i, c := range chances {
		p.Engines = append(p.Engines, Engine{string(rune('a' + i)), scripted{told: true, asked: asked,
			result: search.Result{WinProb: c, Score: 7, Depth: 3, Source: search.FromExternal}}})
	}
	return p, asked
}

// TestPanel: an opening is even if every engine says so under every rule set, and
// the panel asks no further than the first that does not.
func TestPanel(t *testing.T) {
	two := []string{"gomoku/freestyle-15", "gomoku/renju-15"}
	for _, test := range []struct {
		rules   []string
		chances []float64
		even    bool
		asked   int
	}{
		{two[:1], []float64{0.5}, true, 1},
		{two[:1], []float64{0.625}, true, 1},
		{two[:1], []float64{0.375, 0.6251}, false, 2},
		{two, []float64{0.374, 0.5}, false, 1},
		{two, []float64{0.4, 0.6}, true, 4},
		{two, []float64{0.4, 0.7}, false, 3},
	} {
		p, asked := panelOf(t, test.rules, test.chances...)
		verdicts, even, err := p.Judge(t.Context(), Opening{Moves: []string{"h8"}})
		if err != nil || even != test.even || *asked != test.asked || len(verdicts) != test.asked {
			t.Errorf("%v under %v: even %t, %d asked, %+v, %v", test.chances, test.rules, even, *asked, verdicts, err)
			continue
		}
		last := verdicts[len(verdicts)-1]
		if last.Opening != "moves h8" || last.Score != 7 || last.Depth != 3 || last.Chance != test.chances[(test.asked-1)/len(test.rules)] {
			t.Errorf("%+v", last)
		}
	}
}

// TestPanelAsksAgain: an engine that had no time for a score is asked again, one that has
// none is refused.
func TestPanelAsksAgain(t *testing.T) {
	for silent, want := range map[int]error{0: nil, 1: nil, 2: nil, 3: ErrNoScore} {
		p, asked := panelOf(t, []string{"gomoku/freestyle-15"}, 0.5)
		s := p.Engines[0].Game.(scripted)
		s.silent = silent
		p.Engines[0].Game = s
		_, even, err := p.Judge(t.Context(), Opening{Moves: []string{"h8"}})
		if !errors.Is(err, want) || even != (want == nil) || *asked != min(silent+1, 3) {
			t.Errorf("silent %d times: even %t, %d asked, %v", silent, even, *asked, err)
		}
	}
}

// TestPanelErrors: an engine without a score, one that fails, a cancelled search, and
// an opening that can't be played.
func TestPanelErrors(t *testing.T) {
	crash := &engine.Fault{Kind: engine.FaultCrash, Text: "gone"}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name   string
		ctx    context.Context
		told   bool
		err    error
		move   string
		want   error
		saying string
	}{
		{"silent", t.Context(), false, nil, "h8", ErrNoScore, "a: moves h8 under gomoku/freestyle-15: "},
		{"crash", t.Context(), true, crash, "h8", crash, "gone"},
		{"cancelled", cancelled, true, nil, "h8", context.Canceled, ""},
		{"illegal", t.Context(), true, nil, "q16", game.ErrSyntax, "moves q16"},
	} {
		p, asked := panelOf(t, []string{"gomoku/freestyle-15"}, 0.5)
		p.Engines[0].Game = scripted{told: test.told, asked: asked, result: search.Result{Err: test.err, Source: search.FromExternal}}
		_, even, err := p.Judge(test.ctx, Opening{Moves: []string{test.move}})
		if even || !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.saying) {
			t.Errorf("%s: even %t, %v", test.name, even, err)
		}
	}
}

// TestPanelInProcedure: of moves that end within an opening procedure no engine is asked.
func TestPanelInProcedure(t *testing.T) {
	p, asked := panelOf(t, []string{"gomoku/freestyle-15+swap2"}, 0.5)
	if _, even, err := p.Judge(t.Context(), Opening{Moves: []string{"h8", "a1", "h9"}}); even || !errors.Is(err, ErrInProcedure) || *asked > 0 {
		t.Errorf("even %t, %v, asked %d times", even, err, *asked)
	}
	if _, even, err := p.Judge(t.Context(), Opening{Moves: []string{"h8", "a1", "h9", "stay", "i9"}}); !even || err != nil || *asked == 0 {
		t.Errorf("after the procedure: even %t, %v, asked %d times", even, err, *asked)
	}
}

// TestVerdictFile: verdicts are not asked for again, a truncated one is, and a file
// with other settings or in use is refused.
func TestVerdictFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.json")
	terms := Terms{Engines: []string{"a"}, TimeMS: 20}
	judge := func(moves ...string) int {
		t.Helper()
		p, asked := panelOf(t, []string{"gomoku/freestyle-15"}, 0.5)
		var err error
		if p.File, err = OpenVerdicts(path, terms); err != nil {
			t.Fatal(err)
		}
		defer p.File.Close()
		if _, err := OpenVerdicts(path, terms); !errors.Is(err, ErrInUse) {
			t.Errorf("opened twice: %v", err)
		}
		for _, m := range moves {
			verdicts, even, err := p.Judge(t.Context(), Opening{Moves: []string{m}})
			if err != nil || !even || len(verdicts) != 1 || verdicts[0].Chance != 0.5 || verdicts[0].Score != 7 {
				t.Errorf("%s: %+v %t %v", m, verdicts, even, err)
			}
		}
		return *asked
	}
	if n := judge("h8", "h9"); n != 2 {
		t.Errorf("asked %d times", n)
	}
	if n := judge("h9", "h10", "h8"); n != 1 {
		t.Errorf("resumed: asked %d times", n)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(string(whole[:len(whole)-9]))
	if n := judge("h8", "h9", "h10"); n != 1 {
		t.Errorf("after a truncated line: asked %d times", n)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(whole) {
		t.Errorf("%v, the file is\n%s, was\n%s", err, again, whole)
	}
	for _, other := range []Terms{{Engines: []string{"b"}, TimeMS: 20}, {Engines: []string{"a"}, TimeMS: 21}, {Engines: []string{"a"}, TimeMS: 20, Build: "x"}} {
		if _, err := OpenVerdicts(path, other); !errors.Is(err, ErrTerms) {
			t.Errorf("%+v: %v", other, err)
		}
	}
	first, _, _ := strings.Cut(string(whole), "\n")
	for _, content := range []string{"x", "{}\n", `{"judge":2,"engines":["a"],"time_ms":20}` + "\n", first + "\n{}\n", first + "\nx\n",
		first + "\n" + `{"opening":"moves h8","engine":"a","chance":1.5}` + "\n"} {
		write(content)
		if _, err := OpenVerdicts(path, terms); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v", content, err)
		}
		if kept, _ := os.ReadFile(path); string(kept) != content {
			t.Errorf("%q became %q", content, kept)
		}
	}
	write(first[:len(first)/2]) // a crash in the first write
	if n := judge("h8"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
