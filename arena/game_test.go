package arena

import (
	"fmt"
	"testing"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/protocol"
)

func key(p game.Position) string { return game.KeyText(p.Key()) }

func TestWholeGame(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	st := ann.until(g, "the end", finished)
	if st.Outcome.Result == game.Undecided || st.Outcome.Reason != game.NoMoves {
		t.Errorf("outcome %+v, want a win because a side can't move", st.Outcome)
	}
	bob.until(g, "the end", finished)

	events, err := a.store.entries(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if len(events) < len(st.Moves)+1 || events[0].Kind != protocol.EventStart {
		t.Fatalf("%d entries for %d moves, the first %q", len(events), len(st.Moves), events[0].Kind)
	}
	for i, e := range events {
		if e.Index != uint64(i+1) || e.Term != 1 {
			t.Errorf("entry %d: index %d term %d", i, e.Index, e.Term)
		}
		position(t, e.Snapshot)
		if e.Receipt != nil && e.Receipt.Ply != len(e.Moves) {
			t.Errorf("entry %d: the receipt is for ply %d of %d", i, e.Receipt.Ply, len(e.Moves))
		}
	}
	fmt.Fprintln(t.Output(), len(st.Moves), "plies")
}
