package bench

// suite is one game's positions, made by the engine's own play after a few
// random moves.
type suite struct {
	game, rules string
	depth       int
	deep        int // for what shows in large trees only
	positions   []string
}

var suites = []suite{
	{"xiangqi", "simple", 9, 16, []string{
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
	}},
	{"gomoku", "freestyle-15", 5, 8, []string{
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
	}},
	{"amazons", "10x10", 3, 4, []string{
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
	}},
}
