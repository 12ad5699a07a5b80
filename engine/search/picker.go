package search

import "sparring/game"

// picker gives a node's moves one at a time, the promising first: the hash
// move, the game's first batch, the refutations known from elsewhere
// (killers), then batch after batch. Within a batch moves are ordered by the
// game's own score and the history's. The first that refutes ends the work, so
// nothing is generated or sorted before it is needed.
type picker struct {
	cursor  Cursor
	buf     []Entry
	batch   []Entry // what is left of the current batch
	picked  int     // from batches
	hash    game.Move
	refutes [3]game.Move // not yet tried; NoMove where none
	tried   [4]game.Move // given before their batch came
	nTried  int
	stage   uint8
	scored  *worker // orders quiet moves by its history; nil for the game's order alone
	ply     int
}

// The stages of a picker.
const (
	pickHash uint8 = iota
	pickFirst
	pickBatch
	pickEnd
)

// sortedPicks is how many picks look for the best move left: later ones hardly
// ever refute, and the search for them costs more than it gains.
const sortedPicks = 16

// killerBonus puts a killer that comes in the first batch on a level with the
// best history.
const killerBonus = historyMax

// open starts a picker for one run through a node's moves.
func (p *picker) open(mode Mode, hash game.Move) {
	*p = picker{buf: p.buf, cursor: Cursor{Mode: mode}, hash: hash}
}

// next is the next move; false at the end.
func (p *picker) next(pos Position) (Entry, bool) {
	if p.stage == pickHash {
		p.stage = pickFirst
		if e, ok := p.lookup(pos, p.hash); ok && (p.cursor.Mode == All || e.Noise > 0) {
			return e, true
		}
	}
	for {
		if len(p.batch) > 0 {
			return p.best(), true
		}
		if p.stage == pickEnd {
			return Entry{}, false
		}
		if p.stage == pickBatch {
			for i, m := range p.refutes {
				p.refutes[i] = game.NoMove
				if e, ok := p.lookup(pos, m); ok {
					return e, true
				}
			}
		}
		if !p.fetch(pos) {
			p.stage = pickEnd
		}
	}
}

// lookup finds a move of another origin here, unless it was given already.
func (p *picker) lookup(pos Position, m game.Move) (Entry, bool) {
	if m == game.NoMove || p.given(m) {
		return Entry{}, false
	}
	e, ok := pos.Find(m)
	if ok {
		p.tried[p.nTried] = m
		p.nTried++
	}
	return e, ok
}

func (p *picker) given(m game.Move) bool {
	for _, t := range p.tried[:p.nTried] {
		if t == m {
			return true
		}
	}
	return false
}

// fetch gets the next batch, drops what was given before, and scores the rest.
func (p *picker) fetch(pos Position) bool {
	all := pos.Moves(p.buf[:0], &p.cursor)
	p.buf = all
	first := p.stage == pickFirst
	p.stage = pickBatch
	keep := all[:0]
	for _, e := range all {
		if p.nTried > 0 && p.given(e.Move) {
			continue
		}
		if p.scored != nil {
			e.Order += p.scored.orderBonus(p.ply, &e)
		}
		if first {
			for i, m := range p.refutes {
				if m == e.Move {
					e.Order += killerBonus
					p.refutes[i] = game.NoMove
				}
			}
		}
		keep = append(keep, e)
	}
	p.batch = keep
	return len(all) > 0
}

// best takes the best move left in the batch, or after enough picks just the
// first.
func (p *picker) best() Entry {
	at := 0
	if p.picked < sortedPicks {
		for i := range p.batch {
			if p.batch[i].Order > p.batch[at].Order {
				at = i
			}
		}
	}
	p.picked++
	e := p.batch[at]
	p.batch[at] = p.batch[0]
	p.batch = p.batch[1:]
	return e
}
