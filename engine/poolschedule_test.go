package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sparring/engine/search"
)

// TestSchedule starts, stops and hits searches of all ranks at random, and checks after each
// step what the pool promises.
func TestSchedule(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			l, p := &timedGame{need: time.Second}, NewPool(2)
			defer p.Close()
			var all []*Search
			for range 300 {
				switch one := rng.IntN(10); {
				case one < 5:
					r := Request{Limits: search.Limits{Soft: time.Duration(1+rng.IntN(5)) * time.Second, Threads: rng.IntN(3)}}
					switch rng.IntN(6) {
					case 0:
						r.Ponder = true
					case 1:
						r.Purpose = ForHint
					case 2:
						r.Purpose = ForReview
					case 3:
						r.Limits.Nodes = 50
					}
					r.Limits.Hard = 2 * r.Limits.Soft
					all = append(all, think(t, p, l, r))
				case one < 6 && len(all) > 0:
					all[rng.IntN(len(all))].Stop()
				case one < 8 && len(all) > 0:
					all[rng.IntN(len(all))].PonderHit(nil)
				case one < 9:
					p.AllowPondering(rng.IntN(3) > 0)
				default:
					time.Sleep(time.Duration(rng.IntN(800)) * time.Millisecond)
				}
				synctest.Wait()
				promises(t, p)
			}
		})
	}
}

// leavesSoon reports whether a search is expected to end in a moment.
func leavesSoon(s *Search) bool { return s.isQuick() && time.Since(s.awakeAt) < quickTime }

// promises checks who runs and who waits.
func promises(t *testing.T, p *Pool) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	now, threads := time.Now(), 0
	for _, s := range p.awake {
		threads += s.threads()
		if s.ended || !s.awake || s.place != [heapKinds]int{} {
			t.Fatalf("ended %v, awake %v, in heaps %v: among those that run", s.ended, s.awake, s.place)
		}
	}
	for _, s := range p.awake {
		earlier := 0
		for _, o := range p.awake {
			if o.before(s) {
				earlier += o.threads()
			}
		}
		if urgent := s.rank == rankMove && !s.urgent.After(now); !urgent && !s.keepsCore() && earlier >= p.cores {
			t.Fatalf("one of rank %d runs beside %d threads that come first", s.rank, earlier)
		}
	}
	for _, h := range []*searchHeap{&p.waiting, &p.early, &p.urgent} {
		for i, s := range h.list {
			if s.ended || s.awake || s.place[h.kind] != i+1 {
				t.Fatalf("ended %v, awake %v, place %d of %d: among those that wait", s.ended, s.awake, s.place[h.kind], i+1)
			}
		}
	}
	for _, s := range p.waiting.list {
		if s.rank == rankPonder && p.noPonder {
			continue
		}
		urgent := s.rank == rankMove && !s.urgent.After(now)
		if inHeaps := (s.place[heapEarly] > 0) != (s.place[heapUrgent] > 0); inHeaps != (s.rank == rankMove) {
			t.Fatalf("rank %d in heaps %v", s.rank, s.place)
		}
		switch {
		case threads < p.cores:
			t.Fatalf("one waits, with %d threads on %d cores", threads, p.cores)
		case urgent && threads < maxPerCore*p.cores && !(p.urgent.first().isQuick() && slices.ContainsFunc(p.awake, leavesSoon)):
			t.Fatalf("one waits that is urgent, with %d threads", threads)
		}
		if i := slices.IndexFunc(p.awake, func(o *Search) bool {
			return s.before(o) && !o.keepsCore() && !(o.rank == rankMove && !o.urgent.After(now))
		}); i >= 0 {
			t.Fatalf("one waits for another, of rank %d, that comes later", p.awake[i].rank)
		}
	}
	if l := &p.load; l.Waiting != len(p.early.list)+len(p.urgent.list) {
		t.Fatalf("%d wait, the load says %d", len(p.early.list)+len(p.urgent.list), l.Waiting)
	}
}

// An engine's own limit makes its searches quick, too: that of a level, or of a specification.
func TestQuickEngines(t *testing.T) {
	for _, c := range []struct {
		own, limit uint64
		quick      bool
	}{{0, 0, false}, {0, quickNodes, true}, {quickNodes, 0, true}, {quickNodes + 1, 0, false}, {1, 1e6, true}, {1e6, 1, true}} {
		if got := fewNodes(ownLimit{nodes: c.own}, search.Limits{Nodes: c.limit}); got != c.quick {
			t.Errorf("limits of %d and %d nodes: quick %v", c.own, c.limit, got)
		}
	}
}

// ownLimit is a game of an engine that is limited to so many nodes.
type ownLimit struct {
	Game
	nodes uint64
}

func (o ownLimit) Describe() Description { return Description{Nodes: o.nodes} }
