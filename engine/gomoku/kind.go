package gomoku

import (
	"sparring/game"
	"sparring/game/gomoku"
)

// kind is adapter.Adapter.Kind. What a stone makes comes before what it prevents.
func kind(p game.Position, m game.Move) string {
	g := p.(*gomoku.Position)
	b := g.Board()
	at, ok := b.MovePoint(m)
	if !ok {
		return "choice"
	}
	own, other := rowAt(g, &b, at, g.ToMove()), rowAt(g, &b, at, g.ToMove().Other())
	switch {
	case own == gomoku.FiveRow:
		return "five"
	case own >= gomoku.Four && own < gomoku.Overline:
		return "four"
	case other == gomoku.FiveRow, other == gomoku.StraightFour, other == gomoku.DoubleFour:
		return "defence" // by the point that the other side wanted
	case own.IsOpenThree():
		return "three"
	}
	return "quiet"
}

// rowAt returns the strongest row that a stone of a colour makes at a point.
func rowAt(g *gomoku.Position, b *gomoku.Board, at gomoku.Point, c gomoku.Colour) (k gomoku.Kind) {
	table := gomoku.TableOf(g.Set().Line(c))
	for d := range gomoku.Direction(gomoku.Directions) {
		k = max(k, table.Kind(b.Window(at, d), c))
	}
	return k
}
