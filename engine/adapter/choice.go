package adapter

// Term is a weight's coefficient in a sum. It is kept small because a fit has
// millions.
type Term struct {
	Weight int32
	By     float32
}

// Choice is a position in which a search chose one of several moves, as a fit of a
// policy sees it: the score of a move is the sum of the values of its features, and
// the value of a feature the sum of its terms.
type Choice struct {
	// Features belong to this position alone. They are numbered after those that all
	// positions of the policy share.
	Features [][]Term
	PerMove  int     // features of a move
	Moves    []int32 // the features of all moves, PerMove of each
	Chosen   int     // the move
}

// Len returns the number of moves.
func (c *Choice) Len() int { return len(c.Moves) / c.PerMove }

// Move returns the features of a move.
func (c *Choice) Move(i int) []int32 { return c.Moves[i*c.PerMove:][:c.PerMove] }
