package engine

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"sparring/engine/search"
)

// maxPerCore is how many threads of searches for moves share a core before further ones
// have to wait for it: each needs memory for its histories, and more of them at once
// end no sooner.
const maxPerCore = search.ThreadsPerCore

// quickNodes is how many nodes a search may be limited to and keep its core until it ends:
// that is soon, while one that is paused keeps its memory, of which a thousand games
// would need much.
const quickNodes = 5000

// quickTime is how long after its begin a search of few nodes is expected to end in a
// moment. Those of other people's programs may take seconds.
const quickTime = 100 * time.Millisecond

// isQuick reports whether it is a search for a move that has few nodes. The caller holds mu.
func (s *Search) isQuick() bool { return s.rank == rankMove && s.quick }

// keepsCore reports whether a search is not paused for one with an earlier deadline. The
// caller holds mu.
func (s *Search) keepsCore() bool { return s.awake && s.isQuick() }

// fewNodes reports whether few nodes end a search, by its limits or by those of its engine.
func fewNodes(g Game, l search.Limits) bool {
	n := l.Nodes
	if own := g.Describe().Nodes; own > 0 && (n == 0 || own < n) {
		n = own
	}
	return n > 0 && n <= quickNodes
}

// heapKind is one of the heaps that a search can be in.
type heapKind int

const (
	heapWaiting heapKind = iota // all that wait, by who gets a core first
	heapEarly                   // those of them for moves that are not urgent yet, by when they will be
	heapUrgent                  // those that are, by who gets a core first
	heapKinds
)

// searchHeap is a heap of searches, see container/heap. Each knows its places.
type searchHeap struct {
	kind   heapKind
	before func(s, o *Search) bool
	list   []*Search
}

func (h *searchHeap) Len() int           { return len(h.list) }
func (h *searchHeap) Less(i, j int) bool { return h.before(h.list[i], h.list[j]) }
func (h *searchHeap) Swap(i, j int) {
	h.list[i], h.list[j] = h.list[j], h.list[i]
	h.list[i].place[h.kind], h.list[j].place[h.kind] = i+1, j+1
}

// Push is heap.Push's; call add.
func (h *searchHeap) Push(x any) {
	s := x.(*Search)
	h.list = append(h.list, s)
	s.place[h.kind] = len(h.list)
}

// Pop is heap.Remove's; call remove.
func (h *searchHeap) Pop() any {
	n := len(h.list) - 1
	s := h.list[n]
	h.list[n] = nil
	h.list = h.list[:n]
	s.place[h.kind] = 0
	return s
}

func (h *searchHeap) add(s *Search) { heap.Push(h, s) }

// remove removes a search, if it is there.
func (h *searchHeap) remove(s *Search) {
	if at := s.place[h.kind]; at > 0 {
		heap.Remove(h, at-1)
	}
}

// first returns the first search, nil if there is none.
func (h *searchHeap) first() *Search {
	if len(h.list) == 0 {
		return nil
	}
	return h.list[0]
}

// before reports whether a search gets a core before another: by rank, searches for
// moves by deadline, and others in order of arrival.
func (s *Search) before(o *Search) bool { return s.compare(o) < 0 }

func (s *Search) compare(o *Search) int {
	byDeadline := 0
	if s.rank == rankMove {
		byDeadline = s.due.Compare(o.due)
	}
	return cmp.Or(cmp.Compare(s.rank, o.rank), byDeadline, cmp.Compare(s.number, o.number))
}

// urgentBefore reports whether a search for a move becomes urgent before another.
func (s *Search) urgentBefore(o *Search) bool { return s.urgent.Before(o.urgent) }

// wait puts a search among those that wait. The caller holds mu.
func (p *Pool) wait(s *Search) {
	p.waiting.add(s)
	if s.rank == rankMove {
		p.early.add(s)
	}
}

// remove removes a search, wherever it is. The caller holds mu.
func (p *Pool) remove(s *Search) {
	p.waiting.remove(s)
	p.early.remove(s)
	p.urgent.remove(s)
	p.awake = slices.DeleteFunc(p.awake, func(o *Search) bool { return o == s })
}

// threads is how many cores a search uses.
func (s *Search) threads() int { return max(s.limits.Threads, 1) }

// schedule decides which searches may run now. It looks at those alone that run or may:
// a thousand may wait. The caller holds mu.
func (p *Pool) schedule() {
	now := time.Now()
	for s := p.early.first(); s != nil && !s.urgent.After(now); s = p.early.first() {
		p.early.remove(s)
		p.urgent.add(s)
	}
	free, ready, others := p.cores, p.spare[:0], p.others[:0]
	var leaves time.Time // until when a quick one is expected to leave its core
	run := func(s *Search) {
		free -= s.threads()
		ready = append(ready, s)
		if !s.awake {
			s.awakeAt = now
		}
		if until := s.awakeAt.Add(quickTime); s.isQuick() && leaves.Before(until) {
			leaves = until
		}
	}
	for _, s := range p.awake {
		if s.keepsCore() {
			run(s)
		} else {
			others = append(others, s)
		}
	}
	slices.SortFunc(others, (*Search).compare)
	// next takes the first of the others and of those that wait in a heap.
	next := func(h *searchHeap, fits func(*Search) bool) *Search {
		i := slices.IndexFunc(others, fits)
		s := h.first()
		switch {
		case i >= 0 && (s == nil || !fits(s) || others[i].before(s)):
			s = others[i]
			others = slices.Delete(others, i, i+1)
		case s == nil || !fits(s):
			return nil
		default:
			p.remove(s)
		}
		return s
	}
	for free > 0 {
		s := next(&p.waiting, func(s *Search) bool { return s.rank != rankPonder || !p.noPonder })
		if s == nil {
			break
		}
		run(s)
	}
	most := -(maxPerCore - 1) * p.cores // of free, when the urgent wait until others end
	for free > most {
		// A quick one gains nothing from the share of a core if another will leave the whole
		// of it in a moment, and so many are not begun that each allocates histories.
		s := next(&p.urgent, func(s *Search) bool {
			return s.rank == rankMove && !s.urgent.After(now) && !(s.isQuick() && leaves.After(now))
		})
		if s == nil {
			break
		}
		run(s)
	}
	clear(p.awake)
	p.spare, p.awake, p.others = p.awake[:0], ready, others
	for _, s := range others {
		s.setAwake(false)
		p.wait(s)
	}
	for _, s := range ready {
		s.setAwake(true)
	}
	var at time.Time
	if free > most {
		if s := p.early.first(); s != nil {
			at = s.urgent
		}
		if p.urgent.Len() > 0 && (at.IsZero() || leaves.Before(at)) {
			at = leaves
		}
	}
	p.countLoad(now)
	p.wakeAt(at, now)
}

// AllowPondering says whether the pool gives cores to searches on an opponent's time.
// It does unless it is told otherwise. Without, they wait, and run once they are
// searches for a move.
func (p *Pool) AllowPondering(allow bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noPonder = !allow
	p.schedule()
}

// wakeAt schedules again when the next waiting search becomes urgent; zero is never.
func (p *Pool) wakeAt(next, now time.Time) {
	if p.closed {
		next = time.Time{}
	}
	if next.Equal(p.timerAt) {
		return
	}
	p.timerAt = next
	switch {
	case next.IsZero():
		p.timer.Stop()
	case p.timer != nil:
		p.timer.Reset(next.Sub(now))
	default:
		p.timer = time.AfterFunc(next.Sub(now), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.timerAt = time.Time{}
			p.schedule()
		})
	}
}

// setAwake lets a search run, or pauses it. The caller holds mu.
func (s *Search) setAwake(awake bool) {
	if awake == s.awake {
		return
	}
	s.awake = awake
	switch {
	case !s.begun && awake:
		s.begun = true
		s.pool.running.Go(s.work)
	case s.run == nil: // it is starting
	case awake:
		s.run.Resume()
	default:
		s.run.Pause()
	}
}
