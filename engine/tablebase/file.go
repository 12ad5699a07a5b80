package tablebase

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"sparring/internal/atomicfile"
)

// A table's file, all numbers little-endian:
//
//	magic      8 bytes   "xqtable\n"
//	version    uint32    1
//	name       16 bytes  of the set, padded with zeros
//	positions  uint32    for each side to move
//	block      uint32    bytes of a block
//	blocks     uint32    number of blocks
//	for each block: its length in the file and its checksum, uint32 each
//	checksum   uint32    of everything before it
//	the blocks, one after the other
//
// The values are a byte for each position, in the order of their numbers, with
// Red to move, then the same with Black to move. They are split into blocks, the
// last one shorter, and each block is compressed with Zstandard. Checksums are
// CRC-32C, for blocks of the compressed data.
const (
	magic     = "xqtable\n"
	version   = 1
	blockSize = 8 << 10
	nameSize  = 16
	fixedSize = len(magic) + 4 + nameSize + 3*4
	entrySize = 2 * 4
	sumSize   = 4
	suffix    = ".xqt"
	maxPacked = blockSize + 1<<10 // Zstandard adds little to what it can't compress
)

// ErrFile is returned for a table's file that can't be used: damaged, truncated,
// of another version or of another set. The error names the file; building the
// table again replaces it.
var ErrFile = errors.New("unusable table file")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fileName returns the path of a set's table.
func fileName(dir string, s Set) string { return filepath.Join(dir, s.String()+suffix) }

// write writes a solved set to its file. The file appears complete or not at all.
func write(dir string, s *solved) (err error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderCRC(false))
	if err != nil {
		return err
	}
	defer encoder.Close()
	values := append(bytes.Clone(s.values[0]), s.values[1]...)
	blocks := (len(values) + blockSize - 1) / blockSize
	head := make([]byte, 0, fixedSize+blocks*entrySize+sumSize)
	head = append(head, magic...)
	head = binary.LittleEndian.AppendUint32(head, version)
	var name [nameSize]byte
	copy(name[:], s.layout.set.String())
	head = append(head, name[:]...)
	for _, n := range [...]int{s.layout.size, blockSize, blocks} {
		head = binary.LittleEndian.AppendUint32(head, uint32(n))
	}
	var body []byte
	for i := range blocks {
		before := len(body)
		body = encoder.EncodeAll(values[i*blockSize:min((i+1)*blockSize, len(values))], body)
		head = binary.LittleEndian.AppendUint32(head, uint32(len(body)-before))
		head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(body[before:], castagnoli))
	}
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))

	return atomicfile.WriteBytes(fileName(dir, s.layout.set), append(head, body...))
}

// file is an open table's file.
type file struct {
	layout *layout
	f      *os.File
	blocks []span
	size   int64
}

// span is the place of a block and its checksum.
type span struct {
	at  int64
	n   int
	sum uint32
}

// open opens the table of a canonical set and checks everything but its blocks. The
// error wraps fs.ErrNotExist if there is none, ErrFile if it can't be used.
func open(dir string, s Set) (*file, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, err
	}
	path := fileName(dir, s)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &file{layout: l, f: f}
	if err := t.readHead(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	}
	return t, nil
}

// readHead reads and checks everything before the blocks.
func (t *file) readHead() error {
	info, err := t.f.Stat()
	if err != nil {
		return err
	}
	t.size = info.Size()
	want := (2*t.layout.size + blockSize - 1) / blockSize
	head := make([]byte, fixedSize+want*entrySize+sumSize)
	n, err := io.ReadFull(t.f, head)
	short := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	switch {
	case err != nil && !short:
		return err
	case n < len(magic) || string(head[:len(magic)]) != magic:
		return errors.New("not a table")
	case n < fixedSize:
		return errors.New("cut short")
	}
	number := func(at int) int { return int(binary.LittleEndian.Uint32(head[at:])) }
	at := len(magic)
	if v := number(at); v != version {
		return fmt.Errorf("version %d, this program reads %d", v, version)
	}
	at += 4
	name := string(bytes.TrimRight(head[at:at+nameSize], "\x00"))
	if name != t.layout.set.String() {
		return fmt.Errorf("this is the table of %.16q", name)
	}
	at += nameSize
	if positions, block, blocks := number(at), number(at+4), number(at+8); positions != t.layout.size || block != blockSize || blocks != want {
		return fmt.Errorf("%d positions in %d blocks of %d, want %d in %d of %d", positions, blocks, block, t.layout.size, want, blockSize)
	}
	if short {
		return errors.New("cut short")
	}
	sumAt := len(head) - sumSize
	if crc32.Checksum(head[:sumAt], castagnoli) != binary.LittleEndian.Uint32(head[sumAt:]) {
		return errors.New("damaged: wrong header checksum")
	}
	end := int64(len(head))
	for i := range want {
		e := fixedSize + i*entrySize
		s := span{at: end, n: number(e), sum: binary.LittleEndian.Uint32(head[e+4:])}
		if s.n > maxPacked {
			return fmt.Errorf("damaged: block %d has %d bytes", i, s.n)
		}
		t.blocks = append(t.blocks, s)
		end += int64(s.n)
	}
	if end != t.size {
		return fmt.Errorf("%d bytes, want %d", t.size, end)
	}
	return nil
}

// block reads block i and checks it. The error wraps ErrFile.
func (t *file) block(decoder *zstd.Decoder, i int) ([]byte, error) {
	s := &t.blocks[i]
	packed := make([]byte, s.n)
	values, err := []byte(nil), error(nil)
	if _, err = t.f.ReadAt(packed, s.at); err == nil {
		if crc32.Checksum(packed, castagnoli) != s.sum {
			err = errors.New("damaged: wrong checksum")
		} else if values, err = decoder.DecodeAll(packed, make([]byte, 0, blockSize)); err == nil {
			if want := min(blockSize, 2*t.layout.size-i*blockSize); len(values) != want {
				err = fmt.Errorf("damaged: %d values, want %d", len(values), want)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: block %d: %w", ErrFile, t.f.Name(), i, err)
	}
	return values, nil
}

// load reads all values.
func (t *file) load(decoder *zstd.Decoder) (*solved, error) {
	all := make([]byte, 0, 2*t.layout.size)
	for i := range t.blocks {
		values, err := t.block(decoder, i)
		if err != nil {
			return nil, err
		}
		all = append(all, values...)
	}
	return &solved{t.layout, [2][]byte{all[:t.layout.size], all[t.layout.size:]}}, nil
}

func (t *file) close() error { return t.f.Close() }

// newDecoder returns a decoder for blocks; any number of goroutines may use it.
func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(blockSize))
}
