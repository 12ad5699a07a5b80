package xiangqi

import "testing"

// army is how many pieces of a kind a side has.
type army struct {
	piece Piece
	count int
}

// choose lists the ways to set up n pieces.
func choose(p Piece, n int) (sets []Bits) {
	if n == 0 {
		return []Bits{{}}
	}
	for _, set := range choose(p, n-1) {
		for s := standing[p]; s.Any(); s = s.Rest() {
			// In descending order, so that no set comes twice.
			if at := s.First(); !set.Any() || at < set.First() {
				sets = append(sets, set.Or(only[at]))
			}
		}
	}
	return sets
}

// endings sets up every position of the armies, for each side to move, and
// counts those that have no legal move.
func endings(armies []army) (positions, over int) {
	b := &Board{states: make([]State, 1)}
	var place func(i int)
	place = func(i int) {
		if i < len(armies) {
			for _, set := range choose(armies[i].piece, armies[i].count) {
				if set.Meets(b.Occupied()) {
					continue
				}
				for s := set; s.Any(); s = s.Rest() {
					b.put(armies[i].piece, s.First())
				}
				place(i + 1)
				for s := set; s.Any(); s = s.Rest() {
					b.piece[s.First()] = NoPiece
				}
				b.of[armies[i].piece] = Bits{}
				all := allOf(armies[i].piece.Color())
				b.of[all] = b.of[all].Without(set)
			}
			return
		}
		b.king = [2]Square{b.of[MakePiece(Red, King)].First(), b.of[MakePiece(Black, King)].First()}
		for c := range Color(2) {
			b.side = c.Other()
			if b.look(&b.states[0]); b.InCheck() {
				continue // no position: the side not to move is in check
			}
			b.side = c
			b.look(&b.states[0])
			positions++
			if !b.AnyLegal() {
				over++
			}
		}
	}
	place(0)
	return positions, over
}

// TestDeadArmiesNeverWin works out that no position of an army that counts as
// dead is mate or stalemate, which makes every game with them a draw.
func TestDeadArmiesNeverWin(t *testing.T) {
	seen := 0
	for n := range 3 * 3 * 3 * 3 * 2 {
		redAdvisers, redElephants, blackAdvisers, blackElephants, cannons := n%3, n/3%3, n/9%3, n/27%3, n/81
		if cannons > 0 && redAdvisers+blackAdvisers > 0 {
			continue
		}
		defenders := redAdvisers + redElephants + blackAdvisers + blackElephants
		if defenders > 4 || testing.Short() && defenders+cannons > 3 {
			continue // the larger armies hold too, all 25,874,106 positions, but take long
		}
		positions, over := endings([]army{
			{MakePiece(Red, King), 1}, {MakePiece(Black, King), 1},
			{MakePiece(Red, Advisor), redAdvisers}, {MakePiece(Red, Elephant), redElephants}, {MakePiece(Red, Cannon), cannons},
			{MakePiece(Black, Advisor), blackAdvisers}, {MakePiece(Black, Elephant), blackElephants},
		})
		if over > 0 || positions == 0 {
			t.Errorf("advisers %d and %d, elephants %d and %d, cannons %d: %d of %d positions are mate or stalemate",
				redAdvisers, blackAdvisers, redElephants, blackElephants, cannons, over, positions)
		}
		seen += positions
	}
	t.Logf("%d positions", seen)
}

func TestDead(t *testing.T) {
	for fen, want := range map[string]bool{
		"3k5/9/9/9/9/9/9/9/9/4K4 w":              true,
		"2bak1b2/4a4/9/9/9/9/9/4B4/4A4/2B1KA3 w": true,
		"3k5/9/4b4/9/9/9/9/9/9/C3K4 w":           true,
		"3k5/4a4/4b4/9/9/9/9/9/9/C3K4 w":         false,
		"3k5/9/9/9/9/9/9/9/9/C3KA3 w":            false,
		"3k5/9/9/9/c8/9/9/9/9/C3K4 w":            false,
		"3k5/9/9/9/9/9/9/9/9/N3K4 w":             false,
		"3k5/9/9/9/9/9/9/9/p8/4K4 w":             false,
	} {
		if b := mustBoard(t, fen); b.Dead() != want {
			t.Errorf("%s: dead is %v", fen, !want)
		}
	}
}
