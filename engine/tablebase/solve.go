package tablebase

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	rules "sparring/game/xiangqi"
)

// The value of a position is a byte: the distance to the end in plies, odd if the
// side to move wins, even if it loses; or one of these.
const (
	drawn   = 254
	illegal = 255 // not a position, or the side that has just moved is in check
	longest = 253 // the longest distance
)

// solved is a set with the values of all its positions, by side to move.
type solved struct {
	layout *layout
	values [2][]byte
}

// A set is solved from the end backwards (retrograde analysis; Ströhlein 1970,
// Thompson, "Retrograde analysis of certain endgames", ICCA J. 9, 1986). Every
// position has a count of its moves that are not known to lose. Then, in order of
// distance, a position lost in n makes every predecessor a win in n+1, and a
// position won in n takes one off the count of every predecessor; a position
// whose count reaches zero is lost. Captures lead to smaller sets, which are
// solved before: a winning capture gives its position a value at once, a losing
// one is not counted but may delay the loss.
//
// A cell has the value of a position in the low byte, above it the count of moves,
// and above that the longest loss by a capture. Goroutines update the cells of one
// distance by atomic operations that commute, so the result does not depend on
// their order.
type cell = uint32

const (
	valueMask  cell = 0xff
	countShift      = 8
	oneMove    cell = 1 << countShift
	delayShift      = 16
)

func count(c cell) int { return int(c >> countShift & 0xff) }

// solver solves one set.
type solver struct {
	*layout
	cells   [2][]cell // by side to move
	below   []below   // by group: the set after a capture of one of its men
	highest atomic.Int32
	work    work
}

// below is the solved set that a capture leads to.
type below struct {
	*solved
	flipped bool
	from    []int // the index in this set of each of its men
}

// work distributes the positions of a set over goroutines.
type work struct {
	workers int
	gentle  bool // pause as long as each piece of work took
	done    func(positions int)
}

// chunk is the number of positions that a goroutine takes at a time, which are
// some milliseconds of work.
const chunk = 1 << 13

// over calls f for ranges that cover 0 to n, from several goroutines.
func (w *work) over(ctx context.Context, n int, f func(from, to int)) error {
	var next atomic.Int64
	var all sync.WaitGroup
	for range max(1, min(w.workers, (n+chunk-1)/chunk)) {
		all.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(chunk)) - chunk
				if from >= n {
					return
				}
				began := time.Now()
				f(from, min(from+chunk, n))
				if w.gentle {
					time.Sleep(time.Since(began))
				}
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// solve computes the values of all positions of a set. Sub returns the solved set
// after a capture.
func solve(ctx context.Context, l *layout, sub func(Set) (*solved, error), w work) (*solved, error) {
	s := &solver{layout: l, work: w}
	for side := range s.cells {
		s.cells[side] = make([]cell, l.size)
	}
	for _, g := range l.groups {
		b, err := s.belowCapture(g, sub)
		if err != nil {
			return nil, err
		}
		s.below = append(s.below, b)
	}
	if err := w.over(ctx, l.size, s.begin); err != nil {
		return nil, err
	}
	for n := 0; n <= int(s.highest.Load()); n++ {
		if n > longest {
			return nil, fmt.Errorf("tablebase set %s: a win takes more than %d plies", l.set, longest)
		}
		if err := w.over(ctx, l.size, func(from, to int) { s.retreat(n, from, to) }); err != nil {
			return nil, err
		}
	}
	out := &solved{layout: l}
	for side := range out.values {
		out.values[side] = make([]byte, l.size)
		for i, c := range s.cells[side] {
			out.values[side][i] = byte(c)
		}
	}
	return out, nil
}

func (s *solver) belowCapture(g group, sub func(Set) (*solved, error)) (below, error) {
	set, flipped := s.set.without(s.piece[g.first]).Canonical()
	what, err := sub(set)
	if err != nil {
		return below{}, err
	}
	b := below{solved: what, flipped: flipped}
	// Map the men of the smaller set to ours, without the last of the group.
	used := map[int]bool{g.first + g.n - 1: true}
	for _, p := range what.layout.piece {
		if flipped {
			p ^= 1 << 3
		}
		for i, q := range s.piece {
			if p == q && !used[i] {
				b.from = append(b.from, i)
				used[i] = true
				break
			}
		}
	}
	return b, nil
}

// note raises the highest value that was assigned.
func (s *solver) note(value int) {
	for {
		h := s.highest.Load()
		if int(h) >= value || s.highest.CompareAndSwap(h, int32(value)) {
			return
		}
	}
}

// begin fills the cells of a range of positions.
func (s *solver) begin(from, to int) {
	var p placement
	for i := from; i < to; i++ {
		s.squares(i, &p.at)
		if !p.set(s.layout) {
			s.cells[rules.Red][i], s.cells[rules.Black][i] = illegal, illegal
			continue
		}
		for side := range s.cells {
			c := rules.Colour(side)
			if p.attacked(c.Other(), p.at[c.Other()], p.occupied, rules.Bits{}) {
				s.cells[side][i] = illegal
				continue
			}
			s.cells[side][i] = s.first(&p, c)
		}
	}
	s.work.tell(to - from)
}

func (w *work) tell(positions int) {
	if w.done != nil {
		w.done(positions)
	}
}

// first returns the initial cell of a position, by its captures alone.
func (s *solver) first(p *placement, side rules.Colour) cell {
	moves, delay, value := 0, -1, drawn
	for i, piece := range s.piece {
		if piece.Colour() != side {
			continue
		}
		for t := p.targets(i); t.Any(); t = t.Rest() {
			to := t.First()
			if !p.legal(i, to) {
				continue
			}
			if !p.occupied.Has(to) {
				moves++
				continue
			}
			switch v := s.afterCapture(p, i, to); {
			case v == drawn:
				moves++
			case v%2 == 0: // the other side has lost
				moves++
				value = min(value, v+1)
			default:
				delay = max(delay, v)
			}
		}
	}
	if moves == 0 {
		value = delay + 1
	}
	if value != drawn {
		s.note(value)
	}
	return cell(value) | cell(moves)<<countShift | cell(max(delay, 0))<<delayShift
}

// afterCapture returns the value, for the other side, of the position after man i
// captures on the square.
func (s *solver) afterCapture(p *placement, i int, to rules.Square) int {
	taken := 0
	for p.at[taken] != to {
		taken++
	}
	group := s.group[taken]
	b := &s.below[group]
	at := p.at
	at[i] = to
	// Men of a group are interchangeable: let the last one be captured.
	last := s.groups[group].first + s.groups[group].n - 1
	at[taken] = at[last]
	var left squares
	for j, of := range b.from {
		if left[j] = at[of]; b.flipped {
			left[j] = left[j].Flip()
		}
	}
	side := p.piece[i].Colour().Other()
	if b.flipped {
		side = side.Other()
	}
	return int(b.values[side][b.layout.number(&left)])
}

// retreat updates the predecessors of the positions in a range whose distance is
// n.
func (s *solver) retreat(n, from, to int) {
	var p placement
	done := 0
	for side := range s.cells {
		c := rules.Colour(side)
		for i := from; i < to; i++ {
			if atomic.LoadUint32(&s.cells[side][i])&valueMask != cell(n) {
				continue
			}
			done++
			s.squares(i, &p.at)
			p.set(s.layout)
			s.before(&p, i, c.Other(), func(i int) { s.update(&s.cells[c.Other()][i], n) })
		}
	}
	if done > 0 {
		s.work.tell(done)
	}
}

// update updates a position one of whose moves leads to a position of distance n.
func (s *solver) update(at *cell, n int) {
	if n%2 == 0 { // lost: this is a win
		for {
			c := atomic.LoadUint32(at)
			if v := int(c & valueMask); v == illegal || v <= n+1 {
				return
			}
			if atomic.CompareAndSwapUint32(at, c, c&^valueMask|cell(n+1)) {
				s.note(n + 1)
				return
			}
		}
	}
	c := atomic.LoadUint32(at)
	if c&valueMask == illegal {
		return
	}
	if c = atomic.AddUint32(at, ^(oneMove - 1)); count(c) == 0 {
		// That was its last move, so no other goroutine writes here.
		value := max(n, int(c>>delayShift)) + 1
		atomic.StoreUint32(at, c&^valueMask|cell(min(value, illegal)))
		s.note(value)
	}
}

// before calls f for every quiet move of the side that leads to position number n,
// placed in p, with the number of the position before it. That need not be a
// legal position.
func (s *solver) before(p *placement, n int, side rules.Colour, f func(int)) {
	for i, piece := range s.piece {
		if piece.Colour() != side {
			continue
		}
		to := p.at[i]
		for from := p.sources(i); from.Any(); from = from.Rest() {
			square := from.First()
			g := s.group[i]
			if g < 0 {
				p.at[i] = square
				s.beforeKing(p, n, f)
				p.at[i] = to
				continue
			}
			group := &s.groups[g]
			if group.n == 1 { // by far the most frequent: computed from n
				if k := group.places.number[square]; k >= 0 {
					f(n + (int(k)-int(group.places.number[to]))*group.stride)
				}
				continue
			}
			p.at[i] = square
			if k := s.direct(&p.at); k >= 0 {
				f(k)
			}
			p.at[i] = to
		}
	}
}

// beforeKing is before for a king's move, which may change which side is
// mirrored. P is the position before the move, in the orientation of position
// number n. A position with both kings on the middle file and its mirror image
// have a number each, but a move between it and a position that has only one
// number must be counted once.
func (s *solver) beforeKing(p *placement, n int, f func(int)) {
	k := s.direct(&p.at)
	switch {
	case k < 0 && s.even(n):
		// The mirror image of n has a number, too, and handles this move.
	case k < 0:
		f(s.number(&p.at))
	case s.even(k) && !s.even(n):
		mirrored := p.at.reflected()
		f(k)
		f(s.direct(&mirrored))
	default:
		f(k)
	}
}
