package play

import (
	"errors"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/pipe/playerspec"
)

// PoolThinker thinks with the engines that specs name and a pool, which shares
// the cores among all games of the process.
type PoolThinker struct {
	Engines *playerspec.Engines
	Pool    *engine.Pool
}

// poolGame is a game of a PoolThinker.
type poolGame struct {
	engine.Game
	pool *engine.Pool
}

// NewGame implements Thinker.
func (p PoolThinker) NewGame(spec string, o engine.GameOptions) (Game, error) {
	g, err := p.Engines.NewGame(spec, o)
	if err != nil {
		return nil, err
	}
	return poolGame{g, p.Pool}, nil
}

// errNotPondered: what the opponent will do in an opening procedure is not
// foreseen.
var errNotPondered = errors.New("an opening procedure is not pondered on")

// Think implements Game.
func (p poolGame) Think(t Task) (Thought, error) {
	if t.Ponder && opening.Running(t.Position) {
		return nil, errNotPondered
	}
	r := engine.Request{
		Game: p.Game, Position: t.Position, Ponder: t.Ponder,
		Limits: search.Limits{Nodes: t.Nodes, Threads: t.Threads},
	}
	if !t.Ponder {
		c := engine.Clock(t.Clock)
		r.Clock = &c
	}
	if watch := t.Watch; watch != nil {
		r.Watch = func(i search.Info) { watch(fromInfo(i)) }
	}
	thought, err := p.pool.Think(r)
	if err != nil {
		return nil, err
	}
	return poolThought{thought}, nil
}

type poolThought struct{ *engine.Thought }

func (t poolThought) PonderHit(c Clock) {
	ec := engine.Clock(c)
	t.Thought.PonderHit(&ec)
}

func (t poolThought) Wait() (Result, error) {
	r, err := t.Thought.Wait()
	return Result{
		Move: r.Move, Ponder: r.Ponder, Score: int(r.Score), WinProb: r.WinProb, Depth: r.Depth, SelDepth: r.SelDepth,
		Nodes: r.Nodes, Time: r.Time, PV: r.PV, Source: r.Source,
		Resign: r.Resign, OfferDraw: r.OfferDraw,
	}, err
}

func fromInfo(i search.Info) Result {
	r := Result{
		Score: int(i.Score), WinProb: i.WinProb, Depth: i.Depth, SelDepth: i.SelDepth,
		Nodes: i.Nodes, Time: i.Time, PV: i.PV, Source: search.FromSearch,
	}
	if len(i.PV) > 0 {
		r.Move = i.PV[0]
	}
	return r
}
