package xiangqi

import (
	"fmt"
	"strings"

	"sparring/game"
)

// Position is a game in progress; it implements [game.Position]. Create one
// with the New of its rules.
type Position struct {
	rules     *Rules
	board     *Board
	outcome   game.Outcome
	firstMove int // number of the move at the start, as the FEN gave it
	firstSide Colour
}

var _ game.Position = (*Position)(nil)

// Board returns the position's board, with the whole game in its states. Clone it
// before making moves on it.
func (p *Position) Board() *Board { return p.board }

// RuleSet returns the rule set, with what an engine needs of it.
func (p *Position) RuleSet() *Rules { return p.rules }

// Rules returns the rule set that the game is played under.
func (p *Position) Rules() *game.Rules { return &p.rules.game }

// Turn returns the seat that moves next; First is Red.
func (p *Position) Turn() game.Seat { return p.board.side.Seat() }

// Outcome returns the outcome of the game so far.
func (p *Position) Outcome() game.Outcome { return p.outcome }

// Key returns the Zobrist key of the pieces and the side to move, as the package
// documentation defines it.
func (p *Position) Key() uint64 { return p.board.Key() }

// Ply counts the moves played.
func (p *Position) Ply() int { return len(p.board.states) - 1 }

// Played appends the moves played.
func (p *Position) Played(buf []game.Move) []game.Move {
	for _, st := range p.board.states[1:] {
		buf = append(buf, st.Move)
	}
	return buf
}

// Legal appends every legal move, none when the game is over.
func (p *Position) Legal(buf []game.Move) []game.Move {
	if p.outcome.Over() {
		return buf
	}
	return p.board.Legal(buf)
}

// Play makes the move, or returns an error wrapping game.ErrIllegal or
// game.ErrOver.
func (p *Position) Play(m game.Move) error {
	if p.outcome.Over() {
		return fmt.Errorf("%w (%s)", game.ErrOver, p.outcome.Reason)
	}
	if !p.board.IsLegal(m) {
		return fmt.Errorf("%w: %s", game.ErrIllegal, p.Format(m))
	}
	p.board.Do(m)
	p.outcome = p.rules.Outcome(p.board)
	return nil
}

// MayLose implements game.SelfLoser: only a move that repeats a position can lose at
// once, by what led back to it.
func (p *Position) MayLose(m game.Move) bool { return p.board.repeats(m) }

// Undo takes the last move back.
func (p *Position) Undo() {
	if p.Ply() == 0 {
		panic("xiangqi: Undo without a move")
	}
	p.board.Undo()
	p.outcome = game.Outcome{} // no move is played in a game that is over
}

// PlayOn implements game.Continuer. It continues a game that has ended by a
// repetition, by insufficient material or by the move limit, but not after a
// mate or stalemate. An arbiter that lets a game go on after a repetition, or
// beyond the move limit, has no such rule, so from there on the position's rules
// have none either. (With the limit, a search would see every move as a draw.)
func (p *Position) PlayOn() {
	lenient := *p.rules
	switch p.outcome.Reason {
	case game.Checkmate, game.Stalemate:
		return
	case game.PerpetualCheck, game.PerpetualChase, game.Repetition:
		lenient.repeats = true
	case game.MoveLimit:
		lenient.limit = 0
	}
	p.rules, p.outcome = lenient.named(), game.Outcome{}
}

// Perft counts the leaves of the legal move tree. Repetitions and the move limit
// do not end a line.
func (p *Position) Perft(depth int) uint64 { return p.board.Clone().Perft(depth) }

// String returns the FEN.
func (p *Position) String() string {
	plies := p.Ply()
	if p.firstSide == Black {
		plies++ // Red's half of the first move was played before
	}
	return p.board.fen(p.firstMove + plies/2)
}

// Diagram draws the board with Red at the bottom.
func (p *Position) Diagram() string {
	var t strings.Builder
	for rank := Ranks - 1; rank >= 0; rank-- {
		fmt.Fprintf(&t, "%d ", rank)
		for file := range Files {
			t.WriteByte(' ')
			t.WriteString(p.board.At(MakeSquare(file, rank)).String())
		}
		t.WriteByte('\n')
		if rank == 5 {
			t.WriteString("   ~~~~~~~~~~~~~~~~~\n")
		}
	}
	t.WriteString("   a b c d e f g h i\n")
	return t.String()
}

// Clone returns an independent copy.
func (p *Position) Clone() game.Position {
	c := *p
	c.board = p.board.Clone()
	return &c
}

// Format writes a move as "h2e2".
func (p *Position) Format(m game.Move) string { return FormatMove(m) }

// Parse reads a move as "h2e2".
func (p *Position) Parse(text string) (game.Move, error) {
	m, err := ParseMove(text)
	if err != nil {
		return game.NoMove, err
	}
	if !p.board.IsLegal(m) {
		return game.NoMove, fmt.Errorf("%w: %s", game.ErrIllegal, text)
	}
	return m, nil
}

// FormatMove writes a move as "h2e2", ranks from 0. A square that is not on the
// board is written as "-".
func FormatMove(m game.Move) string { return From(m).String() + To(m).String() }

// parseSquare reads what Square.String writes.
func parseSquare(text string) (s Square, ok bool) {
	if len(text) != 2 || text[0] < 'a' || text[0] > 'i' || text[1] < '0' || text[1] > '9' {
		return 0, false
	}
	return MakeSquare(int(text[0]-'a'), int(text[1]-'0')), true
}

// ParseMove reads what FormatMove writes, without regard to a position. The
// error wraps game.ErrSyntax.
func ParseMove(text string) (game.Move, error) {
	if len(text) != 4 {
		return game.NoMove, fmt.Errorf("move %.20q: %w: want a form like h2e2", text, game.ErrSyntax)
	}
	var s [2]Square
	for i := range s {
		var ok bool
		if s[i], ok = parseSquare(text[2*i : 2*i+2]); !ok {
			return game.NoMove, fmt.Errorf("move %.20q: %w: %q is not a square (a0 to i9)", text, game.ErrSyntax, text[2*i:2*i+2])
		}
	}
	if s[0] == s[1] {
		return game.NoMove, fmt.Errorf("move %.20q: %w: the two squares are the same", text, game.ErrSyntax)
	}
	return MakeMove(s[0], s[1]), nil
}
