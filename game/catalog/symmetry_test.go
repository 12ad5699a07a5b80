package catalog_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
)

// TestSymmetries plays a game and its image under each symmetry that leaves the
// start unchanged: legal moves, keys and outcomes correspond at every ply.
func TestSymmetries(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, tt := range []struct {
		rules, position string
		ways            []int // that leave the position as it is
		plies           int
	}{
		{"xiangqi/wxf", "", []int{1}, 80},
		{"gomoku/freestyle-15", "", []int{1, 2, 3, 4, 5, 6, 7}, 120},
		{"gomoku/renju-15", "", []int{1, 4, 7}, 60},
		{"gomoku/caro-16", "", []int{1, 2, 5, 6}, 120},
		{"amazons/10x10", "", []int{1}, 100},
		{"amazons/10x10", "Q8Q/10/10/10/4qq4/4qq4/10/10/10/Q8Q w", []int{1, 2, 3, 4, 5, 6, 7}, 100},
		{"amazons/6x4", "Qq2qQ/6/6/Qq2qQ b", []int{1, 2, 3}, 20},
	} {
		r, err := catalog.Rules(tt.rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range tt.ways {
			p, err := r.New(tt.position)
			if err != nil {
				t.Fatal(err)
			}
			image := p.Clone()
			for range tt.plies {
				s := p.(game.Symmetric)
				if s.SymmetricKey(0) != p.Key() || s.SymmetricKey(way) != image.Key() {
					t.Fatalf("%s, way %d: keys of\n%sare %x and %x, its image has %x", tt.rules, way, p.Diagram(), s.SymmetricKey(0), s.SymmetricKey(way), image.Key())
				}
				legal, theirs := p.Legal(nil), image.Legal(nil)
				for i, m := range legal {
					legal[i] = s.SymmetricMove(way, m)
				}
				m := game.NoMove
				if len(legal) > 0 {
					m = p.Legal(nil)[rng.IntN(len(legal))]
				}
				slices.Sort(legal)
				slices.Sort(theirs)
				if !slices.Equal(legal, theirs) || p.Outcome() != image.Outcome() {
					t.Fatalf("%s, way %d: the image of\n%shas other moves or another outcome", tt.rules, way, p.Diagram())
				}
				if m == game.NoMove {
					break
				}
				if err := image.Play(s.SymmetricMove(way, m)); err != nil {
					t.Fatal(err)
				}
				if err := p.Play(m); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
