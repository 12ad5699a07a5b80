package xiangqi

import (
	"bufio"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

func never() bool { return false }

// TestProveMates tests the prover on positions whose mates by checks are known, and
// on some without a mate.
func TestProveMates(t *testing.T) {
	for _, c := range []struct {
		name, fen string
		moves     int // of the attacker; 0 is no mate by checks
	}{
		{"a rook on an open file", "3k5/9/9/9/9/9/9/R8/9/4K4 w", 1},
		{"two rooks", "3k5/9/9/9/9/9/9/R8/1R7/5K3 w", 2},
		{"a horse far away", "3k5/9/9/9/9/9/9/N8/9/4K4 w", 0},
		{"the side without pieces", "4k4/9/9/9/9/9/9/9/9/R2K5 b", 0},
	} {
		p := setUp(t, "xiangqi/simple", c.fen)
		a := adapt(t, p)
		a.Enter()
		proof, nodes, ok := a.Prove(100000, never)
		if ok != (c.moves > 0) {
			t.Errorf("%s: proven %v after %d nodes, line %v", c.name, ok, nodes, len(proof.Line))
			continue
		}
		if !ok {
			continue
		}
		if want := search.Win - search.Score(2*c.moves-1); proof.Score != want || len(proof.Line) != 2*c.moves-1 {
			t.Errorf("%s: score %d with %d moves, want %d", c.name, proof.Score, len(proof.Line), want)
		}
		for _, m := range proof.Line {
			if err := p.Play(m); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if out := p.Outcome(); out.Reason != game.Checkmate && out.Reason != game.Stalemate {
			t.Errorf("%s: the line ends in %s, not in mate", c.name, p)
		}
	}
}

// TestProveIsTrue walks at random and compares every proof with a search without the
// prover, which must find a win at least as short.
func TestProveIsTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	params := Params()
	params.ProveRoot = 0
	own := search.New(params, search.NewTable(1<<22)).NewGame(search.GameOptions{})
	proven := 0
	for walk := 0; proven < 40; walk++ {
		if walk == 3000 {
			t.Fatalf("only %d proofs", proven)
		}
		p := wander(t, rng, walk)
		if p.Outcome().Over() {
			continue
		}
		a := adapt(t, p)
		before := a.Enter()
		proof, nodes, ok := a.Prove(2000, never)
		if nodes > 2000+rules.MaxMoves {
			t.Fatalf("%s: %d nodes of 2000", p, nodes)
		}
		if a.Enter() != before {
			t.Fatalf("%s: Prove left another position", p)
		}
		if !ok || proof.Score < search.Win-5 {
			continue
		}
		proven++
		depth := int(search.Win - proof.Score)
		if r := own.Start(a, search.Limits{Depth: depth + 8, Mate: (depth + 1) / 2}, nil).Wait(); r.Score < proof.Score {
			t.Errorf("%s: proven %d, searched %d", p, proof.Score, r.Score)
		}
	}
}

// TestKeyAfter compares the predicted key with that of every next position.
func TestKeyAfter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, fen := range places {
		p := setUp(t, "xiangqi/simple+limit=none", fen)
		a := adapt(t, p)
		for range 60 {
			if a.Enter().Over {
				break
			}
			moves := allMoves(a, search.All, nil)
			if len(moves) == 0 {
				break
			}
			for _, e := range moves {
				want := a.KeyAfter(e.Move)
				a.Do(e.Move)
				if got := a.Enter().SearchKey; got != want {
					t.Fatalf("%s: KeyAfter(%s) is %x, the key then %x", p, p.Format(e.Move), want, got)
				}
				a.Undo(e.Move)
			}
			a.Do(moves[rng.IntN(len(moves))].Move)
		}
	}
}

// TestExternalMates solves the mates of a file of puzzles with one thread. It limits
// the nodes, which are the same everywhere; they take 20 seconds on an idle machine.
func TestExternalMates(t *testing.T) {
	dir := os.Getenv("SPARRING_EXTERNAL_DATA")
	if dir == "" {
		t.Skip("SPARRING_EXTERNAL_DATA names no folder with xiangqi-mates.tsv")
	}
	f, err := os.Open(filepath.Join(dir, "xiangqi-mates.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const most = 3000000 // nodes for one of them
	params := Params()
	params.ProveRoot = 100000
	table := search.NewTable(64 << 20)
	own := search.New(params, table).NewGame(search.GameOptions{})
	var nodes uint64
	var spent time.Duration
	solved, row := 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		row++
		fen, text, ok := strings.Cut(lines.Text(), "\t")
		if !ok || strings.HasPrefix(fen, "#") {
			continue
		}
		moves, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("row %d: %v", row, err)
		}
		table.Clear()
		r := own.Start(adapt(t, setUp(t, "xiangqi/simple", fen)), search.Limits{Mate: moves, Nodes: most}, nil).Wait()
		nodes, spent = nodes+r.Nodes, spent+r.Time
		if r.Score < search.Win-search.Score(2*moves-1) {
			t.Errorf("row %d, %s: no mate in %d, score %d after %d nodes", row, fen, moves, r.Score, r.Nodes)
			continue
		}
		solved++
	}
	t.Logf("%d solved, %d nodes, %v", solved, nodes, spent.Round(time.Millisecond))
	if solved < 240 || nodes > 8000000 {
		t.Errorf("%d solved with %d nodes, want all 240 with at most 8 million", solved, nodes)
	}
}
