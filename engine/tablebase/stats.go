package tablebase

import rules "sparring/game/xiangqi"

// Stats counts the positions of a set with one side to move. Mirror images count
// separately.
type Stats struct {
	Legal   int
	Won     int // by the side to move
	Lost    int
	Longest int // plies of the longest win, 0 if there is none
}

// stats counts the positions of the canonical set with the side to move.
func (s *solved) stats(side rules.Colour) Stats {
	var st Stats
	for i, v := range s.values[side] {
		if v == illegal {
			continue
		}
		n := 2
		if s.layout.even(i) {
			n = 1
		}
		st.Legal += n
		switch {
		case v == drawn:
		case v%2 == 0:
			st.Lost += n
		default:
			st.Won += n
			st.Longest = max(st.Longest, int(v))
		}
	}
	return st
}
