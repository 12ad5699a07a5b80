package tablebase

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	rules "sparring/game/xiangqi"
)

// The worth of a position is a byte: the distance to the end in plies, odd
// when the side to move wins, even when it loses; or one of these.
const (
	drawn   = 254
	illegal = 255 // no position, or the side that has just moved is in check
	longest = 253 // the longest distance
)

// solved is a set with the worth of all its positions, by side to move.
type solved struct {
	layout *layout
	values [2][]byte
}

// A set is solved from the end backwards (retrograde analysis; Ströhlein 1970,
// Thompson, "Retrograde analysis of certain endgames", ICCA J. 9, 1986). Every
// position counts its moves that are not known to lose. Then, in order of
// distance: a position lost in n makes every position before it a win in n+1,
// and one won in n takes a move from every position before it; whose last move
// goes has lost. Captures lead to smaller sets, which are solved already: a
// capture that wins is a win at once noted for its distance, one that loses is
// not counted but may put off the loss.
//
// A cell holds what is known of a position: its value in the low byte, above
// it the count of moves, above that the longest loss by a capture. Goroutines
// share the cells of one distance by atomic operations. What they do commutes,
// so the outcome does not depend on their order.
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
	below   []below   // by group: what is left when one of it is taken
	highest atomic.Int32
	work    work
}

// below is the solved set that a capture leads to.
type below struct {
	*solved
	flipped bool
	from    []int // of each of its men: which of ours it is
}

// work says how to share out the positions of a set.
type work struct {
	workers int
	gentle  bool // rest as long as you work
	done    func(positions int)
}

// chunk is how many positions a goroutine takes at a time: some milliseconds.
const chunk = 1 << 13

// over calls f for ranges of 0 to n from several goroutines.
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

// solve finds the worth of all positions of a set. Sub has the solved set of
// every capture.
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
	// Each man of the smaller set is one of ours; the last of the group is gone.
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

// note remembers that a value has been given, so that its turn will come.
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
			c := rules.Color(side)
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

// first is the cell of a position before anything is known but captures.
func (s *solver) first(p *placement, side rules.Color) cell {
	moves, delay, value := 0, -1, drawn
	for i, piece := range s.piece {
		if piece.Color() != side {
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

// afterCapture is the worth, to the side that did not take, of what is left
// when man i takes on the square.
func (s *solver) afterCapture(p *placement, i int, to rules.Square) int {
	taken := 0
	for p.at[taken] != to {
		taken++
	}
	group := s.group[taken]
	b := &s.below[group]
	at := p.at
	at[i] = to
	// Like men are interchangeable: let it be the last of its group.
	last := s.groups[group].first + s.groups[group].n - 1
	at[taken] = at[last]
	var left squares
	for j, of := range b.from {
		if left[j] = at[of]; b.flipped {
			left[j] = left[j].Flip()
		}
	}
	side := p.piece[i].Color().Other()
	if b.flipped {
		side = side.Other()
	}
	return int(b.values[side][b.layout.number(&left)])
}

// retreat looks at the positions of a range whose distance is n, and at all
// that can come before them.
func (s *solver) retreat(n, from, to int) {
	var p placement
	done := 0
	for side := range s.cells {
		c := rules.Color(side)
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

// update tells a position that one of its moves leads to a position whose
// distance is n.
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
		// Nothing is left to be told, so nobody else writes here any more.
		value := max(n, int(c>>delayShift)) + 1
		atomic.StoreUint32(at, c&^valueMask|cell(min(value, illegal)))
		s.note(value)
	}
}

// before calls f with the number of every position from which a quiet move of
// the side leads to position number n, whose men p has, once for each such
// move. What it calls may be no legal positions.
func (s *solver) before(p *placement, n int, side rules.Color, f func(int)) {
	for i, piece := range s.piece {
		if piece.Color() != side {
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
			if group.n == 1 { // by far the most frequent: step from n
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

// beforeKing is before for a king's move, which may change what is mirrored.
// P has the position before the move, in the orientation of position number n.
// Where the kings of one of the two stand on the middle file, it and its mirror
// image have a number each, but a move between it and a position that has only
// one number must be told once.
func (s *solver) beforeKing(p *placement, n int, f func(int)) {
	k := s.direct(&p.at)
	switch {
	case k < 0 && s.even(n):
		// The mirror image of n has a number too, and tells of this move.
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
