package tablebase

import (
	"slices"

	"sparring/game"
	rules "sparring/game/xiangqi"
)

// Move is a legal move and what it leads to.
type Move struct {
	Move game.Move
	// Distance is the number of plies to the end, this one included: odd when
	// the move wins, even when it loses, Drawn when it does neither. Known is
	// false where no table has the position after it.
	Distance int
	Known    bool
}

// rank orders moves by what they lead to: short wins, long wins, draws, what
// nobody knows, long losses, short losses.
func (m Move) rank() int {
	switch {
	case !m.Known:
		return 1
	case m.Distance == Drawn:
		return 0
	case m.Distance%2 != 0:
		return m.Distance - 1000
	}
	return 1000 - m.Distance
}

// Moves are the legal moves of a board, which is played on and left as it was,
// the best first.
func (t *Tables) Moves(b *rules.Board) []Move {
	var list []Move
	for _, m := range b.Legal(nil) {
		b.Do(m)
		d, known := t.Probe(b)
		b.Undo()
		if known && d != Drawn {
			d++
		}
		list = append(list, Move{m, d, known})
	}
	slices.SortStableFunc(list, func(a, b Move) int { return a.rank() - b.rank() })
	return list
}

// Line is how a won or lost position goes on, for at most so many plies, when
// the winner hurries and the loser delays. It is empty for any other position,
// and ends early where a table is missing. The board is played on and left as
// it was.
func (t *Tables) Line(b *rules.Board, plies int) (line []game.Move) {
	for len(line) < plies {
		distance, ok := t.Probe(b)
		if !ok || distance <= 0 { // unknown, drawn or at its end
			break
		}
		moves := t.Moves(b)
		if len(moves) == 0 || !moves[0].Known || moves[0].Distance != distance {
			break
		}
		b.Do(moves[0].Move)
		line = append(line, moves[0].Move)
	}
	for range line {
		b.Undo()
	}
	return line
}
