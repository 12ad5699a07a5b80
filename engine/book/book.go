package book

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
)

// Book is an opening book. It does not change and is safe for concurrent use.
type Book struct {
	family  string
	entries []Entry  // ascending by key, then by move
	games   []uint64 // marks of the games counted, ascending
}

// Entry is a move in a position, both folded as the package documentation says.
type Entry struct {
	Key  uint64
	Move game.Move
	// Wins, Draws and Losses count games, for the side that plays Move.
	Wins, Draws, Losses uint32
	// Learnt is the sum of the changes of the score by finished games, in
	// thousandths.
	Learnt     int16
	Preference Preference
}

// Preference is the author's opinion of a move: each step up doubles its weight,
// each step down halves it.
type Preference int8

// Bounds of a preference. A move that is avoided is never played.
const (
	Avoid         Preference = -128
	MaxPreference Preference = 20
)

// valid reports whether p is within its bounds, or Avoid.
func (p Preference) valid() bool {
	return p == Avoid || p >= -MaxPreference && p <= MaxPreference
}

// Constants of the formulas in the package documentation.
const (
	priorGames       = 8
	priorScore       = 0.4
	steepness        = 10
	worstScore       = 0.35
	minShare         = 0.01
	learntStep       = 150 // thousandths of a point
	maxLearnt        = 300
	usualPlies       = 24
	usualMinGames    = 3
	usualTemperature = 1.0
)

// valid reports whether Learnt and Preference are within their bounds.
func (e Entry) valid() bool {
	return e.Preference.valid() && e.Learnt >= -maxLearnt && e.Learnt <= maxLearnt
}

// Games returns the number of games in which the move was played.
func (e Entry) Games() int { return int(e.Wins) + int(e.Draws) + int(e.Losses) }

// Score returns the expected score of the side that plays the move, 0 to 1.
func (e Entry) Score() float64 {
	points := float64(e.Wins) + float64(e.Draws)/2 + priorGames*priorScore
	s := points/float64(e.Games()+priorGames) + float64(e.Learnt)/1000
	return min(max(s, 0), 1)
}

// Weight returns the weight of the move in a random choice.
func (e Entry) Weight() float64 {
	if e.Preference == Avoid {
		return 0
	}
	return float64(e.Games()+1) * math.Exp(steepness*(e.Score()-0.5)) * math.Exp2(float64(e.Preference))
}

func (e Entry) compare(o Entry) int {
	return cmp.Or(cmp.Compare(e.Key, o.Key), cmp.Compare(e.Move, o.Move))
}

// Family returns the name that stands for all rule sets with the same openings; it
// is itself a rule set or a game. All rule sets of Xiangqi are one family: they
// differ in repetitions, limits and handicaps. A rule set with an opening procedure
// belongs to the set before the "+". Every other rule set is a family by itself.
func Family(rules string) string {
	head, _, _ := strings.Cut(rules, "/")
	if g, err := catalog.Game(head); err == nil && g.OneBook {
		return g.Name
	}
	family, _, _ := strings.Cut(rules, "+")
	return family
}

// Family returns the family of rule sets that the book is for.
func (b *Book) Family() string { return b.family }

// Size returns the number of positions and of moves in them.
func (b *Book) Size() (positions, moves int) {
	for i, e := range b.entries {
		if i == 0 || e.Key != b.entries[i-1].Key {
			positions++
		}
	}
	return positions, len(b.entries)
}

// Games returns the number of games that the book was made from.
func (b *Book) Games() int { return len(b.games) }

// at returns the entries of a position.
func (b *Book) at(key uint64) []Entry {
	from := sort.Search(len(b.entries), func(i int) bool { return b.entries[i].Key >= key })
	to := from
	for to < len(b.entries) && b.entries[to].Key == key {
		to++
	}
	return b.entries[from:to]
}

// spot is a position as books look it up.
type spot struct {
	key   uint64
	board game.Symmetric // nil for a game without symmetries
	ways  []int          // symmetries that lead to key
}

func spotOf(p game.Position) spot {
	board, ok := p.(game.Symmetric)
	if !ok {
		return spot{key: p.Key()}
	}
	s := spot{board: board, key: math.MaxUint64}
	for way := range board.Symmetries() {
		key := board.SymmetricKey(way)
		if key < s.key {
			s.key, s.ways = key, s.ways[:0]
		}
		if key == s.key {
			s.ways = append(s.ways, way)
		}
	}
	return s
}

// fold returns the move that stands for m and its images.
func (s spot) fold(m game.Move) game.Move {
	if s.board == nil {
		return m
	}
	least := game.Move(math.MaxUint32)
	for _, way := range s.ways {
		least = min(least, s.board.SymmetricMove(way, m))
	}
	return least
}

// sorted makes a book of entries in any order, without duplicates.
func sorted(family string, entries []Entry, games []uint64) *Book {
	slices.SortFunc(entries, Entry.compare)
	slices.Sort(games)
	return &Book{family, entries, games}
}
