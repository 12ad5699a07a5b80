package tune_test

import (
	"path/filepath"
	"strings"
	"testing"

	"sparring/engine/search"
	"sparring/engine/xiangqi"
	"sparring/game/catalog"
	"sparring/lab/trees"
	"sparring/lab/tune"
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
