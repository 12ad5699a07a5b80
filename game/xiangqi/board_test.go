package xiangqi

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sparring/game"
)

// mustBoard parses a FEN that the test wrote itself.
func mustBoard(t testing.TB, fen string) *Board {
	t.Helper()
	b, err := ParseFEN(fen)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// walk plays games of random moves, captures preferred now and then so that
// every phase is seen, and calls visit at each position. Visit must leave the
// board as it was.
func walk(t testing.TB, seed uint64, games, plies int, visit func(b *Board, r *rand.Rand)) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	for range games {
		b := mustBoard(t, StartFEN)
		for range plies {
			visit(b, r)
			moves := b.Legal(nil)
			if len(moves) == 0 {
				break
			}
			if captures := b.Captures(nil); len(captures) > 0 && r.IntN(4) == 0 {
				moves = captures
			}
			b.Do(moves[r.IntN(len(moves))])
		}
	}
}

// checkScratch compares the board's incremental state with that of a board set up
// from its FEN.
func checkScratch(t *testing.T, b *Board) {
	t.Helper()
	fresh := mustBoard(t, b.fen(1))
	if b.of != fresh.of || b.piece != fresh.piece || b.king != fresh.king || b.side != fresh.side {
		t.Fatalf("pieces of %s differ from scratch", b.fen(1))
	}
	got, want := b.State(), fresh.State()
	if got.Key != want.Key || got.Key != b.keyFromScratch() {
		t.Fatalf("key of %s differs from scratch", b.fen(1))
	}
	if got.Checkers != want.Checkers || got.pinned != want.pinned || got.hollow != want.hollow {
		t.Fatalf("checkers of %s differ from scratch", b.fen(1))
	}
}

func TestDoUndoRandomWalk(t *testing.T) {
	walk(t, 1, 30, 200, func(b *Board, r *rand.Rand) {
		checkScratch(t, b)
		before := *b
		before.states = slices.Clone(b.states)
		for _, m := range b.Legal(nil) {
			b.Do(m)
			if r.IntN(20) == 0 {
				checkScratch(t, b)
			}
			b.Undo()
		}
		if !b.InCheck() {
			b.Pass()
			if b.Key() != before.Key()^keyBlack || b.side == before.side {
				t.Fatal("Pass changes the side and its key")
			}
			b.Unpass()
		}
		if !slices.Equal(b.states, before.states) || b.of != before.of || b.piece != before.piece || b.king != before.king || b.side != before.side {
			t.Fatalf("%s is not as it was after Do and Undo", b.fen(1))
		}
	})
}

func TestCloneIsIndependent(t *testing.T) {
	b := mustBoard(t, StartFEN)
	c := b.Clone()
	c.Do(c.Legal(nil)[0])
	if b.SameAs(c) || len(b.States()) != 1 {
		t.Error("a move on the clone moved on the original")
	}
	checkScratch(t, b)
	checkScratch(t, c)
}

func TestIsLegalIsMembership(t *testing.T) {
	walk(t, 2, 6, 120, func(b *Board, r *rand.Rand) {
		legal := b.Legal(nil)
		parts := append(b.Captures(nil), b.Quiets(nil)...)
		slices.Sort(parts)
		sorted := slices.Sorted(slices.Values(legal))
		if !slices.Equal(parts, sorted) {
			t.Fatalf("%s: captures and quiets together are not the legal moves", b.fen(1))
		}
		if n := b.CountLegal(); n != len(legal) {
			t.Fatalf("%s: counted %d of %d legal moves", b.fen(1), n, len(legal))
		}
		for from := range Square(Squares) {
			for to := range Square(Squares) {
				m := MakeMove(from, to)
				if b.IsLegal(m) != slices.Contains(legal, m) {
					t.Fatalf("%s: IsLegal(%s) is %v", b.fen(1), FormatMove(m), b.IsLegal(m))
				}
			}
		}
		for range 200 {
			if m := game.Move(r.Uint32()); b.IsLegal(m) != slices.Contains(legal, m) {
				t.Fatalf("%s: IsLegal(%#x) is %v", b.fen(1), m, b.IsLegal(m))
			}
		}
	})
}

// TestAttackersTo compares the reverse look-up with the attacks.
func TestAttackersTo(t *testing.T) {
	walk(t, 3, 5, 120, func(b *Board, _ *rand.Rand) {
		occupied := b.Occupied()
		for s := range Square(Squares) {
			var want Bits
			for from := range Square(Squares) {
				if p := b.At(from); p != NoPiece && Attacks(p, from, occupied).Has(s) {
					want = want.Or(Only(from))
				}
			}
			if got := b.AttackersTo(s, occupied); got != want {
				t.Fatalf("%s: attackers of %s differ", b.fen(1), s)
			}
		}
	})
}

func TestKeyFormula(t *testing.T) {
	// Worked out by hand from the package documentation.
	b := mustBoard(t, "3k5/9/9/9/9/9/9/9/9/4K4 b")
	const seed = 0x7869616e677169
	want := game.Zobrist(seed, 90*0+4) ^ game.Zobrist(seed, 90*7+9*9+3) ^ game.Zobrist(seed, 1260)
	if b.Key() != want {
		t.Errorf("key %#x, want %#x", b.Key(), want)
	}
}

func TestSquareSymmetries(t *testing.T) {
	for s := range Square(Squares) {
		if f := s.Flip(); f.File() != s.File() || f.Rank() != Ranks-1-s.Rank() {
			t.Errorf("%s flips to %s", s, f)
		}
		if m := s.Mirror(); m.Rank() != s.Rank() || m.File() != Files-1-s.File() {
			t.Errorf("%s mirrors to %s", s, m)
		}
	}
}

// TestChecking plays every move to see whether it gives check.
func TestChecking(t *testing.T) {
	checks := 0
	walk(t, 9, 60, 120, func(b *Board, _ *rand.Rand) {
		c := b.Checking()
		for _, m := range b.Legal(nil) {
			from, to := From(m), To(m)
			targets, sure := c.Targets(b.At(from), from)
			may, gives := targets.Has(to), b.GivesCheck(m)
			b.Do(m)
			does := b.InCheck()
			b.Undo()
			if gives != does || does && !may || sure && may && !does {
				t.Fatalf("%s in %s: gives check %v; GivesCheck %v, in Checking %v", FormatMove(m), b.fen(1), does, gives, may)
			}
			if does {
				checks++
			}
		}
	})
	if checks < 1000 {
		t.Errorf("only %d checks seen", checks)
	}
}
