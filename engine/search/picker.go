package search

import (
	"math"

	"sparring/game"
)

// picker gives a node's moves one at a time, the promising first: the hash
// move, the game's first batch, the refutations known from elsewhere
// (killers), then batch after batch. Within a batch moves are ordered by the
// game's own score and the history's. The first that refutes ends the work, so
// nothing is generated or sorted before it is needed.
type picker struct {
	cursor  Cursor
	buf     []ScoredMove
	batch   []ScoredMove // what is left of the current batch
	picked  int          // from batches
	hash    game.Move
	refutes [3]game.Move // not yet tried; NoMove where none
	tried   [4]game.Move // given before their batch came
	nTried  int
	found   ScoredMove // by lookup
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

// next is the next move, nil at the end. It stays as it is until next is
// called again.
func (p *picker) next(pos Position) *ScoredMove {
	if p.stage == pickHash {
		p.stage = pickFirst
		if e := p.lookup(pos, p.hash); e != nil && p.wants(e) {
			return e
		}
	}
	for {
		if len(p.batch) > 0 {
			return p.best()
		}
		if p.stage == pickEnd {
			return nil
		}
		if p.stage == pickBatch {
			for i, m := range p.refutes {
				p.refutes[i] = game.NoMove
				if e := p.lookup(pos, m); e != nil && p.wants(e) {
					return e
				}
			}
		}
		if !p.fetch(pos) {
			p.stage = pickEnd
		}
	}
}

// wants reports whether a move from elsewhere is of those that the picker
// gives.
func (p *picker) wants(e *ScoredMove) bool {
	return e.Noise != Quiet || p.cursor.Mode == All && (e.Forcing || !p.cursor.SkipQuiets)
}

// skipQuiets leaves out the quiet moves from here on, but for those that force.
func (p *picker) skipQuiets() {
	if !p.cursor.SkipQuiets {
		p.cursor.SkipQuiets = true
		p.batch = lively(p.batch)
	}
}

// lively keeps the moves that are noisy or force.
func lively(batch []ScoredMove) []ScoredMove {
	keep := batch[:0]
	for i := range batch {
		if batch[i].Noise != Quiet || batch[i].Forcing {
			keep = append(keep, batch[i])
		}
	}
	return keep
}

// lookup finds a move of another origin here, unless it was given already.
func (p *picker) lookup(pos Position, m game.Move) *ScoredMove {
	if m == game.NoMove || p.given(m) {
		return nil
	}
	var ok bool
	if p.found, ok = pos.Find(m); !ok {
		return nil
	}
	p.tried[p.nTried] = m
	p.nTried++
	return &p.found
}

func (p *picker) given(m game.Move) bool {
	for _, t := range p.tried[:p.nTried] {
		if t == m {
			return true
		}
	}
	return false
}

// fetch gets the next batch, scores it, and drops what was given before.
func (p *picker) fetch(pos Position) bool {
	p.buf = pos.Moves(p.buf[:0], &p.cursor)
	batch := p.buf
	if p.nTried > 0 {
		batch = p.without(batch)
	}
	if p.scored != nil {
		p.scored.score(batch, p.ply)
	}
	if p.stage == pickFirst {
		p.liftKillers(batch)
	}
	if p.cursor.SkipQuiets {
		batch = lively(batch)
	}
	p.stage = pickBatch
	p.batch = batch
	return len(p.buf) > 0
}

// without drops what was given before.
func (p *picker) without(batch []ScoredMove) []ScoredMove {
	for i := range batch {
		if p.given(batch[i].Move) {
			keep := batch[:i]
			for _, e := range batch[i+1:] {
				if !p.given(e.Move) {
					keep = append(keep, e)
				}
			}
			return keep
		}
	}
	return batch
}

// liftKillers gives the refutations that are in the first batch their bonus.
func (p *picker) liftKillers(batch []ScoredMove) {
	for i, m := range p.refutes {
		if m == game.NoMove {
			continue
		}
		for j := range batch {
			if batch[j].Move == m {
				batch[j].Order += killerBonus
				p.refutes[i] = game.NoMove
			}
		}
	}
}

// best takes the best move left in the batch, the first of equals, or after
// enough picks just the first.
func (p *picker) best() *ScoredMove {
	batch := p.batch
	if p.picked < sortedPicks {
		// Order and place in one number, so that a comparison is no branch
		// that the processor has to guess.
		top := int64(math.MinInt64)
		for i := range batch {
			top = max(top, int64(batch[i].Order)<<32-int64(i))
		}
		if at := uint32(-top); at > 0 {
			batch[0], batch[at] = batch[at], batch[0]
		}
	}
	p.picked++
	p.batch = batch[1:]
	return &batch[0]
}
