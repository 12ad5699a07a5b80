package tablebase

import rules "sparring/game/xiangqi"

// placement is a position of a set for the solver: the squares of the men, by
// number and by kind. It is set up for each position and makes no moves, so it is
// much cheaper than a rules.Board.
type placement struct {
	at       squares
	piece    []rules.Piece
	occupied rules.Bits
	own      [2]rules.Bits // by colour
	of       [rules.Pieces]rules.Bits
}

// set puts the men on their squares; false if two share one.
func (p *placement) set(l *layout) bool {
	p.piece = l.piece
	p.own, p.of = [2]rules.Bits{}, [rules.Pieces]rules.Bits{}
	for i, piece := range l.piece {
		s := rules.Only(p.at[i])
		p.of[piece&15] = p.of[piece&15].Or(s)
		p.own[piece.Colour()] = p.own[piece.Colour()].Or(s)
	}
	p.occupied = p.own[rules.Red].Or(p.own[rules.Black])
	return p.occupied.Count() == len(l.piece)
}

// attacked reports whether c's king on the square is attacked or faces the other
// king, with the given occupied squares and without the men on taken.
func (p *placement) attacked(c rules.Colour, king rules.Square, occupied, taken rules.Bits) bool {
	them := c.Other()
	of := func(k rules.Kind) rules.Bits { return p.of[rules.MakePiece(them, k)&15].Without(taken) }
	rook, cannon := rules.LineAttacks(king, occupied)
	return rook.Meets(of(rules.Rook).Or(of(rules.King))) ||
		cannon.Meets(of(rules.Cannon)) ||
		rules.HorseSources(king, occupied).Meets(of(rules.Horse)) ||
		rules.PawnSources(them, king).Meets(of(rules.Pawn))
}

// targets returns the squares that man i may move to, before its king is checked.
func (p *placement) targets(i int) rules.Bits {
	piece, from := p.piece[i], p.at[i]
	t := rules.Attacks(piece, from, p.occupied)
	if piece.Kind() == rules.Cannon { // it captures differently
		t = t.And(p.occupied).Or(rules.RookAttacks(from, p.occupied).Without(p.occupied))
	}
	return t.Without(p.own[piece.Colour()])
}

// sources returns the squares that man i may have come from by a quiet move.
func (p *placement) sources(i int) rules.Bits {
	piece, to := p.piece[i], p.at[i]
	var from rules.Bits
	switch piece.Kind() {
	case rules.Rook, rules.Cannon:
		from = rules.RookAttacks(to, p.occupied)
	case rules.Horse:
		from = rules.HorseSources(to, p.occupied)
	case rules.Pawn:
		from = rules.PawnSources(piece.Colour(), to)
	default: // kings, advisors and elephants move back the same way
		from = rules.Attacks(piece, to, p.occupied)
	}
	return from.Without(p.occupied)
}

// legal reports whether man i may move to the square without leaving its king
// attacked.
func (p *placement) legal(i int, to rules.Square) bool {
	c := p.piece[i].Colour()
	target := rules.Only(to)
	king := p.at[c]
	if i == int(c) {
		king = to
	}
	return !p.attacked(c, king, p.occupied.Without(rules.Only(p.at[i])).Or(target), target)
}
