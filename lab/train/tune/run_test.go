package tune_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sparring/engine/gomoku"
	"sparring/engine/xiangqi"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/train/tune"
	"sparring/record"
)

// randomGames returns games of random moves, scored by the evaluation with its
// initial weights. A fit to the scores must find these weights.
func randomGames(t *testing.T, n int) []*record.Record {
	t.Helper()
	linear := xiangqi.NewLinear()
	room := make([]float64, len(linear.Names()))
	rng := rand.New(rand.NewPCG(5, 6))
	var all []*record.Record
	for i := range n {
		p, err := catalog.Setup("xiangqi", "xiangqi/simple", "")
		if err != nil {
			t.Fatal(err)
		}
		r := &record.Record{ID: fmt.Sprintf("g%d", i), Game: "xiangqi", Rules: "xiangqi/simple",
			Result: game.Draw, Source: record.Source{Build: "b"}}
		for range 40 {
			legal := p.Legal(nil)
			if len(legal) == 0 || p.Outcome().Over() {
				break
			}
			m := legal[rng.IntN(len(legal))]
			worth, _, err := linear.Coefficients(p, room)
			if err != nil {
				t.Fatal(err)
			}
			if worth > 100 { // the side that is ahead at the end has won
				r.Result = game.WonBy(p.Turn())
			} else if worth < -100 {
				r.Result = game.WonBy(p.Turn().Other())
			}
			r.Plies = append(r.Plies, record.Ply{Seat: p.Turn(), Move: p.Format(m),
				Think: &record.Think{Source: record.FromSearch, Score: int(worth)}})
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, r)
	}
	return all
}

func collect(t *testing.T, records []*record.Record) *tune.Games {
	t.Helper()
	g := &tune.Games{Game: records[0].Game}
	for _, r := range records {
		g.Add(r)
	}
	return g
}

func testPlan() tune.Plan {
	p := tune.Plan{Game: "xiangqi", Sampling: tune.Sampling{Seed: 1, PerGame: 6, Bound: 2000, HoldOut: 5}, Fit: tune.Usual(200)}
	p.Fit.Passes = 12
	return p
}

// TestRunIsReproducible: neither the order of the games nor an interruption changes
// the weights.
func TestRunIsReproducible(t *testing.T) {
	records := randomGames(t, 20)
	want, err := testPlan().Run(t.Context(), xiangqi.NewLinear(), collect(t, records), &tune.Trees{}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want.Games != 20 || want.Positions < 60 || want.GamesBuild != "b" || len(want.Weights) == 0 {
		t.Errorf("manifest %+v", want)
	}
	if want.After.Learnt >= want.Before.Learnt {
		t.Errorf("error %g before, %g after", want.Before.Learnt, want.After.Learnt)
	}

	keep := filepath.Join(t.TempDir(), "keep")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rand.New(rand.NewPCG(7, 8)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	stop := func(p tune.Progress) {
		if p.Passes == 7 {
			cancel()
		}
	}
	if _, err := testPlan().Run(ctx, xiangqi.NewLinear(), collect(t, records), &tune.Trees{}, keep, stop); !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped: %v", err)
	}
	passes := 0
	got, err := testPlan().Run(t.Context(), xiangqi.NewLinear(), collect(t, records), &tune.Trees{}, keep, func(p tune.Progress) {
		if passes == 0 {
			passes = p.Passes
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if passes != 8 {
		t.Errorf("resumed at pass %d, want 8", passes)
	}
	if err := want.Same(got); err != nil {
		t.Error(err)
	}

	path := filepath.Join(t.TempDir(), "weights.json")
	if err := got.Write(path); err != nil {
		t.Fatal(err)
	}
	back, err := tune.ReadManifest(path)
	if err != nil || !reflect.DeepEqual(back, got) {
		t.Errorf("read back: %v", err)
	}

	other := testPlan()
	other.Sampling.Seed = 2
	if _, err := other.Run(t.Context(), xiangqi.NewLinear(), collect(t, records), &tune.Trees{}, keep, nil); !errors.Is(err, tune.ErrState) {
		t.Errorf("another run's state: %v", err)
	}
	fresh, err := other.Run(t.Context(), xiangqi.NewLinear(), collect(t, records), &tune.Trees{}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want.Same(fresh) == nil {
		t.Error("another seed gives the same weights")
	}
	fewer, err := testPlan().Run(t.Context(), xiangqi.NewLinear(), collect(t, records[1:]), &tune.Trees{}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := want.Same(fewer); err == nil || !strings.Contains(err.Error(), "different games") {
		t.Errorf("other games: %v", err)
	}
}

// TestWhatIsRight: if the scores are those of the evaluation itself, a fit to scores
// does not change the weights.
func TestWhatIsRight(t *testing.T) {
	p := testPlan()
	p.Fit.Mix, p.Fit.Rate = 0, 0.01
	m, err := p.Run(t.Context(), xiangqi.NewLinear(), collect(t, randomGames(t, 20)), &tune.Trees{}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Before.Learnt > 1e-12 || m.After.Learnt > 1e-12 || len(m.Weights) > 0 {
		t.Errorf("error %g before, %g after, weights %v", m.Before.Learnt, m.After.Learnt, m.Weights)
	}
}

// TestPlayedOn: a game that its arbiter let go on after a repetition is read to its end.
func TestPlayedOn(t *testing.T) {
	records := randomGames(t, 20)
	var before []record.Ply
	for i, m := range strings.Fields(strings.Repeat("a0a1 a9a8 a1a0 a8a9 ", 3)) {
		before = append(before, record.Ply{Seat: game.Seat(i % 2), Move: m})
	}
	records[1].Plies = append(before, records[1].Plies...)
	if _, err := testPlan().Run(t.Context(), xiangqi.NewLinear(), collect(t, records), &tune.Trees{}, "", nil); err != nil {
		t.Error(err)
	}
}

// TestOpeningProcedure: the choices of an opening procedure are left out, and the moves after
// them are learnt from.
func TestOpeningProcedure(t *testing.T) {
	r := &record.Record{ID: "g", Game: "gomoku", Rules: "gomoku/freestyle-15+swap2", Result: game.FirstWins}
	p, err := catalog.Setup(r.Game, r.Rules, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, move := range []string{"h8", "i9", "g7", "stay", "j10", "f6"} {
		r.Plies = append(r.Plies, record.Ply{Seat: p.Turn(), Move: move, Think: &record.Think{Source: record.FromSearch, Score: 10}})
		if _, err := game.PlayText(p, move); err != nil {
			t.Fatal(err)
		}
	}
	l, err := gomoku.NewLinear("freestyle", nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := tune.Each(collect(t, []*record.Record{r}), tune.Sampling{Seed: 1, PerGame: 10, Bound: 100}, func(int) error { return nil },
		func(p game.Position, m game.Move, _ tune.Label) (string, bool, error) {
			_, _, err := l.Coefficients(p, make([]float64, len(l.Names())))
			return p.Format(m), true, err
		})
	if err != nil || !slices.Equal(all, []string{"j10", "f6"}) {
		t.Errorf("%v, %v", all, err)
	}
}

// TestDiverged: a fit whose weights mean nothing is an error, and not a file that no engine reads.
func TestDiverged(t *testing.T) {
	for _, rate := range []float64{1e5, 1e9} {
		p := testPlan()
		p.Fit.Rate = rate
		if got, err := p.Run(t.Context(), xiangqi.NewLinear(), collect(t, randomGames(t, 10)), &tune.Trees{}, "", nil); err == nil || !strings.Contains(err.Error(), "the fit has diverged") {
			t.Errorf("%g: %v, %+v", rate, err, got)
		}
	}
}

func TestBadGames(t *testing.T) {
	records := randomGames(t, 2)
	g := collect(t, append(records, records[0]))
	if g.Len() != 2 || g.Left != 1 {
		t.Errorf("%d games, %d left out", g.Len(), g.Left)
	}
	if g.Add(&record.Record{ID: "x", Game: "gomoku", Result: game.Draw}); g.Len() != 2 || g.Others != 1 {
		t.Errorf("with one of another game, %d games, %d of others", g.Len(), g.Others)
	}
	records[1].Plies[4].Move = "a0a9"
	_, err := testPlan().Run(t.Context(), xiangqi.NewLinear(), collect(t, records), &tune.Trees{}, "", nil)
	if err == nil || !strings.Contains(err.Error(), `game "g1": ply 5`) {
		t.Errorf("an illegal move: %v", err)
	}
	if _, err := testPlan().Run(t.Context(), xiangqi.NewLinear(), &tune.Games{}, &tune.Trees{}, "", nil); err == nil {
		t.Error("no games: no error")
	}

	dir := t.TempDir()
	for text, want := range map[string]string{"{": "unexpected end", "{}": "no games_digest", `{"games_digest":"x"}`: "passes"} {
		path := filepath.Join(dir, "m.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tune.ReadManifest(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := testPlan().Run(t.Context(), xiangqi.NewLinear(), collect(t, randomGames(t, 1)), &tune.Trees{}, path, nil); !errors.Is(err, tune.ErrState) {
			t.Errorf("state %s: %v", text, err)
		}
	}
}
