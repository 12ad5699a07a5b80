package amazons

import (
	"math/rand/v2"
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
