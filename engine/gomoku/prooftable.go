package gomoku

import "math/bits"

// proofTable remembers the numbers of nodes, in pairs of entries: of two nodes in
// one place, that which took more work is kept, beside the latest. It grows while it
// is half full, up to 6 MB.
type proofTable struct {
	entries []proofEntry
	shift   int // of a key, for the index of a pair
	used    int // entries
}

type proofEntry struct {
	key uint64
	numbers
	work uint32 // nodes; at least 1 if the entry is used
}

// The binary logarithms of the smallest and the largest number of entries.
const (
	minProofBits = 10
	maxProofBits = 18
)

func (t *proofTable) pair(key uint64) *[2]proofEntry {
	return (*[2]proofEntry)(t.entries[key>>t.shift<<1:])
}

// probe returns the numbers of a node, if they are known.
func (t *proofTable) probe(key uint64) (numbers, bool) {
	if len(t.entries) == 0 {
		return numbers{}, false
	}
	for i := range t.pair(key) {
		if e := &t.pair(key)[i]; e.key == key && e.work > 0 {
			return e.numbers, true
		}
	}
	return numbers{}, false
}

// store notes the numbers of a node that took so many nodes more.
func (t *proofTable) store(key uint64, n numbers, work int) {
	if 2*t.used >= len(t.entries) && len(t.entries) < 1<<maxProofBits {
		t.grow()
	}
	t.insert(proofEntry{key, n, uint32(min(work+1, infinite))})
}

func (t *proofTable) insert(e proofEntry) {
	pair := t.pair(e.key)
	at := &pair[0]
	switch {
	case at.key == e.key:
		e.work = min(e.work+at.work, infinite)
	case pair[1].key == e.key:
		at = &pair[1]
		e.work = min(e.work+at.work, infinite)
	case at.work > pair[1].work:
		at = &pair[1]
	}
	if at.work == 0 {
		t.used++
	}
	*at = e
}

// grow makes the table four times as large.
func (t *proofTable) grow() {
	old := t.entries
	size := min(max(minProofBits, bits.Len(uint(len(old)))+1), maxProofBits)
	t.entries, t.shift, t.used = make([]proofEntry, 1<<size), 64-(size-1), 0
	for _, e := range old {
		if e.work > 0 {
			t.insert(e)
		}
	}
}
