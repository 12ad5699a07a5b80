package bot

import (
	"errors"
	"math/rand/v2"
	"sync"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
)

// PoolThinker thinks with an engine pool, which shares the cores among all
// games of the process. What a seat does in an opening procedure is chosen by
// comparing searches of its outcomes.
type PoolThinker struct{ Pool *engine.Pool }

// errNotPondered: what the opponent will do in an opening procedure is not
// foreseen.
var errNotPondered = errors.New("an opening procedure is not pondered on")

// errStopped: the choice was stopped before its search began.
var errStopped = errors.New("stopped")

// Think implements Thinker.
func (p PoolThinker) Think(t Task) (Thought, error) {
	switch {
	case !opening.Running(t.Position):
	case t.Ponder:
		return nil, errNotPondered
	default:
		return p.choose(t), nil
	}
	thought, err := p.Pool.Think(request(t, t.Position, search.Limits{}))
	if err != nil {
		return nil, err
	}
	return poolThought{thought}, nil
}

// request asks the pool to search a position for a task.
func request(t Task, pos game.Position, l search.Limits) engine.Request {
	l.Nodes, l.Threads = t.Nodes, t.Threads
	r := engine.Request{Position: pos, Ponder: t.Ponder, Limits: l}
	if !t.Ponder {
		c := engine.Clock(t.Clock)
		r.Clock = &c
	}
	if watch := t.Watch; watch != nil {
		r.Watch = func(i search.Info) { watch(fromInfo(i)) }
	}
	return r
}

type poolThought struct{ *engine.Thought }

func (t poolThought) Hit(c Clock) {
	ec := engine.Clock(c)
	t.Thought.Hit(&ec)
}

func (t poolThought) Wait() (Result, error) {
	r, err := t.Thought.Wait()
	return Result{
		Move: r.Move, Ponder: r.Ponder, Score: int(r.Score), Chance: r.Chance, Depth: r.Depth, SelDepth: r.SelDepth,
		Nodes: r.Nodes, Time: r.Time, PV: r.PV, Source: r.Source,
	}, err
}

// choice is a decision in an opening procedure under way.
type choice struct {
	mu      sync.Mutex
	stopped bool
	running *engine.Thought // the search that it rests on, nil where none has begun

	done   chan struct{} // closed when the rest is set
	result Result
	err    error
}

// choose starts to decide what the seat to act does in an opening procedure.
func (p PoolThinker) choose(t Task) Thought {
	c := &choice{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		rng := rand.New(rand.NewPCG(t.Seed, uint64(t.Position.Ply())))
		m, err := opening.Choose(t.Position, func(pos game.Position, l search.Limits) (search.Result, error) {
			return c.search(p.Pool, request(t, pos, l))
		}, rng)
		// Depth and score are about another position than the one where the
		// choice is made, and stay out of what is said about it.
		c.result.Move, c.err = m, err
		c.result.Source = search.FromSearch
		if m != game.NoMove {
			c.result.PV = []game.Move{m}
		}
	}()
	return c
}

// search is the one search of a choice.
func (c *choice) search(pool *engine.Pool, r engine.Request) (search.Result, error) {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return search.Result{}, errStopped
	}
	var err error
	c.running, err = pool.Think(r)
	c.mu.Unlock()
	if err != nil {
		return search.Result{}, err
	}
	found, err := c.running.Wait()
	c.result.Nodes, c.result.Time = found.Nodes, found.Time
	return found, err
}

// Hit implements Thought; a choice is never pondered on.
func (c *choice) Hit(Clock) {}

// Stop implements Thought.
func (c *choice) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.running != nil {
		c.running.Stop()
	}
}

// Wait implements Thought.
func (c *choice) Wait() (Result, error) {
	<-c.done
	return c.result, c.err
}

func fromInfo(i search.Info) Result {
	r := Result{
		Score: int(i.Score), Chance: i.Chance, Depth: i.Depth, SelDepth: i.SelDepth,
		Nodes: i.Nodes, Time: i.Time, PV: i.PV, Source: search.FromSearch,
	}
	if len(i.PV) > 0 {
		r.Move = i.PV[0]
	}
	return r
}
