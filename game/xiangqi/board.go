package xiangqi

import (
	"slices"

	"sparring/game"
)

// keySeed seeds the Zobrist keys: "xiangqi" in ASCII.
const keySeed = 0x7869616e677169

// keyIndex numbers the entries of the Zobrist table: piece*90 + square, where
// the pieces are K A E H R C P of Red (0 to 6) and of Black (7 to 13).
func keyIndex(p Piece, s Square) uint64 {
	return uint64(p.Colour())*7*Squares + uint64(p.Kind()-1)*Squares + uint64(s)
}

// keyBlack enters the key when Black is to move.
var keyBlack = game.Zobrist(keySeed, 14*Squares)

// Board is the fast core of a [Position]: pieces, side to move, and the states
// that led here. It checks nothing: the caller of Do is responsible for the
// move's legality. The zero value is not a board; get one from [ParseFEN] or
// [Position.Board].
type Board struct {
	piece [Squares]Piece
	// of has the squares of each piece; of[Red all] and of[Black all], at the
	// indices of the colours' NoKind, have all of a colour's.
	of     [Pieces]Bits
	king   [2]Square
	side   Colour
	states []State
	// seen counts the states by the low bits of their keys, so that most new
	// positions are recognized without looking at the states. Only the boards of
	// searches have it: it is larger than all else.
	seen *[seenSize]uint16
}

// seenSize is large compared to the number of states between two captures.
const seenSize = 4096

// State is what the board keeps of each position of the game. The first is the
// position that the board was set up with.
type State struct {
	Key      uint64
	Move     game.Move // the move that led here; NoMove at the start and after Pass
	Captured Piece     // by that move
	Quiet    uint16    // plies since the last capture, as the move limit counts them
	Checks   [2]uint8  // by colour: checks given since the last capture, 11 for more
	Null     bool      // reached by Pass
	// Checkers are the pieces that give check to the side to move.
	Checkers Bits
	// pinned: pieces of the side to move that may expose its king by leaving.
	// hollow: empty squares on which a piece of its own would become an enemy
	// cannon's screen. If the side is not in check, every pseudo-legal move of
	// another piece than the king that leaves no pinned square and enters no
	// hollow one is legal.
	pinned, hollow Bits
}

// allOf returns the index in Board.of of all pieces of c.
func allOf(c Colour) Piece { return Piece(c) << 3 }

// Side returns the colour to move.
func (b *Board) Side() Colour { return b.side }

// Key returns the Zobrist key of the pieces and the side to move.
func (b *Board) Key() uint64 { return b.states[len(b.states)-1].Key }

// State returns the state of the current position. It is valid until the next Do.
func (b *Board) State() *State { return &b.states[len(b.states)-1] }

// States returns all states from the set-up position to this one. They are valid
// until the next Do, and must not be changed.
func (b *Board) States() []State { return b.states }

// InCheck reports whether the side to move is in check.
func (b *Board) InCheck() bool { return b.State().Checkers.Any() }

// At returns the piece on s.
func (b *Board) At(s Square) Piece { return b.piece[s] }

// Of returns the squares of a piece.
func (b *Board) Of(p Piece) Bits { return b.of[p&15] }

// All returns the squares of c's pieces.
func (b *Board) All(c Colour) Bits { return b.of[allOf(c)] }

// Occupied returns the squares of all pieces.
func (b *Board) Occupied() Bits { return b.of[allOf(Red)].Or(b.of[allOf(Black)]) }

// King returns the square of c's king.
func (b *Board) King(c Colour) Square { return b.king[c&1] }

// Clone returns an independent copy that includes the states, with room for a few more.
func (b *Board) Clone() *Board { return b.cloneWithRoom(8) }

// CloneForSearch is Clone for a search, which makes many moves: with room for so many
// more states, and quick at telling new positions from repeated ones.
func (b *Board) CloneForSearch(states int) *Board {
	c := b.cloneWithRoom(states)
	c.seen = new([seenSize]uint16)
	for i := range c.states {
		c.seen[c.states[i].Key%seenSize]++
	}
	return c
}

func (b *Board) cloneWithRoom(states int) *Board {
	c := *b
	c.seen, c.states = nil, append(make([]State, 0, len(b.states)+states), b.states...)
	return &c
}

// SameAs reports whether the boards have the same pieces and side to move.
func (b *Board) SameAs(o *Board) bool { return b.piece == o.piece && b.side == o.side }

// push adds a state, whose fields are stale, and returns it with the last one.
func (b *Board) push() (last, next *State) {
	n := len(b.states)
	if n == cap(b.states) {
		b.states = slices.Grow(b.states, n)
	}
	b.states = b.states[:n+1]
	return &b.states[n-1], &b.states[n]
}

// KeyAfter returns the key of the position after a legal move.
func (b *Board) KeyAfter(m game.Move) uint64 {
	from, to := From(m), To(m)
	p := b.piece[from] & 15
	return b.Key() ^ keyBlack ^ zobrist[p][from] ^ zobrist[p][to] ^ zobrist[b.piece[to]&15][to]
}

// Do makes a legal move.
func (b *Board) Do(m game.Move) {
	from, to := From(m), To(m)
	p, captured := b.piece[from], b.piece[to]
	us := b.side
	last, st := b.push()

	key := last.Key ^ keyBlack ^ zobrist[p][from] ^ zobrist[p][to]
	st.Move, st.Captured, st.Null = m, captured, false
	moved := only[from].Xor(only[to])
	b.of[p&15] = b.of[p&15].Xor(moved)
	b.of[allOf(us)] = b.of[allOf(us)].Xor(moved)
	st.Quiet, st.Checks = last.Quiet+1, last.Checks
	if captured != NoPiece {
		key ^= zobrist[captured][to]
		b.of[captured&15] = b.of[captured&15].Xor(only[to])
		them := allOf(us.Other())
		b.of[them] = b.of[them].Xor(only[to])
		st.Quiet, st.Checks = 0, [2]uint8{}
	}
	st.Key = key
	if b.seen != nil {
		b.seen[key%seenSize]++
	}
	b.piece[from], b.piece[to] = NoPiece, p
	if p.Kind() == King {
		b.king[us] = to
	}
	b.side = us.Other()
	b.look(st)
	if st.Checkers.Any() || last.Checkers.Any() {
		st.countCheck(last, us)
	}
}

// countedChecks is how many checks of a side since the last capture count for
// the move limit, each with its answer.
const countedChecks = 10

// countCheck counts the check, if any, that us gave by the move from last. A
// check beyond countedChecks, or the answer to one, does not count for the move
// limit.
func (st *State) countCheck(last *State, us Colour) {
	tooMany := last.Checkers.Any() && last.Checks[us.Other()] > countedChecks
	if st.Checkers.Any() {
		if st.Checks[us] <= countedChecks {
			st.Checks[us]++
		}
		tooMany = tooMany || st.Checks[us] > countedChecks
	}
	if tooMany && st.Captured == NoPiece {
		st.Quiet = last.Quiet
	}
}

// Undo takes back the last Do.
func (b *Board) Undo() {
	n := len(b.states) - 1
	st := &b.states[n]
	if b.seen != nil {
		b.seen[st.Key%seenSize]--
	}
	from, to := From(st.Move), To(st.Move)
	p, captured := b.piece[to], st.Captured
	us := b.side.Other()
	b.side = us
	moved := only[from].Xor(only[to])
	b.of[p&15] = b.of[p&15].Xor(moved)
	b.of[allOf(us)] = b.of[allOf(us)].Xor(moved)
	if captured != NoPiece {
		b.of[captured&15] = b.of[captured&15].Xor(only[to])
		them := allOf(us.Other())
		b.of[them] = b.of[them].Xor(only[to])
	}
	b.piece[from], b.piece[to] = p, captured
	if p.Kind() == King {
		b.king[us] = from
	}
	b.states = b.states[:n]
}

// Pass lets the other side move. It must not be called while in check.
func (b *Board) Pass() {
	last, st := b.push()
	st.Key = last.Key ^ keyBlack
	if b.seen != nil {
		b.seen[st.Key%seenSize]++
	}
	st.Move, st.Captured, st.Null = game.NoMove, NoPiece, true
	st.Quiet, st.Checks = last.Quiet+1, last.Checks
	b.side = b.side.Other()
	b.look(st)
}

// Unpass takes back a Pass.
func (b *Board) Unpass() {
	if b.seen != nil {
		b.seen[b.Key()%seenSize]--
	}
	b.side = b.side.Other()
	b.states = b.states[:len(b.states)-1]
}

// look finds the checkers, the pinned pieces and the hollow squares for the side
// to move.
func (b *Board) look(st *State) {
	checkers, between, hollow := b.aims(b.side)
	st.Checkers, st.pinned, st.hollow = checkers, between.And(b.of[allOf(b.side)]), hollow
}

// aims finds the threats to the king of us: the checkers, the pieces of either
// colour whose removal would give check, and the empty squares on which a piece
// would become the screen of a checking cannon. Only pieces on the king's lines
// and near it matter, seldom more than three.
func (b *Board) aims(us Colour) (checkers, pinned, hollow Bits) {
	them := us.Other()
	k := b.king[us]
	occupied := b.Occupied()

	rooks := b.of[MakePiece(them, Rook)]
	if k.File() == b.king[them].File() {
		rooks = rooks.Or(only[b.king[them]]) // the flying general
	}
	cannons := b.of[MakePiece(them, Cannon)]
	for s := rooks.And(cross[k]); s.Any(); s = s.Rest() {
		at := s.First()
		screens := between[k][at].And(occupied)
		switch screens.Count() {
		case 0:
			checkers = checkers.Or(only[at])
		case 1:
			pinned = pinned.Or(screens)
		}
	}
	for s := cannons.And(cross[k]); s.Any(); s = s.Rest() {
		at := s.First()
		path := between[k][at]
		screens := path.And(occupied)
		switch screens.Count() {
		case 0:
			hollow = hollow.Or(path)
		case 1:
			checkers = checkers.Or(only[at])
		case 2:
			pinned = pinned.Or(screens)
		}
	}
	for s := b.of[MakePiece(them, Horse)]; s.Any(); s = s.Rest() {
		at := s.First()
		leg := horseLeg[at][k]
		if leg == NoSquare {
			continue
		}
		if b.piece[leg] == NoPiece {
			checkers = checkers.Or(only[at])
		} else {
			pinned = pinned.Or(only[leg])
		}
	}
	checkers = checkers.Or(pawnSources[them][k].And(b.of[MakePiece(them, Pawn)]))
	return checkers, pinned, hollow
}

// exposes reports whether the pseudo-legal move would leave the mover's own
// king attacked, the flying general included.
func (b *Board) exposes(m game.Move) bool {
	from, to := From(m), To(m)
	us, them := b.side, b.side.Other()
	k := b.king[us]
	if from == k {
		k = to
	}
	occupied := b.Occupied().Without(only[from]).Or(only[to])
	rooks := b.of[MakePiece(them, Rook)]
	if k.File() == b.king[them].File() {
		rooks = rooks.Or(only[b.king[them]])
	}
	for s := rooks.And(cross[k]).Without(only[to]); s.Any(); s = s.Rest() {
		if !between[k][s.First()].Meets(occupied) {
			return true
		}
	}
	for s := b.of[MakePiece(them, Cannon)].And(cross[k]).Without(only[to]); s.Any(); s = s.Rest() {
		if between[k][s.First()].And(occupied).Count() == 1 {
			return true
		}
	}
	for s := b.of[MakePiece(them, Horse)].Without(only[to]); s.Any(); s = s.Rest() {
		if leg := horseLeg[s.First()][k]; leg != NoSquare && !occupied.Has(leg) {
			return true
		}
	}
	return pawnSources[them][k].And(b.of[MakePiece(them, Pawn)]).Without(only[to]).Any()
}

// AttackersTo returns the pieces of both colours, kings included, that could capture
// on s if only the squares of occupied were occupied; other pieces are ignored.
// The flying general is not an attack.
func (b *Board) AttackersTo(s Square, occupied Bits) Bits {
	rook, cannon := LineAttacks(s, occupied)
	a := rook.And(b.of[MakePiece(Red, Rook)].Or(b.of[MakePiece(Black, Rook)]))
	a = a.Or(cannon.And(b.of[MakePiece(Red, Cannon)].Or(b.of[MakePiece(Black, Cannon)])))
	a = a.Or(HorseSources(s, occupied).And(b.of[MakePiece(Red, Horse)].Or(b.of[MakePiece(Black, Horse)])))
	a = a.Or(pawnSources[Red][s].And(b.of[MakePiece(Red, Pawn)]))
	a = a.Or(pawnSources[Black][s].And(b.of[MakePiece(Black, Pawn)]))
	a = a.Or(kingSteps[s].And(only[b.king[Red]].Or(only[b.king[Black]])))
	a = a.Or(advisorSteps[s].And(b.of[MakePiece(Red, Advisor)].Or(b.of[MakePiece(Black, Advisor)])))
	a = a.Or(ElephantAttacks(s, occupied).And(b.of[MakePiece(Red, Elephant)].Or(b.of[MakePiece(Black, Elephant)])))
	return a.And(occupied)
}
