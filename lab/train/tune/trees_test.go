package tune_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"sparring/engine/gomoku"
	"sparring/engine/search"
	"sparring/engine/xiangqi"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/train/trees"
	"sparring/lab/train/tune"
	"sparring/record"
)

// writeTrees writes a file of trees for each of some positions of random games, labelled
// with what the evaluation with its initial weights says, and more.
func writeTrees(t *testing.T, game string, more search.Score) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trees.jsonl")
	f, err := trees.Open(path, &trees.Terms{Game: game, Build: "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	linear := xiangqi.NewLinear()
	room := make([]float64, len(linear.Names()))
	for i, r := range randomGames(t, 12) {
		tree := &trees.Tree{Number: i + 1, Rules: r.Rules}
		p, err := catalog.Setup(r.Game, r.Rules, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, ply := range r.Plies {
			m, err := p.Parse(ply.Move)
			if err == nil {
				err = p.Play(m)
			}
			if err != nil {
				t.Fatal(err)
			}
			worth, quiet, err := linear.Coefficients(p, room)
			if err != nil {
				t.Fatal(err)
			}
			if quiet && len(tree.Positions) < 10 {
				tree.Positions = append(tree.Positions, trees.Position{Text: p.String(), Score: search.Score(worth) + more, Source: search.FromSearch})
			}
		}
		if err := f.Append(tree); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func loadTrees(t *testing.T, paths ...string) *tune.Trees {
	t.Helper()
	all, err := tune.LoadTrees(t.Context(), xiangqi.NewLinear(), "xiangqi", testPlan().Sampling, paths)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTreesCountByScore: the label of a position of a tree is all of its target, even
// where only results count in positions of games.
func TestTreesCountByScore(t *testing.T) {
	same, more := loadTrees(t, writeTrees(t, "xiangqi", 0)), loadTrees(t, writeTrees(t, "xiangqi", 300))
	if same.Len() < 60 || same.Len() != more.Len() || same.Digest == more.Digest || len(same.Inputs) != 1 {
		t.Fatalf("%d positions and %d, digests %s and %s", same.Len(), more.Len(), same.Digest, more.Digest)
	}
	p := testPlan()
	p.Fit.Mix = 1
	run := func(trees *tune.Trees) *tune.Manifest {
		m, err := p.Run(t.Context(), xiangqi.NewLinear(), collect(t, randomGames(t, 8)), trees, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	games, with, off := run(&tune.Trees{}), run(same), run(more)
	// The positions of trees have no error at first, so they lower the mean.
	if with.Positions != games.Positions+same.Len() || with.Before.Learnt >= games.Before.Learnt/2 {
		t.Errorf("error %+v of %d positions, of games alone %+v of %d", with.Before, with.Positions, games.Before, games.Positions)
	}
	if off.Before.Learnt <= with.Before.Learnt || off.Before.Held <= with.Before.Held {
		t.Errorf("error %+v with wrong labels, %+v with right ones", off.Before, with.Before)
	}
	if err := with.Same(run(same)); err != nil {
		t.Error(err)
	}
	if err := with.Same(off); err == nil || !strings.Contains(err.Error(), "different trees") {
		t.Errorf("other trees: %v", err)
	}
	if with.TreesDigest != same.Digest || len(with.Trees) != 1 {
		t.Errorf("manifest: digest %s, files %v", with.TreesDigest, with.Trees)
	}
}

func TestBadTrees(t *testing.T) {
	for path, want := range map[string]string{
		writeTrees(t, "gomoku", 0):             "of gomoku, want xiangqi",
		filepath.Join(t.TempDir(), "no.jsonl"): "no.jsonl",
	} {
		_, err := tune.LoadTrees(t.Context(), xiangqi.NewLinear(), "xiangqi", testPlan().Sampling, []string{path})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// besideLast returns games and a file of trees in which the move is always one beside the
// last stone: the only point beside a lone stone, or one of two in a row.
func besideLast(t *testing.T, n int, move func(p trees.Position) trees.Position) (*tune.Games, string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 9))
	path := filepath.Join(t.TempDir(), "trees.jsonl")
	f, err := trees.Open(path, &trees.Terms{Game: "gomoku", Build: "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	games := &tune.Games{Game: "gomoku"}
	for i := range n {
		r := &record.Record{ID: fmt.Sprint("g", i), Game: "gomoku", Rules: "gomoku/freestyle-15", Result: game.FirstWins, Source: record.Source{Build: "b"}}
		tree := &trees.Tree{Number: i + 1, Rules: r.Rules}
		p, err := catalog.Setup(r.Game, r.Rules, "")
		if err != nil {
			t.Fatal(err)
		}
		column, row := 4+rng.IntN(3), 4+rng.IntN(6)
		for ply := range 5 {
			text := fmt.Sprintf("%c%d", 'a'+column+ply, row+rng.IntN(2))
			tree.Positions = append(tree.Positions, move(trees.Position{Text: p.String(), Score: 10, Source: search.FromSearch, Move: text}))
			r.Plies = append(r.Plies, record.Ply{Seat: p.Turn(), Move: text, Think: &record.Think{Source: record.FromSearch, Score: 10}})
			m, err := p.Parse(text)
			if err == nil {
				err = p.Play(m)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Append(tree); err != nil {
			t.Fatal(err)
		}
		games.Add(r)
	}
	return games, path
}

// TestPolicyOfTrees: a policy is learnt from the moves of trees besides those of games, and
// a later round starts from the weights of an earlier one.
func TestPolicyOfTrees(t *testing.T) {
	games, path := besideLast(t, 40, func(p trees.Position) trees.Position { return p })
	plan := tune.PolicyPlan{Game: "gomoku", Rules: "freestyle", Sampling: tune.Sampling{Seed: 1, PerGame: 5, Bound: 1000, HoldOut: 4},
		Fit: tune.PolicyOptions{Passes: 20, Rate: 0.05, Pull: 1e-5}}
	run := func(from *tune.PolicyManifest, paths ...string) *tune.PolicyManifest {
		t.Helper()
		var data []byte
		if plan.From = ""; from != nil {
			var err error
			if data, err = json.Marshal(from); err != nil {
				t.Fatal(err)
			}
			plan.From = "first"
		}
		policy, err := gomoku.NewChoices("freestyle", data)
		if err != nil {
			t.Fatal(err)
		}
		choices, err := tune.LoadTreeChoices(t.Context(), policy, "gomoku", plan.Sampling, paths)
		if err != nil {
			t.Fatal(err)
		}
		m, err := plan.Run(t.Context(), policy, games, choices, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	alone, with := run(nil), run(nil, path)
	if with.Positions != alone.Positions+200 || alone.Positions < 100 || with.TreesDigest == "" || len(with.Trees) != 1 || with.Before != nil {
		t.Errorf("%d positions of games, %d with trees; %d files with digest %q, before %v", alone.Positions, with.Positions, len(with.Trees), with.TreesDigest, with.Before)
	}
	if with.Held.Top5 < 0.5 || with.Held.Loss > math.Log(50) {
		t.Errorf("moves beside the last stone are learnt badly: %+v", with.Held)
	}
	again := run(with, path)
	if again.Before == nil || math.Abs(again.Before.Loss-with.Held.Loss) > 1e-9 || again.Before.First != with.Held.First {
		t.Errorf("the second round starts from %+v, the first ended with %+v", again.Before, with.Held)
	}
	if again.Learnt.Loss >= with.Learnt.Loss {
		t.Errorf("the loss after the second round is %f, after the first %f", again.Learnt.Loss, with.Learnt.Loss)
	}
}

// TestTreesWithoutAMove: what is no choice of a search is left out, and a file without
// moves is named.
func TestTreesWithoutAMove(t *testing.T) {
	policy, err := gomoku.NewChoices("freestyle", nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*trees.Position){
		"no move: make the trees with --moves": func(p *trees.Position) { p.Move = "" },
		`point "z9"`:                           func(p *trees.Position) { p.Move = "z9" },
		"no moves chosen":                      func(p *trees.Position) { p.Score = 1000 },
		"no moves chosen by":                   func(p *trees.Position) { p.Source = "vcf" },
		"":                                     func(*trees.Position) {},
	} {
		_, path := besideLast(t, 2, func(p trees.Position) trees.Position { change(&p); return p })
		s := tune.Sampling{Seed: 1, PerGame: 5, Bound: 1000}
		choices, err := tune.LoadTreeChoices(t.Context(), policy, "gomoku", s, []string{path})
		if err == nil {
			_, err = tune.PolicyPlan{Sampling: s, Fit: tune.PolicyOptions{Passes: 1, Rate: 1}}.Run(t.Context(), policy, &tune.Games{}, choices, nil)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
