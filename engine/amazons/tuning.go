package amazons

import (
	"fmt"
	"slices"

	rules "sparring/game/amazons"

	"sparring/engine/adapter"
	"sparring/game"
)

// Linear presents the learnt evaluation as a linear function of its weights, for
// fitting them. It is safe for concurrent use.
type Linear struct {
	adapter.Parameters
	board learntBoard
}

// NewLinear returns the evaluation for a size of the board, with the weights of the
// paper's table 1. The error is for a size that has no weights of its own.
func NewLinear(rules string) (*Linear, error) {
	i, err := boardNamed(rules)
	if err != nil {
		return nil, err
	}
	return &Linear{adapter.ParametersOf(initialWeights().parameters()), learntBoards[i]}, nil
}

// Fits reports whether the rules are those of the board that the weights are for.
func (l *Linear) Fits(r *game.Rules) bool { return r.Name == rules.Name+"/"+l.board.String() }

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
	start := l.Start()
	for i, times := range to {
		worth += times * start[i]
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
		alone := g.alone(own, regions[side^1])
		n[aloneAt+side*(maxAlone+1)+min(alone.Count(), maxAlone)] = 1
		n[defectAt+side] = float64(p.defects(alone))
		least := uint8(maxMoves - 1)
		for !own.Empty() {
			at := own.Pop()
			least = min(least, f.moves[at])
			byMoves(movesAt, f.moves[at])
			n[libertiesAt+side*(maxLiberties+1)+g.near[at].And(free).Count()]++
		}
		byMoves(leastAt, least)
	}
	n[tempoAt] = 1
	return n
}

// Choices presents the order of moves as a policy, for fitting its weights to chosen
// moves. It is safe for concurrent use.
type Choices struct {
	adapter.Parameters
	shared [][]adapter.Term
	// probes have a single nonzero weight each, 1.
	probes []*orderWeights
	// Numbers of weights.
	eval, cut, distance int32
}

// NewChoices returns the policy. It is one for all sizes of the board.
func NewChoices() *Choices {
	c := &Choices{}
	var none orderWeights
	parameters := none.parameters()
	c.Parameters = adapter.ParametersOf(parameters)
	for i, w := range parameters {
		probe := new(orderWeights)
		*probe.parameters()[i].Value = 1
		c.probes = append(c.probes, probe)
		switch w.Value {
		case &none.eval:
			c.eval = int32(i)
		case &none.cut:
			c.cut = int32(i)
		case &none.distance[0]:
			c.distance = int32(i)
		}
	}
	for distance := range int32(len(none.distance)) {
		for cut := range int32(longestFlight) {
			c.shared = append(c.shared, []adapter.Term{{Weight: c.distance + distance, By: 1}, {Weight: c.cut, By: float32(-1 - cut)}})
		}
	}
	return c
}

// longestFlight is the number of squares that an arrow flies at most.
const longestFlight = 15

// flight returns the feature of an arrow that flies so far and takes so much from the
// reach of its own amazon.
func flight(distance, cut int) int32 {
	return int32((min(distance, len(orderWeights{}.distance))-1)*longestFlight + cut - 1)
}

// Fits reports whether the rules are those of Amazons, on any board.
func (c *Choices) Fits(r *game.Rules) bool { return r.Game == rules.Name }

// Features returns the terms of the features that all positions share: how far an arrow
// flies, and what it takes from its own amazon.
func (c *Choices) Features() [][]adapter.Term { return c.shared }

// Choice returns the features of each legal move: its step, its amazon with the square
// of the arrow, and the flight of that; and which of the moves is m. Ok is false where
// the game is decided, or m is the only move or no move.
func (c *Choices) Choice(g game.Position, m game.Move) (out adapter.Choice, ok bool, err error) {
	s, err := New(g)
	if err != nil {
		return out, false, err
	}
	p := s.(*position)
	if n := p.Enter(); n.Over || n.Provable {
		return out, false, nil
	}
	o, now := p.withSteps(), p.Eval()
	steps := slices.Clone(o.steps)
	arrows := c.arrowFeatures(p, &out)
	out.PerMove, out.Chosen = 3, -1
	for i := range steps {
		s := steps[i].step()
		gain := float32(p.evalAfter(&s)-int32(now)) / square
		step := c.own(&out, []adapter.Term{{Weight: c.eval, By: gain}})
		from := p.geo.pad(s.to)
		for d := range directions {
			n := o.arrowReach(p.geo, &s, d)
			at := from
			for distance := 1; distance <= n; distance++ {
				at += p.geo.offset[d]
				arrow := p.geo.square[at]
				if rules.NewMove(s.from, s.to, arrow) == m {
					out.Chosen = out.Len()
				}
				out.Moves = append(out.Moves, step, arrows[s.mover][arrow], flight(distance, n-distance+1))
			}
		}
	}
	return out, out.Chosen >= 0 && out.Len() > 1, nil
}

// own adds a feature of a position and returns its number.
func (c *Choices) own(to *adapter.Choice, terms []adapter.Term) int32 {
	to.Features = append(to.Features, terms)
	return int32(len(c.shared) + len(to.Features) - 1)
}

// arrowFeatures adds the features of the arrows that fly to each square after a step of
// each own amazon, and returns their numbers.
func (c *Choices) arrowFeatures(p *position, to *adapter.Choice) (numbers [][maxSquares]int32) {
	o := p.withEffects()
	terms := make([][maxSquares][]adapter.Term, len(o.movers))
	numbers = make([][maxSquares]int32, len(o.movers))
	for i, probe := range c.probes {
		p.order, o.known = probe, false
		p.withEffects()
		for mover := range o.movers {
			q := &o.movers[mover]
			for set := p.board.Free().Or(rules.Bit(q.at)); !set.Empty(); {
				s := set.Pop()
				if by := o.effects[s].arrow - q.own[s].arrow; by != 0 {
					terms[mover][s] = append(terms[mover][s], adapter.Term{Weight: int32(i), By: float32(by)})
				}
			}
		}
	}
	for mover := range terms {
		for s, list := range &terms[mover] {
			if list != nil {
				numbers[mover][s] = c.own(to, list)
			}
		}
	}
	return numbers
}
