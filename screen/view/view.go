// Package view describes positions for a screen that knows no rules: what stands
// where, what may be played, and what would follow from it.
package view

import (
	"errors"
	"fmt"

	"sparring/game"
)

// View is a position as a board shows it. Points are named as in move texts: a
// column's letter and a row's number.
//
// The page's dictionaries have sentences for what a view says: "side.red",
// "reason.checkmate" with {winner} and {loser}, "ends.repetition" before a move that
// ends the game so, "forbidden.overline", and for a Stage "open.swap2.choose" for
// who acts, "open.swap2.choose.wait" for who waits, "open.choice.swap" for a choice
// and "open.swap2.choose.swap" for what it leads to, with {left}, {stone}, {reach},
// {fifths}, and {n} of "fifths-3"; for a single stone within no steps of the centre,
// "open.taraguchi.put-stone.centre" and "... .centre.wait".
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
	Stage *game.Stage `json:"stage,omitempty"`
	// Score has the points of each seat, under rules that count points.
	Score *[2]int `json:"score,omitempty"`
	// Forbidden lists the points that lose at once for the seat to act (Renju).
	Forbidden []game.ForbiddenPoint `json:"forbidden,omitempty"`
	// Check is the point of a king in check.
	Check string `json:"check,omitempty"`
	// Ends has the moves by which the game would end at once, with how.
	Ends map[string]game.Outcome `json:"ends,omitempty"`
	// Row has the points of the row that has won (Gomoku).
	Row []string `json:"row,omitempty"`
	// Last is the last move, as text.
	Last string `json:"last,omitempty"`
	// Written has all moves played, in each notation of the game; in the notation
	// "plain", which is that of Moves, if the game has no others.
	Written map[game.Notation][]string `json:"written,omitempty"`
	Outcome game.Outcome               `json:"outcome"`
	Key     string                     `json:"key"` // position key, 16 hex digits
	// Position is the text of the position, without history.
	Position string `json:"position"`
}

// ErrNoPicture: the game does not describe its board for a screen. Show
// Position.Diagram instead.
var ErrNoPicture = errors.New("the game has no picture of its board")

// Plain is the notation of a game that has only the one of Position.Format.
const Plain game.Notation = "plain"

// Of describes a position. The error wraps ErrNoPicture. p is not changed.
func Of(p game.Position) (*View, error) {
	v, err := Still(p)
	if err != nil {
		return nil, err
	}
	if f, ok := p.(game.Forbidder); ok {
		v.Forbidden = f.Forbidden()
	}
	v.addMoves(p)
	v.Written = Written(p)
	return v, nil
}

// Still describes a position in which nobody is to move, such as one of a finished
// game: without what may be played and what would follow from it, which takes most of
// the time, and without Written. The error wraps ErrNoPicture. p is not changed.
func Still(p game.Position) (*View, error) {
	pictured, ok := p.(game.Pictured)
	if !ok {
		return nil, fmt.Errorf("%s: %w", p.Rules().Game, ErrNoPicture)
	}
	grid := pictured.Grid()
	v := &View{
		Game: p.Rules().Game, Rules: p.Rules().Name,
		Columns: grid.Columns, Rows: grid.Rows, FirstRow: grid.FirstRow,
		Ply: p.Ply(), Pieces: pictured.Pieces(), Sides: pictured.Sides(),
		Moves: []string{}, Outcome: p.Outcome(),
		Key: game.KeyText(p.Key()), Position: p.String(),
	}
	if !v.Outcome.Over() {
		turn := p.Turn()
		v.Turn = &turn
	}
	if s, ok := p.(game.Scorer); ok {
		if score, counts := s.Score(); counts {
			v.Score = &score
		}
	}
	if c, ok := p.(game.Checker); ok {
		v.Check = c.Check()
	}
	if w, ok := p.(game.Winner); ok {
		v.Row = w.Row()
	}
	v.Last = last(p)
	return v, nil
}

// addMoves lists the legal moves and what ends the game.
func (v *View) addMoves(p game.Position) {
	staged, ok := p.(game.Staged)
	if ok {
		if stage, running := staged.Stage(); running && v.Turn != nil {
			v.Stage = &stage
		}
	}
	legal := p.Legal(nil)
	v.Moves = make([]string, 0, len(legal))
	try := p.Clone()
	for _, m := range legal {
		text := p.Format(m)
		if v.Stage != nil && !staged.OnBoard(m) {
			v.Choices = append(v.Choices, text)
			continue
		}
		v.Moves = append(v.Moves, text)
		if err := try.Play(m); err != nil {
			continue // not of a legal move; a faulty game must not stop the page
		}
		if o := try.Outcome(); o.Over() {
			if v.Ends == nil {
				v.Ends = map[string]game.Outcome{}
			}
			v.Ends[text] = o
		}
		try.Undo()
	}
}

// Written writes the moves played in each notation of the game, or in Plain. It is
// nil before the first move.
func Written(p game.Position) map[game.Notation][]string {
	played := p.Played(nil)
	if len(played) == 0 {
		return nil
	}
	notations, format := []game.Notation{Plain}, func(q game.Position, _ game.Notation, m game.Move) string { return q.Format(m) }
	if n, ok := p.(game.Notated); ok {
		notations, format = n.Notations(), formatIn
	}
	written := map[game.Notation][]string{}
	for _, n := range notations {
		written[n] = make([]string, len(played))
	}
	// From the last one back: to take a move back costs less than to play it.
	q := p.Clone()
	for i := len(played) - 1; i >= 0; i-- {
		q.Undo()
		for _, n := range notations {
			written[n][i] = format(q, n, played[i])
		}
	}
	return written
}

func formatIn(q game.Position, n game.Notation, m game.Move) string {
	return q.(game.Notated).FormatIn(n, m)
}

// last returns the text of the last move, "" before the first.
func last(p game.Position) string {
	if p.Ply() == 0 {
		return ""
	}
	played, q := p.Played(nil), p.Clone()
	q.Undo()
	return q.Format(played[len(played)-1])
}
