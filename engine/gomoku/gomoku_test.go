package gomoku

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gomoku"
)

func setUp(t testing.TB, rules, position, moves string) game.Position {
	t.Helper()
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := game.Replay(r, position, strings.Fields(moves))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func adapt(t testing.TB, g game.Position) *position {
	t.Helper()
	p, err := New(g)
	if err != nil {
		t.Fatal(err)
	}
	p.Enter()
	return p.(*position)
}

// middle is a position with threes and fours, so that random walks from it reach
// forced nodes.
const middle = "15/15/15/15/5o9/4xoxxo6/5xxo1o5/4oxxo7/5oxxo6/4x1o8/15/15/15/15/15 b"

// TestFirstMoveWithoutSearch: the first stone is in the middle even if there is no time to
// search.
func TestFirstMoveWithoutSearch(t *testing.T) {
	for _, rules := range gomoku.Game().Sets {
		g := setUp(t, rules, "", "")
		if _, opening := g.(*gomoku.Position).Step(); opening {
			continue
		}
		r := search.New(Params(), search.NewTable(0)).NewGame(search.GameOptions{}).Start(adapt(t, g), search.Limits{Nodes: 1}, nil).Wait()
		b := g.(*gomoku.Position).Board()
		if at, ok := b.MovePoint(r.Move); !ok || b.FromCentre(at) > 1 {
			t.Errorf("%s: the first move is %s", rules, g.Format(r.Move))
		}
	}
}

func TestConform(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	searchtest.Conform(t, searchtest.Subject{
		New:    New,
		Params: Params(),
		Starts: []game.Position{
			setUp(t, "gomoku/freestyle-15", "", ""),
			setUp(t, "gomoku/freestyle-15", middle, ""),
			setUp(t, "gomoku/freestyle-20", "", "k10 k11 a1 t20"),
			setUp(t, "gomoku/freestyle-16", "", "h8 i8 h9 p16 h10"),
			setUp(t, "gomoku/standard-15", middle, ""),
			setUp(t, "gomoku/renju-15", middle, ""),
			setUp(t, "gomoku/renju-17", "", "h8 p1 i8 p3 g9 n15 g10 o7"),
			setUp(t, "gomoku/caro-15", middle, ""),
			setUp(t, "gomoku/standardcaro-15", middle, ""),
			setUp(t, "gomoku/renju-15+swap2", "", "h8 h9 i10 put-two g7 i8 swap g9"),
			setUp(t, "gomoku/continuous-15", middle, ""),
			setUp(t, "gomoku/continuous-15", middle, "d8 a15"),
			setUp(t, "gomoku/continuous-15", "oooo11/15/15/15/15/15/15/14o/15/15/15/15/15/15/xxxx11 b rows=1:2", ""),
		},
		// One of 40 moves left out: TestRestrictedMovesLose judges more.
		Loses: func(g game.Position, m game.Move) bool {
			b := newByRules(g)
			p, ok := b.board.MovePoint(m)
			c := g.(*gomoku.Position).ToMove()
			return ok && (rng.IntN(40) > 0 || b.losesToFours(p, c, 2) || b.losesBy(p, c, 4))
		},
		Walks: 39,
		Plies: 40,
		Seed:  5,
	})
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(setUp(t, "gomoku/renju-15+swap2", "", "h8")); err == nil || !strings.Contains(err.Error(), "opening procedure") {
		t.Errorf("a position in an opening procedure: %v", err)
	}
	if _, err := New(setUp(t, "amazons/6x6", "", "")); err == nil || !strings.Contains(err.Error(), "not a Gomoku position") {
		t.Errorf("a position of Amazons: %v", err)
	}
}

func texts(g game.Position, entries []search.ScoredMove) []string {
	var s []string
	for _, e := range entries {
		s = append(s, g.Format(e.Move))
	}
	return s
}

func TestForcedNodes(t *testing.T) {
	for _, tt := range []struct{ name, moves, want string }{
		{"block the only point", "h8 i8 h9 i7 h10 i6 a1 i5", "i4 i9"},
		{"a blocked four has one point", "h8 h7 h9 a1 h10 b3 h11", "h12"},
		{"win rather than block", "a1 c3 a2 c4 a3 c5 a4 c6", "c2 a5 c7"},
	} {
		g := setUp(t, "gomoku/freestyle-15", "", tt.moves)
		p := adapt(t, g)
		if !p.Enter().Forced {
			t.Errorf("%s: not forced", tt.name)
		}
		var c search.Cursor
		got := texts(g, p.Moves(nil, &c))
		if fmt.Sprint(got) != fmt.Sprint(strings.Fields(tt.want)) {
			t.Errorf("%s: moves %v, want %s", tt.name, got, tt.want)
		}
		if more := p.Moves(nil, &c); len(more) > 0 {
			t.Errorf("%s: more moves %v", tt.name, texts(g, more))
		}
	}
}

// TestLinkedFours: quiescence gives the fours near the side's own last stone or on a
// line with it, and every five; where that stone is not known all fours.
func TestLinkedFours(t *testing.T) {
	noisy := func(p search.Position, g game.Position) string {
		got := texts(g, p.Moves(nil, &search.Cursor{Mode: search.Noisy}))
		slices.Sort(got)
		return strings.Join(got, " ")
	}
	const threes = "b2 o15 b3 o13 b4 o11 m7 n15 n7 n13 o7 l1"
	for _, tt := range []struct{ name, moves, last, want string }{
		{"far from both rows", threes, "h12 j1", ""},
		{"four steps along a line", threes, "b9 j1", "b5 b6"},
		{"two steps off all lines", threes, "d8 j1", "b6"},
		{"two steps away", threes, "k9 j1", "k7 l7"},
		{"a five anywhere", threes + " b5 j1", "h12 j3", "b1 b6"},
	} {
		g := setUp(t, "gomoku/freestyle-15", "", tt.moves)
		p := adapt(t, g)
		if got := noisy(p, g); !strings.Contains(got, "k7 l7") || !strings.Contains(got, "b1 b") {
			t.Errorf("%s: %s at the root, want the fours of both rows", tt.name, got)
		}
		for _, text := range strings.Fields(tt.last) {
			m, err := g.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			p.Do(m)
			p.Enter()
		}
		if got := noisy(p, g); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// best returns the move of the first batch that is ordered first.
func best(t *testing.T, p search.Position) game.Move {
	t.Helper()
	var top search.ScoredMove
	for i, e := range p.Moves(nil, &search.Cursor{}) {
		if i == 0 || e.Order > top.Order {
			top = e
		}
	}
	return top.Move
}

// TestFivesAndDoubleThreesComeFirst checks the paper's rule before the search:
// fives first, then double threes and better, the side to move before the opponent.
func TestFivesAndDoubleThreesComeFirst(t *testing.T) {
	for _, tt := range []struct{ name, moves, want string }{
		{"win before block", "a1 c3 a2 c4 a3 c5 a4 c6", "a5"},
		{"an own four before blocking an open three", "h8 a1 h9 a2 h10 a3 b12 o15", "h7 h11 a4"},
		{"block the double three", "h8 o1 i8 o3 g9 m15 g10 k1 o15", "g8"},
		{"make the double three", "h8 o1 i8 o3 g9 m15 g10 k1", "g8"},
	} {
		g := setUp(t, "gomoku/freestyle-15", "", tt.moves)
		if got := g.Format(best(t, wang2011{adapt(t, g), styles[0].style})); !strings.Contains(tt.want+" ", got+" ") {
			t.Errorf("%s: first is %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestEvalIsTable2 checks table 2 row by row: the value of a row, times K1 for the
// side to move.
func TestEvalIsTable2(t *testing.T) {
	base := "%s/15/15/15/15/15/15/15/15/15/15/15/15/15/15 %s"
	for _, tt := range []struct {
		row  string
		want int32
	}{
		{"5xx8", 80}, {"4oxx8", 20}, {"5xxx7", 800}, {"4oxxx7", 180}, {"4oxxxx6", 1200}, {"5xxxx6", 2000},
	} {
		// In the top row a stone's other three directions hold 4 (One) each.
		p := adapt(t, setUp(t, "gomoku/freestyle-15", fmt.Sprintf(base, tt.row, "w"), ""))
		x := int32(strings.Count(tt.row, "x"))
		if got, want := (wang2011{position: p}).stones(0), (tt.want+3*4*x)*share; got != want {
			t.Errorf("%s: %d, want %d", tt.row, got, want)
		}
	}
}

// vcfProblem is a line of testdata/vcf.txt, rows turned to count from the bottom.
type vcfProblem struct {
	moves, line []string
	fours       int
}

func vcfProblems(t testing.TB) (all []vcfProblem) {
	t.Helper()
	file, err := os.Open("testdata/vcf.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for in := bufio.NewScanner(file); in.Scan(); {
		fields := strings.Fields(in.Text())
		if len(fields) != 4 || fields[0] != "A" {
			continue
		}
		fours, err := strconv.Atoi(strings.TrimPrefix(fields[2], "vcf="))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vcfProblem{fromTop(t, fields[1]), fromTop(t, strings.TrimPrefix(fields[3], "line=")), fours})
	}
	if len(all) == 0 {
		t.Fatal("no problems")
	}
	return all
}

func fromTop(t testing.TB, points string) (moves []string) {
	t.Helper()
	for i := 0; i < len(points); {
		j := i + 1
		for j < len(points) && points[j] <= '9' {
			j++
		}
		row, err := strconv.Atoi(points[i+1 : j])
		if err != nil {
			t.Fatalf("%s: %v", points, err)
		}
		moves = append(moves, fmt.Sprintf("%c%d", points[i], 16-row))
		i = j
	}
	return moves
}

func never() bool { return false }

func TestVCF(t *testing.T) {
	total := 0
	for _, problem := range vcfProblems(t) {
		g := setUp(t, "gomoku/freestyle-15", "", strings.Join(problem.moves, " "))
		p := adapt(t, g)
		before, eval := p.key, p.Eval()
		// At a million nodes a second 10,000 are 10 ms.
		proof, nodes, ok := p.proveVCF(10000, never)
		total += nodes
		if !ok || proof.Score != search.Win-search.Score(2*problem.fours+1) {
			t.Errorf("%v: %+v after %d nodes, want %d fours", problem.moves, proof, nodes, problem.fours)
			continue
		}
		if p.key != before || p.Eval() != eval {
			t.Fatalf("%v: the position changed", problem.moves)
		}
		checkVictory(t, g, proof)
	}
	t.Logf("%d nodes", total)
}

// checkVictory plays the line and checks every step by the rules: the attacker
// always threatens five, each reply stops it, and the line ends with a five.
func checkVictory(t *testing.T, g game.Position, proof search.Proof) {
	t.Helper()
	attacker := g.Turn()
	for i, m := range proof.Line {
		mine := g.Turn() == attacker
		threats := winsFor(t, g, attacker)
		if !mine && len(threats) == 1 && threats[0] != m {
			t.Errorf("%s: reply %s does not stop the four at %s", g, g.Format(m), g.Format(threats[0]))
		}
		if !mine && len(threats) == 0 {
			t.Errorf("%s: no four to stop", g)
		}
		if err := g.Play(m); err != nil {
			t.Fatalf("%s: ply %d of the line: %v", g, i+1, err)
		}
	}
	if n := len(proof.Line); n%2 == 0 || len(proof.Line) != int(search.Win-proof.Score) {
		// A four that can't be stopped: every reply loses.
		threats := winsFor(t, g, attacker)
		if n%2 == 0 || len(threats) == 0 {
			t.Fatalf("%s: the line ends without a threat", g)
		}
		if err := g.Play(threats[0]); err != nil {
			t.Fatal(err)
		}
		if len(threats) > 1 || g.Outcome() != (game.Outcome{Result: game.WonBy(attacker), Reason: game.Forbidden}) {
			t.Errorf("%s: the last four can be stopped", g)
		}
		return
	}
	if g.Outcome() != (game.Outcome{Result: game.WonBy(attacker), Reason: game.Five}) {
		t.Errorf("%s: the line ends with %v", g, g.Outcome())
	}
}

// winsFor lists the points where a seat would make five, by the rules, as if
// it were its turn.
func winsFor(t *testing.T, g game.Position, seat game.Seat) (wins []game.Move) {
	t.Helper()
	text := g.String()
	text = text[:len(text)-1] + map[game.Seat]string{game.First: "b", game.Second: "w"}[seat]
	p, err := g.Rules().New(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Legal(nil) {
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
		if p.Outcome().Result == game.WonBy(seat) {
			wins = append(wins, m)
		}
		p.Undo()
	}
	return wins
}

// renjuProblem is a problem of the external data.
type renjuProblem struct {
	head     string // the line that describes it
	position string
}

// renjuProblems reads the external Renju problems of a kind, "VCF" or "VCT".
func renjuProblems(t *testing.T, kind string) (list []renjuProblem) {
	t.Helper()
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
		if !strings.Contains(head, "kind="+kind) {
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
		list = append(list, renjuProblem{head, strings.Join(rows, "/") + side})
	}
	if len(list) == 0 {
		t.Fatalf("%s has no problems of kind %s", dir, kind)
	}
	return list
}

// The Renju problems of the external data that fours alone solve, each within 30
// seconds.
func TestRenjuVCFExternal(t *testing.T) {
	for _, problem := range renjuProblems(t, "VCF") {
		g := setUp(t, "gomoku/renju-15", problem.position, "")
		began := time.Now()
		proof, nodes, ok := adapt(t, g).proveVCF(20*proveRoot, func() bool { return time.Since(began) > 30*time.Second })
		t.Logf("%.60s: %v, %d nodes, %v, score %d", problem.head, ok, nodes, time.Since(began).Round(time.Millisecond), proof.Score)
		if !ok || proof.Score < search.WinBound {
			t.Errorf("%s: no victory by fours found in %d nodes", problem.head, nodes)
			continue
		}
		checkVictory(t, g, proof)
	}
}

// TestRenjuFours: forbidden points are neither answers nor attacks in Renju.
func TestRenjuFours(t *testing.T) {
	// White makes a four at e1; Black's only answer, f1, makes two fours.
	const white = "15/15/15/15/15/15/15/15/15/15/15/5x2x6/5x1x7/5xx8/xooo11 w"
	// Black's h8 makes two fours.
	const black = "15/15/15/7o7/7x7/7x7/7x7/3oxxx8/15/15/15/15/15/15/15 b"
	for _, tt := range []struct {
		rules, position string
		wins            bool
		line            string
	}{
		{"gomoku/renju-15", white, true, "e1"},
		{"gomoku/freestyle-15", white, false, ""},
		{"gomoku/freestyle-15", black, true, "h8"},
		{"gomoku/renju-15", black, false, ""},
	} {
		g := setUp(t, tt.rules, tt.position, "")
		proof, _, ok := adapt(t, g).proveVCF(proveRoot, never)
		if ok != tt.wins {
			t.Errorf("%s %s: proved %v (%+v), want %v", tt.rules, tt.position, ok, proof, tt.wins)
			continue
		}
		if ok && (g.Format(proof.Line[0]) != tt.line || proof.Score != search.Win-3) {
			t.Errorf("%s %s: %s, score %d, want %s and %d", tt.rules, tt.position, g.Format(proof.Line[0]), proof.Score, tt.line, search.Win-3)
		}
		if ok {
			checkVictory(t, g, proof)
		}
	}
}

// TestNoVCF: there is no victory by fours if the opponent has a four first, if only
// a blocked four can be made, or beyond the budget.
func TestNoVCF(t *testing.T) {
	for _, moves := range []string{"", "h8", "h8 a1 h9 a3 i8 b5", "h8 h7 h9 a1 h10 b3"} {
		p := adapt(t, setUp(t, "gomoku/freestyle-15", "", moves))
		if proof, _, ok := p.proveVCF(proveRoot, never); ok {
			t.Errorf("%q: proved %+v", moves, proof)
		}
	}
	hard := vcfProblems(t)[0]
	for _, problem := range vcfProblems(t) {
		if problem.fours > hard.fours {
			hard = problem
		}
	}
	g := setUp(t, "gomoku/freestyle-15", "", strings.Join(hard.moves, " "))
	if _, nodes, ok := adapt(t, g).proveVCF(5, never); ok || nodes > 6 {
		t.Errorf("budget of 5 nodes: %d used, ok %v", nodes, ok)
	}
	if _, _, ok := adapt(t, g).proveVCF(proveRoot, func() bool { return true }); ok {
		t.Error("proved though stopped")
	}
}

// TestKeyAfter compares the predicted key with that of every next position.
func TestKeyAfter(t *testing.T) {
	p := adapt(t, setUp(t, "gomoku/freestyle-15", middle, ""))
	for _, e := range p.Moves(nil, &search.Cursor{}) {
		want := p.KeyAfter(e.Move)
		p.Do(e.Move)
		if got := p.Enter().SearchKey; got != want {
			t.Fatalf("KeyAfter is %x, the key then %x", want, got)
		}
		p.Undo(e.Move)
	}
}

func BenchmarkDoUndo(b *testing.B) {
	p := adapt(b, setUp(b, "gomoku/freestyle-15", middle, ""))
	var c search.Cursor
	moves := p.Moves(nil, &c)
	for i := 0; b.Loop(); i++ {
		m := moves[i%len(moves)].Move
		p.Do(m)
		p.Undo(m)
	}
}

func BenchmarkMoves(b *testing.B) {
	p := adapt(b, setUp(b, "gomoku/freestyle-15", middle, ""))
	var buf []search.ScoredMove
	for b.Loop() {
		var c search.Cursor
		for buf = p.Moves(buf, &c); len(buf) > 0; buf = p.Moves(buf, &c) {
		}
	}
}

// TestThreatThatBecomesForbidden: a black threat at a point with two threes does not
// restrict White, for a stone elsewhere may make both of them count.
func TestThreatThatBecomesForbidden(t *testing.T) {
	g := setUp(t, "gomoku/renju-15", "o5o6o1/15/15/15/o10xxxo/7x1x5/7xx6/1x2xxx8/15/5o9/13o1/15/3o11/15/o6o6o w", "")
	m, err := g.Parse("j11")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := adapt(t, g).Find(m); !ok {
		t.Error("j11 is left out, though Black can't make two fives possible after it")
	}
}

// BenchmarkSearch measures the speed of the search in positions where programs are
// compared.
func BenchmarkSearch(b *testing.B) {
	for _, tt := range []struct{ name, rules, moves string }{
		{"first", "gomoku/freestyle-15", "h8"},
		{"opening", "gomoku/freestyle-15", "h8 g7 f6 g8 g9"},
		{"renju", "gomoku/renju-15", "h8 h9 j9 j8 f8 i7 g7 i9 h6 e9 f6 k7 l6 i10 i6 f9 g9 g11 h10 i11 i8"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			p := adapt(b, setUp(b, tt.rules, "", tt.moves))
			table := search.NewTable(16 << 20)
			nodes := uint64(0)
			for b.Loop() {
				r := search.New(Params(), table).NewGame(search.GameOptions{}).Start(p, search.Limits{Nodes: 300000}, nil).Wait()
				nodes += r.Nodes
				b.ReportMetric(float64(r.Depth), "plies")
			}
			b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
		})
	}
}
