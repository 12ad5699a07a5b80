// Package pairing decides who plays whom on a ladder that pairs continuously:
// whoever is free meets the nearest rating that it has not just met, and the longer
// somebody waits, the less near it has to be. [Match] has no state and reads no
// clock, so that any process of a platform decides alike.
//
// It finds a matching of maximum weight. In a general graph that takes Edmonds's
// blossoms, and time that grows with the cube of the players. But ratings are
// numbers: among players sorted by them, two pairs that cross or enclose each other
// can be exchanged for two that do not, at no greater distance in all. So partners
// are neighbours but for those who may not meet, and a search among the next eight
// of each player is exact there, in time that grows with the players alone.
package pairing

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"sparring/arena/glicko"
	"sparring/protocol"
)

// Player is a free player of a pool.
type Player struct {
	ID      protocol.PlayerID
	Rating  glicko.Rating
	Games   int                 // rated games so far
	Balance int                 // games on the first seat less those on the second
	Recent  []protocol.PlayerID // the last opponents, the latest first
	Wait    time.Duration       // since it became free
}

// Pair is a game: the indexes of two players, by seat.
type Pair [2]int

// All of these are on the Glicko scale. A pair is made if the distance of the two,
// with its penalties, is below their tolerance.
const (
	// minTolerance and perSecond make the tolerance of two players, besides the
	// deviation of the difference of their ratings: below that nobody knows who is
	// stronger. perSecond is of their mean wait: the best of a pool, 800 points above
	// the next, waits half a minute for one that is just free.
	minTolerance = 50
	perSecond    = 50
	// rematch is the penalty for the last opponent: they meet again if both have waited
	// for 20 s. It halves with each one before.
	rematch = 1000
	// sameSeat is the penalty if both have had one seat more often, each once; it grows
	// with the product of the two balances.
	sameSeat = 30
)

// varied is how long an uncertain player waits for varied opponents.
const varied = 5 * time.Second

// Remembered is how many opponents of a player count as just met, in a pool that is
// large enough.
const Remembered = 3

const (
	// window is how far in the order of ratings a partner is searched. Each player
	// avoids Remembered others at most, so most have several left.
	window = 8
	// patient is how many of those whom the window left over are compared with all
	// others: where many may not meet each other, a partner can be far away.
	patient = 64
)

// Match pairs players. Present is how many there are in the pool, also those who are
// not free: where there are few, nobody is asked to wait for another opponent. Fits
// reports whether two players take each other. A player without a partner waits.
func Match(players []Player, present int, fits func(i, j int) bool) []Pair {
	m := matcher{players: players, aims: make([]float64, len(players)), recall: min(Remembered, (present-1)/2), fits: fits}
	order := make([]int, len(players))
	for i := range players {
		order[i], m.aims[i] = i, aim(&players[i])
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(m.aims[i], m.aims[j]), cmp.Compare(players[i].ID, players[j].ID))
	})
	for {
		found := m.near(order)
		if len(found) == 0 {
			break
		}
		order = m.take(order, found)
	}
	m.take(order, m.far(order))
	return m.pairs
}

// aim is the rating at which a player looks for opponents. As long as the rating is
// uncertain, that is another one for each game, drawn from where the strength may be:
// varied opponents place a new player, and the many who begin at one rating meet
// across all of it. With the wait it comes nearer to the rating: two newcomers who are alone
// have no varied opponents to wait for.
func aim(p *Player) float64 {
	if p.Rating.Deviation < glicko.Provisional {
		return p.Rating.Rating
	}
	z := rand.New(rand.NewPCG(hash(p.ID), uint64(p.Games))).NormFloat64()
	left := max(0, 1-p.Wait.Seconds()/varied.Seconds())
	return p.Rating.Rating + left*p.Rating.Deviation*max(-2, min(z, 2))
}

func hash(id protocol.PlayerID) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// matcher is one call of Match.
type matcher struct {
	players []Player
	aims    []float64
	recall  int
	fits    func(i, j int) bool
	pairs   []Pair
}

// weight is how good a pair is; 0 or less if it may not be made.
func (m *matcher) weight(i, j int) float64 {
	p, q := &m.players[i], &m.players[j]
	cost := math.Abs(m.aims[i]-m.aims[j]) + max(m.again(p, q), m.again(q, p))
	cost += max(0, sameSeat*float64(p.Balance*q.Balance))
	wait := (p.Wait + q.Wait).Seconds() / 2
	w := minTolerance + math.Hypot(p.Rating.Deviation, q.Rating.Deviation) + perSecond*wait - cost
	if w > 0 && !m.fits(i, j) {
		return 0
	}
	return w
}

// again is the penalty if a player has just met another.
func (m *matcher) again(p, q *Player) float64 {
	recent := p.Recent[:min(len(p.Recent), m.recall)]
	if k := slices.Index(recent, q.ID); k >= 0 {
		return rematch / float64(int(1)<<k)
	}
	return 0
}

// near returns the pairs of greatest total weight among players that are at most
// window apart in the order. Backwards through the order, it computes for each
// player, and each set of the next ones who are taken already, the best total of the
// rest.
func (m *matcher) near(order []int) (found []Pair) {
	const sets = 1 << (window + 1) // bit d: the player at d places from here is taken
	best, rest := new([sets]float64), new([sets]float64)
	choices := make([][sets]uint8, len(order)) // how far the partner is; 0: none
	for at := len(order) - 1; at >= 0; at-- {
		var weights [window + 1]float64
		for d := 1; d <= window && at+d < len(order); d++ {
			weights[d] = m.weight(order[at], order[at+d])
		}
		for set := range best {
			best[set] = rest[set>>1]
			if set&1 != 0 {
				continue
			}
			for d := 1; d <= window; d++ {
				if weights[d] <= 0 || set>>d&1 != 0 {
					continue
				}
				if total := weights[d] + rest[(set|1<<d)>>1]; total > best[set] {
					best[set], choices[at][set] = total, uint8(d)
				}
			}
		}
		best, rest = rest, best
	}
	set := 0
	for at := range order {
		if d := choices[at][set]; d > 0 {
			found = append(found, Pair{order[at], order[at+int(d)]})
			set |= 1 << d
		}
		set >>= 1
	}
	return found
}

// far pairs those who have waited longest with the best partner anywhere.
func (m *matcher) far(order []int) (found []Pair) {
	longest := slices.Clone(order)
	slices.SortStableFunc(longest, func(i, j int) int { return cmp.Compare(m.players[j].Wait, m.players[i].Wait) })
	taken := make(map[int]bool)
	for _, i := range longest[:min(len(longest), patient)] {
		partner, best := -1, 0.0
		for _, j := range order {
			if j != i && !taken[i] && !taken[j] {
				if w := m.weight(i, j); w > best {
					partner, best = j, w
				}
			}
		}
		if partner >= 0 {
			taken[i], taken[partner] = true, true
			found = append(found, Pair{i, partner})
		}
	}
	return found
}

// take adds pairs, and returns the order of those who are left.
func (m *matcher) take(order []int, found []Pair) []int {
	taken := make(map[int]bool, 2*len(found))
	for _, p := range found {
		taken[p[0]], taken[p[1]] = true, true
		m.pairs = append(m.pairs, m.seated(p))
	}
	return slices.DeleteFunc(order, func(i int) bool { return taken[i] })
}

// seated gives the first seat to the player who has had it less often.
func (m *matcher) seated(p Pair) Pair {
	x, y := &m.players[p[0]], &m.players[p[1]]
	if x.Balance > y.Balance || x.Balance == y.Balance && lot(x, y) != x.ID {
		return Pair{p[1], p[0]}
	}
	return p
}

// lot returns which of two players has the first seat if both have had it as often. Every
// process draws alike, whichever of the two it names first; the games so far are drawn
// with, so that the same two do not always open alike when their seats are even.
func lot(p, q *Player) protocol.PlayerID {
	ids := [2]protocol.PlayerID{min(p.ID, q.ID), max(p.ID, q.ID)}
	rng := rand.New(rand.NewPCG(hash(ids[0]+" "+ids[1]), uint64(p.Games+q.Games)))
	return ids[rng.IntN(2)]
}
