package scripted

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// challenge is a challenge that waits for its opponent.
type challenge struct {
	protocol.WaitingChallenge
	by     protocol.PlayerID
	req    protocol.ChallengeRequest
	cancel context.CancelFunc
}

// challengeID is the id of a player's request for a match.
type challengeID struct {
	player protocol.PlayerID
	id     string
}

// Times of the matchmaker.
const (
	offerFor  = 500 * time.Millisecond
	holdFor   = 2 * time.Second
	offerRest = 20 * time.Millisecond // between two offers
	lifetime  = time.Minute           // of a challenge, unless it says how long
	maxOpen   = 16                    // challenges of a player
)

func (p *Platform) challenge(from protocol.From, m protocol.ChallengeRequest) (ans protocol.ChallengeAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() {
		if h := p.hooks.Challenge; h != nil {
			h(from, m, &ans)
		}
	}()
	refused := func(c protocol.Code, why string) protocol.ChallengeAnswer {
		ans.Error = protocol.Refuse(c, "%s", why)
		return ans
	}
	if !p.cfg.Matching {
		return refused(protocol.Unavailable, "this platform takes no challenges")
	}
	id := challengeID{from.Player, m.ID}
	if g, ok := p.used[id]; ok {
		ans.Game = g
		if played := p.games[g]; p.challenges[g] == nil && (played == nil || played.Status == protocol.Finished) {
			return refused(protocol.Over, "this challenge has ended")
		}
		ans.Code = protocol.Duplicate
		return ans
	}
	if q := p.peers[peerID{from.Player, m.Instance}]; q == nil || !q.Known {
		return refused(protocol.UnknownPeer, "say hello first")
	}
	if rules, err := catalog.Rules(m.Rules); err != nil || rules.Game != m.Terms.Game {
		return refused(protocol.UnknownGame, "unknown rules")
	} else if _, err := game.Replay(rules, m.Position, m.Moves); err != nil {
		return refused(protocol.UnknownGame, "the rules refuse the position")
	}
	if len(p.waiting(from.Player)) >= maxOpen {
		return refused(protocol.RateLimited, "too many challenges wait")
	}
	life := cmp.Or(time.Duration(m.ExpireMS)*time.Millisecond, lifetime)
	c := &challenge{by: from.Player, req: m, WaitingChallenge: protocol.WaitingChallenge{
		Game: p.NewGameID(), Opponent: m.Opponent, Pool: m.Pool, Expires: time.Now().UTC().Add(life),
	}}
	var ctx context.Context
	ctx, c.cancel = context.WithDeadline(p.life, c.Expires)
	p.challenges[c.Game], p.used[id] = c, c.Game
	p.spawn(func() {
		defer c.cancel()
		p.match(ctx, c)
	})
	ans.Game, ans.Expires = c.Game, c.Expires
	return ans
}

func (p *Platform) withdraw(from protocol.From, m protocol.Withdraw) (ans protocol.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.challenges[m.Game]
	switch {
	case c == nil && p.withdrawn[m.Game] == from.Player: // the same request, again
		ans.Code = protocol.Duplicate
	case c == nil:
		ans.Error = protocol.Refuse(protocol.NotOffered, "no such challenge")
	case c.by != from.Player:
		ans.Error = protocol.Refuse(protocol.Denied, "the challenge of another player")
	default:
		delete(p.challenges, m.Game)
		p.withdrawn[m.Game] = c.by
		c.cancel()
	}
	return ans
}

// waiting lists the challenges of a player.
func (p *Platform) waiting(player protocol.PlayerID) (list []protocol.WaitingChallenge) {
	for _, c := range p.challenges {
		if c.by == player {
			list = append(list, c.WaitingChallenge)
		}
	}
	slices.SortFunc(list, func(a, b protocol.WaitingChallenge) int { return cmp.Compare(a.Game, b.Game) })
	return list
}

// match offers a challenge until somebody takes it.
func (p *Platform) match(ctx context.Context, c *challenge) {
	seat := game.Seat(0)
	p.Do(func() { seat = game.Seat(p.rng.IntN(2)) })
	if c.req.Seat != nil {
		seat = *c.req.Seat
	}
	pool := c.req.Pool
	if c.req.Opponent != "" {
		pool = protocol.OwnPool(c.req.Opponent)
	}
	told := false
	for {
		ans, err := p.server.Offer(ctx, pool, protocol.Offer{
			Kind: protocol.OfferMatch, Game: c.Game, Terms: c.req.Terms, Seat: seat.Other(), Player: c.req.Opponent,
			Opponent: &protocol.Opponent{Player: c.by, Kind: protocol.Bot}, Deadline: time.Now().Add(offerFor), HoldMS: holdFor.Milliseconds(),
		})
		switch {
		case err != nil && ctx.Err() == nil && c.req.Opponent == "" && !p.cfg.PoolOnly:
			p.offerByName(&pool, c)
		case err == nil && ans.Answer == protocol.Accept && p.trusts(ans):
			p.open(c, seat, ans)
			return
		case err == nil && ans.Answer == protocol.Decline && c.req.Opponent != "":
			if p.forget(c) {
				p.Notify(c.by, protocol.Notice{Kind: protocol.NoticeDeclined, Game: c.Game, From: c.req.Opponent, Reason: ans.Reason, Text: ans.Text})
			}
			return
		case !told:
			told = true
			p.Notify(c.by, protocol.Notice{Kind: protocol.NoticeWaiting, Game: c.Game, Text: "nobody is free yet"})
		}
		select {
		case <-ctx.Done():
			if p.life.Err() == nil && p.forget(c) {
				p.Notify(c.by, protocol.Notice{Kind: protocol.NoticeExpired, Game: c.Game})
			}
			return
		case <-time.After(offerRest):
		}
	}
}

// offerByName makes the next offer go to a present member of a pool in which an offer
// ran out.
func (p *Platform) offerByName(pool *protocol.Pool, c *challenge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var members []protocol.PlayerID
	for id, q := range p.peers {
		if q.Known && id.player != c.by && slices.Contains(q.Hello.Pools, c.req.Pool) && time.Since(q.Heard) < time.Second {
			members = append(members, id.player)
		}
	}
	if len(members) > 0 {
		*pool = protocol.OwnPool(members[p.rng.IntN(len(members))])
	}
}

// trusts reports whether an accept carries the secret of its hello.
func (p *Platform) trusts(a protocol.OfferAnswer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.hooks.Trust; h != nil {
		return h(a)
	}
	q := p.peers[peerID{a.Player, a.Instance}]
	return q != nil && q.Known && q.Hello.Secret != "" && q.Hello.Secret == a.Secret
}

// forget removes a challenge, and reports whether it was still there.
func (p *Platform) forget(c *challenge) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.challenges[c.Game]
	delete(p.challenges, c.Game)
	return ok
}

// open starts the game of a challenge.
func (p *Platform) open(c *challenge, seat game.Seat, ans protocol.OfferAnswer) {
	if !p.forget(c) {
		return // withdrawn
	}
	var takers [2]Taker
	takers[seat] = Taker{Player: c.by, Instance: c.req.Instance}
	takers[seat.Other()] = Taker{Player: ans.Player, Instance: ans.Instance}
	if _, err := p.Grant(c.Game, c.req.Terms, takers); err != nil && p.life.Err() == nil {
		p.cfg.Log.Error().Err(err).Msg("no game")
	}
}

// offerSeat offers a vacant seat until it is taken; p.mu is held.
func (p *Platform) offerSeat(g *Game, seat game.Seat) {
	h := g.Holders[seat]
	if h.Player == Script {
		return
	}
	p.spawn(func() {
		for {
			var vacant bool
			var ply int
			p.Do(func() {
				vacant = g.Status != protocol.Finished && g.Holders[seat].Instance == ""
				ply = len(g.Moves)
			})
			if !vacant {
				return
			}
			ans, err := p.server.Offer(p.life, protocol.OwnPool(h.Player), protocol.Offer{
				Kind: protocol.OfferSeat, Game: g.Game, Terms: g.Terms, Seat: seat, Player: h.Player, Ply: ply,
				Deadline: time.Now().Add(offerFor), HoldMS: holdFor.Milliseconds(),
			})
			if err == nil && ans.Answer == protocol.Accept && p.trusts(ans) {
				p.Do(func() {
					if g.Holders[seat].Instance == "" {
						p.Seat(g, ans.Player, ans.Instance)
					}
				})
			}
			select {
			case <-p.life.Done():
				return
			case <-time.After(offerRest):
			}
		}
	})
}
