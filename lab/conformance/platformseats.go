package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sparring/game"
	"sparring/lab/conformance/scripted"
	"sparring/protocol"
)

// Scenarios of seats that change hands.

func platformResync(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 2, r.terms)
	if err != nil {
		return "", err
	}
	before := m.state(m.ann)
	if err := m.ann.SayHello(ctx); err != nil {
		return "", broken("%v", err)
	}
	st, err := m.ann.Until(ctx, m.id, "the state after a hello", func(st protocol.State) bool { return st.ServerTime.After(before.ServerTime) })
	if err != nil {
		return "", broken("%v", err)
	}
	if st.Seq != before.Seq || len(st.Moves) != 2 {
		return "", broken("the state again has seq %d and %d plies, before %d and 2", st.Seq, len(st.Moves), before.Seq)
	}
	if !m.heldBy(m.ann) {
		return "", broken("the answer to the hello does not list the game as held")
	}
	return "the game is listed, and its state came again", m.playTo(ctx, 4)
}

// taken waits until another instance holds the second seat, and checks that it plays.
func (m *match) taken(ctx context.Context, by *scripted.Player, epoch uint64) (string, error) {
	began := time.Now()
	soon, cancel := within(ctx, m.r.eased(20*time.Second))
	defer cancel()
	st, err := m.ann.Until(soon, m.id, "the seat to be taken", func(st protocol.State) bool { return st.Holders[game.Second].Instance == by.Instance() })
	if err != nil {
		return "", broken("the seat was not given to the other instance: %v", err)
	}
	if st.Holders[game.Second].Epoch <= epoch {
		return "", broken("the seat changed hands in epoch %d", epoch)
	}
	m.bob = by
	if _, err := by.Until(ctx, m.id, "its first state", func(st protocol.State) bool { return st.Holders[game.Second].Instance == by.Instance() }); err != nil {
		return "", broken("%v", err)
	}
	if err := m.playTo(ctx, len(m.state(m.ann).Moves)+2); err != nil {
		return "", err
	}
	return fmt.Sprintf("taken after %v, in epoch %d", time.Since(began).Round(100*time.Millisecond), st.Holders[game.Second].Epoch), nil
}

// handover makes bob's first instance lose its seat to his second one.
func (r *platformRig) handover(ctx context.Context, lose func(b1 *scripted.Player, m *match) error) (string, error) {
	m, err := r.meetAt(ctx, 2, r.terms)
	if err != nil {
		return "", err
	}
	b1 := m.bob
	b2, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	epoch := m.state(m.ann).Holders[game.Second].Epoch
	if err := lose(b1, m); err != nil {
		return "", err
	}
	seen, err := m.taken(ctx, b2, epoch)
	if err != nil {
		return "", err
	}
	if !b1.Conn().IsConnected() || m.mover() != m.bob {
		if err := m.playTo(ctx, len(m.state(m.ann).Moves)+1); err != nil {
			return "", err
		}
	}
	req, err := m.choose(m.bob)
	if err != nil {
		return "", err
	}
	req.Epoch = epoch
	_, err = b1.SendMove(ctx, m.id, req)
	_, err = m.refused(ctx, "a move of the old holder", err, protocol.Stale, protocol.Denied)
	return seen + "; the old holder is refused", err
}

func platformSilence(ctx context.Context, r *platformRig) (string, error) {
	return r.handover(ctx, func(b1 *scripted.Player, _ *match) error {
		refuseOffers(b1)
		b1.SetQuiet(true)
		return nil
	})
}

// refuseOffers makes a player take no seats, not even its own back.
func refuseOffers(p *scripted.Player) {
	p.SetHooks(scripted.PlayerHooks{Offer: func(protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Busy}
	}})
}

func platformLeave(ctx context.Context, r *platformRig) (string, error) {
	return r.handover(ctx, func(b1 *scripted.Player, m *match) error {
		refuseOffers(b1)
		b1.SetQuiet(true) // a heartbeat behind the leave would say that it still plays, and get the seat again
		if _, err := b1.Leave(ctx, m.id); err != nil {
			return broken("giving the seat back: %v", err)
		}
		return nil
	})
}

// platformLeaveTwice gives a seat back, takes it again, and then sends the same request once
// more, and one of another process with the same instance id.
func platformLeaveTwice(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 2, r.terms)
	if err != nil {
		return "", err
	}
	epoch := m.state(m.ann).Holders[game.Second].Epoch
	leave := func(id, more string) (code protocol.Code, err error) {
		ans, _, err := r.raw(ctx, m.bob, protocol.VerbLeave, fmt.Appendf(nil, `{"v":1,"id":%q,"instance":%q,"games":[%q]%s}`, id, m.bob.Instance(), m.id, more))
		return ans.Code, err
	}
	if code, err := leave("l1", ""); err != nil || code != protocol.Accepted {
		return "", broken("giving the seat back: %s, %v", code, err)
	}
	st, err := m.ann.Until(ctx, m.id, "the seat to be taken again", func(st protocol.State) bool {
		h := st.Holders[game.Second]
		return h.Instance == m.bob.Instance() && h.Epoch > epoch
	})
	if err != nil {
		return "", broken("%v", err)
	}
	epoch = st.Holders[game.Second].Epoch
	if _, err := leave("l1", ""); err != nil {
		return "", broken("giving the seat back a second time: %v", err)
	}
	if code, err := leave("l2", `,"secret":"guess"`); err != nil || code != protocol.Denied {
		return "", broken("giving back the seat of another process: %s, %v", code, err)
	}
	refused := m.playTo(ctx, 4) // a move of an earlier epoch is stale: why, the opponent is told a moment later
	if refused != nil {
		late, cancel := context.WithTimeout(ctx, r.eased(time.Second))
		defer cancel()
		m.ann.Until(late, m.id, "another epoch", func(st protocol.State) bool { return st.Holders[game.Second].Epoch != epoch })
	}
	if now := m.state(m.ann).Holders[game.Second].Epoch; now != epoch {
		return "", broken("the seat was given back again: it is in epoch %d, and was in %d", now, epoch)
	}
	if refused != nil {
		return "", refused
	}
	return fmt.Sprintf("taken again in epoch %d, and kept", epoch), nil
}

func platformLostEnd(ctx context.Context, r *platformRig) (string, error) {
	b, proxy, err := r.joinProxied(ctx, bob)
	if err != nil {
		return "", err
	}
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	m, err := r.pair(ctx, a, b, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 3); err != nil {
		return "", err
	}
	proxy.Refuse(true)
	st := m.state(a)
	if _, err := a.Resign(ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves)); err != nil {
		return "", broken("a resignation: %v", err)
	}
	if _, err := a.Until(ctx, m.id, "the end", finished); err != nil {
		return "", broken("%v", err)
	}
	proxy.Refuse(false)
	if err := protocol.Await(ctx, b.Conn()); err != nil {
		return "", err
	}
	if err := b.SayHello(ctx); err != nil {
		return "", broken("%v", err)
	}
	if m.heldBy(b) {
		return "", broken("the game that has ended is listed as held")
	}
	_, err = b.Resign(ctx, m.id, 1, len(st.Moves))
	refusal, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return "", broken("a resignation after the end: %v, want a refusal", errText(err))
	}
	return fmt.Sprintf("not listed, and requests are refused as %s", refusal.Code), nil
}

func platformHalfOpen(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b1, proxy, err := r.joinProxied(ctx, bob)
	if err != nil {
		return "", err
	}
	b1.SetNoReconnect(true)
	m, err := r.pair(ctx, a, b1, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 2); err != nil {
		return "", err
	}
	epoch := m.state(a).Holders[game.Second].Epoch
	b2, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	proxy.HalfOpen()
	return m.taken(ctx, b2, epoch)
}
