package search

// historyMax bounds every history score.
const historyMax = 1 << 14

// history remembers how moves did elsewhere in this search (Schaeffer, "The
// history heuristic and alpha-beta search enhancements in practice", 1989;
// paper 004), one table per side and slot of Entry.Slots.
type history struct {
	slots [2][2][]int16 // side to move, slot kind, slot
}

func newHistory(sizes [2]int) *history {
	h := &history{}
	for side := range h.slots {
		for kind, n := range sizes {
			h.slots[side][kind] = make([]int16, max(n, 1))
		}
	}
	return h
}

func (h *history) clear() {
	for side := range h.slots {
		for kind := range h.slots[side] {
			clear(h.slots[side][kind])
		}
	}
}

// of is a move's record, within +-historyMax.
func (h *history) of(side int, e *Entry) int32 {
	t := &h.slots[side]
	return (int32(t[0][e.Slots[0]]) + int32(t[1][e.Slots[1]])) / 2
}

// credit moves a move's record towards +-historyMax.
func (h *history) credit(side int, e *Entry, bonus int32) {
	t := &h.slots[side]
	gravitate(&t[0][e.Slots[0]], bonus)
	gravitate(&t[1][e.Slots[1]], bonus)
}

// gravitate adds bonus with the pull back to zero that keeps the score in
// bounds and lets news outweigh old fame.
func gravitate(v *int16, bonus int32) {
	*v += int16(bonus - int32(*v)*max(bonus, -bonus)/historyMax)
}

// historyBonus grows with the depth that a cutoff saved.
func historyBonus(depth int) int32 {
	return int32(min(32*depth*depth+64*depth, 2048))
}
