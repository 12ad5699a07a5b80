package search

import (
	"math"

	"sparring/game"
)

// picker is a staged move picker. It gives the hash move, the game's first
// batch, killers and counter move, then the other batches. Within a batch moves
// are ordered by the game's score and history. Nothing is generated or sorted
// before it is needed, since a cutoff may come first.
type picker struct {
	cursor  Cursor
	buf     []ScoredMove
	batch   []ScoredMove // what is left of the current batch
	picked  int          // from batches
	sorted  int          // the picks that look for the best move left (Params.SortedPicks)
	hash    game.Move
	killers [3]game.Move // two killers and the counter move; NoMove where none is left
	given   [4]game.Move // moves given before their batch
	nGiven  int
	found   [1]ScoredMove // result of find
	stage   uint8
	history *worker // orders quiet moves by its history; nil for the game's order alone
	ply     int

	// With policy the picker keeps the greatest Order of the hash move and the
	// first batch, with history but without the killers' bonus, and moves that
	// are found have history in their Order, too.
	policy    bool
	bestOrder int64 // or noOrder
}

// noOrder stands for an Order that is not known. It is below all others.
const noOrder int64 = math.MinInt32

// The stages of a picker.
const (
	pickHash uint8 = iota
	pickFirst
	pickBatch
	pickEnd
)

// killerBonus gives a killer in the first batch the best history score.
const killerBonus = historyMax

// open starts a run through a node's moves.
func (p *picker) open(mode Mode, hash game.Move, sorted int) {
	*p = picker{buf: p.buf, cursor: Cursor{Mode: mode}, hash: hash, sorted: sorted, bestOrder: noOrder}
}

// next returns the next move, nil at the end. It is valid until the next call.
func (p *picker) next(pos Position) *ScoredMove {
	if p.stage == pickHash {
		p.stage = pickFirst
		if e := p.find(pos, p.hash); e != nil && p.wants(e) {
			if p.policy {
				p.bestOrder = int64(e.Order)
			}
			return e
		}
	}
	for {
		if len(p.batch) > 0 {
			return p.pickBest()
		}
		if p.stage == pickEnd {
			return nil
		}
		if p.stage == pickBatch {
			for i, m := range p.killers {
				p.killers[i] = game.NoMove
				if e := p.find(pos, m); e != nil && p.wants(e) {
					return e
				}
			}
		}
		if !p.nextBatch(pos) {
			p.stage = pickEnd
		}
	}
}

// wants reports whether the picker gives moves of this kind.
func (p *picker) wants(e *ScoredMove) bool {
	return e.Noise != Quiet || p.cursor.Mode == All && (e.Forcing || !p.cursor.SkipQuiets)
}

// skipQuiets makes the picker skip quiet moves from here on, except Forcing
// ones.
func (p *picker) skipQuiets() {
	if !p.cursor.SkipQuiets {
		p.cursor.SkipQuiets = true
		p.batch = dropQuiets(p.batch)
	}
}

// dropQuiets removes the quiet moves that are not Forcing.
func dropQuiets(batch []ScoredMove) []ScoredMove {
	keep := batch[:0]
	for i := range batch {
		if batch[i].Noise != Quiet || batch[i].Forcing {
			keep = append(keep, batch[i])
		}
	}
	return keep
}

// find looks up a hash move or killer at this node. It is nil if the move is
// not one of the node's or was given before.
func (p *picker) find(pos Position, m game.Move) *ScoredMove {
	if m == game.NoMove || p.wasGiven(m) {
		return nil
	}
	var ok bool
	if p.found[0], ok = pos.Find(m); !ok {
		return nil
	}
	if p.policy && p.history != nil {
		p.history.addHistoryTo(p.found[:], p.ply)
	}
	p.given[p.nGiven] = m
	p.nGiven++
	return &p.found[0]
}

// inOrder reports whether m, the move given last, is the best of what is left of
// its batch, so that later moves are worse.
func (p *picker) inOrder(m *ScoredMove) bool {
	return m != &p.found[0] && p.picked <= p.sorted
}

func (p *picker) wasGiven(m game.Move) bool {
	for _, t := range p.given[:p.nGiven] {
		if t == m {
			return true
		}
	}
	return false
}

// nextBatch gets the next batch and scores it. False is the end.
func (p *picker) nextBatch(pos Position) bool {
	p.buf = pos.Moves(p.buf[:0], &p.cursor)
	batch := p.buf
	if p.nGiven > 0 {
		batch = p.dropGiven(batch)
	}
	if p.history != nil {
		p.history.addHistoryTo(batch, p.ply)
	}
	if p.stage == pickFirst {
		if p.policy {
			for i := range batch {
				p.bestOrder = max(p.bestOrder, int64(batch[i].Order))
			}
		}
		p.boostKillers(batch)
	}
	if p.cursor.SkipQuiets {
		batch = dropQuiets(batch)
	}
	p.stage = pickBatch
	p.batch = batch
	return len(p.buf) > 0
}

// dropGiven removes moves that were given before.
func (p *picker) dropGiven(batch []ScoredMove) []ScoredMove {
	for i := range batch {
		if p.wasGiven(batch[i].Move) {
			keep := batch[:i]
			for _, e := range batch[i+1:] {
				if !p.wasGiven(e.Move) {
					keep = append(keep, e)
				}
			}
			return keep
		}
	}
	return batch
}

// boostKillers gives the killers that are in the first batch their bonus.
func (p *picker) boostKillers(batch []ScoredMove) {
	for i, m := range p.killers {
		if m == game.NoMove {
			continue
		}
		for j := range batch {
			if batch[j].Move == m {
				batch[j].Order += killerBonus
				p.killers[i] = game.NoMove
			}
		}
	}
}

// pickBest takes the best move left in the batch, the first of equals, or after the
// sorted picks just the first.
func (p *picker) pickBest() *ScoredMove {
	batch := p.batch
	if p.picked < p.sorted {
		// Order and index are combined in one number, so that the loop needs no
		// unpredictable branch.
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
