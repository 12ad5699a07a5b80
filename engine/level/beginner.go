package level

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// Beginner is a scripted player that looks one ply ahead, the fixed point that
// the levels of a game are measured against. It wins at once where it can, else
// it plays one of the moves that the game's adapter says a beginner likes best.
// It does not use the engine. Of the limits it observes Moves and Wait.
type Beginner struct {
	game  string
	worth func(p game.Position) func(m game.Move) int
}

// NewBeginner makes the scripted player of a game; the error wraps
// game.ErrRules for a game that has none.
func NewBeginner(gameName string) (*Beginner, error) {
	a, err := engine.Adapter(gameName)
	if err == nil && a.Beginner == nil {
		err = fmt.Errorf("%w: no beginner for game %s", game.ErrRules, gameName)
	}
	if err != nil {
		return nil, err
	}
	return &Beginner{gameName, a.Beginner}, nil
}

// NewGame implements engine.Searcher.
func (b *Beginner) NewGame(o engine.GameOptions) (engine.Game, error) {
	if o.Rules != nil && o.Rules.Game != b.game {
		return nil, fmt.Errorf("%w: a beginner of %s, not of %s", game.ErrRules, b.game, o.Rules.Game)
	}
	return &beginnerGame{Beginner: b, options: o, closed: make(chan struct{})}, nil
}

// Close implements engine.Searcher.
func (*Beginner) Close() error { return nil }

// beginnerGame is a game that the scripted player plays.
type beginnerGame struct {
	*Beginner
	options engine.GameOptions

	mu     sync.Mutex
	latest *ready        // nil at first
	closed chan struct{} // by Close
}

// Options implements engine.Game.
func (b *beginnerGame) Options() engine.GameOptions { return b.options }

// Ready implements engine.Game.
func (*beginnerGame) Ready() error { return nil }

// Describe implements engine.Game.
func (b *beginnerGame) Describe() engine.Description {
	return engine.Description{Name: "beginner", Build: engine.Build(), Seed: b.options.Seed, Reproducible: b.options.Reproducible}
}

// Close implements engine.Game.
func (b *beginnerGame) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isClosed() {
		close(b.closed)
	}
	if b.latest != nil {
		<-b.latest.done
	}
	return nil
}

func (b *beginnerGame) isClosed() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

// Search implements engine.Game.
func (b *beginnerGame) Search(p game.Position, l search.Limits, _ func(search.Info)) (engine.Running, error) {
	if err := engine.Searchable(p, l); err != nil {
		return nil, err
	}
	if p.Rules().Game != b.game {
		return nil, fmt.Errorf("beginner of %s: a position of %s", b.game, p.Rules().Name)
	}
	began := time.Now()
	moves := l.Moves
	if moves == nil {
		moves = p.Legal(nil)
	}
	m := b.pick(p.Clone(), moves, randFor(p, b.options.Seed))
	r := &ready{released: make(chan struct{}), done: make(chan struct{}), result: search.Result{Move: m, WinProb: 0.5, Depth: 1, Nodes: uint64(len(moves)),
		PV: []game.Move{m}, Source: search.FromSearch, Time: time.Since(began)}}
	if !l.Wait {
		r.Stop()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isClosed() {
		return nil, engine.ErrGameClosed
	}
	go r.answer(b.latest, b.closed)
	b.latest = r
	return r, nil
}

func (b *Beginner) pick(p game.Position, moves []game.Move, rng *rand.Rand) game.Move {
	if win := winningMove(p, moves); win != game.NoMove {
		return win
	}
	worth := b.worth(p)
	var best []game.Move
	most := 0
	for _, m := range moves {
		w := worth(m)
		if best == nil || w > most {
			best, most = best[:0], w
		}
		if w == most {
			best = append(best, m)
		}
	}
	return best[rng.IntN(len(best))]
}

// ready is a Running that has its answer, and gives it once it may.
type ready struct {
	released chan struct{} // closed when Limits.Wait no longer holds the answer back
	once     sync.Once     // closes released
	done     chan struct{}
	result   search.Result
}

// answer ends the search, after the game's earlier one (or nil), once it is
// released or the game is closed.
func (r *ready) answer(earlier *ready, closed <-chan struct{}) {
	if earlier != nil {
		<-earlier.done
	}
	select {
	case <-r.released:
	case <-closed:
	}
	close(r.done)
}

func (r *ready) Stop() { r.once.Do(func() { close(r.released) }) }
func (r *ready) PonderHit(l search.Limits) {
	if !l.Wait {
		r.Stop()
	}
}
func (*ready) Pause()                  {}
func (*ready) Resume()                 {}
func (r *ready) Done() <-chan struct{} { return r.done }
func (r *ready) Wait() search.Result {
	<-r.done
	return r.result
}
