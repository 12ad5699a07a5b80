package weakness

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sparring/game"
)

var (
	simulated      = flag.Int("weakness.simulated", 20, "simulated tables of each class of TestSimulated, and four times as many as of each weakness of TestSimulatedWeaknesses")
	simulatedGames = flag.Int("weakness.simulatedgames", 40, "games of the tables of TestSimulated")
)

// simulation makes tables of numbers that are like the losses of two players: most moves lose
// nothing and few lose much, games differ in difficulty, decided games lose nothing, and a
// difference in strength shows more in some groups than in others.
type simulation struct {
	games int
	// strengths are those of the player above each of its opponents: logarithms of the ratios
	// of their losses. Games against the second and further ones are late: of the later phases.
	strengths []float64
	planted   key     // a weakness
	factor    float64 // by which it loses more
}

// difficulty is what a move of a group loses, and how much of a difference in strength shows.
type difficulty struct{ loses, shows float64 }

var (
	simulatedPhases = []difficulty{{1, 0.5}, {1, 1.2}, {0.7, 1}, {0.4, 0.8}}
	simulatedKinds  = []difficulty{{1, 1}, {1.5, 0.8}, {0.5, 1.2}, {2, 1}}
	simulatedShares = []float64{0.55, 0.8, 0.92, 1} // of the kinds, summed up
)

func (s *simulation) table(rng *rand.Rand) (games []*facts) {
	for i := range s.games {
		games = append(games, s.game(rng, i))
	}
	return games
}

// game makes a game, by number.
func (s *simulation) game(rng *rand.Rand, n int) *facts {
	seat, opponent := game.Seat(n%2), n/2%len(s.strengths)
	f := &facts{opponent: fmt.Sprint(opponent), seat: seat, groups: []key{{Opening, fmt.Sprint(n / 2 % 5)}, {Opponent, fmt.Sprint(opponent)}}}
	const length, ended = 100, 4
	hard := math.Exp(0.5 * rng.NormFloat64())
	form := [2]float64{math.Exp(0.3 * rng.NormFloat64()), math.Exp(0.3 * rng.NormFloat64())}
	odds := 0.0 // of the player, as a logarithm
	for ply := opponent * length / 4; ply < length && math.Abs(odds) < ended; ply++ {
		side, kind, share := (ply+int(seat))%2, 0, rng.Float64()
		for share > simulatedShares[kind] {
			kind++
		}
		phase := ply * len(simulatedPhases) / length
		groups := []key{{Phase, fmt.Sprint(phase)}, {Kind, fmt.Sprint(kind)}, {Colour, fmt.Sprint(ply % 2)}}
		a, b := simulatedPhases[phase], simulatedKinds[kind]
		loses := 0.3 * a.loses * b.loses * hard * form[side]
		if side == 0 {
			loses *= math.Exp(-s.strengths[opponent] * a.shows * b.shows)
			for _, k := range append(groups, f.groups...) {
				if k == s.planted {
					loses *= s.factor
				}
			}
		}
		if rng.Float64() < 0.6 {
			loses = 0
		}
		before, toMover := odds, float64(1-2*side)
		odds -= toMover * loses * rng.ExpFloat64()
		chance := func(odds float64) float64 { return 1 / (1 + math.Exp(-toMover*odds)) }
		f.moves = append(f.moves, judged{ply: ply, side: side, chance: chance(before), lost: chance(before) - chance(odds), groups: groups})
	}
	switch {
	case odds > 1:
		f.score = 1
	case odds > -1:
		f.score = 0.5
	}
	return f
}

// count returns in how many tables a group is weak, any or the planted one, and the mean score.
func (s *simulation) count(tables int) (found, planted int, score float64) {
	for n := range tables {
		r := examine(s.table(rand.New(rand.NewPCG(uint64(n), 11))), false)
		score += r.Score / float64(tables)
		weak := r.Weak()
		if len(weak) > 0 {
			found++
		}
		for _, g := range weak {
			if (key{g.By, g.Name}) == s.planted {
				planted++
			}
		}
	}
	return found, planted, score
}

// TestSimulated: where players differ in nothing but strength, in at most 5 % of tables
// something is called weak, whoever is stronger, also if strong opponents are met in other
// positions than weak ones.
func TestSimulated(t *testing.T) {
	for _, strengths := range [][]float64{{0}, {0.4}, {-0.4}, {0.8}, {-0.8}, {0.6, -0.6}} {
		s := simulation{games: *simulatedGames, strengths: strengths}
		found, _, score := s.count(*simulated)
		t.Logf("%d games, strength %+.1f, score %2.0f %%: %d of %d tables find something", s.games, strengths, 100*score, found, *simulated)
		if n := float64(*simulated); float64(found) > 0.05*n+2*math.Sqrt(0.05*0.95*n) {
			t.Errorf("%d of %d, want at most 5 %%", found, *simulated)
		}
	}
}

// TestSimulatedWeaknesses: a planted weakness is found in at least 80 % of tables.
func TestSimulatedWeaknesses(t *testing.T) {
	for _, c := range []struct {
		planted  key
		strength float64
		factor   float64
	}{
		{key{Phase, "1"}, 0, 4}, {key{Kind, "1"}, 0, 4}, {key{Opening, "2"}, 0, 4}, {key{Phase, "1"}, 0.4, 6}, {key{Phase, "1"}, -0.4, 6},
	} {
		s := simulation{games: 200, strengths: []float64{c.strength}, planted: c.planted, factor: c.factor}
		tables := max(*simulated/4, 1)
		_, planted, score := s.count(tables)
		t.Logf("%s %s, %.0f times the losses, strength %+.1f, score %2.0f %%: found in %d of %d tables", c.planted.by, c.planted.name, c.factor, c.strength, 100*score, planted, tables)
		if float64(planted) < 0.8*float64(tables) {
			t.Errorf("found in %d of %d, want at least 80 %%", planted, tables)
		}
	}
}
