package arena

import (
	"slices"
	"testing"

	"sparring/game"
	"sparring/protocol"
)

// Who has lost touch with a game says hello, and knows all there is to know.
func TestHelloBringsTheStates(t *testing.T) {
	t.Parallel()
	srv := startServer(t, "", "ann", "bob")
	runArena(t, srv, quick())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	bob.set(func(p *player) { p.play = nil }) // it keeps the game where it is
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	bob.until(g, "the first move", plies(1))

	again := join(t, srv, "bob", "b1") // the same instance, with nothing in its hands
	if !slices.Contains(again.held, g) {
		t.Fatalf("held %v, want %s", again.held, g)
	}
	again.hello(t.Context()) // now that it listens
	again.until(g, "the state", func(st protocol.State) bool { return len(st.Moves) == 1 })
}
