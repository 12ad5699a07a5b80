package search

import (
	"math"
	"math/bits"
	"sync/atomic"

	"sparring/game"
)

// Bound says what a stored or reported score is to the true one.
type Bound uint8

// The bounds. NoBound stores a move without a score.
const (
	NoBound Bound = iota
	Upper         // the true score is at most this: no move reached the window
	Lower         // the true score is at least this: a move refuted
	Exact
)

// Table is the hash table of searched positions. Any number of searches, of
// several games too, may read and write one at the same time.
//
// An entry is two atomic words: the data, and the key with its low byte
// replaced by age and bound (the bucket's index implies that byte), xored
// with the data. Two writers may mix their words: then the xor no longer
// gives the key, and the entry is not found. What is found can still be
// another position's by a collision of keys, so a move from the table is
// always looked up by Position.Find. (Hyatt and Mann, "A lock-less
// transposition table implementation for parallel search", ICGA J. 25, 2002.)
type Table struct {
	buckets []bucket
	age     atomic.Uint32 // one more per search; what is old gives way first
}

type slot struct{ check, data atomic.Uint64 }

type bucket [4]slot // one cache line

// Layout of the data word: 21 bits move, 16 score, 16 evaluation, 8 depth,
// 1 whether a prover has failed here.
const (
	moveBits   = 21
	scoreShift = moveBits
	evalShift  = scoreShift + 16
	depthShift = evalShift + 16
	triedShift = depthShift + 8

	lowByte   = 0xff // of the key, taken by age and bound
	boundMask = 3
	ageShift  = 2
	ageCycle  = 64
)

// noEval marks an entry without an evaluation.
const noEval Score = math.MinInt16

// record is what the table knows of a position.
type record struct {
	move  game.Move
	score Score // distances count from this position, see fromTable
	eval  Score // or noEval
	depth int   // 0..255
	bound Bound
	tried bool // a prover has failed here
}

// NewTable makes a table of at most the given bytes: the largest power of two
// of buckets that fits, 256 (16 KiB) at least.
func NewTable(bytes int) *Table {
	const bucketBytes, fewest = 64, lowByte + 1
	n := max(bytes/bucketBytes, fewest)
	n = 1 << (bits.Len(uint(n)) - 1)
	t := &Table{buckets: make([]bucket, n)}
	hugePages(t.buckets)
	return t
}

// Bytes is the table's size.
func (t *Table) Bytes() int { return len(t.buckets) * 64 }

// Clear forgets everything. No search may use the table meanwhile.
func (t *Table) Clear() {
	clear(t.buckets)
	t.age.Store(0)
}

// Full is the share of entries written by the latest search, in thousandths,
// estimated from the first buckets.
func (t *Table) Full() int {
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

// begin marks the start of a search.
func (t *Table) begin() { t.age.Add(1) }

func (t *Table) bucket(key uint64) *bucket {
	return &t.buckets[key&uint64(len(t.buckets)-1)]
}

// probe finds what is known of the position with this key.
func (t *Table) probe(key uint64) (record, bool) {
	b := t.bucket(key)
	for i := range b {
		data := b[i].data.Load()
		if k := b[i].check.Load() ^ data; (k^key)&^lowByte == 0 && data != 0 {
			return unpack(k, data), true
		}
	}
	return record{}, false
}

// store keeps r, in place of the position's old entry or of the bucket's
// least valuable one. Without a bound it leaves the score of an entry that
// has one.
func (t *Table) store(key uint64, r record) {
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

// merge completes r with what the old entry of the same position knows
// better; false leaves the old entry alone.
func merge(r *record, old record, fresh bool) bool {
	if r.move == game.NoMove {
		r.move = old.move
	}
	if r.eval == noEval {
		r.eval = old.eval
	}
	r.tried = r.tried || old.tried
	if r.bound == NoBound && old.bound != NoBound {
		r.score, r.depth, r.bound = old.score, old.depth, old.bound
		return true
	}
	// A much deeper result of this same search is worth more than an inexact
	// shallow one.
	return !fresh || r.bound == Exact || r.depth+3 >= old.depth
}

func (r record) pack() uint64 {
	data := uint64(r.move)&(1<<moveBits-1) |
		uint64(uint16(int16(r.score)))<<scoreShift |
		uint64(uint16(int16(r.eval)))<<evalShift |
		uint64(uint8(r.depth))<<depthShift
	if r.tried {
		data |= 1 << triedShift
	}
	return data | 1<<(triedShift+1) // never zero, which means empty
}

func unpack(k, data uint64) record {
	return record{
		move:  game.Move(data & (1<<moveBits - 1)),
		score: Score(int16(data >> scoreShift)),
		eval:  Score(int16(data >> evalShift)),
		depth: int(uint8(data >> depthShift)),
		bound: Bound(k & boundMask),
		tried: data>>triedShift&1 != 0,
	}
}

// toTable turns a score counted from the root into one counted from the node.
func toTable(s Score, ply int) Score {
	switch {
	case s >= RepBound:
		return s + Score(ply)
	case s <= -RepBound:
		return s - Score(ply)
	}
	return s
}

// fromTable undoes toTable, at the ply where the node stands now.
func fromTable(s Score, ply int) Score { return AtPly(s, ply) }

// better is what the record makes of an evaluation: its score, where that is
// on the side of the evaluation that its bound tells of.
func (r record) better(eval Score, ply int) Score {
	score := fromTable(r.score, ply)
	if score >= MaxEval || score <= -MaxEval {
		return eval
	}
	if r.bound&Lower != 0 && score > eval || r.bound&Upper != 0 && score < eval {
		return score
	}
	return eval
}

// decides reports whether the stored score settles a node with this window.
// An exact score within the window does not: the line to it would be lost.
func (r record) decides(alpha, beta, score Score) bool {
	return r.bound&Lower != 0 && score >= beta || r.bound&Upper != 0 && score <= alpha
}
