package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/game/clock"
	"sparring/lab/conformance/scripted"
	"sparring/protocol"
)

// platformScenarios are in the order in which they run: those that a platform may not
// survive come last.
var platformScenarios = []scenario[*platformRig]{
	{"hello", "answer a hello with the heartbeat and the limits", "Hello and heartbeats", nil, platformHello},
	{"unknown-peer", "refuse the heartbeat of an unknown instance as unknown-peer", "Hello and heartbeats", nil, platformUnknownPeer},
	{"bad-input", "refuse what is malformed with the right code, and repeat nothing of it", "Refusals", nil, platformBadInput},
	{"names", "not show a display name that turns or hides other text", "Hello and heartbeats", nil, platformNames},
	{"game", "referee a whole game, and tell both players the same", "The game", nil, platformGame},
	{"duplicate", "let a request that comes twice take effect once", "Messages", nil, platformDuplicate},
	{"reorder", "refuse moves for another ply as stale", "The game", nil, platformReorder},
	{"out-of-turn", "refuse a move of the seat that is not to act", "Refusals", nil, platformOutOfTurn},
	{"illegal", "refuse illegal moves, and go on with a legal one", "Refusals", nil, platformIllegal},
	{"wrong-epoch", "refuse requests of another epoch or instance", "Epochs and handover", nil, platformWrongEpoch},
	{"stranger", "refuse requests of a player without a seat in the game", "Refusals", nil, platformStranger},
	{"mismatched-key", "void a game in which the keys differ: nobody loses it", "The game", nil, platformMismatchedKey},
	{"agreements", "carry a draw from offer to agreement, and a chat to the opponent", "The game", nil, platformAgreements},
	{"receipts", "charge a move the time that it took, and say so", "Clocks and receipts", nil, platformReceipts},
	{"lag-claim", "credit a bot nothing for a claimed lag", "Clocks and receipts", nil, platformLagClaim},
	{"flag", "end a game on time, and not too early", "Clocks and receipts", nil, platformFlag},
	{"challenge-twice", "make one game of a challenge that is sent twice", "A challenge; double grants", nil, platformChallengeTwice},
	{"used-id", "never answer with an old game when the id of a challenge is used again", "A challenge", nil, platformUsedID},
	{"withdraw", "list waiting challenges, and offer a withdrawn one to nobody", "A challenge", nil, platformWithdraw},
	{"declined", "tell the challenger that the opponent has declined", "A challenge", nil, platformDeclined},
	{"expired", "tell the challenger that nobody took the challenge in time", "A challenge", nil, platformExpired},
	{"late-accept", "grant a match once, although a late accept comes from another instance", "An offer; double grants", nil, platformLateAccept},
	{"forged-accept", "not believe an accept in another player's name", "An offer", nil, platformForgedAccept},
	{"starvation", "find a player, although a stranger's subscriptions swallow the offers of the pool", "An offer; starved pools", nil, platformStarvation},
	{"resync", "send the state of a game again after a hello", "Hello and heartbeats", nil, platformResync},
	{"silence", "give the seat of an instance whose heartbeats stop to another one", "Epochs and handover", nil, platformSilence},
	{"leave", "give a seat that is given back to another instance", "Epochs and handover", nil, platformLeave},
	{"lost-end", "not list a game as held that ended while its player was away", "Hello and heartbeats; finished games left open (lichess-bot #1223)", nil, platformLostEnd},
	{"half-open", "give the seat of an instance behind a dead connection to another one", "Epochs and handover", nil, platformHalfOpen},
	{"slow-network", "referee a game of players with 50 to 150 ms each way", "Clocks and receipts", nil, platformSlowNetwork},
	{"watch", "publish every event of a game, numbered, with the snapshot after it", "Watching", nil, platformWatch},
	{"flood", "let a player's flood cost nobody else a seat or a game", "Messages; floods that took all seats", nil, platformFlood},
	{"no-start", "call off a game whose first move does not come", "Clocks and receipts", []need{needSlow}, platformNoStart},
	{"abandoned", "end a game whose seat stays vacant", "Epochs and handover", []need{needSlow}, platformAbandoned},
	{"cut", "go on after its connection to NATS was cut", "For platforms", []need{needProxy}, platformCut},
	{"hang", "charge nobody for three seconds in which its server hung", "Clocks and receipts", []need{needProxy}, platformHang},
	{"pause", "charge nobody for a pause of its process that is longer than the clocks", "Clocks and receipts; pauses of virtual machines", []need{needProgram}, platformPause},
	{"kill", "go on with its games after kill -9, and charge nobody", "Clocks and receipts", []need{needProgram}, platformKill},
	{"kill-at-end", "let an end that was told stand after kill -9", "The game; a finished game that came back to life", []need{needProgram}, platformKillAtEnd},
	{"full-disk", "let every game end by its own moves while the disk is full, and tell no end that it then takes back", "The game; full disks", []need{needDisk}, platformFullDisk},
}

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
	_, err = p.Alive(soon, 1, nil)
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
	const head = `{"v":1,"id":"b1","instance":"i1"`
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
		{"a clock that is none", protocol.VerbChallenge, head + `,"game":"` + r.terms.Game + `","rules":"` + r.terms.Rules + `","clock":"` + marker + `","rated":false,"opponent":"x"}`, []protocol.Code{protocol.Malformed}},
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
		var held []protocol.GameID
		p.Do(func() { held = p.Greeting().Held })
		if slices.Contains(held, m.id) {
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
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 4); err != nil {
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
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 2); err != nil {
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
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 3); err != nil {
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
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 2); err != nil {
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
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 2); err != nil {
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
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 3); err != nil {
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
	if out.Result != game.Undecided || out.Reason != protocol.ReasonDispute {
		return "", broken("the game ended %s by %q, want none by dispute", out.Result, out.Reason)
	}
	return "the game is void", nil
}

func platformAgreements(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 2); err != nil {
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

func platformReceipts(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 2); err != nil {
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
		if err := rest(ctx, think); err != nil {
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
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 2); err != nil {
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
	m, err := r.meet(ctx, r.timed("3"))
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 4); err != nil {
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

func platformChallengeTwice(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	req := protocol.ChallengeRequest{Header: protocol.Header{ID: protocol.NewID()}, Terms: r.terms, Opponent: b.ID(), ExpireMS: 20_000}
	type answer struct {
		game protocol.GameID
		err  error
	}
	answers := make(chan answer, 3)
	for range cap(answers) {
		go func() {
			ans, err := a.Challenge(ctx, req)
			answers <- answer{ans.Game, err}
		}()
	}
	var id protocol.GameID
	for range cap(answers) {
		ans := <-answers
		switch {
		case ans.err != nil:
			return "", broken("the challenge: %v", ans.err)
		case id != "" && ans.game != id:
			return "", broken("one challenge was answered with the games %s and %s", id, ans.game)
		}
		id = ans.game
		a.Follow(id)
	}
	if _, err := b.Until(ctx, id, "the first state", func(protocol.State) bool { return true }); err != nil {
		return "", broken("%v", err)
	}
	if err := rest(ctx, time.Second); err != nil {
		return "", err
	}
	games := map[protocol.GameID]bool{}
	b.Do(func() {
		for _, o := range b.OffersSeen() {
			games[o.Game] = true
		}
	})
	if len(games) != 1 {
		return "", broken("the opponent was offered %d games", len(games))
	}
	return "sent three times at once: one game", nil
}

func platformUsedID(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	req := protocol.ChallengeRequest{Header: protocol.Header{ID: protocol.NewID()}, Terms: r.terms, Opponent: b.ID(), ExpireMS: 20_000}
	ans, err := a.Challenge(ctx, req)
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	a.Follow(ans.Game)
	m := &match{r, ans.Game, a, b}
	if err := m.both(ctx, "the first state", func(protocol.State) bool { return true }); err != nil {
		return "", err
	}
	if again, err := a.Challenge(ctx, req); err != nil || again.Game != ans.Game {
		return "", broken("while its game runs, the challenge sent again is answered with game %q (%v), want %s", again.Game, err, ans.Game)
	}
	a.ResignAll(ctx)
	if _, err := m.ends(ctx); err != nil {
		return "", err
	}
	again, err := a.Challenge(ctx, req)
	switch {
	case err == nil && again.Game == ans.Game:
		return "", broken("after its game the challenge is %s with the old game", again.Code)
	case err == nil:
		return "the id makes a new challenge", nil
	case errors.Is(err, &protocol.Error{Code: protocol.Over}):
		return "refused as over", nil
	}
	return "", broken("after its game: %v", err)
}

func platformWithdraw(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Opponent: r.cfg.Players[bob], ExpireMS: 60_000})
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	listed := func() bool {
		if err := a.SayHello(ctx); err != nil {
			return false
		}
		var waiting []protocol.WaitingChallenge
		a.Do(func() { waiting = a.Greeting().Waiting })
		return slices.ContainsFunc(waiting, func(w protocol.WaitingChallenge) bool { return w.Game == ans.Game })
	}
	if err := r.poll(ctx, 10*time.Second, listed); err != nil {
		return "", broken("a hello does not list the waiting challenge")
	}
	if _, err := a.Withdraw(ctx, ans.Game); err != nil {
		return "", broken("the withdrawal: %v", err)
	}
	if err := r.poll(ctx, 10*time.Second, func() bool { return !listed() }); err != nil {
		return "", broken("a hello lists the challenge that was withdrawn")
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	if err := rest(ctx, 1500*time.Millisecond); err != nil {
		return "", err
	}
	b.Do(func() {
		if slices.ContainsFunc(b.OffersSeen(), func(o protocol.Offer) bool { return o.Game == ans.Game }) {
			err = broken("the withdrawn challenge was offered")
		}
	})
	return "listed while it waited, and offered to nobody afterwards", err
}

// poll waits until ok returns true.
func (r *platformRig) poll(ctx context.Context, d time.Duration, ok func() bool) error {
	ctx, cancel := within(ctx, r.eased(d))
	defer cancel()
	for !ok() {
		if err := rest(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// told waits for a notice about a game.
func (r *platformRig) told(ctx context.Context, p *scripted.Player, g protocol.GameID, kind protocol.NoticeKind, d time.Duration) (n protocol.Notice, err error) {
	ctx, cancel := within(ctx, d)
	defer cancel()
	if err := p.Wait(ctx, "the notice "+string(kind), func() bool {
		for _, m := range p.NoticesSeen() {
			if m.Game == g && m.Kind == kind {
				n = m
				return true
			}
		}
		return false
	}); err != nil {
		return n, broken("%v", err)
	}
	return n, nil
}

func platformDeclined(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	b.SetHooks(scripted.PlayerHooks{Offer: func(protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Decline, Reason: protocol.DeclineClock, Text: "not now"}
	}})
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Opponent: b.ID(), ExpireMS: 20_000})
	if err != nil && !errors.Is(err, &protocol.Error{Code: protocol.Over}) { // repeated when it had been declined
		return "", broken("the challenge: %v", err)
	}
	n, err := r.told(ctx, a, ans.Game, protocol.NoticeDeclined, r.eased(10*time.Second))
	if err == nil && n.Reason != protocol.DeclineClock {
		err = broken("the notice gives the reason %q, the opponent gave clock", n.Reason)
	}
	return "told with the reason", err
}

func platformExpired(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	began := time.Now()
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Opponent: r.cfg.Players[bob], ExpireMS: 1500})
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	if _, err := r.told(ctx, a, ans.Game, protocol.NoticeExpired, r.eased(15*time.Second)); err != nil {
		return "", err
	}
	if d := time.Since(began); d < 1400*time.Millisecond {
		return "", broken("expired after %v of 1.5 s", d)
	}
	return fmt.Sprintf("told %v after a challenge for 1.5 s", time.Since(began).Round(100*time.Millisecond)), nil
}

func platformLateAccept(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	var late atomic.Int32
	slow := scripted.PlayerHooks{Offer: func(o protocol.Offer) protocol.OfferAnswer {
		late.Add(1)
		if rest(ctx, time.Until(o.Deadline)+300*time.Millisecond) != nil {
			return protocol.OfferAnswer{Answer: protocol.Busy}
		}
		return protocol.OfferAnswer{Answer: protocol.Accept, Player: o.Player}
	}}
	b1, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	b1.SetHooks(slow)
	first := game.First
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Seat: &first, Opponent: b1.ID(), ExpireMS: 60_000})
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	a.Follow(ans.Game)
	if err := r.poll(ctx, 10*time.Second, func() bool { return late.Load() > 0 }); err != nil {
		return "", broken("the challenge is not offered")
	}
	b2, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	m := &match{r, ans.Game, a, b2}
	if _, err := a.Until(ctx, ans.Game, "the first state", func(protocol.State) bool { return true }); err != nil {
		return "", broken("%v", err)
	}
	if err := rest(ctx, 2*time.Second); err != nil {
		return "", err
	}
	holders := 0
	for _, b := range []*scripted.Player{b1, b2} {
		b.Do(func() {
			if st, ok := b.Last(ans.Game); ok && st.Holders[game.Second].Instance == b.Instance() {
				holders++
			}
		})
	}
	if st := m.state(a); holders > 1 || st.Holders[game.Second].Epoch != 1 {
		return "", broken("%d instances were told that they hold the seat, now in epoch %d", holders, st.Holders[game.Second].Epoch)
	}
	return fmt.Sprintf("one holder, after %d accepts that came too late", late.Load()), nil
}

// pool is the general pool of the games' speed.
func (r *platformRig) pool() protocol.Pool {
	return protocol.Pool(r.terms.Game + "." + string(r.terms.Clock.Speed()))
}

func platformForgedAccept(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	e, err := r.join(ctx, eve)
	if err != nil {
		return "", err
	}
	var forged atomic.Int32
	if _, err := e.Conn().QueueSubscribe(r.subjects.Offer(r.pool()), protocol.BotsQueue, func(msg *nats.Msg) {
		o, refusal := protocol.Decode[protocol.Offer](msg.Data, protocol.Limits{MessageBytes: 1 << 18, Nesting: 16})
		if refusal == nil && r.respond(msg, protocol.OfferAnswer{Header: o.Header, Answer: protocol.Accept, Player: b.ID(), Instance: b.Instance(), Secret: "guess"}) == nil {
			forged.Add(1)
		}
	}); err != nil {
		return "", err
	}
	if err := e.Conn().Flush(); err != nil {
		return "", err
	}
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Pool: r.pool(), ExpireMS: 20_000})
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	a.Follow(ans.Game)
	if err := r.poll(ctx, 10*time.Second, func() bool { return forged.Load() > 0 }); err != nil {
		return "", notTried("no offer came in the pool %s", r.pool())
	}
	if err := rest(ctx, 1500*time.Millisecond); err != nil {
		return "", err
	}
	a.Do(func() {
		if st, ok := a.Last(ans.Game); ok && st.Holders[st.You.Other()].Instance != "" {
			err = broken("the game was granted to %s, who had accepted nothing", st.Holders[st.You.Other()].Player)
		}
	})
	if _, e := a.Withdraw(ctx, ans.Game); e != nil && err == nil {
		err = broken("the withdrawal: %v", e)
	}
	return fmt.Sprintf("%d forged accepts were not believed", forged.Load()), err
}

func platformStarvation(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	e, err := r.join(ctx, eve)
	if err != nil {
		return "", err
	}
	var swallowed atomic.Int32
	const subscriptions = 20
	for range subscriptions {
		if _, err := e.Conn().QueueSubscribe(r.subjects.Offer(r.pool()), protocol.BotsQueue, func(*nats.Msg) { swallowed.Add(1) }); err != nil {
			return "", err
		}
	}
	if err := e.Conn().Flush(); err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob, func(c *scripted.PlayerConfig) {
		c.Pools = []protocol.Pool{r.pool(), protocol.OwnPool(r.cfg.Players[bob])}
	})
	if err != nil {
		return "", err
	}
	began := time.Now()
	for n := range 3 {
		ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Pool: r.pool(), ExpireMS: 20_000})
		if err != nil {
			return "", broken("the challenge: %v", err)
		}
		a.Follow(ans.Game)
		soon, cancel := within(ctx, r.eased(20*time.Second))
		st, err := a.Until(soon, ans.Game, "a game", func(protocol.State) bool { return true })
		cancel()
		switch {
		case err != nil:
			return "", broken("challenge %d of 3 found nobody: %d offers were swallowed", n+1, swallowed.Load())
		case st.Holders[st.You.Other()].Player != b.ID():
			return "", broken("the game is against %s", st.Holders[st.You.Other()].Player)
		}
	}
	return fmt.Sprintf("three games in %v, %d offers swallowed", time.Since(began).Round(100*time.Millisecond), swallowed.Load()), nil
}

func platformResync(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 2); err != nil {
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
	var held []protocol.GameID
	m.ann.Do(func() { held = m.ann.Greeting().Held })
	if !slices.Contains(held, m.id) {
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
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 2); err != nil {
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
		if _, err := b1.Leave(ctx, m.id); err != nil {
			return broken("giving the seat back: %v", err)
		}
		b1.SetQuiet(true) // it would be given the seat that it still plays
		return nil
	})
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
	var held []protocol.GameID
	b.Do(func() { held = b.Greeting().Held })
	if slices.Contains(held, m.id) {
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

func platformSlowNetwork(ctx context.Context, r *platformRig) (string, error) {
	a, pa, err := r.joinProxied(ctx, ann, active)
	if err != nil {
		return "", err
	}
	b, pb, err := r.joinProxied(ctx, bob, active)
	if err != nil {
		return "", err
	}
	pa.Delay(jitter)
	pb.Delay(jitter)
	m, err := r.pair(ctx, a, b, r.terms)
	if err != nil {
		return "", err
	}
	return m.endsWell(ctx)
}

func platformWatch(ctx context.Context, r *platformRig) (string, error) {
	e, err := r.join(ctx, eve)
	if err != nil {
		return "", err
	}
	events := make(chan protocol.Event, 1000)
	var bad atomic.Pointer[error]
	sub, err := e.Conn().Subscribe(r.subjects.Watch("*"), func(msg *nats.Msg) {
		ev, refusal := protocol.Decode[protocol.Event](msg.Data, protocol.Limits{MessageBytes: 1 << 20, Nesting: 16})
		if refusal != nil {
			err := broken("an event on %s: %v", msg.Subject, refusal)
			bad.Store(&err)
			return
		}
		events <- ev
	})
	if err != nil {
		return "", err
	}
	defer sub.Unsubscribe()
	m, err := r.meet(ctx, r.terms, active)
	if err != nil {
		return "", err
	}
	if _, err := m.ends(ctx); err != nil {
		return "", err
	}
	n, index := 0, uint64(0)
	for {
		var ev protocol.Event
		select {
		case ev = <-events:
		case <-time.After(r.eased(2 * time.Second)):
			if n == 0 {
				return "", notTried("no event came: the platform publishes none, or the player may not subscribe")
			}
			return "", broken("the last of %d events is not the end", n)
		}
		if ev.Game != m.id {
			continue
		}
		if n++; index > 0 && ev.Index != index+1 {
			return "", broken("event %d follows event %d", ev.Index, index)
		}
		index = ev.Index
		if p := bad.Load(); p != nil {
			return "", *p
		}
		if ev.Status == protocol.Finished {
			if st := m.state(m.ann); ev.Outcome != st.Outcome || len(ev.Moves) != len(st.Moves) {
				return "", broken("spectators saw %s after %d plies, the players %s after %d", ev.Outcome.Result, len(ev.Moves), st.Outcome.Result, len(st.Moves))
			}
			return fmt.Sprintf("%d events without a gap", n), nil
		}
	}
}

func platformFlood(ctx context.Context, r *platformRig) (string, error) {
	e, err := r.join(ctx, eve)
	if err != nil {
		return "", err
	}
	var list []string
	for i := range 240 {
		list = append(list, fmt.Sprintf(`"%032d"`, i))
	}
	const head = `{"v":1,"id":"e1","instance":"e1"`
	m, err := r.meet(ctx, r.terms, active, func(c *scripted.PlayerConfig) { c.Think = 20 * time.Millisecond })
	if err != nil {
		return "", err
	}
	floods := []struct{ subject, data string }{
		{r.subjects.Play(e.ID(), protocol.VerbAlive), head + `,"free":1,"games":[` + strings.Join(list, ",") + `]}`},
		{r.subjects.Play(e.ID(), protocol.VerbHello), head + `,"kind":"bot","slots":1,"games":[{"game":"amazons"}]}`},
		{r.subjects.Play(e.ID(), protocol.VerbLeave), head + `}`},
		{r.subjects.Play(e.ID(), "castle"), head + `}`},
		{r.subjects.Act(e.ID(), m.id, protocol.ActMove), head + `,"epoch":1,"ply":0,"move":"a1a2/a1"}`},
		{r.subjects.Act(e.ID(), "nothing", protocol.ActMove), head + `,"epoch":1,"ply":0,"move":"a1a2/a1"}`},
	}
	const each = 2000
	for _, f := range floods {
		for range each {
			if err := e.Conn().PublishRequest(f.subject, e.Conn().NewRespInbox(), []byte(f.data)); err != nil && !errors.Is(err, nats.ErrReconnectBufExceeded) {
				return "", err
			}
		}
		// The server may have cut the stranger off, which is no fault of the platform.
		if err := e.Conn().FlushWithContext(ctx); err != nil {
			if err := protocol.Await(ctx, e.Conn()); err != nil {
				return "", err
			}
		}
	}
	seen, err := m.endsWell(ctx)
	if err != nil {
		return "", err
	}
	for seat, h := range m.state(m.ann).Holders {
		if h.Epoch != 1 {
			return "", broken("the %s seat was lost: it is in epoch %d", game.Seat(seat), h.Epoch)
		}
	}
	return fmt.Sprintf("%s, under %d messages of a stranger", seen, each*len(floods)), nil
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
	m, err := r.meet(ctx, r.timed("600"))
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 4); err != nil {
		return "", err
	}
	m.bob.Close()
	st, err := m.ann.Until(ctx, m.id, "the end", finished)
	if err != nil {
		return "", broken("%v", err)
	}
	if st.Outcome != (game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}) {
		return "", broken("the game ended %s by %q", st.Outcome.Result, st.Outcome.Reason)
	}
	return "won, as the opponent abandoned it", nil
}

// disturbed plays a fast game of active players, and disturbs the platform after some
// plies. Clocks are shorter than what is to be survived.
func (r *platformRig) disturbed(ctx context.Context, clock string, disturb func(m *match) error) (string, error) {
	m, err := r.meet(ctx, r.timed(clock), active, func(c *scripted.PlayerConfig) { c.Think = 30 * time.Millisecond })
	if err != nil {
		return "", err
	}
	if err := m.both(ctx, "some moves", plies(4)); err != nil {
		return "", err
	}
	if err := disturb(m); err != nil {
		return "", err
	}
	return m.endsWell(ctx)
}

func platformCut(ctx context.Context, r *platformRig) (string, error) {
	return r.disturbed(ctx, "60+1", func(*match) error {
		r.cfg.Proxy.Cut()
		return nil
	})
}

// longer is how long a disturbance lasts that no clock of disturbedClock survives.
const (
	disturbedClock = "3"
	longer         = 4 * time.Second
)

func platformHang(ctx context.Context, r *platformRig) (string, error) {
	return r.disturbed(ctx, disturbedClock, func(*match) error {
		r.cfg.Proxy.Stall(true)
		defer r.cfg.Proxy.Stall(false)
		return rest(ctx, longer)
	})
}

func platformPause(ctx context.Context, r *platformRig) (string, error) {
	return r.disturbed(ctx, disturbedClock, func(*match) error {
		if err := r.cfg.Program.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		return errors.Join(rest(ctx, longer), r.cfg.Program.Signal(syscall.SIGCONT))
	})
}

// restart kills the platform and starts it again.
func (r *platformRig) restart(ctx context.Context, away time.Duration) error {
	if err := r.cfg.Program.Kill(); err != nil {
		return err
	}
	if err := rest(ctx, away); err != nil {
		return err
	}
	return r.cfg.Program.Start()
}

func platformKill(ctx context.Context, r *platformRig) (string, error) {
	return r.disturbed(ctx, disturbedClock, func(*match) error { return r.restart(ctx, longer) })
}

func platformKillAtEnd(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meet(ctx, r.terms)
	if err != nil {
		return "", err
	}
	if err := m.playTo(ctx, 4); err != nil {
		return "", err
	}
	st := m.state(m.bob)
	if _, err := m.bob.Resign(ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves)); err != nil {
		return "", broken("a resignation: %v", err)
	}
	if _, err := m.ann.Until(ctx, m.id, "the end", finished); err != nil {
		return "", broken("%v", err)
	}
	if err := r.restart(ctx, 0); err != nil {
		return "", err
	}
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		if err := p.SayHello(ctx); err != nil {
			return "", broken("no answer after the restart: %v", err)
		}
	}
	if err := rest(ctx, 3*time.Second); err != nil {
		return "", err
	}
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		if err := p.SayHello(ctx); err != nil {
			return "", broken("%v", err)
		}
		var held []protocol.GameID
		p.Do(func() { held = p.Greeting().Held })
		if slices.Contains(held, m.id) || !finished(m.state(p)) {
			return "", broken("after the restart the game that had ended goes on")
		}
	}
	return "the end stands", nil
}

func platformFullDisk(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meet(ctx, r.terms, active, func(c *scripted.PlayerConfig) { c.Think = 100 * time.Millisecond })
	if err != nil {
		return "", err
	}
	if err := m.both(ctx, "some moves", plies(2)); err != nil {
		return "", err
	}
	at := len(m.state(m.ann).Moves)
	filled := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				filled <- nil
				return
			case <-time.After(50 * time.Millisecond):
			}
			if err := r.cfg.Disk.Fill(); err != nil {
				filled <- err
				return
			}
		}
	}()
	more := 0
	err = rest(ctx, 2*time.Second)
	more = len(m.state(m.ann).Moves) - at
	close(stop)
	if err := errors.Join(err, <-filled, r.cfg.Disk.Empty()); err != nil {
		return "", err
	}
	seen, err := m.endsWell(ctx)
	return fmt.Sprintf("%d moves while the disk was full; %s", more, seen), err
}
