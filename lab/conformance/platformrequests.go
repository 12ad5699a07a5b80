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
	"sparring/lab/conformance/scripted"
	"sparring/protocol"
)

// Scenarios of what a platform answers, and tells the players and spectators of a game.

func platformHello(ctx context.Context, r *platformRig) (string, error) {
	p, err := r.join(ctx, ann)
	if err != nil {
		return "", broken("%v", err)
	}
	var a protocol.HelloAnswer
	p.Do(func() { a = p.Greeting() })
	switch {
	case a.HeartbeatMS < 10 || a.HeartbeatMS > 60_000:
		return "", broken("heartbeat_ms is %d", a.HeartbeatMS)
	case a.Limits.MessageBytes < 1024 || a.Limits.Nesting < 3 || a.Limits.PerSecond < 1:
		return "", broken("limits are %+v", a.Limits)
	case a.ServerTime.IsZero():
		return "", broken("server_time is missing")
	}
	return fmt.Sprintf("a heartbeat every %d ms, up to %d requests a second", a.HeartbeatMS, a.Limits.PerSecond), nil
}

func platformUnknownPeer(ctx context.Context, r *platformRig) (string, error) {
	p, err := r.join(ctx, ann, func(c *scripted.PlayerConfig) { c.Silent = true })
	if err != nil {
		return "", err
	}
	soon, cancel := within(ctx, r.eased(5*time.Second))
	defer cancel()
	_, err = p.Alive(soon, protocol.Alive{Free: 1})
	if !errors.Is(err, &protocol.Error{Code: protocol.UnknownPeer}) {
		return "", broken("a heartbeat without a hello: %v", errText(err))
	}
	return "refused as unknown-peer", nil
}

func errText(err error) string {
	if err == nil {
		return "accepted"
	}
	return err.Error()
}

// marker is text that no answer may repeat.
const marker = "echo-me-if-you-can"

func platformBadInput(ctx context.Context, r *platformRig) (string, error) {
	p, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	// Of an instance that has said hello: for that of one it does not know a platform may wait.
	head := `{"v":1,"id":"b1","instance":"` + string(p.Instance()) + `"`
	size := 16 << 10
	if r.limits.MessageBytes > 0 {
		size = r.limits.MessageBytes
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
		{"a challenge without an opponent", protocol.VerbChallenge, head + `,"game":"` + r.terms.Game + `","rules":"` + r.terms.Rules + `","clock":"60+1","rated":false}`, []protocol.Code{protocol.Malformed}},
		{"a malformed clock", protocol.VerbChallenge, head + `,"game":"` + r.terms.Game + `","rules":"` + r.terms.Rules + `","clock":"` + marker + `","rated":false,"opponent":"x"}`, []protocol.Code{protocol.Malformed}},
		{"unknown rules", protocol.VerbChallenge, head + `,"game":"chess","rules":"chess/` + marker + `","clock":"60+1","rated":false,"opponent":"x"}`, []protocol.Code{protocol.UnknownGame, protocol.Malformed, protocol.UnknownPeer}},
	}
	for _, c := range cases {
		ans, whole, err := r.raw(ctx, p, c.verb, []byte(c.data))
		switch {
		case err != nil:
			return "", broken("%s: %v", c.what, err)
		case ans.Error == nil || !slices.Contains(c.want, ans.Error.Code):
			return "", broken("%s was answered by %.200s, want the code %q", c.what, whole, c.want)
		case bytes.Contains(whole, []byte(marker)):
			return "", broken("%s: the answer repeats it: %.200s", c.what, whole)
		}
	}
	return fmt.Sprintf("%d kinds of it refused", len(cases)), nil
}

func platformNames(ctx context.Context, r *platformRig) (string, error) {
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	refused := 0
	for _, name := range []string{"Ann\u202enimda", "A\u200bnn", "\u2066Ann"} {
		soon, cancel := within(ctx, r.eased(5*time.Second))
		a, err := r.join(soon, ann, func(c *scripted.PlayerConfig) { c.Display = name })
		cancel()
		if err != nil {
			if _, ok := errors.AsType[*protocol.Error](err); !ok {
				return "", broken("a hello with the name %+q: %v", name, err)
			}
			refused++
			continue
		}
		m, err := r.pair(ctx, a, b, r.terms)
		if err != nil {
			return "", err
		}
		if shown := m.state(b).Holders[game.First].Display; strings.ContainsAny(shown, "\u202e\u200b\u2066") {
			return "", broken("the opponent is shown the name %+q", shown)
		}
		a.ResignAll(ctx)
		a.Close()
	}
	return fmt.Sprintf("%d of 3 such names refused, the others cleaned", refused), nil
}

func platformGame(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meet(ctx, r.terms, active)
	if err != nil {
		return "", err
	}
	seen, err := m.endsWell(ctx)
	if err != nil {
		return "", err
	}
	st := m.state(m.bob)
	if _, err := m.bob.Resign(ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		return "", broken("a resignation after the end: %v, want a refusal", errText(err))
	}
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		if err := p.SayHello(ctx); err != nil {
			return "", broken("%v", err)
		}
		if m.heldBy(p) {
			return "", broken("after the end %s still holds a seat", p.ID())
		}
	}
	return seen, nil
}

func platformDuplicate(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	for n := range 3 {
		p := m.mover()
		req, err := m.choose(p)
		if err != nil {
			return "", err
		}
		for i := range 3 {
			ans, err := p.SendMove(ctx, m.id, req)
			if err != nil {
				return "", broken("a move sent for the %d. time: %v", i+1, err)
			}
			if i > 0 && ans.Code != protocol.Duplicate {
				return "", broken("a move sent for the %d. time was answered by %q, want duplicate", i+1, ans.Code)
			}
		}
		if err := m.both(ctx, "the move", plies(n+1)); err != nil {
			return "", err
		}
	}
	if n := len(m.state(m.ann).Moves); n != 3 {
		return "", broken("three moves, sent three times each, are %d plies", n)
	}
	return "three moves, sent three times each, are three plies", nil
}

func platformReorder(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 4, r.terms)
	if err != nil {
		return "", err
	}
	for _, by := range []int{-2, -1, 1, 2} {
		p := m.mover()
		req, err := m.choose(p)
		if err != nil {
			return "", err
		}
		req.Ply, req.Key = req.Ply+by, ""
		_, err = p.SendMove(ctx, m.id, req)
		if _, err := m.refused(ctx, fmt.Sprintf("a move for ply %d at ply 4", req.Ply), err, protocol.Stale); err != nil {
			return "", err
		}
	}
	return "four moves for earlier and later plies refused as stale", m.playTo(ctx, 6)
}

func platformOutOfTurn(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 2, r.terms)
	if err != nil {
		return "", err
	}
	req, err := m.choose(m.ann)
	if err != nil {
		return "", err
	}
	req.Epoch, req.Key = m.state(m.bob).Holders[game.Second].Epoch, ""
	_, err = m.bob.SendMove(ctx, m.id, req)
	code, err := m.refused(ctx, "a move out of turn", err, protocol.NotYourTurn)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("refused as %s", code), m.playTo(ctx, 4)
}

func platformIllegal(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 3, r.terms)
	if err != nil {
		return "", err
	}
	played := m.state(m.ann).Moves
	for _, text := range []string{played[0], "z99", "--"} { // the first move again, by the other side
		p := m.mover()
		req, err := m.choose(p)
		if err != nil {
			return "", err
		}
		req.Move, req.Key = text, ""
		_, err = p.SendMove(ctx, m.id, req)
		if _, err := m.refused(ctx, fmt.Sprintf("the move %q", text), err, protocol.Illegal, protocol.Malformed); err != nil {
			return "", err
		}
	}
	return "three illegal moves refused, then legal ones", m.playTo(ctx, 5)
}

func platformWrongEpoch(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 2, r.terms)
	if err != nil {
		return "", err
	}
	other, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	for _, c := range []struct {
		what string
		p    *scripted.Player
		by   int
	}{{"a move of a later epoch", m.ann, 1}, {"a move of an earlier epoch", m.ann, -1}, {"a move of another instance", other, 0}} {
		req, err := m.choose(m.ann)
		if err != nil {
			return "", err
		}
		req.Epoch = uint64(int(req.Epoch) + c.by)
		_, err = c.p.SendMove(ctx, m.id, req)
		if _, err := m.refused(ctx, c.what, err, protocol.Stale, protocol.Denied, protocol.Malformed); err != nil {
			return "", err
		}
	}
	st := m.state(m.ann)
	_, err = other.Resign(ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves))
	if _, err := m.refused(ctx, "a resignation by another instance", err, protocol.Stale, protocol.Denied); err != nil {
		return "", err
	}
	return "three moves and a resignation refused", m.playTo(ctx, 4)
}

func platformStranger(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 2, r.terms)
	if err != nil {
		return "", err
	}
	e, err := r.join(ctx, eve)
	if err != nil {
		return "", err
	}
	req, err := m.choose(m.ann)
	if err != nil {
		return "", err
	}
	_, err = e.SendMove(ctx, m.id, req)
	code, err := m.refused(ctx, "a stranger's move", err)
	if err != nil {
		return "", err
	}
	_, err = e.Resign(ctx, m.id, req.Epoch, req.Ply)
	if _, err := m.refused(ctx, "a stranger's resignation", err); err != nil {
		return "", err
	}
	return fmt.Sprintf("refused as %s", code), m.playTo(ctx, 4)
}

func platformMismatchedKey(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 3, r.terms)
	if err != nil {
		return "", err
	}
	p := m.mover()
	req, err := m.choose(p)
	if err != nil {
		return "", err
	}
	req.Key = "00000000deadbeef"
	p.SendMove(ctx, m.id, req) // how it is answered is left open
	out, err := m.ends(ctx)
	if err != nil {
		return "", err
	}
	lost := game.Outcome{Result: game.WonBy(m.state(p).You.Other()), Reason: protocol.ReasonIllegal}
	switch {
	case out == game.Outcome{Reason: protocol.ReasonDispute}:
		return "the game is void", nil
	case m.state(p).Terms.Rated && out == lost:
		return "the mover lost the rated game", nil
	}
	return "", broken("the game ended %s by %q, want none by dispute, or if it is rated lost for the mover by illegal", out.Result, out.Reason)
}

func platformAgreements(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 2, r.terms)
	if err != nil {
		return "", err
	}
	epoch := func(p *scripted.Player) uint64 { st := m.state(p); return st.Holders[st.You].Epoch }
	if _, err := m.ann.Chat(ctx, m.id, epoch(m.ann), "good luck"); err != nil {
		return "", broken("a chat: %v", err)
	}
	if err := m.bob.Wait(ctx, "the chat", func() bool {
		return slices.ContainsFunc(m.bob.NoticesSeen(), func(n protocol.Notice) bool { return n.Kind == protocol.NoticeChat && n.Text == "good luck" })
	}); err != nil {
		return "", broken("%v", err)
	}
	if _, err := m.bob.Draw(ctx, m.id, epoch(m.bob), 2, protocol.StepAccept); err == nil {
		return "", broken("a draw that nobody had offered was accepted")
	}
	if _, err := m.ann.Draw(ctx, m.id, epoch(m.ann), 2, protocol.StepOffer); err != nil {
		return "", broken("a draw offer: %v", err)
	}
	if _, err := m.bob.Until(ctx, m.id, "the draw offer", func(st protocol.State) bool { return st.DrawBy != nil && *st.DrawBy == game.First }); err != nil {
		return "", broken("%v", err)
	}
	if _, err := m.bob.Draw(ctx, m.id, epoch(m.bob), 2, protocol.StepAccept); err != nil {
		return "", broken("the answer to a draw offer: %v", err)
	}
	out, err := m.ends(ctx)
	if err == nil && out != (game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}) {
		err = broken("the game ended %s by %q, want a draw by agreement", out.Result, out.Reason)
	}
	return "a draw by agreement, and a chat", err
}

// noTakebacks are the codes by which a platform may say that it has no takebacks.
var noTakebacks = []protocol.Code{protocol.UnknownVerb, protocol.Denied, protocol.Illegal, protocol.NotOffered}

// takebackSlack is how many milliseconds a clock may gain by rounding, and by what a platform
// credits for a delay. The clocks of before would give half a second.
const takebackSlack = 100

func platformTakeback(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 3, r.terms)
	if err != nil {
		return "", err
	}
	if m.state(m.ann).Terms.Rated {
		return "", notTried("the platform makes every game a rated one")
	}
	// Bob spends more than a move's increment, so that the clocks of before would give him time.
	if err := sleep(ctx, 1500*time.Millisecond); err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 4); err != nil {
		return "", err
	}
	step := func(p *scripted.Player, s protocol.Step) error {
		st := m.state(p)
		_, err := p.Takeback(ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves), s)
		return err
	}
	if step(m.bob, protocol.StepAccept) == nil {
		return "", broken("a takeback that nobody had asked for was accepted")
	}
	before := m.state(m.ann)
	if err := step(m.ann, protocol.StepOffer); err != nil {
		if refusal, ok := errors.AsType[*protocol.Error](err); ok && slices.Contains(noTakebacks, refusal.Code) {
			return "", notTried("the platform has no takebacks: it refuses one as %q", refusal.Code)
		}
		return "", broken("a request for a takeback: %v", err)
	}
	if _, err := m.bob.Until(ctx, m.id, "the request for a takeback", func(st protocol.State) bool {
		return st.TakebackBy != nil && *st.TakebackBy == game.First
	}); err != nil {
		return "", broken("%v", err)
	}
	if err := step(m.bob, protocol.StepAccept); err != nil {
		return "", broken("the answer to a request for a takeback: %v", err)
	}
	if err := m.both(ctx, "the position before the first seat's last move", func(st protocol.State) bool { return len(st.Moves) == 2 }); err != nil {
		return "", err
	}
	st := m.state(m.bob)
	for seat := range st.Clocks.Seats {
		if had, has := before.Clocks.Seats[seat].LeftMS, st.Clocks.Seats[seat].LeftMS; has > had+takebackSlack {
			return "", broken("the takeback gave seat %s time: %d ms left, before %d", game.Seat(seat), has, had)
		}
	}
	if st.Seq <= before.Seq || st.TakebackBy != nil {
		return "", broken("after the takeback: seq %d, before %d, and one is asked for by %v", st.Seq, before.Seq, st.TakebackBy)
	}
	req, err := m.choose(m.ann)
	if err != nil {
		return "", err
	}
	req.Ply = 4
	_, err = m.ann.SendMove(ctx, m.id, req)
	if _, err := m.refused(ctx, "a move for the ply before the takeback", err, protocol.Stale); err != nil {
		return "", err
	}
	return "two plies taken back by agreement, and no time given", m.playTo(ctx, 4)
}
