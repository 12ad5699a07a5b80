package weakness

import (
	"fmt"
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

// endings makes games of Xiangqi from an ending, in which nothing is captured, of up to
// most plies; the players see an even game to its end.
func endings(t *testing.T, n, most int) []*Game {
	t.Helper()
	rules, err := catalog.Rules("xiangqi/wxf+repetition=none")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 0))
	const ending = "3a5/4k4/4b4/9/p8/9/9/4B4/4A4/4K4 w - - 0 1"
	var games []*Game
	for i := range n {
		p, err := rules.New(ending)
		if err != nil {
			t.Fatal(err)
		}
		r := &record.Record{ID: fmt.Sprint("e", i), Game: rules.Game, Rules: rules.Name, Position: ending, Clock: clock.Spec{Kind: clock.SuddenDeath, Initial: 100 * time.Second}}
		seat := game.Seat(i % 2)
		r.Seats[seat], r.Seats[seat.Other()] = record.Seat{Player: "we"}, record.Seat{Player: "they"}
		rep := &analysis.Report{Start: &[]float64{0.5}[0]}
		for length := most/2 + rng.IntN(most/2); len(r.Plies) < length; {
			// The pawn, which keeps the game from being drawn, stays where it is.
			moves := slices.DeleteFunc(p.Legal(nil), func(m game.Move) bool { return strings.HasPrefix(p.Format(m), "a5") })
			m := moves[rng.IntN(len(moves))]
			text := p.Format(m)
			even := 0.45 + 0.1*rng.Float64()
			r.Plies = append(r.Plies, record.Ply{Seat: p.Turn(), Move: text, LeftMS: 50_000})
			rep.Plies = append(rep.Plies, analysis.Move{Ply: len(r.Plies), Seat: p.Turn(), Move: text, Chance: &even, Judged: true, Lost: 0.02 * rng.Float64()})
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
		}
		r.Result, r.Reason = game.Draw, "agreement"
		games = append(games, &Game{Record: r, Seat: seat, Report: rep})
	}
	return games
}

// forfeit has a game lost by a seat that makes no further move.
func forfeit(g *Game, loser game.Seat, reason game.Reason) {
	g.Record.Result, g.Record.Reason = game.WonBy(loser.Other()), reason
}

func weakGroups(t *testing.T, games []*Game) (*Result, map[string]bool) {
	t.Helper()
	r, err := Find(games)
	if err != nil {
		t.Fatal(err)
	}
	weak := map[string]bool{}
	for _, g := range r.Weak() {
		weak[g.Title()] = true
	}
	return r, weak
}

// TestStopsWithoutProgress: a player that stops after so many plies without a capture is
// weak there and by its faults, though it loses none of its chance by a move.
func TestStopsWithoutProgress(t *testing.T) {
	games := endings(t, 60, 110)
	stopped := 0
	for i, g := range games {
		if len(g.Record.Plies) >= 80 && stopped%4 < 3 {
			forfeit(g, g.Seat, []game.Reason{"illegal", "crash"}[i/2%2])
		}
		if len(g.Record.Plies) >= 80 {
			stopped++
		}
	}
	r, weak := weakGroups(t, games)
	if !weak["no progress from 80 plies"] || !weak["lost by any fault"] {
		t.Errorf("found %v of %+v", weak, r.Groups)
	}
	for name := range weak { // such games are long
		if name != "no progress from 80 plies" && !strings.HasPrefix(name, "lost by") && !strings.HasPrefix(name, "length") {
			t.Errorf("also found %s", name)
		}
	}
	any, _ := r.Named("lost by any fault")
	lost := 0
	for _, f := range r.Faults {
		lost += f.Lost
		if f.Theirs != 0 {
			t.Errorf("fault %+v of the opponents, who had none", f)
		}
	}
	// About half of the winning chance is lost in each of these games.
	if mean := any.Lost * float64(len(games)) / float64(lost); any.Games != lost || any.Moves != lost || mean < 0.44 || mean > 0.56 {
		t.Errorf("%d games lost, %+v", lost, any)
	}
	for _, name := range []string{"lost by any fault", "no progress from 80 plies"} {
		g, _ := r.Named(name)
		sample := r.Sample(g, 10, all)
		controls, err := r.Controls(sample, &g, all)
		if err != nil || len(sample) != 10 || len(controls) != 10 {
			t.Fatalf("%s: %d positions, %d controls, %v", name, len(sample), len(controls), err)
		}
		for i := range sample {
			if fault := sample[i].Text() == ""; !sample[i].in(g) || controls[i].in(g) || name == "lost by any fault" && !fault {
				t.Errorf("%s: position at ply %d of %d, control at %d", name, sample[i].Ply, len(sample[i].Game.Record.Plies), controls[i].Ply)
			}
		}
	}
}

// TestTheirFaultsAreNoWeakness: if both stop alike, or the opponents alone, no group is
// weak.
func TestTheirFaultsAreNoWeakness(t *testing.T) {
	for _, both := range []bool{true, false} {
		games := endings(t, 60, 110)
		for i, g := range games {
			if loser := game.Seat(i / 2 % 2); i%2 == 0 && (both || loser != g.Seat) {
				forfeit(g, loser, "time")
			}
		}
		r, weak := weakGroups(t, games)
		lost := map[bool]int{true: 15}[both]
		if len(weak) > 0 || len(r.Faults) != 1 || r.Faults[0] != (FaultCount{"time", lost, 15}) {
			t.Errorf("both %v: found %v, faults %+v", both, weak, r.Faults)
		}
	}
}

// TestFaultOf tells a fault from a lost game, and at which ply it happened.
func TestFaultOf(t *testing.T) {
	g := endings(t, 1, 20)[0] // the player is first
	n := len(g.Record.Plies)
	last := n - 1 // of seat first
	if g.Record.Plies[last].Seat != game.First {
		last--
	}
	for _, c := range []struct {
		result game.Result
		reason game.Reason
		want   string
		ply    int
	}{
		{game.SecondWins, "illegal", "illegal", n},
		{game.SecondWins, "time", "time", n},
		{game.SecondWins, "abandoned", "disconnect", n},
		{game.SecondWins, game.PerpetualChase, "perpetual-chase", last},
		{game.SecondWins, game.Checkmate, "", 0},
		{game.SecondWins, "resign", "", 0},
		{game.Draw, "time", "", 0},
	} {
		g.Record.Result, g.Record.Reason = c.result, c.reason
		f, ok := g.fault()
		if ok != (c.want != "") || ok && (f.name != c.want || f.ply != c.ply || f.loser != game.First) {
			t.Errorf("%s by %s: %+v, %v", c.result, c.reason, f, ok)
		}
	}
}
