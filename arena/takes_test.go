package arena

import (
	"sync"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// peopleOnly changes a player so that its hello takes people only, and so that
// it reports offers that it would have to decline.
func peopleOnly(t *testing.T, pools ...protocol.Pool) func(*player) {
	return func(p *player) {
		p.takes = &protocol.Takes{Kinds: []protocol.Kind{protocol.Human}}
		p.pools = append(p.pools, pools...)
		p.answer = func(o protocol.Offer) protocol.OfferAnswer {
			if o.Opponent == nil || o.Opponent.Kind != protocol.Human {
				t.Errorf("%s was offered a game against %+v", p.id, o.Opponent)
			}
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: p.id}
		}
	}
}

// A player whose hello says that it takes people only is not offered to a bot: the
// challenge is declined for it. Nor does the ladder pair it.
func TestNobodyIsOfferedWhatItDeclines(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir(), "ann", "level")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	join(t, srv, "level", "l1", peopleOnly(t))
	human := joinPerson(t, srv, a, "human-eve", "h1")
	ann.challenge("level", small(t, "60+1"), game.First)
	if n := ann.notice(protocol.NoticeDeclined); n.Reason != protocol.DeclineKind || n.From != "level" {
		t.Errorf("notice %+v", n)
	}
	g := human.challenge("level", small(t, "60+1"), game.First)
	human.until(g, "the end", finished)
	rated := small(t, "60+1")
	rated.Rated = true
	if bots := a.presence.bots(rated, time.Now()); len(bots) != 1 || bots[0] != "ann" {
		t.Errorf("bots for the ladder: %v", bots)
	}
}

// In a pool where some would decline, only its other members are asked, but not the
// challenger. When they are busy, the challenge waits.
func TestPoolWithDecliningMembers(t *testing.T) {
	t.Parallel()
	const pool = "amazons.bullet"
	srv := arenatest.StartServer(t, t.TempDir(), "ann", "bob", "cat", "level")
	a := runArena(t, srv, steady())
	refuse := func(p *player) {
		p.answer = func(protocol.Offer) protocol.OfferAnswer {
			t.Errorf("%s was asked", p.id)
			return protocol.OfferAnswer{Answer: protocol.Decline, Reason: protocol.DeclineOpponent}
		}
	}
	ann := join(t, srv, "ann", "a1", refuse, func(p *player) { p.pools = append(p.pools, pool) })
	join(t, srv, "cat", "c1", refuse) // not a member
	join(t, srv, "level", "l1", peopleOnly(t, pool))
	bob := join(t, srv, "bob", "b1", func(p *player) {
		p.pools, p.play, p.slots = append(p.pools, pool), nil, 0
	})
	gametest.Eventually(t, "bob is busy", func() bool {
		for _, in := range a.Instances() {
			if in.Player == "bob" {
				return in.Free == 0
			}
		}
		return false
	})
	ctx := gametest.Context(t)
	ans, err := ann.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Pool: pool, ExpireMS: patience.Milliseconds()})
	if err != nil {
		t.Fatal(err)
	}
	ann.follow(ans.Game)
	ann.notice(protocol.NoticeWaiting)
	bob.set(func(p *player) { p.slots = 1 })
	st := ann.until(ans.Game, "the start", plies(0))
	if other := st.Holders[st.You.Other()]; other.Player != "bob" {
		t.Errorf("the game is against %+v", other)
	}
}

// A player declines when all of its instances that are asked do: one that takes no more games
// does not speak for another that has room.
func TestOneInstanceDeclines(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1", func(p *player) { p.play = nil })
	var mu sync.Mutex
	always, asked := false, make(map[protocol.GameID]int)
	for _, id := range []protocol.InstanceID{"b1", "b2"} {
		join(t, srv, "bob", id, func(p *player) {
			p.play = nil
			p.answer = func(o protocol.Offer) protocol.OfferAnswer {
				mu.Lock()
				defer mu.Unlock()
				if asked[o.Game]++; always || asked[o.Game] == 1 {
					return protocol.OfferAnswer{Answer: protocol.Decline, Reason: protocol.DeclineRepeat, Text: "not again"}
				}
				return protocol.OfferAnswer{Answer: protocol.Accept, Player: "bob"}
			}
		})
	}
	gametest.Eventually(t, "both instances are present", func() bool { return a.presence.several("bob", time.Now()) })
	if e := fate(t, a, ann.challenge("bob", small(t, "60"), game.First)); e.Kind != protocol.EventStart {
		t.Errorf("one instance has declined: %s %+v", e.Kind, e.Outcome)
	}
	mu.Lock()
	always = true
	mu.Unlock()
	g := ann.challenge("bob", small(t, "60"), game.First)
	if n := ann.notice(protocol.NoticeDeclined); n.Game != g || n.From != "bob" || n.Reason != protocol.DeclineRepeat || n.Text != "not again" {
		t.Errorf("both have declined: %+v", n)
	}
	mu.Lock()
	defer mu.Unlock()
	if n := asked[g]; n != offersEach {
		t.Errorf("%d instances were asked, want %d", n, offersEach)
	}
}
