package pairing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/arena/glicko"
	"sparring/protocol"
)

func all(int, int) bool { return true }

// pool returns settled players with these ratings who have waited for so long.
func pool(wait time.Duration, ratings ...float64) []Player {
	var players []Player
	for i, r := range ratings {
		players = append(players, Player{ID: protocol.PlayerID(fmt.Sprintf("p%d", i)),
			Rating: glicko.Rating{Rating: r, Deviation: 50, Volatility: 0.06}, Games: 100, Wait: wait})
	}
	return players
}

// partners returns by player whom it meets; -1 is nobody.
func partners(t *testing.T, players []Player, pairs []Pair) []int {
	t.Helper()
	with := slices.Repeat([]int{-1}, len(players))
	for _, p := range pairs {
		for seat, i := range p {
			if with[i] >= 0 || p[0] == p[1] {
				t.Fatalf("player %d is paired twice: %v", i, pairs)
			}
			with[i] = p[1-seat]
		}
	}
	return with
}

func TestMatch(t *testing.T) {
	met := func(players []Player, i, j int) []Player {
		players[i].Recent = append([]protocol.PlayerID{players[j].ID}, players[i].Recent...)
		players[j].Recent = append([]protocol.PlayerID{players[i].ID}, players[j].Recent...)
		return players
	}
	ahead := func(players []Player, balances ...int) []Player {
		for i, b := range balances {
			players[i].Balance = b
		}
		return players
	}
	for _, test := range []struct {
		name    string
		players []Player
		present int
		want    []int
	}{
		{"nobody", nil, 0, nil},
		{"alone", pool(time.Hour, 1500), 1, []int{-1}},
		{"neighbours", pool(0, 1800, 1500, 1810, 1510), 4, []int{2, 3, 0, 1}},
		{"the middle stays free", pool(0, 1500, 1540, 1600), 3, []int{1, 0, -1}},
		{"too far apart", pool(0, 1500, 1900), 2, []int{-1, -1}},
		{"until they have waited", pool(6*time.Second, 1500, 1900), 2, []int{1, 0}},
		{"not whom they have just met", met(met(pool(0, 1500, 1501, 1530, 1531), 0, 1), 2, 3), 10, []int{2, 3, 0, 1}},
		{"nor the one before", met(met(met(met(pool(0, 1500, 1501, 1530, 1531), 0, 3), 1, 2), 0, 1), 2, 3), 10, []int{2, 3, 0, 1}},
		{"a rematch after a wait", met(pool(20*time.Second, 1500, 1501), 0, 1), 10, []int{1, 0}},
		{"but not before", met(pool(15*time.Second, 1500, 1501), 0, 1), 10, []int{-1, -1}},
		{"not who has had the same seat as often", ahead(pool(0, 1500, 1501, 1510), 2, 2, -2), 3, []int{-1, 2, 1}},
		{"unless there is nobody else", ahead(pool(6*time.Second, 1500, 1501), 2, 2), 2, []int{1, 0}},
		{"a rematch at once where there is nobody else", met(pool(0, 1500, 1501), 0, 1), 2, []int{1, 0}},
	} {
		if got := partners(t, test.players, Match(test.players, test.present, all)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Where the window covers all, no matching has a greater weight.
func TestMatchIsBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pairs := 0
	for n := range 400 {
		players := randomPool(rng, 2+n%(window-1))
		refused := rng.IntN(4)
		fits := func(i, j int) bool { return (i*7+j*7+i*j)%5 >= refused }
		m := matcher{players: players, recall: Remembered, fits: fits}
		for i := range players {
			m.aims = append(m.aims, aim(&players[i]))
		}
		got := 0.0
		for _, p := range Match(players, 100, fits) {
			w := m.weight(p[0], p[1])
			if w <= 0 {
				t.Fatalf("a pair of weight %g", w)
			}
			got += w
			pairs++
		}
		if want := m.best(make([]bool, len(players))); math.Abs(got-want) > 1e-6 {
			t.Errorf("pool %d: weight %g, the best is %g", n, got, want)
		}
	}
	if pairs < 400 {
		t.Errorf("%d pairs: the test shows little", pairs)
	}
}

// best is the greatest weight of any matching of those who are not taken.
func (m *matcher) best(taken []bool) float64 {
	i := slices.Index(taken, false)
	if i < 0 {
		return 0
	}
	taken[i] = true
	best := m.best(taken)
	for j := i + 1; j < len(taken); j++ {
		if w := m.weight(i, j); !taken[j] && w > 0 {
			taken[j] = true
			best = max(best, w+m.best(taken))
			taken[j] = false
		}
	}
	taken[i] = false
	return best
}

func randomPool(rng *rand.Rand, n int) []Player {
	var players []Player
	for i := range n {
		p := Player{ID: protocol.PlayerID(fmt.Sprintf("p%d", i)), Games: rng.IntN(100), Balance: rng.IntN(5) - 2,
			Rating: glicko.Rating{Rating: 1500 + 300*rng.NormFloat64(), Deviation: 45 + 100*rng.Float64()},
			Wait:   time.Duration(rng.IntN(10000)) * time.Millisecond}
		for range rng.IntN(Remembered + 1) {
			p.Recent = append(p.Recent, protocol.PlayerID(fmt.Sprintf("p%d", rng.IntN(n))))
		}
		players = append(players, p)
	}
	return players
}

// Players who may not meet stand between two who may.
func TestFarPartner(t *testing.T) {
	players := pool(10*time.Second, 1500)
	for i := range 5 * window {
		players = append(players, pool(10*time.Second, 1501+float64(i))...)
	}
	players = append(players, pool(10*time.Second, 1600)...)
	last := len(players) - 1
	for i := range players {
		players[i].ID = protocol.PlayerID(fmt.Sprint(i))
	}
	got := partners(t, players, Match(players, len(players), func(i, j int) bool { return i+j == last && i*j == 0 }))
	if got[0] != last || got[last] != 0 {
		t.Errorf("%v, want the first and the last", got)
	}
}

// Seats stay balanced, whoever comes and goes, and nobody meets the same opponent
// twice in a row.
func TestSeatsAndOpponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	players := randomPool(rng, 101)
	for i := range players {
		players[i].Balance, players[i].Recent = 0, nil
	}
	games := 0
	for range 200 {
		var free []int // a third of them
		for i := range players {
			players[i].Wait = time.Duration(rng.IntN(3)) * time.Second
			if rng.IntN(3) == 0 {
				free = append(free, i)
			}
		}
		var some []Player
		for _, i := range free {
			some = append(some, players[i])
		}
		for _, p := range Match(some, len(players), all) {
			for seat, k := range p {
				me, other := &players[free[k]], some[p[1-seat]].ID
				if slices.Contains(me.Recent[:min(1, len(me.Recent))], other) {
					t.Fatalf("%s meets %s again", me.ID, other)
				}
				me.Recent = append([]protocol.PlayerID{other}, me.Recent...)
				me.Balance += 1 - 2*seat
				me.Games++
			}
			games++
		}
	}
	for _, p := range players {
		if max(p.Balance, -p.Balance) > 3 {
			t.Errorf("%s is ahead on one seat by %d", p.ID, p.Balance)
		}
	}
	if games < 2000 {
		t.Errorf("only %d games", games)
	}
}

// Newcomers are not kept waiting for each other: whatever their ids, two who are alone
// are paired within 5 s, most of them at once, and many who come together at once but
// for an odd one.
func TestNewcomers(t *testing.T) {
	atOnce, first := 0, 0
	for k := range 1000 {
		two := []Player{{ID: protocol.PlayerID(fmt.Sprint("a", k)), Rating: glicko.Start}, {ID: protocol.PlayerID(fmt.Sprint("b", k)), Rating: glicko.Start}}
		if len(Match(two, 2, all)) == 1 {
			atOnce++
		}
		two[0].Wait, two[1].Wait = 5*time.Second, 5*time.Second
		pairs := Match(two, 2, all)
		if len(pairs) != 1 {
			t.Fatalf("%s and %s have waited for 5 s", two[0].ID, two[1].ID)
		}
		if pairs[0][0] == 0 {
			first++
		}
	}
	if atOnce < 600 {
		t.Errorf("%d of 1000 are paired at once", atOnce)
	}
	if first < 400 || first > 600 {
		t.Errorf("the first seat goes to the same of the two in %d of 1000 pairs", max(first, 1000-first))
	}
	var many []Player
	for k := range 101 {
		many = append(many, Player{ID: protocol.PlayerID(fmt.Sprint(k)), Rating: glicko.Start})
	}
	if n := len(Match(many, len(many), all)); n != 50 {
		t.Errorf("%d pairs of 101", n)
	}
}

// Who opens between two without a balance of seats is drawn: evenly also among ids that
// are alike, whichever of the two is named first or has the higher rating, and anew as
// they play on.
func TestLot(t *testing.T) {
	opens := func(a, b string, games int, higher float64) string {
		ids := [2]string{a, b}
		two := pool(0, 1500, 1500+higher)
		for i := range two {
			two[i].ID, two[i].Games = protocol.PlayerID(ids[i]), games
		}
		pairs := Match(two, 2, all)
		if len(pairs) != 1 {
			t.Fatalf("%s and %s are not paired", a, b)
		}
		return ids[pairs[0][0]]
	}
	for _, ids := range [][2]string{{"a#", "b#"}, {"b#", "a#"}, {"bot-#", "bot-#0"}, {"#-ann", "#-bob"}, {"human-#", "carol"}} {
		first, anew, swayed := 0, 0, 0
		for k := range 1000 {
			a, b := strings.ReplaceAll(ids[0], "#", fmt.Sprint(k)), strings.ReplaceAll(ids[1], "#", fmt.Sprint(k))
			opened := opens(a, b, 0, 0)
			if opened == a {
				first++
			}
			if opens(a, b, 2, 0) != opened {
				anew++
			}
			for _, higher := range []float64{-1, 1} {
				if opens(a, b, 0, higher) != opened || opens(b, a, 0, higher) != opened {
					swayed++
				}
			}
		}
		if swayed > 0 {
			t.Errorf("of %s and %s another opens in another order in %d of 2000 pairs", ids[0], ids[1], swayed)
		}
		if first < 400 || first > 600 {
			t.Errorf("of %s and %s the former opens in %d of 1000 pairs", ids[0], ids[1], first)
		}
		if anew < 400 || anew > 600 {
			t.Errorf("of %s and %s another opens two games later in %d of 1000 pairs", ids[0], ids[1], anew)
		}
	}
}

// A new player looks for opponents all over its deviation, again for each game, and the longer
// it waits the nearer to its rating. A settled one looks at its own rating.
func TestAim(t *testing.T) {
	low, high, again := math.Inf(1), math.Inf(-1), 0
	for k := range 1000 {
		p := Player{ID: protocol.PlayerID(fmt.Sprint(k)), Rating: glicko.Start}
		off := aim(&p) - p.Rating.Rating
		low, high = min(low, off), max(high, off)
		next := p
		next.Games++
		if aim(&next)-p.Rating.Rating == off {
			again++
		}
		p.Wait = varied / 2
		if half := aim(&p) - p.Rating.Rating; math.Abs(half-off/2) > 1e-9 {
			t.Fatalf("%s aims %.0f from its rating, and after half of the wait %.0f", p.ID, off, half)
		}
		p.Rating.Deviation, p.Wait = glicko.Provisional-1, 0
		if aim(&p) != p.Rating.Rating {
			t.Fatalf("%s aims at %.0f with a certain rating of %.0f", p.ID, aim(&p), p.Rating.Rating)
		}
	}
	if again > 10 {
		t.Errorf("%d of 1000 aim at the same rating in both of their first games", again)
	}
	if most := 2 * glicko.Start.Deviation; low != -most || high != most {
		t.Errorf("1000 players aim %.0f to %.0f from their ratings, want up to %.0f to both sides", low, high, most)
	}
}

// A new player is paired at once, against varied ratings, and soon has a rating that
// is certain and right.
func TestNewPlayer(t *testing.T) {
	for seed, truth := range []float64{900, 1500, 2100, 2300} {
		placed, varied := place(uint64(seed), truth)
		if placed > 30 {
			t.Errorf("a player of %.0f needs %d games until its rating is within 200 of that", truth, placed)
		}
		if varied < 200 {
			t.Errorf("its first eight opponents' ratings lie within %.0f", varied)
		}
	}
}

// place pairs a new player in a pool of settled ones. It returns after how many games
// its rating came within 200 of its strength for good, and how far the first eight
// opponents' ratings lie apart.
func place(seed uint64, truth float64) (placed int, varied float64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	players := randomPool(rng, 60)
	for i := range players {
		players[i].Rating.Deviation, players[i].Wait, players[i].Recent = 50, 0, nil
	}
	newcomer := Player{ID: "new", Rating: glicko.Start}
	low, high := math.Inf(1), math.Inf(-1)
	for newcomer.Games < 60 {
		with := partnersOf(append(slices.Clone(players), newcomer), len(players))
		if with < 0 {
			newcomer.Wait += time.Second
			continue
		}
		opponent := players[with]
		score := 0.0
		if rng.Float64() < 1/(1+math.Pow(10, (opponent.Rating.Rating-truth)/400)) {
			score = 1
		}
		newcomer.Rating = glicko.Default.Update(newcomer.Rating, []glicko.Game{{Opponent: opponent.Rating, Score: score}})
		newcomer.Games++
		newcomer.Wait = 0
		newcomer.Recent = append([]protocol.PlayerID{opponent.ID}, newcomer.Recent...)
		if math.Abs(newcomer.Rating.Rating-truth) > 200 {
			placed = newcomer.Games + 1
		}
		if newcomer.Games <= 8 {
			low, high = min(low, opponent.Rating.Rating), max(high, opponent.Rating.Rating)
		}
	}
	return placed, high - low
}

// partnersOf returns whom one player meets; -1 is nobody.
func partnersOf(players []Player, i int) int {
	for _, p := range Match(players, len(players), all) {
		for seat := range p {
			if p[seat] == i {
				return p[1-seat]
			}
		}
	}
	return -1
}

// BenchmarkMatch pairs 5,000 free players.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{50, 500, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			players := randomPool(rand.New(rand.NewPCG(1, 1)), n)
			pairs := 0
			for b.Loop() {
				pairs = len(Match(players, n, all))
			}
			b.ReportMetric(float64(pairs), "pairs")
		})
	}
}
