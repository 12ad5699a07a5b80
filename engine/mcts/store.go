package mcts

import (
	"container/list"
	"sync"
)

// store lends memory to the trees of the games that share it. A tree keeps its
// memory between searches, until another needs it.
type store struct {
	budget int // slabs

	mu        sync.Mutex
	made      int // slabs that exist
	unused    []*slab
	idle      list.List // of *tree: not being searched, least recently searched first
	searching int       // trees
}

// minSlabs is what a tree may have while it is searched, beyond the budget if
// need be: 264 KiB.
const minSlabs = 8

func newStore(bytes int) *store { return &store{budget: max(bytes/slabBytes, minSlabs)} }

// open is called before a tree is searched, release after it.
func (s *store) open(t *tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searching++
	if t.idle != nil {
		s.idle.Remove(t.idle)
		t.idle = nil
	}
}

func (s *store) release(t *tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searching--
	t.idle = s.idle.PushBack(t)
	s.trim()
}

// drop takes the memory of a tree that is not being searched.
func (s *store) drop(t *tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropIdle(t)
	s.trim()
}

func (s *store) dropIdle(t *tree) {
	if t.idle != nil {
		s.idle.Remove(t.idle)
		t.idle = nil
	}
	s.unused = append(s.unused, t.slabs...)
	t.slabs, t.chunks, t.rootPos, t.basePos = nil, 0, nil, nil
}

// take returns a slab for a tree that is being searched, nil if it may have no more.
func (s *store) take(t *tree) *slab {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.unused) == 0 && s.made >= s.budget && s.idle.Len() > 0 {
		s.dropIdle(s.idle.Front().Value.(*tree))
	}
	if n := len(s.unused); n > 0 {
		slab := s.unused[n-1]
		s.unused[n-1] = nil
		s.unused = s.unused[:n-1]
		return slab
	}
	if s.made >= s.budget && len(t.slabs) >= minSlabs {
		return nil
	}
	s.made++
	return new(slab)
}

// put takes slabs back.
func (s *store) put(slabs []*slab) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unused = append(s.unused, slabs...)
	s.trim()
}

// trim frees what trees have had beyond the budget. The caller holds mu.
func (s *store) trim() {
	for s.made > s.budget {
		if len(s.unused) == 0 {
			if s.idle.Len() == 0 {
				return
			}
			s.dropIdle(s.idle.Front().Value.(*tree))
			continue
		}
		n := len(s.unused)
		s.unused[n-1] = nil
		s.unused = s.unused[:n-1]
		s.made--
	}
}

// fair returns how many slabs each of the trees that are being searched may have.
func (s *store) fair() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.budget/max(s.searching, 1), minSlabs)
}

// permille returns how much of its share a tree takes, in thousandths.
func (t *tree) permille() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return min(int(t.chunks)*1000/(t.store.fair()*slabChunks), 1000)
}
