package amazons

import (
	"sparring/game"
	"sparring/game/amazons"
)

// kind is adapter.Adapter.Kind. The area of an amazon is the free squares that it can
// reach in any number of moves while nothing else moves.
func kind(p game.Position, m game.Move) string {
	from, to, arrow := amazons.Squares(m)
	b := p.(*amazons.Position).Board()
	us := b.Turn()
	before := areaOf(&b, from)
	alone := b.Connected(amazons.Bit(from), b.Free().Or(b.Amazons(us.Other()))).And(b.Amazons(us.Other())).Empty()
	threatened := b.Around(arrow).And(b.Amazons(us.Other()))
	b.Do(m)
	switch {
	case alone:
		return "fill" // of an area that no opponent can enter
	case 2*areaOf(&b, to) < before:
		return "into a smaller area"
	case !threatened.Empty():
		return "arrow at an opponent"
	}
	return "quiet"
}

// areaOf counts the squares of an amazon's area.
func areaOf(b *amazons.Board, s amazons.Square) int {
	return b.Connected(amazons.Bit(s), b.Free()).Count() - 1
}
