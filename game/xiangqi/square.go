package xiangqi

import "sparring/game"

// Colour is the colour of a piece, and of the side that owns it.
type Colour uint8

// The colours. Red always belongs to seat First.
const (
	Red Colour = iota
	Black
)

// Other returns the opposite colour.
func (c Colour) Other() Colour { return c ^ 1 }

// Seat returns the seat that plays the colour.
func (c Colour) Seat() game.Seat { return game.Seat(c) }

// String returns "red" or "black".
func (c Colour) String() string {
	if c == Red {
		return "red"
	}
	return "black"
}

// Kind is the kind of a piece, without its colour.
type Kind uint8

// The kinds. NoKind is the kind of an empty square.
const (
	NoKind Kind = iota
	King
	Advisor
	Elephant
	Horse
	Rook
	Cannon
	Pawn
	Kinds = iota // the number of kinds, NoKind included
)

// String returns the English name of the kind.
func (k Kind) String() string {
	return [...]string{"nothing", "king", "advisor", "elephant", "horse", "rook", "cannon", "pawn"}[k&7]
}

// Piece is a kind and a colour; zero is an empty square.
type Piece uint8

// NoPiece stands on an empty square.
const NoPiece Piece = 0

// Pieces is the size of an array that is indexed by Piece.
const Pieces = 16

// MakePiece returns the piece of that colour and kind.
func MakePiece(c Colour, k Kind) Piece { return Piece(c)<<3 | Piece(k) }

// Kind returns the kind of the piece.
func (p Piece) Kind() Kind { return Kind(p & 7) }

// Colour returns the colour of the piece. It is meaningless for NoPiece.
func (p Piece) Colour() Colour { return Colour(p >> 3) }

// letters are the FEN letters of the pieces as this package writes them.
const letters = ".KABNRCP.kabnrcp"

// String returns the FEN letter of the piece, upper case for Red; "." for none.
func (p Piece) String() string { return letters[p&15 : p&15+1] }

// Square is a point of the board: rank*9 + file, rank 0 is Red's back rank,
// file 0 is the file at Red's left hand ("a").
type Square uint8

// The size of the board.
const (
	Files   = 9
	Ranks   = 10
	Squares = Files * Ranks
	// NoSquare is not on the board.
	NoSquare Square = Squares
)

// MakeSquare returns the square at file (0 to 8) and rank (0 to 9).
func MakeSquare(file, rank int) Square { return Square(rank*Files + file) }

// File is 0 at Red's left hand.
func (s Square) File() int { return int(s % Files) }

// Rank is 0 at Red's side.
func (s Square) Rank() int { return int(s / Files) }

// Flip returns the square with the ranks reversed.
func (s Square) Flip() Square { return Square(Squares-Files) - s + 2*(s%Files) }

// Mirror returns the square with the files reversed.
func (s Square) Mirror() Square { return s + Files - 1 - 2*(s%Files) }

// String returns the file's letter and the rank's digit: "a0" to "i9".
func (s Square) String() string {
	if s >= Squares {
		return "-"
	}
	return string([]byte{'a' + byte(s%Files), '0' + byte(s/Files)})
}

// MakeMove returns the move from one square to another, legal or not: 7 bits of
// origin below 7 bits of target.
func MakeMove(from, to Square) game.Move { return game.Move(from) | game.Move(to)<<7 }

// From returns the square that a move leaves. Any 32 bits give a value below 128.
func From(m game.Move) Square { return Square(m & 127) }

// To returns the square that a move enters. Any 32 bits give a value below 128.
func To(m game.Move) Square { return Square(m >> 7 & 127) }

// wellFormed reports whether the bits name two different squares.
func wellFormed(m game.Move) bool {
	return m < 1<<14 && From(m) < Squares && To(m) < Squares && From(m) != To(m)
}
