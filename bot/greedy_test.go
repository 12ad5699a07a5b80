package bot

import (
	"sync"
	"time"

	"sparring/bot/play"
	"sparring/engine"
	"sparring/game"
)

// greedy is a real thinker: it takes the first legal move that leaves the
// opponent fewest replies among a few, and expects the first legal reply.
type greedy struct {
	pause  time.Duration // per search
	chance float64       // that it claims

	mu       sync.Mutex
	searches int
	hits     int
	running  int
}

type idea struct {
	g       *greedy
	t       play.Task
	hit     chan struct{}
	stop    chan struct{}
	hitOnce sync.Once
	once    sync.Once
	started time.Time
}

func (g *greedy) NewGame(string, engine.GameOptions) (play.Game, error) { return g, nil }
func (g *greedy) Ready() error                                          { return nil }
func (g *greedy) Close() error                                          { return nil }

func (g *greedy) Think(t play.Task) (play.Thought, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.searches++
	g.running++
	return &idea{g: g, t: t, hit: make(chan struct{}), stop: make(chan struct{}), started: time.Now()}, nil
}

func (g *greedy) setPause(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pause = d
}

func (i *idea) PonderHit(play.Clock) {
	i.hitOnce.Do(func() {
		i.g.mu.Lock()
		i.g.hits++
		i.g.mu.Unlock()
		close(i.hit)
	})
}
func (i *idea) Stop() { i.once.Do(func() { close(i.stop) }) }

func (i *idea) Wait() (play.Result, error) {
	defer func() {
		i.g.mu.Lock()
		i.g.running--
		i.g.mu.Unlock()
	}()
	if i.t.Ponder {
		select {
		case <-i.hit:
		case <-i.stop:
			return play.Result{}, nil
		}
	}
	i.g.mu.Lock()
	pause := i.g.pause
	i.g.mu.Unlock()
	select {
	case <-time.After(pause):
	case <-i.stop:
	}
	p := i.t.Position
	r := play.Result{Depth: 1, WinProb: i.g.chance, Source: "search"}
	for n, m := range p.Legal(nil) {
		if n > 20 {
			break
		}
		if err := p.Play(m); err != nil {
			continue
		}
		replies := p.Legal(nil)
		if r.Nodes++; r.Move == game.NoMove || -len(replies) > r.Score {
			r.Move, r.Score, r.Ponder = m, -len(replies), game.NoMove
			if len(replies) > 0 {
				r.Ponder = replies[0]
			}
		}
		p.Undo()
	}
	r.PV, r.Time = []game.Move{r.Move}, time.Since(i.started)
	if i.t.Watch != nil {
		i.t.Watch(r)
	}
	return r, nil
}
