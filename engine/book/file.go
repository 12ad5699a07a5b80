package book

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"os"

	"sparring/game"
	"sparring/internal/atomicfile"
)

// The layout of a file. All numbers are little-endian.
//
//	 0   8 bytes  magic
//	 8   uint32   version
//	12   uint32   number of entries
//	16   uint32   number of games
//	20  36 bytes  family, filled up with zeros
//	56   uint64   CRC-64/ECMA of everything else
//	64            entries of 28 bytes, ascending by key and move: key uint64,
//	              move, wins, draws, losses uint32, learnt int16, preference
//	              int8, a zero
//	              games, ascending: uint64
const (
	magic      = "SparBook"
	version    = 1
	headerSize = 64
	sumAt      = 56
	nameAt     = 20
	entrySize  = 28
	gameSize   = 8
	// maxFile is the largest file that is read.
	maxFile = 256 << 20
)

// Errors of reading a book, wrapped with the details.
var (
	// ErrFormat: the file is not a book, or is damaged.
	ErrFormat = errors.New("not a sound opening book")
	// ErrVersion: this program can't read this version of the format.
	ErrVersion = errors.New("opening book of another version")
)

var table = crc64.MakeTable(crc64.ECMA)

// sum returns the checksum of a file.
func sum(data []byte) uint64 {
	return crc64.Update(crc64.Checksum(data[:sumAt], table), table, data[headerSize:])
}

// Bytes returns the book in the file format.
func (b *Book) Bytes() []byte {
	le := binary.LittleEndian
	data := make([]byte, nameAt, headerSize+len(b.entries)*entrySize+len(b.games)*gameSize)
	copy(data, magic)
	le.PutUint32(data[8:], version)
	le.PutUint32(data[12:], uint32(len(b.entries)))
	le.PutUint32(data[16:], uint32(len(b.games)))
	data = append(data, b.family...)
	data = data[:headerSize]
	for _, e := range b.entries {
		data = le.AppendUint64(data, e.Key)
		for _, n := range [...]uint32{uint32(e.Move), e.Wins, e.Draws, e.Losses} {
			data = le.AppendUint32(data, n)
		}
		data = le.AppendUint16(data, uint16(e.Learnt))
		data = append(data, byte(e.Preference), 0)
	}
	for _, mark := range b.games {
		data = le.AppendUint64(data, mark)
	}
	le.PutUint64(data[sumAt:], sum(data))
	return data
}

// Parse reads the output of Bytes. The error wraps ErrFormat or ErrVersion.
func Parse(data []byte) (*Book, error) {
	le := binary.LittleEndian
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: no book header", ErrFormat)
	}
	if v := le.Uint32(data[8:]); v != version {
		return nil, fmt.Errorf("%w: %d, want %d", ErrVersion, v, version)
	}
	entries, games := int64(le.Uint32(data[12:])), int64(le.Uint32(data[16:]))
	if want := headerSize + entries*entrySize + games*gameSize; int64(len(data)) != want {
		return nil, fmt.Errorf("%w: %d bytes, but %d moves and %d games make %d", ErrFormat, len(data), entries, games, want)
	}
	if sum(data) != le.Uint64(data[sumAt:]) {
		return nil, fmt.Errorf("%w: the checksum is wrong", ErrFormat)
	}
	name := bytes.TrimRight(data[nameAt:sumAt], "\x00")
	b := &Book{family: string(name), entries: make([]Entry, entries), games: make([]uint64, games)}
	if e, err := NewBuilder(b.family, 0); err != nil || e.family != b.family {
		return nil, fmt.Errorf("%w: unknown rules %.40q", ErrFormat, b.family)
	}
	data = data[headerSize:]
	for i := range b.entries {
		e := &b.entries[i]
		*e = Entry{Key: le.Uint64(data), Move: game.Move(le.Uint32(data[8:])), Wins: le.Uint32(data[12:]), Draws: le.Uint32(data[16:]), Losses: le.Uint32(data[20:]),
			Learnt: int16(le.Uint16(data[24:])), Preference: Preference(data[26])}
		if i > 0 && b.entries[i-1].compare(*e) >= 0 {
			return nil, fmt.Errorf("%w: move %d is out of order", ErrFormat, i+1)
		}
		if e.Move == game.NoMove || !e.valid() || data[27] != 0 {
			return nil, fmt.Errorf("%w: move %d is invalid", ErrFormat, i+1)
		}
		data = data[entrySize:]
	}
	for i := range b.games {
		b.games[i] = le.Uint64(data)
		if i > 0 && b.games[i] <= b.games[i-1] {
			return nil, fmt.Errorf("%w: game %d is out of order", ErrFormat, i+1)
		}
		data = data[gameSize:]
	}
	return b, nil
}

// Load reads a book from a file. The error names the file and wraps ErrFormat,
// ErrVersion or the file system's error.
func Load(path string) (*Book, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("book: %w", err)
	}
	defer f.Close()
	return read(path, f)
}

func read(name string, in io.Reader) (*Book, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%w: more than %d bytes", ErrFormat, maxFile)
	}
	var b *Book
	if err == nil {
		b, err = Parse(data)
	}
	if err != nil {
		return nil, fmt.Errorf("book %s: %w", name, err)
	}
	return b, nil
}

// Save writes the book to a file, atomically.
func (b *Book) Save(path string) error {
	if err := atomicfile.WriteBytes(path, b.Bytes()); err != nil {
		return fmt.Errorf("book: %w", err)
	}
	return nil
}
