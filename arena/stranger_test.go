package arena

import (
	"encoding/json"
	"testing"

	"github.com/nats-io/nats.go"

	"sparring/arena/arenatest"
	"sparring/protocol"
)

// In a pool that players share, a player can't accept in another's name.
func TestStrangerAcceptsForAnother(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "eve")
	a := runArena(t, srv, quick())
	ann, bob, eve := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1"), join(t, srv, "eve", "e1")
	const pool = "amazons.bullet"
	forged := make(chan struct{}, 100)
	sub, err := eve.nc.QueueSubscribe(a.server.Subjects().Offer(pool), protocol.BotsQueue, func(msg *nats.Msg) {
		var o protocol.Offer
		if err := json.Unmarshal(msg.Data, &o); err != nil {
			t.Error(err)
		}
		data, err := json.Marshal(protocol.OfferAnswer{Header: o.Header, Answer: protocol.Accept, Player: "bob", Instance: "b1", Secret: "guess"})
		if err != nil {
			t.Error(err)
		}
		if err := msg.Respond(data); err != nil {
			t.Error(err)
		}
		select {
		case forged <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := eve.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	ans, err := ann.Challenge(t.Context(), protocol.ChallengeRequest{Terms: small(t, "60"), Pool: pool, ExpireMS: patience.Milliseconds()})
	if err != nil {
		t.Fatal(err)
	}
	ann.follow(ans.Game)
	for range 5 { // it is offered again and again
		<-forged
	}
	if events, err := a.store.entries(t.Context(), ans.Game); len(events) != 0 {
		t.Fatalf("a game was granted to a player that did not accept it: %v %v", events, err)
	}
	if err := sub.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	bob.listen(pool)
	st := ann.until(ans.Game, "the start", plies(0))
	if other := st.Holders[st.You.Other()]; other.Player != "bob" || other.Instance != "b1" {
		t.Errorf("the game is against %+v", other)
	}
}
