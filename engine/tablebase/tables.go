package tablebase

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	rules "sparring/game/xiangqi"
)

// ErrMissing is returned if there is no table of the set.
var ErrMissing = errors.New("no table")

// Drawn is the distance of a position in which nobody can force a mate.
const Drawn = -1

// Tables are the tables of a directory. They are safe for concurrent use.
type Tables struct {
	dir     string
	report  func(error)
	decoder *zstd.Decoder
	cache   cache
	men     atomic.Int32

	mu      sync.Mutex // held to change sets
	sets    atomic.Pointer[map[Set]*table]
	retired []*table // damaged ones that were replaced, and may still be in use
}

// table is a table in use.
type table struct {
	*file
	cached []atomic.Pointer[[]byte] // by block
	broken atomic.Bool              // a block is damaged: do not use the table
}

// Open opens the tables of a directory. A directory that does not exist has none.
// A damaged file is not used; report, if not nil, is called with the error
// (ErrFile), now or, for damage found later, by any goroutine. The caller closes
// the tables.
func Open(dir string, report func(error)) (*Tables, error) {
	if report == nil {
		report = func(error) {}
	}
	decoder, err := newDecoder()
	if err != nil {
		return nil, err
	}
	t := &Tables{dir: dir, report: report, decoder: decoder}
	t.sets.Store(&map[Set]*table{})
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok {
			continue
		}
		s, err := ParseSet(name)
		if err == nil {
			if c, _ := s.Canonical(); c.String() != name {
				err = fmt.Errorf("the name of this set is %s", c)
			}
		}
		if err != nil {
			report(fmt.Errorf("%w: %s: %w", ErrFile, filepath.Join(dir, e.Name()), err))
			continue
		}
		if err := t.Add(s); err != nil {
			report(err)
		}
	}
	return t, nil
}

// Add begins to use the table of a set that was built after Open, possibly in
// place of a damaged one. The error wraps ErrMissing or ErrFile.
func (t *Tables) Add(s Set) error {
	s, _ = s.Canonical()
	f, err := open(t.dir, s)
	if errors.Is(err, fs.ErrNotExist) {
		return t.missing(s)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	sets := maps.Clone(*t.sets.Load())
	if old := sets[s]; old != nil {
		if !old.broken.Load() {
			return f.close() // the table is in use already
		}
		t.retired = append(t.retired, old)
	}
	sets[s] = &table{file: f, cached: make([]atomic.Pointer[[]byte], len(f.blocks))}
	t.sets.Store(&sets)
	t.men.Store(max(t.men.Load(), int32(s.Men())))
	return nil
}

// Complete builds the missing tables of sets and begins to use each as soon as it
// is built. The errors are those of Build and Add.
func (t *Tables) Complete(ctx context.Context, sets []Set, o Options) error {
	report := o.Report
	var failed error
	o.Report = func(p Progress) {
		if p.Done {
			failed = errors.Join(failed, t.Add(p.Set))
		}
		if report != nil {
			report(p)
		}
	}
	return errors.Join(Build(ctx, t.dir, sets, o), failed)
}

// Close closes the files. No other method may be called after it.
func (t *Tables) Close() error {
	var errs []error
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, table := range append(slices.Collect(maps.Values(*t.sets.Load())), t.retired...) {
		errs = append(errs, table.close())
	}
	t.decoder.Close()
	return errors.Join(errs...)
}

// Men returns the largest number of men of any table, kings included; 0 without
// tables.
func (t *Tables) Men() int { return int(t.men.Load()) }

// Probe returns the distance of a position in plies: odd if the side to move wins,
// even if it loses, Drawn if neither can force a mate. Ok is false if no table
// has the position.
func (t *Tables) Probe(b *rules.Board) (distance int, ok bool) {
	if b.Occupied().Count() > t.Men() {
		return 0, false
	}
	set, flipped := SetOf(b).Canonical()
	distance, err := t.look(b, set, flipped)
	return distance, err == nil
}

// Find is Probe with an error that says why a position is not found. It wraps
// ErrMissing or ErrFile.
func (t *Tables) Find(b *rules.Board) (distance int, err error) {
	set, flipped := SetOf(b).Canonical()
	if distance, err = t.look(b, set, flipped); err == ErrMissing {
		err = t.missing(set)
	}
	return distance, err
}

// look looks a position up. In a search most are missing, so it allocates no
// error except for a damaged file.
func (t *Tables) look(b *rules.Board, set Set, flipped bool) (distance int, err error) {
	table := (*t.sets.Load())[set]
	if table == nil || table.broken.Load() {
		return 0, ErrMissing
	}
	at := table.layout.men(b, flipped)
	n := table.layout.number(&at)
	if n < 0 {
		return 0, errBeyond
	}
	side := b.Side()
	if flipped {
		side = side.Other()
	}
	v, err := t.value(table, int(side)*table.layout.size+n)
	switch {
	case err != nil:
		if !table.broken.Swap(true) {
			t.report(err)
		}
		return 0, err
	case v == illegal:
		return 0, errBeyond
	case v == drawn:
		return Drawn, nil
	}
	return int(v), nil
}

// errBeyond is for positions that no game can reach; no table has them.
var errBeyond = fmt.Errorf("%w has the position: a man is on a square that it can't reach", ErrMissing)

// missing returns the error for a set without a usable table.
func (t *Tables) missing(s Set) error {
	if _, err := newLayout(s); err != nil {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return fmt.Errorf("%w of %s in %s (sparring tablebase build %s makes it)", ErrMissing, s, t.dir, s)
}

// men returns the squares of a board's men, in the order of the layout.
func (l *layout) men(b *rules.Board, flipped bool) (at squares) {
	var last rules.Piece
	var of rules.Bits
	for i, p := range l.piece {
		if of = of.Rest(); p != last {
			last = p
			if of = b.Of(p); flipped {
				of = b.Of(p ^ 1<<3)
			}
		}
		if at[i] = of.First(); flipped {
			at[i] = at[i].Flip()
		}
	}
	return at
}

// value returns the byte of a table at an offset.
func (t *Tables) value(table *table, at int) (byte, error) {
	slot := &table.cached[at/blockSize]
	if block := slot.Load(); block != nil {
		return (*block)[at%blockSize], nil
	}
	block, err := table.block(t.decoder, at/blockSize)
	if err != nil {
		return 0, err
	}
	t.cache.keep(slot, block)
	return block[at%blockSize], nil
}

// Stats counts the positions of a set, by colour of the side to move. It reads
// the whole table. The error wraps ErrMissing or ErrFile.
func (t *Tables) Stats(s Set) ([2]Stats, error) {
	canonical, flipped := s.Canonical()
	table := (*t.sets.Load())[canonical]
	if table == nil {
		return [2]Stats{}, t.missing(canonical)
	}
	all, err := table.load(t.decoder)
	if err != nil {
		return [2]Stats{}, err
	}
	red, black := all.stats(rules.Red), all.stats(rules.Black)
	if flipped {
		red, black = black, red
	}
	return [2]Stats{red, black}, nil
}

// Bytes returns the size of a set's file, 0 if there is none.
func (t *Tables) Bytes(s Set) int64 {
	s, _ = s.Canonical()
	if table := (*t.sets.Load())[s]; table != nil {
		return table.size
	}
	return 0
}

// cacheBlocks is the number of decompressed blocks that are kept, of all tables
// together: 32 MiB, more than twice the size of all sets of up to four men.
const cacheBlocks = 4096

// cache keeps the blocks that were read last. Reading one takes no lock.
type cache struct {
	mu   sync.Mutex
	kept [cacheBlocks]*atomic.Pointer[[]byte]
	next int
}

// keep stores a block in its slot and drops the oldest one.
func (c *cache) keep(slot *atomic.Pointer[[]byte], block []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slot.Load() != nil {
		return // another goroutine was faster
	}
	if old := c.kept[c.next]; old != nil {
		old.Store(nil)
	}
	slot.Store(&block)
	c.kept[c.next] = slot
	c.next = (c.next + 1) % cacheBlocks
}
