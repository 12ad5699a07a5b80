// Package areas values the ends of Amazons games: areas of the board that arrows
// have enclosed, as sums of combinatorial games.
//
// An amazon is no wall between areas, since it can move away; an arrow is. No
// move in one area changes another. So a position is the sum of its areas in the
// sense of Conway ("On Numbers and Games", 1976), and who wins follows from their
// values: whoever can't move has lost, which is the normal play convention. Left
// is the first seat and Right the second.
//
// An area with amazons of one side only is an integer: the greatest number of
// moves that the side can make in it, its filling number (Müller and Tegos,
// "Experiments in computer Amazons", 2002). It may be less than the number of its
// free squares; such an area is called defective. To find it is NP-complete
// (Buro, "Simple Amazons endgames and their connection to Hamilton circuits in
// cubic subgrid graphs", 2000), so that a search for it has a limit. An area with
// amazons of both sides may be a number as well, or hot: worth a move. A [Value]
// bounds it by numbers. All bounds are proven.
//
// [Solver] finds values by search, with a [Table] of small areas if there is one,
// and decides sums.
package areas

import "sparring/game"

// Number is a dyadic rational in eighths: the value of an area in moves of
// Left, negative for moves of Right.
type Number int16

// Move is the value of one move to spare.
const Move Number = 8

// infinite is beyond any value: no board has so many squares.
const infinite Number = 1 << 14

// Value has proven bounds of a game G. Low <= G <= High, in the partial order of
// games. Left, moving first in G - x, wins for every x < LeftFirst; Right, moving
// first, wins for every x > RightFirst.
//
// All four are equal for a number. A value is tight if RightFirst is Low and
// LeftFirst is High: then Low and High are the best bounds in eighths.
type Value struct{ Low, High, LeftFirst, RightFirst Number }

// number returns the value of a number.
func number(n Number) Value { return Value{n, n, n, n} }

// between returns the value of which only Low <= G <= High is known.
func between(low, high Number) Value { return Value{low, high, low, high} }

// tight returns the value with the best bounds low and high.
func tight(low, high Number) Value { return Value{low, high, high, low} }

// IsNumber reports whether the value is known to be a number, which is Low.
func (v Value) IsNumber() bool { return v.Low == v.High }

// Hot reports whether it is known that the value is not a number (or one of
// smaller fractions than eighths).
func (v Value) Hot() bool { return v.LeftFirst > v.RightFirst }

// Add returns what is known of the sum of two games.
func (v Value) Add(w Value) Value {
	return Value{
		Low:        v.Low + w.Low,
		High:       v.High + w.High,
		LeftFirst:  max(v.Low+w.LeftFirst, v.LeftFirst+w.Low),
		RightFirst: min(v.High+w.RightFirst, v.RightFirst+w.High),
	}
}

// Negative returns the value with the sides exchanged.
func (v Value) Negative() Value { return Value{-v.High, -v.Low, -v.RightFirst, -v.LeftFirst} }

// Meet returns what two values of the same game say together.
func (v Value) Meet(w Value) Value {
	return Value{max(v.Low, w.Low), min(v.High, w.High), max(v.LeftFirst, w.LeftFirst), min(v.RightFirst, w.RightFirst)}
}

// Winner returns who wins with the given side to move, if the value decides it.
func (v Value) Winner(turn game.Seat) (winner game.Seat, ok bool) {
	if turn == game.First {
		switch {
		case v.LeftFirst > 0:
			return game.First, true
		case v.High <= 0:
			return game.Second, true
		}
		return 0, false
	}
	switch {
	case v.RightFirst < 0:
		return game.Second, true
	case v.Low >= 0:
		return game.First, true
	}
	return 0, false
}

// options collects the values of a game's options: the games that the moves of
// either side lead to.
type options struct {
	leftLow, leftRight  Number // the greatest Low and RightFirst of Left's options
	rightHigh, rightLed Number // the smallest High and LeftFirst of Right's options
}

func newOptions() options { return options{-infinite, -infinite, infinite, infinite} }

// add adds an option of a side.
func (o *options) add(side game.Seat, v Value) {
	if side == game.First {
		o.leftLow, o.leftRight = max(o.leftLow, v.Low), max(o.leftRight, v.RightFirst)
	} else {
		o.rightHigh, o.rightLed = min(o.rightHigh, v.High), min(o.rightLed, v.LeftFirst)
	}
}

// value returns the value of the game. Only what is certain of the options counts,
// so every bound is one of the following, for a number x with left options xL:
//
//   - G >= x if Left, moving first, wins every option of Right minus x, and G - xL.
//   - Left, moving first, wins G - x if an option of Left is at least x.
//
// The other side's bounds are the same with the sides exchanged. Where the two
// sides' options leave room for a number, the simplest one is a bound, because no
// xL lies in the room.
func (o *options) value() Value {
	var v Value
	v.Low, v.High = o.rightLed-1, o.leftRight+1
	if n, ok := simplest(o.leftLow, o.rightLed); ok {
		v.Low = n
	}
	if n, ok := simplest(o.leftRight, o.rightHigh); ok {
		v.High = n
	}
	v.LeftFirst, v.RightFirst = max(o.leftLow+1, v.Low), min(o.rightHigh-1, v.High)
	return v
}

// simplest returns the simplest number above low and below high: the integer
// nearest to 0, or else the one with the smallest denominator.
func simplest(low, high Number) (Number, bool) {
	if low >= high-1 {
		return 0, false
	}
	if low < 0 && high > 0 {
		return 0, true
	}
	if low < 0 {
		n, ok := simplest(-high, -low)
		return -n, ok
	}
	for unit := Move; unit > 0; unit /= 2 {
		if n := (low/unit + 1) * unit; n < high {
			return n, true
		}
	}
	return 0, false
}

// pass returns the number after a side's move in it: the option of its simplest
// form. Ok is false if the side has none.
func (n Number) pass(side game.Seat) (Number, bool) {
	if side == game.Second {
		m, ok := (-n).pass(game.First)
		return -m, ok
	}
	if n%Move == 0 {
		return n - Move, n > 0
	}
	return n - n&-n, true
}
