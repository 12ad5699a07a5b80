package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// ErrNotFound: the directory has no record of the game.
var ErrNotFound = errors.New("no record of the game")

// DamagedError is an invalid line, or a file that can't be read any further; or an
// invalid entry of a stream.
type DamagedError struct {
	File string
	Line int // from 1; of a stream, the sequence number
	Err  error
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

func (e *DamagedError) Unwrap() error { return e.Err }

// All yields the records of a directory, file by file in the order they were
// written, plain and compressed. A damaged line yields a *DamagedError, and the
// rest of the file follows; a directory that can't be listed yields only that
// error. Records that a writer appends meanwhile may or may not be yielded, and
// those of a file that it rotates meanwhile may be yielded twice or not at all.
func All(dir string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		paths, err := Files(dir)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, path := range paths {
			for r, err := range File(path) {
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

// Files lists a directory's record files. Rotated files sort before the one that
// is being written. A file that exists both plain and compressed counts once: a
// crash left the plain one.
func Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	var paths []string
	for _, e := range entries {
		stem, plain := strings.CutSuffix(e.Name(), plainExt)
		if plain && !names[stem+compressedExt] || strings.HasSuffix(e.Name(), compressedExt) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// TermsPrefix begins the first line of a match's result file, which has the settings
// of the match. The other lines are records.
const TermsPrefix = `{"match":`

// File yields the records of one file, see All. The settings at the beginning of a
// match's result file are no record, and are skipped, also where several such files were put
// together. A last line without a line end counts if it is whole.
func File(path string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(path, plainExt) {
			path = strings.TrimSuffix(path, plainExt) + compressedExt // compressed meanwhile
			f, err = os.Open(path)
		}
		if err != nil {
			yield(nil, &DamagedError{File: path, Line: 1, Err: err})
			return
		}
		defer f.Close()
		Read(path, f)(yield)
	}
}

// Read yields the records of an open file as [File] does, once. Its name is for errors, and
// ends in ".jsonl.zst" if the file is compressed.
func Read(name string, in io.Reader) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if strings.HasSuffix(name, compressedExt) {
			z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
			if err != nil {
				yield(nil, &DamagedError{File: name, Line: 1, Err: err})
				return
			}
			defer z.Close()
			in = z
		}
		lines(name, in, yield)
	}
}

func lines(path string, in io.Reader, yield func(*Record, error) bool) {
	buf := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(buf)
		last := err == io.EOF // without a line end
		var r *Record
		switch {
		case last && len(bytes.TrimSpace(line)) == 0:
			return
		case last && !json.Valid(line):
			yield(nil, &DamagedError{File: path, Line: n, Err: cutOffError{}})
			return
		case errors.Is(err, errLongLine):
		case err != nil && !last:
			yield(nil, &DamagedError{File: path, Line: n, Err: err})
			return
		case len(bytes.TrimSpace(line)) == 0, bytes.HasPrefix(line, []byte(TermsPrefix)):
			continue
		default:
			r, err = Decode(line)
		}
		if err != nil {
			err = &DamagedError{File: path, Line: n, Err: err}
			r = nil
		}
		if !yield(r, err) || last {
			return
		}
	}
}

// cutOffError is the end of a file within its last line: a crash cut it off, or it is
// being written. It wraps io.ErrUnexpectedEOF, whose text tells users nothing.
type cutOffError struct{}

func (cutOffError) Error() string { return "the last line is cut off" }
func (cutOffError) Unwrap() error { return io.ErrUnexpectedEOF }

var errLongLine = fmt.Errorf("%w: a line of more than %d bytes", ErrInvalid, MaxLine)

// readLine reads a line, without its line end; io.EOF comes with the text after
// the last one. A line that is too long is skipped.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > MaxLine {
			long, line = true, nil
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case long && (err == nil || err == io.EOF):
			return nil, errLongLine
		case err != nil:
			return line, err
		}
		return line[:len(line)-1], nil
	}
}

// Find returns the game's record, merged from all records of it in the directory. The
// error wraps ErrNotFound if there are none, and is that of ctx if it ends while they are
// read. Damaged lines are ignored.
func Find(ctx context.Context, dir, id string) (*Record, error) {
	var found []*Record
	for r, err := range All(dir) {
		var damaged *DamagedError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &damaged):
		case err != nil:
			return nil, err
		case r.ID == id:
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w %.40q in %s", ErrNotFound, id, dir)
	}
	return Merge(found...)
}
