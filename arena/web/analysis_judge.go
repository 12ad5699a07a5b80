package web

import (
	"sparring/arena/web/view"
	"sparring/game"
	"sparring/protocol"
)

// Bounds of the classes of mistakes, in winning chance lost. Pages that know one
// game well draw finer lines, Lichess at 5, 10 and 15 percent. These stand at
// twice that: reviews search for about a second a position, in three games whose
// evaluations differ, and a "mistake" that is none teaches the wrong lesson.
const (
	inaccuracyFrom = 0.10
	mistakeFrom    = 0.20
	blunderFrom    = 0.30
)

// suspect is the loss from which a move is compared with the best one in a search
// of its own: the chances before and after a move come from searches of different
// depths.
const suspect = inaccuracyFrom / 2

// classOf returns the class of a loss; "" for a good move.
func classOf(lost float64) Class {
	switch {
	case lost >= blunderFrom:
		return Blunder
	case lost >= mistakeFrom:
		return Mistake
	case lost >= inaccuracyFrom:
		return Inaccuracy
	}
	return ""
}

// chanceOf returns the winning chance of a seat in a game that the rules have
// ended.
func chanceOf(out game.Outcome, seat game.Seat) float64 {
	switch out.Result {
	case game.WonBy(seat):
		return 1
	case game.WonBy(seat.Other()):
		return 0
	}
	return 0.5
}

// lostBy returns what a move loses compared with the best one, of an analysis of
// just these two, and what follows the move. An engine that leaves out a move
// refuses to lose at once.
func lostBy(found protocol.Analysis, best, move string) (lost float64, reply []string) {
	var chances [2]float64
	for _, l := range found.Lines {
		if l.Chance == nil {
			continue
		}
		switch l.Moves[0] {
		case best:
			chances[0] = *l.Chance
		case move:
			chances[1], reply = *l.Chance, l.Moves[1:]
		}
	}
	return max(0, chances[0]-chances[1]), reply
}

// region is how many columns and rows a region of a board has, in which a hint of
// the first level lies.
const region = 5

// hintOf returns as much of a hint as its level shows. A choice of an opening
// procedure has no piece to show before it.
func hintOf(r Request, terms protocol.Terms, found protocol.Analysis) Hint {
	line := found.Lines[0].Moves
	h := Hint{T: "hint", Game: r.Game, Ply: r.Ply, Level: r.Level}
	points := view.Points(line[0])
	switch {
	case r.Level == 3:
		h.Line = line
		h.Move = line[0]
	case r.Level == 2 || len(points) == 0:
		h.Move = line[0]
	case len(points) == 1:
		h.From = regionOf(points[0], terms)
	default:
		h.From = points[0]
	}
	return h
}

// regionOf returns the corners of the region of a point, as "a1:e5".
func regionOf(at string, terms protocol.Terms) string {
	pos, err := setUp(terms, nil)
	if err != nil {
		return at
	}
	v, err := view.Of(pos)
	if err != nil {
		return at
	}
	column, row, _ := view.ParsePoint(at)
	corner := func(n, size int) (from, to int) { return n - n%region, min(n-n%region+region, size) - 1 }
	left, right := corner(column, v.Columns)
	low, high := corner(row-v.FirstRow, v.Rows)
	return view.Point(left, low+v.FirstRow) + ":" + view.Point(right, high+v.FirstRow)
}
