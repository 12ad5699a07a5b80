package xiangqi

import (
	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// Tables are endgame tables: they know how positions with few men end when
// both sides play their best. They are asked by several goroutines at once.
type Tables interface {
	// Men is the largest number of men, kings included, that there is
	// anything to ask about.
	Men() int
	// Probe is how many plies a position is from its end: odd when the side
	// to move wins, even when it loses, negative when neither can force a
	// mate. It knows nothing of repetitions and the move limit. Ok is false
	// for a position that it does not have.
	Probe(b *rules.Board) (distance int, ok bool)
	// Line is how a decided position goes on, for at most so many plies.
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

// past is what a search must know of the game before it to trust a table. A
// table's win never needs a position twice, but it may need one that the game
// has seen: if that has stood twice, the rules end the game when it comes
// again, and judge it by the repetition.
type past struct {
	men int // of the root; fewer were reached by a capture, and nothing stood before
	// stood has the distances of the decided positions since the last capture
	// before the root; twice is the least distance of those that stood twice.
	stood map[uint64]int
	twice int
}

// far is longer than any distance.
const far = 1 << 10

func pastOf(b *rules.Board, t Tables) past {
	p := past{men: b.Occupied().Count(), twice: far}
	if p.men > t.Men() {
		return p
	}
	p.stood = map[uint64]int{}
	b = b.Clone()
	for {
		if d, ok := t.Probe(b); ok && d >= 0 {
			if _, again := p.stood[b.Key()]; again {
				p.twice = min(p.twice, d)
			}
			p.stood[b.Key()] = d
		}
		if st := b.State(); st.Captured != rules.NoPiece || len(b.States()) == 1 {
			return p
		}
		b.Undo()
	}
}

// certain reports whether a table's distance holds in the game that led here:
// there is time before the move limit, and the way to the end leads through no
// position that has stood twice.
func (p *position) certain(distance int) bool {
	b := p.board
	if limit := p.rules.Limit(); limit > 0 && int(b.State().Quiet)+distance > limit {
		return false
	}
	if b.Occupied().Count() < p.past.men {
		return true
	}
	if p.past.stood == nil {
		return false // the table came after the search had begun
	}
	// What stood in the game and again on the line of the search counts too.
	states := b.States()
	for i := len(states) - 1; i >= p.root; i-- {
		if d, ok := p.past.stood[states[i].Key]; ok && d < distance {
			return false
		}
	}
	return p.past.twice >= distance
}

// settle ends a node whose outcome is in the tables. That neither side can
// force a mate does not end it: the rules on repetition may still decide.
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

// lookUp is the whole line to the end from the tables, for the root of a
// search; within the search Enter asks them.
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
// force: the better side may still play on for what the other might miss.
const unforced = 16

// tempered is an evaluation in the light of the tables.
func (p *position) tempered(eval search.Score) search.Score {
	if p.tables == nil || p.board.Occupied().Count() > p.tables.Men() {
		return eval
	}
	if d, ok := p.tables.Probe(p.board); ok && d < 0 {
		return eval / unforced
	}
	return eval
}
