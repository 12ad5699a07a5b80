package search

// MateWithin returns the score from which on a search for a mate in so many moves ends.
var MateWithin = mateWithin

// HistoryTables counts a kernel's history tables: all that exist, and those of
// open games.
func (k *Kernel) HistoryTables() (all, owned int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.histories, k.histories - len(k.unused)
}

// DoublesLeft returns how many two-ply extensions the kernel's last search still
// counts for the moves at ply 1, though it has returned from all of them.
func (k *Kernel) DoublesLeft() int { return k.stacks[len(k.stacks)-1].lines[2].doubles }

// LimitHistories sets how many history tables a kernel may keep.
func (k *Kernel) LimitHistories(n int) { k.maxHistories = n }

// HistoryBytes returns the size of one history table, and what its slices take.
func HistoryBytes(p Params) (planned, made int) {
	h := newHistory(&p)
	for side := range 2 {
		for kind := range 2 {
			made += 2 * (len(h.quiet[side][kind]) + len(h.noisy[side][kind]))
		}
		made += 2*len(h.continuation[side]) + len(h.usedRows[side]) + 4*len(h.counter[side]) + 2*len(h.correctionByMove[side])
		made += 2 * len(h.correctionByKey[side])
	}
	return historyBytes(&p), made
}
