package web

import (
	"sparring/arena/web/message"
	"sparring/protocol"
	"sparring/screen/view"
)

// region is how many columns and rows a region of a board has, in which a hint of
// the first level lies.
const region = 5

// hintOf returns as much of a hint as its level shows. A choice of an opening
// procedure has no piece to show before it.
func hintOf(r message.Request, terms protocol.Terms, found protocol.Analysis) message.Hint {
	line := found.Lines[0].Moves
	h := message.Hint{T: "hint", Game: r.Game, Ply: r.Ply, Level: r.Level}
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
