package xiangqi

import (
	"sparring/engine/adapter"
	rules "sparring/game/xiangqi"
)

// Adapter returns the game's row.
func Adapter() adapter.Adapter {
	return adapter.Adapter{
		Game:        rules.Name,
		New:         New,
		Params:      Params,
		Length:      90,
		SelfLoss:    true,
		Evaluations: evaluations(),
		Bench:       bench,
		Openings:    adapter.Openings{Plies: 6, Bound: 0.1},
		Levels:      levels,
		Beginner:    capturing,
		Kind:        kind,
		NoProgress:  noProgress,
	}
}

// levels were found by `sparring levels calibrate`, changing them until all
// steps came out about even; configs/levels-xiangqi.json has the measurement. A
// log-odds of one is, in evaluations, a third of a rook.
var levels = [adapter.Levels]adapter.LevelParameters{
	{Nodes: 300, Notice: 3, Compare: 3, Slip: 1.65},
	{Nodes: 400, Notice: 5, Compare: 4, Slip: 1},
	{Nodes: 700, Notice: 10, Compare: 6, Slip: 0.6, Worst: 3.3},
	{Nodes: 800, Notice: 16, Compare: 6, Slip: 0.41, Worst: 1.9},
	{Nodes: 1000, Notice: 20, Compare: 5, Slip: 0.3, Worst: 1.1},
	{Nodes: 1300, Compare: 4, Slip: 0.22, Worst: 0.55, Careful: true, Keep: true},
	{Nodes: 2500, Compare: 3, Slip: 0.08, Worst: 0.17, Careful: true, Keep: true},
	{Nodes: 8500, Compare: 2, Slip: 0.055, Worst: 0.11, Careful: true, Keep: true},
	{Nodes: 11000, Careful: true},
	{Nodes: 40000, Careful: true},
}

// bench has positions from the engine's own play after a few random moves.
var bench = adapter.Bench{
	Rules: "xiangqi/simple", Depth: 9, Deep: 16,
	Positions: []string{
		"rnbakabnr/9/1c7/p1p1p1p1p/c8/9/PCP1P1P1P/2C6/9/RNBAKABR1 w - - 4 4",
		"2bakabnr/3r5/nc7/p1p1p1p1p/2c6/P3P4/2P3P1P/4C1NC1/5R3/RNBAKAB2 w - - 12 7",
		"2baka1nr/9/2n1b4/p1p1p1p1p/9/6P2/Pcc1P3P/NC4NCB/5R3/2BAKA3 w - - 0 10",
		"2bakabn1/5r2r/4cC3/p1p1n3p/4C4/6p2/P1P1P3P/9/3R5/RNBAKAB2 w - - 1 13",
		"2bakab2/1r4cr1/6R2/p1p5p/6p2/4C4/P1P1PR2P/4C4/4A2n1/1NB1KABc1 w - - 3 16",
		"3a1ab2/4k4/4b1n2/p6Cp/4p4/9/P2nP3c/2N1B1Nc1/1C7/3AKAB2 w - - 8 20",
		"1n1akab2/9/4b2C1/p2R4p/6p2/7r1/4c1P2/4B4/2N1A4/2B1KA3 w - - 8 24",
		"3k1a3/4ac3/2n5b/p1N3p2/9/2P1C4/P2c1rP1P/4B4/8R/2B1KA1N1 w - - 6 29",
		"1R4C2/4k4/9/p3p3p/3r2p2/9/9/4c4/9/3AK4 w - - 1 36",
		"4ka1n1/4a4/b3b4/3R5/8p/P1B1pp3/9/9/4AC3/3AK1r2 w - - 0 46",
	},
}
