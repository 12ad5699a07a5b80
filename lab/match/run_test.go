package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/lab/match/elo"
	"sparring/lab/match/openings"
	"sparring/record"
)

// essence returns a game without its times.
func essence(g *Game) string {
	var b strings.Builder
	fmt.Fprint(&b, g.Match.Pair, g.Match.Leg, g.Match.Opening, g.Match.Players, g.Position, g.Result, g.Reason)
	for _, p := range g.Plies {
		fmt.Fprint(&b, " ", p.Move, p.Think.Nodes, p.Think.Depth, p.Think.Score)
	}
	return b.String()
}

func essences(games []*Game) (all []string) {
	for _, g := range games {
		all = append(all, essence(g))
	}
	slices.Sort(all)
	return all
}

// TestSelfAgainstSelf: an engine against itself scores exactly half of the points in
// every pair, since the second game is the first with swapped seats.
func TestSelfAgainstSelf(t *testing.T) {
	for _, rules := range []string{"xiangqi/wxf", "gomoku/freestyle-15", "gomoku/freestyle-15+swap2", "amazons/6x6"} {
		t.Run(rules, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(rules, "+") {
				p := enginePlan(t, "gomoku/freestyle-15", "nodes=150", "nodes=150")
				p.Terms.Rules, p.Openings = rules, openings.Start{} // the procedure makes the openings
				selfAgainstSelf(t, p)
				return
			}
			selfAgainstSelf(t, enginePlan(t, rules, "nodes=150", "nodes=150"))
		})
	}
}

func selfAgainstSelf(t *testing.T, p Plan) {
	s, games := run(t, p)
	if want := (elo.Pairs{0, 0, p.Games / 2, 0, 0}); s.Pairings[0].Pairs != want || s.Pairings[0].Percent() != 50 {
		t.Errorf("pairs %v, want %v; %.1f %%", s.Pairings[0].Pairs, want, s.Pairings[0].Percent())
	}
	for i := range s.Players {
		if s.Players[i].FaultCount() > 0 {
			t.Errorf("faults %v", s.Players[i].Faults)
		}
	}
	for i := 0; i < len(games); i += 2 {
		if a, b := games[i], games[i+1]; len(a.Plies) != len(b.Plies) || a.Result != b.Result {
			t.Errorf("pair %d: %d plies, %s, and %d plies, %s", a.Match.Pair, len(a.Plies), a.Result, len(b.Plies), b.Result)
		}
	}
	began := map[string]bool{}
	for _, g := range games {
		if len(g.Plies) > 3 {
			began[g.Plies[0].Move+g.Plies[1].Move+g.Plies[2].Move] = true
		}
	}
	if len(began) != p.Games/2 {
		t.Errorf("%d openings in %d pairs", len(began), p.Games/2)
	}
}

// TestGamesDoNotDependOnTheRun: the games and the report of a match do not depend on
// interruptions or on the number of workers.
func TestGamesDoNotDependOnTheRun(t *testing.T) {
	dir := t.TempDir()
	whole := enginePlan(t, "amazons/6x6", "nodes=80", "nodes=20", "nodes=40")
	whole.Games = 4
	_, games := run(t, whole)
	want := essences(games)
	if len(want) != 12 {
		t.Fatalf("%d games", len(want))
	}
	spread := enginePlan(t, "amazons/6x6", "nodes=80", "nodes=20", "nodes=40")
	spread.Games, spread.Concurrency = 4, 2
	if _, games := run(t, spread); !slices.Equal(essences(games), want) {
		t.Error("two workers play other games")
	}

	path := filepath.Join(dir, "cut.jsonl")
	var all []*Game
	var standing *Standing
	runs := 0
	for range 20 {
		runs++
		p := enginePlan(t, "amazons/6x6", "nodes=80", "nodes=20", "nodes=40")
		p.Games = 4
		file, err := OpenFile(path, &p.Terms)
		if err != nil {
			t.Fatal(err)
		}
		p.File = file
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		p.Watch = func(*Standing, *Game) {
			if n++; n == 3 {
				cancel() // in the middle of a pair
			}
		}
		standing, err = Run(ctx, p)
		cancel()
		file.Close()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		tear(t, path)
	}
	for r, err := range record.File(path) {
		if r == nil {
			continue // the terms: no record
		}
		if err != nil {
			t.Error(err)
		}
	}
	file, err := OpenFile(path, &whole.Terms)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all = file.Games()
	if !slices.Equal(essences(all), want) {
		t.Errorf("%d runs have %d different games", runs, len(all))
	}
	if runs < 5 {
		t.Errorf("only %d runs", runs)
	}
	var a, b strings.Builder
	again := NewStanding(&whole.Terms)
	for _, g := range all {
		if err := again.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(standing.Write(&a, nil), again.Write(&b, nil)); err != nil || a.String() != b.String() {
		t.Errorf("%v\n%s\nand\n%s", err, &a, &b)
	}
}

// tear leaves a part of another line at a file's end, as a crash does.
func tear(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"v":1,"id":"m0`)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	terms := planOf(t, "nodes=10", nil, "a", "b").Terms
	other := terms
	other.Seed, other.Limit.Nodes = 2, 20
	path, header := filepath.Join(dir, "other.jsonl"), headerOf(t, &other)
	if err := os.WriteFile(path, []byte(header+"{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := OpenFile(path, &terms)
	if !errors.Is(err, ErrTerms) || !strings.Contains(err.Error(), `limit is "nodes=20" in the file and "nodes=10" now`) || !strings.Contains(err.Error(), "seed") || strings.Contains(err.Error(), "rules is") {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{
		"hello\n":                  "line 1: not a match's result file",
		"hello":                    "line 1: not a match's result file",
		"{}\n":                     "line 1: not a match's result file",
		`{"match":9}` + "\n":       "line 1: result file version 9",
		"TERMS" + "garbage\n":      "line 2: invalid record",
		"TERMS" + `{"v":1}` + "\n": "line 2: invalid record",
	} {
		text = strings.Replace(text, "TERMS", header, 1)
		bad := filepath.Join(dir, "bad.jsonl")
		if err := os.WriteFile(bad, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFile(bad, &other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if after, err := os.ReadFile(bad); err != nil || string(after) != text {
			t.Errorf("%q was changed to %q", text, after)
		}
	}
}

// headerOf returns the first line of a result file.
func headerOf(t *testing.T, terms *Terms) string {
	t.Helper()
	data, err := json.Marshal(terms)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

// TestNothingPlayed: settings under which no game was played bind no other match.
func TestNothingPlayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "begun.jsonl")
	terms := planOf(t, "nodes=10", nil, "a", "b").Terms
	other := terms
	other.Seed = 2
	file, err := OpenFile(path, &other)
	if err != nil {
		t.Fatal(err)
	}
	if file.Close(); isThere(path) {
		t.Error("a match without a game has left its file")
	}
	if err := os.WriteFile(path, []byte(headerOf(t, &other)), 0o644); err != nil { // as versions before left it
		t.Fatal(err)
	}
	if file, err = OpenFile(path, &terms); err != nil {
		t.Fatal(err)
	}
	file.Close()
}

func isThere(path string) bool { _, err := os.Stat(path); return err == nil }

// TestFileInUse: of two runs on one file, each would truncate the other's lines.
func TestFileInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "busy.jsonl")
	p := planOf(t, "nodes=10", map[string]script{"a": steady, "b": drawn}, "a", "b")
	if err := os.WriteFile(path, []byte(headerOf(t, &p.Terms)), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := OpenFile(path, &p.Terms)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tear(t, path) // half a line, as the other run sees it in the middle of a write
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	terms := p.Terms
	if _, err := OpenFile(path, &terms); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), path) {
		t.Errorf("the second: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("it was changed: %q, %v", after, err)
	}
	file.Close()
	if file, err = OpenFile(path, &terms); err != nil || !file.Torn() {
		t.Fatalf("after the first: %v", err)
	}
	file.Close()
}

// TestTornFirstLine: a file whose first line is incomplete is started again.
func TestTornFirstLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "torn.jsonl")
	if err := os.WriteFile(path, []byte(`{"match":1,"ga`), 0o644); err != nil {
		t.Fatal(err)
	}
	p := planOf(t, "nodes=10", map[string]script{"a": steady, "b": drawn}, "a", "b")
	file, err := OpenFile(path, &p.Terms)
	if err != nil {
		t.Fatal(err)
	}
	if !file.Torn() {
		t.Error("not noticed")
	}
	p.File = file
	run(t, p)
	file.Close()
	if file, err = OpenFile(path, &p.Terms); err != nil || len(file.Games()) != 2 || file.Torn() {
		t.Fatalf("%v", err)
	}
	file.Close()
}

func TestSequentialTestEndsTheMatch(t *testing.T) {
	hopeless := script(func(game.Position, search.Limits, uint64) (r search.Result, takes time.Duration) {
		return search.Result{Resign: true}, 0
	})
	players := map[string]script{"a": steady, "b": hopeless}
	path := filepath.Join(t.TempDir(), "sprt.jsonl")
	for round := range 2 {
		p := planOf(t, "nodes=10", players, "a", "b")
		p.Games, p.Concurrency = 1000, 2
		p.SPRT = &elo.SPRT{Elo0: 0, Elo1: 5, Alpha: 0.05, Beta: 0.05}
		file, err := OpenFile(path, &p.Terms)
		if err != nil {
			t.Fatal(err)
		}
		p.File = file
		before := len(file.Games())
		s, games := run(t, p)
		file.Close()
		if v := p.SPRT.Verdict(s.Pairings[0].Pairs); v != elo.AcceptH1 || s.Games >= 1000 {
			t.Errorf("%v after %d games", v, s.Games)
		}
		if round == 1 && (before == 0 || len(games) != 0) {
			t.Errorf("a decided match continued for %d games", len(games))
		}
		var out strings.Builder
		if err := s.Write(&out, p.SPRT); err != nil || !strings.Contains(out.String(), "H1 accepted") {
			t.Errorf("%v: %s", err, &out)
		}
	}
}

func TestTournaments(t *testing.T) {
	players := map[string]script{"w": steady, "x": drawn, "y": steady, "z": from(0, failing(&engine.Fault{Kind: engine.FaultCrash}))}
	for kind, pairings := range map[Kind]int{RoundRobin: 6, Gauntlet: 3} {
		p := planOf(t, "nodes=10", players, "w", "x", "y", "z")
		p.Terms.Kind, p.Games, p.Concurrency = kind, 4, 2
		s, games := run(t, p)
		if len(s.Pairings) != pairings || len(games) != 4*pairings || s.Games != 4*pairings {
			t.Fatalf("%s: %d pairings, %d games", kind, len(s.Pairings), len(games))
		}
		points, faults := 0.0, 0
		for i := range s.Players {
			points += s.Players[i].Points()
			faults += s.Players[i].FaultCount()
		}
		z := &s.Players[3]
		if points != float64(4*pairings) || faults != z.Faults[engine.FaultCrash] || z.Losses != z.Games() || faults != z.Games() {
			t.Errorf("%s: %g points, %d faults; %+v", kind, points, faults, z)
		}
		if order := s.Ranking(); order[3] != 3 {
			t.Errorf("%s: ranking %v", kind, order)
		}
		var out strings.Builder
		if err := s.Write(&out, nil); err != nil || !strings.Contains(out.String(), "crash") || !strings.Contains(out.String(), "w - z") || !strings.Contains(s.Line(nil), "ahead") {
			t.Errorf("%s: %v\n%s\n%s", kind, err, &out, s.Line(nil))
		}
	}
}

func TestNamesAreDistinct(t *testing.T) {
	terms := Terms{Players: []string{"self", "x", "self", "self", "uci:y"}, Labels: []string{"", "", "", "", "x"}}
	if got, want := terms.Names(), []string{"self", "x", "self (2)", "self (3)", "x (2)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestStandingRefuses(t *testing.T) {
	p := planOf(t, "nodes=10", map[string]script{"a": steady, "b": drawn}, "a", "b")
	s, games := run(t, p)
	stranger := *games[0]
	stranger.Match.Players = [2]int{0, 5}
	void := *games[0]
	void.Result = game.Undecided
	for _, g := range []*Game{games[0], games[1], &stranger, &void} {
		before := s.Games
		if err := s.Add(g); err == nil || s.Games != before {
			t.Errorf("%s %v is accepted: %v", g.ID, g.Match, err)
		}
	}
}

func TestPlansAreChecked(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"odd":         func(p *Plan) { p.Games = 3 },
		"none":        func(p *Plan) { p.Games = 0 },
		"concurrency": func(p *Plan) { p.Concurrency = 0 },
		"alone":       func(p *Plan) { p.Terms.Players = []string{"a"} },
		"kind":        func(p *Plan) { p.Terms.Kind = "swiss" },
		"sprt of 3": func(p *Plan) {
			p.Terms.Players = append(p.Terms.Players, "c")
			p.SPRT = &elo.SPRT{Elo0: 0, Elo1: 5, Alpha: 0.05, Beta: 0.05}
		},
		"margin": func(p *Plan) { p.Terms.MarginMS = -1 },
		"hash":   func(p *Plan) { p.Terms.HashMB = 0 },
		"odds":   func(p *Plan) { p.Terms.Limits = map[int]Limit{2: {Nodes: 5}} },
		"longest move of odds": func(p *Plan) {
			p.Terms.Limit.Clock, p.Terms.MoveMS = clock.Spec{Kind: clock.SuddenDeath, Initial: time.Minute}, 1000
			p.Terms.Limits = map[int]Limit{1: {Nodes: 5}}
		},
		"rules": func(p *Plan) { p.Terms.Rules = "amazons/nonesuch" },
	} {
		p := planOf(t, "nodes=10", map[string]script{"a": steady, "b": steady, "c": steady}, "a", "b")
		change(&p)
		if s, err := Run(t.Context(), p); err == nil || s == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestParsing(t *testing.T) {
	for text, want := range map[string]string{
		"5+0.05": "5+0.05", "300": "300", "60/5x10": "60/5x10", "movetime=100ms": "0.1/move", "movetime=2s": "2/move",
		"nodes=5000": "nodes=5000", "depth=7": "depth=7", "unlimited": "unlimited",
	} {
		l, err := ParseLimit(text)
		if err != nil || l.String() != want {
			t.Errorf("%q: %q, %v", text, l, err)
		}
		if again, err := ParseLimit(l.String()); err != nil || again != l {
			t.Errorf("%q: %+v came back as %+v, %v", text, l, again, err)
		}
	}
	for _, bad := range []string{"", "x", "nodes=0", "nodes=-1", "depth=x", "movetime=0s", "movetime=1us", "movetime=1500us", "time=5", "movetime=400h"} {
		if l, err := ParseLimit(bad); err == nil {
			t.Errorf("%q is accepted as %v", bad, l)
		}
	}
	for bad, want := range map[string]string{"nodes=1e6": "want a whole number from 1", "depth=x": "want a whole number from 1", "movetime=100": "want whole milliseconds, such as 100ms"} {
		if _, err := ParseLimit(bad); !strings.Contains(err.Error(), fmt.Sprintf("limit %q: %s", bad, want)) {
			t.Errorf("%v", err)
		}
	}
	if r, err := ParseResign("chance=0.02, moves=4"); err != nil || *r != (Resign{0.02, 4}) {
		t.Errorf("%+v, %v", r, err)
	}
	if d, err := ParseDraw("within=0.02,moves=8,after=80"); err != nil || *d != (Draw{0.02, 8, 80}) {
		t.Errorf("%+v, %v", d, err)
	}
	for _, bad := range []string{"", "chance=0.02", "moves=4", "chance=0.6,moves=4", "chance=NaN,moves=4", "chance=x,moves=4", "chance=0.02,moves=0", "score=3,moves=4"} {
		if r, err := ParseResign(bad); err == nil {
			t.Errorf("resign rule %q is accepted as %v", bad, r)
		}
	}
	for _, bad := range []string{"", "within=0.5,moves=4", "within=0.1,moves=4,after=-1", "within=-1,moves=1"} {
		if d, err := ParseDraw(bad); err == nil {
			t.Errorf("draw rule %q is accepted as %v", bad, d)
		}
	}
}

// TestEloText: the ends of the interval are printed, and nothing that contradicts the
// score beside it.
func TestEloText(t *testing.T) {
	for pairs, want := range map[elo.Pairs]string{
		{}: "too few games", {0, 0, 0, 0, 1}: "too few games", {1, 0, 0, 0, 1}: "too few games",
		{0, 0, 0, 0, 10}: "above +385.6", {10, 0, 0, 0, 0}: "below -385.6", {0, 0, 1, 1, 4}: "+338.0 (above +108.6)", {4, 1, 1, 0, 0}: "-338.0 (below -108.6)",
		{0, 1, 2, 5, 2}: "+147.2 (+23.0 to +325.5)", {2, 5, 2, 1, 0}: "-147.2 (-325.5 to -23.0)",
	} {
		got := eloText(pairs)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q, want %q", pairs, got, want)
		}
		if strings.Contains(got, "Inf") || strings.Contains(got, "NaN") {
			t.Errorf("%v: %q", pairs, got)
		}
	}
}

// TestDuelText: where the games say nothing of the Elo yet, nothing else is said of it,
// and one point is singular.
func TestDuelText(t *testing.T) {
	for _, c := range []struct {
		score  Score
		wanted []string
	}{
		{Score{Wins: 2, Losses: 2, Pairs: elo.Pairs{1, 0, 0, 0, 1}}, []string{"4: 2-0-2, 2 points, ", "\nElo        too few games\n"}},
		{Score{Draws: 2, Pairs: elo.Pairs{0, 0, 1, 0, 0}}, []string{"2: 0-2-0, 1 point, ", "\nElo        too few games\n"}},
		{Score{Wins: 9, Losses: 11, Pairs: elo.Pairs{2, 2, 3, 1, 2}}, []string{" at 95 %, LOS ", ", normalized "}},
	} {
		s := &Standing{Players: make([]Tally, 2), Pairings: []Pairing{{A: 0, B: 1, Score: c.score}}}
		var b strings.Builder
		s.writeDuel(&b, nil)
		for _, want := range c.wanted {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%+v: no %q in\n%s", c.score, want, &b)
			}
		}
	}
}

// TestUnpairedGames: beside a percentage of all games the Elo of complete pairs is
// called that, or they would contradict each other.
func TestUnpairedGames(t *testing.T) {
	s := standingOf(t, 4, 2, 3)
	if got, want := s.Line(nil), "3-3-0 75.0 %, Elo +190.8 "; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	g := &Game{Match: GameInfo{Pair: 4, Leg: 1, Players: [2]int{0, 1}}}
	g.Result = game.SecondWins
	if err := s.Add(g); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Line(nil), "3-3-1 64.3 %, Elo of complete pairs +190.8 "; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var out strings.Builder
	if err := s.Write(&out, nil); err != nil || !strings.Contains(out.String(), "; score and Elo do not count the game whose pair is not complete\n") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestPlayersText: one fault and one overshoot are singular.
func TestPlayersText(t *testing.T) {
	p := Tally{Name: "a", Faults: map[engine.FaultKind]int{engine.FaultCrash: 1}, FirstFault: &Fault{Kind: engine.FaultCrash, Text: "it ended"}}
	p.Overshoots = 1
	s := &Standing{Terms: &Terms{}, Players: []Tally{p}}
	var b strings.Builder
	if s.writePlayers(&b); !strings.HasPrefix(b.String(), "a: 1 fault (crash 1), 1 overshoot over 20 ms; ") {
		t.Error(b.String())
	}
}

// TestDepthOfProof: a search that proved who wins says nothing of how deep a player looks.
func TestDepthOfProof(t *testing.T) {
	proving := from(10, func(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
		r, _ := steady(p, l, seed)
		r.Depth, r.Score = search.MaxPly-1, search.Win-5
		if p.Ply()%4 < 2 {
			r.Score = -r.Score
		}
		return r, 0
	})
	s, _ := run(t, planOf(t, "nodes=10", map[string]script{"a": proving, "b": steady}, "a", "b"))
	a := s.Players[0]
	if a.Moves <= 10 || a.Searched != 10 || !strings.HasSuffix(speedText(a.Side), ", depth 1.0") {
		t.Errorf("%d moves, %d of them with a depth: %s", a.Moves, a.Searched, speedText(a.Side))
	}
}
