package game

// This file has what a screen asks of a position. A game may lack each of the
// interfaces: it can still be played, by text.

// Grid is the size of a board. A point's name is its column's letter, from "a" on
// the left, and its row's number, from FirstRow at the bottom.
type Grid struct{ Columns, Rows, FirstRow int }

// Pictured is a Position of a game whose board can be drawn from a grid.
type Pictured interface {
	Grid() Grid
	// Pieces has the code of what stands on each point that is not empty. The
	// game defines the codes, of one character each.
	Pieces() map[string]string
	// Sides returns the name of the colour that each seat has: "red", "black" or
	// "white".
	Sides() [2]string
}

// Checker is a Position of a game whose pieces give check.
type Checker interface {
	// Check returns the point of the king that is in check, "" if none is.
	Check() string
}

// Scorer is a Position of a game in which the seats score.
type Scorer interface {
	// Score returns the points of each seat. Ok is false under rules without
	// scores.
	Score() (points [2]int, ok bool)
}

// Stage is the current step of an opening procedure. The names are part of the
// keys of the page's texts.
type Stage struct {
	Procedure string `json:"procedure"` // "swap2"
	Step      string `json:"step"`      // what is to be done: "put-three", "choose-colour", "offer", ...
	Seat      Seat   `json:"seat"`      // the seat that does it
	// Left counts the stones to put or the moves to offer in this step, the next
	// one included; 1 in other steps.
	Left int `json:"left"`
	// Stone is the number of the next stone, from 1.
	Stone int `json:"stone"`
	// Reach is the largest distance from the centre, in king's steps, at which the
	// next stone may be put; absent if it may be put anywhere.
	Reach *int `json:"reach,omitempty"`
	// Fifths is the number of fifth moves asked for, or the largest number that
	// may be asked for; 0 in other procedures and steps.
	Fifths int `json:"fifths,omitempty"`
}

// Staged is a Position of a game with opening procedures.
type Staged interface {
	// Stage returns the current step; ok is false when no procedure is running.
	Stage() (s Stage, ok bool)
	// OnBoard reports whether a legal move is made on the board, unlike "swap".
	OnBoard(m Move) bool
}
