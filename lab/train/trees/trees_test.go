package trees

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
)

// ruleSets cover the games, and an opening procedure.
var ruleSets = []string{"xiangqi/simple", "gomoku/freestyle-15", "gomoku/renju-15", "gomoku/freestyle-15+swap2", "amazons/6x6"}

// someGames returns games of random moves, near the stones in Gomoku.
func someGames(t *testing.T, rules string, n int) *Games {
	t.Helper()
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	a, err := engine.Adapter(r.Game)
	if err != nil {
		t.Fatal(err)
	}
	games := &Games{Game: r.Game}
	for i := range n {
		rng := rand.New(rand.NewPCG(3, uint64(i)))
		p, err := r.New("")
		if err != nil {
			t.Fatal(err)
		}
		rec := &record.Record{ID: fmt.Sprint("g", i), Game: r.Game, Rules: r.Name}
		for range 16 {
			moves := p.Legal(nil)
			if a.Openings.Moves != nil && rng.IntN(4) > 0 {
				if near := a.Openings.Moves(p); len(near) > 0 {
					moves = near
				}
			}
			if len(moves) == 0 {
				break
			}
			m := moves[rng.IntN(len(moves))]
			rec.Plies = append(rec.Plies, record.Ply{Seat: p.Turn(), Move: p.Format(m)})
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
		}
		if err := games.Add(rec); err != nil {
			t.Fatal(err)
		}
	}
	return games
}

var quick = Plan{TreeNodes: 300, Nodes: 100, PerTree: 5, Seed: 7}

// makeFile makes a file and returns what is in it.
func makeFile(t *testing.T, path string, p Plan, games *Games, trees, concurrency int) []byte {
	t.Helper()
	f, err := Open(path, p.Terms(games))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := p.Run(t.Context(), games, f, trees, concurrency, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// quickMoves draws positions for a policy.
var quickMoves = Plan{TreeNodes: 300, Nodes: 100, PerTree: 5, Seed: 7, Moves: true}

// TestLabels: in every game the positions are where a search would evaluate them, or run
// through their moves, and each has the score that a search of its text gives, and the
// move for a policy.
func TestLabels(t *testing.T) {
	for _, name := range ruleSets {
		t.Run(name, func(t *testing.T) { testLabels(t, name, quick) })
		t.Run(name+" moves", func(t *testing.T) { testLabels(t, name, quickMoves) })
	}
}

func testLabels(t *testing.T, name string, plan Plan) {
	games := someGames(t, name, 5)
	path := filepath.Join(t.TempDir(), "trees.jsonl")
	makeFile(t, path, plan, games, 6, 1)
	a, err := engine.Adapter(games.Game)
	if err != nil {
		t.Fatal(err)
	}
	kernel := search.New(a.Params(), search.NewTable(0)).NewGame(search.GameOptions{Fresh: search.NewTables(tableBytes)})
	defer kernel.Close()
	positions := 0
	terms, err := Read(path, func(tree Tree) error {
		if len(tree.Positions) > plan.PerTree {
			t.Errorf("tree %d: %d positions", tree.Number, len(tree.Positions))
		}
		for _, labelled := range tree.Positions {
			p, err := catalog.Setup(games.Game, tree.Rules, labelled.Text)
			if err != nil {
				return err
			}
			pos, err := a.New(p)
			if err != nil {
				return err
			}
			if node := pos.Enter(); node.Over || node.Forced {
				t.Errorf("%s is settled", labelled.Text)
			}
			r := kernel.Start(pos, search.Limits{Nodes: plan.Nodes}, nil).Wait()
			if r.Score != labelled.Score || r.Source != labelled.Source {
				t.Errorf("%s: %d by %s, a search says %d by %s", labelled.Text, labelled.Score, labelled.Source, r.Score, r.Source)
			}
			move := ""
			if plan.Moves {
				move = p.Format(r.Move)
			}
			if labelled.Move != move {
				t.Errorf("%s: move %q, a search says %q", labelled.Text, labelled.Move, move)
			}
			positions++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if positions < 10 || terms.Plan != plan || terms.Game != games.Game || terms.GamesDigest != games.Digest() {
		t.Errorf("%d positions, terms %+v", positions, terms)
	}
}

// TestSampledSearch: a search that is sampled is the same search, and its sample leads
// to positions that it evaluated.
func TestSampledSearch(t *testing.T) {
	for _, name := range ruleSets {
		p, err := catalog.Setup(strings.Split(name, "/")[0], strings.TrimSuffix(name, "+swap2"), "")
		if err != nil {
			t.Fatal(err)
		}
		a, err := engine.Adapter(p.Rules().Game)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			m, ok := likely(entered(t, a.New, p), rand.New(rand.NewPCG(1, 1)))
			if !ok {
				t.Fatal(name, "has no move")
			}
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
		}
		kernel := search.New(a.Params(), search.NewTable(0)).NewGame(search.GameOptions{Fresh: search.NewTables(tableBytes)})
		defer kernel.Close()
		limits := search.Limits{Nodes: 3000}
		plain := kernel.Start(entered(t, a.New, p), limits, nil).Wait()
		s := &sample{most: 100, rng: rand.New(rand.NewPCG(1, 2))}
		got := kernel.Start(sampling(entered(t, a.New, p), s), limits, nil).Wait()
		if got.Score != plain.Score || got.Nodes != plain.Nodes || got.Depth != plain.Depth || !slices.Equal(got.PV, plain.PV) {
			t.Errorf("%s: sampled %+v, otherwise %+v", name, got, plain)
		}
		if len(s.lines) != s.most || s.seen < 300 {
			t.Errorf("%s: %d positions of %d", name, len(s.lines), s.seen)
		}
		// Moves are run through at the root, where nothing is evaluated, and at fewer positions.
		ofMoves := &sample{moves: true, most: 3000, rng: rand.New(rand.NewPCG(1, 2))}
		if again := kernel.Start(sampling(entered(t, a.New, p), ofMoves), limits, nil).Wait(); again.Nodes != plain.Nodes || again.Score != plain.Score {
			t.Errorf("%s: sampled %+v, otherwise %+v", name, again, plain)
		}
		if ofMoves.seen == 0 || ofMoves.seen >= s.seen || !slices.ContainsFunc(ofMoves.lines, func(line []game.Move) bool { return len(line) == 0 }) {
			t.Errorf("%s: moves were run through at %d positions, of %d that were evaluated", name, ofMoves.seen, s.seen)
		}
		lengths := map[int]bool{}
		for _, line := range s.lines {
			if slices.Contains(line, game.NoMove) {
				t.Errorf("%s: a line with a null move", name)
			}
			q, err := after(p, line)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if node := entered(t, a.New, q).Enter(); node.Over || node.Forced {
				t.Errorf("%s: %s is settled", name, q)
			}
			lengths[len(line)] = true
		}
		if len(lengths) < 3 {
			t.Errorf("%s: lines of lengths %v only", name, lengths)
		}
	}
}

func entered(t *testing.T, adapt func(game.Position) (search.Position, error), p game.Position) search.Position {
	t.Helper()
	pos, err := adapt(p)
	if err != nil {
		t.Fatal(err)
	}
	pos.Enter()
	return pos
}

// TestSampleIsUniform: what comes early is drawn as often as what comes late.
func TestSampleIsUniform(t *testing.T) {
	const all, most, rounds = 40, 10, 4000
	rng := rand.New(rand.NewPCG(8, 8))
	var drawn [all]int
	for range rounds {
		s := &sample{most: most, rng: rng}
		for i := range all {
			s.add([]game.Move{game.Move(i)})
		}
		for _, line := range s.lines {
			drawn[line[0]]++
		}
	}
	const want = rounds * most / all // with a deviation of 27
	for i, n := range drawn {
		if n < want-140 || n > want+140 {
			t.Errorf("number %d was drawn %d times, want about %d", i, n, want)
		}
	}
}

// TestSameFile: the file depends neither on concurrency, nor on where a run was killed,
// nor on the order of the games.
func TestSameFile(t *testing.T) {
	games := someGames(t, "gomoku/freestyle-15", 5)
	dir := t.TempDir()
	want := makeFile(t, filepath.Join(dir, "whole"), quick, games, 8, 1)
	if got := makeFile(t, filepath.Join(dir, "parallel"), quick, games, 8, 3); !bytes.Equal(got, want) {
		t.Error("three trees at a time make another file")
	}
	path := filepath.Join(dir, "killed")
	for _, size := range []int{len(want) / 3, len(want) - 1} {
		if err := os.WriteFile(path, want[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		if got := makeFile(t, path, quick, games, 8, 2); !bytes.Equal(got, want) {
			t.Errorf("after %d of %d bytes the run ends with another file", size, len(want))
		}
	}
	if got := makeFile(t, path, quick, games, 3, 1); !bytes.Equal(got, want) {
		t.Error("fewer trees change a file")
	}
	longer := makeFile(t, path, quick, games, 9, 1)
	if !bytes.HasPrefix(longer, want) || len(longer) == len(want) {
		t.Error("more trees do not extend a file")
	}
	other := quick
	other.Seed++
	if _, err := Open(path, other.Terms(games)); !errors.Is(err, ErrTerms) || !strings.Contains(err.Error(), "seed is") {
		t.Errorf("another seed: %v", err)
	}
	if _, err := Open(path, quick.Terms(someGames(t, "gomoku/freestyle-15", 4))); !errors.Is(err, ErrTerms) || !strings.Contains(err.Error(), "games is 5 in the file and 4 now") {
		t.Errorf("other games: %v", err)
	}
	if got := makeFile(t, filepath.Join(dir, "other"), other, games, 8, 1); bytes.Equal(got[bytes.IndexByte(got, '\n'):], want[bytes.IndexByte(want, '\n'):]) {
		t.Error("another seed makes the same trees")
	}
}

// TestInterrupted: a run that is cancelled ends with the error of its context and leaves
// whole lines.
func TestInterrupted(t *testing.T) {
	games := someGames(t, "gomoku/freestyle-15", 5)
	path := filepath.Join(t.TempDir(), "trees")
	f, err := Open(path, quick.Terms(games))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err = quick.Run(ctx, games, f, 1<<30, 2, func() {
		if f.Trees() == 3 {
			cancel()
		}
	})
	f.Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	n := 0
	if _, err := Read(path, func(Tree) error { n++; return nil }); err != nil || n != f.Trees() || n < 3 {
		t.Errorf("%d trees in the file, %d were made: %v", n, f.Trees(), err)
	}
}

func TestGames(t *testing.T) {
	rec := func(rules, position string, moves ...string) *record.Record {
		r := &record.Record{ID: "g", Game: "gomoku", Rules: rules, Position: position}
		for _, m := range moves {
			r.Plies = append(r.Plies, record.Ply{Move: m})
		}
		return r
	}
	const free = "gomoku/freestyle-15"
	a, b := &Games{Game: "gomoku", Rules: free}, &Games{Game: "gomoku"}
	first, second := rec(free, "", "h8", "g7"), rec(free, "15/15/15/15/15/15/15/7x7/15/15/15/15/15/15/15 w", "g7")
	for _, r := range []*record.Record{first, second, first, rec(free, ""), rec("gomoku/renju-15", "", "h8")} {
		if err := a.Add(r); err != nil {
			t.Error(err)
		}
	}
	for _, r := range []*record.Record{second, first} {
		if err := b.Add(r); err != nil {
			t.Error(err)
		}
	}
	if a.Len() != 2 || a.Left != 3 || b.Left != 0 || a.Digest() != b.Digest() {
		t.Errorf("%d games, %d and %d left, digests %s and %s", a.Len(), a.Left, b.Left, a.Digest(), b.Digest())
	}
	if err := b.Add(rec("gomoku/renju-15", "", "h8")); err != nil || b.Len() != 3 || a.Digest() == b.Digest() {
		t.Errorf("a third game: %v, %d games", err, b.Len())
	}
	for want, r := range map[string]*record.Record{
		"ply 2":         rec(free, "", "h8", "h8"),
		"unknown rules": rec("gomoku/nonesuch", "", "h8"),
		"syntax":        rec(free, "nonsense", "h8"),
	} {
		if err := b.Add(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := b.Add(&record.Record{ID: "g", Game: "xiangqi"}); err != nil || b.Others != 1 {
		t.Errorf("another game's: %v, %d of others", err, b.Others)
	}
	if b.Len() != 3 {
		t.Errorf("%d games after errors and one of another game", b.Len())
	}
}

// TestReadRefuses: damage is named with its line.
func TestReadRefuses(t *testing.T) {
	const head = `{"trees":1,"game":"gomoku","tree_nodes":1,"nodes":1,"per_tree":1,"seed":"1","games":1,"games_digest":"x","build":"b"}` + "\n"
	const tree = `{"tree":1,"rules":"r","positions":[{"position":"p","score":3,"source":"search"}]}` + "\n"
	for text, want := range map[string]string{
		"":                         "is empty",
		"{}\n":                     "line 1: not a file of labelled trees",
		`{"trees":2}` + "\n":       "line 1: version 2",
		head + "{]\n":              "line 2: invalid character",
		head + tree + tree:         "line 3: tree 1, want 2",
		head + `{"tree":2}` + "\n": "line 2: tree 2, want 1",
		head + strings.Replace(tree, "3,", "99999,", 1):   "line 2: not a labelled position",
		head + strings.Replace(tree, `"p"`, `""`, 1):      "line 2: not a labelled position",
		head + strings.Replace(tree, `"search"`, `""`, 1): "line 2: not a labelled position",
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path, func(Tree) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	// An incomplete last line is of a run under way.
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(head+tree+tree[:9]), 0o644); err != nil {
		t.Fatal(err)
	}
	n := 0
	if _, err := Read(path, func(Tree) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d trees, %v", n, err)
	}
}

func TestValidate(t *testing.T) {
	err := Plan{}.Validate()
	if err == nil || !strings.Contains(err.Error(), "0 nodes a tree") || !strings.Contains(err.Error(), "0 positions a tree") {
		t.Error(err)
	}
	if err := quick.Run(t.Context(), &Games{Game: "gomoku"}, nil, 1, 1, nil); err == nil {
		t.Error("no games are no error")
	}
}
