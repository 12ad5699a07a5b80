package gomoku

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sparring/game/catalog"
	"sparring/game/gomoku"
)

// TestFieldIsIncremental puts, buries and takes back stones at random, and compares
// the field at each step with one made afresh from its board.
func TestFieldIsIncremental(t *testing.T) {
	for _, rules := range []string{"gomoku/freestyle-15", "gomoku/standard-19", "gomoku/renju-15", "gomoku/caro-20", "gomoku/continuous-16"} {
		t.Run(rules, func(t *testing.T) {
			p, err := catalog.Setup(gomoku.Name, rules, "")
			if err != nil {
				t.Fatal(err)
			}
			set := p.(*gomoku.Position).Set()
			f := newField(p.(*gomoku.Position).Board(), set)
			rng := rand.New(rand.NewPCG(7, 11))
			type step struct {
				point  gomoku.Point
				colour gomoku.Colour
				bury   bool
			}
			var done []step
			// The middle of the board, so that stones meet.
			middle := func() gomoku.Point { return f.board.Point(4+rng.IntN(8), 4+rng.IntN(8)) }
			for range 600 {
				at, c := middle(), gomoku.Colour(rng.IntN(2))
				owner, stone := f.board.At(at)
				switch n := len(done); {
				case n > 0 && rng.IntN(5) < 2 || n > 45:
					if last := done[n-1]; last.bury {
						f.unbury(last.point, last.colour)
					} else {
						f.take(last.point, last.colour)
					}
					done = done[:n-1]
				case f.board.Empty(at):
					f.put(at, c)
					done = append(done, step{at, c, false})
				case stone && rng.IntN(3) == 0:
					f.bury(at, owner)
					done = append(done, step{at, owner, true})
				}
				sameField(t, f, newField(f.board, set))
			}
		})
	}
}

// sameField fails unless two fields know the same of every empty point, and in sum.
func sameField(t *testing.T, got, want *field) {
	t.Helper()
	if got.open != want.open || got.near != want.near {
		t.Fatalf("empty points %x, near a stone %x; want %x, %x", got.open, got.near, want.open, want.near)
	}
	for p := range want.open.all() {
		if got.state[p] != want.state[p] {
			t.Fatalf("point %d: %+v, want %+v", p, got.state[p], want.state[p])
		}
	}
	if got.sets != want.sets {
		t.Fatalf("sets %x, want %x", got.sets, want.sets)
	}
	if got.counts != want.counts {
		t.Fatalf("counts %v, want %v", got.counts, want.counts)
	}
	if got.value != want.value {
		t.Fatalf("values %x, want %x", got.value, want.value)
	}
}

// BenchmarkPutTake sets and takes back a stone at each point near the stones of
// positions of ten to forty stones, by both colours in turn.
func BenchmarkPutTake(b *testing.B) {
	for _, rules := range []string{"freestyle-15", "renju-15"} {
		b.Run(rules, func(b *testing.B) {
			var fields []*field
			var at [][]gomoku.Point
			rng := rand.New(rand.NewPCG(3, 9))
			for _, stones := range []int{10, 20, 30, 40} {
				g, ok := randomPosition(b, "gomoku/"+rules, rng, stones)
				for ; !ok; g, ok = randomPosition(b, "gomoku/"+rules, rng, stones) {
				}
				f := adapt(b, g).field
				near := f.open.intersect(&f.near)
				fields, at = append(fields, f), append(at, slices.Collect(near.all()))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f, near := fields[i%len(fields)], at[i%len(fields)]
				p, c := near[i/len(fields)%len(near)], gomoku.Colour(i&1)
				f.put(p, c)
				f.take(p, c)
			}
		})
	}
}
