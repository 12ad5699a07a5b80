package match

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/game"
	"sparring/lab/match/elo"
	"sparring/record"
)

// outcome is a game of a test: half points of player 0, its seat, length and fault.
type outcome struct {
	halves int
	seat   game.Seat
	plies  int
	fault  engine.FaultKind
}

// standingWith returns the standing of these games, two by two pairs. All differ in their
// last move.
func standingWith(t *testing.T, all []outcome) *Standing {
	t.Helper()
	s := NewStanding(&Terms{Players: []string{"a", "b"}, Kind: RoundRobin})
	for i, o := range all {
		g := &Game{Match: GameInfo{Pair: 1 + i/2, Leg: 1 + i%2, Players: [2]int{int(o.seat), 1 - int(o.seat)}}}
		g.Result = [3]game.Result{game.WonBy(o.seat.Other()), game.Draw, game.WonBy(o.seat)}[o.halves]
		g.Plies = append(g.Plies, make([]record.Ply, o.plies)...)
		g.Plies[o.plies-1].Move = fmt.Sprint(i)
		if o.fault != "" {
			loser := o.seat
			if o.halves == 2 {
				loser = o.seat.Other()
			}
			g.Match.Fault = &Fault{Seat: loser, Kind: o.fault}
		}
		if err := s.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// repeated returns n pairs in which player 0 scores so many half points with each seat.
func repeated(n, first, second, plies int) (all []outcome) {
	for range n {
		all = append(all, outcome{halves: first, seat: game.First, plies: plies}, outcome{halves: second, seat: game.Second, plies: plies})
	}
	return all
}

func text(f Finding) string {
	return strings.TrimSpace(fmt.Sprint(append([]any{f.Key}, f.Values...)...))
}

// TestVerdictOfStrength: what is said of the strength is what the interval carries.
func TestVerdictOfStrength(t *testing.T) {
	mixed := append(repeated(30, 2, 1, 40), repeated(20, 0, 2, 40)...)
	for _, c := range []struct {
		name  string
		games []outcome
		test  *elo.SPRT
		key   string
	}{
		{"better", mixed, nil, "verdict.better"},
		{"no upper end", repeated(20, 2, 2, 40), nil, "verdict.better-open"},
		{"equal", repeated(50, 1, 1, 40), nil, "verdict.even"},
		{"few", repeated(1, 2, 2, 40), nil, "verdict.few"},
		{"H1", mixed, &elo.SPRT{Elo0: -100, Elo1: 50, Alpha: 0.05, Beta: 0.05}, "verdict.h1"},
		{"H0", mixed, &elo.SPRT{Elo0: 100, Elo1: 400, Alpha: 0.05, Beta: 0.05}, "verdict.h0"},
		{"open test", mixed, &elo.SPRT{Elo0: 0, Elo1: 2, Alpha: 0.05, Beta: 0.05}, "verdict.better"},
	} {
		s := standingWith(t, c.games)
		got := s.Verdict(c.test)[0]
		if got.Key != c.key {
			low, high := s.Pairings[0].Pairs.EloInterval()
			t.Errorf("%s: %s, want %s; Elo %.1f to %.1f", c.name, text(got), c.key, low, high)
		}
	}
	if got := standingWith(t, repeated(1, 2, 2, 40)).Verdict(nil)[1]; got.Key != "verdict.no-fault" {
		t.Errorf("too few games to tell the better one, and then: %s", text(got))
	}
	s := standingWith(t, mixed)
	low, high := s.Pairings[0].Pairs.EloInterval()
	if got, want := text(s.Verdict(nil)[0]), fmt.Sprintf("%.0f", low); low <= 0 || !strings.Contains(got, want) || !strings.Contains(got, fmt.Sprintf("%.0f", high)) {
		t.Errorf("%s; the interval is %g to %g", got, low, high)
	}
	for i := range mixed { // the same from the other side
		mixed[i].halves = 2 - mixed[i].halves
	}
	turned := standingWith(t, mixed).Verdict(nil)[0]
	if turned.Key != "verdict.better" || turned.Values[1] != "b" || turned.Values[5] != fmt.Sprintf("%.0f", low) {
		t.Errorf("from the other side: %s", text(turned))
	}
}

// TestGamesForAnAnswer: where the games do not tell who is better, the verdict says how many
// would tell more, and with as many of the same kind the error is the one it promised.
func TestGamesForAnAnswer(t *testing.T) {
	kind := append(append(repeated(3, 2, 1, 40), repeated(3, 0, 2, 40)...), repeated(2, 0, 1, 40)...)
	var all []outcome
	for range 5 {
		all = append(all, kind...)
	}
	got := standingWith(t, all).Verdict(nil)[0]
	if got.Key != "verdict.even" || len(got.Values) != 12 {
		t.Fatal(text(got))
	}
	games, within := got.Values[9].(int), got.Values[11].(float64)
	for len(all) < games {
		all = append(all, kind...)
	}
	if e := standingWith(t, all).Pairings[0].Pairs.Elo().Error; games%2 != 0 || math.Abs(e/within-1) > 0.05 {
		t.Errorf("%s; then the error is %.1f", text(got), e)
	}
	for _, p := range []elo.Pairs{{2, 1, 2, 1, 2}, {0, 0, 100, 0, 0}, {40, 10, 50, 10, 40}, {20000, 9000, 20000, 9000, 20000}} {
		now := p.Elo().Error
		if games, within := narrower(p); within > 0.6*now || within < 0.24*now || games <= 2*p.Count() {
			t.Errorf("%v: the error is %.2f, and with %d games ±%g", p, now, games, within)
		}
	}
}

// TestVerdictBesides: faults are counted, and differences only stated beyond the error.
func TestVerdictBesides(t *testing.T) {
	even := repeated(20, 2, 0, 60)
	for i := range even { // alternately: neither seat nor length decides
		even[i].plies = 40 + i/2*2
		if i%4 >= 2 {
			even[i].halves = 2 - even[i].halves
		}
	}
	if got := standingWith(t, even).Verdict(nil)[1]; got.Key != "verdict.nothing" {
		t.Errorf("nothing happened: %s", text(got))
	}
	if got := standingWith(t, even[:8]).Verdict(nil)[1]; got.Key != "verdict.no-faults" {
		t.Errorf("few games: %s", text(got))
	}
	if got := standingWith(t, repeated(30, 2, 0, 60)).Verdict(nil)[1]; got.Key != "verdict.first-seat" {
		t.Errorf("the first seat always wins: %s", text(got))
	}
	if got := standingWith(t, repeated(30, 0, 2, 60)).Verdict(nil)[1]; got.Key != "verdict.second-seat" {
		t.Errorf("the second seat always wins: %s", text(got))
	}
	lengths := append(repeated(15, 2, 2, 30), repeated(15, 0, 0, 90)...)
	if got := standingWith(t, lengths).Verdict(nil)[1]; got.Key != "verdict.lengths" || got.Values[3] != 30 {
		t.Errorf("short games are won and long ones lost: %s", text(got))
	}

	timed := append([]outcome(nil), even...)
	for i := 34; i < 40; i++ { // the longest games
		timed[i].halves, timed[i].fault = 2, engine.FaultTime
	}
	if got := standingWith(t, timed).Verdict(nil)[1]; got.Key != "verdict.time-long" || got.Values[1] != "b" || got.Values[3] != 6 {
		t.Errorf("the longest games are lost on time: %s", text(got))
	}
	timed = append([]outcome(nil), even...)
	for _, i := range []int{1, 20, 39} {
		timed[i].halves, timed[i].fault = 2, engine.FaultTime
	}
	if got := standingWith(t, timed).Verdict(nil)[1]; got.Key != "verdict.time" || got.Values[3] != 3 {
		t.Errorf("games of all lengths are lost on time: %s", text(got))
	}
	timed[5].halves, timed[5].fault = 2, engine.FaultCrash
	if got := standingWith(t, timed).Verdict(nil)[1]; got.Key != "verdict.faults" || got.Values[3] != 4 {
		t.Errorf("four faults: %s", text(got))
	}
}

// TestSameSeat: pairs that one seat won twice are counted whoever sat there, and a pair
// without its second game, or with a draw, is none.
func TestSameSeat(t *testing.T) {
	var games []outcome
	for _, pair := range [][]outcome{repeated(2, 2, 0, 40), repeated(3, 0, 2, 40), repeated(1, 2, 2, 40), repeated(1, 0, 0, 40), repeated(1, 1, 1, 40), repeated(1, 2, 1, 40)} {
		games = append(games, pair...)
	}
	open := outcome{halves: 2, seat: game.First, plies: 40}
	ends := func(all ...outcome) string {
		var b strings.Builder
		standingWith(t, all).writeEnds(&b)
		return b.String()
	}
	const want = "; the same seat won both games of 5 of 9 pairs\n"
	if got := ends(append(games, open)...); !strings.Contains(got, want) {
		t.Errorf("want %q in:\n%s", want, got)
	}
	if got := ends(open); strings.Contains(got, "same seat") {
		t.Errorf("no pair is complete:\n%s", got)
	}
}

// TestRepeatedGames: games that are move for move like others are counted, and said to
// prove nothing once they are many. The same moves by the other player are another game.
func TestRepeatedGames(t *testing.T) {
	s := NewStanding(&Terms{Players: []string{"a", "b"}, Kind: RoundRobin})
	for i, c := range []struct {
		leg, first int // the player with the first seat
		position   string
		moves      string
		repeated   int // so far
	}{
		{1, 0, "", "x y z", 0}, {2, 1, "", "x y z", 0},
		{1, 0, "", "x y z", 1}, {2, 1, "", "x y", 1},
		{1, 0, "p", "x y z", 1}, {2, 1, "", "xy z", 1},
		{1, 0, "", "x y z w", 1}, {2, 1, "", "x y", 2},
	} {
		g := &Game{Match: GameInfo{Pair: 1 + i/2, Leg: c.leg, Players: [2]int{c.first, 1 - c.first}}}
		g.Result, g.Position = game.FirstWins, c.position
		for _, m := range strings.Fields(c.moves) {
			g.Plies = append(g.Plies, record.Ply{Move: m})
		}
		if err := s.Add(g); err != nil {
			t.Fatal(err)
		}
		if s.Repeated != c.repeated {
			t.Errorf("game %d: %d repeated, want %d", i+1, s.Repeated, c.repeated)
		}
	}
	var b strings.Builder
	if s.writeEnds(&b); !strings.Contains(b.String(), "repeated   2 of 8 games are move for move like others") {
		t.Errorf("no line about them:\n%s", &b)
	}
	if got := s.Verdict(nil)[1]; got.Key != "verdict.repeated" || got.Values[1] != 2 || got.Values[3] != 8 {
		t.Errorf("verdict %s", text(got))
	}
}

// TestVerdictOfSeveral: the leader is called the strongest only if every pairing tells.
func TestVerdictOfSeveral(t *testing.T) {
	standing := func(rounds int, second bool) *Standing {
		s := NewStanding(&Terms{Players: []string{"a", "b", "c"}, Kind: RoundRobin})
		pair := 0
		for range rounds {
			for _, m := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
				pair++
				for leg := range 2 {
					g := &Game{Match: GameInfo{Pair: pair, Leg: leg + 1, Players: [2]int{m[leg], m[1-leg]}}}
					g.Result = game.WonBy(game.Seat(leg))
					if m == [2]int{0, 1} && second && leg == 1 {
						g.Result = game.WonBy(game.First)
					}
					if err := s.Add(g); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		return s
	}
	if got := standing(20, false).Verdict(nil)[0]; got.Key != "verdict.first" || got.Values[1] != "a" {
		t.Errorf("a wins every game: %s", text(got))
	}
	if got := standing(20, true).Verdict(nil)[0]; got.Key != "verdict.leads" || got.Values[5] != "b" {
		t.Errorf("a and b are equal against each other: %s", text(got))
	}
}

// TestTail compares with the hypergeometric distribution, counted by hand.
func TestTail(t *testing.T) {
	// Of 10 games 5 are long; all 3 of a choice are long in 10 of 120 cases.
	for _, c := range []struct {
		all, long, chosen, k int
		want                 float64
	}{{10, 5, 3, 3, 10. / 120}, {10, 5, 3, 0, 1}, {10, 5, 3, 2, 60. / 120}, {4, 2, 2, 2, 1. / 6}} {
		if got := tail(c.all, c.long, c.chosen, c.k); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %g", c, got)
		}
	}
}

// TestSingles: games without a partner count by themselves, and the errors are those
// of single games.
func TestSingles(t *testing.T) {
	s := NewStanding(&Terms{Players: []string{"a", "b"}, Kind: RoundRobin})
	for _, result := range []game.Result{game.FirstWins, game.FirstWins, game.Draw, game.SecondWins} {
		g := &Game{Match: GameInfo{Players: [2]int{0, 1}}}
		g.Result = result
		if err := s.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	if want := (elo.Pairs{1, 0, 1, 0, 2}); s.Pairings[0].Pairs != want || s.Players[1].Pairs != want.Turned() {
		t.Errorf("%v, want %v", s.Pairings[0].Pairs, want)
	}
	// The variance of a single game: (1+1+¼)/4 - (5/8)².
	if v := s.Pairings[0].Pairs.Variance(); math.Abs(v-(2.25/4-0.625*0.625)) > 1e-12 {
		t.Errorf("variance %g", v)
	}
	if n := len(s.course()); n != 3 {
		t.Errorf("%d readings", n)
	}
}

// TestParseGameID reads back what a match writes.
func TestParseGameID(t *testing.T) {
	id := NewID()
	if m, pair, leg, ok := ParseGameID(gameID(id, 12, 2)); !ok || m != id || pair != 12 || leg != 2 {
		t.Errorf("%s, %d, %d, %v", m, pair, leg, ok)
	}
	if _, pair, _, ok := ParseGameID(gameID(id, 12, 2) + "-3"); !ok || pair != 12 {
		t.Error("a game that was posted again is not recognised")
	}
	for _, other := range []string{"", "5esrn4ft7qdfmgxw", "m1-1-3", "m1-1", "x1-1-1", "m1--1-1"} {
		if _, _, _, ok := ParseGameID(other); ok {
			t.Errorf("%q is one of a match", other)
		}
	}
}
