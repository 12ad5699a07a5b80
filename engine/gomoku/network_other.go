//go:build !amd64

package gomoku

import "sparring/game/gomoku"

func (a *accumulator) apply(stone gomoku.Point, changes []rowChange, before []lanes) {
	a.applyPlain(stone, changes, before)
}

func (a *accumulator) restore(changes []rowChange, before []lanes) { a.restorePlain(changes, before) }

func (l *hiddenLayer) output(sum *lanes, toMove gomoku.Colour) int64 {
	return l.outputPlain(sum, toMove)
}
