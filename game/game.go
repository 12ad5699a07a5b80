// Package game defines what all board games here have in common: moves, seats,
// outcomes, and positions that know their rules. It does not depend on engines,
// networks or the time of day.
//
// Most callers need two things: a rule set, which [sparring/game/catalog]
// finds by name, and the [Position] that [Rules.New] returns.
package game

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

// Move is one action of a seat: a move on the board or, under an opening
// procedure, a choice such as "swap". Each game lays out its own bits (Xiangqi
// uses 7+7, Gomoku 9, Amazons 3x7); only zero means the same in all of them.
type Move uint32

// NoMove is not a move. No game encodes a move as zero.
const NoMove Move = 0

// Seat is one of the two places at the board. First plays the side that moves
// first in the game's usual start position (Red in Xiangqi, Black in Gomoku,
// White in Amazons), unless an opening procedure swaps colours. In a start
// position with the other side to move, Second acts first.
type Seat uint8

// The two seats of every match.
const (
	First Seat = iota
	Second
)

// Other returns the opposite seat.
func (s Seat) Other() Seat { return s ^ 1 }

// String returns "first" or "second".
func (s Seat) String() string {
	if s == First {
		return "first"
	}
	return "second"
}

// MarshalText writes the seat as [Seat.String] does.
func (s Seat) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads "first" or "second"; anything else is an error.
func (s *Seat) UnmarshalText(text []byte) error {
	switch string(text) {
	case "first":
		*s = First
	case "second":
		*s = Second
	default:
		return fmt.Errorf("seat %.20q: want first or second", text)
	}
	return nil
}

// Result is the result of a game, so far.
type Result uint8

// The results. Undecided, the zero value, means that the game goes on.
const (
	Undecided Result = iota
	FirstWins
	SecondWins
	Draw
)

var resultText = [...]string{"none", "first", "second", "draw"}

// WonBy returns the result in which seat s has won.
func WonBy(s Seat) Result {
	if s == First {
		return FirstWins
	}
	return SecondWins
}

// String returns "none", "first", "second" or "draw".
func (r Result) String() string {
	if int(r) < len(resultText) {
		return resultText[r]
	}
	return fmt.Sprintf("result(%d)", r)
}

// MarshalText writes the result as [Result.String] does.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (r *Result) UnmarshalText(text []byte) error {
	for i, t := range resultText {
		if t == string(text) {
			*r = Result(i)
			return nil
		}
	}
	return fmt.Errorf("result %.20q: want none, first, second or draw", text)
}

// Reason says why a game ended. Rules, messages and records use the same words.
type Reason string

// Reasons that the rules themselves give. Reasons of the match around the
// board (time, resignation, ...) are in package protocol.
const (
	Checkmate            Reason = "checkmate"             // Xiangqi: in check without a legal move
	Stalemate            Reason = "stalemate"             // Xiangqi: no legal move, not in check; this loses
	PerpetualCheck       Reason = "perpetual-check"       // Xiangqi: one side alone checked through the whole cycle
	PerpetualChase       Reason = "perpetual-chase"       // Xiangqi: one side alone chased, or attacked in the sense of its rule set, through the cycle
	Repetition           Reason = "repetition"            // the position recurred and neither side is at fault
	MoveLimit            Reason = "move-limit"            // too many plies without progress
	InsufficientMaterial Reason = "insufficient-material" // neither side can win any more
	Five                 Reason = "five"                  // Gomoku: five (or more, where the rule allows) in a row
	Forbidden            Reason = "forbidden"             // Renju: Black played a forbidden point
	BoardFull            Reason = "board-full"            // Gomoku: no empty point left
	NoMoves              Reason = "no-moves"              // Amazons: the side to move cannot move
)

// Outcome is a result and the reason for it. The zero value is a game in progress.
type Outcome struct {
	Result Result `json:"result"`
	Reason Reason `json:"reason,omitempty"`
}

// Over reports whether the game has ended.
func (o Outcome) Over() bool { return o.Result != Undecided }

// Errors that positions return, wrapped with what and where.
var (
	// ErrIllegal: the move is well formed but not legal here.
	ErrIllegal = errors.New("illegal move")
	// ErrSyntax: a move or position text that is not in the game's format.
	ErrSyntax = errors.New("syntax")
	// ErrPosition: a well-formed position text that describes no position of the game.
	ErrPosition = errors.New("impossible position")
	// ErrRules: no rule set, or no game, of that name.
	ErrRules = errors.New("unknown rules")
	// ErrOver: the game has ended, so no move can be played.
	ErrOver = errors.New("game is over")
)

// Position is a game in progress: the board, whose turn it is, and as much
// history as the rules need (for repetitions and move limits). It is not safe
// for concurrent use; Clone it.
type Position interface {
	// Rules returns the rule set that the game is played under.
	Rules() *Rules
	// Turn returns the seat that acts next. Under an opening procedure one seat
	// may act twice in a row.
	Turn() Seat
	// Legal appends every legal move to buf: none when the game is over.
	Legal(buf []Move) []Move
	// Play makes the move. If the error is not nil, it wraps ErrIllegal or
	// ErrOver and the position is unchanged.
	Play(m Move) error
	// Undo takes back the last move played; it panics if there is none.
	Undo()
	// Outcome returns the result under the rules; resignations, clocks and the like
	// are not part of it.
	Outcome() Outcome
	// Key returns the 64-bit Zobrist key of the board, the side to move and the
	// stage of the opening procedure. It does not depend on the history.
	Key() uint64
	// Ply counts the moves played since the start position.
	Ply() int
	// Played appends the moves played since the start position to buf, in
	// order.
	Played(buf []Move) []Move
	// Format writes a legal move in the game's text form. For any other move
	// it returns some text and does not panic.
	Format(m Move) string
	// Parse reads what Format writes. The error wraps ErrSyntax, or
	// ErrIllegal if the text names a move that is not legal here.
	Parse(text string) (Move, error)
	// String returns the position's text form (a FEN or the game's own), which
	// Rules.New reads back. History is not part of it.
	String() string
	// Diagram returns a drawing of the board in several lines of plain text.
	Diagram() string
	// Clone returns an independent copy that includes the history.
	Clone() Position
}

// KeyText returns a position's key as messages and records write it: 16 hex digits.
func KeyText(key uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], key)
	return hex.EncodeToString(b[:])
}

// Rules is a rule set. Its name alone determines every rule of play.
type Rules struct {
	Name string // "xiangqi/simple": game, slash, the set with its parameters
	Game string // "xiangqi": the part before the slash
	// EarlyDraws: the parameters draw games earlier than the set without parameters does.
	EarlyDraws bool
	// New sets up the position that the text describes, the usual start
	// position if it is "". Errors wrap ErrSyntax or ErrPosition.
	New func(position string) (Position, error)
}

// Replay sets up the position and plays the moves, given as text. If a move
// fails, the error names its ply (from 1), and the position before that move is
// returned with it.
func Replay(r *Rules, position string, moves []string) (Position, error) {
	p, err := r.New(position)
	if err != nil {
		return nil, err
	}
	for _, text := range moves {
		if _, err := PlayText(p, text); err != nil {
			return p, err
		}
	}
	return p, nil
}

// PlayText plays the move that the text names. The error names the ply (from 1)
// and, if the text is at fault, the text.
func PlayText(p Position, text string) (Move, error) {
	m, err := p.Parse(text)
	if err == nil {
		err = p.Play(m)
	}
	if err != nil {
		return NoMove, fmt.Errorf("ply %d: %w", p.Ply()+1, err)
	}
	return m, nil
}

// SelfLoser is a Position whose rules may call a game lost for the player who has just
// moved, and that knows most moves for which they do not.
type SelfLoser interface {
	// MayLose reports whether a legal move may lose the game for its own player at once.
	// False is certain; true says that only playing the move tells.
	MayLose(m Move) bool
}

// Continuer is a Position of a game whose rules may end it while legal moves are
// left, by a repetition or a move limit.
type Continuer interface {
	// PlayOn undoes such an end: the outcome becomes Undecided, and the rule that
	// ended the game no longer applies, if the game allows that. Any other
	// outcome is kept. It is called only when the game is over.
	PlayOn()
}

// PlayOn continues a game that is over by its rules but not for the caller's
// arbiter, and reports whether moves can be played now. The history is kept.
func PlayOn(p Position) bool {
	if c, ok := p.(Continuer); ok && p.Outcome().Over() {
		c.PlayOn()
	}
	return !p.Outcome().Over()
}

// History returns what [Replay] needs to make p again: the text of its start
// position, "" for the usual one of its rules, and the moves as text. If the game
// was played on after an end, [PlayOn] may be needed before a move.
func History(p Position) (start string, moves []string) {
	q := p.Clone()
	for q.Ply() > 0 {
		q.Undo()
	}
	start = q.String()
	if usual, err := p.Rules().New(""); err == nil && usual.String() == start {
		start = ""
	}
	for _, m := range p.Played(nil) {
		moves = append(moves, q.Format(m))
		PlayOn(q) // insufficient material ends a game again after every move
		if err := q.Play(m); err != nil {
			panic(err) // a bug in the rules: the move was played
		}
	}
	return start, moves
}

// FormatLine writes a line of moves from p in a notation of its game, "" for the
// usual one, up to the first that can't be played.
func FormatLine(p Position, n Notation, line []Move) (texts []string) {
	p = p.Clone()
	for _, m := range line {
		text := p.Format(m)
		if in, ok := p.(Notated); ok && n != "" {
			text = in.FormatIn(n, m)
		}
		if p.Play(m) != nil {
			break
		}
		texts = append(texts, text)
	}
	return texts
}

// Perft counts the leaves of the legal move tree at the given depth, the
// standard test of a move generator. Depth 0 counts one.
func Perft(p Position, depth int) uint64 {
	if b, ok := p.(interface{ Perft(depth int) uint64 }); ok {
		return b.Perft(depth) // the game counts leaves in bulk
	}
	return perft(p, depth, make([][]Move, depth+1))
}

func perft(p Position, depth int, bufs [][]Move) uint64 {
	if depth == 0 {
		return 1
	}
	moves := p.Legal(bufs[depth][:0])
	bufs[depth] = moves
	if depth == 1 {
		return uint64(len(moves))
	}
	var n uint64
	for _, m := range moves {
		if err := p.Play(m); err != nil {
			panic(err) // a bug in the rules: the move was generated
		}
		n += perft(p, depth-1, bufs)
		p.Undo()
	}
	return n
}

// Game is a game's row: its rule sets, and what other packages need to know about
// it. All but Lenient, OneBook and Handicaps are required.
type Game struct {
	Name    string   // "xiangqi"; lower-case letters, digits, _ and -
	Default string   // the rule set meant where none is named, in full
	Sets    []string // the well-known rule sets, in full; parameters make more
	Common  []string // those that most games are played under, likeliest first
	// Lenient lists rule sets that end fewer games. They are tried for a record
	// of a game that continues after its end by all sets of Common.
	Lenient []string
	// OneBook: all rule sets can share an opening book.
	OneBook bool
	// Reasons lists why the rules may end a game.
	Reasons []Reason
	// Handicaps lists the usual handicaps under a rule set, the smallest first; nil
	// if the game has none.
	Handicaps func(r *Rules) []Handicap
	// Rules finds a rule set by its full name; the error wraps ErrRules.
	Rules func(name string) (*Rules, error)
	// RulesFor names the rule set that a position text implies (its board
	// size), the default for "". The error wraps ErrSyntax or ErrPosition.
	RulesFor func(position string) (string, error)
}

// Unrated says why no rated game is played under a rule set: whoever may choose the rules
// would win points by them. It is "" for others.
func (g Game) Unrated(r *Rules) string {
	switch {
	case r.EarlyDraws:
		return "games are drawn early"
	case g.Uneven(r):
		return "they have a handicap"
	}
	return ""
}

// Uneven reports whether games under a rule set begin with a handicap.
func (g Game) Uneven(r *Rules) bool {
	if g.Handicaps == nil {
		return false
	}
	usual, err := r.New("")
	return err == nil && slices.ContainsFunc(g.Handicaps(r), func(h Handicap) bool { return h.Position == usual.String() })
}

// Handicap is a start position that helps the weaker player.
type Handicap struct {
	Name     string `json:"name"`     // "two-horses"; part of the key of the page's text
	Position string `json:"position"` // as Rules.New reads it
	Weaker   Seat   `json:"weaker"`   // the seat that it helps
}

// ForbiddenPoint is a point on which a stone of the seat to act would lose the
// game (Renju).
type ForbiddenPoint struct {
	Point string        `json:"point"` // as Position.Format writes a move there
	Kind  ForbiddenKind `json:"kind"`
}

// ForbiddenKind is why a point is forbidden.
type ForbiddenKind string

// The kinds of forbidden point. If several apply, the last of this list counts.
const (
	DoubleThree ForbiddenKind = "double-three"
	DoubleFour  ForbiddenKind = "double-four"
	Overline    ForbiddenKind = "overline"
)

// Forbidder is a Position of a game with forbidden points.
type Forbidder interface {
	// Forbidden lists the forbidden points of the seat to act. The list is
	// empty once the game is over.
	Forbidden() []ForbiddenPoint
}

// Symmetric is a Position of a game whose rules do not change under some
// symmetries of the board: reflections and, on a square board, rotations.
// Symmetries are numbered from 0, which is the identity.
type Symmetric interface {
	// Symmetries returns the number of symmetries, the identity included.
	Symmetries() int
	// SymmetricKey returns the key of the image of the board, with the same side to
	// move. For the identity it is Position.Key, without what an opening
	// procedure adds to that.
	SymmetricKey(symmetry int) uint64
	// SymmetricMove returns the image of a legal move.
	SymmetricMove(symmetry int, m Move) Move
}

// Notation is a way to write a game's moves, by its name.
type Notation string

// Notated is a Position whose moves can be written in several ways.
type Notated interface {
	// Notations lists them; the first is that of Position.Format.
	Notations() []Notation
	// FormatIn writes a legal move.
	FormatIn(n Notation, m Move) string
	// ParseIn reads what FormatIn writes. The error wraps ErrSyntax if the text
	// is not in the form of a move, and ErrIllegal if it names no legal move or
	// more than one.
	ParseIn(n Notation, text string) (Move, error)
}
