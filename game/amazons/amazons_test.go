package amazons

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sparring/game"
)

// quick is the most leaves a perft row of the tests may have: a second's work.
const quick = 1_400_000_000

type perftRow struct {
	name, position string
	depth          int
	nodes          uint64
}

func perftRows(t testing.TB) []perftRow {
	t.Helper()
	f, err := os.Open("testdata/perft.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []perftRow
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		field := strings.Split(lines.Text(), "\t")
		if len(field) != 4 {
			t.Fatalf("testdata/perft.tsv: %q", lines.Text())
		}
		depth, err1 := strconv.Atoi(field[2])
		nodes, err2 := strconv.ParseUint(field[3], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, perftRow{field[0], field[1], depth, nodes})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// setup returns the position that the text describes, under the rules it implies.
func setup(t testing.TB, text string) *Position {
	t.Helper()
	name, err := rulesFor(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := findRules(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New(text)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Position)
}

func TestPerft(t *testing.T) {
	ran := 0
	for _, row := range perftRows(t) {
		if row.nodes > quick {
			continue
		}
		ran++
		if got := game.Perft(setup(t, row.position), row.depth); got != row.nodes {
			t.Errorf("%s depth %d: %d nodes, want %d", row.name, row.depth, got, row.nodes)
		}
	}
	if ran < 25 {
		t.Errorf("only %d rows ran", ran)
	}
}

// plain hides the bulk counting, so that game.Perft walks move by move.
type plain struct{ game.Position }

// The bulk count agrees with the generator, which agrees with the table above.
func TestBulkCountIsGenerator(t *testing.T) {
	for _, row := range perftRows(t) {
		if row.nodes > 5_000_000 {
			continue
		}
		if got := game.Perft(plain{setup(t, row.position)}, row.depth); got != row.nodes {
			t.Errorf("%s depth %d: %d moves generated, want %d", row.name, row.depth, got, row.nodes)
		}
	}
}

func TestStarts(t *testing.T) {
	g := Game()
	for _, name := range append(g.Sets, g.Default) {
		r, err := g.Rules(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.New("")
		if err != nil {
			t.Fatal(err)
		}
		implied, err := g.RulesFor(p.String())
		if err != nil || implied != name || p.Rules().Name != name || p.Rules().Game != g.Name {
			t.Errorf("%s: the start implies %s (%v), has rules %s", name, implied, err, p.Rules().Name)
		}
		if p.Turn() != game.First || p.Ply() != 0 || p.Outcome().Over() {
			t.Errorf("%s: turn %s ply %d outcome %v", name, p.Turn(), p.Ply(), p.Outcome())
		}
	}
	if name, err := g.RulesFor(""); err != nil || name != g.Default {
		t.Errorf("RulesFor(\"\") = %s, %v", name, err)
	}
}

// snapshot returns all that a position shows.
func snapshot(p *Position) string {
	return fmt.Sprintf("%s %x %d %v\n%s", p, p.Key(), p.Ply(), p.Outcome(), p.Diagram())
}

// check compares the incremental state with that of a position set up from its text.
func check(t *testing.T, p *Position) {
	t.Helper()
	again := setup(t, p.String())
	if again.board.key != p.board.key || again.board.amazons != p.board.amazons ||
		again.board.free != p.board.free || again.board.turn != p.board.turn {
		t.Fatalf("%s: incremental state differs from scratch:\n%+v\n%+v", p, p.board, again.board)
	}
}

// Random games on all boards of the table: moves are in order and round-trip in
// every notation, incremental state stays true, and Undo restores it.
func TestRandomGames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for _, row := range perftRows(t) {
		if seen[row.position] {
			continue
		}
		seen[row.position] = true
		p := setup(t, row.position)
		trail := []string{snapshot(p)}
		for !p.Outcome().Over() {
			moves := p.Legal(nil)
			if !slices.IsSorted(moves2keys(moves)) {
				t.Fatalf("%s: the moves are not sorted", p)
			}
			m := moves[rng.IntN(len(moves))]
			for _, n := range p.Notations() {
				text := p.FormatIn(n, m)
				if back, err := p.Parse(text); err != nil || back != m {
					t.Fatalf("%s: %s reads back as %s, %v", p, text, p.Format(back), err)
				}
			}
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
			check(t, p)
			trail = append(trail, snapshot(p))
		}
		if out := p.Outcome(); out.Result != game.WonBy(p.Turn().Other()) || out.Reason != game.NoMoves {
			t.Fatalf("%s: outcome %v", p, out)
		}
		for i := len(trail) - 1; i >= 0; i-- {
			if got := snapshot(p); got != trail[i] {
				t.Fatalf("after undo:\n%s\nwant\n%s", got, trail[i])
			}
			if i > 0 {
				p.Undo()
			}
		}
	}
}

// moves2keys puts from before to before arrow in each word's order.
func moves2keys(moves []game.Move) []uint32 {
	keys := make([]uint32, len(moves))
	for i, m := range moves {
		from, to, arrow := Squares(m)
		keys[i] = uint32(from)<<14 | uint32(to)<<7 | uint32(arrow)
	}
	return keys
}

// Legal on any word is membership in the generated list.
func TestLegalIsMembership(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, row := range perftRows(t) {
		p := setup(t, row.position)
		moves := p.Legal(nil)
		in := map[game.Move]bool{}
		for _, m := range moves {
			in[m] = true
		}
		if len(in) != len(moves) {
			t.Fatalf("%s: a move is listed twice", p)
		}
		for range 2000 {
			m := game.Move(rng.Uint32())
			switch rng.IntN(3) {
			case 0:
				m &= 1<<21 - 1
			case 1: // near misses: one square of a legal move changed
				m = moves[rng.IntN(len(moves))] ^ game.Move(rng.IntN(128))<<(7*rng.IntN(3))
			}
			if p.board.Legal(m) != in[m] {
				t.Fatalf("%s: Legal(%#x) = %v", p, uint32(m), !in[m])
			}
			if err := p.Clone().Play(m); (err == nil) != in[m] || err != nil && !errors.Is(err, game.ErrIllegal) {
				t.Fatalf("%s: Play(%#x): %v", p, uint32(m), err)
			}
		}
	}
}

// TestConnected compares Connected with king steps square by square, on random boards
// of every size.
func TestConnected(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for cols := 1; cols <= maxSide; cols++ {
		for rows := 1; rows <= maxSide && cols*rows <= maxSquares; rows++ {
			geo, err := newGeometry(cols, rows)
			if err != nil {
				t.Fatal(err)
			}
			b := Board{geo: geo}
			open := geo.all.And(Bits{rng.Uint64() | rng.Uint64(), rng.Uint64() | rng.Uint64()})
			from := Bit(Square(rng.IntN(cols * rows))).Or(Bit(Square(rng.IntN(cols * rows))))
			want, queue := from, from
			for !queue.Empty() {
				at := int(queue.Pop())
				for s := range Square(cols * rows) {
					col, row := int(s)%cols-at%cols, int(s)/cols-at/cols
					if max(col, -col, row, -row) == 1 && open.Has(s) && !want.Has(s) {
						want, queue = want.Or(Bit(s)), queue.Or(Bit(s))
					}
				}
			}
			if got := b.Connected(from, open); got != want {
				t.Fatalf("%dx%d: from %x over %x: %x, want %x", cols, rows, from, open, got, want)
			}
		}
	}
}

// The key is the formula of the package comment, which clients rely on.
func TestKeyFormula(t *testing.T) {
	p := setup(t, "Q*1/1q1 b")
	want := game.Zobrist(Seed, 3) ^ game.Zobrist(Seed, 128+1) ^ game.Zobrist(Seed, 256+4) ^ game.Zobrist(Seed, 384)
	if p.Key() != want {
		t.Errorf("key %x, want %x", p.Key(), want)
	}
}

func TestPositionErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		kind error
		says string
	}{
		{"x", game.ErrSyntax, "side to move"},
		{"Q1/1q", game.ErrSyntax, "column 6"},
		{"Q1/1q r", game.ErrSyntax, "w or b"},
		{"Q1/1q  w", game.ErrSyntax, "w or b"},
		{"Q1/x1q w", game.ErrSyntax, `column 4: 'x'`},
		{"Q01/1q w", game.ErrSyntax, `column 2: '0'`},
		{"Q1//1q w", game.ErrSyntax, "column 4: an empty row"},
		{"Q1/1q1 w", game.ErrPosition, "row 1 has 3 squares, the top row 2"},
		{"Q17/q17 w", game.ErrSyntax, "a run of 17"},
		{"Q15qq/17 w", game.ErrSyntax, "more than 16 squares"},
		{"Q11/12/12/12/12/12/12/12/12/12/11q w", game.ErrPosition, "12 columns and 11 rows"},
		{"Q1/2 w", game.ErrPosition, "no amazon q of seat second"},
		{"q1/2 w", game.ErrPosition, "no amazon Q of seat first"},
		{strings.Repeat("1", 300) + " w", game.ErrSyntax, "too long"},
	} {
		_, err := rulesFor(c.text)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q: %v, want %v saying %q", c.text, err, c.kind, c.says)
		}
	}
}

func TestRulesErrors(t *testing.T) {
	for _, name := range []string{"amazons", "amazons/", "amazons/10", "amazons/010x10", "amazons/10x10x", "amazons/0x5", "amazons/-5x5", "amazons/12x12", "amazons/17x2", "xiangqi/10x10"} {
		if _, err := findRules(name); !errors.Is(err, game.ErrRules) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, err := findRules("amazons/5x4")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.New(""); !errors.Is(err, game.ErrPosition) {
		t.Errorf("no usual start: %v", err)
	}
	if _, err := r.New(starts["6x6"]); !errors.Is(err, game.ErrPosition) || !strings.Contains(err.Error(), "6x6") {
		t.Errorf("another board's position: %v", err)
	}
}

func TestMoveErrors(t *testing.T) {
	p := setup(t, "")
	for _, c := range []struct {
		text string
		kind error
		says string
	}{
		{"", game.ErrSyntax, "want a square"},
		{"d1", game.ErrSyntax, "want a square"},
		{"d1d7", game.ErrSyntax, "form like d1d7/b7"},
		{"d1d7/", game.ErrSyntax, "column 6"},
		{"d0d7/b7", game.ErrSyntax, "column 1"},
		{"d1d11/b7", game.ErrSyntax, `"d11" is not on a board`},
		{"d1k7/b7", game.ErrSyntax, `column 3: "k7" is not on a board`},
		{"d1d7/b7/c7", game.ErrSyntax, "column 8: want a form like"},
		{"d1d7(b7", game.ErrSyntax, "column 8: want a form like"},
		{"d1-d7/b7", game.ErrSyntax, "form like d1d7/b7"},
		{"d1-k7-b7", game.ErrSyntax, `column 4: "k7" is not on a board`},
		{"d1--d7-b7", game.ErrSyntax, "column 4: want a square"},
		{"d10d7/b7", game.ErrIllegal, "the opponent's"},
		{"e1e7/b7", game.ErrIllegal, "no amazon on e1"},
		{"d1d10/d9", game.ErrIllegal, "no free way from d1 to d10"},
		{"d1e3/e4", game.ErrIllegal, "no free way from d1 to e3"},
		{"d1d7/a1", game.ErrIllegal, "arrow from d7 to a1"},
		{"d1d7/d7", game.ErrIllegal, "arrow from d7 to d7"},
	} {
		_, err := p.Parse(c.text)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %v saying %q", c.text, err, c.kind, c.says)
		}
	}
	if m, err := p.Parse("d1d7/d1"); err != nil || p.Format(m) != "d1d7/d1" {
		t.Errorf("an arrow back to the square just left: %v", err)
	}
}

func TestNotations(t *testing.T) {
	p := setup(t, "")
	m, err := p.Parse("d1d7/b7")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[game.Notation]string{Slash: "d1d7/b7", Hyphens: "d1-d7-b7", Parens: "d1d7(b7)"} {
		if got := p.FormatIn(n, m); got != want {
			t.Errorf("notation %s writes %s, want %s", n, got, want)
		}
		if back, err := p.Parse(strings.ToUpper(want)); err != nil || back != m {
			t.Errorf("%s in capitals: %v", want, err)
		}
	}
}

// A position text is refused with an error, or reads back as it is written.
func FuzzPosition(f *testing.F) {
	for _, row := range perftRows(f) {
		f.Add(row.position)
	}
	f.Add("Q15/q15 b")
	f.Add("Q*/q* w")
	f.Fuzz(func(t *testing.T, text string) {
		name, err := rulesFor(text)
		if err != nil {
			if !errors.Is(err, game.ErrSyntax) && !errors.Is(err, game.ErrPosition) {
				t.Fatal(err)
			}
			return
		}
		if text == "" {
			return
		}
		p := setup(t, text)
		if again := setup(t, p.String()); again.String() != p.String() || again.Key() != p.Key() || p.Rules().Name != name {
			t.Fatalf("%q reads as %q, then %q", text, p, again)
		}
		if moves := p.Legal(nil); uint64(len(moves)) != p.Perft(1) || (len(moves) == 0) != p.Outcome().Over() {
			t.Fatalf("%q: %d moves, perft 1 %d, outcome %v", p, len(moves), p.Perft(1), p.Outcome())
		}
	})
}

// A move text is refused, or names a legal move that is written back alike.
func FuzzMove(f *testing.F) {
	for _, s := range []string{"d1d7/b7", "g1g9/a3", "d1d7/d1", "d10d7/b7", "d1-d7-b7", "D1D7(B7)", "d1d7", "é1d7/b7"} {
		f.Add(s)
	}
	p := setup(f, "")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := p.Parse(text)
		if err != nil {
			if !errors.Is(err, game.ErrSyntax) && !errors.Is(err, game.ErrIllegal) {
				t.Fatal(err)
			}
			return
		}
		if again, err := p.Parse(p.Format(m)); err != nil || again != m {
			t.Fatalf("%q: %v %v", text, again, err)
		}
	})
}

func BenchmarkPerft8x8Depth3(b *testing.B) {
	p := setup(b, starts["8x8"])
	for b.Loop() {
		if n := p.Perft(3); n != 1_358_441_750 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.N)*1358.441750/b.Elapsed().Seconds(), "Mleaves/s")
}

// A whole game, move by move: keys and texts stay what clients and records
// have of them.
func TestGoldenGame(t *testing.T) {
	data, err := os.ReadFile("testdata/game.tsv")
	if err != nil {
		t.Fatal(err)
	}
	p := setup(t, "")
	for line := range strings.Lines(string(data)) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		if len(field) != 4 {
			continue
		}
		m, err := p.Parse(field[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d\t%s\t%016x\t%s", p.Ply(), p.Format(m), p.Key(), p); got != strings.Join(field, "\t") {
			t.Fatalf("after ply %s: %s, want %s", field[0], got, line)
		}
	}
	if want := (game.Outcome{Result: game.SecondWins, Reason: game.NoMoves}); p.Ply() < 70 || p.Outcome() != want {
		t.Errorf("after %d plies: %v, want %v", p.Ply(), p.Outcome(), want)
	}
}
