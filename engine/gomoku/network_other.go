//go:build !amd64

package gomoku

import "sparring/game/gomoku"

func (a *accumulator) apply(stone gomoku.Point, changes []rowChange, before []lanes) {
	a.applyPlain(stone, changes, before)
}

func (l *hiddenLayer) neurons(sum *lanes, toMove gomoku.Colour, to *[hiddenWidth]int32) {
	l.neuronsPlain(sum, toMove, to)
}
