package record

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds say how long records are kept and how many bytes of them. Zero is without end.
type Bounds struct {
	Age   time.Duration
	Bytes int64
}

// None reports whether everything is kept.
func (b Bounds) None() bool { return b == Bounds{} }

// Excess lists the record files of a directory, of those whose names begin with prefix,
// that bounds do not keep, the oldest first, with the bytes that they have. Only whole
// files are removed: a file is as old as its last record. The file that was written
// last is not listed for its size.
func Excess(dir, prefix string, b Bounds, now time.Time) (paths []string, bytes int64, err error) {
	all, err := Files(dir)
	if err != nil {
		return nil, 0, err
	}
	type file struct {
		path    string
		size    int64
		written time.Time
	}
	var have []file
	var total int64
	for _, path := range all {
		if !strings.HasPrefix(filepath.Base(path), prefix) {
			continue
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // compressed meanwhile
		}
		if err != nil {
			return nil, 0, fmt.Errorf("records: %w", err)
		}
		have = append(have, file{path, info.Size(), info.ModTime()})
		total += info.Size()
	}
	slices.SortFunc(have, func(x, y file) int { return cmp.Or(x.written.Compare(y.written), cmp.Compare(x.path, y.path)) })
	for i, f := range have {
		old := b.Age > 0 && now.Sub(f.written) > b.Age
		large := b.Bytes > 0 && total > b.Bytes && i < len(have)-1
		if !old && !large {
			break
		}
		paths, bytes = append(paths, f.path), bytes+f.size
		total -= f.size
	}
	return paths, bytes, nil
}

// parts is how many files the records within the bounds are in, so that what is removed
// with a file is not much younger than the file, and the file that is written to, which
// stays, not much of the size.
const parts = 8

// Keep bounds what is kept of the files of the directory whose names begin with prefix:
// this writer's, and those of writers before it. What is beyond is removed by Trim. Files
// are rotated at the latest when they have an eighth of the bound's age or size. Call it
// before the first Append.
func (w *Writer) Keep(prefix string, b Bounds) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.prefix, w.bounds = prefix, b
	if b.Bytes > 0 {
		w.rotate = min(w.rotate, max(b.Bytes/parts, 1))
	}
}

// Trim removes the files that the bounds do not keep, and returns how many and how many
// bytes they had.
func (w *Writer) Trim() (removed int, bytes int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bounds.None() {
		return 0, 0, nil
	}
	unlock, _ := lockDir(w.dir, false, lockWait)
	defer unlock()
	if w.isOld() && !w.torn && w.isCurrent() {
		w.putAside()
	}
	paths, _, err := Excess(w.dir, w.prefix, w.bounds, time.Now())
	if err != nil {
		return 0, 0, err
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil {
			err = os.Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return removed, bytes, fmt.Errorf("records: %w", err)
		}
		removed, bytes = removed+1, bytes+info.Size()
	}
	return removed, bytes, nil
}

// isOld reports whether the first record of the file is so old that the next one begins
// another file.
func (w *Writer) isOld() bool {
	return w.bounds.Age > 0 && w.file != nil && w.size > 0 && !w.began.IsZero() && time.Since(w.began) > w.bounds.Age/parts
}
