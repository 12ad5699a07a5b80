package match

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"sparring/engine"
	"sparring/game"
	"sparring/lab/match/elo"
)

// Standing is the result of the games so far. Their order does not matter.
type Standing struct {
	Terms    *Terms
	Games    int
	Players  []Tally   // by index
	Pairings []Pairing // in the order of Terms.Pairings
	// Repetitions counts the games that ended by repetition; under different
	// repetition rules they might have continued.
	Repetitions int
	// Repeated counts the games that are move for move like an earlier one, between the
	// same seats. They show nothing new, and the errors, which take every game for a
	// new one, are too small.
	Repeated int
	Reasons  map[game.Reason]int
	First    Score // of the first seat
	// Paired counts the openings that were played with either seat, and SameSeat those of
	// them whose two games the same seat won: they tell nothing of the players.
	Paired, SameSeat int
	Stalls           Stalls
	// Results are the games in the order in which they were added, for what depends
	// on their course.
	Results []Result

	open   map[int]half        // pairs with one finished game, by number
	played map[uint64]struct{} // hashes of the games so far: who sat where, and the moves
}

// seed is that of the hashes of courses, which never leave the process.
var seed = maphash.MakeSeed()

// courseOf returns the hash of who sat where in a game, and of all its moves.
func courseOf(g *Game) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	fmt.Fprintln(&h, g.Match.Players, g.Position)
	for i := range g.Plies {
		fmt.Fprintln(&h, g.Plies[i].Move)
	}
	return h.Sum64()
}

// Result is a game as the statistics see it.
type Result struct {
	Pairing int // index of Standing.Pairings
	Pair    int
	Leg     int       // 0: the game has no partner
	Halves  int       // half points of the pairing's A, 0 to 2
	SeatA   game.Seat // of the pairing's A
	Plies   int
	Fault   engine.FaultKind // by which the loser lost; "" for none
}

// Score counts games and pairs of games from one player's side.
type Score struct {
	Wins   int       `json:"wins"`
	Draws  int       `json:"draws"`
	Losses int       `json:"losses"`
	Pairs  elo.Pairs `json:"pairs"`
}

// Games returns the number of games.
func (s *Score) Games() int { return s.Wins + s.Draws + s.Losses }

// Points returns one point per win and a half per draw.
func (s *Score) Points() float64 { return float64(s.Wins) + float64(s.Draws)/2 }

// Percent returns the points in percent; 0 without games.
func (s *Score) Percent() float64 { return 100 * s.Points() / max(float64(s.Games()), 1) }

// Add adds the games of another score.
func (s *Score) Add(o Score) {
	s.Wins += o.Wins
	s.Draws += o.Draws
	s.Losses += o.Losses
	for i, n := range o.Pairs {
		s.Pairs[i] += n
	}
}

// Turned returns the score from the opponent's side.
func (s Score) Turned() Score {
	return Score{Wins: s.Losses, Draws: s.Draws, Losses: s.Wins, Pairs: s.Pairs.Turned()}
}

// ScoreOf returns the score of the results of one pairing, from A's side.
func ScoreOf(results []Result) (s Score) {
	open := map[int]int{} // half points of the first game of a pair
	for _, r := range results {
		s.count(r.Halves)
		first, ok := open[r.Pair]
		switch {
		case r.Leg == 0:
			s.Pairs.Add(2 * r.Halves) // see elo.Pairs
		case ok:
			s.Pairs.Add(first + r.Halves)
		default:
			open[r.Pair] = r.Halves
		}
	}
	return s
}

// count adds a game with the given half points.
func (s *Score) count(halves int) {
	switch halves {
	case 2:
		s.Wins++
	case 1:
		s.Draws++
	default:
		s.Losses++
	}
}

// Tally sums up the games of one player.
type Tally struct {
	Name string
	Score
	Faults     map[engine.FaultKind]int
	FirstFault *Fault // nil: none
	Side              // sums
}

// FaultCount returns the number of games lost by a fault.
func (t *Tally) FaultCount() (n int) {
	for _, c := range t.Faults {
		n += c
	}
	return n
}

// Pairing is the score of player A against player B.
type Pairing struct {
	A, B int // indices of players
	Score
	First Score // of A's games with the first seat, without pairs
}

// Second returns the score of A's games with the second seat, without pairs.
func (m *Pairing) Second() Score {
	return Score{Wins: m.Wins - m.First.Wins, Draws: m.Draws - m.First.Draws, Losses: m.Losses - m.First.Losses}
}

// half is a pair's first finished game; the zero value stands for a complete pair.
type half struct {
	leg, halves int // half points of the pairing's A
	result      game.Result
}

// NewStanding returns the standing of a match without games.
func NewStanding(t *Terms) *Standing {
	s := &Standing{Terms: t, Reasons: map[game.Reason]int{}, open: map[int]half{}, played: map[uint64]struct{}{}}
	for _, name := range t.Names() {
		s.Players = append(s.Players, Tally{Name: name, Faults: map[engine.FaultKind]int{}})
	}
	for _, p := range t.Pairings() {
		s.Pairings = append(s.Pairings, Pairing{A: p[0], B: p[1]})
	}
	return s
}

// Add adds a finished game. It returns an error if the game does not belong to
// the match or was added before.
func (s *Standing) Add(g *Game) error {
	at := s.pairing(g.Match.Players)
	if at < 0 || g.Result == game.Undecided {
		return fmt.Errorf("game %s, players %v, result %s: not a finished game of this match", g.ID, g.Match.Players, g.Result)
	}
	m := &s.Pairings[at]
	seatA := game.First
	if g.Match.Players[game.First] != m.A {
		seatA = game.Second
	}
	halves := halvesOf(g.Result, seatA)
	if err := s.addToPair(g, m, halves); err != nil {
		return err
	}
	m.count(halves)
	s.Players[m.A].count(halves)
	s.Players[m.B].count(2 - halves)
	if seatA == game.First {
		m.First.count(halves)
		s.First.count(halves)
	} else {
		s.First.count(2 - halves)
	}
	for seat, i := range g.Match.Players {
		s.Players[i].Side.Add(g.Match.Sides[seat])
	}
	s.Games++
	s.Reasons[g.Reason]++
	s.Stalls.add(&g.Match)
	course := courseOf(g)
	if _, again := s.played[course]; again {
		s.Repeated++
	}
	s.played[course] = struct{}{}
	switch g.Reason {
	case game.Repetition, game.PerpetualCheck, game.PerpetualChase:
		s.Repetitions++
	}
	result := Result{Pairing: at, Pair: g.Match.Pair, Leg: g.Match.Leg, Halves: halves, SeatA: seatA, Plies: len(g.Plies)}
	if f := g.Match.Fault; f != nil {
		result.Fault = f.Kind
		p := &s.Players[g.Match.Players[f.Seat]]
		if p.Faults[f.Kind]++; p.FirstFault == nil {
			p.FirstFault = f
		}
	}
	s.Results = append(s.Results, result)
	return nil
}

// halvesOf returns the half points of a seat.
func halvesOf(r game.Result, seat game.Seat) int {
	switch r {
	case game.WonBy(seat):
		return 2
	case game.WonBy(seat.Other()):
		return 0
	}
	return 1
}

// addToPair notes the first game of a pair, and counts the pair with the second. Halves are
// the half points of m.A.
func (s *Standing) addToPair(g *Game, m *Pairing, halves int) error {
	sum := 2 * halves // of a game without a partner, see elo.Pairs
	if g.Match.Leg != 0 {
		first, ok := s.open[g.Match.Pair]
		switch {
		case !ok:
			s.open[g.Match.Pair] = half{g.Match.Leg, halves, g.Result}
			return nil
		case first.leg == g.Match.Leg || first.leg == 0: // 0: the pair is complete
			return fmt.Errorf("game %s: pair %d already has game %d", g.ID, g.Match.Pair, g.Match.Leg)
		}
		s.open[g.Match.Pair] = half{}
		s.Paired++
		if g.Result != game.Draw && g.Result == first.result {
			s.SameSeat++
		}
		sum = first.halves + halves
	}
	m.Pairs.Add(sum)
	s.Players[m.A].Pairs.Add(sum)
	s.Players[m.B].Pairs.Add(4 - sum)
	return nil
}

// pairing returns the index of the pairing of two players, -1 for none.
func (s *Standing) pairing(players [2]int) int {
	return slices.IndexFunc(s.Pairings, func(m Pairing) bool {
		return players == [2]int{m.A, m.B} || players == [2]int{m.B, m.A}
	})
}

// Add adds the sums of other games.
func (s *Side) Add(o Side) {
	s.Moves += o.Moves
	s.Nodes += o.Nodes
	s.TimeUS += o.TimeUS
	s.Depths += o.Depths
	s.Searched += o.Searched
	s.Overshoots += o.Overshoots
}

// Pairs returns the number of pairs of which both games are finished.
func (s *Standing) Pairs() (n int) {
	for i := range s.Pairings {
		n += s.Pairings[i].Pairs.Count()
	}
	return n
}

// Ranking returns the indices of the players, best first.
func (s *Standing) Ranking() []int {
	order := make([]int, len(s.Players))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := s.Players[a].Percent(), s.Players[b].Percent()
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return order
}

// sorted returns the keys of counts, most frequent first.
func sorted[K ~string](counts map[K]int) []K {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b K) int { return counts[b] - counts[a] })
	return keys
}
