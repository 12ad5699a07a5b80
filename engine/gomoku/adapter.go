package gomoku

import (
	"sparring/engine/adapter"
	"sparring/game"
	"sparring/game/gomoku"
)

// Adapter returns the game's row.
func Adapter() adapter.Adapter {
	return adapter.Adapter{
		Game:        gomoku.Name,
		New:         New,
		Params:      Params,
		Length:      60,
		SelfLoss:    true,
		First:       firstStone,
		Evaluations: append(wangEvaluations(), codesAlone()),
		Bench:       bench,
		Openings:    adapter.Openings{Plies: 4, Bound: 0.1, Moves: inTheMiddle},
		Levels:      levels,
		Beginner:    lengthening,
		Kind:        kind,
	}
}

// firstStone is the middle of an empty board. The evaluation comes from positions with
// stones: on an empty board it prefers the edge under some rules.
func firstStone(p game.Position) game.Move {
	b := p.(*gomoku.Position).Board()
	if b.Stones() > 0 {
		return game.NoMove
	}
	return gomoku.StoneMove(b.Point(b.Size/2, b.Size/2))
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
// steps came out about even; configs/levels-gomoku.json has the measurement.
var levels = [adapter.Levels]adapter.LevelParameters{
	{Nodes: 80, Notice: 3, Compare: 6, Slip: 6},
	{Nodes: 350, Notice: 8, Compare: 6, Slip: 3.5},
	{Nodes: 560, Notice: 13, Compare: 6, Slip: 1.25, Worst: 5.5},
	{Nodes: 930, Notice: 25, Compare: 6, Slip: 0.64, Worst: 3.1},
	{Nodes: 1800, Notice: 50, Compare: 6, Slip: 0.325, Worst: 1.3, Careful: true},
	{Nodes: 1800, Careful: true},
	{Nodes: 3600, Careful: true},
	{Nodes: 7600, Careful: true},
	{Nodes: 19000, Careful: true},
	{Nodes: 56000, Careful: true},
}

// bench has positions from the engine's own play that it calls even, and that no
// prover solves.
var bench = adapter.Bench{
	Rules: "gomoku/freestyle-15", Depth: 9, Deep: 13,
	Positions: []string{
		"15/15/15/15/15/15/15/5x4o4/10o4/7ox6/8x6/15/15/15/15 b",
		"15/15/15/15/4x10/9o5/5x9/4xo9/4o1o8/15/7x7/15/15/15/15 b",
		"15/15/15/15/4x10/6o8/5o9/8o6/6o1x6/5ox1x6/8x6/15/15/15/15 b",
		"15/15/15/15/15/6o2o5/7x2o4/8o1xx3/9ox4/9o5/5x2x6/15/15/15/15 b",
		"15/15/15/15/10x4/15/8x6/8oo5/6oox1o4/6xxxo5/8x6/8o6/15/15/15 b",
		"15/15/15/6x8/5xxo7/4xoo8/3oo1xx7/3oo1xo2x4/15/15/15/15/15/15/15 b",
		"15/15/15/15/5xo8/4x1x8/4xoxx7/4o1xoo6/5o2x6/5xooo6/15/15/15/15/15 b",
		"15/15/15/15/15/8xo5/6xooo1x3/6o1xxxo3/5oxxoxx4/7oo1x4/15/15/15/15/15 w",
		"15/15/15/5o2o6/6x2o5/3xoxoxx6/4oxoxxo5/5oxox6/6oxo6/6xx7/15/15/15/15/15 w",
		"15/15/15/9x1x3/8xooox2/9oxo3/8xoxxx2/7ooxx1o2/6ooxoo4/6o1xxxo3/5x9/15/15/15/15 w",
	},
}
