package gomoku

import (
	"slices"

	"sparring/game"
	"sparring/game/gomoku"
)

// lengthening values a stone by the row that it makes. Stopping a five of the
// opponent's is worth more than any row.
func lengthening(p game.Position) func(game.Move) int {
	g := p.(*gomoku.Position)
	b, set := g.Board(), g.Set()
	forbidden := g.Forbidden()
	kind := func(at gomoku.Point, c gomoku.Colour) (longest gomoku.Kind) {
		t := gomoku.TableOf(set.Line(c))
		for d := range gomoku.Direction(gomoku.Directions) {
			longest = max(longest, t.Kind(b.Window(at, d), c))
		}
		return longest
	}
	return func(m game.Move) int {
		at, ok := b.MovePoint(m)
		switch {
		case !ok || slices.ContainsFunc(forbidden, func(f game.ForbiddenPoint) bool { return f.Point == p.Format(m) }):
			return -1
		case kind(at, g.ToMove().Other()) == gomoku.FiveRow:
			return int(gomoku.Kinds)
		}
		return int(kind(at, g.ToMove()))
	}
}
