package xiangqi

import (
	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// The stages of a cursor: captures that don't lose the exchange, then quiet
// moves, then the other captures. In check all evasions come in one batch.
const (
	stageStart uint8 = iota
	stageQuiets
	stageBadCaptures
	stageEnd
)

// Moves implements search.Position. The cursor's Bits mark the captures that lose
// the exchange, in the order of generation, so that the last stage need not
// compute it again.
func (p *position) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	buf = buf[:0]
	b := p.board
	if c.Stage == stageStart && b.InCheck() {
		c.Stage = stageEnd
		return p.evasions(buf, c)
	}
	for len(buf) == 0 && c.Stage < stageEnd {
		switch c.Stage {
		case stageStart:
			buf = p.captures(buf, c)
			c.Stage = stageQuiets
			if c.Mode == search.Noisy {
				c.Stage = stageBadCaptures
			}
		case stageQuiets:
			buf = p.quiets(buf, c.SkipQuiets)
			c.Stage = stageBadCaptures
		case stageBadCaptures:
			buf = p.badCaptures(buf, c)
			c.Stage = stageEnd
		}
	}
	return buf
}

// quiets gives the quiet moves, or only those that give check.
func (p *position) quiets(buf []search.ScoredMove, checks bool) []search.ScoredMove {
	b := p.board
	checking := b.Checking()
	b.Reaches(&p.reaches, b.Empty())
	for i := range p.reaches.All() {
		r := &p.reaches.All()[i]
		targets, sure := checking.Targets(r.Piece, r.From)
		to := r.To
		if checks {
			to = to.And(targets)
		}
		for ; to.Any(); to = to.Rest() {
			at := to.First()
			m := rules.MakeMove(r.From, at)
			forces := targets.Has(at) && (sure || b.GivesCheck(m))
			if checks && !forces {
				continue
			}
			buf = append(buf, search.ScoredMove{Move: m, Order: p.gained(r.Piece, r.From, at),
				Forcing: forces, HistoryIndex: slots(r.Piece, r.From, at)})
		}
	}
	return buf
}

// evasions gives all moves out of check.
func (p *position) evasions(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	b := p.board
	want := b.All(b.Side().Other())
	if c.Mode != search.Noisy {
		want = want.Or(b.Empty())
	}
	b.Reaches(&p.reaches, want)
	for i := range p.reaches.All() {
		r := &p.reaches.All()[i]
		for to := r.To; to.Any(); to = to.Rest() {
			e := p.scoredMove(rules.MakeMove(r.From, to.First()))
			if c.VictimOrder && e.Noise == search.BadNoisy {
				e.Order += captureBase
			}
			buf = append(buf, e)
		}
	}
	return buf
}

// captures gives the captures that don't lose the exchange and marks the others.
func (p *position) captures(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	b := p.board
	b.Reaches(&p.reaches, b.All(b.Side().Other()))
	n := 0
	for i := range p.reaches.All() {
		r := &p.reaches.All()[i]
		for to := r.To; to.Any(); to = to.Rest() {
			e := p.scoredCapture(rules.MakeMove(r.From, to.First()))
			if c.VictimOrder && e.Noise == search.BadNoisy {
				e.Order += captureBase
				buf = append(buf, e)
			} else if e.Noise == search.GoodNoisy {
				buf = append(buf, e)
			} else {
				c.Bits[n>>6&1] |= 1 << (n & 63)
			}
			n++
		}
	}
	return buf
}

func (p *position) badCaptures(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	if c.Bits == [2]uint64{} {
		return buf
	}
	b := p.board
	b.Reaches(&p.reaches, b.All(b.Side().Other()))
	n := 0
	for i := range p.reaches.All() {
		r := &p.reaches.All()[i]
		for to := r.To; to.Any(); to = to.Rest() {
			if c.Bits[n>>6&1]>>(n&63)&1 != 0 {
				buf = append(buf, p.captureOf(rules.MakeMove(r.From, to.First()), search.BadNoisy))
			}
			n++
		}
	}
	return buf
}

// Find implements search.Position.
func (p *position) Find(m game.Move) (search.ScoredMove, bool) {
	if !p.board.IsLegal(m) {
		return search.ScoredMove{}, false
	}
	return p.scoredMove(m), true
}

func (p *position) scoredMove(m game.Move) search.ScoredMove {
	if p.board.At(rules.To(m)) != rules.NoPiece {
		return p.scoredCapture(m)
	}
	return p.scoredQuiet(m)
}

// slots returns the history slots: from-to and piece-to.
func slots(piece rules.Piece, from, to rules.Square) [2]uint16 {
	return [2]uint16{uint16(from)*rules.Squares + uint16(to), uint16(piece)*rules.Squares + uint16(to)}
}

// scoredQuiet orders a quiet move by what its square table gains; history
// soon outweighs it.
func (p *position) scoredQuiet(m game.Move) search.ScoredMove {
	from, to := rules.From(m), rules.To(m)
	piece := p.board.At(from)
	return search.ScoredMove{Move: m, Order: p.gained(piece, from, to),
		Forcing: p.board.GivesCheck(m), HistoryIndex: slots(piece, from, to)}
}

// gained returns what a piece's square table gains by a move.
func (p *position) gained(piece rules.Piece, from, to rules.Square) int32 {
	gain := p.eval.psqt[piece&15][to].mg - p.eval.psqt[piece&15][from].mg
	if piece.Colour() == rules.Black {
		return -gain
	}
	return gain
}

// scoredCapture tells by static exchange whether a capture is good.
func (p *position) scoredCapture(m game.Move) search.ScoredMove {
	noise := search.BadNoisy
	if p.SEE(m, 0) {
		noise = search.GoodNoisy
	}
	return p.captureOf(m, noise)
}

// captureBase lifts captures above the quiet moves of a batch of evasions.
const captureBase = 20000

// captureOf orders captures by the victim's value, the cheapest attacker first.
func (p *position) captureOf(m game.Move, noise search.Noise) search.ScoredMove {
	from, to := rules.From(m), rules.To(m)
	piece, victim := p.board.At(from), p.board.At(to)
	gain := pieceValue[victim.Kind()]
	order := gain*8 - pieceValue[piece.Kind()]/8
	if noise == search.GoodNoisy {
		order += captureBase
	}
	return search.ScoredMove{Move: m, Order: order, Noise: noise, Forcing: noise == search.BadNoisy && p.board.GivesCheck(m), CaptureSquare: uint16(to) + 1,
		Gain: search.Score(gain), HistoryIndex: slots(piece, from, to)}
}
