package review_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
	"sparring/record/review"
)

func start(t *testing.T, rules, position string) game.Position {
	t.Helper()
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New(position)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestClasses(t *testing.T) {
	for lost, want := range map[float64]review.Class{0: "", 0.0999: "", 0.1: review.Inaccuracy, 0.1999: review.Inaccuracy,
		0.2: review.Mistake, 0.2999: review.Mistake, 0.3: review.Blunder, 1: review.Blunder} {
		if got := review.ClassOf(lost); got != want {
			t.Errorf("a loss of %g is %q, want %q", lost, got, want)
		}
	}
	for _, c := range []struct {
		result game.Result
		seat   game.Seat
		chance float64
	}{{game.FirstWins, game.First, 1}, {game.FirstWins, game.Second, 0}, {game.SecondWins, game.Second, 1}, {game.Draw, game.First, 0.5}} {
		if got := review.ChanceOf(game.Outcome{Result: c.result}, c.seat); got != c.chance {
			t.Errorf("%s: the %s seat has %g, want %g", c.result, c.seat, got, c.chance)
		}
	}
}

// analyst answers from tables: the chance of the seat to act in each position, and
// those of the moves that are compared.
type analyst struct {
	chances  []float64
	best     []string
	compared map[string]float64
	asked    []string
	fail     int // the request that fails, from 1; 0: none
}

var errAnalyst = errors.New("the analyst is gone")

func (a *analyst) ask(_ context.Context, ply int, consider []string) (protocol.Analysis, error) {
	a.asked = append(a.asked, strings.Join(append([]string{string(rune('0' + ply))}, consider...), " "))
	if len(a.asked) == a.fail {
		return protocol.Analysis{}, errAnalyst
	}
	if len(consider) == 0 {
		return protocol.Analysis{Depth: 7, Chance: &a.chances[ply], Lines: []protocol.AnalysisLine{{Chance: &a.chances[ply], Moves: []string{a.best[ply], "x"}}}}, nil
	}
	var found protocol.Analysis
	for _, m := range consider {
		if c, ok := a.compared[m]; ok {
			found.Lines = append(found.Lines, protocol.AnalysisLine{Chance: &c, Moves: []string{m, "reply"}})
		}
	}
	return found, nil
}

// TestGame: the chances before and after a move show which moves to compare, and the
// comparison what they lost. A move that an analyst refuses to consider loses all.
func TestGame(t *testing.T) {
	moves := []string{"h8", "a1", "h9", "a2", "c3"}
	g, err := review.New(start(t, "gomoku/freestyle-15", ""), moves)
	if err != nil {
		t.Fatal(err)
	}
	a := &analyst{
		chances:  []float64{0.5, 0.5, 0.9, 0.05, 0.98, 0.7},
		best:     []string{"h8", "i9", "h9", "o15", "i8", "b1"},
		compared: map[string]float64{"i9": 0.5, "a1": 0.25, "i8": 0.98},
	}
	g.Each(func(ply int) bool {
		if err := g.Analyse(t.Context(), ply, a.ask); err != nil {
			t.Error(err)
		}
		return true
	})
	want := []struct {
		chance, lost float64
		class        review.Class
	}{{0.5, 0, ""}, {0.5, 0.25, review.Mistake}, {0.9, 0, ""}, {0.95, 0.03, ""}, {0.98, 0.98, review.Blunder}, {0.3, 0, ""}}
	for i, p := range g.Positions() {
		if p.Chance == nil || math.Abs(*p.Chance-want[i].chance) > 1e-9 || math.Abs(p.Lost-want[i].lost) > 1e-9 || p.Class != want[i].class ||
			p.Best != a.best[i] || p.Depth != 7 || p.Turn != game.Seat(i%2) {
			t.Errorf("ply %d: %+v, want %+v", i, p, want[i])
		}
	}
	if chance, ok := g.Positions()[3].Mover(); !ok || math.Abs(chance-0.05) > 1e-9 {
		t.Errorf("the mover's chance is %g", chance)
	}
	if want := []string{"5", "4", "4 i8 c3", "3", "2", "1", "1 i9 a1", "0"}; !slices.Equal(a.asked, want) {
		t.Errorf("asked %q, want %q", a.asked, want)
	}
	if done, total := g.Progress(); done != 6 || total != 6 {
		t.Errorf("%d of %d", done, total)
	}
}

// TestRefuted: where the comparison finds that nothing was lost, the chances are those that it
// found, and not the spike that had made the move suspect. Where it confirms a mistake, or the
// engine leaves out the move, they stay.
func TestRefuted(t *testing.T) {
	moves := []string{"h8", "a1", "h9"}
	for _, c := range []struct {
		compared map[string]float64
		class    review.Class
		want     [2]float64 // of seat first, before and after the second move
	}{
		{map[string]float64{"i9": 0.52, "a1": 0.5}, "", [2]float64{0.48, 0.5}},
		{map[string]float64{"i9": 0.5, "a1": 0.25}, review.Mistake, [2]float64{0.5, 0.9}},
		{map[string]float64{"i9": 0.5}, review.Blunder, [2]float64{0.5, 0.9}},
		{map[string]float64{"a1": 0.5}, "", [2]float64{0.5, 0.9}},
	} {
		g, err := review.New(start(t, "gomoku/freestyle-15", ""), moves)
		if err != nil {
			t.Fatal(err)
		}
		a := &analyst{chances: []float64{0.5, 0.5, 0.9, 0.1}, best: []string{"h8", "i9", "h9", "o15"}, compared: c.compared}
		g.Each(func(ply int) bool { return g.Analyse(t.Context(), ply, a.ask) == nil })
		all := g.Positions()
		got := [2]float64{*all[1].Chance, *all[2].Chance}
		if all[1].Class != c.class || math.Abs(got[0]-c.want[0])+math.Abs(got[1]-c.want[1]) > 1e-9 {
			t.Errorf("compared %v: class %q, chances %v, want %q, %v", c.compared, all[1].Class, got, c.class, c.want)
		}
	}
}

// TestResume: after an error nothing that is known is asked again.
func TestResume(t *testing.T) {
	moves := []string{"h8", "a1", "h9"}
	chances := []float64{0.5, 0.8, 0.5, 0.5}
	for fail := 1; fail <= 5; fail++ {
		g, err := review.New(start(t, "gomoku/freestyle-15", ""), moves)
		if err != nil {
			t.Fatal(err)
		}
		a := &analyst{chances: chances, best: []string{"h8", "i9", "h9", "o15"}, compared: map[string]float64{"i9": 0.8, "a1": 0.5}, fail: fail}
		failed := 0
		for range 2 {
			g.Each(func(ply int) bool {
				err := g.Analyse(t.Context(), ply, a.ask)
				if err != nil && !errors.Is(err, errAnalyst) {
					t.Error(err)
				}
				if err != nil {
					failed++
				}
				return err == nil
			})
		}
		if p := g.Positions()[1]; failed != 1 || p == nil || p.Class != review.Blunder || len(a.asked) != 6 {
			t.Errorf("request %d failed: %d errors, %+v, asked %q", fail, failed, p, a.asked)
		}
	}
}

// TestEnds: a position in which the rules have ended the game is not analysed, unless
// the game went on.
func TestEnds(t *testing.T) {
	moves := []string{"a1", "a15", "b1", "b15", "c1", "c15", "d1", "d15", "e1"}
	g, err := review.New(start(t, "gomoku/freestyle-15", ""), moves)
	if err != nil {
		t.Fatal(err)
	}
	last := g.Positions()[len(moves)]
	if last == nil || last.Chance == nil || *last.Chance != 1 || last.Best != "" {
		t.Errorf("the end: %+v", last)
	}
	if _, total := g.Progress(); total != len(moves) || len(g.Keys()) != len(moves) {
		t.Errorf("%d positions to analyse, %d keys", total, len(g.Keys()))
	}
	// By the rules, king against king is a draw at once.
	p := start(t, "xiangqi/wxf", "3k5/9/9/9/9/9/9/9/5r3/5K3 w")
	g, err = review.New(p, []string{"f0f1", "d9d8", "f1f0"})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range g.Positions() {
		if ended := i == 3; ended != (p != nil) {
			t.Errorf("ply %d: %+v", i, p)
		}
	}
	if _, err := review.New(start(t, "gomoku/freestyle-15", ""), []string{"h8", "h8"}); !errors.Is(err, game.ErrIllegal) || !strings.Contains(err.Error(), "ply 2") {
		t.Errorf("an illegal move: %v", err)
	}
}
