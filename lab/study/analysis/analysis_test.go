package analysis

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/chart"
	"sparring/pipe/external/faultyengine"
	"sparring/pipe/playerspec"
	"sparring/record"
	"sparring/record/review"
)

// TestMain makes the test's program a scripted engine when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "faulty" {
		faultyengine.Main()
	}
	goleak.VerifyTestMain(m)
}

// faulty returns the spec of a scripted engine.
func faulty(t *testing.T, mode string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "uci:" + strings.ReplaceAll(self, ",", `\,`) + ",arg=faulty,arg=" + mode
}

// analyst opens an analyst, closed at the end of the test.
func analyst(t *testing.T, gameName, spec string, lines int, l search.Limits) *Analyst {
	t.Helper()
	a, err := New(gameName, spec, lines, l, playerspec.Options{HashBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func session(t *testing.T, a *Analyst, rules string) *Session {
	t.Helper()
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Open(t.Context(), "test", r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func position(t *testing.T, rules, text string, moves ...string) game.Position {
	t.Helper()
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := game.Replay(r, text, moves)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSearch: the lines are those of one depth, best first, of legal moves, and the
// same each time.
func TestSearch(t *testing.T) {
	for rules, nodes := range map[string]uint64{"xiangqi/wxf": 2000, "gomoku/renju-15": 2000, "amazons/6x6": 20000} {
		p := position(t, rules, "")
		a := analyst(t, p.Rules().Game, "", 3, search.Limits{Nodes: nodes})
		var before Found
		for range 2 {
			updates := 0
			found, err := session(t, a, rules).Search(t.Context(), p, nil, func(lines []search.Info, fresh bool) {
				if updates++; fresh && len(lines) != 3 {
					t.Errorf("%s: %d lines on the way", rules, len(lines))
				}
			})
			if err != nil || !found.Scored || found.Stopped || len(found.Lines) != 3 {
				t.Fatalf("%s: %+v, %v", rules, found, err)
			}
			for i, l := range found.Lines {
				if l.Depth != found.Lines[0].Depth || l.Score > found.Lines[0].Score || len(game.FormatLine(p, "", l.PV)) != len(l.PV) || len(l.PV) == 0 {
					t.Errorf("%s: line %d: %+v", rules, i+1, l)
				}
				if before.Lines != nil && (before.Lines[i].Score != l.Score || before.Lines[i].PV[0] != l.PV[0]) {
					t.Errorf("%s: line %d is %+v, was %+v", rules, i+1, l, before.Lines[i])
				}
			}
			before = found
		}
	}
}

// TestOnly: a search of some moves has a line for each.
func TestOnly(t *testing.T) {
	p := position(t, "gomoku/freestyle-15", "", "h8", "a1")
	a := analyst(t, "gomoku", "self", 1, search.Limits{Depth: 3})
	only, err := parseAll(p, []string{"o15", "h9"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := session(t, a, "gomoku/freestyle-15").Search(t.Context(), p, only, nil)
	if err != nil || len(found.Lines) != 2 || found.Lines[0].PV[0] != only[1] || found.Lines[1].PV[0] != only[0] {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestProven: without limits a search ends when the result is proven and no shorter
// line is left, also that of a lost position.
func TestProven(t *testing.T) {
	for _, c := range []struct {
		rules, position string
		moves           string
		lines, plies    int
	}{
		{"gomoku/freestyle-15", "", "h8 a1 h9 a2 h10 a3", 1, 3},
		{"xiangqi/wxf", "3k5/4R4/9/9/9/9/9/9/9/4K4 w", "", 1, 1},
		{"xiangqi/wxf", "3k5/9/9/9/9/9/9/1r7/r8/4K4 w", "", 1, -2},
		{"amazons/4x4", "1qq1/q2q/Q2Q/1QQ1 w", "", 1, -8},
	} {
		p := position(t, c.rules, c.position, strings.Fields(c.moves)...)
		found, err := session(t, analyst(t, p.Rules().Game, "self", c.lines, search.Limits{}), c.rules).Search(t.Context(), p, nil, nil)
		if err != nil || len(found.Lines) != c.lines || found.Stopped {
			t.Fatalf("%s: %+v, %v", p, found, err)
		}
		if plies, ok := search.MateIn(found.Lines[0].Score); !ok || plies != c.plies {
			t.Errorf("%s: in %d plies, want %d: %+v", p, plies, c.plies, found.Lines[0])
		}
	}
}

func TestEnough(t *testing.T) {
	win := func(plies, depth int) search.Info {
		return search.Info{Score: search.Win - search.Score(plies), Depth: depth}
	}
	loss := func(plies, depth int) search.Info {
		return search.Info{Score: -search.Win + search.Score(plies), Depth: depth}
	}
	open := search.Info{Score: 100, Depth: 90}
	repeats := search.Info{Score: search.RepWin - 5, Depth: 90}
	for _, c := range []struct {
		lines []search.Info
		mate  int
		want  bool
	}{
		{nil, 0, false}, {[]search.Info{open}, 0, false}, {[]search.Info{repeats}, 0, false},
		{[]search.Info{win(5, 5)}, 0, false}, {[]search.Info{win(5, 6)}, 0, true},
		{[]search.Info{loss(4, 4)}, 0, false}, {[]search.Info{loss(4, 5)}, 0, true},
		{[]search.Info{win(5, 6), open}, 0, false}, {[]search.Info{win(1, 6), win(5, 6)}, 0, true},
		{[]search.Info{win(5, 5)}, 2, false}, {[]search.Info{win(5, 5)}, 3, true}, {[]search.Info{win(3, 3), open}, 2, true},
		{[]search.Info{loss(3, 3)}, 9, false}, {[]search.Info{win(9, 10)}, 2, true}, // a shorter one would have been found
	} {
		if got := enough(c.lines, c.mate); got != c.want {
			t.Errorf("%+v, mate %d: %t", c.lines, c.mate, got)
		}
	}
}

// TestStopped: a search that is stopped has what was found until then.
func TestStopped(t *testing.T) {
	for _, spec := range []string{"self", faulty(t, faultyengine.Fine)} {
		p := position(t, "xiangqi/wxf", "")
		ctx, stop := context.WithCancel(t.Context())
		l := search.Limits{}
		if spec != "self" {
			l.Depth = 1
		}
		found, err := session(t, analyst(t, "xiangqi", spec, 1, l), "xiangqi/wxf").Search(ctx, p, nil, func(_ []search.Info, fresh bool) {
			if fresh {
				stop()
			}
		})
		stop()
		if err != nil || len(found.Lines) != 1 || !found.Scored || len(found.Lines[0].PV) == 0 {
			t.Errorf("%s: %+v, %v", spec, found, err)
		}
	}
}

// TestErrors: what can't be analysed is said.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		game, spec string
		lines      int
		saying     string
	}{
		{"xiangqi", "self:level=99", 1, "level=99"},
		{"xiangqi", "uci:nonesuch-program", 1, "nonesuch-program"},
		{"amazons", "gomocup:x", 1, "amazons"},
	} {
		if _, err := New(c.game, c.spec, c.lines, search.Limits{}, playerspec.Options{}); err == nil || !strings.Contains(err.Error(), c.saying) {
			t.Errorf("%s: %v, want %q", c.spec, err, c.saying)
		}
	}
	r, err := catalog.Rules("xiangqi")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := analyst(t, "xiangqi", faulty(t, faultyengine.CrashStart), 1, search.Limits{Depth: 1}).Open(t.Context(), "x", r); err == nil {
		t.Error("an engine that ends at its start was opened")
	}
	over := position(t, "xiangqi/wxf", "3k5/4R4/9/9/9/9/9/9/9/3RK4 b")
	if _, err := session(t, analyst(t, "xiangqi", "self", 1, search.Limits{Depth: 1}), "xiangqi/wxf").Search(t.Context(), over, nil, nil); !errors.Is(err, game.ErrOver) {
		t.Errorf("a finished game: %v", err)
	}
	for mode, saying := range map[string]string{faultyengine.CrashGo: "assertion failed", faultyengine.Illegal: "a1i10", faultyengine.Null: "0000"} {
		s := session(t, analyst(t, "xiangqi", faulty(t, mode), 1, search.Limits{Depth: 1}), "xiangqi/wxf")
		if _, err := s.Search(t.Context(), position(t, "xiangqi/wxf", ""), nil, nil); err == nil || !strings.Contains(err.Error(), saying) {
			t.Errorf("%s: %v, want %q", mode, err, saying)
		}
	}
}

// recorded makes a record of moves.
func recorded(rules string, moves ...string) *record.Record {
	gameName, _, _ := strings.Cut(rules, "/")
	r := &record.Record{V: record.Version, ID: "test", Game: gameName, Rules: rules, Source: record.Source{By: record.ByImport}}
	r.Seats[0].Player, r.Seats[1].Player, r.Seats[1].Display = "ann", "bob", "北京理工大学"
	for i, m := range moves {
		r.Plies = append(r.Plies, record.Ply{Seat: game.Seat(i % 2), Move: m})
	}
	return r
}

// five is a game in which the second seat does nothing against five in a row.
var five = []string{"h8", "a1", "h9", "a3", "h10", "o15", "h7", "o13", "h6"}

// TestReview: the end of a game is known by the rules, a mistake is found, with the
// better move.
func TestReview(t *testing.T) {
	s := session(t, analyst(t, "gomoku", "self", 1, search.Limits{Depth: 4}), "gomoku/freestyle-15")
	var last, all int
	rep, err := s.Review(t.Context(), recorded("gomoku/freestyle-15", five...), nil, func(done, total int) { last, all = done, total })
	if err != nil {
		t.Fatal(err)
	}
	if last != 9 || all != 9 || rep.Game != "test" || rep.Names[1] != "北京理工大学" || rep.Players[1] != "bob" || !strings.HasPrefix(rep.Engine, "sparring") || len(rep.Plies) != 9 {
		t.Errorf("%d of %d positions: %+v", last, all, rep)
	}
	if end := rep.Plies[8]; end.Chance == nil || *end.Chance != 1 || end.Depth != 0 || end.Lost != 0 {
		t.Errorf("the last move: %+v", end)
	}
	found := false
	for _, m := range rep.Plies {
		if m.Seat != game.Seat((m.Ply-1)%2) || m.Class != review.ClassOf(m.Lost) || m.Best == "" || m.Line[0] != m.Best {
			t.Errorf("%+v", m)
		}
		found = found || m.Class != "" && m.Seat == game.Second && m.Best != m.Move
	}
	second := rep.Totals[game.Second]
	if !found || second.Moves != 4 || second.Inaccuracies+second.Mistakes+second.Blunders < 1 || second.Lost <= rep.Totals[game.First].Lost {
		t.Errorf("no mistake: %+v", rep)
	}
	annotated := rep.Annotate(recorded("gomoku/freestyle-15", five...))
	if !Annotated(annotated) || Annotated(recorded("gomoku/freestyle-15", five...)) {
		t.Error("an annotated record is not told from another")
	}
	if line, err := record.Encode(annotated); err != nil || !bytes.Contains(line, []byte(`"comment":"First 100 %."`)) || !bytes.Contains(line, []byte(", loses ")) {
		t.Errorf("annotated: %v\n%s", err, line)
	}
}

// TestSetUp: the moves with which a game was set up are nobody's mistakes.
func TestSetUp(t *testing.T) {
	s := session(t, analyst(t, "gomoku", "self", 1, search.Limits{Depth: 4}), "gomoku/freestyle-15")
	review := func(r *record.Record) *Report {
		t.Helper()
		rep, err := s.Review(t.Context(), r, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	played := review(recorded("gomoku/freestyle-15", five...))
	last := 0 // ply with a mistake
	for i, m := range played.Plies {
		if m.Class != "" {
			last = i + 1
		}
	}
	if last == 0 {
		t.Fatal("no mistake")
	}
	continued := recorded("gomoku/freestyle-15", five...)
	continued.Given = last
	opened := recorded("gomoku/freestyle-15", five...)
	opened.Source.By = record.ByMatch
	for i := range last {
		opened.Plies[i].Think = &record.Think{Source: record.FromBook}
	}
	for _, r := range []*record.Record{continued, opened} {
		rep := review(r)
		a, b := rep.Totals[game.First], rep.Totals[game.Second]
		if a.Moves+b.Moves != len(five)-last || b.Inaccuracies+b.Mistakes+b.Blunders > 0 || rep.Plies[last-1].Lost != 0 || rep.Plies[last-1].Chance == nil {
			t.Errorf("the first %d of %d moves were set up: %+v", last, len(five), rep.Totals)
		}
	}
}

// TestAnnotateKeepsComments: the analysis comes after what a comment says already, and
// the record itself stays.
func TestAnnotateKeepsComments(t *testing.T) {
	half := 0.5
	rep := &Report{Plies: []Move{{Chance: &half}, {}}}
	r := recorded("gomoku/freestyle-15", "h8", "h9")
	r.Plies[0].Comment, r.Plies[1].Comment = "bold", "late"
	a := rep.Annotate(r)
	if a.Plies[0].Comment != "bold First 50 %." || a.Plies[1].Comment != "late" || r.Plies[0].Comment != "bold" {
		t.Errorf("%+v, %+v", a.Plies, r.Plies)
	}
}

// TestReviewOthers: games of all kinds and an opening procedure, in which only the
// choices have no chance.
func TestReviewOthers(t *testing.T) {
	for _, c := range []struct {
		rules   string
		limits  search.Limits
		moves   string
		without int // plies whose chance is unknown
	}{
		{"xiangqi/wxf", search.Limits{Nodes: 1000}, "h2e2 h9g7 h0g2 i9h9", 0},
		{"amazons/6x6", search.Limits{Nodes: 10000}, "b1b4/d4 e6e3/c3", 0},
		{"gomoku/freestyle-15+swap2", search.Limits{Nodes: 500}, "h8 i9 a1 swap h9 h10", 3},
	} {
		r := recorded(c.rules, strings.Fields(c.moves)...)
		s := session(t, analyst(t, r.Game, "self", 1, c.limits), c.rules)
		rep, err := s.Review(t.Context(), r, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", c.rules, err)
			continue
		}
		without := 0
		for _, m := range rep.Plies {
			if m.Chance == nil {
				without++
			}
		}
		if without != c.without {
			t.Errorf("%s: %d plies without a chance, want %d: %+v", c.rules, without, c.without, rep.Plies)
		}
	}
}

// TestReviewErrors: what is wrong with a record or an engine is said.
func TestReviewErrors(t *testing.T) {
	s := session(t, analyst(t, "xiangqi", faulty(t, faultyengine.CrashGo), 1, search.Limits{Depth: 1}), "xiangqi/wxf")
	if _, err := s.Review(t.Context(), recorded("xiangqi/wxf", "h2e2"), nil, nil); err == nil || !strings.HasPrefix(err.Error(), "game test: after ply 1: ") {
		t.Errorf("a crash: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.Review(stopped, recorded("xiangqi/wxf", "h2e2"), nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	for _, c := range []struct {
		r      *record.Record
		saying string
	}{
		{recorded("xiangqi/wxf", "h2e2", "h2e2"), "game test: ply 2"}, {recorded("xiangqi/nonesuch", "h2e2"), "nonesuch"},
		{recorded("xiangqi/wxf"), "game test: no moves were played"},
	} {
		if err := Check(c.r); err == nil || !strings.Contains(err.Error(), c.saying) {
			t.Errorf("%v, want %q", err, c.saying)
		}
	}
	if err := Check(recorded("xiangqi/wxf", "h2e2")); err != nil {
		t.Error(err)
	}
}

// TestCache: nothing that is kept is searched again, also in another game with the same
// opening, and a file of another engine or of other searches is refused.
func TestCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "analyses.jsonl")
	a := analyst(t, "gomoku", "self", 1, search.Limits{Depth: 2})
	run := func(id string, moves ...string) int {
		t.Helper()
		cache, err := OpenCache(path, a, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer cache.Close()
		had := cache.Len()
		r := recorded("gomoku/freestyle-15", moves...)
		r.ID = id
		if _, err := session(t, a, "gomoku/freestyle-15").Review(t.Context(), r, cache, nil); err != nil {
			t.Error(err)
		}
		return cache.Len() - had
	}
	if n := run("one", five...); n < len(five) {
		t.Errorf("%d searches kept", n)
	}
	if n := run("two", five...); n != 0 {
		t.Errorf("%d searches of a game that was kept", n)
	}
	if n := run("three", append(five[:2:2], "c3")...); n < 1 || n > 2 {
		t.Errorf("%d searches for one other move", n)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCache(path, analyst(t, "gomoku", "self", 1, search.Limits{Depth: 3}), 1, 1); !errors.Is(err, ErrTerms) || !strings.Contains(err.Error(), "depth is 2 in the file and 3 now") {
		t.Errorf("another depth: %v", err)
	}
	if _, err := OpenCache(path, analyst(t, "xiangqi", faulty(t, faultyengine.Fine), 1, search.Limits{Depth: 2}), 1, 1); !errors.Is(err, ErrTerms) || !strings.Contains(err.Error(), "engine is ") {
		t.Errorf("another engine: %v", err)
	}
	if _, err := OpenCache(path, a, 1, 2); !errors.Is(err, ErrTerms) || !strings.Contains(err.Error(), "threads is 1 in the file and 2 now") {
		t.Errorf("other threads: %v", err)
	}
	first, _, _ := strings.Cut(string(whole), "\n")
	for _, line := range []string{"x", "{}", `{"position":"ab","ply":1,"lines":[]}`, `{"position":"ab","ply":1,"lines":[{"moves":[]}]}`, `{"position":"ab","ply":1,"chance":2,"lines":[{"moves":["h8"]}]}`} {
		if err := os.WriteFile(path, []byte(first+"\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenCache(path, a, 1, 1); err == nil || !strings.Contains(err.Error(), "line 2: ") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestCourse: drawings of both formats, also of a game whose beginning has no chances.
func TestCourse(t *testing.T) {
	chances := []float64{0.5, 0.6, 0.2, 0.9, 1}
	rep := &Report{Game: "g1", Rules: "gomoku/freestyle-15", Players: [2]string{"ann", "bob"}, Names: [2]string{"ann", "北京理工大学"}, Result: game.FirstWins,
		Plies: []Move{{Ply: 1}, {Ply: 2}}}
	for i := range chances {
		rep.Plies = append(rep.Plies, Move{Ply: i + 3, Chance: &chances[i], Class: []review.Class{"", review.Inaccuracy, review.Mistake, review.Blunder, ""}[i]})
	}
	var svg, again, drawn bytes.Buffer
	if err := errors.Join(Course(rep, &svg, chart.SVG), Course(rep, &again, chart.SVG), Course(rep, &drawn, chart.PNG)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"<svg", "g1, gomoku/freestyle-15: ann - 北京理工大学, result first", "inaccuracy", "mistake", "blunder", "ply"} {
		if !strings.Contains(svg.String(), text) {
			t.Errorf("no %q in the drawing", text)
		}
	}
	if svg.String() != again.String() {
		t.Error("the same game is drawn in two ways")
	}
	img, err := png.Decode(&drawn)
	if err != nil || img.Bounds().Dx() < 500 || img.Bounds().Dy() < 200 {
		t.Errorf("%v", err)
	}
	if err := Course(&Report{}, &bytes.Buffer{}, chart.SVG); err != nil {
		t.Errorf("nothing to draw: %v", err)
	}
	if stretches := course(rep); len(stretches) != 1 || len(stretches[0]) != 5 || stretches[0][4].X != 7 || stretches[0][4].Y != 100 {
		t.Errorf("%v", stretches)
	}
}
