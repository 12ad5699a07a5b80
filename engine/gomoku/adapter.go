package gomoku

import (
	"sparring/engine/adapter"
	"sparring/game"
	"sparring/game/gomoku"
)

// Adapter returns the game's row.
func Adapter() adapter.Adapter {
	return adapter.Adapter{
		Game:     gomoku.Name,
		New:      New,
		Params:   Params,
		Length:   60,
		SelfLoss: true,
		Evaluations: []adapter.Evaluation{
			{Name: "wang2011", Adapt: asWang2011, WinScale: 800},
		},
		Bench:    bench,
		Openings: adapter.Openings{Plies: 4, Bound: 0.1, Moves: inTheMiddle},
		Levels:   levels,
		Beginner: lengthening,
	}
}

// inTheMiddle lists the moves that random openings choose from. A stone far
// from the middle is a move given away.
func inTheMiddle(p game.Position) (near []game.Move) {
	const reach = 3
	b := p.(*gomoku.Position).Board()
	for _, m := range p.Legal(nil) {
		if at, ok := b.MovePoint(m); ok && b.FromCentre(at) <= reach {
			near = append(near, m)
		}
	}
	return near
}

// levels were found by `sparring levels calibrate`, changing them until all
// steps came out about even; configs/levels-gomoku.json has the measurement. A
// log-odds of one is, in evaluations, an open three.
var levels = [adapter.Levels]adapter.LevelParameters{
	{Nodes: 300, Notice: 6, Compare: 6, Slip: 2.4},
	{Nodes: 500, Notice: 7, Compare: 6, Slip: 2},
	{Nodes: 700, Notice: 8, Compare: 6, Slip: 1.2, Worst: 6},
	{Nodes: 700, Notice: 12, Compare: 6, Slip: 0.95, Worst: 4},
	{Nodes: 1000, Notice: 18, Compare: 6, Slip: 0.75, Worst: 2.5},
	{Nodes: 1000, Compare: 5, Slip: 0.5, Worst: 1, Careful: true},
	{Nodes: 1000, Careful: true},
	{Nodes: 3500, Careful: true},
	{Nodes: 12000, Careful: true},
	{Nodes: 40000, Careful: true},
}

// bench has positions from the engine's own play after a few random moves.
var bench = adapter.Bench{
	Rules: "gomoku/freestyle-15", Depth: 9, Deep: 12,
	Positions: []string{
		"11x3/15/15/15/15/15/15/4o10/15/15/15/15/15/15/15 b",
		"2o12/15/2oxx10/15/15/15/15/15/15/15/15/15/15/15/15 b",
		"15/11x3/15/15/3o11/15/15/8o6/6ox7/6x8/15/15/15/15/15 b",
		"15/15/15/15/15/15/15/15/9o5/8x6/6oxxx5/o14/5o9/15/15 b",
		"13o1/15/15/15/15/15/15/15/15/15/3o1xx8/15/3oox9/3x1o9/1x13 b",
		"3xxo2xooxo2/4x10/4oo9/6x8/15/15/15/15/15/15/15/15/15/15/15 b",
		"15/15/7x7/10x4/2ox1oo8/3xo10/3xox9/3oxo9/15/15/15/15/15/15/15 b",
		"15/4o1x8/5o9/4o10/x1ooox5x3/1oox11/xxxxo10/15/15/15/15/15/15/15/15 b",
		"15/15/15/5o9/15/15/10x4/8o2o1x1/10ox1o1/10xo1x1/8o1oxxx1/11xoo1/10o2x1/14x/15 b",
		"10x4/1x1x11/3oo10/1oxxxxo8/1ooxo1x8/1ooox10/1x2xo9/15/15/15/15/15/15/15/5oox7 b",
	},
}
