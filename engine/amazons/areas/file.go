package areas

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"sparring/internal/atomicfile"
)

// The file of a size, all numbers little-endian:
//
//	magic     8 bytes  "amareas\n"
//	version   uint32   1
//	size      uint32   squares of the areas
//	shapes    uint32   number of shapes
//	levels    uint32   of the perfect hash
//	for each level: its number of words, uint32
//	the words of the levels, uint64
//	fillings  half a byte for each shape and square, see sizeTable
//	bounds    two bytes for each shape and pair of squares, up to TwoAmazons
//	checksum  uint32   CRC-32C of everything before it
const (
	magic     = "amareas\n"
	version   = 1
	fixedSize = len(magic) + 4*4
	sumSize   = 4
)

// ErrFile is returned for a file that can't be used: damaged, truncated, of another
// version or size. The error names it; [Table.Complete] replaces it.
var ErrFile = errors.New("unusable file of areas")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// write writes the file of a size. It appears complete or not at all.
func write(dir string, s *sizeTable) (err error) {
	shapes := s.hash.rank()
	data := append([]byte(nil), magic...)
	for _, n := range [...]int{version, s.size, shapes, len(s.hash.levels)} {
		data = binary.LittleEndian.AppendUint32(data, uint32(n))
	}
	for _, level := range s.hash.levels {
		data = binary.LittleEndian.AppendUint32(data, uint32(len(level)))
	}
	for _, level := range s.hash.levels {
		for _, word := range level {
			data = binary.LittleEndian.AppendUint64(data, word)
		}
	}
	data = append(data, s.one...)
	for _, b := range s.two {
		data = append(data, byte(b.low), byte(b.high))
	}
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))

	return atomicfile.WriteBytes(fileName(dir, s.size), data)
}

// read reads and checks the file of a size. The error wraps fs.ErrNotExist if there is
// none, ErrFile if it can't be used.
func read(dir string, size int) (*sizeTable, error) {
	path := fileName(dir, size)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := decode(data, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	}
	return s, nil
}

// decode is read for the content of a file.
func decode(data []byte, size int) (*sizeTable, error) {
	switch {
	case len(data) < len(magic) || string(data[:len(magic)]) != magic:
		return nil, errors.New("not a file of areas")
	case len(data) < fixedSize+sumSize:
		return nil, errors.New("cut short")
	}
	number := func(at int) int { return int(binary.LittleEndian.Uint32(data[at:])) }
	at := len(magic)
	if v := number(at); v != version {
		return nil, fmt.Errorf("version %d, this program reads %d", v, version)
	}
	if n := number(at + 4); n != size {
		return nil, fmt.Errorf("areas of %d squares", n)
	}
	sum := len(data) - sumSize
	if crc32.Checksum(data[:sum], castagnoli) != binary.LittleEndian.Uint32(data[sum:]) {
		return nil, errors.New("truncated or damaged: wrong checksum")
	}
	// A file that another program wrote may have the right checksum all the same.
	shapes, levels := number(at+8), number(at+12)
	at = fixedSize
	if levels > maxLevels || at+4*levels > sum {
		return nil, fmt.Errorf("%d levels", levels)
	}
	lengths, words := make([]int, levels), 0
	for i := range lengths {
		lengths[i] = number(at)
		if lengths[i] == 0 {
			return nil, errors.New("an empty level")
		}
		words += lengths[i]
		at += 4
	}
	if 8*words > sum-at {
		return nil, errors.New("levels larger than the file")
	}
	hash := &perfectHash{}
	for _, n := range lengths {
		level := make([]uint64, n)
		for i := range level {
			level[i] = binary.LittleEndian.Uint64(data[at:])
			at += 8
		}
		hash.levels = append(hash.levels, level)
	}
	if n := hash.rank(); n != shapes || n == 0 {
		return nil, fmt.Errorf("%d shapes, but the levels have %d", shapes, n)
	}
	s := newSizeTable(size, shapes, hash)
	if want := len(s.one) + 2*len(s.two); sum-at != want {
		return nil, fmt.Errorf("%d bytes of values, want %d", sum-at, want)
	}
	at += copy(s.one, data[at:])
	for i := range s.two {
		s.two[i] = bounds{int8(data[at]), int8(data[at+1])}
		at += 2
	}
	return s, nil
}
