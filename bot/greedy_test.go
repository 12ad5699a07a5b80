package bot

import (
	"errors"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// greedy is a real, simple engine: it plays the legal move, among a few, that
// leaves the opponent fewest replies, and expects the first legal reply.
type greedy struct {
	mu      sync.Mutex
	pause   time.Duration // per search
	delay   time.Duration // until a search starts
	winProb float64       // that it claims
	hits    int           // ponder hits
	running int           // searches
	open    int           // games
	broken  bool          // it does not start
}

func (g *greedy) setBroken(broken bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.broken = broken
}

func (g *greedy) setPause(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pause = d
}

func (g *greedy) setDelay(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.delay = d
}

func (g *greedy) setWinProb(p float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.winProb = p
}

// searches returns the number of running searches.
func (g *greedy) searches() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running
}

// count adds to one of the counters.
func (g *greedy) count(n *int, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*n += by
}

func (g *greedy) newGame(_ string, o engine.GameOptions) (engine.Game, error) {
	g.count(&g.open, 1)
	return greedyGame{g, o}, nil
}

type greedyGame struct {
	*greedy
	options engine.GameOptions
}

func (g greedyGame) Ready() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken {
		return errors.New("it does not start")
	}
	return nil
}

func (g greedyGame) Options() engine.GameOptions  { return g.options }
func (g greedyGame) Describe() engine.Description { return engine.Description{Name: "greedy"} }
func (g greedyGame) Close() error                 { g.count(&g.open, -1); return nil }

// greedySearch ends by itself after the pause, counted from the ponder hit if it
// ponders. With a limit of nodes it does not pause.
type greedySearch struct {
	*greedy
	hit, stop, done chan struct{}
	hitOnce, once   sync.Once
	result          search.Result // once done is closed
}

func (g greedyGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	s := &greedySearch{greedy: g.greedy, hit: make(chan struct{}), stop: make(chan struct{}), done: make(chan struct{})}
	g.mu.Lock()
	delay := g.delay
	g.mu.Unlock()
	time.Sleep(delay)
	g.count(&g.running, 1)
	p = p.Clone()
	go func() {
		defer close(s.done)
		defer g.count(&g.running, -1)
		s.search(p, l)
		if report != nil && s.result.Move != game.NoMove {
			report(search.Info{Depth: 1, PV: s.result.PV, Score: s.result.Score, Nodes: s.result.Nodes})
		}
	}()
	return s, nil
}

func (s *greedySearch) PonderHit(search.Limits) {
	s.hitOnce.Do(func() {
		s.count(&s.hits, 1)
		close(s.hit)
	})
}
func (s *greedySearch) Stop()                 { s.once.Do(func() { close(s.stop) }) }
func (s *greedySearch) Pause()                {}
func (s *greedySearch) Resume()               {}
func (s *greedySearch) Done() <-chan struct{} { return s.done }
func (s *greedySearch) Wait() search.Result   { <-s.done; return s.result }

func (s *greedySearch) search(p game.Position, l search.Limits) {
	begun := time.Now()
	if l.Wait {
		select {
		case <-s.hit:
		case <-s.stop:
			return
		}
	}
	s.mu.Lock()
	pause, winProb := s.pause, s.winProb
	s.mu.Unlock()
	if l.Nodes > 0 {
		pause = 0
	}
	select {
	case <-time.After(pause):
	case <-s.stop:
	}
	r := search.Result{Depth: 1, WinProb: winProb, Source: search.FromSearch}
	for n, m := range p.Legal(nil) {
		if n > 20 {
			break
		}
		if err := p.Play(m); err != nil {
			continue
		}
		replies := p.Legal(nil)
		if score := search.Score(-len(replies)); r.Move == game.NoMove || score > r.Score {
			r.Move, r.Score, r.Ponder = m, score, game.NoMove
			if len(replies) > 0 {
				r.Ponder = replies[0]
			}
		}
		r.Nodes++
		p.Undo()
	}
	r.PV, r.Time = []game.Move{r.Move}, time.Since(begun)
	s.result = r
}
