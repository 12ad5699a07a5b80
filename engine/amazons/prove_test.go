package amazons

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"sparring/engine/search"
	rules "sparring/game/amazons"
	"sparring/game/gametest"
)

// wins reports whether the side to move wins, by exhaustive search.
func wins(b *rules.Board, seen map[uint64]bool) bool {
	if won, ok := seen[b.Key()]; ok {
		return won
	}
	won := false
	for _, m := range b.Moves(nil) {
		b.Do(m)
		lost := !wins(b, seen)
		b.Undo(m)
		if lost {
			won = true
			break
		}
	}
	seen[b.Key()] = won
	return won
}

func never() bool { return false }

// TestProofsAreTrue: proofs are correct, and the move of a proof wins.
func TestProofsAreTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	won, lost := 0, 0
	for _, text := range []string{"1qq1/q2q/4/Q2Q/1QQ1 w", "1q1q1/q3q/5/Q3Q/1Q1Q1 w", "1q2q1/q4q/6/6/Q4Q/1Q2Q1 w", "8/q6Q/8/8/Q6q/8 w"} {
		for range 500 {
			g := setup(t, text)
			b := adapt(t, g).board
			for b.Free().Count() > 9 && b.CanMove() {
				gametest.Stroll(t, rng, g, 1)
				b = adapt(t, g).board
			}
			if !b.CanMove() {
				continue
			}
			p := adapt(t, g)
			proof, nodes, ok := p.Prove(1000, never)
			if nodes > 1000 {
				t.Fatalf("%s: %d nodes", g, nodes)
			}
			if p.board != b {
				t.Fatalf("%s: Prove changed the position", g)
			}
			if !ok {
				continue
			}
			if proof.Kind != "region" || proof.Score > -search.WinBound && proof.Score < search.WinBound {
				t.Fatalf("%s: proof %+v", g, proof)
			}
			if wins(&b, map[uint64]bool{}) != (proof.Score > 0) {
				t.Fatalf("%s: proof %+v is wrong", g, proof)
			}
			if proof.Score < 0 {
				lost++
				continue
			}
			won++
			if err := g.Play(proof.Line[0]); err != nil {
				t.Fatal(err)
			}
			b = g.(*rules.Position).Board()
			if wins(&b, map[uint64]bool{}) {
				t.Fatalf("%s: the move %s of proof %+v does not win", g, g.Format(proof.Line[0]), proof)
			}
		}
	}
	t.Logf("%d wins and %d losses proven", won, lost)
	if won < 50 || lost < 50 {
		t.Errorf("%d wins and %d losses proven: too few to show anything", won, lost)
	}
}

// TestProofNumbersAreTrue: what proof-number search says is correct, also from a table
// that knows other positions of the board, and its line keeps the result.
func TestProofNumbersAreTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for _, text := range []string{"1qq1/q2q/4/Q2Q/1QQ1 w", "1q1q1/q3q/Q3Q/1Q1Q1 w", "q2q/4/4/Q2Q w", "8/q6Q/8/Q6q w"} {
		solver := newProofSearch(&adapt(t, setup(t, text)).board)
		won, lost := 0, 0
		for range 150 {
			g := setup(t, text)
			p := adapt(t, g)
			for p.board.Free().Count() > 6 && p.board.CanMove() {
				gametest.Stroll(t, rng, g, 1)
				p = adapt(t, g)
			}
			p.proofs = solver
			before := p.board
			proof, nodes, ok := p.prove(1<<18, never)
			if !ok || p.board != before {
				t.Fatalf("%s: solved in %d nodes: %v, %+v; board changed: %v", g, nodes, ok, proof, p.board != before)
			}
			seen := map[uint64]bool{}
			if wins(&before, seen) != (proof.Score > 0) {
				t.Fatalf("%s: proof %+v is wrong", g, proof)
			}
			plies, _ := search.MateIn(proof.Score)
			if most := max(plies, -plies); most > before.Free().Count() || len(proof.Line) > most || plies > 0 != (plies%2 != 0) {
				t.Fatalf("%s: proof %+v: a win takes an odd number of plies, a loss an even one, and none more than the free squares", g, proof)
			}
			win := proof.Score > 0
			for _, m := range proof.Line {
				if err := g.Play(m); err != nil {
					t.Fatal(err)
				}
				b := g.(*rules.Position).Board()
				if win = !win; wins(&b, seen) != win {
					t.Fatalf("%s: the line %v goes wrong here", g, proof.Line)
				}
			}
			if proof.Score > 0 {
				won++
			} else {
				lost++
			}
		}
		if t.Logf("%s: %d wins and %d losses", text, won, lost); won < 8 || lost < 8 {
			t.Errorf("%s: %d wins and %d losses: too few to show anything", text, won, lost)
		}
	}
}

// TestFillsTerritories: the territories of an ordinary game are filled within the
// budget.
func TestFillsTerritories(t *testing.T) {
	for _, c := range []struct {
		position string
		score    search.Score
	}{
		{"5*4q/5*5/5*5/5*5/Q4*5/5*5 w", -search.Win + 2*29},       // 29 moves against 29
		{"5*3*q/5*5/5*5/5*5/Q4*5/5*5 w", search.Win - (2*29 - 1)}, // 29 against 28
		{"5*3*q/5*5/5*5/5*5/Q4*5/5*5 b", -search.Win + 2*28},
		{"5*4q/5*5/2*2*5/5*5/Q4*1*3/5*5 b", -search.Win + 2*28}, // 28 against 28
	} {
		p := adapt(t, setup(t, c.position))
		proof, nodes, ok := p.Prove(proveRoot, never)
		t.Logf("%s: %+v in %d nodes, %v", c.position, proof, nodes, ok)
		if !ok || proof.Score != c.score {
			t.Errorf("%s: %+v in %d nodes, %v, want score %d", c.position, proof, nodes, ok, c.score)
		}
	}
}

// longest returns the greatest number of moves in a row that the side to move can
// make if the other one never moves, by plain search.
func longest(b *rules.Board, seen map[uint64]int) int {
	if n, ok := seen[b.Key()]; ok {
		return n
	}
	most := 0
	for _, m := range b.Moves(nil) {
		b.Do(m)
		b.Pass()
		most = max(most, 1+longest(b, seen))
		b.Pass()
		b.Undo(m)
	}
	seen[b.Key()] = most
	return most
}

// TestEndingsAreExact: in endings of games between players that like mobility, once
// every area belongs to one side, the number of plies to the end is exact.
func TestEndingsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	endings, defective := 0, 0
	for endings < 500 {
		g := setup(t, []string{"2q3/5q/6/6/Q5/3Q2 w", "1q1q1/q3q/5/Q3Q/1Q1Q1 w", "1qq1/q2q/4/4/Q2Q/1QQ1 w"}[rng.IntN(3)])
		for {
			b := g.(*rules.Position).Board()
			if !b.CanMove() {
				break
			}
			open := b.Free().Or(b.Amazons(0)).Or(b.Amazons(1))
			if b.Connected(b.Amazons(0), open).And(b.Amazons(1)).Empty() {
				break
			}
			moves := g.Legal(nil)
			best := moves[rng.IntN(len(moves))]
			if rng.IntN(5) > 0 {
				like := spreading(g)
				for range 8 {
					if m := moves[rng.IntN(len(moves))]; like(m) > like(best) {
						best = m
					}
				}
			}
			if err := g.Play(best); err != nil {
				t.Fatal(err)
			}
		}
		b := g.(*rules.Position).Board()
		if !b.CanMove() || b.Free().Count() > 10 { // plain search takes too long
			continue
		}
		endings++
		mine := longest(&b, map[uint64]int{})
		b.Pass()
		theirs := longest(&b, map[uint64]int{})
		b.Pass()
		if mine+theirs < b.Free().Count() {
			defective++
		}
		want := search.Win - search.Score(2*theirs+1)
		if mine <= theirs {
			want = -search.Win + search.Score(2*mine)
		}
		if proof, nodes, ok := adapt(t, g).Prove(proveRoot, never); !ok || proof.Score != want {
			t.Fatalf("%s: %+v in %d nodes, %v; want %d: %d moves against %d", g, proof, nodes, ok, want, mine, theirs)
		}
	}
	t.Logf("%d endings, %d with defective areas or squares that nobody reaches", endings, defective)
	if defective < 50 {
		t.Errorf("%d of %d endings have a defective area", defective, endings)
	}
}

// Two positions have the same key if, and only if, one is the image of the other. All
// places of one amazon of each side are compared: on a square board, and on an oblong
// one whose free squares are a square, so that to turn them is no symmetry.
func TestProofKeys(t *testing.T) {
	type square struct{ col, row int }
	for _, size := range []square{{4, 4}, {4, 3}} {
		arrow := func(s square) bool { return size.col != size.row && s.col == size.col-1 }
		var all []square
		for row := range size.row {
			for col := range size.col {
				all = append(all, square{col, row})
			}
		}
		images := []func(square) square{
			func(s square) square { return s },
			func(s square) square { return square{size.col - 1 - s.col, s.row} },
			func(s square) square { return square{s.col, size.row - 1 - s.row} },
			func(s square) square { return square{size.col - 1 - s.col, size.row - 1 - s.row} },
		}
		if size.col == size.row {
			for _, image := range images[:4:4] {
				images = append(images, func(s square) square { s = image(s); return square{s.row, s.col} })
			}
		}
		board := func(first, second square, image func(square) square) string {
			rows := make([][]byte, size.row)
			for i := range rows {
				rows[i] = bytes.Repeat([]byte("1"), size.col)
			}
			put := func(s square, what byte) { s = image(s); rows[size.row-1-s.row][s.col] = what }
			for _, s := range all {
				if arrow(s) {
					put(s, '*')
				}
			}
			put(first, 'Q')
			put(second, 'q')
			return strings.NewReplacer("1111", "4", "111", "3", "11", "2").Replace(string(bytes.Join(rows, []byte("/"))))
		}
		var solver *proofSearch
		keys, classes := map[string]uint64{}, map[uint64]string{}
		for _, first := range all {
			for _, second := range all {
				if first == second || arrow(first) || arrow(second) {
					continue
				}
				text, least := board(first, second, images[0]), ""
				for _, image := range images {
					if other := board(first, second, image); least == "" || other < least {
						least = other
					}
				}
				b := &adapt(t, setup(t, text+" w")).board
				if solver == nil {
					solver = newProofSearch(b)
				}
				k := solver.keys(b)
				key := solver.key(&k, b.Turn())
				if known, ok := keys[least]; ok && known != key {
					t.Errorf("%s has another key than its image %s", text, least)
				}
				if known, ok := classes[key]; ok && known != least {
					t.Errorf("%s has the key of %s, which is no image", text, known)
				}
				keys[least], classes[key] = key, least
				if solver.key(&k, b.Turn().Other()) == key {
					t.Errorf("%s: the key does not tell the side to move", text)
				}
			}
		}
	}
}
