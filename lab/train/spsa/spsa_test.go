package spsa

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/chart"
	"sparring/lab/match"
	"sparring/lab/match/openings"
	"sparring/record"
)

// bowl is an engine whose strength in Elo is known: it falls with the square of the
// distance of two options from their best values.
type bowl struct {
	bestA, bestB float64
	fault        func(pair int) bool
	stop         func(game int) bool

	mu     sync.Mutex
	played map[string]int
}

func (b *bowl) elo(spec string) float64 {
	var x, y float64
	if _, err := fmt.Sscanf(spec, "%g %g", &x, &y); err != nil {
		panic(err)
	}
	return -200 * (math.Pow((x-b.bestA)/40, 2) + math.Pow((y-b.bestB)/4, 2))
}

// Worker implements match.Backend.
func (b *bowl) Worker(t *match.Terms) (match.Worker, error) { return &bowlWorker{b, t}, nil }

type bowlWorker struct {
	*bowl
	terms *match.Terms
}

func (w *bowlWorker) Close() {}

var errStop = errors.New("killed")

// Play implements match.Worker: the result is drawn at random, by the strengths.
func (w *bowlWorker) Play(_ context.Context, b match.Bout) (*match.Game, error) {
	w.mu.Lock()
	n := len(w.played)
	w.played[b.ID]++
	w.mu.Unlock()
	if w.stop != nil && w.stop(n) {
		return nil, errStop
	}
	g := match.NewGame(w.terms, b)
	pos := b.Position.Clone()
	for range 2 { // a record has moves
		m := pos.Legal(nil)[0]
		g.Plies = append(g.Plies, record.Ply{Seat: pos.Turn(), Move: pos.Format(m)})
		if err := pos.Play(m); err != nil {
			return nil, err
		}
	}
	if w.fault != nil && w.fault(b.Pair) {
		g.Lose(game.Second, &engine.Fault{Kind: engine.FaultCrash, Text: "it fell"})
		return g, nil
	}
	diff := w.elo(w.terms.Players[b.Players[0]]) - w.elo(w.terms.Players[b.Players[1]])
	expected := 1 / (1 + math.Pow(10, -diff/400))
	rng := rand.New(rand.NewPCG(b.Seed, uint64(b.Leg)))
	seat := game.Second
	if rng.Float64() < expected {
		seat = game.First
	}
	g.End(game.Outcome{Result: game.WonBy(seat), Reason: "resign"}, "")
	return g, nil
}

// settings has two parameters, of which the second need not be whole, that start far
// from the best values of a bowl of 60 and 3.5.
func settings(t *testing.T, pairs int) Settings {
	t.Helper()
	var params []Param
	for _, text := range []string{"A=20,0,100,8", "B=8.0,0.0,10.0,0.8"} {
		p, err := ParseParam(text)
		if err != nil {
			t.Fatal(err)
		}
		params = append(params, p)
	}
	return Settings{Params: params, Pairs: pairs, Rate: RateFor(pairs), Lag: 1, Seed: 5}
}

func newBowl() *bowl { return &bowl{bestA: 60, bestB: 3.5, played: map[string]int{}} }

func plan(t *testing.T, s Settings, b *bowl, concurrency int) Plan {
	t.Helper()
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	terms := match.Terms{V: match.FileVersion, ID: "mtest", Game: rules.Game, Rules: rules.Name, Players: []string{"x", "x"}, Labels: []string{"first", "second"},
		Kind: match.RoundRobin, Openings: "none", Seed: s.Seed, PatienceMS: 1, HashMB: 1, Threads: 1, Build: "test", Design: s.Design()}
	return Plan{Settings: s, Concurrency: concurrency, Match: &match.Plan{Terms: terms, Openings: openings.Start{}, Backend: b},
		Spec: func(_ int, v []float64) string {
			return fmt.Sprintf("%s %s", s.Params[0].Text(v[0]), s.Params[1].Text(v[1]))
		}}
}

// TestFindsTheOptimum: from 200 Elo below it and more in each of two parameters, with
// whole numbers and others, it comes near the optimum.
func TestFindsTheOptimum(t *testing.T) {
	for _, pairs := range []int{300, 3000} {
		b := newBowl()
		got, err := Run(t.Context(), plan(t, settings(t, pairs), b, 1))
		if err != nil {
			t.Fatal(err)
		}
		v := got.Values()
		before, after := b.elo("20 8.0"), b.elo(fmt.Sprint(v[0], " ", v[1]))
		t.Logf("%d pairs: %v, Elo %.0f before and %.0f after", pairs, v, before, after)
		if before > -400 || after < -25 {
			t.Errorf("%d pairs: %v, Elo %.0f before and %.0f after", pairs, v, before, after)
		}
		if len(b.played) != 2*pairs {
			t.Errorf("%d games for %d pairs", len(b.played), pairs)
		}
	}
}

// TestScheduleEndsAsGiven: the last pair tries a step and moves by rate times half a
// point's share of it; the first goes further in both.
func TestScheduleEndsAsGiven(t *testing.T) {
	s := settings(t, 500)
	p := s.Params[0]
	try, move := s.gains(p, s.Pairs-1)
	if math.Abs(try-p.Step) > 1e-9 || math.Abs(move-s.Rate*p.Step) > 1e-9 {
		t.Errorf("the last pair tries %g and moves %g", try, move)
	}
	first, far := s.gains(p, 0)
	if want := p.Step * math.Pow(500, Gamma); math.Abs(first-want) > 1e-9 || far <= move {
		t.Errorf("the first pair tries %g, want %g, and moves %g", first, want, far)
	}
}

// TestTrial: both players are within the bounds and, where these do not interfere, at
// the same distance from the value, which rounding keeps on average.
func TestTrial(t *testing.T) {
	s := settings(t, 400)
	s.Params[0].Start, s.Params[0].Step = 50.3, 0.5
	tuning := New(s)
	sum := 0.0
	for pair := range 400 {
		tuning.Results = tuning.Results[:0]
		for range pair {
			tuning.Results = append(tuning.Results, Result{})
			tuning.Path = append(tuning.Path, tuning.Path[0])
		}
		trial := tuning.Trial(pair)
		a, b := trial.First[0], trial.Second[0]
		if a != math.Trunc(a) || b != math.Trunc(b) || a == b || (a > b) != trial.Up[0] {
			t.Fatalf("pair %d: %g and %g, up %v", pair, a, b, trial.Up[0])
		}
		sum += (a + b) / 2
		if mean := (trial.First[1] + trial.Second[1]) / 2; math.Abs(mean-8) > 1e-9 {
			t.Fatalf("pair %d: %g and %g", pair, trial.First[1], trial.Second[1])
		}
	}
	if mean := sum / 400; math.Abs(mean-50.3) > 0.1 {
		t.Errorf("rounded to %g on average, want 50.3", mean)
	}
}

// TestResumes: a run that was killed again and again, at any game, plays each game once
// and ends where an uninterrupted one ends; so does one that plays several at once,
// with the same lag.
func TestResumes(t *testing.T) {
	s := settings(t, 40)
	s.Lag = 4
	want, err := Run(t.Context(), plan(t, s, newBowl(), 1))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spsa.jsonl")
	counted := newBowl()
	for life := 0; ; life++ {
		b := newBowl()
		b.stop = func(n int) bool { return n >= 7 }
		p := plan(t, s, b, 1+life%4)
		file, err := match.OpenFile(path, &p.Match.Terms)
		if err != nil {
			t.Fatal(err)
		}
		p.Match.File = file
		watched := 0
		p.Watch = func(*Tuning) { watched++ }
		got, err := Run(t.Context(), p)
		file.Close()
		for id := range b.played {
			counted.played[id]++
		}
		if err == nil {
			if !reflect.DeepEqual(got.Path, want.Path) {
				t.Errorf("ends at %v, not at %v", got.Values(), want.Values())
			}
			break
		}
		if !errors.Is(err, errStop) || life > 20 {
			t.Fatal(err)
		}
		// Half a line is what a kill during a write leaves.
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, `{"v":1,"id":"mte`)
		f.Close()
	}
	p := plan(t, s, newBowl(), 1)
	file, err := match.OpenFile(path, &p.Match.Terms)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[string]bool{}
	for _, g := range file.Games() {
		if seen[g.ID] {
			t.Errorf("game %s is there twice", g.ID)
		}
		seen[g.ID] = true
	}
	if len(seen) != 2*s.Pairs {
		t.Errorf("%d games, want %d", len(seen), 2*s.Pairs)
	}
	s.Params[0].Max, s.Seed = 90, 6
	other := plan(t, s, newBowl(), 1)
	file.Close()
	if _, err := match.OpenFile(path, &other.Match.Terms); !errors.Is(err, match.ErrTerms) ||
		!strings.Contains(err.Error(), "param A is 20,0,100,8 in the file and 20,0,90,8 now") || strings.Contains(err.Error(), "param B") {
		t.Errorf("other settings: %v", err)
	}
}

// TestFaults: a pair with a fault moves nothing and is named; too many end the run, and
// the next run goes on behind them.
func TestFaults(t *testing.T) {
	b := newBowl()
	b.fault = func(pair int) bool { return pair == 3 || pair == 9 }
	p := plan(t, settings(t, 20), b, 1)
	var failures []Failure
	p.Failed = func(f Failure) { failures = append(failures, f) }
	got, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got.Counted() != 18 || !reflect.DeepEqual(got.Path[3], got.Path[2]) || got.Results[2].Counted || !got.Results[3].Counted {
		t.Errorf("%d counted; %v", got.Counted(), got.Path[:5])
	}
	trial := got.Trial(2)
	if len(failures) != 2 || failures[0].Pair != 3 || failures[0].Kind != engine.FaultCrash || !reflect.DeepEqual(failures[0].Values, trial.Second) {
		t.Errorf("failures %+v", failures)
	}
	if len(b.played) != 38 {
		t.Errorf("%d games: the second of a pair with a fault is not needed", len(b.played))
	}
	for _, c := range []struct {
		fault func(int) bool
		want  string
	}{
		{func(pair int) bool { return pair >= 4 }, "the last 3"},
		{func(pair int) bool { return pair%3 == 0 }, "11 of 33"},
	} {
		b := newBowl()
		b.fault = c.fault
		if _, err := Run(t.Context(), plan(t, settings(t, 100), b, 1)); !errors.Is(err, ErrFaults) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "it fell") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestParseParam(t *testing.T) {
	for text, want := range map[string]string{
		"A=1,0,10,2":               "",
		"Skill Level=1,0,10,0.5":   "",
		"A=1.0,0.0,10.0,2":         "",
		"a=b=-1,-5,0,1":            "",
		"A":                        "NAME=START,MIN,MAX,STEP",
		"=1,0,10,2":                "NAME=START",
		"A=1,0,10":                 "3 numbers",
		"A=1,0,ten,2":              `"ten" is not a number`,
		"A=1,0,inf,2":              "not a number",
		"A=11,0,10,2":              "the start 11 is outside of 0 to 10",
		"A=1,10,0,2":               "nothing between 10 and 0",
		"A=1,0,10,0":               "more than 0",
		"A=1,0,10,-2":              "more than 0",
		"A=1,0,10,NaN":             "not a number",
		"A=1,0,10,0.4":             "at least 0.5",
		"A=1,0,10,6":               "at most half",
		"A=1.0,0.0,10.0,0.0000001": "",
	} {
		p, err := ParseParam(text)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		case want == "":
			if again, err := ParseParam(p.String()); err != nil || again != p {
				t.Errorf("%s: %s is read as %+v, %v", text, p, again, err)
			}
		}
	}
	s := Settings{Params: []Param{{Name: "A", Start: 1, Max: 9, Step: 1}, {Name: "a", Start: 1, Max: 9, Step: 1}}, Pairs: 1, Rate: 2}
	if err := s.Validate(); err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("%v, want four errors", err)
	}
}

func TestDraw(t *testing.T) {
	got, err := Run(t.Context(), plan(t, settings(t, 60), newBowl(), 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, tuning := range []*Tuning{got, New(got.Settings)} {
		var b strings.Builder
		if err := tuning.Draw(&b, chart.SVG); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{">games<", ">A<", ">score, %<"} {
			if !strings.Contains(b.String(), text) {
				t.Errorf("no %s in the drawing", text)
			}
		}
		if strings.Contains(b.String(), "NaN") {
			t.Error("NaN in the drawing")
		}
	}
}
