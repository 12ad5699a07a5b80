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
func restoreAVX2(points, before *lanes, changes *rowChange, n int)

//go:noescape
func outputAVX2(layer *hiddenLayer, own, other *int16) int64

func (a *accumulator) apply(stone gomoku.Point, changes []rowChange, before []lanes) {
	if !haveAVX2 || len(changes) == 0 {
		a.applyPlain(stone, changes, before)
		return
	}
	applyAVX2(&a.points[0], &a.net.rows[0], &a.sum, &before[0], &changes[0], len(changes), uint64(stone))
}

func (a *accumulator) restore(changes []rowChange, before []lanes) {
	if !haveAVX2 || len(changes) == 0 {
		a.restorePlain(changes, before)
		return
	}
	restoreAVX2(&a.points[0], &before[0], &changes[0], len(changes))
}

func (l *hiddenLayer) output(sum *lanes, toMove gomoku.Colour) int64 {
	if !haveAVX2 {
		return l.outputPlain(sum, toMove)
	}
	own := viewWidth * int(toMove)
	return outputAVX2(l, &sum[own], &sum[viewWidth-own])
}
