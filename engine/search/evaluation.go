package search

// Evaluation is a named evaluation of a game's positions, to be played with in
// place of the game's own.
type Evaluation struct {
	Name string
	// Adapt replaces the evaluation of a position of the game's adapter.
	Adapt func(Position) Position
	// WinScale and Outcomes say what its scores stand for, as in Params.
	WinScale Score
	Outcomes Outcomes
}
