package search

import (
	"cmp"
	"slices"
	"sync"
)

// Lines keeps the lines that a search reports, by iteration: scores of different
// depths can't be compared. It is safe for concurrent use.
type Lines struct {
	want int

	mu       sync.Mutex
	complete []Info // of the last complete iteration
	now      []Info // of the iteration under way
	fresh    bool   // complete has changed since Latest
	scored   bool   // there was a score
}

// NewLines makes a Lines for a search with the given Limits.MultiPV.
func NewLines(multiPV int) *Lines { return &Lines{want: max(multiPV, 1)} }

// Watch takes a report of the search.
func (l *Lines) Watch(i Info) {
	if i.Bound != Exact {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scored = true
	if len(i.PV) == 0 {
		return
	}
	if i.Line == 1 {
		l.end()
		l.now = nil
	}
	if i.Line != len(l.now)+1 || i.Line > l.want {
		return
	}
	l.now = append(l.now, i)
	if len(l.now) == l.want {
		l.end()
		l.now = nil
	}
}

// end notes that the iteration is complete if it has as many lines as the one
// before. The caller holds mu.
func (l *Lines) end() {
	if len(l.now) > 0 && len(l.now) >= len(l.complete) {
		l.complete, l.fresh = l.now, true
	}
}

// Complete returns the lines of the last complete iteration, best first.
func (l *Lines) Complete() []Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sorted()
}

// Latest returns what Complete does, and whether it is new since the last call.
func (l *Lines) Latest() (lines []Info, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh, l.fresh = l.fresh, false
	return l.sorted(), fresh
}

// Final returns the lines of a search that has ended, best first. A search that
// reported none has that of its result, which may be a move without a score.
// Scored reports whether the scores are known.
func (l *Lines) Final(r Result) (lines []Info, scored bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	if lines = l.sorted(); len(lines) > 0 || len(r.PV) == 0 {
		return lines, len(lines) > 0
	}
	return []Info{{Depth: r.Depth, SelDepth: r.SelDepth, Line: 1, Score: r.Score, WinProb: r.WinProb, Nodes: r.Nodes, Time: r.Time, PV: r.PV}}, l.scored || r.Depth > 0
}

// sorted returns the complete lines, best first. They were found one after the
// other, and a later one may turn out better. The caller holds mu.
func (l *Lines) sorted() []Info {
	lines := slices.Clone(l.complete)
	slices.SortStableFunc(lines, func(a, b Info) int { return cmp.Compare(b.Score, a.Score) })
	return lines
}
