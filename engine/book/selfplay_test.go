package book_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sparring/engine/book"
	"sparring/game"
	"sparring/game/catalog"
)

func selfPlay(t *testing.T, rules string) *book.SelfPlay {
	t.Helper()
	s := &book.SelfPlay{Rules: rules, Nodes: 60, Seed: 7, Plies: 6, Lines: 4, Spread: 0.1, Explore: 40, Hash: 1 << 20}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSelfPlayIsReproducible checks that a game depends on its number, not on
// earlier games, and that games differ.
func TestSelfPlayIsReproducible(t *testing.T) {
	for _, rules := range []string{"xiangqi/wxf", "gomoku/freestyle-15", "amazons/6x6"} {
		a, b := selfPlay(t, rules), selfPlay(t, rules)
		first, _, err := a.Play(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		second, out, err := a.Play(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := b.Play(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(second.Moves, again.Moves) || second.Result != again.Result || second.ID != again.ID {
			t.Errorf("%s: game 2 depends on game 1", rules)
		}
		if slices.Equal(first.Moves, second.Moves) {
			t.Errorf("%s: two games are alike", rules)
		}
		if out.Result == game.Undecided || out.Result != second.Result {
			t.Errorf("%s: outcome %v, result %s", rules, out, second.Result)
		}
		builder, err := book.NewBuilder(rules, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(builder.Count(first), builder.Count(second)); err != nil {
			t.Errorf("%s: %v", rules, err)
		}
	}
}

func TestSelfPlayRefusals(t *testing.T) {
	for _, s := range []book.SelfPlay{{Rules: "chess"}, {Rules: "xiangqi"}, {Rules: "gomoku/freestyle-15+swap2", Nodes: 1, Lines: 1, Explore: 1, Spread: 1}, {Rules: "xiangqi", Nodes: 1, Lines: 1, Explore: 1, Spread: -1},
		{Rules: "xiangqi", Nodes: 1, Lines: 1, Explore: 1, Spread: 1, Openings: [][]string{{"h2e2"}, {"a0a5"}}},
		{Rules: "gomoku/freestyle-15", Nodes: 1, Lines: 1, Explore: 1, Spread: 1, Openings: [][]string{strings.Fields("h8 a1 i8 a2 j8 a3 k8 a4 l8")}}} { // over
		if err := s.Start(); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
	s := selfPlay(t, "xiangqi/wxf")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Play(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// TestSelfPlayOpenings: the games begin with the given openings in turn.
func TestSelfPlayOpenings(t *testing.T) {
	s := book.SelfPlay{Rules: "amazons/6x6", Nodes: 20, Seed: 7, Lines: 2, Spread: 0.1, Explore: 40, Hash: 1 << 20}
	rules, err := catalog.Rules(s.Rules)
	if err != nil {
		t.Fatal(err)
	}
	start, err := rules.New("")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range start.Legal(nil)[:3] {
		s.Openings = append(s.Openings, []string{start.Format(m)})
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		g, _, err := s.Play(t.Context(), n+1)
		if err != nil || len(g.Moves) < 2 || g.Moves[0] != s.Openings[n%3][0] {
			t.Errorf("game %d: %v, %v; want one that begins with %v", n+1, g.Moves, err, s.Openings[n%3])
		}
	}
}
