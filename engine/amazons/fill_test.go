package amazons

import (
	"fmt"
	"math/rand/v2"
	"testing"

	rules "sparring/game/amazons"
)

// slowReach walks from every square of a set in every direction, square by square.
func slowReach(cols, rows int, free, from rules.Bits, queen bool) (reach rules.Bits) {
	for !from.Empty() {
		at := int(from.Pop())
		for _, d := range directions {
			for col, row := at%cols+d[0], at/cols+d[1]; col >= 0 && col < cols && row >= 0 && row < rows; col, row = col+d[0], row+d[1] {
				next := rules.Square(row*cols + col)
				if !free.Has(next) {
					break
				}
				reach = reach.Or(rules.Bit(next))
				if !queen {
					break
				}
			}
		}
	}
	return reach
}

// checkFills compares all fills with slow walks on one board.
func checkFills(t *testing.T, cols, rows int, free, a, b rules.Bits) {
	t.Helper()
	s := newSlides(cols, rows)
	want := [2]rules.Bits{slowReach(cols, rows, free, a, true).Or(a), slowReach(cols, rows, free, b, true).Or(b)}
	check := func(name string, ra, rb rules.Bits) {
		t.Helper()
		if got := [2]rules.Bits{ra, rb}; got != want {
			t.Fatalf("%s on %dx%d, free %x, from %x and %x: %x, want %x", name, cols, rows, free, a, b, got, want)
		}
	}
	ra, rb := fill128(&s, free, a, b)
	check("fill128", ra, rb)
	ra, rb = fill128Plain(&s, free, a, b)
	check("fill128Plain", ra, rb)
	if cols*rows <= 64 {
		la, lb := fill64(&s, free.Lo, a.Lo, b.Lo)
		check("fill64", rules.Bits{Lo: la}, rules.Bits{Lo: lb})
		la, lb = fill64Plain(&s, free.Lo, a.Lo, b.Lo)
		check("fill64Plain", rules.Bits{Lo: la}, rules.Bits{Lo: lb})
	}
}

// checkQueenMoves compares the moves of amazons with slow walks.
func checkQueenMoves(t *testing.T, cols, rows int, free, a, b rules.Bits) {
	t.Helper()
	b = b.AndNot(a)
	free = free.AndNot(a).AndNot(b)
	g := geometryOf(cols, rows)
	amazons := [2]rules.Bits{a, b}
	for name, queenMoves := range map[string]func(rules.Bits, [2]rules.Bits, *[maxSquares]uint8) [2]rules.Bits{
		"queenMoves": g.queenMoves, "queenMovesPlain": g.queenMovesPlain,
	} {
		var moves [maxSquares]uint8
		reach := queenMoves(free, amazons, &moves)
		for side, set := range amazons {
			if want := slowReach(cols, rows, free, set, true); reach[side] != want {
				t.Fatalf("%s on %dx%d, free %x, from %x: %x, want %x", name, cols, rows, free, set, reach[side], want)
			}
		}
		for s := range rules.Square(maxSquares) {
			want := 0
			if a.Or(b).Has(s) {
				want = slowReach(cols, rows, free, rules.Bit(s), true).Count()
			}
			if int(moves[s]) != want {
				t.Fatalf("%s on %dx%d, free %x: %d moves from square %d, want %d", name, cols, rows, free, moves[s], s, want)
			}
		}
	}
}

// boardOf keeps the squares that a board has.
func boardOf(cols, rows int, b rules.Bits) (kept rules.Bits) {
	for s := range rules.Square(cols * rows) {
		if b.Has(s) {
			kept = kept.Or(rules.Bit(s))
		}
	}
	return kept
}

// eachSize calls f for every size of a board.
func eachSize(f func(cols, rows int)) {
	for cols := 1; cols <= 16; cols++ {
		for rows := 1; rows <= 16 && cols*rows <= 128; rows++ {
			f(cols, rows)
		}
	}
}

// TestFills compares the fills and the moves of amazons with slow walks on random boards of every size.
func TestFills(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	random := func() rules.Bits { return rules.Bits{Lo: rng.Uint64(), Hi: rng.Uint64()} }
	eachSize(func(cols, rows int) {
		all := boardOf(cols, rows, rules.Bits{Lo: ^uint64(0), Hi: ^uint64(0)})
		for _, free := range []rules.Bits{all, all.And(random()), all.And(random().Or(random())), all.AndNot(random().And(random()).And(random()))} {
			for _, from := range []rules.Bits{random(), random().And(random()).And(random()).And(random()), {}} {
				a, b := all.And(from), all.And(random()).And(random())
				checkFills(t, cols, rows, free, a, b)
				checkQueenMoves(t, cols, rows, free, a, b)
			}
		}
	})
}

// FuzzFills is TestFills on boards of the fuzzer's choice.
func FuzzFills(f *testing.F) {
	f.Add(uint8(10), uint8(10), ^uint64(0), ^uint64(0), uint64(1), uint64(0), uint64(0), uint64(1)<<35)
	f.Add(uint8(8), uint8(8), ^uint64(0)>>9, uint64(0), uint64(1), uint64(0), uint64(1)<<63, uint64(0))
	f.Add(uint8(16), uint8(4), ^uint64(0), uint64(0), uint64(1)<<15, uint64(0), uint64(1)<<20, uint64(0))
	f.Fuzz(func(t *testing.T, cols, rows uint8, freeLo, freeHi, aLo, aHi, bLo, bHi uint64) {
		if cols < 1 || rows < 1 || cols > 16 || rows > 16 || int(cols)*int(rows) > 128 {
			t.Skip()
		}
		c, r := int(cols), int(rows)
		free, a, b := boardOf(c, r, rules.Bits{Lo: freeLo, Hi: freeHi}), boardOf(c, r, rules.Bits{Lo: aLo, Hi: aHi}), boardOf(c, r, rules.Bits{Lo: bLo, Hi: bHi})
		checkFills(t, c, r, free, a, b)
		checkQueenMoves(t, c, r, free, a, b)
	})
}

// BenchmarkFill fills from both sides' amazons.
func BenchmarkFill(b *testing.B) {
	for size, texts := range benchBoards() {
		board := setup(b, texts[3]).(*rules.Position).Board()
		cols, rows := board.Size()
		s := newSlides(cols, rows)
		free, first, second := board.Free(), board.Amazons(0), board.Amazons(1)
		var sink rules.Bits
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/%s", size, name), func(b *testing.B) {
				for b.Loop() {
					f()
				}
			})
		}
		run("rays", func() { sink = board.Reach(first).Or(board.Reach(second)) })
		if cols*rows <= 64 {
			run("plain", func() { sink.Lo, sink.Hi = fill64Plain(&s, free.Lo, first.Lo, second.Lo) })
			run("fill", func() { sink.Lo, sink.Hi = fill64(&s, free.Lo, first.Lo, second.Lo) })
		}
		run("plain128", func() { sink, _ = fill128Plain(&s, free, first, second) })
		run("fill128", func() { sink, _ = fill128(&s, free, first, second) })
	}
}
