package search

import (
	"math"
	"math/bits"
	"sync/atomic"

	"sparring/game"
)

// Bound is the relation of a stored or reported score to the true one.
type Bound uint8

// The bounds. NoBound stores a move without a score.
const (
	NoBound Bound = iota
	Upper         // the true score is at most this: no move raised alpha
	Lower         // the true score is at least this: a move failed high
	Exact
)

// Table is the hash table of searched positions. Any number of searches, of
// several games too, may read and write one at the same time.
//
// An entry is two atomic words: the data, and the key with its low byte
// replaced by age and bound (the bucket's index implies that byte), xored
// with the data. If two writers mix their words, the xor no longer gives the
// key, and the entry is not found. An entry can still belong to another
// position whose key collides, so a move from the table is always checked by
// Position.Find. (Hyatt and Mann, "A lock-less transposition table
// implementation for parallel search", ICGA J. 25, 2002.)
type Table struct {
	buckets []bucket
	age     atomic.Uint32 // incremented by each search; old entries are replaced first
}

type slot struct{ check, data atomic.Uint64 }

type bucket [4]slot // one cache line

// Layout of the data word: 21 bits move, 16 score, 16 evaluation, 8 depth,
// 1 whether a prover has failed at a leaf, 1 that is always set, so that no entry
// is zero, which means empty, 1 whether a prover has failed in the principal
// variation.
const (
	moveBits            = 21
	scoreShift          = moveBits
	evalShift           = scoreShift + 16
	depthShift          = evalShift + 16
	proverFailedShift   = depthShift + 8
	setShift            = proverFailedShift + 1
	pvProverFailedShift = setShift + 1

	lowByte   = 0xff // of the key, taken by age and bound
	boundMask = 3
	ageShift  = 2
	ageCycle  = 64
)

// noEval marks an entry without an evaluation.
const noEval Score = math.MinInt16

// ttEntry is an unpacked entry.
type ttEntry struct {
	move         game.Move
	score        Score // plies to the end count from this position, see fromTable
	eval         Score // or noEval
	depth        int   // 0..255
	bound        Bound
	proverFailed bool // a prover has failed here, with the budget of leaves

	pvProverFailed bool // the same with that of the principal variation
}

// NewTable makes a table of at most the given bytes. The number of buckets is
// the largest power of two that fits, but at least 256 (16 KiB).
func NewTable(bytes int) *Table {
	const bucketBytes, fewest = 64, lowByte + 1
	n := max(bytes/bucketBytes, fewest)
	n = 1 << (bits.Len(uint(n)) - 1)
	t := &Table{buckets: make([]bucket, n)}
	HugePages(t.buckets)
	return t
}

// Bytes returns the table's size.
func (t *Table) Bytes() int { return len(t.buckets) * 64 }

// Clear empties the table. No search may use it meanwhile.
func (t *Table) Clear() {
	clear(t.buckets)
	t.age.Store(0)
}

// Permille returns the share of entries written by the latest search, in thousandths
// (hashfull), estimated from the first buckets.
func (t *Table) Permille() int {
	age, n := uint64(t.age.Load()%ageCycle), 0
	for i := range 250 {
		for j := range t.buckets[i] {
			s := &t.buckets[i][j]
			data := s.data.Load()
			if low := (s.check.Load() ^ data) & lowByte; data != 0 && low>>ageShift == age {
				n++
			}
		}
	}
	return n
}

// newSearch starts a new age.
func (t *Table) newSearch() { t.age.Add(1) }

func (t *Table) bucket(key uint64) *bucket {
	return &t.buckets[key&uint64(len(t.buckets)-1)]
}

// probe finds the entry of the position with this key.
func (t *Table) probe(key uint64) (ttEntry, bool) {
	b := t.bucket(key)
	for i := range b {
		data := b[i].data.Load()
		if k := b[i].check.Load() ^ data; (k^key)&^lowByte == 0 && data != 0 {
			return unpack(k, data), true
		}
	}
	return ttEntry{}, false
}

// store writes r over the position's old entry or the bucket's least valuable
// one. An r without a bound leaves the old entry's score.
func (t *Table) store(key uint64, r ttEntry) {
	b := t.bucket(key)
	age := uint64(t.age.Load() % ageCycle)
	worst, worth := 0, math.MaxInt
	for i := range b {
		data := b[i].data.Load()
		k := b[i].check.Load() ^ data
		if (k^key)&^lowByte == 0 && data != 0 {
			old := unpack(k, data)
			if !merge(&r, old, k&lowByte>>ageShift == age) {
				return
			}
			worst = i
			break
		}
		w := -1 // empty
		if data != 0 {
			old := int((age - k&lowByte>>ageShift) % ageCycle)
			w = int(data>>depthShift&0xff)*2 + int(k&boundMask) - 8*old + 8*ageCycle
		}
		if w < worth {
			worst, worth = i, w
		}
	}
	data := r.pack()
	b[worst].data.Store(data)
	b[worst].check.Store((key&^lowByte | age<<ageShift | uint64(r.bound)) ^ data)
}

// merge adds to r what only the old entry of the same position has. False
// means to keep the old entry.
func merge(r *ttEntry, old ttEntry, sameSearch bool) bool {
	if r.move == game.NoMove {
		r.move = old.move
	}
	if r.eval == noEval {
		r.eval = old.eval
	}
	r.proverFailed = r.proverFailed || old.proverFailed
	r.pvProverFailed = r.pvProverFailed || old.pvProverFailed
	if r.bound == NoBound && old.bound != NoBound {
		r.score, r.depth, r.bound = old.score, old.depth, old.bound
		return true
	}
	// A much deeper result of this same search is worth more than an inexact
	// shallow one.
	return !sameSearch || r.bound == Exact || r.depth+3 >= old.depth
}

func (r ttEntry) pack() uint64 {
	data := uint64(r.move)&(1<<moveBits-1) |
		uint64(uint16(int16(r.score)))<<scoreShift |
		uint64(uint16(int16(r.eval)))<<evalShift |
		uint64(uint8(r.depth))<<depthShift
	if r.proverFailed {
		data |= 1 << proverFailedShift
	}
	if r.pvProverFailed {
		data |= 1 << pvProverFailedShift
	}
	return data | 1<<setShift
}

func unpack(k, data uint64) ttEntry {
	return ttEntry{
		move:         game.Move(data & (1<<moveBits - 1)),
		score:        Score(int16(data >> scoreShift)),
		eval:         Score(int16(data >> evalShift)),
		depth:        int(uint8(data >> depthShift)),
		bound:        Bound(k & boundMask),
		proverFailed: data>>proverFailedShift&1 != 0,

		pvProverFailed: data>>pvProverFailedShift != 0,
	}
}

// toTable converts a score that counts from the root to one from the node.
func toTable(s Score, ply int) Score {
	switch {
	case s >= RepBound:
		return s + Score(ply)
	case s <= -RepBound:
		return s - Score(ply)
	}
	return s
}

// fromTable is the inverse of toTable, at the node's present ply.
func fromTable(s Score, ply int) Score { return AtPly(s, ply) }

// refine replaces an evaluation by the entry's score if that bounds it more
// tightly.
func (r ttEntry) refine(eval Score, ply int) Score {
	score := fromTable(r.score, ply)
	if score >= MaxEval || score <= -MaxEval {
		return eval
	}
	if r.bound&Lower != 0 && score > eval || r.bound&Upper != 0 && score < eval {
		return score
	}
	return eval
}

// cutsOff reports whether the stored score cuts off a node with this window.
// An exact score within the window does not: its line would be lost.
func (r ttEntry) cutsOff(alpha, beta, score Score) bool {
	return r.bound&Lower != 0 && score >= beta || r.bound&Upper != 0 && score <= alpha
}
