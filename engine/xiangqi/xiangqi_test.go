package xiangqi

import (
	"math/rand/v2"
	"strings"
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
	"sparring/game/gametest"
	rules "sparring/game/xiangqi"
)

// places are where the tests begin: the start, middle games with many captures
// and checks, and endgames.
var places = []string{
	"",
	"r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w",
	"1cbak4/9/n2a5/2p1p3p/5cp2/2n2N3/6PCP/3AB4/2C6/3A1K1N1 w",
	"CRN1k1b2/3ca4/4ba3/9/2nr5/9/9/4B4/4A4/4KA3 w",
	"4ka3/4a4/9/9/4N4/p8/9/4C3c/7n1/2BK5 w",
}

func setUp(t *testing.T, name, fen string) game.Position {
	t.Helper()
	r, err := rules.Game().Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New(fen)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func adapt(t *testing.T, p game.Position) *position {
	t.Helper()
	a, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*position)
}

func TestConform(t *testing.T) {
	for _, name := range rules.Game().Sets {
		s := searchtest.Subject{New: New, Params: Params(), Walks: 15, Plies: 70, Seed: 11}
		for _, fen := range places {
			s.Starts = append(s.Starts, setUp(t, name, fen))
		}
		t.Run(name, func(t *testing.T) { searchtest.Conform(t, s) })
	}
}

// wander returns a position up to 60 random plies away from one of places, which are
// used in turn.
func wander(t *testing.T, rng *rand.Rand, turn int) game.Position {
	t.Helper()
	p := setUp(t, "xiangqi/simple", places[turn%len(places)])
	gametest.Stroll(t, rng, p, rng.IntN(60))
	return p
}

// TestEvalIsSymmetric: the evaluation does not change if left and right, or Red and
// Black, are exchanged.
func TestEvalIsSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for walk := range 60 {
		p := wander(t, rng, walk)
		if p.Outcome().Over() {
			continue
		}
		want := adapt(t, p).Eval()
		fen := p.String()
		for what, other := range map[string]string{"left and right": mirror(fen), "Red and Black": swap(fen)} {
			if got := adapt(t, setUp(t, "xiangqi/simple", other)).Eval(); got != want {
				t.Errorf("%s exchanged: %s is %d, %s is %d", what, fen, want, other, got)
			}
		}
	}
}

// mirror exchanges left and right in a FEN.
func mirror(fen string) string {
	board, rest, _ := strings.Cut(fen, " ")
	rows := strings.Split(board, "/")
	for i, row := range rows {
		r := []byte(row)
		for a, b := 0, len(r)-1; a < b; a, b = a+1, b-1 {
			r[a], r[b] = r[b], r[a]
		}
		rows[i] = string(r)
	}
	return strings.Join(rows, "/") + " " + rest
}

// swap exchanges Red and Black in a FEN, the side to move included.
func swap(fen string) string {
	board, rest, _ := strings.Cut(fen, " ")
	rows := strings.Split(board, "/")
	for a, b := 0, len(rows)-1; a < b; a, b = a+1, b-1 {
		rows[a], rows[b] = rows[b], rows[a]
	}
	flip := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 32
		case r >= 'A' && r <= 'Z':
			return r + 32
		}
		return r
	}
	side := "w"
	if strings.HasPrefix(rest, "w") {
		side = "b"
	}
	return strings.Map(flip, strings.Join(rows, "/")) + " " + side
}

// TestSEE compares exchanges with results by hand: the captures on one point, and
// their gain.
func TestSEE(t *testing.T) {
	for _, c := range []struct {
		name, fen, move string
		gains           search.Score // exactly
	}{
		{"a free horse", "3k5/9/9/4n4/9/9/4R4/9/9/4K4 w", "e3e6", 450},
		{"a guarded horse for a rook", "3k5/9/9/r3n4/9/9/4R4/9/9/5K3 w", "e3e6", 450 - 1000},
		{"a guarded horse for a horse", "3k5/9/9/r3n4/9/3N5/9/9/9/5K3 w", "d4e6", 0},
		{"guarded, but so is the attacker", "3k5/9/9/r3n4/9/3N5/4R4/9/9/5K3 w", "d4e6", 450}, // Black had better stop
		{"a cannon without a screen does not join", "3k5/9/4r4/R3n4/9/9/9/4C4/9/5K3 w", "a6e6", 450 - 1000},
		{"a cannon over its screen does", "3k5/9/4r4/R3n4/9/4P4/9/4C4/9/5K3 w", "a6e6", 450},
		{"a pawn for a pawn", "3k5/9/9/4p4/4P4/4R4/9/9/9/5K3 w", "e5e6", 90},
		{"a quiet move into a pawn's mouth", "3k5/9/9/4p4/9/9/4R4/9/9/5K3 w", "e3e5", -1000},
	} {
		p := setUp(t, "xiangqi/simple", c.fen)
		m, err := p.Parse(c.move)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		a := adapt(t, p)
		a.Enter()
		if !a.SEE(m, c.gains) || a.SEE(m, c.gains+1) {
			lowest := search.Score(-20000)
			for a.SEE(m, lowest+1) {
				lowest++
			}
			t.Errorf("%s: %s gains %d, want %d", c.name, c.move, lowest, c.gains)
		}
	}
}

// TestRepetitionRestsOnThePath reaches one position by two paths, one of which
// repeats: the score of the table must not depend on which came first.
func TestRepetitionRestsOnThePath(t *testing.T) {
	p := setUp(t, "xiangqi/simple", "3k5/9/9/9/9/9/9/9/4R4/4K4 w")
	moves := []string{"e1e2", "d9d8", "e2e1", "d8d9", "e1e2", "d9d8", "e2e1"}
	for _, text := range moves {
		if _, err := game.PlayText(p, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	// Black's d8d9 repeats the start for the third time; it is Black's move.
	a := adapt(t, p)
	a.Enter()
	back, err := p.Parse("d8d9")
	if err != nil {
		t.Fatal(err)
	}
	a.Do(back)
	node := a.Enter()
	if !node.Over || node.Verdict != search.Draw || node.RepetitionPlies != 8 {
		t.Errorf("third occurrence: over %v, verdict %d, rests on %d plies back", node.Over, node.Verdict, node.RepetitionPlies)
	}
	a.Undo(back)
	cold := kernelScore(t, p, nil)
	table := search.NewTable(1 << 20)
	kernelScore(t, setUp(t, "xiangqi/simple", "3k5/9/9/9/9/9/9/9/4R4/4K4 w"), table)
	if warm := kernelScore(t, p, table); warm != cold {
		t.Errorf("score %d with a cold table, %d with a warm one", cold, warm)
	}
}

// TestRepetitionIsNoMate: Red can only give perpetual check, and loses by it. The
// position is reached by two paths, one of which has already repeated once. The
// scores agree whichever path was searched before, and show a win by repetition, not
// a mate.
func TestRepetitionIsNoMate(t *testing.T) {
	for _, fen := range []string{"2R6/4k4/8r/9/9/5n3/9/9/r8/3K5 w", "6r1n/4k4/9/8R/8r/9/9/9/5K3/9 w"} {
		straight := setUp(t, "xiangqi/simple", fen)
		round := setUp(t, "xiangqi/simple", fen)
		line := search.New(Params(), search.NewTable(1<<20)).NewGame(search.GameOptions{}).Start(adapt(t, straight), search.Limits{Depth: 6}, nil).Wait().PV
		if len(line) < 4 {
			t.Fatalf("%s: line of %d moves, want a cycle of four", fen, len(line))
		}
		// The first check may come from another square; the cycle begins with the second.
		for _, m := range line {
			if err := round.Play(m); err != nil {
				t.Fatal(err)
			}
			if round.Ply()%2 == 0 && round.Ply() >= 4 {
				break
			}
		}
		end := setUp(t, "xiangqi/simple", round.String())
		for name, pair := range map[string][2]game.Position{"straight after round": {round, end}, "round after straight": {end, round}} {
			cold := kernelScore(t, pair[1], nil)
			table := search.NewTable(1 << 20)
			kernelScore(t, pair[0], table)
			if warm := kernelScore(t, pair[1], table); warm != cold {
				t.Errorf("%s, %s: score %d with a cold table, %d with a warm one", fen, name, cold, warm)
			}
			if cold > -search.RepBound || cold <= -search.WinBound {
				t.Errorf("%s, %s: score %d, want a loss by repetition", fen, name, cold)
			}
		}
	}
}

func kernelScore(t *testing.T, p game.Position, table *search.Table) search.Score {
	t.Helper()
	if table == nil {
		table = search.NewTable(1 << 20)
	}
	return search.New(Params(), table).NewGame(search.GameOptions{}).Start(adapt(t, p), search.Limits{Depth: 5}, nil).Wait().Score
}

// TestRookAgainstKing plays out all positions of king and rook against king:
// 3834 of them are legal with Red to move, all are won, none takes more than
// three plies (testdata/xiangqi-endgames.tsv of the rules, by retrograde
// analysis).
func TestRookAgainstKing(t *testing.T) {
	r, err := rules.Game().Rules("xiangqi/simple")
	if err != nil {
		t.Fatal(err)
	}
	own := search.New(Params(), search.NewTable(1<<22)).NewGame(search.GameOptions{})
	legal, longest := 0, search.Score(0)
	for king := range 9 {
		for other := range 9 {
			for rook := range 90 {
				p, err := r.New(kingsAndRook(king, other, rook))
				if err != nil {
					continue // two pieces on a square, kings facing, or Black in check
				}
				legal++
				res := own.Start(adapt(t, p), search.Limits{Depth: 9}, nil).Wait()
				if res.Score < search.WinBound {
					t.Fatalf("%s: %d, no win", p, res.Score)
				}
				longest = max(longest, search.Win-res.Score)
			}
		}
	}
	if legal != 3834 || longest != 3 {
		t.Errorf("%d positions, the longest win takes %d plies; want 3834 and 3", legal, longest)
	}
}

// kingsAndRook returns a FEN: the kings by their place in the palace, the rook by
// its square from the top left. Pieces on one square leave only one of them,
// which makes the FEN wrong.
func kingsAndRook(king, other, rook int) string {
	var board [10][9]byte
	for i := range board {
		for j := range board[i] {
			board[i][j] = '1'
		}
	}
	board[rook/9][rook%9] = 'R'
	board[other/3][3+other%3] = 'k'
	board[7+king/3][3+king%3] = 'K'
	var rows []string
	for _, row := range board {
		rows = append(rows, string(row[:]))
	}
	if !strings.Contains(strings.Join(rows, ""), "R") {
		return "-" // the rook is on a king's square
	}
	return strings.Join(rows, "/") + " w"
}
