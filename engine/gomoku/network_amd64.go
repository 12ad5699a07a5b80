package gomoku

import (
	"golang.org/x/sys/cpu"

	"sparring/game/gomoku"
)

// haveAVX2 chooses between the assembly and its plain twins.
var haveAVX2 = cpu.X86.HasAVX2

//go:noescape
func applyAVX2(points, rows, sum, before *lanes, changes *rowChange, n int, stone uint64)

//go:noescape
func neuronsAVX2(layer *hiddenLayer, own, other *int16, to *[hiddenWidth]int32)

func (a *accumulator) apply(stone gomoku.Point, changes []rowChange, before []lanes) {
	if !haveAVX2 || len(changes) == 0 {
		a.applyPlain(stone, changes, before)
		return
	}
	applyAVX2(&a.points[0], &a.net.rows[0], &a.sum, &before[0], &changes[0], len(changes), uint64(stone))
}

func (l *hiddenLayer) neurons(sum *lanes, toMove gomoku.Colour, to *[hiddenWidth]int32) {
	if !haveAVX2 {
		l.neuronsPlain(sum, toMove, to)
		return
	}
	own := viewWidth * int(toMove)
	neuronsAVX2(l, &sum[own], &sum[viewWidth-own], to)
}
