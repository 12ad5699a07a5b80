package conformance

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sparring/game"
	"sparring/protocol"
)

// Scenarios of the clocks of a platform.

func platformReceipts(t platformTrial) string {
	m := t.meetAt(2, t.terms)
	const think = 400 * time.Millisecond
	var charged []string
	for n := 2; n < 6; n++ {
		p := m.mover()
		told := time.Now()
		req := m.chooseMove(p)
		t.sleep(think)
		ans, err := p.SendMove(t.ctx, m.id, req)
		took := time.Since(told)
		switch {
		case err != nil:
			t.failf("a move: %v", err)
		case ans.Receipt == nil:
			t.failf("the answer to a move has no receipt")
		}
		d := time.Duration(ans.Receipt.ChargedMS) * time.Millisecond
		// It may begin before we were told and end before we were answered.
		if d < think-t.eased(100*time.Millisecond) || d > took+t.eased(500*time.Millisecond) {
			t.failf("%v charged for a move that took between %v and %v", d, think, took.Round(time.Millisecond))
		}
		charged = append(charged, fmt.Sprint(d.Milliseconds()))
		m.both("the move", plies(n+1))
	}
	return fmt.Sprintf("moves of %v were charged %s ms", think, strings.Join(charged, ", "))
}

func platformLagClaim(t platformTrial) string {
	m := t.meetAt(2, t.terms)
	p := m.mover()
	req := m.chooseMove(p)
	req.LagMS = 60_000
	ans, err := p.SendMove(t.ctx, m.id, req)
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return "the claim of a minute was refused as " + string(refusal.Code)
	}
	switch {
	case err != nil:
		t.failf("a move: %v", err)
	case ans.Receipt == nil:
		t.failf("the answer to a move has no receipt")
	case ans.Receipt.LagMS != 0:
		t.failf("a bot that claimed a minute was credited %d ms", ans.Receipt.LagMS)
	}
	return "nothing credited for a claim of a minute"
}

func platformFlag(t platformTrial) string {
	const left = 3 * time.Second
	m := t.meetAt(4, t.timed("3"))
	st := m.state(m.ann)
	remaining := time.Duration(st.Clocks.Seats[st.Turn].LeftMS) * time.Millisecond
	out := m.outcome()
	took := m.state(m.ann).ServerTime.Sub(st.ServerTime) // by the platform's own clock: ours sees late states
	switch {
	case out != (game.Outcome{Result: game.WonBy(st.Turn.Other()), Reason: protocol.ReasonTime}):
		t.failf("the game of a player that does not move ended %s by %q", out.Result, out.Reason)
	case took < remaining-200*time.Millisecond:
		t.failf("the flag fell after %v with %v left", took, remaining)
	case took > left+t.eased(5*time.Second):
		t.failf("the flag fell only after %v with %v left", took, remaining)
	}
	return fmt.Sprintf("lost on time %v after %v were left", took.Round(10*time.Millisecond), remaining)
}

func platformNoStart(t platformTrial) string {
	m := t.meet(t.terms)
	if m.state(m.ann).FirstMoveBy.IsZero() {
		t.failf("the first state has no first_move_by")
	}
	if out := m.outcome(); out.Result != game.Undecided || out.Reason != protocol.ReasonNoStart {
		t.failf("the game ended %s by %q", out.Result, out.Reason)
	}
	return "called off by no-start"
}

func platformAbandoned(t platformTrial) string {
	// In slower games a seat may be vacant for longer than a scenario lasts.
	m := t.meetAt(4, t.timed("300"))
	forfeit := time.Duration(m.state(m.ann).ForfeitMS) * time.Millisecond
	if deadline, ok := t.ctx.Deadline(); ok && time.Until(deadline) < forfeit {
		t.skipf("a seat may be vacant for %v, by forfeit_ms", forfeit)
	}
	m.bob.Close()
	m.bob.Conn().Close() // else it would take each offer of the seat
	st := t.await(m.ann, m.id, "the end", finished)
	if st.Outcome != (game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}) {
		t.failf("the game ended %s by %q", st.Outcome.Result, st.Outcome.Reason)
	}
	return "won, as the opponent abandoned it"
}
