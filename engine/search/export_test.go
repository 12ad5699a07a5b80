package search

// HistoryTables counts a kernel's history tables: all that exist, and those of
// open games.
func (k *Kernel) HistoryTables() (all, owned int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.histories, k.histories - len(k.unused)
}

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
