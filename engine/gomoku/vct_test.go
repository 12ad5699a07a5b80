package gomoku

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

func TestVCTExternal(t *testing.T) {
	dir := os.Getenv("SPARRING_EXTERNAL_DATA")
	if dir == "" {
		t.Skip("SPARRING_EXTERNAL_DATA does not name the folder of the external test data")
	}
	data, err := os.ReadFile(filepath.Join(dir, "gomoku-renju-vcf.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for record := range strings.SplitSeq(string(data), "\n\n") {
		head, body, _ := strings.Cut(record, "\n")
		if !strings.Contains(head, "kind=VC") {
			continue
		}
		var rows []string
		for line := range strings.Lines(body) {
			if line = strings.TrimSpace(line); len(line) == 15 && strings.Trim(line, "XO.") == "" {
				for n := 15; n > 0; n-- {
					line = strings.ReplaceAll(line, strings.Repeat(".", n), strconv.Itoa(n))
				}
				rows = append(rows, strings.ToLower(line))
			}
		}
		side := " b"
		if strings.Contains(head, "side=White") {
			side = " w"
		}
		g := setUp(t, "gomoku/renju-15", strings.Join(rows, "/")+side, "")
		began := time.Now()
		proof, nodes, ok := adapt(t, g).proveVCT(1<<30, func() bool { return time.Since(began) > 5*time.Second })
		var line []string
		for _, m := range proof.Line {
			line = append(line, g.Format(m))
		}
		t.Logf("%.60s: %v %d nodes, %v, score %d, %v", head, ok, nodes, time.Since(began).Round(time.Millisecond), search.Win-proof.Score, line)
	}
}

// checker confirms that the attacker wins, by the rules alone: the prover is asked
// for the attacker's moves, and every legal reply is tried. It knows nothing of
// rows, only of five stones in a line.
type checker struct {
	t        testing.TB
	p        *position // for the prover
	board    gomoku.Board
	attacker gomoku.Colour
	won      map[uint64]int // plies within which positions with the attacker to move are won
	nodes    int
	limit    int // of nodes; beyond it the check is given up
}

func newChecker(t testing.TB, g game.Position, limit int) *checker {
	p := adapt(t, g)
	return &checker{t: t, p: p, board: g.(*gomoku.Position).Board(), attacker: p.toMove, won: map[uint64]int{}, limit: limit}
}

// makesFive reports whether a stone of c on p makes a row that wins.
func (k *checker) makesFive(p gomoku.Point, c gomoku.Colour) bool {
	x, y := k.board.Column(p), k.board.RowOf(p)
	for _, d := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}} {
		n := 1
		for _, sign := range []int{-1, 1} {
			for i := 1; ; i++ {
				q := k.board.Point(x+sign*i*d[0], y+sign*i*d[1])
				if q == gomoku.NoPoint {
					break
				}
				if owner, ok := k.board.At(q); !ok || owner != c {
					break
				}
				n++
			}
		}
		if n == 5 || n > 5 && k.p.set.Line(c) == gomoku.FiveOrMore {
			return true
		}
	}
	return false
}

// fives lists the points where c makes a row that wins.
func (k *checker) fives(c gomoku.Colour) (list []gomoku.Point) {
	for p := range gomoku.Point(k.board.Points) {
		if k.board.Empty(p) && k.makesFive(p, c) {
			list = append(list, p)
		}
	}
	return list
}

func (k *checker) forbidden(p gomoku.Point, c gomoku.Colour) bool {
	return k.p.set.Forbids(c) && k.board.Forbidden(p)
}

func (k *checker) do(p gomoku.Point, c gomoku.Colour) {
	k.nodes++
	k.board.Put(p, c)
	k.p.Do(gomoku.StoneMove(p))
}

func (k *checker) undo(p gomoku.Point, c gomoku.Colour) {
	k.p.Undo(gomoku.StoneMove(p))
	k.board.Remove(p, c)
}

// attack returns an error unless the attacker, who is to move, wins within the plies.
func (k *checker) attack(plies int) error {
	if len(k.fives(k.attacker)) > 0 && plies > 0 {
		return nil
	}
	if known, ok := k.won[k.p.key]; ok && known <= plies || k.nodes > k.limit {
		return nil
	}
	// Of both provers that which promises the sooner win.
	proof, _, ok := k.p.proveVCF(20000, never)
	move := game.NoMove
	if ok && proof.Score > 0 {
		move = proof.Line[0]
	}
	if !ok || int(search.Win-proof.Score) > plies {
		if proof, _, ok = k.p.proveVCT(50000, never); ok {
			move = proof.Line[0]
		}
	}
	if !ok || proof.Score < search.WinBound {
		return fmt.Errorf("%x: no proof, %d plies promised", k.p.key, plies)
	}
	if claimed := int(search.Win - proof.Score); claimed > plies {
		return fmt.Errorf("%x: proof takes %d plies, %d promised", k.p.key, claimed, plies)
	}
	p, _ := k.board.MovePoint(move)
	if k.forbidden(p, k.attacker) {
		return fmt.Errorf("%s: forbidden", k.board.PointText(p))
	}
	k.do(p, k.attacker)
	err := k.defend(plies - 1)
	k.undo(p, k.attacker)
	if err != nil {
		return fmt.Errorf("%s: %w", k.board.PointText(p), err)
	}
	k.won[k.p.key] = plies
	return nil
}

// defend returns an error unless the attacker wins within the plies, whatever the
// defender, who is to move, replies.
func (k *checker) defend(plies int) error {
	defender := k.attacker.Other()
	if len(k.fives(defender)) > 0 {
		return fmt.Errorf("%s makes five", defender)
	}
	threats := k.fives(k.attacker)
	for p := range gomoku.Point(k.board.Points) {
		if !k.board.Empty(p) || k.forbidden(p, defender) {
			continue
		}
		if len(threats) > 1 || len(threats) == 1 && threats[0] != p {
			if plies < 2 {
				return fmt.Errorf("%d plies promised, 2 needed", plies)
			}
			continue
		}
		k.do(p, defender)
		err := k.attack(plies - 1)
		k.undo(p, defender)
		if err != nil {
			return fmt.Errorf("%s: %w", k.board.PointText(p), err)
		}
	}
	return nil
}

// randomPosition plays moves that make or stop threats, mostly, and others near
// stones.
func randomPosition(t testing.TB, rules string, rng *rand.Rand, plies int) (game.Position, bool) {
	g := setUp(t, rules, "", "h8")
	a := adapt(t, g)
	for range plies {
		var c search.Cursor
		top, most := game.NoMove, -1e9
		for i, buf := 0, a.Moves(nil, &c); i < 3 && len(buf) > 0; i, buf = i+1, a.Moves(buf, &c) {
			for _, e := range buf {
				if order := float64(e.Order) + 3000*rng.ExpFloat64(); order > most {
					top, most = e.Move, order
				}
			}
		}
		if g.Play(top) != nil {
			t.Fatal("illegal move")
		}
		if g.Outcome().Over() {
			return nil, false
		}
		a.Do(top)
	}
	return g, true
}

var makeVCT = flag.Int("vct.make", 0, "number of positions to look through for VCT problems")

// TestMakeVCT prints problems for testdata/vct.txt.
func TestMakeVCT(t *testing.T) {
	if *makeVCT == 0 {
		t.Skip("-vct.make is not set")
	}
	for _, rules := range []string{"gomoku/freestyle-15", "gomoku/standard-15", "gomoku/renju-15"} {
		rng := rand.New(rand.NewPCG(1, 3))
		for range *makeVCT {
			g, ok := randomPosition(t, rules, rng, 8+rng.IntN(40))
			if !ok {
				continue
			}
			a := adapt(t, g)
			if _, nodes, ok := a.proveVCF(200000, never); ok || nodes >= 200000 {
				continue
			}
			proof, nodes, ok := a.proveVCT(400000, never)
			if !ok || search.Win-proof.Score < 11 {
				continue
			}
			k := newChecker(t, g, 1<<30)
			began := time.Now()
			err := k.attack(int(search.Win - proof.Score))
			fmt.Printf("%s %s plies=%d # %d nodes, checked %d in %v, %v\n", rules, g, search.Win-proof.Score, nodes, k.nodes, time.Since(began).Round(time.Millisecond), err)
		}
	}
}

// TestVCTIsSound checks proofs in random positions against all replies.
func TestVCTIsSound(t *testing.T) {
	for _, rules := range []string{"gomoku/freestyle-15", "gomoku/standard-15", "gomoku/renju-15", "gomoku/renju-20"} {
		rng := rand.New(rand.NewPCG(11, 7))
		proofs, cut, nodes := 0, 0, 0
		for range 800 {
			g, ok := randomPosition(t, rules, rng, 8+rng.IntN(40))
			if !ok {
				continue
			}
			a := adapt(t, g)
			before, eval := a.key, a.Eval()
			proof, _, ok := a.proveVCT(50000, func() bool { return a.prover.vct.nodes > 2000 })
			if a.key != before || a.Eval() != eval {
				t.Fatalf("%s %s: the position changed", rules, g)
			}
			if !ok || len(proof.Line) < 7 {
				continue
			}
			k := newChecker(t, g, 3000)
			if err := k.attack(int(search.Win - proof.Score)); err != nil {
				t.Errorf("%s %s: %v", rules, g, err)
			}
			proofs++
			nodes += k.nodes
			if k.nodes > k.limit {
				cut++
			}
		}
		t.Logf("%s: %d proofs, %d given up, %d moves", rules, proofs, cut, nodes)
	}
}
