package engine

import (
	"slices"
	"sort"
	"time"
)

// crowd is how many threads of searches for moves share a core before further ones
// have to wait for it: each needs memory for its histories, and more of them at once
// end no sooner.
const crowd = 8

// quickNodes is how many nodes a search may be limited to and keep its core until it ends:
// that is soon, while one that is paused keeps its memory, of which a thousand games
// would need much.
const quickNodes = 5000

// keepsCore reports whether a search is not paused for one with an earlier deadline. The
// caller holds mu.
func (s *Search) keepsCore() bool {
	return s.awake && s.rank == rankMove && s.limits.Nodes > 0 && s.limits.Nodes <= quickNodes
}

// ordered is a list of searches in an order.
type ordered struct {
	before func(s, o *Search) bool
	list   []*Search
}

// add adds a search behind those that do not come after it.
func (l *ordered) add(s *Search) {
	at := sort.Search(len(l.list), func(i int) bool { return l.before(s, l.list[i]) })
	l.list = slices.Insert(l.list, at, s)
}

// remove removes a search, if it is there.
func (l *ordered) remove(s *Search) {
	if at := slices.Index(l.list, s); at >= 0 {
		l.list = slices.Delete(l.list, at, at+1)
	}
}

// before reports whether a search gets a core before another: by rank, searches for
// moves by deadline, and others in order of arrival.
func (s *Search) before(o *Search) bool {
	if s.rank != o.rank || s.rank != rankMove {
		return s.rank < o.rank
	}
	return s.due.Before(o.due)
}

// urgentBefore reports whether a search for a move becomes urgent before another.
func (s *Search) urgentBefore(o *Search) bool { return s.urgent.Before(o.urgent) }

// insert adds a search. The caller holds mu.
func (p *Pool) insert(s *Search) {
	p.searches.add(s)
	if s.rank == rankMove {
		p.early.add(s)
	}
}

// remove removes a search. The caller holds mu.
func (p *Pool) remove(s *Search) {
	p.searches.remove(s)
	if s.rank == rankMove {
		p.early.remove(s)
		p.urgent.remove(s)
	}
}

// threads is how many cores a search uses.
func (s *Search) threads() int { return max(s.limits.Threads, 1) }

// schedule decides which searches may run now. It looks at those alone that can: a
// thousand may wait. The caller holds mu.
func (p *Pool) schedule() {
	now := time.Now()
	for len(p.early.list) > 0 && !p.early.list[0].urgent.After(now) {
		s := p.early.list[0]
		p.early.remove(s)
		p.urgent.add(s)
	}
	free, ready := p.cores, p.spare[:0]
	run := func(s *Search) {
		free -= s.threads()
		ready = append(ready, s)
	}
	for _, s := range p.awake {
		if s.keepsCore() {
			run(s)
		}
	}
	for _, s := range p.searches.list {
		if free <= 0 || s.rank == rankPonder && p.noPonder {
			break
		}
		if !s.keepsCore() {
			run(s)
		}
	}
	most := -(crowd - 1) * p.cores // of free, when the urgent wait until others end
	for _, s := range p.urgent.list {
		if free <= most {
			break
		}
		if !slices.Contains(ready, s) {
			run(s)
		}
	}
	for _, s := range p.awake {
		if !slices.Contains(ready, s) {
			s.setAwake(false)
		}
	}
	for _, s := range ready {
		s.setAwake(true)
	}
	p.spare, p.awake = p.awake, ready
	var next time.Time
	if at := slices.IndexFunc(p.early.list, func(s *Search) bool { return !s.awake }); at >= 0 && free > most {
		next = p.early.list[at].urgent
	}
	p.countLoad(now)
	p.wakeAt(next, now)
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
