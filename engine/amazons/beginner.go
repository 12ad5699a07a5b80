package amazons

import (
	"sparring/game"
	rules "sparring/game/amazons"
)

// spreading values a move by the mobility after it: the squares that the mover's
// amazons can reach, less those that the opponent's can.
func spreading(p game.Position) func(game.Move) int {
	board := p.(*rules.Position).Board()
	me := board.Turn()
	return func(m game.Move) int {
		b := board
		b.Do(m)
		worth := 0
		for seat, sign := range map[game.Seat]int{me: 1, me.Other(): -1} {
			for set := b.Amazons(seat); !set.Empty(); {
				worth += sign * b.Reach(rules.Bit(set.Pop())).Count()
			}
		}
		return worth
	}
}
