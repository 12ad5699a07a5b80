package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// botTrial is a trial of a bot. Its methods fail the trial when the bot does not do in time
// what their names say.
type botTrial struct {
	*botRig
	trial
}

func (t botTrial) within(d time.Duration) botTrial { return botTrial{t.botRig, t.trial.within(d)} }

func (t botTrial) during(format string, args ...any) botTrial {
	return botTrial{t.botRig, t.trial.during(format, args...)}
}

// await waits until ok, called under the lock, returns true.
func (t botTrial) await(what string, ok func() bool) { t.must(t.Wait(t.ctx, what, ok)) }

// check calls f under the lock, and fails by its error.
func (t botTrial) check(f func() error) {
	var err error
	t.Do(func() { err = f() })
	t.must(err)
}

// offer returns an offer of a seat in a new game.
func (t botTrial) offer(seat game.Seat) protocol.Offer {
	return protocol.Offer{
		Kind: protocol.OfferMatch, Game: t.NewGameID(), Terms: t.terms, Seat: seat, Player: t.cfg.Player,
		Opponent: &protocol.Opponent{Player: scripted.Script, Display: "Script", Kind: t.kind}, HoldMS: 5000,
	}
}

// makeOffer offers a seat in the bot's own pool.
func (t botTrial) makeOffer(o protocol.Offer) protocol.OfferAnswer {
	o.Deadline = time.Now().Add(t.eased(offerFor))
	ans, err := t.Offer(t.within(t.eased(offerFor)+10*time.Second).ctx, protocol.OwnPool(t.cfg.Player), o)
	if errors.Is(err, nats.ErrNoResponders) {
		t.failf("nobody listens to the offers of the pool %s", protocol.OwnPool(t.cfg.Player))
	}
	t.mustf(err, "the offer was not answered in time")
	return ans
}

// expectAccept makes an offer that the bot must accept.
func (t botTrial) expectAccept(o protocol.Offer) protocol.OfferAnswer {
	ans := t.makeOffer(o)
	secret := ""
	t.Do(func() { secret = t.Peer(t.cfg.Player).Hello.Secret })
	switch {
	case ans.Answer != protocol.Accept:
		t.failf("it answered an offer by %q (%s) with a free slot", ans.Answer, ans.Reason)
	case ans.Player != t.cfg.Player:
		t.failf("it accepted for player %q the offer for %s", ans.Player, t.cfg.Player)
	case secret == "":
		t.failf("its hello has no secret, without which platforms believe no accept")
	case ans.Secret != secret:
		t.failf("the accept lacks the secret of its hello")
	}
	return ans
}

// grant begins the game of an offer that the bot has accepted.
func (t botTrial) grant(o protocol.Offer, ans protocol.OfferAnswer, prepare ...func(*scripted.Game)) *scripted.Game {
	var takers [2]scripted.Taker
	takers[o.Seat] = scripted.Taker{Player: ans.Player, Instance: ans.Instance}
	takers[o.Seat.Other()] = scripted.Taker{Player: scripted.Script, Instance: "script", Kind: t.kind}
	g, err := t.Grant(o.Game, o.Terms, takers, prepare...)
	t.must(err)
	return g
}

// startGame offers the bot a game as the second player, and begins it.
func (t botTrial) startGame(prepare ...func(*scripted.Game)) *scripted.Game {
	o := t.offer(game.Second)
	return t.grant(o, t.expectAccept(o), prepare...)
}

// telling sends a state to the bot, or does something else.
type telling func(g *scripted.Game, st protocol.State, send func(protocol.State))

// The plain ways: the bot is told that it is to move, or is not.
var (
	told   telling = func(_ *scripted.Game, st protocol.State, send func(protocol.State)) { send(st) }
	untold telling = func(*scripted.Game, protocol.State, func(protocol.State)) {}
)

// startGameAt offers the bot a game as the second player, and plays it until it is the
// bot's turn after n plies, where f tells it.
func (t botTrial) startGameAt(n int, f telling, prepare ...func(*scripted.Game)) *scripted.Game {
	reached := t.atTurn(n, f)
	g := t.startGame(prepare...)
	t.awaitTurn(g, reached)
	return g
}

// atTurn calls f instead of telling the bot once, when it is to move after n plies.
func (t botTrial) atTurn(n int, f telling) <-chan struct{} {
	reached := make(chan struct{})
	done := false
	t.SetHooks(scripted.Hooks{Tell: func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		if done || len(st.Moves) < n || st.Turn != st.You {
			send(st)
			return
		}
		done = true
		f(g, st, send)
		close(reached)
	}})
	return reached
}

// awaitTurn waits for what atTurn returns.
func (t botTrial) awaitTurn(g *scripted.Game, reached <-chan struct{}) {
	select {
	case <-reached:
	case <-t.ctx.Done():
		t.must(t.cfg.Program.withExit(fmt.Errorf("game %s stands still", g.Game)))
	}
}

// awaitPlies waits until a game has n moves.
func (t botTrial) awaitPlies(g *scripted.Game, n int) {
	have := 0
	err := t.Wait(t.ctx, "moves", func() bool {
		have = len(g.Moves)
		return have >= n || g.Status == protocol.Finished
	})
	switch {
	case err != nil:
		t.failf("the game stands still after %s", plyCount(have))
	case have < n:
		t.failf("the game ended after %s by %q", plyCount(have), g.Outcome.Reason)
	}
}

// playOn waits for some more plies, or an end by the rules.
func (t botTrial) playOn(g *scripted.Game, more int) (seen string) {
	seen, err := t.waitForMore(t.ctx, g, more)
	t.must(err)
	return seen
}

// playUntil waits until the game has n plies, or has ended by its rules.
func (t botTrial) playUntil(g *scripted.Game, n int) (seen string) {
	seen, err := t.waitForPlies(t.ctx, g, n)
	t.must(err)
	return seen
}

func (r *botRig) waitForMore(ctx context.Context, g *scripted.Game, more int) (seen string, err error) {
	have := 0
	r.Do(func() { have = len(g.Moves) })
	return r.waitForPlies(ctx, g, have+more)
}

func (r *botRig) waitForPlies(ctx context.Context, g *scripted.Game, n int) (seen string, err error) {
	err = r.Wait(ctx, "moves", func() bool {
		seen = "the game went on to " + plyCount(len(g.Moves))
		return len(g.Moves) >= n || g.Status == protocol.Finished
	})
	if err != nil {
		return "", r.cfg.Program.withExit(fmt.Errorf("the game stood still: %s", strings.TrimPrefix(seen, "the game ")))
	}
	r.Do(func() {
		if why := g.Outcome.Reason; g.Status == protocol.Finished && (endedBy[why] || protocol.FaultText(why, "") != "") {
			err = fmt.Errorf("the game ended after %s: %s by %q", plyCount(len(g.Moves)), g.Outcome.Result, why)
		}
	})
	return seen, err
}

// expectNoMoves waits, and fails if the bot sends a move in a game meanwhile that it has
// not sent before.
func (t botTrial) expectNoMoves(g *scripted.Game, d time.Duration, why string) {
	before := 0
	t.Do(func() { before = len(g.Requests) })
	t.sleep(d)
	t.check(func() error {
		if fresh := freshSince(g, before); len(fresh) > 0 {
			q := fresh[0]
			return fmt.Errorf("it sent %d moves %s, the first %q at ply %d in epoch %d", len(fresh), why, q.Move, q.Ply, q.Epoch)
		}
		return nil
	})
}

// expectOneDecision fails if the bot decided twice on a move: two requests for a ply with
// different ids.
func (t botTrial) expectOneDecision(g *scripted.Game) {
	t.check(func() error {
		first := map[int]scripted.Request{}
		for _, q := range g.Requests {
			if f, ok := first[q.Ply]; ok && (f.ID != q.ID || f.Move != q.Move) {
				return fmt.Errorf("at ply %d it sent %q with id %s and %q with id %s", q.Ply, f.Move, f.ID, q.Move, q.ID)
			}
			first[q.Ply] = q
		}
		return nil
	})
}

// expectForgotten waits until the bot's heartbeats do not list a game.
func (t botTrial) expectForgotten(id protocol.GameID, d time.Duration) {
	since := time.Now()
	if t.Wait(t.within(d).ctx, "a heartbeat without the game", func() bool {
		q := t.Peer(t.cfg.Player)
		return q.LastBeat.After(since) && !slices.Contains(q.Alive.Games, id)
	}) != nil {
		t.must(t.cfg.Program.withExit(fmt.Errorf("%v later its heartbeats still list the game", d)))
	}
}
