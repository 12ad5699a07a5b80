package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// Scenarios of the clocks of a platform.

func platformReceipts(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 2, r.terms)
	if err != nil {
		return "", err
	}
	const think = 400 * time.Millisecond
	var charged []string
	for n := 2; n < 6; n++ {
		p := m.mover()
		told := time.Now()
		req, err := m.choose(p)
		if err != nil {
			return "", err
		}
		if err := sleep(ctx, think); err != nil {
			return "", err
		}
		ans, err := p.SendMove(ctx, m.id, req)
		took := time.Since(told)
		switch {
		case err != nil:
			return "", broken("a move: %v", err)
		case ans.Receipt == nil:
			return "", broken("the answer to a move has no receipt")
		}
		d := time.Duration(ans.Receipt.ChargedMS) * time.Millisecond
		// It may begin before we were told and end before we were answered.
		if d < think-r.eased(100*time.Millisecond) || d > took+r.eased(500*time.Millisecond) {
			return "", broken("%v charged for a move that took between %v and %v", d, think, took.Round(time.Millisecond))
		}
		charged = append(charged, fmt.Sprint(d.Milliseconds()))
		if err := m.both(ctx, "the move", plies(n+1)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("moves of %v were charged %s ms", think, strings.Join(charged, ", ")), nil
}

func platformLagClaim(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 2, r.terms)
	if err != nil {
		return "", err
	}
	p := m.mover()
	req, err := m.choose(p)
	if err != nil {
		return "", err
	}
	req.LagMS = 60_000
	ans, err := p.SendMove(ctx, m.id, req)
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return "the claim of a minute was refused as " + string(refusal.Code), nil
	}
	switch {
	case err != nil:
		return "", broken("a move: %v", err)
	case ans.Receipt == nil:
		return "", broken("the answer to a move has no receipt")
	case ans.Receipt.LagMS != 0:
		return "", broken("a bot that claimed a minute was credited %d ms", ans.Receipt.LagMS)
	}
	return "nothing credited for a claim of a minute", nil
}

// timed returns the terms with another clock.
func (r *platformRig) timed(text string) protocol.Terms {
	spec, err := clock.Parse(text)
	if err != nil {
		panic(err) // our own text
	}
	t := r.terms
	t.Clock = spec
	return t
}

func platformFlag(ctx context.Context, r *platformRig) (string, error) {
	const left = 3 * time.Second
	m, err := r.meetAt(ctx, 4, r.timed("3"))
	if err != nil {
		return "", err
	}
	began := time.Now()
	st := m.state(m.ann)
	remaining := time.Duration(st.Clocks.Seats[st.Turn].LeftMS) * time.Millisecond
	out, err := m.ends(ctx)
	took := time.Since(began)
	switch {
	case err != nil:
		return "", err
	case out != (game.Outcome{Result: game.WonBy(st.Turn.Other()), Reason: protocol.ReasonTime}):
		return "", broken("the game of a player that does not move ended %s by %q", out.Result, out.Reason)
	case took < remaining-200*time.Millisecond:
		return "", broken("the flag fell after %v with %v left", took, remaining)
	case took > left+r.eased(5*time.Second):
		return "", broken("the flag fell only after %v with %v left", took, remaining)
	}
	return fmt.Sprintf("lost on time %v after %v were left", took.Round(10*time.Millisecond), remaining), nil
}

func platformNoStart(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if m.state(m.ann).FirstMoveBy.IsZero() {
		return "", broken("the first state has no first_move_by")
	}
	out, err := m.ends(ctx)
	if err == nil && (out.Result != game.Undecided || out.Reason != protocol.ReasonNoStart) {
		err = broken("the game ended %s by %q", out.Result, out.Reason)
	}
	return "called off by no-start", err
}

func platformAbandoned(ctx context.Context, r *platformRig) (string, error) {
	// In slower games a seat may be vacant for longer than a scenario lasts.
	m, err := r.meetAt(ctx, 4, r.timed("300"))
	if err != nil {
		return "", err
	}
	forfeit := time.Duration(m.state(m.ann).ForfeitMS) * time.Millisecond
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < forfeit {
		return "", notTried("a seat may be vacant for %v, by forfeit_ms", forfeit)
	}
	m.bob.Close()
	m.bob.Conn().Close() // else it would take each offer of the seat
	st, err := m.ann.Until(ctx, m.id, "the end", finished)
	if err != nil {
		return "", broken("%v", err)
	}
	if st.Outcome != (game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}) {
		return "", broken("the game ended %s by %q", st.Outcome.Result, st.Outcome.Reason)
	}
	return "won, as the opponent abandoned it", nil
}
