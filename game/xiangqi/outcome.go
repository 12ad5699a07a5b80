package xiangqi

import "sparring/game"

// Occurrences is how often a position must occur for the rules to end the game.
const Occurrences = 3

// Outcome returns the outcome of the game whose states the board holds.
func (r *Rules) Outcome(b *Board) game.Outcome {
	if !b.AnyLegal() {
		winner := game.WonBy(b.side.Other().Seat())
		if b.InCheck() {
			return game.Outcome{Result: winner, Reason: game.Checkmate}
		}
		return game.Outcome{Result: winner, Reason: game.Stalemate}
	}
	if b.Insufficient() {
		return game.Outcome{Result: game.Draw, Reason: game.InsufficientMaterial}
	}
	if span := b.Recurrence(Occurrences - 1); span > 0 && !r.repeats {
		return r.JudgeRepetition(b, span)
	}
	if r.limit > 0 && int(b.State().Quiet) >= r.limit {
		return game.Outcome{Result: game.Draw, Reason: game.MoveLimit}
	}
	return game.Outcome{}
}

// Insufficient reports whether neither side can ever win: both have only
// kings, advisors and elephants, or one has a cannon and elephants but nothing
// else against a bare king. With such pieces no side can be without a move.
func (b *Board) Insufficient() bool {
	of := func(k Kind) Bits { return b.of[MakePiece(Red, k)].Or(b.of[MakePiece(Black, k)]) }
	if of(Rook).Or(of(Pawn)).Or(of(Horse)).Any() {
		return false
	}
	cannons := of(Cannon)
	if !cannons.Any() {
		return true
	}
	if cannons.Count() > 1 || of(Advisor).Any() {
		return false
	}
	owner := b.piece[cannons.First()].Colour()
	return !b.of[MakePiece(owner.Other(), Elephant)].Any()
}

// Recurrence returns how many plies ago the position last occurred (n = 1), occurred
// for the second to last time (n = 2), and so on; 0 if it did not, since the
// last capture or pass.
func (b *Board) Recurrence(n int) (span int) {
	last := len(b.states) - 1
	key := b.states[last].Key
	if b.seen != nil && int(b.seen[key%seenSize]) <= n {
		return 0
	}
	for i := last; i >= 2; i -= 2 {
		mine, theirs := &b.states[i], &b.states[i-1]
		if mine.Captured|theirs.Captured != NoPiece || mine.Null || theirs.Null {
			return 0
		}
		if b.states[i-2].Key == key {
			if n--; n == 0 {
				return last - i + 2
			}
		}
	}
	return 0
}

// repeats reports whether a legal move leads to a position that occurred since the last
// capture or pass.
func (b *Board) repeats(m game.Move) bool {
	if b.piece[To(m)] != NoPiece {
		return false
	}
	key := b.KeyAfter(m)
	for i := len(b.states) - 1; i >= 1 && b.states[i].Captured == NoPiece && !b.states[i].Null; i-- {
		if b.states[i-1].Key == key {
			return true
		}
	}
	return false
}

// JudgeRepetition returns the outcome if the last span plies, which led from a
// position back to itself without a capture or a pass, are repeated until the
// rules end the game. It takes them back and plays them again, which leaves the
// board as it was.
func (r *Rules) JudgeRepetition(b *Board, span int) game.Outcome {
	worst := b.checkOffences(span)
	if worst == [2]offence{} {
		switch r.set {
		case wxf:
			worst = b.wxfOffences(span)
		case cxa:
			worst = b.cxaOffences(span)
		}
	}
	if worst[Red] == worst[Black] {
		return game.Outcome{Result: game.Draw, Reason: game.Repetition}
	}
	loser := Red
	if worst[Black] > worst[Red] {
		loser = Black
	}
	reason := game.PerpetualChase
	if worst[loser] == checking {
		reason = game.PerpetualCheck
	}
	return game.Outcome{Result: game.WonBy(loser.Other().Seat()), Reason: reason}
}

// checkOffences finds the sides that gave check with each of their moves in the
// last span plies.
func (b *Board) checkOffences(span int) [2]offence {
	last := len(b.states) - 1
	worst := [2]offence{checking, checking}
	mover := b.side.Other()
	for i := last; i > last-span; i-- {
		if !b.states[i].Checkers.Any() {
			worst[mover] = idle
		}
		mover = mover.Other()
	}
	return worst
}
