package amazons

import (
	"fmt"

	rules "sparring/game/amazons"

	"sparring/game"
)

// Linear presents the learnt evaluation as a linear function of its weights, for
// fitting them. It is safe for concurrent use.
type Linear struct {
	board learntBoard
	names []string
	start []float64
}

// NewLinear returns the evaluation for a size of the board, with the weights of the
// paper's table 1. The error is for a size that has no weights of its own.
func NewLinear(rules string) (*Linear, error) {
	i, err := boardNamed(rules)
	if err != nil {
		return nil, err
	}
	l := &Linear{board: learntBoards[i]}
	for _, w := range initialWeights().parameters() {
		l.names = append(l.names, w.Name)
		l.start = append(l.start, float64(*w.Value))
	}
	return l, nil
}

// Names returns the names of the weights, as in a weights file. All slices that
// Linear fills are in this order.
func (l *Linear) Names() []string { return l.names }

// Start returns the weights from which tuning starts.
func (l *Linear) Start() []float64 { return l.start }

// Coefficients stores the coefficients of a position in to, whose length is that of
// Names, and returns the evaluation with the weights of Start, both for the side to
// move. Where the board is divided so far that the prover decides, it returns with quiet
// false. It returns an error for a position of another game or size.
func (l *Linear) Coefficients(g game.Position, to []float64) (worth float64, quiet bool, err error) {
	s, err := New(g)
	if err != nil {
		return 0, false, err
	}
	p := s.(*position)
	if size := (learntBoard{p.geo.cols, p.geo.rows}); size != l.board {
		return 0, false, fmt.Errorf("engine/amazons: a game on %v, want %v", size, l.board)
	}
	if n := p.Enter(); n.Over || n.Provable {
		return 0, false, nil
	}
	count := p.count()
	clear(to)
	stage, next := stageAt(p.arrows(), p.squaresToFill)
	for i, n := range count {
		to[stage*counted+i] = n * (1 - next) / evalUnit
		to[(stage+1)*counted+i] = n * next / evalUnit
	}
	for i, times := range to {
		worth += times * l.start[i]
	}
	return worth, true, nil
}

// Captures reports whether a move takes a piece, which none does.
func (l *Linear) Captures(game.Position, game.Move) bool { return false }

// count returns what the learnt evaluation counts.
func (p *position) count() (n [counted]float64) {
	b, f, g := &p.board, p.currentFrame(), p.geo
	turn, free := b.Turn(), b.Free()
	amazons := [2]rules.Bits{b.Amazons(turn), b.Amazons(turn.Other())}
	var king, queen fronts128
	var regions [2]rules.Bits
	regions[0], regions[1] = kingFronts128(&g.slides, free, amazons[0], amazons[1], &king)
	queenFronts128(&g.slides, free, f.reach[turn], f.reach[turn.Other()], regions, &queen)
	for i := range classes {
		for j := range classes {
			n[i*classes+j] = float64(queen[0][i].And(queen[1][j]).Count())
			n[kingAt+i*classes+j] = float64(king[0][i].And(king[1][j]).Count())
		}
	}
	for side, own := range amazons {
		byMoves := func(at int, moves uint8) {
			knot, next := knotAt(int(moves))
			at += side*len(moveKnots) + knot
			n[at] += 1 - next
			n[at+1] += next
		}
		n[aloneAt+side*(mostAlone+1)+min(g.alone(own, regions[side^1]), mostAlone)] = 1
		least := uint8(mostMoves - 1)
		for !own.Empty() {
			at := own.Pop()
			least = min(least, f.moves[at])
			byMoves(movesAt, f.moves[at])
			n[libertiesAt+side*(mostLiberties+1)+g.near[at].And(free).Count()]++
		}
		byMoves(leastAt, least)
	}
	n[tempoAt] = 1
	return n
}
