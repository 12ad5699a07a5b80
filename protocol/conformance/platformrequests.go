package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sparring/game"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// Scenarios of what a platform answers, and tells the players and spectators of a game.

func platformHello(t platformTrial) string {
	p := t.joinPlayer(ann)
	var a protocol.HelloAnswer
	p.Do(func() { a = p.Greeting() })
	switch {
	case a.HeartbeatMS < 10 || a.HeartbeatMS > 60_000:
		t.failf("heartbeat_ms is %d", a.HeartbeatMS)
	case a.Limits.MessageBytes < 1024 || a.Limits.Nesting < 3 || a.Limits.PerSecond < 1:
		t.failf("limits are %+v", a.Limits)
	case a.ServerTime.IsZero():
		t.failf("server_time is missing")
	}
	return fmt.Sprintf("a heartbeat every %d ms, up to %d requests a second", a.HeartbeatMS, a.Limits.PerSecond)
}

func platformUnknownPeer(t platformTrial) string {
	p := t.joinPlayer(ann, func(c *scripted.PlayerConfig) { c.Silent = true })
	_, err := p.Alive(t.within(t.eased(5*time.Second)).ctx, protocol.Alive{Free: 1})
	if !errors.Is(err, &protocol.Error{Code: protocol.UnknownPeer}) {
		t.failf("a heartbeat without a hello: %v", errText(err))
	}
	return "refused as unknown-peer"
}

func errText(err error) string {
	if err == nil {
		return "accepted"
	}
	return err.Error()
}

// marker is text that no answer may repeat.
const marker = "echo-me-if-you-can"

func platformBadInput(t platformTrial) string {
	p := t.joinPlayer(ann)
	// Of an instance that has said hello: for that of one it does not know a platform may wait.
	head := `{"v":1,"id":"b1","instance":"` + string(p.Instance()) + `"`
	size := 16 << 10
	if t.limits.MessageBytes > 0 {
		size = t.limits.MessageBytes
	}
	cases := []struct {
		what string
		verb protocol.Verb
		data string
		want []protocol.Code
	}{
		{"no JSON", protocol.VerbHello, marker, []protocol.Code{protocol.Malformed}},
		{"an array", protocol.VerbHello, `["` + marker + `"]`, []protocol.Code{protocol.Malformed}},
		{"another version", protocol.VerbAlive, `{"v":77,"id":"b1","instance":"i1","free":1,"x":"` + marker + `"}`, []protocol.Code{protocol.BadVersion}},
		{"an id with dots", protocol.VerbAlive, `{"v":1,"id":"` + marker + `.*.>","instance":"i1","free":1}`, []protocol.Code{protocol.Malformed}},
		{"a field of another type", protocol.VerbAlive, head + `,"free":"` + marker + `"}`, []protocol.Code{protocol.Malformed}},
		{"a negative number", protocol.VerbAlive, head + `,"free":-1,"x":"` + marker + `"}`, []protocol.Code{protocol.Malformed}},
		{"a verb that does not exist", "castle", head + `,"x":"` + marker + `"}`, []protocol.Code{protocol.UnknownVerb}},
		{"a message that is too long", protocol.VerbHello, head + `,"x":"` + strings.Repeat(marker, size/len(marker)+2) + `"}`, []protocol.Code{protocol.TooLarge}},
		{"nested too deeply", protocol.VerbHello, head + `,"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, []protocol.Code{protocol.TooLarge, protocol.Malformed}},
		{"a challenge without an opponent", protocol.VerbChallenge, head + `,"game":"` + t.terms.Game + `","rules":"` + t.terms.Rules + `","clock":"60+1","rated":false}`, []protocol.Code{protocol.Malformed}},
		{"a malformed clock", protocol.VerbChallenge, head + `,"game":"` + t.terms.Game + `","rules":"` + t.terms.Rules + `","clock":"` + marker + `","rated":false,"opponent":"x"}`, []protocol.Code{protocol.Malformed}},
		{"unknown rules", protocol.VerbChallenge, head + `,"game":"chess","rules":"chess/` + marker + `","clock":"60+1","rated":false,"opponent":"x"}`, []protocol.Code{protocol.UnknownGame, protocol.Malformed, protocol.UnknownPeer}},
	}
	for _, c := range cases {
		ans, whole, err := t.rawRequest(p, c.verb, []byte(c.data))
		switch {
		case err != nil:
			t.failf("%s: %v", c.what, err)
		case ans.Error == nil || !slices.Contains(c.want, ans.Error.Code):
			t.failf("%s was answered by %.200s, want the code %q", c.what, whole, c.want)
		case bytes.Contains(whole, []byte(marker)):
			t.failf("%s: the answer repeats it: %.200s", c.what, whole)
		}
	}
	return fmt.Sprintf("%d kinds of it refused", len(cases))
}

func platformNames(t platformTrial) string {
	b := t.joinPlayer(bob)
	refused := 0
	for _, name := range []string{"Ann\u202enimda", "A\u200bnn", "\u2066Ann"} {
		a, err := t.join(t.within(t.eased(5*time.Second)).ctx, ann, func(c *scripted.PlayerConfig) { c.Display = name })
		if err != nil {
			if _, ok := errors.AsType[*protocol.Error](err); !ok {
				t.failf("a hello with the name %+q: %v", name, err)
			}
			refused++
			continue
		}
		m := t.pair(a, b, t.terms)
		if shown := m.state(b).Holders[game.First].Display; strings.ContainsAny(shown, "\u202e\u200b\u2066") {
			t.failf("the opponent is shown the name %+q", shown)
		}
		a.ResignAll(t.ctx)
		a.Close()
	}
	return fmt.Sprintf("%d of 3 such names refused, the others cleaned", refused)
}

func platformGame(t platformTrial) string {
	m := t.meet(t.terms, active)
	seen := m.expectEndByRules()
	st := m.state(m.bob)
	if _, err := m.bob.Resign(t.ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.failf("a resignation after the end: %v, want a refusal", errText(err))
	}
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		t.must(p.SayHello(t.ctx))
		if m.heldBy(p) {
			t.failf("after the end %s still holds a seat", p.ID())
		}
	}
	return seen
}

func platformDuplicate(t platformTrial) string {
	m := t.meet(t.terms)
	for n := range 3 {
		p := m.mover()
		req := m.chooseMove(p)
		for i := range 3 {
			ans, err := p.SendMove(t.ctx, m.id, req)
			if err != nil {
				t.failf("a move sent for the %d. time: %v", i+1, err)
			}
			if i > 0 && ans.Code != protocol.Duplicate {
				t.failf("a move sent for the %d. time was answered by %q, want duplicate", i+1, ans.Code)
			}
		}
		m.both("the move", plies(n+1))
	}
	if n := len(m.state(m.ann).Moves); n != 3 {
		t.failf("three moves, sent three times each, are %d plies", n)
	}
	return "three moves, sent three times each, are three plies"
}

func platformReorder(t platformTrial) string {
	m := t.meetAt(4, t.terms)
	for _, by := range []int{-2, -1, 1, 2} {
		p := m.mover()
		req := m.chooseMove(p)
		req.Ply, req.Key = req.Ply+by, ""
		_, err := p.SendMove(t.ctx, m.id, req)
		m.expectRefused(fmt.Sprintf("a move for ply %d at ply 4", req.Ply), err, protocol.Stale)
	}
	m.playTo(6)
	return "four moves for earlier and later plies refused as stale"
}

func platformOutOfTurn(t platformTrial) string {
	m := t.meetAt(2, t.terms)
	req := m.chooseMove(m.ann)
	req.Epoch, req.Key = m.state(m.bob).Holders[game.Second].Epoch, ""
	_, err := m.bob.SendMove(t.ctx, m.id, req)
	code := m.expectRefused("a move out of turn", err, protocol.NotYourTurn)
	m.playTo(4)
	return fmt.Sprintf("refused as %s", code)
}

func platformIllegal(t platformTrial) string {
	m := t.meetAt(3, t.terms)
	played := m.state(m.ann).Moves
	for _, text := range []string{played[0], "z99", "--"} { // the first move again, by the other side
		p := m.mover()
		req := m.chooseMove(p)
		req.Move, req.Key = text, ""
		_, err := p.SendMove(t.ctx, m.id, req)
		m.expectRefused(fmt.Sprintf("the move %q", text), err, protocol.Illegal, protocol.Malformed)
	}
	m.playTo(5)
	return "three illegal moves refused, then legal ones"
}

func platformWrongEpoch(t platformTrial) string {
	m := t.meetAt(2, t.terms)
	other := t.joinPlayer(ann)
	for _, c := range []struct {
		what string
		p    *scripted.Player
		by   int
	}{{"a move of a later epoch", m.ann, 1}, {"a move of an earlier epoch", m.ann, -1}, {"a move of another instance", other, 0}} {
		req := m.chooseMove(m.ann)
		req.Epoch = uint64(int(req.Epoch) + c.by)
		_, err := c.p.SendMove(t.ctx, m.id, req)
		m.expectRefused(c.what, err, protocol.Stale, protocol.Denied, protocol.Malformed)
	}
	st := m.state(m.ann)
	_, err := other.Resign(t.ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves))
	m.expectRefused("a resignation by another instance", err, protocol.Stale, protocol.Denied)
	m.playTo(4)
	return "three moves and a resignation refused"
}

func platformStranger(t platformTrial) string {
	m := t.meetAt(2, t.terms)
	e := t.joinPlayer(eve)
	req := m.chooseMove(m.ann)
	_, err := e.SendMove(t.ctx, m.id, req)
	code := m.expectRefused("a stranger's move", err)
	_, err = e.Resign(t.ctx, m.id, req.Epoch, req.Ply)
	m.expectRefused("a stranger's resignation", err)
	m.playTo(4)
	return fmt.Sprintf("refused as %s", code)
}

func platformMismatchedKey(t platformTrial) string {
	m := t.meetAt(3, t.terms)
	p := m.mover()
	req := m.chooseMove(p)
	req.Key = "00000000deadbeef"
	p.SendMove(t.ctx, m.id, req) // how it is answered is left open
	out := m.outcome()
	lost := game.Outcome{Result: game.WonBy(m.state(p).You.Other()), Reason: protocol.ReasonIllegal}
	switch {
	case m.state(p).Terms.Rated && out == lost:
		return "the mover lost the rated game"
	case out != game.Outcome{Reason: protocol.ReasonDispute}:
		t.failf("the game ended %s by %q, want none by dispute, or if it is rated lost for the mover by illegal", out.Result, out.Reason)
	}
	return "the game is void"
}

func platformAgreements(t platformTrial) string {
	m := t.meetAt(2, t.terms)
	epoch := func(p *scripted.Player) uint64 { st := m.state(p); return st.Holders[st.You].Epoch }
	_, err := m.ann.Chat(t.ctx, m.id, epoch(m.ann), "good luck")
	t.mustf(err, "a chat")
	t.must(m.bob.Wait(t.ctx, "the chat", func() bool {
		return slices.ContainsFunc(m.bob.NoticesSeen(), func(n protocol.Notice) bool { return n.Kind == protocol.NoticeChat && n.Text == "good luck" })
	}))
	if _, err := m.bob.Draw(t.ctx, m.id, epoch(m.bob), 2, protocol.StepAccept); err == nil {
		t.failf("a draw that nobody had offered was accepted")
	}
	_, err = m.ann.Draw(t.ctx, m.id, epoch(m.ann), 2, protocol.StepOffer)
	t.mustf(err, "a draw offer")
	t.await(m.bob, m.id, "the draw offer", func(st protocol.State) bool { return st.DrawBy != nil && *st.DrawBy == game.First })
	_, err = m.bob.Draw(t.ctx, m.id, epoch(m.bob), 2, protocol.StepAccept)
	t.mustf(err, "the answer to a draw offer")
	if out := m.outcome(); out != (game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}) {
		t.failf("the game ended %s by %q, want a draw by agreement", out.Result, out.Reason)
	}
	return "a draw by agreement, and a chat"
}

// noTakebacks are the codes by which a platform may say that it has no takebacks.
var noTakebacks = []protocol.Code{protocol.UnknownVerb, protocol.Denied, protocol.Illegal, protocol.NotOffered}

// takebackSlack is how many milliseconds a clock may gain by rounding, and by what a platform
// credits for a delay. The clocks of before would give half a second.
const takebackSlack = 100

func platformTakeback(t platformTrial) string {
	m := t.meetAt(3, t.terms)
	if m.state(m.ann).Terms.Rated {
		t.skipf("the platform makes every game a rated one")
	}
	// Bob spends more than a move's increment, so that the clocks of before would give him time.
	t.sleep(1500 * time.Millisecond)
	m.playTo(4)
	step := func(p *scripted.Player, s protocol.Step) error {
		st := m.state(p)
		_, err := p.Takeback(t.ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves), s)
		return err
	}
	if step(m.bob, protocol.StepAccept) == nil {
		t.failf("a takeback that nobody had asked for was accepted")
	}
	before := m.state(m.ann)
	if err := step(m.ann, protocol.StepOffer); err != nil {
		if refusal, ok := errors.AsType[*protocol.Error](err); ok && slices.Contains(noTakebacks, refusal.Code) {
			t.skipf("the platform has no takebacks: it refuses one as %q", refusal.Code)
		}
		t.failf("a request for a takeback: %v", err)
	}
	t.await(m.bob, m.id, "the request for a takeback", func(st protocol.State) bool {
		return st.TakebackBy != nil && *st.TakebackBy == game.First
	})
	t.mustf(step(m.bob, protocol.StepAccept), "the answer to a request for a takeback")
	m.both("the position before the first seat's last move", func(st protocol.State) bool { return len(st.Moves) == 2 })
	st := m.state(m.bob)
	for seat := range st.Clocks.Seats {
		if had, has := before.Clocks.Seats[seat].LeftMS, st.Clocks.Seats[seat].LeftMS; has > had+takebackSlack {
			t.failf("the takeback gave seat %s time: %d ms left, before %d", game.Seat(seat), has, had)
		}
	}
	if st.Seq <= before.Seq || st.TakebackBy != nil {
		t.failf("after the takeback: seq %d, before %d, and one is asked for by %v", st.Seq, before.Seq, st.TakebackBy)
	}
	req := m.chooseMove(m.ann)
	req.Ply = 4
	_, err := m.ann.SendMove(t.ctx, m.id, req)
	m.expectRefused("a move for the ply before the takeback", err, protocol.Stale)
	m.playTo(4)
	return "two plies taken back by agreement, and no time given"
}
