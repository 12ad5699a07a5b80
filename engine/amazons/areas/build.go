package areas

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// Open returns the table whose files are in a directory; a directory that does not
// exist has none. Files that can't be used are left out: the error names them and
// wraps [ErrFile], and the table can be used all the same.
func Open(dir string) (*Table, error) {
	t := &Table{dir: dir}
	var errs []error
	for size := 1; size <= OneAmazon; size++ {
		s, err := read(dir, size)
		if err == nil {
			t.sizes[size].Store(s)
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return t, errors.Join(errs...)
}

// Largest returns the size up to which the table is complete, 0 if it is empty.
func (t *Table) Largest() int {
	size := 0
	for t != nil && size < OneAmazon && t.sizes[size+1].Load() != nil {
		size++
	}
	return size
}

// Complete computes the sizes up to largest that are missing, writes their files,
// and adds each to the table once it is written. Another process may do the same at
// the same time. Gentle pauses half of the time, to leave the core to others. It
// returns the number of sizes computed.
func (t *Table) Complete(ctx context.Context, largest int, gentle bool) (built int, err error) {
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return 0, err
	}
	for size := 1; size <= min(largest, OneAmazon); size++ {
		if t.sizes[size].Load() != nil {
			continue
		}
		s, err := t.compute(ctx, size, gentle)
		if err == nil {
			err = write(t.dir, s)
		}
		if err != nil {
			return built, fmt.Errorf("table of areas of %d squares: %w", size, err)
		}
		t.sizes[size].Store(s)
		built++
	}
	return built, nil
}

// SmallSquares is the size up to which [Small] is complete: of the defective areas in
// games 19 of 20 are no larger.
const SmallSquares = 7

// Small returns a table that needs no files. To make it takes a twentieth of a second,
// once for each process.
var Small = sync.OnceValue(func() *Table {
	t := new(Table)
	for size := 1; size <= SmallSquares; size++ {
		s, err := t.compute(context.Background(), size, false)
		if err != nil { // for no shapes of these sizes
			panic(fmt.Sprintf("engine/amazons/areas: %d squares: %v", size, err))
		}
		t.sizes[size].Store(s)
	}
	return t
})

// pauseEvery is the number of shapes between two looks at the context.
const pauseEvery = 1 << 10

// compute computes the values of a size from those of smaller sizes.
func (t *Table) compute(ctx context.Context, size int, gentle bool) (*sizeTable, error) {
	began := time.Now()
	each := func(f func([]cell, mask)) {
		n := 0
		shapes(size, func(cells []cell, m mask) bool {
			f(cells, m)
			if n++; n%pauseEvery == 0 {
				if gentle {
					time.Sleep(time.Since(began))
					began = time.Now()
				}
				runtime.Gosched()
			}
			return ctx.Err() == nil
		})
	}
	var keys []uint64
	each(func(_ []cell, m mask) { keys = append(keys, m.key()) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	count := len(keys)
	hash, err := newPerfectHash(keys)
	if err != nil {
		return nil, err
	}
	s := newSizeTable(size, count, hash)
	b := &builder{table: t, out: s}
	each(b.add)
	return s, ctx.Err()
}

// newSizeTable returns a table of a size without its values.
func newSizeTable(size, shapes int, hash *perfectHash) *sizeTable {
	s := &sizeTable{size: size, hash: hash, one: make([]byte, (shapes*size+1)/2)}
	if size <= TwoAmazons {
		s.two = make([]bounds, shapes*pairs(size))
	}
	return s
}

// fileName returns the path of the file of a size.
func fileName(dir string, size int) string {
	return filepath.Join(dir, fmt.Sprintf("amazons-%d.areas", size))
}
