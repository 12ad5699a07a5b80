package engine

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// timedGame is a game in which each search needs a fixed time on a core and then
// plays the first legal move. It shows which searches had a core, and when.
type timedGame struct {
	need time.Duration

	mu    sync.Mutex
	busy  int       // searches on a core now
	since time.Time // when busy changed last
	most  int       // for more than an instant
}

func (*timedGame) Options() GameOptions  { return GameOptions{} }
func (*timedGame) Ready() error          { return nil }
func (*timedGame) Describe() Description { return Description{} }
func (*timedGame) Close() error          { return nil }

func (l *timedGame) Search(p game.Position, limits search.Limits, _ func(search.Info)) (Running, error) {
	s := &timedSearch{l: l, move: p.Legal(nil)[0], limits: limits, left: l.need, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go s.work()
	return s, nil
}

type timedSearch struct {
	l      *timedGame
	move   game.Move
	wake   chan struct{} // something changed
	done   chan struct{}
	result search.Result

	mu      sync.Mutex
	limits  search.Limits
	left    time.Duration
	paused  bool
	stopped bool
}

func (s *timedSearch) work() {
	defer close(s.done)
	began := time.Now()
	for {
		s.mu.Lock()
		paused, stopped, limits := s.paused, s.stopped, s.limits
		s.mu.Unlock()
		over := !limits.Wait && limits.Hard > 0 && time.Since(limits.From) >= limits.Hard
		if stopped || over || (s.left <= 0 && !limits.Wait) {
			break
		}
		if paused || s.left <= 0 {
			<-s.wake
			continue
		}
		span := s.left
		if limits.Hard > 0 && !limits.Wait {
			span = min(span, limits.Hard-time.Since(limits.From))
		}
		s.l.onCore(1)
		start := time.Now()
		select {
		case <-time.After(span):
		case <-s.wake:
		}
		s.l.onCore(-1)
		s.left -= time.Since(start)
	}
	s.result = search.Result{Move: s.move, Time: time.Since(began), Source: "timedGame"}
}

func (l *timedGame) onCore(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A paused search leaves its core a moment after the next has begun, so only
	// what lasts counts.
	now := time.Now()
	if now.After(l.since) {
		l.most = max(l.most, l.busy)
	}
	l.busy, l.since = l.busy+n, now
}

func (s *timedSearch) change(f func()) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *timedSearch) PonderHit(l search.Limits) { s.change(func() { s.limits = l }) }
func (s *timedSearch) Stop()                     { s.change(func() { s.stopped = true }) }
func (s *timedSearch) Pause()                    { s.change(func() { s.paused = true }) }
func (s *timedSearch) Resume()                   { s.change(func() { s.paused = false }) }
func (s *timedSearch) Done() <-chan struct{}     { return s.done }
func (s *timedSearch) Wait() search.Result       { <-s.done; return s.result }

func start(t testing.TB, name string) game.Position {
	t.Helper()
	p, err := catalog.Setup(name, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func think(t *testing.T, p *Pool, l *timedGame, r Request) *Search {
	t.Helper()
	r.Game, r.Position = l, start(t, "gomoku")
	th, err := p.Start(r)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return th
}

// ended reports the fake time from begin until the search has ended.
func ended(s *Search, begin time.Time) time.Duration {
	<-s.Done()
	return time.Since(begin)
}

// onOneCore runs a test of searches that need a second each.
func onOneCore(t *testing.T, test func(t *testing.T, p *Pool, l *timedGame, begin time.Time)) {
	synctest.Test(t, func(t *testing.T) {
		l, p := &timedGame{need: time.Second}, NewPool(1)
		defer p.Close()
		test(t, p, l, time.Now())
		if l.most != 1 {
			t.Errorf("%d searches at once on one core", l.most)
		}
	})
}

func TestPlayingMakesPonderingYield(t *testing.T) {
	onOneCore(t, func(t *testing.T, p *Pool, l *timedGame, begin time.Time) {
		ponder := think(t, p, l, Request{Ponder: true})
		time.Sleep(500 * time.Millisecond)
		play := think(t, p, l, Request{Limits: search.Limits{Hard: 5 * time.Second}})
		if got := ended(play, begin); got != 1500*time.Millisecond {
			t.Errorf("the play request was answered after %v, want 1.5s: at once", got)
		}
		// The ponder search continues where it was: half of its work is done.
		ponder.PonderHit(nil)
		if got := ended(ponder, begin); got != 2*time.Second {
			t.Errorf("the ponder search ended after %v, want 2s", got)
		}
	})
}

func TestEarliestDeadlineFirst(t *testing.T) {
	onOneCore(t, func(t *testing.T, p *Pool, l *timedGame, begin time.Time) {
		late := think(t, p, l, Request{Limits: search.Limits{Hard: 20 * time.Second}})
		middle := think(t, p, l, Request{Limits: search.Limits{Hard: 10 * time.Second}})
		early := think(t, p, l, Request{Limits: search.Limits{Hard: 5 * time.Second}})
		for i, th := range []*Search{early, middle, late} {
			if got, want := ended(th, begin), time.Duration(i+1)*time.Second; got != want {
				t.Errorf("request %d was answered after %v, want %v", i, got, want)
			}
		}
	})
}

// TestQuickSearchesAreNotPaused: a search of few nodes ends before one with an earlier
// deadline begins, and no longer one is kept from its core by that.
func TestQuickSearchesAreNotPaused(t *testing.T) {
	onOneCore(t, func(t *testing.T, p *Pool, l *timedGame, begin time.Time) {
		long := think(t, p, l, Request{Limits: search.Limits{Hard: 20 * time.Second, Nodes: quickNodes + 1}})
		quick := think(t, p, l, Request{Limits: search.Limits{Hard: 15 * time.Second, Nodes: quickNodes}})
		early := think(t, p, l, Request{Limits: search.Limits{Hard: 10 * time.Second, Nodes: quickNodes}})
		for i, th := range []*Search{quick, early, long} {
			if got, want := ended(th, begin), time.Duration(i+1)*time.Second; got != want {
				t.Errorf("request %d was answered after %v, want %v", i, got, want)
			}
		}
	})
}

// TestNobodyStarves checks that however many searches are on the clock, each gets a
// core in time to answer.
func TestNobodyStarves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &timedGame{need: time.Hour}
		p := NewPool(1)
		defer p.Close()
		begin := time.Now()
		var all []*Search
		for range 5 {
			all = append(all, think(t, p, l, Request{Limits: search.Limits{Soft: time.Second, Hard: 4 * time.Second}}))
		}
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		l.mu.Lock()
		if l.busy != 5 {
			t.Errorf("%d of 5 at work after more than half of their time", l.busy)
		}
		l.mu.Unlock()
		for i, th := range all {
			if got := ended(th, begin); got != 4*time.Second {
				t.Errorf("request %d was answered after %v, its hard limit is 4s", i, got)
			}
			if r, err := th.Wait(); err != nil || r.Move == game.NoMove {
				t.Errorf("request %d: no move, error %v", i, err)
			}
		}
	})
}

// However many searches are late, no more than maxPerCore share a core, and all get a move.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := &timedGame{need: time.Hour}, NewPool(1)
		defer p.Close()
		var all []*Search
		for range 3 * maxPerCore {
			all = append(all, think(t, p, l, Request{Limits: search.Limits{Soft: time.Second, Hard: 4 * time.Second}}))
		}
		for i, th := range all {
			if r, err := th.Wait(); err != nil || r.Move == game.NoMove {
				t.Errorf("request %d: no move, error %v", i, err)
			}
		}
		if l.most != maxPerCore {
			t.Errorf("%d searches at once, want %d", l.most, maxPerCore)
		}
		if load := p.Load(); load.Started != 3*maxPerCore || load.Late != 3*maxPerCore-1 {
			t.Errorf("%d of %d searches started late, want all but the first", load.Late, load.Started)
		}
	})
}

// TestQuickSearchesDoNotCrowd: of searches of few nodes no more run at once than there are
// cores, and one beside long ones, however late they are; unless they take their time.
func TestQuickSearchesDoNotCrowd(t *testing.T) {
	for _, c := range []struct {
		long int
		need time.Duration // of each
		most int
	}{{0, quickTime / 2, 1}, {1, quickTime * 3 / 4, 2}, {maxPerCore + 2, quickTime / 2, maxPerCore}, {0, time.Hour, maxPerCore}} {
		synctest.Test(t, func(t *testing.T) {
			l, p := &timedGame{need: c.need}, NewPool(1)
			defer p.Close()
			var all []*Search
			ask := func(n int, limits search.Limits) {
				for range n {
					all = append(all, think(t, p, l, Request{Limits: limits}))
				}
			}
			ask(c.long, search.Limits{Soft: quickTime, Hard: time.Minute})
			ask(3*maxPerCore, search.Limits{Soft: quickTime, Hard: time.Minute, Nodes: 50})
			for i, th := range all {
				if r, err := th.Wait(); err != nil || r.Move == game.NoMove {
					t.Errorf("request %d: no move, error %v", i, err)
				}
			}
			if l.most != c.most {
				t.Errorf("%d long ones, %v each: %d searches at once, want %d", c.long, c.need, l.most, c.most)
			}
		})
	}
}

// TestQuickSearchesPauseNoUrgentOne: a search of few nodes that waits for another such does
// not take the share of a long one that has become urgent.
func TestQuickSearchesPauseNoUrgentOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := &timedGame{need: time.Second}, NewPool(1)
		defer p.Close()
		think(t, p, l, Request{Limits: search.Limits{Hard: 20 * time.Second, Nodes: 50}})
		think(t, p, l, Request{Limits: search.Limits{Soft: quickTime / 5, Hard: 10 * time.Second}})
		time.Sleep(quickTime / 2)
		think(t, p, l, Request{Limits: search.Limits{Soft: quickTime / 5, Hard: 5 * time.Second, Nodes: 50}})
		time.Sleep(quickTime / 5)
		synctest.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.busy != 2 {
			t.Errorf("%d searches run, want 2: one of few nodes, and the long one", l.busy)
		}
	})
}

func TestNoPondering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := &timedGame{need: time.Second}, NewPool(1)
		defer p.Close()
		p.AllowPondering(false)
		ponder := think(t, p, l, Request{Ponder: true})
		time.Sleep(time.Minute)
		if l.busy != 0 {
			t.Error("it ponders")
		}
		begin := time.Now()
		ponder.PonderHit(nil)
		if got := ended(ponder, begin); got != time.Second {
			t.Errorf("the search ended %v after the hit, want 1s", got)
		}
		ponder = think(t, p, l, Request{Ponder: true})
		p.AllowPondering(true)
		time.Sleep(2 * time.Second)
		begin = time.Now()
		ponder.PonderHit(nil)
		if got := ended(ponder, begin); got != 0 {
			t.Errorf("the search ended %v after the hit, want at once: it has pondered", got)
		}
	})
}

func TestHitStartsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := &timedGame{need: time.Hour}, NewPool(2)
		defer p.Close()
		ponder := think(t, p, l, Request{Ponder: true})
		time.Sleep(time.Minute)
		begin := time.Now()
		ponder.PonderHit(&Clock{Spec: clock.Spec{Kind: clock.PerMove, Period: time.Second}, Overhead: 100 * time.Millisecond})
		if got := ended(ponder, begin); got != 900*time.Millisecond {
			t.Errorf("answered %v after the hit, want 900ms", got)
		}
		// A clock that started earlier counts from its start.
		ponder = think(t, p, l, Request{Ponder: true})
		time.Sleep(time.Minute)
		begin = time.Now().Add(-300 * time.Millisecond)
		ponder.PonderHit(&Clock{Spec: clock.Spec{Kind: clock.PerMove, Period: time.Second}, At: begin})
		if got := ended(ponder, begin); got != time.Second {
			t.Errorf("answered %v after the clock began, want 1s", got)
		}
	})
}

func TestStopBeforeTheFirstCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := &timedGame{need: time.Hour}, NewPool(1)
		first := think(t, p, l, Request{Ponder: true})
		second := think(t, p, l, Request{Ponder: true})
		second.Stop()
		second.Stop()
		if r, err := second.Wait(); err != nil || r.Move != game.NoMove {
			t.Errorf("a search that never began answers %v, %v", r.Move, err)
		}
		p.Close()
		if r, err := first.Wait(); err != nil || r.Move == game.NoMove {
			t.Errorf("a search that Close stopped answers %v, %v", r.Move, err)
		}
		if _, err := p.Start(Request{Game: l, Position: start(t, "gomoku")}); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed pool says %v", err)
		}
	})
}

// TestPoolOfEngines runs the real engines of all games in one pool, pondering and
// playing at the same time.
func TestPoolOfEngines(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var plays, ponders []*Search
	for _, a := range adapters {
		for range 2 {
			pos := start(t, a.Game)
			ponder, err := p.Start(Request{Game: newGame(t, a.Game, GameOptions{}), Position: pos, Ponder: true})
			if err != nil {
				t.Fatal(err)
			}
			play, err := p.Start(Request{Game: newGame(t, a.Game, GameOptions{}), Position: pos, Limits: search.Limits{Nodes: 2000}})
			if err != nil {
				t.Fatal(err)
			}
			ponders, plays = append(ponders, ponder), append(plays, play)
		}
	}
	for _, th := range plays {
		r, err := th.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if err := th.position.Play(r.Move); err != nil {
			t.Errorf("%s: %v", th.position.Rules().Name, err)
		}
	}
	for i, th := range ponders {
		if i%2 == 0 {
			th.Stop()
		} else {
			th.PonderHit(&Clock{Spec: clock.Spec{Kind: clock.PerMove, Period: 50 * time.Millisecond}})
		}
		if _, err := th.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// Analyses stand below searches for moves and above pondering, hints before
// reviews, and each goes on where it was when it gets the core back.
func TestAnalysisYieldsToMoves(t *testing.T) {
	onOneCore(t, func(t *testing.T, p *Pool, l *timedGame, begin time.Time) {
		ponder := think(t, p, l, Request{Ponder: true})
		review := think(t, p, l, Request{Purpose: ForReview})
		time.Sleep(500 * time.Millisecond)
		hint := think(t, p, l, Request{Purpose: ForHint})
		time.Sleep(500 * time.Millisecond)
		move := think(t, p, l, Request{Limits: search.Limits{Hard: 5 * time.Second}})
		for _, c := range []struct {
			what string
			s    *Search
			at   time.Duration
		}{
			{"the move, at once", move, 2 * time.Second},
			{"the hint, with half of its work done", hint, 2500 * time.Millisecond},
			{"the review", review, 3 * time.Second},
		} {
			if got := ended(c.s, begin); got != c.at {
				t.Errorf("%s: ended after %v, want %v", c.what, got, c.at)
			}
		}
		ponder.PonderHit(nil)
		if got := ended(ponder, begin); got != 4*time.Second {
			t.Errorf("the pondering began when nothing else was left, and ended after %v, want 4s", got)
		}
	})
}

// An analysis that gets no core is ended by Stop, not by its limits.
func TestAnalysisWithoutACore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &timedGame{need: time.Minute}
		p := NewPool(1)
		defer p.Close()
		think(t, p, l, Request{Limits: search.Limits{Hard: time.Minute}})
		review := think(t, p, l, Request{Purpose: ForReview, Limits: search.Limits{Hard: time.Second}})
		time.Sleep(10 * time.Second)
		select {
		case <-review.Done():
			t.Error("it ended without a core")
		default:
		}
		review.Stop()
		if r, err := review.Wait(); err != nil || r.Move != game.NoMove {
			t.Errorf("move %v, error %v, want neither", r.Move, err)
		}
	})
}

// A hit after the end of a search changes nothing: it takes no core from others.
func TestHitAfterTheEnd(t *testing.T) {
	onOneCore(t, func(t *testing.T, p *Pool, l *timedGame, _ time.Time) {
		for range 9 { // more than would share a core
			ponder := think(t, p, l, Request{Ponder: true})
			ponder.Stop()
			ponder.Wait()
			synctest.Wait()
			ponder.PonderHit(nil)
			if n := p.Load().Thinking; n != 0 {
				t.Fatalf("%d searches think", n)
			}
		}
		begin := time.Now()
		play := think(t, p, l, Request{Limits: search.Limits{Soft: 30 * time.Second, Hard: time.Minute}})
		if got := ended(play, begin); got != time.Second {
			t.Errorf("a search that needs a second took %v", got)
		}
	})
}
