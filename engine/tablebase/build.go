package tablebase

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Options say how to build.
type Options struct {
	Workers int  // goroutines, runtime.GOMAXPROCS when 0
	Gentle  bool // rest half of the time, for whoever else needs the cores
	Again   bool // build what is there already, too
	// Report, if not nil, is told how it goes, from one goroutine at a time.
	Report func(Progress)
}

// Progress is how a build stands.
type Progress struct {
	Set  Set  // that is being built
	Done bool // it has just been finished
	// Number is the set's, of Sets in all, from 1.
	Number, Sets int
	// Steps of Of have been taken. A set has three for each of its positions:
	// to set it up, and to settle it with either side to move.
	Steps, Of int64
	// Repaired is why a table that was there is built again.
	Repaired error
}

// Build solves sets, and first those that captures lead to, and writes their
// tables into a directory. Tables that are there already stay, unless they are
// damaged.
func Build(ctx context.Context, dir string, sets []Set, o Options) error {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	decoder, err := newDecoder()
	if err != nil {
		return err
	}
	defer decoder.Close()
	b := &builder{dir: dir, decoder: decoder, options: o}
	if err := b.plan(ctx, sets); err != nil {
		return err
	}
	for i := range b.jobs {
		if err := b.build(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// builder carries a build out.
type builder struct {
	dir     string
	decoder *zstd.Decoder
	options Options
	jobs    []job

	mu       sync.Mutex
	progress Progress
}

// job is a set to solve.
type job struct {
	*layout
	repaired error // what was wrong with the table that is there
}

// plan lists the sets to solve, each after those that it needs.
func (b *builder) plan(ctx context.Context, sets []Set) error {
	seen := map[Set]bool{}
	for _, s := range sets {
		s, _ = s.Canonical()
		if _, err := newLayout(s); err != nil {
			return err // before one that it needs is blamed
		}
		for _, s := range append(s.Needs(), s) {
			if seen[s] {
				continue
			}
			seen[s] = true
			l, err := newLayout(s)
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			var damage error
			if !b.options.Again {
				if _, damage = b.read(s); damage == nil {
					continue
				}
				if errors.Is(damage, fs.ErrNotExist) {
					damage = nil
				} else if !errors.Is(damage, ErrFile) {
					return damage
				}
			}
			b.jobs = append(b.jobs, job{l, damage})
			b.progress.Of += 3 * int64(l.size)
		}
	}
	slices.SortStableFunc(b.jobs, func(a, b job) int { return a.set.Men() - b.set.Men() })
	b.progress.Sets = len(b.jobs)
	return nil
}

// read reads a whole table.
func (b *builder) read(s Set) (*solved, error) {
	f, err := open(b.dir, s)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.load(b.decoder)
}

// build solves a set and writes its table.
func (b *builder) build(ctx context.Context, i int) error {
	j := b.jobs[i]
	b.report(func(p *Progress) { p.Set, p.Done, p.Number, p.Repaired = j.set, false, i+1, j.repaired })
	told := int64(0)
	w := work{workers: b.options.Workers, gentle: b.options.Gentle, done: func(positions int) {
		b.report(func(p *Progress) { told += int64(positions); p.Steps += int64(positions) })
	}}
	s, err := solve(ctx, j.layout, b.read, w)
	if err == nil {
		err = write(b.dir, s)
	}
	if err != nil {
		return fmt.Errorf("build table of %s: %w", j.set, err)
	}
	// What nobody wins is settled by being left over.
	b.report(func(p *Progress) { p.Steps += 3*int64(j.size) - told; p.Done = true })
	return nil
}

// report changes the progress and tells of it.
func (b *builder) report(change func(*Progress)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.progress)
	if b.options.Report != nil {
		b.options.Report(b.progress)
	}
}
