package amazons

import (
	"fmt"
	"slices"

	"sparring/game"
)

// Position is a game in progress: a board and the moves that led to it.
type Position struct {
	rules  *game.Rules
	board  Board
	played []game.Move
}

// Board returns a copy of the board, for engines.
func (p *Position) Board() Board { return p.board }

// Rules returns the rule set.
func (p *Position) Rules() *game.Rules { return p.rules }

// Turn returns the seat to move.
func (p *Position) Turn() game.Seat { return p.board.turn }

// Legal appends the legal moves, ordered by from, to and arrow.
func (p *Position) Legal(buf []game.Move) []game.Move { return p.board.Moves(buf) }

// Play makes a legal move. For any other the error wraps game.ErrIllegal or
// game.ErrOver.
func (p *Position) Play(m game.Move) error {
	if !p.board.Legal(m) {
		if p.Outcome().Over() {
			return fmt.Errorf("%w: %s cannot move", game.ErrOver, p.Turn())
		}
		return fmt.Errorf("%w: %s", game.ErrIllegal, p.why(m))
	}
	p.board.Do(m)
	p.played = append(p.played, m)
	return nil
}

// why says what is wrong with an illegal move.
func (p *Position) why(m game.Move) string {
	b := &p.board
	from, to, arrow := Squares(m)
	n := Square(b.geo.cols * b.geo.rows)
	switch {
	case m>>(arrowShift+7) != 0 || from >= n || to >= n || arrow >= n:
		return fmt.Sprintf("%#x is not a move on this board", uint32(m))
	case b.amazons[b.turn.Other()].Has(from):
		return fmt.Sprintf("%s: the amazon on %s is the opponent's", p.Format(m), b.geo.name(from))
	case !b.amazons[b.turn].Has(from):
		return fmt.Sprintf("%s: no amazon on %s", p.Format(m), b.geo.name(from))
	case !b.Reach(Bit(from)).Has(to):
		return fmt.Sprintf("%s: no free way from %s to %s", p.Format(m), b.geo.name(from), b.geo.name(to))
	}
	return fmt.Sprintf("%s: no free way for the arrow from %s to %s", p.Format(m), b.geo.name(to), b.geo.name(arrow))
}

// Undo takes back the last move; it panics if there is none.
func (p *Position) Undo() {
	last := len(p.played) - 1
	p.board.Undo(p.played[last])
	p.played = p.played[:last]
}

// Outcome returns a loss for the side to move if it has no move.
func (p *Position) Outcome() game.Outcome {
	if p.board.CanMove() {
		return game.Outcome{}
	}
	return game.Outcome{Result: game.WonBy(p.Turn().Other()), Reason: game.NoMoves}
}

// Key returns the position's key, see the package comment.
func (p *Position) Key() uint64 { return p.board.key }

// Ply returns the number of moves played.
func (p *Position) Ply() int { return len(p.played) }

// Played appends the moves played.
func (p *Position) Played(buf []game.Move) []game.Move { return append(buf, p.played...) }

// Perft counts leaves in bulk, see game.Perft.
func (p *Position) Perft(depth int) uint64 { return p.board.Perft(depth) }

// Clone returns an independent copy.
func (p *Position) Clone() game.Position {
	c := *p
	c.played = slices.Clone(p.played)
	return &c
}
