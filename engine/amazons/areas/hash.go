package areas

import (
	"errors"
	"math/bits"
)

// perfectHash numbers the keys of a set from 0, without storing them: a key that is
// not in the set gets some number, too. It is made of levels (Limasset, Rizk,
// Chikhi and Peterlongo, "Fast and scalable minimal perfect hashing for massive
// key sets", 2017): in each a key has a bit, which is set if no other key has it;
// keys without a bit of their own go to the next level. A key's number is that of
// the bits before its own.
type perfectHash struct {
	levels [][]uint64
	ranks  [][]uint32 // bits before each word
}

// maxLevels is far more than any set of different keys needs.
const maxLevels = 64

var errSameKeys = errors.New("two shapes have the same key")

// newPerfectHash makes the hash of different keys. It changes their order.
func newPerfectHash(keys []uint64) (*perfectHash, error) {
	h := &perfectHash{}
	for len(keys) > 0 {
		if len(h.levels) == maxLevels {
			return nil, errSameKeys
		}
		words := (2*len(keys) + 63) / 64
		once, twice := make([]uint64, words), make([]uint64, words)
		for _, key := range keys {
			word, bit := place(key, len(h.levels), words)
			twice[word] |= once[word] & bit
			once[word] |= bit
		}
		for i := range once {
			once[i] &^= twice[i]
		}
		rest := keys[:0]
		for _, key := range keys {
			if word, bit := place(key, len(h.levels), words); once[word]&bit == 0 {
				rest = append(rest, key)
			}
		}
		h.levels, keys = append(h.levels, once), rest
	}
	h.rank()
	return h, nil
}

// place returns a key's bit in a level of so many words.
func place(key uint64, level, words int) (word int, bit uint64) {
	h := mix(key, uint64(level)+1)
	hi, _ := bits.Mul64(h, uint64(words))
	return int(hi), 1 << (h & 63)
}

// rank counts the bits. It returns their number.
func (h *perfectHash) rank() int {
	n := uint32(0)
	h.ranks = nil
	for _, level := range h.levels {
		ranks := make([]uint32, len(level))
		for i, word := range level {
			ranks[i] = n
			n += uint32(bits.OnesCount64(word))
		}
		h.ranks = append(h.ranks, ranks)
	}
	return int(n)
}

// number returns the number of a key.
func (h *perfectHash) number(key uint64) int {
	for i, level := range h.levels {
		if word, bit := place(key, i, len(level)); level[word]&bit != 0 {
			return int(h.ranks[i][word]) + bits.OnesCount64(level[word]&(bit-1))
		}
	}
	return 0 // not in the set
}
