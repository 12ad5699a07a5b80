package weakness

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// examined returns an examination of games in which as many winning chances before moves
// are known as an analysis would know.
func examined(t *testing.T, n int) *Result {
	t.Helper()
	games := pool(t, n)
	rng := rand.New(rand.NewPCG(9, 1))
	chance(games, rng)
	for _, g := range games {
		at := 0.5
		for i := range g.Report.Plies {
			at = min(max(at+0.2*rng.Float64()-0.1, 0), 1)
			g.Report.Plies[i].Chance = &[]float64{at}[0]
		}
	}
	r, err := Find(games)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func all(Move) bool { return true }

// A sample of a group is not chosen by what the moves lost, has no decided position, and
// takes them from as many games as there are.
func TestSample(t *testing.T) {
	r := examined(t, 120)
	g, ok := r.Named("phase plies 1 to 20")
	if !ok {
		t.Fatalf("groups %+v", r.Groups)
	}
	if h, ok := r.Named("plies 1 to 20"); !ok || h.Name != g.Name || h.By != g.By {
		t.Errorf("by its name alone: %+v", h)
	}
	if _, ok := r.Named("plies 1"); ok {
		t.Error("there is a group of a part of a name")
	}
	sample := r.Sample(g, 100, all)
	lost, of := 0.0, map[*Game]bool{}
	for _, m := range sample {
		lost += m.Lost / float64(len(sample))
		of[m.Game] = true
		if m.Ply > 20 || m.Chance < decided || m.Chance > 1-decided {
			t.Errorf("ply %d, chance %.2f", m.Ply, m.Chance)
		}
		if m.Ply > 1 {
			want := *m.Game.Report.Plies[m.Ply-2].Chance
			if m.Game.Seat == 1 {
				want = 1 - want
			}
			if math.Abs(m.Chance-want) > 1e-9 {
				t.Errorf("ply %d: chance %.3f of the player, want %.3f", m.Ply, m.Chance, want)
			}
		}
	}
	if len(sample) != 100 || len(of) != 100 {
		t.Errorf("%d moves of %d games, want one of each of 100 games", len(sample), len(of))
	}
	// The group's moves lose 2 % on average; a tenth of them are mistakes of a third.
	if lost > 3*g.Lost || lost < g.Lost/3 {
		t.Errorf("the sample lost %.4f a move, the group %.4f", lost, g.Lost)
	}
	again := r.Sample(g, 100, all)
	if !slices.EqualFunc(sample, again, func(a, b Move) bool { return a.place() == b.place() }) {
		t.Error("a second sample differs")
	}
	if n := len(r.Sample(g, 1_000_000, func(m Move) bool { return m.Ply%3 == 0 })); n == 0 || n > g.Moves/2 {
		t.Errorf("%d of %d moves at every third ply", n, g.Moves)
	}
}

// Controls are like the moves that they are for, and others.
func TestControls(t *testing.T) {
	r := examined(t, 120)
	g, _ := r.Named("as first")
	for _, c := range []struct {
		name   string
		of     []Move
		except *Group
	}{{"group", r.Sample(g, 60, all), &g}, {"worst", r.Moves[:60], nil}} {
		controls, err := r.Controls(c.of, c.except, func(m Move) bool { return m.Ply%5 > 0 })
		if err != nil || len(controls) != len(c.of) {
			t.Fatalf("%s: %d controls of %d, %v", c.name, len(controls), len(c.of), err)
		}
		seen, chances, plies, mistakes := map[place]bool{}, 0.0, 0, 0
		for _, m := range c.of {
			seen[m.place()] = true
		}
		for i, m := range controls {
			if seen[m.place()] || m.Ply%5 == 0 || c.except != nil && m.in(g) {
				t.Errorf("%s: control %d is singled out, used twice, or refused: ply %d", c.name, i, m.Ply)
			}
			seen[m.place()] = true
			chances += math.Abs(m.Chance-c.of[i].Chance) / 60
			plies += max(m.Ply-c.of[i].Ply, c.of[i].Ply-m.Ply)
			if m.Lost >= mistakeFrom {
				mistakes++
			}
		}
		if chances > 0.05 || plies > 4*60 {
			t.Errorf("%s: chances differ by %.3f and plies by %.1f on average", c.name, chances, float64(plies)/60)
		}
		if mistakes > 20 {
			t.Errorf("%s: %d of 60 controls are mistakes", c.name, mistakes)
		}
	}
}
