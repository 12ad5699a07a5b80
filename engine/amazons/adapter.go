package amazons

import (
	"sparring/engine/adapter"
	rules "sparring/game/amazons"
)

// Adapter returns the game's row.
func Adapter() adapter.Adapter {
	return adapter.Adapter{
		Game:        rules.Name,
		New:         New,
		Params:      Params,
		Length:      80,
		Evaluations: evaluations(),
		Bench:       bench,
		Openings:    adapter.Openings{Plies: 4, Bound: 0.1},
		Levels:      levels,
		Beginner:    spreading,
		Kind:        kind,
	}
}

// levels were found by `sparring levels calibrate`, changing them until all
// steps came out about even; configs/levels-amazons.json has the measurement.
var levels = [adapter.Levels]adapter.LevelParameters{
	{Nodes: 200, Notice: 5, Compare: 5, Slip: 8},
	{Nodes: 300, Notice: 6, Compare: 6, Slip: 3},
	{Nodes: 400, Notice: 7, Compare: 6, Slip: 1.6},
	{Nodes: 500, Notice: 10, Compare: 6, Slip: 1},
	{Nodes: 700, Notice: 16, Compare: 6, Slip: 0.66, Worst: 3},
	{Nodes: 1000, Notice: 60, Compare: 5, Slip: 0.38, Worst: 1.5, Careful: true},
	{Nodes: 1300, Compare: 3, Slip: 0.15, Worst: 0.3, Careful: true},
	{Nodes: 2500, Compare: 2, Slip: 0.12, Worst: 0.25, Careful: true},
	{Nodes: 7000, Compare: 2, Slip: 0.07, Worst: 0.2, Careful: true},
	{Nodes: 14000, Careful: true},
}

// bench has positions from the engine's own play after a few random moves.
var bench = adapter.Bench{
	Rules: "amazons/10x10", Depth: 3, Deep: 4,
	Positions: []string{
		"3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w",
		"3q6/10/10/q4*3q/8Q*/10/Q1Q7/7q2/6*3/5*Q3 w",
		"10/10/2Q1*5/2q4q2/10/3q4**/3**Q4/1Q3*q3/4*5/2*3Q3 w",
		"3*2*3/4*5/2q1*3*1/6Qq2/2*5*1/*3*5/1**6q/3QqQ1*2/7*1*/9Q w",
		"5*1q*1/4*3Q1/*Qq2****1/1*1**2*2/2*6*/3q3*2/2*2*4/2*1*2Qq1/2Q3*3/10 w",
		"5*4/*2Qq2*1*/2*2**2Q/2*3***1/1****5/2*3**q1/1q1*1**2*/*Q1*3Q1*/2*3q3/10 w",
		"*4*4/4*2*2/*q*1*5/Q****2Qq1/5*4/1*1*3*2/1********1/2Q1**1q1*/2*q**1*Q1/1*1*6 w",
		"*3*5/1Q*2*1*2/**q***1*Q1/****2*q2/2*1*1****/2*1**4/1**3*1*1/1Qq*2*1q1/1**2***Q1/3**5 w",
		"**2Q*4/q***1**1*1/2**1**1Q1/3*3*q1/****1*****/1****5/1****Q*1**/2*qq***2/3*1**2Q/2**2*1*1 w",
		"**1*2*Q1*/q*1*****2/*Q**1*q**1/****2***1/5**1*1/******2*1/2**q1***1/3****q**/1Q****1*2/2**2*Q1* w",
	},
}
