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

// Options are the options of a build.
type Options struct {
	Workers int  // goroutines, runtime.GOMAXPROCS when 0
	Gentle  bool // pause half of the time, to leave the cores to others
	Again   bool // also build tables that exist
	// Report, if not nil, is called with the progress, by one goroutine at a time.
	Report func(Progress)
}

// Progress is the progress of a build.
type Progress struct {
	Set  Set  // being built
	Done bool // Set has just been finished
	// Number is the number of the set, from 1 to Sets.
	Number, Sets int
	// Steps of Of are done. A set has three for each of its positions: to set it
	// up, and to solve it with either side to move.
	Steps, Of int64
	// Repaired is the damage because of which an existing table is built again.
	Repaired error
}

// Build solves sets, after the sets that captures lead to, and writes their tables
// into a directory. It keeps existing tables that are not damaged.
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

// builder is a build under way.
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
	repaired error // the damage of the existing table
}

// plan lists the sets to solve, each after those that it needs.
func (b *builder) plan(ctx context.Context, sets []Set) error {
	seen := map[Set]bool{}
	for _, s := range sets {
		s, _ = s.Canonical()
		if _, err := newLayout(s); err != nil {
			return err // about this set, not a set that it needs
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
	reported := int64(0)
	w := work{workers: b.options.Workers, gentle: b.options.Gentle, done: func(positions int) {
		b.report(func(p *Progress) { reported += int64(positions); p.Steps += int64(positions) })
	}}
	s, err := solve(ctx, j.layout, b.read, w)
	if err == nil {
		err = write(b.dir, s)
	}
	if err != nil {
		return fmt.Errorf("build table of %s: %w", j.set, err)
	}
	// Drawn positions are those that are left over.
	b.report(func(p *Progress) { p.Steps += 3*int64(j.size) - reported; p.Done = true })
	return nil
}

// report changes the progress and reports it.
func (b *builder) report(change func(*Progress)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.progress)
	if b.options.Report != nil {
		b.options.Report(b.progress)
	}
}
