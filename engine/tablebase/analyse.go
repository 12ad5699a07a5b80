package tablebase

import (
	"slices"

	"sparring/game"
	rules "sparring/game/xiangqi"
)

// Move is a legal move and its result.
type Move struct {
	Move game.Move
	// Distance is the number of plies to the end, including this one: odd if the
	// move wins, even if it loses, Drawn if it does neither. Known is false if
	// no table has the position after it.
	Distance int
	Known    bool
}

// rank orders moves by result: short wins, long wins, draws, unknown, long
// losses, short losses.
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

// Moves returns the legal moves of a board, the best first. It plays on the board and
// takes the moves back.
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

// Line returns the best play from a won or lost position, at most the given number
// of plies: the winner takes the shortest way, the loser the longest. It is empty for other
// positions and ends early if a table is missing. It plays on the board and takes
// the moves back.
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
