package level

import (
	"slices"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// A careful level looks for immediate wins by the rules: its search may be too
// short to find them.

// winningMove returns a move that wins at once, among those allowed (nil is all),
// or NoMove. It plays moves on p and takes them back.
func winningMove(p game.Position, allowed []game.Move) game.Move {
	if allowed == nil {
		allowed = p.Legal(nil)
	}
	won := game.WonBy(p.Turn())
	for _, m := range allowed {
		if p.Play(m) != nil {
			continue
		}
		result := p.Outcome().Result
		p.Undo()
		if result == won {
			return m
		}
	}
	return game.NoMove
}

// blunders reports whether the move loses at once, or lets the opponent win at
// once.
func blunders(p game.Position, m game.Move) bool {
	mine := p.Turn()
	if p.Play(m) != nil {
		return true
	}
	defer p.Undo()
	if out := p.Outcome(); out.Over() {
		return out.Result == game.WonBy(mine.Other())
	}
	return winningMove(p, nil) != game.NoMove
}

// avoidBlunder returns the first of the lines, in order of preference, that is not a
// blunder. If all are, it returns the first other safe move, which must also keep
// the pieces if the level does. If there is none, it returns the first line.
func (t *levelSearch) avoidBlunder(order []search.Info) search.Info {
	for _, l := range order {
		if !blunders(t.position, l.PV[0]) {
			return l
		}
	}
	var safe []game.Move
	for _, seen := range t.seen {
		if (t.allowed == nil || slices.Contains(t.allowed, seen.Move)) && !blunders(t.position, seen.Move) {
			safe = append(safe, seen.Move)
		}
	}
	if len(safe) == 0 {
		return order[0]
	}
	if t.Keep {
		if kept, err := keepingPieces(t.engine, t.position, safe); err == nil {
			safe = kept
		}
	}
	line := order[0]
	// It was not searched: it is worth no more than the best line.
	line.PV, line.Bound = safe[:1], search.Upper
	return line
}

// minPiece is the least loss that counts as a piece, in the values of static
// exchange evaluation: more than a pawn in Xiangqi, less than an elephant. No
// other game has exchanges.
const minPiece search.Score = 100

// keepingPieces returns those of the moves (nil is all) that lose no piece to a
// capture, or no more than they must, counting what the move itself captures. It
// excludes sacrifices, which most people miss too.
func keepingPieces(e *engine.Engine, p game.Position, moves []game.Move) ([]game.Move, error) {
	if moves == nil {
		moves = p.Legal(nil)
	}
	losses, err := e.MaterialLoss(p, moves)
	if err != nil || losses == nil {
		return moves, err
	}
	limit := slices.Min(losses) + minPiece
	var kept []game.Move
	for i, m := range moves {
		if losses[i] < limit {
			kept = append(kept, m)
		}
	}
	return kept, nil
}
