// Package view describes positions for a screen that knows no rules: what stands
// where, what may be played, and what would follow from it.
package view

import "sparring/game"

// View is a position as a board shows it. Points are named as in move texts: a
// column's letter and a row's number.
type View struct {
	Game  string `json:"game"`
	Rules string `json:"rules"`
	// Columns and Rows are the size of the board, FirstRow is the number of the
	// bottom row: 0 in Xiangqi, otherwise 1.
	Columns  int `json:"columns"`
	Rows     int `json:"rows"`
	FirstRow int `json:"first_row"`
	Ply      int `json:"ply"` // moves played since the start position
	// Turn is the seat to act; absent once the game is over by its rules.
	Turn *game.Seat `json:"turn,omitempty"`
	// Pieces has the code of each piece by its point. Xiangqi: the letters of FEN,
	// upper case for Red. Gomoku: x black, o white, # a dead stone, ? an offered
	// fifth move. Amazons: Q white, q black, * an arrow.
	Pieces map[string]string `json:"pieces"`
	// Sides says which colour each seat has, by seat: "red" and "black" in Xiangqi,
	// "black" and "white" in Gomoku, "white" and "black" in Amazons. Swaps change it.
	Sides [2]string `json:"sides"`
	// Moves lists the legal moves on the board as text; points are read off it in
	// order ("h2e2", "h8", "offer:h10", "d1d7/b7"). It is empty when the game is over.
	Moves []string `json:"moves"`
	// Choices lists the legal moves of an opening procedure that are not made on the
	// board: "swap", "stay", "put-two", "fifths-3".
	Choices []string `json:"choices,omitempty"`
	// Stage says what the seat to act has to do in an opening procedure; absent when
	// none is running.
	Stage *Stage `json:"stage,omitempty"`
	// Forbidden lists the points that lose at once for the seat to act (Renju).
	Forbidden []game.ForbiddenPoint `json:"forbidden,omitempty"`
	// Check is the point of a king in check.
	Check string `json:"check,omitempty"`
	// Ends has the moves by which the game would end at once, with how.
	Ends map[string]game.Outcome `json:"ends,omitempty"`
	// Last is the last move, as text.
	Last string `json:"last,omitempty"`
	// Written has all moves played, in each notation of the game.
	Written map[game.Notation][]string `json:"written,omitempty"`
	Outcome game.Outcome               `json:"outcome"`
	Key     string                     `json:"key"` // position key, 16 hex digits
	// Position is the text of the position, without history.
	Position string `json:"position"`
}

// Stage is the step of an opening procedure. The texts are keys of the page's
// dictionaries.
type Stage struct {
	Procedure string    `json:"procedure"` // "swap2"
	Step      string    `json:"step"`      // what is done now: "put-three", "choose-colour", "offer", ...
	Seat      game.Seat `json:"seat"`      // who does it
	Left      int       `json:"left,omitempty"`
}
