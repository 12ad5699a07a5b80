package xiangqi

import (
	"sparring/game"
	"sparring/game/xiangqi"
)

// kind is adapter.Adapter.Kind.
func kind(p game.Position, m game.Move) string {
	b := p.(*xiangqi.Position).Board()
	switch {
	case b.InCheck():
		return "answer to check"
	case b.GivesCheck(m):
		return "check"
	case b.At(xiangqi.To(m)) != xiangqi.NoPiece:
		return "capture"
	}
	return "quiet"
}

// noProgress returns the plies since the last capture.
func noProgress(p game.Position) int {
	return int(p.(*xiangqi.Position).Board().State().Quiet)
}
