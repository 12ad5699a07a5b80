package web

import (
	"testing"

	"sparring/game"
	"sparring/protocol"
)

// TestArenaIsKilled kills the arena with its gateway in mid-game: the pages connect
// to the next one and play on.
func TestArenaIsKilled(t *testing.T) {
	t.Parallel()
	srv := startServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "hare", protocol.Hello{})
	ann := openPage(t, gw, human("ann"))
	first := game.First
	g := ann.want(Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2"), Seat: &first}).Game
	ann.want(Request{T: "open", Game: g})
	ann.state(g, "the start", func(st State) bool { return st.Status == protocol.Playing })
	ann.move(g, 0, "h8")
	before := ann.state(g, "the answer", plies(2))
	gw.crash()

	next := startGateway(t, srv, quick(), nil)
	again := openPage(t, next, human("ann"))
	again.want(Request{T: "open", Game: g})
	st := again.state(g, "the game", func(st State) bool { return st.Clocks.Running != nil })
	if len(st.Moves) != len(before.Moves) || st.Seq < before.Seq {
		t.Errorf("after the restart %d moves, seq %d; before %d, %d", len(st.Moves), st.Seq, len(before.Moves), before.Seq)
	}
	again.want(Request{T: "move", Game: g, Ply: 2, Move: "g8"})
	again.state(g, "the answer", plies(4))
}
