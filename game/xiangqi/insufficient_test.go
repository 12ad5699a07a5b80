package xiangqi

import "testing"

// TestInsufficientIsSound looks for a side without a move, which is how a game
// is won, in every position with what Insufficient calls a draw. Captures lead
// only to other such positions, so that none can be reached either.
//
// The other side's advisors and elephants affect a king only by standing between
// the kings, so for kings, advisors and elephants it is enough to look at one side's
// men, with the kings' file open and closed.
func TestInsufficientIsSound(t *testing.T) {
	kings, advisors := squares(Palace(Red)), subsets(squares(standing[MakePiece(Red, Advisor)]), 2)
	elephants := subsets(squares(standing[MakePiece(Red, Elephant)]), most[Elephant])
	positions := 0
	b := &Board{states: make([]State, 1, 2)}
	look := func(place func(put func(p Piece, s Square))) {
		*b = Board{states: b.states[:1]}
		b.states[0] = State{}
		free := true
		place(func(p Piece, s Square) {
			free = free && b.piece[s] == NoPiece
			if free {
				b.put(p, s)
			}
		})
		if !free || b.start(0) != nil {
			return // two on a square, kings facing, or the side not to move in check
		}
		positions++
		if !b.Insufficient() {
			t.Fatalf("%s is not called insufficient", b.fen(1))
		}
		if !b.AnyLegal() {
			t.Fatalf("%s is lost", b.fen(1))
		}
	}
	for _, king := range kings {
		for _, other := range kings {
			for _, e := range elephants {
				for _, a := range advisors {
					for _, between := range []bool{false, true} {
						look(func(put func(Piece, Square)) {
							put(MakePiece(Red, King), king)
							put(MakePiece(Black, King), other.Flip())
							putAll(put, MakePiece(Red, Advisor), a)
							putAll(put, MakePiece(Red, Elephant), e)
							if k := Advisor; between {
								if other.File() == 4 {
									k = Elephant
								}
								put(MakePiece(Black, k), MakeSquare(other.File(), 7))
							}
						})
					}
				}
				for cannon := range Square(Squares) {
					if len(e) > 2 {
						break // the third elephant of test positions adds time only
					}
					for side := range Colour(2) {
						look(func(put func(Piece, Square)) {
							// The cannon's owner is to move when side is Red.
							put(MakePiece(side, King), orient(side, king))
							put(MakePiece(side.Other(), King), orient(side, other.Flip()))
							putAll(put, MakePiece(side, Cannon), []Square{orient(side, cannon)})
							for _, s := range e {
								put(MakePiece(side, Elephant), orient(side, s))
							}
						})
					}
				}
			}
		}
	}
	if positions < 300_000 {
		t.Errorf("only %d positions", positions)
	}
}

func orient(c Colour, s Square) Square {
	if c == Black {
		return s.Flip()
	}
	return s
}

func putAll(put func(Piece, Square), p Piece, at []Square) {
	for _, s := range at {
		put(p, s)
	}
}

func squares(b Bits) (s []Square) {
	for ; b.Any(); b = b.Rest() {
		s = append(s, b.First())
	}
	return s
}

// subsets returns all sets of at most n of the squares.
func subsets(s []Square, n int) [][]Square {
	if len(s) == 0 || n == 0 {
		return [][]Square{nil}
	}
	all := subsets(s[1:], n)
	for _, rest := range subsets(s[1:], n-1) {
		all = append(all, append([]Square{s[0]}, rest...))
	}
	return all
}
