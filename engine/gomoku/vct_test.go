package gomoku

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// TestVCT: the problems of testdata/vct.txt are solved within five seconds each, and
// the wins are real.
func TestVCT(t *testing.T) {
	problems, nodes, replies := vctProblems(t, "vct.txt"), 0, 0
	for _, problem := range problems {
		g := setUp(t, problem.rules, problem.position, "")
		a := adapt(t, g)
		if _, _, ok := a.proveVCF(1000000, never); ok {
			t.Errorf("%s %s: is won by fours alone", problem.rules, g)
		}
		began := time.Now()
		proof, n, ok := a.proveVCT(2000000, 0, func() bool { return time.Since(began) > 5*time.Second })
		if !ok {
			t.Errorf("%s %s: not solved in %d nodes", problem.rules, g, n)
			continue
		}
		nodes += n
		k := newChecker(t, g, 1<<30)
		if err := k.attack(int(search.Win - proof.Score)); err != nil {
			t.Errorf("%s %s: %v", problem.rules, g, err)
		}
		replies += k.nodes
		checkLine(t, g, proof)
	}
	if len(problems) < 30 {
		t.Errorf("%d problems", len(problems))
	}
	t.Logf("%d problems, %d nodes, checked by %d moves", len(problems), nodes, replies)
}

// TestQuietVCT: the problems of testdata/vct-quiet.txt are not won by threats alone, but
// with a quiet move, and the engine finds that where a win is asked for.
func TestQuietVCT(t *testing.T) {
	for _, problem := range vctProblems(t, "vct-quiet.txt") {
		g := setUp(t, problem.rules, problem.position, "")
		if _, nodes, ok := adapt(t, g).proveVCT(100000, 0, never); ok || nodes > 50000 {
			t.Errorf("%s %s: solved %v, by %d nodes without a quiet move", problem.rules, g, ok, nodes)
		}
		k := search.New(Params(), search.NewTable(1<<20))
		r := k.NewGame(search.GameOptions{}).Start(adapt(t, g), search.Limits{Mate: 100, Nodes: 400000}, nil).Wait()
		if r.Source != "vct" {
			t.Errorf("%s %s: %+v", problem.rules, g, r)
			continue
		}
		check := newChecker(t, g, 1<<30)
		check.budget, check.quiets = 100000, 1
		if err := check.attack(int(search.Win - r.Score)); err != nil {
			t.Errorf("%s %s: %v", problem.rules, g, err)
		}
		checkLine(t, g, search.Proof{Score: r.Score, Line: r.PV})
		t.Logf("%s %s: %d plies, checked by %d moves", problem.rules, g, search.Win-r.Score, check.nodes)
	}
}

type vctProblem struct{ rules, position string }

func vctProblems(t testing.TB, file string) (list []vctProblem) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); f[0] != "#" {
			list = append(list, vctProblem{f[0], f[1] + " " + f[2]})
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s has no problems", file)
	}
	return list
}

// checkLine checks that the line of a proof ends with the attacker's five, or with a
// four that Black may not stop, and is not longer than the score says.
func checkLine(t *testing.T, g game.Position, proof search.Proof) {
	t.Helper()
	if n, claimed := len(proof.Line), int(search.Win-proof.Score); n > claimed || n%2 == 0 {
		t.Errorf("%s: a line of %d plies, %d claimed", g, n, claimed)
	}
	attacker := g.Turn()
	for i, m := range proof.Line {
		if err := g.Play(m); err != nil {
			t.Fatalf("%s: ply %d of the line: %v", g, i+1, err)
		}
	}
	if g.Outcome() == (game.Outcome{Result: game.WonBy(attacker), Reason: game.Five}) {
		return
	}
	k := newChecker(t, g, 0) // the defender is to move
	fives := k.fives(k.attacker.Other())
	if len(fives) == 0 || len(fives) == 1 && !k.forbidden(fives[0], k.attacker) {
		t.Errorf("%s: the line ends, and the five at %v can be stopped", g, fives)
	}
}

// TestLinesWithoutForbiddenStops: of two fives in Renju the line of a proof stops one where
// Black may, and where it may stop neither, it ends.
func TestLinesWithoutForbiddenStops(t *testing.T) {
	const won = "15/2x12/3x6xoooo/4o3xx2x2/4xox1o2o1o1/2oxoooxxoo4/xxoxxooo1x5/ooxooxxxxoo4/o3xxoxxo5/o1xx2x1x6/o2xoooox6/x2o1xxxo6/6xxo6/6oxo6/6xx7 w"
	g := setUp(t, "gomoku/renju-15", won, "")
	proof, _, ok := adapt(t, g).proveVCF(10000, never)
	if !ok || proof.Score < search.WinBound {
		t.Fatalf("%+v, %v", proof, ok)
	}
	checkLine(t, g, proof)
}

// TestVCTExternal: of the external problems with threes all but two are solved, in about
// five seconds each on an idle core at most.
func TestVCTExternal(t *testing.T) {
	solved := 0
	problems := renjuProblems(t, "VCT")
	for _, problem := range problems {
		g := setUp(t, "gomoku/renju-15", problem.position, "")
		began := time.Now()
		proof, nodes, ok := adapt(t, g).proveVCT(proveMate, maxQuiets, never)
		var line []string
		for _, m := range proof.Line {
			line = append(line, g.Format(m))
		}
		t.Logf("%.60s: %v, %d nodes, %v, %s", problem.head, ok, nodes, time.Since(began).Round(time.Millisecond), line)
		if !ok {
			continue
		}
		solved++
		k := newChecker(t, g, 200000)
		k.budget, k.quiets = proveMate, maxQuiets
		// The checker confirms the win, not its length: the table is too small for the
		// long ones, and what is proven again may be another win.
		if err := k.attack(gomoku.MaxPoints); err != nil {
			t.Errorf("%s: %v", problem.head, err)
		}
		t.Logf("checked by %d moves", k.nodes)
		checkLine(t, g, proof)
	}
	if t.Logf("%d of %d solved", solved, len(problems)); solved < 8 {
		t.Errorf("%d of %d solved, want 8", solved, len(problems))
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
	budget   int // of the prover, in nodes
	quiets   int // that the prover may make in a line
}

func newChecker(t testing.TB, g game.Position, limit int) *checker {
	p := adapt(t, g)
	return &checker{t: t, p: p, board: g.(*gomoku.Position).Board(), attacker: p.toMove, won: map[uint64]int{}, limit: limit, budget: 50000}
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
		if proof, _, ok = k.p.proveVCT(k.budget, k.quiets, never); ok {
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
		a.Enter()
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

var (
	makeVCT    = flag.Int("vct.make", 0, "number of positions to look through for VCT problems")
	makeQuiets = flag.Int("vct.quiets", 0, "problems are those that are not won without, but by this many quiet moves at most")
)

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
			if *makeQuiets > 0 {
				if _, nodes, ok := a.proveVCT(100000, 0, never); ok || nodes >= 80000 {
					continue
				}
			}
			proof, nodes, ok := a.proveVCT(400000, *makeQuiets, never)
			plies := int(search.Win - proof.Score)
			if !ok || plies < 11 || nodes < 500 {
				continue
			}
			k := newChecker(t, g, 100000)
			k.budget, k.quiets = 400000, *makeQuiets
			if err := k.attack(plies); err == nil && k.nodes <= k.limit {
				fmt.Printf("%s %s plies=%d nodes=%d\n", rules, g, plies, nodes)
			}
		}
	}
}

// TestVCTIsSound checks proofs in random positions against all replies.
func TestVCTIsSound(t *testing.T) {
	for _, rules := range []string{"gomoku/freestyle-15", "gomoku/standard-15", "gomoku/renju-15", "gomoku/renju-20"} {
		rng := rand.New(rand.NewPCG(11, 7))
		proofs, cut, nodes := 0, 0, 0
		for n := range 200 {
			quiets := n % 2 * maxQuiets
			g, ok := randomPosition(t, rules, rng, 8+rng.IntN(40))
			if !ok {
				continue
			}
			a := adapt(t, g)
			before, eval := a.key, a.Eval()
			proof, _, ok := a.proveVCT(50000, quiets, func() bool { return a.prover.vct.nodes > 2000 })
			if a.key != before || a.Eval() != eval {
				t.Fatalf("%s %s: the position changed", rules, g)
			}
			if !ok || len(proof.Line) < 7 {
				continue
			}
			k := newChecker(t, g, 2000)
			k.quiets = quiets
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
		if proofs-cut < 5 {
			t.Errorf("%s: only %d proofs are checked to the end", rules, proofs-cut)
		}
	}
}

// TestVCTByRules: forbidden points are neither attacks nor answers in Renju, five in
// a row can be exact, and where a four need not be answered there is no VCT.
func TestVCTByRules(t *testing.T) {
	// White makes a four at e1; Black's only answer, f1, makes two fours.
	const white = "15/15/15/15/15/15/15/15/15/15/15/5x2x6/5x1x7/5xx8/xooo11 w"
	// Black's g6 makes two open threes.
	const threes = "15/15/15/15/15/15/15/6x8/6x8/4xx9/15/15/15/o13o/o13o b"
	// Black's e8 makes an open four, both of its fives six with another stone.
	const six = "15/15/15/15/15/15/15/x1xx1x1x7/15/15/15/15/15/o1o1o10/o13o b"
	for _, tt := range []struct {
		rules, position, first string
		wins                   bool
	}{
		{"gomoku/renju-15", white, "e1", true},
		{"gomoku/freestyle-15", white, "e1", false},
		{"gomoku/freestyle-15", threes, "g6", true},
		{"gomoku/renju-15", threes, "g6", false},
		{"gomoku/caro-15", threes, "g6", false},
		{"gomoku/continuous-15", threes, "g6", false},
		{"gomoku/freestyle-15", six, "e8", true},
		{"gomoku/standard-15", six, "e8", false},
	} {
		g := setUp(t, tt.rules, tt.position, "")
		proof, _, ok := adapt(t, g).proveVCT(10000, 0, never)
		if wins := ok && g.Format(proof.Line[0]) == tt.first; wins != tt.wins {
			t.Errorf("%s %s: %+v, %s wins should be %v", tt.rules, tt.position, proof, tt.first, tt.wins)
		}
		if ok {
			checkLine(t, g, proof)
		}
	}
}

// TestVCTBudget: a search keeps within its budget, ends when it is told to, and gives
// the same result again.
func TestVCTBudget(t *testing.T) {
	for _, problem := range vctProblems(t, "vct.txt") {
		g := setUp(t, problem.rules, problem.position, "")
		for _, budget := range []int{1, 100, 5000} {
			proof, nodes, ok := adapt(t, g).proveVCT(budget, 0, never)
			again, same, _ := adapt(t, g).proveVCT(budget, 0, never)
			if nodes > budget || nodes != same || fmt.Sprint(proof) != fmt.Sprint(again) {
				t.Errorf("%s %s, budget %d: %d nodes, ok %v, then %d", problem.rules, g, budget, nodes, ok, same)
			}
			if _, nodes, _ := adapt(t, g).Prove(budget, never); nodes > budget {
				t.Errorf("%s %s, budget %d: Prove took %d nodes", problem.rules, g, budget, nodes)
			}
		}
		if _, nodes, ok := adapt(t, g).proveVCT(5000, 0, func() bool { return true }); ok || nodes > 0 {
			t.Errorf("%s %s: %d nodes, ok %v, though stopped", problem.rules, g, nodes, ok)
		}
	}
}

// BenchmarkProveLeaf is the prover with the budget of leaves, on positions with fours.
func BenchmarkProveLeaf(b *testing.B) {
	var list []*position
	for _, problem := range vcfProblems(b) {
		list = append(list, adapt(b, setUp(b, "gomoku/freestyle-15", "", strings.Join(problem.moves, " "))))
	}
	b.ReportAllocs()
	nodes := 0
	for i := 0; b.Loop(); i++ {
		_, n, _ := list[i%len(list)].Prove(60, never)
		nodes += n
	}
	b.ReportMetric(float64(nodes)/float64(b.N), "nodes/op")
}

// BenchmarkProveVCT is the search for a VCT with 10,000 nodes and an empty table.
func BenchmarkProveVCT(b *testing.B) {
	var list []*position
	for _, problem := range vctProblems(b, "vct.txt") {
		list = append(list, adapt(b, setUp(b, problem.rules, problem.position, "")))
	}
	b.ReportAllocs()
	nodes := 0
	for i := 0; b.Loop(); i++ {
		a := list[i%len(list)]
		if a.prover != nil {
			a.prover.vct.table = proofTable{}
		}
		_, n, _ := a.proveVCT(10000, 0, never)
		nodes += n
	}
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
}
