package weakness

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/lab/study/analysis"
	"sparring/record"
)

// pool makes games of random moves against three opponents, with clocks.
func pool(t *testing.T, n int) []*Game {
	t.Helper()
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 0))
	var games []*Game
	for i := range n {
		p, err := rules.New("")
		if err != nil {
			t.Fatal(err)
		}
		r := &record.Record{ID: fmt.Sprint("g", i), Game: rules.Game, Rules: rules.Name, Clock: clock.Spec{Kind: clock.SuddenDeath, Initial: 100 * time.Second}}
		seat := game.Seat(i % 2)
		r.Seats[seat], r.Seats[seat.Other()] = record.Seat{Player: "we"}, record.Seat{Player: fmt.Sprint("opponent-", rng.IntN(3))}
		rep := &analysis.Report{}
		length := 16 + rng.IntN(60)
		for ply := 0; ply < length && !p.Outcome().Over(); ply++ {
			moves := p.Legal(nil)
			m := moves[rng.IntN(len(moves))]
			if ply < 2 { // few openings
				m = moves[100+rng.IntN(3)]
			}
			text := p.Format(m)
			r.Plies = append(r.Plies, record.Ply{Seat: p.Turn(), Move: text, LeftMS: int64(1 + 100_000*(length-ply)/length)})
			rep.Plies = append(rep.Plies, analysis.Move{Ply: ply + 1, Seat: p.Turn(), Move: text, Judged: true})
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
		}
		games = append(games, &Game{Record: r, Seat: seat, Report: rep})
	}
	return games
}

// chance fills in results and losses that depend on nothing but the opponent and the
// side: the player is weaker everywhere, and one opponent stronger than the others.
func chance(games []*Game, rng *rand.Rand) {
	for _, g := range games {
		wins := 0.5
		if g.Record.Seats[g.Seat.Other()].Player == "opponent-1" {
			wins = 0.35
		}
		g.Record.Result = game.WonBy(g.Seat.Other())
		if v := rng.Float64(); v < wins {
			g.Record.Result = game.WonBy(g.Seat)
		} else if v < wins+0.2 {
			g.Record.Result = game.Draw
		}
		for i := range g.Report.Plies {
			m := &g.Report.Plies[i]
			m.Lost = min(rng.ExpFloat64()*0.01, 1)
			if rng.IntN(30) == 0 { // a mistake
				m.Lost = 0.1 + 0.5*rng.Float64()
			}
			if m.Seat == g.Seat {
				m.Lost *= 1.2
			}
		}
	}
}

// TestChanceIsNoWeakness: in at most about 5 % of examinations something is called
// weak where there is nothing but chance, and one opponent that is stronger than the others.
func TestChanceIsNoWeakness(t *testing.T) {
	const runs, most = 40, 6 // more than 6 of 40 at 5 %: once in 300 tests
	games := pool(t, 50)
	found, groups := 0, 0
	for n := range runs {
		chance(games, rand.New(rand.NewPCG(uint64(n), 1)))
		r, err := Find(games)
		if err != nil {
			t.Fatal(err)
		}
		groups = len(r.Groups)
		if weak := r.Weak(); len(weak) > 0 {
			found++
			t.Logf("run %d: %+v", n, weak)
		}
	}
	t.Logf("%d of %d examinations of %d groups found something", found, runs, groups)
	if found > most || groups < 15 {
		t.Errorf("%d of %d examinations of %d groups found something, want at most %d", found, runs, groups, most)
	}
}

// TestPlantedWeaknessIsFound: an opening in which the player loses, and a kind of
// position in which it errs, are called weak, and little else is.
func TestPlantedWeaknessIsFound(t *testing.T) {
	games := pool(t, 120)
	chance(games, rand.New(rand.NewPCG(3, 1)))
	bad := games[0].Record.Plies[0].Move
	for i, g := range games {
		if g.Record.Plies[0].Move == bad && i%6 > 0 {
			g.Record.Result = game.WonBy(g.Seat.Other())
		}
		for i := range g.Report.Plies {
			// In time trouble the player, and only the player, blunders.
			if m := &g.Report.Plies[i]; m.Seat == g.Seat && g.Record.Plies[i].LeftMS < 10_000 {
				m.Lost = min(m.Lost+0.15, 1)
			}
		}
	}
	r, err := Find(games)
	if err != nil {
		t.Fatal(err)
	}
	weak := map[string]bool{}
	for _, g := range r.Weak() {
		weak[string(g.By)+" "+g.Name] = true
		if g.P > Level || g.By.OfMoves() && g.Low <= 1 || !g.By.OfMoves() && g.Excess <= 0 || g.Games < MinGames {
			t.Errorf("%+v", g)
		}
	}
	if !weak["time left under 10 %"] || !weak["opening "+bad] {
		t.Errorf("found %v, want the opening %s and little time", weak, bad)
	}
	for name := range weak { // time is short late in the game
		if !slices.ContainsFunc([]string{"time left under", "opening " + bad, "opponent", "phase from", "phase plies 41"}, func(s string) bool { return strings.HasPrefix(name, s) }) {
			t.Errorf("also found %s", name)
		}
	}
	if len(r.Moves) == 0 || !r.Moves[0].Weak || !slices.Contains(r.Moves[0].Groups, "time left under 10 %") || r.Moves[len(r.Moves)-1].Lost < mistakeFrom {
		t.Errorf("%d moves", len(r.Moves))
	}
	again, err := Find(games)
	if err != nil || fmt.Sprint(again.Groups) != fmt.Sprint(r.Groups) {
		t.Errorf("a second examination differs: %v", err)
	}
}

// TestOwnScores: by the players' own scores no group of moves is tested, and a score against an
// opponent or in long games never is, however low.
func TestOwnScores(t *testing.T) {
	games := pool(t, 60)
	chance(games, rand.New(rand.NewPCG(3, 1)))
	for _, g := range games {
		g.Report.Own = true
		lost := g.Record.Seats[g.Seat.Other()].Player == "opponent-1" || len(g.Record.Plies) > 50
		if g.Record.Result = game.WonBy(g.Seat); lost {
			g.Record.Result = game.WonBy(g.Seat.Other())
		}
		for i := range g.Report.Plies {
			if m := &g.Report.Plies[i]; m.Seat == g.Seat && i >= 20 && i < 40 {
				m.Lost = 0.5
			}
		}
	}
	r, err := Find(games)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[By]bool{}
	for _, g := range r.Groups {
		seen[g.By] = true
		if g.By != Opening && (g.Tested || g.Weak || g.P != 1) {
			t.Errorf("%+v", g)
		}
	}
	if !r.Own || !seen[Opponent] || !seen[Length] || !seen[Phase] {
		t.Errorf("own %t, groups by %v", r.Own, seen)
	}
	for _, g := range games {
		g.Report.Own = false
	}
	if r, err = Find(games); err != nil || len(r.Weak()) == 0 {
		t.Errorf("by a search nothing is weak: %v, %+v", err, r.Groups)
	}
}

// TestAdjust has p-values of which Benjamini and Hochberg call the first two weak, and a group
// that is not tested.
func TestAdjust(t *testing.T) {
	groups := []Group{{P: 1}, {P: 0.04, Tested: true}, {P: 0.02, Tested: true}, {P: 0.001, Tested: true}, {P: 0.9, Tested: true}}
	adjust(groups)
	for i, want := range []float64{1, 0.04 * 4 / 3, 0.04, 0.004, 0.9} {
		if math.Abs(groups[i].P-want) > 1e-9 || groups[i].Weak != (want <= Level) {
			t.Errorf("group %d: %+v, want P %.4f", i, groups[i], want)
		}
	}
}
