package amazons

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	rules "sparring/game/amazons"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/game"
)

// rays returns the squares that an amazon on a square reaches, by direction, nearest
// first, with the square itself taken for free where also says so.
func rays(b *rules.Board, from int, also int) (all [8][]int) {
	cols, rows := b.Size()
	for i, d := range directions {
		for col, row := from%cols+d[0], from/cols+d[1]; col >= 0 && col < cols && row >= 0 && row < rows; col, row = col+d[0], row+d[1] {
			s := row*cols + col
			if s != also && !b.Free().Has(rules.Square(s)) {
				break
			}
			all[i] = append(all[i], s)
		}
	}
	return all
}

// sees looks for a square on an amazon's lines: how many squares of its reach an
// obstacle there would take (0 if it does not see the square), and whether the square
// is beside it. Reach and liberties are the amazon's own.
func sees(b *rules.Board, amazon, square int) (taken int, beside bool, reach, liberties int) {
	for _, ray := range rays(b, amazon, -1) {
		reach += len(ray)
		if len(ray) > 0 {
			liberties++
		}
		for i, s := range ray {
			if s == square {
				taken, beside = len(ray)-i, i == 0
			}
		}
	}
	return taken, beside, reach, liberties
}

// literalArrowScore returns what an arrow adds to the score of its move, square by
// square.
func literalArrowScore(b *rules.Board, m game.Move) (score int32) {
	cols, rows := b.Size()
	from, to, arrow := rules.Squares(m)
	for _, ray := range rays(b, int(to), int(from)) {
		for i, s := range ray {
			if s == int(arrow) {
				score += shippedOrder.distance[min(i, 3)] - shippedOrder.cut*int32(len(ray)-i)
			}
		}
	}
	if arrow == from {
		return score + shippedOrder.back
	}
	own, other := b.Turn(), b.Turn().Other()
	reached := 1
	if distances(b, own, cols, rows, true)[arrow] == 1 {
		reached = 0
	}
	switch distances(b, other, cols, rows, true)[arrow] {
	case 1:
		score += shippedOrder.reached[reached][0]
	case 2:
		score += shippedOrder.reached[reached][1]
	default:
		score += shippedOrder.reached[reached][2]
	}
	for set := b.Amazons(other); !set.Empty(); {
		taken, beside, reach, liberties := sees(b, int(set.Pop()), int(arrow))
		if taken > 0 {
			score += shippedOrder.seen[reachClass(reach)] + int32(taken)*shippedOrder.taken[reachClass(reach)]
		}
		if beside {
			score += shippedOrder.beside[libertyClass(liberties)]
		}
	}
	for set := b.Amazons(own); !set.Empty(); {
		s := set.Pop()
		if taken, _, reach, _ := sees(b, int(s), int(arrow)); s != from && taken > 0 {
			score -= shippedOrder.own[reachClass(reach)]
		}
	}
	return score
}

// TestOrder compares the scores of all moves, computed for many at once, with those of
// each move alone, on random boards of all sizes; and the order of the batches.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	compared, several := 0, 0
	eachSize(func(cols, rows int) {
		if cols*rows < 6 {
			return
		}
		g := setup(t, randomBoard(rng, cols, rows))
		p := adapt(t, g)
		p.Enter()
		b := g.(*rules.Position).Board()
		best := int32(-1 << 31)
		c := search.Cursor{}
		for batch := 0; ; batch++ {
			moves := p.Moves(nil, &c)
			if len(moves) == 0 {
				break
			}
			if batch == 1 {
				several++
			}
			for _, m := range moves {
				if batch == 0 {
					best = max(best, m.Order)
				} else if c.Stage == goodArrows && m.Order < best-orderSpan {
					t.Fatalf("%s: %s is among the good moves with %d, the best has %d", g, g.Format(m.Move), m.Order, best)
				}
				if rng.IntN(10) > 0 {
					continue
				}
				from, to, _ := rules.Squares(m.Move)
				back := g.Clone()
				if err := back.Play(rules.NewMove(from, to, from)); err != nil {
					t.Fatal(err)
				}
				want := -int32(adapt(t, back).Eval())*shippedOrder.eval/square + literalArrowScore(&b, m.Move)
				if m.Order != want {
					t.Fatalf("%s: %s has %d, alone %d", g, g.Format(m.Move), m.Order, want)
				}
				compared++
			}
		}
	})
	if compared < 1000 || several == 0 {
		t.Errorf("%d moves compared, %d boards with more than a batch", compared, several)
	}
}

// TestChoicesAreTheOrder: the values of the features that fits of the order use add up
// to it.
func TestChoicesAreTheOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	c := NewChoices()
	weights := shippedOrder.parameters()
	values := func(all [][]adapter.Term) (sums []float64) {
		for _, terms := range all {
			sum := 0.0
			for _, t := range terms {
				sum += float64(t.By) * float64(*weights[t.Weight].Value)
			}
			sums = append(sums, sum)
		}
		return sums
	}
	shared := values(c.Features())
	compared := 0
	eachSize(func(cols, rows int) {
		if cols*rows < 6 {
			return
		}
		g := setup(t, randomBoard(rng, cols, rows))
		legal := g.Legal(nil)
		if len(legal) == 0 {
			return
		}
		m := legal[rng.IntN(len(legal))]
		choice, ok, err := c.Choice(g, m)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		if choice.Len() != len(legal) {
			t.Fatalf("%s: %d moves, want %d", g, choice.Len(), len(legal))
		}
		features := append(slices.Clone(shared), values(choice.Features)...)
		p := adapt(t, g)
		p.Enter()
		found, _ := p.Find(m)
		got := float64(p.Eval()) * float64(shippedOrder.eval) / square
		for _, f := range choice.Move(choice.Chosen) {
			got += features[f]
		}
		if math.Abs(got-float64(found.Order)) > 1 {
			t.Fatalf("%s: %s has order %d, its features %.2f", g, g.Format(m), found.Order, got)
		}
		compared++
	})
	if compared < 50 {
		t.Errorf("%d boards compared", compared)
	}
	if _, _, err := c.Choice(foreign{}, 0); err == nil {
		t.Error("a position of another game: no error")
	}
}

// foreign is a position of another game.
type foreign struct{ game.Position }
