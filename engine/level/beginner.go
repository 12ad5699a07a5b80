package level

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/amazons"
	"sparring/game/gomoku"
	"sparring/game/xiangqi"
)

// Beginner is a scripted player that looks one ply ahead, the fixed point that
// the levels of a game are measured against. It wins at once where it can, else
// it plays one of the moves that look best to it:
//
//   - Xiangqi: it takes the most valuable piece it can win, and does not move a
//     piece to where it can be taken;
//   - Gomoku: it stops a four, else extends its longest row;
//   - Amazons: it leaves itself the most squares to go to, and the other side
//     the fewest.
//
// It knows nothing of the engine. Of the limits it heeds Moves, Seed and Wait.
type Beginner struct {
	game  string
	worth func(p game.Position) func(m game.Move) int
}

// NewBeginner makes the scripted player of a game; the error wraps
// game.ErrRules for a game that has none.
func NewBeginner(gameName string) (*Beginner, error) {
	worth, ok := map[string]func(game.Position) func(game.Move) int{
		"xiangqi": capturing, "gomoku": lengthening, "amazons": spreading,
	}[gameName]
	if !ok {
		return nil, fmt.Errorf("%w: no beginner for game %.40q", game.ErrRules, gameName)
	}
	return &Beginner{gameName, worth}, nil
}

// Search implements engine.Searcher.
func (b *Beginner) Search(p game.Position, l search.Limits, _ func(search.Info)) (engine.Running, error) {
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
	m := b.pick(p.Clone(), moves, lots(p, l.Seed))
	r := &ready{done: make(chan struct{}), result: search.Result{Move: m, WinProb: 0.5, Depth: 1, Nodes: uint64(len(moves)),
		PV: []game.Move{m}, Source: search.FromSearch, Time: time.Since(began)}}
	if !l.Wait {
		r.Stop()
	}
	return r, nil
}

func (b *Beginner) pick(p game.Position, moves []game.Move, rng *rand.Rand) game.Move {
	if win := winning(p, moves); win != game.NoMove {
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
	done   chan struct{}
	once   sync.Once
	result search.Result
}

func (r *ready) Stop() { r.once.Do(func() { close(r.done) }) }
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

// pieceWorth is what every beginner is taught, in halves of a pawn.
var pieceWorth = [xiangqi.Kinds]int{
	xiangqi.King: 100, xiangqi.Advisor: 4, xiangqi.Elephant: 4, xiangqi.Horse: 8, xiangqi.Rook: 18, xiangqi.Cannon: 9, xiangqi.Pawn: 2,
}

// capturing: a move is worth what it takes, less the piece that moves where
// that can be taken.
func capturing(p game.Position) func(game.Move) int {
	b := p.(*xiangqi.Position).Board()
	me := b.Side()
	return func(m game.Move) int {
		from, to := xiangqi.From(m), xiangqi.To(m)
		worth := pieceWorth[b.At(to).Kind()]
		occupied := b.Occupied().Without(xiangqi.Only(from)).Or(xiangqi.Only(to))
		if b.AttackersTo(to, occupied).And(b.All(me.Other())).Without(xiangqi.Only(to)).Any() {
			worth -= pieceWorth[b.At(from).Kind()]
		}
		return worth
	}
}

// lengthening: a stone is worth the row it makes; what would be five for the
// other side comes before all rows.
func lengthening(p game.Position) func(game.Move) int {
	g := p.(*gomoku.Position)
	b, set := g.Board(), g.Set()
	forbidden := g.Forbidden()
	kind := func(at gomoku.Point, c gomoku.Colour) (longest gomoku.Kind) {
		t := gomoku.TableOf(set.Line(c))
		for d := range gomoku.Direction(gomoku.Directions) {
			longest = max(longest, t.Kind(b.Window(at, d), c))
		}
		return longest
	}
	return func(m game.Move) int {
		at, ok := b.MovePoint(m)
		switch {
		case !ok || slices.ContainsFunc(forbidden, func(f game.ForbiddenPoint) bool { return f.Point == p.Format(m) }):
			return -1
		case kind(at, g.ToMove().Other()) == gomoku.FiveRow:
			return int(gomoku.Kinds)
		}
		return int(kind(at, g.ToMove()))
	}
}

// spreading: a move is worth the squares that each of the own amazons can go
// to after it, less those of the other side's.
func spreading(p game.Position) func(game.Move) int {
	board := p.(*amazons.Position).Board()
	me := board.Turn()
	return func(m game.Move) int {
		b := board
		b.Do(m)
		worth := 0
		for seat, sign := range map[game.Seat]int{me: 1, me.Other(): -1} {
			for set := b.Amazons(seat); !set.Empty(); {
				worth += sign * b.Reach(amazons.Bit(set.Pop())).Count()
			}
		}
		return worth
	}
}
