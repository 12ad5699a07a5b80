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

// Winner is a Position of a game that is won by pieces on certain points.
type Winner interface {
	// Row lists the points of the row that has won, nil if there is none.
	Row() []string
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

// Refusal is why the rules refuse a move. The page has a sentence for each.
type Refusal string

// The refusals. Games share them where the sentence is the same.
const (
	RefusedOver     Refusal = "over"       // the game has ended
	RefusedEmpty    Refusal = "empty"      // nothing stands on the point
	RefusedNotYours Refusal = "not-yours"  // the piece is the opponent's
	RefusedStuck    Refusal = "stuck"      // the piece has no legal move
	RefusedSame     Refusal = "same-point" // the move ends where it begins
	RefusedOccupied Refusal = "occupied"   // the point is taken
	RefusedBlocked  Refusal = "blocked"    // something stands in the way

	// Xiangqi.
	RefusedOwnPiece Refusal = "own-piece"    // a piece of one's own stands there
	RefusedKing     Refusal = "king"         // the king goes one point along a line
	RefusedAdvisor  Refusal = "advisor"      // the advisor goes one point along a diagonal
	RefusedElephant Refusal = "elephant"     // the elephant goes two points along a diagonal
	RefusedHorse    Refusal = "horse"        // the horse goes one point along a line and one along a diagonal
	RefusedRook     Refusal = "rook"         // the rook goes along a line
	RefusedCannon   Refusal = "cannon"       // so does the cannon
	RefusedPawn     Refusal = "pawn"         // the pawn goes one point
	RefusedBackward Refusal = "backward"     // the pawn never goes back
	RefusedSideways Refusal = "sideways"     // before the river the pawn does not go sideways
	RefusedPalace   Refusal = "palace"       // king and advisors stay in the palace
	RefusedRiver    Refusal = "river"        // elephants stay on their side
	RefusedLeg      Refusal = "leg"          // a piece stands on the horse's leg
	RefusedEye      Refusal = "eye"          // a piece stands on the elephant's eye
	RefusedScreen   Refusal = "screen"       // the cannon captures over exactly one piece
	RefusedInCheck  Refusal = "in-check"     // the king is in check and would stay so
	RefusedExposes  Refusal = "exposes-king" // the king would be in check
	RefusedFacing   Refusal = "kings-face"   // the kings would face each other

	// Gomoku.
	RefusedTooFar    Refusal = "too-far-from-centre" // an opening procedure limits the distance
	RefusedChoice    Refusal = "choose-first"        // an opening procedure asks for a choice, not a stone
	RefusedOffered   Refusal = "offered-before"      // the fifth move was offered
	RefusedSymmetric Refusal = "symmetric-offer"     // a fifth move symmetric to it was offered
	RefusedNotOffer  Refusal = "not-offered"         // only an offered fifth move can be picked

	// Amazons.
	RefusedArrowThere   Refusal = "arrow-there"   // the piece is an arrow
	RefusedQueen        Refusal = "queen"         // the amazon goes along a line or diagonal
	RefusedShot         Refusal = "shot"          // the arrow flies along a line or diagonal
	RefusedShotBlocked  Refusal = "shot-blocked"  // something stands in the arrow's way
	RefusedShotOccupied Refusal = "shot-occupied" // the arrow's point is taken
)

// Refusals lists all refusals.
var Refusals = []Refusal{RefusedOver, RefusedEmpty, RefusedNotYours, RefusedStuck, RefusedSame, RefusedOccupied, RefusedBlocked,
	RefusedOwnPiece, RefusedKing, RefusedAdvisor, RefusedElephant, RefusedHorse, RefusedRook, RefusedCannon, RefusedPawn,
	RefusedBackward, RefusedSideways, RefusedPalace, RefusedRiver, RefusedLeg, RefusedEye, RefusedScreen, RefusedInCheck,
	RefusedExposes, RefusedFacing, RefusedTooFar, RefusedChoice, RefusedOffered, RefusedSymmetric, RefusedNotOffer,
	RefusedArrowThere, RefusedQueen, RefusedShot, RefusedShotBlocked, RefusedShotOccupied}

// Refuser is a Position that can say why its rules refuse a move.
type Refuser interface {
	// Refusal says why a move is refused that a player makes by touching the points
	// in this order. It is "" if they are a legal move or the beginning of one. The
	// error wraps ErrSyntax if they are not the points of a move on this board.
	Refusal(points []string) (Refusal, error)
}
