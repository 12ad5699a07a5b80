package xiangqi

import (
	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// Tables are endgame tables: the results of positions with few men if both sides
// play best. Their methods may be called by several goroutines at once.
type Tables interface {
	// Men returns the largest number of men, kings included, in any table.
	Men() int
	// Probe returns the number of plies to the end of the game: odd if the side to
	// move wins, even if it loses, negative if neither can force a mate. It
	// ignores repetitions and the move limit. Ok is false if no table has the
	// position.
	Probe(b *rules.Board) (distance int, ok bool)
	// Line returns the best play from a won or lost position, at most so many plies.
	Line(b *rules.Board, plies int) []game.Move
}

// Probing is New for an engine that has endgame tables.
func Probing(t Tables) func(game.Position) (search.Position, error) {
	return func(g game.Position) (search.Position, error) {
		s, err := New(g)
		if err != nil {
			return nil, err
		}
		p := s.(*position)
		p.tables, p.past = t, pastOf(p.board, t)
		return p, nil
	}
}

// past is the part of the game before the search that matters for tables. A
// table's win never repeats a position, but it may lead through one that has
// occurred in the game: if that has occurred twice, the rules end the game at the
// next occurrence, with a result by repetition.
type past struct {
	men int // of the root; a position with fewer follows a capture and can't repeat
	// occurred has the distances of the won and lost positions since the last
	// capture before the root; twice is the smallest one of those that occurred
	// twice.
	occurred map[uint64]int
	twice    int
}

// far is longer than any distance.
const far = 1 << 10

func pastOf(b *rules.Board, t Tables) past {
	p := past{men: b.Occupied().Count(), twice: far}
	if p.men > t.Men() {
		return p
	}
	p.occurred = map[uint64]int{}
	b = b.Clone()
	for {
		if d, ok := t.Probe(b); ok && d >= 0 {
			if _, again := p.occurred[b.Key()]; again {
				p.twice = min(p.twice, d)
			}
			p.occurred[b.Key()] = d
		}
		if st := b.State(); st.Captured != rules.NoPiece || len(b.States()) == 1 {
			return p
		}
		b.Undo()
	}
}

// certain reports whether a table's distance is true in this game: the move limit
// leaves enough plies, and the way to the end leads through no position that has
// occurred twice.
func (p *position) certain(distance int) bool {
	b := p.board
	if limit := p.rules.Limit(); limit > 0 && int(b.State().Quiet)+distance > limit {
		return false
	}
	if b.Occupied().Count() < p.past.men {
		return true
	}
	if p.past.occurred == nil {
		return false // the table was added after the search had begun
	}
	// A position may also have occurred once in the game and once in the search.
	states := b.States()
	for i := len(states) - 1; i >= p.root; i-- {
		if d, ok := p.past.occurred[states[i].Key]; ok && d < distance {
			return false
		}
	}
	return p.past.twice >= distance
}

// probeNode ends a node that is won or lost by the tables. If neither side can
// force a mate it continues, because the repetition rules may still decide.
func (p *position) probeNode(node *search.Node) {
	if node.Over || p.board.Occupied().Count() > p.tables.Men() {
		return
	}
	d, ok := p.tables.Probe(p.board)
	if !ok || d < 0 || !p.certain(d) {
		return
	}
	node.Over, node.Verdict = true, -search.Win+search.Score(d)
	if d%2 != 0 {
		node.Verdict = search.Win - search.Score(d)
	}
}

// lookUp returns the whole line to the end from the tables, for the root of a search.
// Within the search Enter probes them.
func (p *position) lookUp() (search.Proof, bool) {
	if p.tables == nil {
		return search.Proof{}, false
	}
	var node search.Node
	if p.probeNode(&node); !node.Over {
		return search.Proof{}, false
	}
	return search.Proof{Score: node.Verdict, Line: p.tables.Line(p.board, search.MaxPly), Kind: "tablebase"}, true
}

// unforced divides the evaluation of a position that neither side can win by
// force. It is not 0, so that the better side still tries to win.
const unforced = 16

// tempered returns an evaluation, reduced if the tables say that nobody can force a
// win.
func (p *position) tempered(eval search.Score) search.Score {
	if p.tables == nil || p.board.Occupied().Count() > p.tables.Men() {
		return eval
	}
	if d, ok := p.tables.Probe(p.board); ok && d < 0 {
		return eval / unforced
	}
	return eval
}
