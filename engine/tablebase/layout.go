package tablebase

import (
	"fmt"

	rules "sparring/game/xiangqi"
)

// The positions of a set are numbered by mixed radix: the place of the two
// kings first, then the place of each group of like men, Red's before Black's,
// in the order of the set's name.
//
// By mirror symmetry, only 45 of the 81 placements of two kings are numbered: those
// with Red's king on the d-file, or on the e-file with Black's on d or e. Every
// other position is looked up mirrored. With both kings on the e-file a position
// and its mirror image have a number each: to identify them by the other men would
// save little and cost much.
//
// A man has a number for each square that it can reach from where it starts
// the game: a king 9, an advisor 5, an elephant 7, a pawn 55, others 90. Groups
// of n like men are numbered as combinations: the squares' numbers o1 < o2 <
// ... give C(o1,1) + C(o2,2) + ... Numbers whose men would share a square, and
// those of impossible positions, are unused.

// places are the squares that a man may stand on.
type places struct {
	square []rules.Square
	number [rules.Squares]int8 // -1: never
}

var (
	placesOf  [rules.Pieces]places
	kingPairs [][2]rules.Square                  // Red's and Black's, numbered
	pairAt    [rules.Squares][rules.Squares]int8 // number of a pair, -1: mirror it
	choose    [rules.Squares + 1][maxMen + 1]int // binomial coefficients
)

// homes are squares of Red's men at the start of the game, from which reachable
// finds all their squares.
var homes = [rules.Kinds][]rules.Square{
	rules.King: {4}, rules.Advisor: {3}, rules.Elephant: {2}, rules.Horse: {1}, rules.Rook: {0}, rules.Cannon: {19},
	rules.Pawn: {27, 29, 31, 33, 35},
}

func init() {
	for n := range choose {
		choose[n][0] = 1
		for k := 1; n > 0 && k <= maxMen; k++ {
			choose[n][k] = choose[n-1][k-1] + choose[n-1][k]
		}
	}
	for _, c := range [...]rules.Colour{rules.Red, rules.Black} {
		for k := rules.King; k <= rules.Pawn; k++ {
			p := rules.MakePiece(c, k)
			placesOf[p] = reachable(p)
		}
	}
	for i := range pairAt {
		for j := range pairAt[i] {
			pairAt[i][j] = -1
		}
	}
	for _, r := range placesOf[rules.MakePiece(rules.Red, rules.King)].square {
		for _, b := range placesOf[rules.MakePiece(rules.Black, rules.King)].square {
			if r.File() == 3 || r.File() == middle && b.File() <= middle {
				pairAt[r][b] = int8(len(kingPairs))
				kingPairs = append(kingPairs, [2]rules.Square{r, b})
			}
		}
	}
}

// middle is the file that mirroring does not move.
const middle = rules.Files / 2

// reachable returns the squares that a piece can reach, in order.
func reachable(p rules.Piece) places {
	var all rules.Bits
	todo := homes[p.Kind()]
	if p.Colour() == rules.Black {
		todo = nil
		for _, s := range homes[p.Kind()] {
			todo = append(todo, s.Flip())
		}
	}
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		if all.Has(s) {
			continue
		}
		all = all.Or(rules.Only(s))
		next := rules.Attacks(p, s, rules.Bits{})
		if p.Kind() == rules.Cannon {
			next = rules.RookAttacks(s, rules.Bits{})
		}
		for ; next.Any(); next = next.Rest() {
			todo = append(todo, next.First())
		}
	}
	var pl places
	for s := range rules.Square(rules.Squares) {
		pl.number[s] = -1
		if all.Has(s) {
			pl.number[s] = int8(len(pl.square))
			pl.square = append(pl.square, s)
		}
	}
	return pl
}

// squares are the squares of a set's men, in the order of its layout.
type squares [maxMen]rules.Square

// reflected returns the squares with left and right exchanged.
func (at squares) reflected() squares {
	for i := range at {
		at[i] = at[i].Mirror()
	}
	return at
}

// layout numbers the positions of a set.
type layout struct {
	set    Set
	piece  []rules.Piece // of each man: both kings, Red's first, then the groups
	group  []int         // of each man, -1 for kings
	groups []group
	pair   int // numbers per place of the kings
	size   int // of the numbering, for each side to move
}

// group is like men of one side.
type group struct {
	first, n int // the men
	places   *places
	ways     int // to place them
	stride   int // difference between the numbers of successive ways
}

// maxSize bounds the positions of a set: solving takes eight bytes for each.
const maxSize = 1 << 28

// newLayout returns the layout of a canonical set. The error is for a set that is too
// large to solve.
func newLayout(s Set) (*layout, error) {
	if s.Men() > maxMen {
		return nil, fmt.Errorf("tablebase set %s: %d men, at most %d can be", s, s.Men(), maxMen)
	}
	l := &layout{set: s}
	for _, c := range [...]rules.Colour{rules.Red, rules.Black} {
		l.piece = append(l.piece, rules.MakePiece(c, rules.King))
		l.group = append(l.group, -1)
	}
	for _, p := range s.pieces() {
		if p.Kind() == rules.King {
			continue
		}
		g := group{first: len(l.piece), n: s.Count(p), places: &placesOf[p]}
		g.ways = choose[len(g.places.square)][g.n]
		for range g.n {
			l.piece = append(l.piece, p)
			l.group = append(l.group, len(l.groups))
		}
		l.groups = append(l.groups, g)
	}
	l.pair = 1
	for i := len(l.groups) - 1; i >= 0; i-- {
		l.groups[i].stride = l.pair
		if l.pair *= l.groups[i].ways; l.pair > maxSize {
			return nil, fmt.Errorf("tablebase set %s: more than %d positions, too many to solve", s, maxSize)
		}
	}
	if l.size = l.pair * len(kingPairs); l.size > maxSize {
		return nil, fmt.Errorf("tablebase set %s: %d positions, more than %d are too many to solve", s, l.size, maxSize)
	}
	return l, nil
}

// even reports whether position number i has both kings on the middle file:
// its mirror image then has a number of its own.
func (l *layout) even(i int) bool {
	k := kingPairs[i/l.pair]
	return k[0].File() == middle && k[1].File() == middle
}

// way returns the number of a group's squares; ok is false when one is impossible
// or two are the same.
func (g *group) way(at []rules.Square) (way int, ok bool) {
	if g.n == 1 {
		n := g.places.number[at[0]]
		return int(n), n >= 0
	}
	var room [maxMen]int8
	numbers := room[:0]
	for _, s := range at[:g.n] {
		n := g.places.number[s]
		if n < 0 {
			return 0, false
		}
		i := len(numbers)
		numbers = append(numbers, n)
		for ; i > 0 && numbers[i-1] > n; i-- {
			numbers[i] = numbers[i-1]
		}
		numbers[i] = n
		if i > 0 && numbers[i-1] == n {
			return 0, false
		}
	}
	for i, n := range numbers {
		way += choose[n][i+1]
	}
	return way, true
}

// place is the inverse of way.
func (g *group) place(way int, at []rules.Square) {
	if g.n == 1 {
		at[0] = g.places.square[way]
		return
	}
	high := len(g.places.square)
	for i := g.n; i > 0; i-- {
		// The largest number whose coefficient fits, by binary search.
		low := i - 1
		for low+1 < high {
			if mid := (low + high) / 2; choose[mid][i] <= way {
				low = mid
			} else {
				high = mid
			}
		}
		way -= choose[low][i]
		at[i-1] = g.places.square[low]
		high = low
	}
}

// number returns the number of a position, mirrored if necessary. It is -1 if a man
// stands on a square that it can't reach in a game.
func (l *layout) number(at *squares) int {
	if pairAt[at[0]][at[1]] < 0 {
		mirrored := at.reflected()
		return l.direct(&mirrored)
	}
	return l.direct(at)
}

// direct returns number(at) for a position that is not mirrored, and -1 for others.
func (l *layout) direct(at *squares) int {
	pair := pairAt[at[0]][at[1]]
	if pair < 0 {
		return -1
	}
	n := int(pair) * l.pair
	for i := range l.groups {
		g := &l.groups[i]
		way, ok := g.way(at[g.first : g.first+g.n])
		if !ok {
			return -1
		}
		n += way * g.stride
	}
	return n
}

// squares is the inverse of number; men may share squares.
func (l *layout) squares(n int, at *squares) {
	k := kingPairs[n/l.pair]
	at[0], at[1] = k[0], k[1]
	n %= l.pair
	for i := range l.groups {
		g := &l.groups[i]
		g.place(n/g.stride, at[g.first:g.first+g.n])
		n %= g.stride
	}
}
