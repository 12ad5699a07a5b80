package level

import (
	"slices"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// What a careful level does not leave to its search, which may be too short to
// see it: the rules say which moves win at once.

// winning is a move that wins at once, among those allowed (nil is all);
// NoMove where there is none. It plays on p, and leaves it as it was.
func winning(p game.Position, allowed []game.Move) game.Move {
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

// hands reports whether the move loses at once, or lets the other side win at
// once.
func hands(p game.Position, m game.Move) bool {
	mine := p.Turn()
	if p.Play(m) != nil {
		return true
	}
	defer p.Undo()
	if out := p.Outcome(); out.Over() {
		return out.Result == game.WonBy(mine.Other())
	}
	return winning(p, nil) != game.NoMove
}

// spare is the first line, in the order of liking, that does not hand the game
// to the opponent; if all do, the first other move that doesn't, and that keeps
// its pieces where the level does; if none doesn't, the first line.
func (t *turn) spare(order []search.Info) search.Info {
	for _, l := range order {
		if !hands(t.position, l.PV[0]) {
			return l
		}
	}
	var safe []game.Move
	for _, seen := range t.seen {
		if (t.allowed == nil || slices.Contains(t.allowed, seen.Move)) && !hands(t.position, seen.Move) {
			safe = append(safe, seen.Move)
		}
	}
	if len(safe) == 0 {
		return order[0]
	}
	if t.Keep {
		if kept, err := keeping(t.engine, t.position, safe); err == nil {
			safe = kept
		}
	}
	line := order[0]
	// What it is worth nobody has looked at: no more than what was thought best.
	line.PV, line.Bound = safe[:1], search.Upper
	return line
}

// aPiece is the least that counts as one, in the values that exchanges are
// counted with: more than a pawn in Xiangqi, less than an elephant. No other
// game has exchanges.
const aPiece search.Score = 100

// keeping is those of the moves (nil is all) that leave no piece to a plain
// capture, or not more than has to be left, counting what a move takes itself.
// Who keeps to that misses sacrifices, as most people do.
func keeping(e *engine.Engine, p game.Position, moves []game.Move) ([]game.Move, error) {
	if moves == nil {
		moves = p.Legal(nil)
	}
	exposed, err := e.Exposure(p, moves)
	if err != nil || exposed == nil {
		return moves, err
	}
	limit := slices.Min(exposed) + aPiece
	var kept []game.Move
	for i, m := range moves {
		if exposed[i] < limit {
			kept = append(kept, m)
		}
	}
	return kept, nil
}
