package conformance

import (
	"errors"
	"fmt"
	"time"

	"sparring/game"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// Scenarios of seats that change hands.

func platformResync(t platformTrial) string {
	m := t.meetAt(2, t.terms)
	before := m.state(m.ann)
	t.must(m.ann.SayHello(t.ctx))
	st := t.await(m.ann, m.id, "the state after a hello", func(st protocol.State) bool { return st.ServerTime.After(before.ServerTime) })
	if st.Seq != before.Seq || len(st.Moves) != 2 {
		t.failf("the state again has seq %d and %d plies, before %d and 2", st.Seq, len(st.Moves), before.Seq)
	}
	if !m.heldBy(m.ann) {
		t.failf("the answer to the hello does not list the game as held")
	}
	m.playTo(4)
	return "the game is listed, and its state came again"
}

// expectTaken waits until another instance holds the second seat, and checks that it plays.
func (m *match) expectTaken(by *scripted.Player, epoch uint64) string {
	began := time.Now()
	st, err := m.ann.Until(m.within(m.eased(20*time.Second)).ctx, m.id, "the seat to be taken", func(st protocol.State) bool { return st.Holders[game.Second].Instance == by.Instance() })
	m.mustf(err, "the seat was not given to the other instance")
	if st.Holders[game.Second].Epoch <= epoch {
		m.failf("the seat changed hands in epoch %d", epoch)
	}
	m.bob = by
	m.await(by, m.id, "its first state", func(st protocol.State) bool { return st.Holders[game.Second].Instance == by.Instance() })
	m.playTo(len(m.state(m.ann).Moves) + 2)
	return fmt.Sprintf("taken after %v, in epoch %d", time.Since(began).Round(100*time.Millisecond), st.Holders[game.Second].Epoch)
}

// handover makes bob's first instance lose its seat to his second one.
func (t platformTrial) handover(lose func(b1 *scripted.Player, m *match)) string {
	m := t.meetAt(2, t.terms)
	b1 := m.bob
	b2 := t.joinPlayer(bob)
	epoch := m.state(m.ann).Holders[game.Second].Epoch
	lose(b1, m)
	seen := m.expectTaken(b2, epoch)
	if !b1.Conn().IsConnected() || m.mover() != m.bob {
		m.playTo(len(m.state(m.ann).Moves) + 1)
	}
	req := m.chooseMove(m.bob)
	req.Epoch = epoch
	_, err := b1.SendMove(t.ctx, m.id, req)
	m.expectRefused("a move of the old holder", err, protocol.Stale, protocol.Denied)
	return seen + "; the old holder is refused"
}

func platformSilence(t platformTrial) string {
	return t.handover(func(b1 *scripted.Player, _ *match) {
		refuseOffers(b1)
		b1.SetQuiet(true)
	})
}

// refuseOffers makes a player take no seats, not even its own back.
func refuseOffers(p *scripted.Player) {
	p.SetHooks(scripted.PlayerHooks{Offer: func(protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Busy}
	}})
}

func platformLeave(t platformTrial) string {
	return t.handover(func(b1 *scripted.Player, m *match) {
		refuseOffers(b1)
		b1.SetQuiet(true) // a heartbeat behind the leave would say that it still plays, and get the seat again
		_, err := b1.Leave(t.ctx, m.id)
		t.mustf(err, "giving the seat back")
	})
}

// platformLeaveTwice gives a seat back, takes it again, and then sends the same request once
// more, and one of another process with the same instance id.
func platformLeaveTwice(t platformTrial) string {
	m := t.meetAt(2, t.terms)
	epoch := m.state(m.ann).Holders[game.Second].Epoch
	leave := func(id, more string) (code protocol.Code, err error) {
		ans, _, err := t.rawRequest(m.bob, protocol.VerbLeave, fmt.Appendf(nil, `{"v":1,"id":%q,"instance":%q,"games":[%q]%s}`, id, m.bob.Instance(), m.id, more))
		return ans.Code, err
	}
	if code, err := leave("l1", ""); err != nil || code != protocol.Accepted {
		t.failf("giving the seat back: %s, %v", code, err)
	}
	st, err := m.ann.Until(t.ctx, m.id, "the seat to be taken again", func(st protocol.State) bool {
		h := st.Holders[game.Second]
		return h.Instance == m.bob.Instance() && h.Epoch > epoch
	})
	if err != nil {
		t.must(err)
	}
	epoch = st.Holders[game.Second].Epoch
	_, err = leave("l1", "")
	t.mustf(err, "giving the seat back a second time")
	if code, err := leave("l2", `,"secret":"guess"`); err != nil || code != protocol.Denied {
		t.failf("giving back the seat of another process: %s, %v", code, err)
	}
	m.playTo(3)
	_, refused := m.bob.SendMove(t.ctx, m.id, m.chooseMove(m.bob))
	if refused != nil { // a move of an earlier epoch is stale; the opponent learns a moment later why
		m.ann.Until(t.within(t.eased(time.Second)).ctx, m.id, "another epoch", func(st protocol.State) bool {
			return st.Holders[game.Second].Epoch != epoch
		})
	}
	if now := m.state(m.ann).Holders[game.Second].Epoch; now != epoch {
		t.failf("the seat was given back again: it is in epoch %d, and was in %d", now, epoch)
	}
	t.mustf(refused, "a legal move at ply 3")
	m.both("the move", plies(4))
	return fmt.Sprintf("taken again in epoch %d, and kept", epoch)
}

func platformLostEnd(t platformTrial) string {
	b, proxy := t.joinThroughProxy(bob)
	a := t.joinPlayer(ann)
	m := t.pair(a, b, t.terms)
	m.playTo(3)
	proxy.Refuse(true)
	m.resign(a)
	t.await(a, m.id, "the end", finished)
	proxy.Refuse(false)
	t.must(protocol.Await(t.ctx, b.Conn()))
	t.must(b.SayHello(t.ctx))
	if m.heldBy(b) {
		t.failf("the game that has ended is listed as held")
	}
	_, err := b.Resign(t.ctx, m.id, 1, 3)
	refusal, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		t.failf("a resignation after the end: %v, want a refusal", errText(err))
	}
	return fmt.Sprintf("not listed, and requests are refused as %s", refusal.Code)
}

func platformHalfOpen(t platformTrial) string {
	a := t.joinPlayer(ann)
	b1, proxy := t.joinThroughProxy(bob)
	b1.SetNoReconnect(true)
	m := t.pair(a, b1, t.terms)
	m.playTo(2)
	epoch := m.state(a).Holders[game.Second].Epoch
	b2 := t.joinPlayer(bob)
	proxy.HalfOpen()
	return m.expectTaken(b2, epoch)
}
