package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/game/clock"
	"sparring/internal/netfault"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// platformTrial is a trial of a platform. Its methods fail the trial when the platform does
// not do in time what their names say.
type platformTrial struct {
	*platformRig
	trial
}

func (t platformTrial) within(d time.Duration) platformTrial {
	return platformTrial{t.platformRig, t.trial.within(d)}
}

// joinPlayer starts a player, idle unless changed.
func (t platformTrial) joinPlayer(who int, change ...func(*scripted.PlayerConfig)) *scripted.Player {
	p, err := t.join(t.ctx, who, change...)
	t.must(err)
	return p
}

// joinThroughProxy is joinPlayer through a proxy of its own.
func (t platformTrial) joinThroughProxy(who int, change ...func(*scripted.PlayerConfig)) (*scripted.Player, *netfault.Proxy) {
	p, proxy, err := t.joinProxied(t.ctx, who, change...)
	t.must(err)
	return p, proxy
}

// awaitTrue waits until ok returns true, and fails with a text that says what is wrong.
func (t platformTrial) awaitTrue(d time.Duration, ok func() bool, failure string, args ...any) {
	if t.poll(t.ctx, d, ok) != nil {
		t.failf(failure, args...)
	}
}

// await waits until a player has got a state that fulfils ok.
func (t platformTrial) await(p *scripted.Player, id protocol.GameID, what string, ok func(protocol.State) bool) protocol.State {
	st, err := p.Until(t.ctx, id, what, ok)
	t.must(err)
	return st
}

// expectNotice waits for a notice about a game.
func (t platformTrial) expectNotice(p *scripted.Player, g protocol.GameID, kind protocol.NoticeKind, d time.Duration) (n protocol.Notice) {
	t.must(p.Wait(t.within(d).ctx, "the notice "+string(kind), func() bool {
		for _, m := range p.NoticesSeen() {
			if m.Game == g && m.Kind == kind {
				n = m
				return true
			}
		}
		return false
	}))
	return n
}

// timed returns the terms with another clock.
func (t platformTrial) timed(text string) protocol.Terms {
	spec, err := clock.Parse(text)
	t.must(err)
	terms := t.terms
	terms.Clock = spec
	return terms
}

// generalPool is the general pool of the games' speed.
func (t platformTrial) generalPool() protocol.Pool {
	return protocol.Pool(t.terms.Game + "." + string(t.terms.Clock.Speed()))
}

// active makes a player move by itself.
func active(c *scripted.PlayerConfig) { c.Idle = false }

// match is a game of two players who have got its first state.
type match struct {
	platformTrial
	id       protocol.GameID
	ann, bob *scripted.Player
}

// meet starts both players and a game between them, in which ann opens.
func (t platformTrial) meet(terms protocol.Terms, change ...func(*scripted.PlayerConfig)) *match {
	return t.pair(t.joinPlayer(ann, change...), t.joinPlayer(bob, change...), terms)
}

// meetAt is meet, and plays n plies.
func (t platformTrial) meetAt(n int, terms protocol.Terms) *match {
	m := t.meet(terms)
	m.playTo(n)
	return m
}

// pair starts a game between two players.
func (t platformTrial) pair(a, b *scripted.Player, terms protocol.Terms) *match {
	first := game.First
	ans, err := a.Challenge(t.ctx, protocol.ChallengeRequest{Terms: terms, Seat: &first, Opponent: b.ID(), ExpireMS: 30_000})
	t.mustf(err, "the challenge")
	return t.follow(ans.Game, a, b)
}

// follow waits until both players have got the first state of a game.
func (t platformTrial) follow(id protocol.GameID, a, b *scripted.Player) *match {
	a.Follow(id)
	m := &match{t, id, a, b}
	m.both("the first state", func(protocol.State) bool { return true })
	return m
}

// heldBy reports whether the last answer to a hello listed the game as held.
func (m *match) heldBy(p *scripted.Player) (held bool) {
	p.Do(func() { held = slices.Contains(p.Greeting().Held, m.id) })
	return held
}

// both waits until both players have got a state that fulfils ok.
func (m *match) both(what string, ok func(protocol.State) bool) {
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		m.await(p, m.id, what, ok)
	}
}

// state returns the last state that a player got.
func (m *match) state(p *scripted.Player) (st protocol.State) {
	p.Do(func() { st, _ = p.Last(m.id) })
	return st
}

// mover returns the player to move.
func (m *match) mover() *scripted.Player {
	st := m.state(m.ann)
	if st.Turn == st.You {
		return m.ann
	}
	return m.bob
}

// chooseMove returns a legal move in the player's last state.
func (m *match) chooseMove(p *scripted.Player) (req protocol.MoveRequest) {
	var err error
	p.Do(func() {
		st, _ := p.Last(m.id)
		req, err = p.Choose(st)
	})
	m.must(err)
	return req
}

// resign makes a player resign.
func (m *match) resign(p *scripted.Player) {
	st := m.state(p)
	_, err := p.Resign(m.ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves))
	m.mustf(err, "a resignation")
}

// plies is a condition for states.
func plies(n int) func(protocol.State) bool {
	return func(st protocol.State) bool { return len(st.Moves) >= n }
}

func finished(st protocol.State) bool { return st.Status == protocol.Finished }

// playTo makes moves in turn until the game has n plies.
func (m *match) playTo(n int) {
	for i := len(m.state(m.ann).Moves); i < n; i++ {
		p := m.mover()
		_, err := p.SendMove(m.ctx, m.id, m.chooseMove(p))
		m.mustf(err, "a legal move at ply %d", i)
		m.both("the move", plies(i+1))
	}
}

// expectRefused checks that a request was refused with one of the codes, and that the game
// has not changed.
func (m *match) expectRefused(what string, err error, codes ...protocol.Code) protocol.Code {
	before := m.state(m.ann)
	refusal, ok := errors.AsType[*protocol.Error](err)
	switch {
	case err == nil:
		m.failf("%s was accepted", what)
	case !ok:
		m.failf("%s was not answered: %v", what, err)
	case len(codes) > 0 && !slices.Contains(codes, refusal.Code):
		m.failf("%s was refused as %q, want %q", what, refusal.Code, codes)
	}
	m.must(m.ann.SayHello(m.ctx)) // brings the state again
	st := m.await(m.ann, m.id, "its state again", func(st protocol.State) bool { return st.ServerTime.After(before.ServerTime) })
	if len(st.Moves) != len(before.Moves) || st.Status != before.Status || st.Holders[0].Epoch != before.Holders[0].Epoch {
		m.failf("%s was refused as %q, but has changed the game", what, refusal.Code)
	}
	return refusal.Code
}

// outcome waits for the end and checks that both players were told the same.
func (m *match) outcome() game.Outcome {
	m.both("the end", finished)
	a, b := m.state(m.ann), m.state(m.bob)
	if a.Outcome != b.Outcome || len(a.Moves) != len(b.Moves) {
		m.failf("one player was told %s by %q after %d plies, the other %s by %q after %d",
			a.Outcome.Result, a.Outcome.Reason, len(a.Moves), b.Outcome.Result, b.Outcome.Reason, len(b.Moves))
	}
	return a.Outcome
}

// byRules reports whether a game was ended by its moves.
func byRules(o game.Outcome) bool { return o.Over() && !endedBy[o.Reason] }

// expectEndByRules waits for an end by the moves of the game.
func (m *match) expectEndByRules() string {
	out := m.outcome()
	n := plyCount(len(m.state(m.ann).Moves))
	if !byRules(out) {
		m.failf("the game ended after %s: %s by %q", n, out.Result, out.Reason)
	}
	return fmt.Sprintf("%s by %s after %s", out.Result, out.Reason, n)
}

// rawRequest sends any bytes as a request of a player, until an answer comes.
func (t platformTrial) rawRequest(p *scripted.Player, verb protocol.Verb, data []byte) (ans protocol.Answer, whole []byte, err error) {
	for { // there may be no responders yet, or a message may be lost
		try, cancel := context.WithTimeout(t.ctx, t.eased(time.Second))
		msg, err := p.Conn().RequestWithContext(try, t.subjects.Play(p.ID(), verb), data)
		cancel()
		if err == nil {
			return ans, msg.Data, json.Unmarshal(msg.Data, &ans)
		}
		if t.ctx.Err() != nil {
			return ans, nil, err
		}
		t.sleep(100 * time.Millisecond)
	}
}

// answerOffer answers an offer.
func answerOffer(msg *nats.Msg, ans protocol.OfferAnswer) error {
	data, err := json.Marshal(ans)
	if err != nil {
		return err
	}
	return msg.Respond(data)
}
