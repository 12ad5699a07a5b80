package engine

import (
	"testing"

	"sparring/engine/search"
	"sparring/game"
)

// BenchmarkShortMove is a move of a bot that plays many games at once: a search of few
// nodes through the pool. What it allocates counts more than what it searches.
func BenchmarkShortMove(b *testing.B) {
	for _, a := range adapters {
		b.Run(a.Game, func(b *testing.B) {
			e, err := New(a.Game, Options{HashBytes: 1 << 20})
			if err != nil {
				b.Fatal(err)
			}
			pool := NewPool(1)
			defer pool.Close()
			b.ReportAllocs()
			var g Game
			var p game.Position
			for b.Loop() {
				if p == nil || p.Outcome().Over() || p.Ply() >= 40 {
					if g != nil {
						g.Close()
					}
					if g, err = e.NewGame(GameOptions{}); err != nil {
						b.Fatal(err)
					}
					p = start(b, a.Game)
				}
				s, err := pool.Start(Request{Game: g, Position: p, Limits: search.Limits{Nodes: 50}})
				if err != nil {
					b.Fatal(err)
				}
				r, err := s.Wait()
				if err != nil {
					b.Fatal(err)
				}
				if err := p.Play(r.Move); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
