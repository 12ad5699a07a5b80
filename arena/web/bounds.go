package web

import (
	"context"
	"sync"
	"time"

	"sparring/arena/web/message"
	"sparring/protocol"
)

// Kinds of requests that one address may send only so often.
const (
	paceChallenges = "challenges"
	paceActs       = "actions"
	paceChats      = "messages"
	paceHints      = "hints"
	paceLookups    = "lookups"
)

// Reasons of refusals, which the page has sentences for.
const (
	reasonOwnGames     = "own-games"     // the person has too many games against bots
	reasonAddressGames = "address-games" // its address has
	reasonNoRoom       = "no-room"       // no game can be stored now
)

// bounds keeps few people from taking all bots: it counts the requests of each
// address, and its games against bots, running and waiting. The games are those
// that people of this gateway began or are here for.
type bounds struct {
	paces                 map[string]*limiter[string]
	perAddress, perPerson int // games against bots

	mu        sync.Mutex
	addresses map[string]map[*botGame]bool
	games     map[protocol.GameID]*botGame
}

// botGame is a game against a bot that an address answers for.
type botGame struct {
	address string
	player  protocol.PlayerID
	game    protocol.GameID // empty until its challenge is answered
	expires time.Time       // of the challenge
}

func newBounds(l Limits) *bounds {
	return &bounds{
		paces: map[string]*limiter[string]{
			paceChallenges: newLimiter[string](l.Challenges), paceActs: newLimiter[string](l.Acts),
			paceChats: newLimiter[string](l.Chats), paceHints: newLimiter[string](l.Hints),
			paceLookups: newLimiter[string](l.Lookups),
		},
		perAddress: l.AddressGames, perPerson: l.PersonGames,
		addresses: make(map[string]map[*botGame]bool), games: make(map[protocol.GameID]*botGame),
	}
}

// pace refuses a request of a kind if its address has sent too many; "" is a kind
// without a limit.
func (b *bounds) pace(kind, address string) (message.Answer, bool) {
	if l := b.paces[kind]; l != nil && l.allow(address, time.Now()) > 0 {
		return message.Refused(protocol.RateLimited, "too many "+kind+" from this address in a short time"), false
	}
	return message.Answer{}, true
}

// add counts a game; b.mu is held.
func (b *bounds) add(g *botGame) {
	if b.addresses[g.address] == nil {
		b.addresses[g.address] = make(map[*botGame]bool)
	}
	b.addresses[g.address][g] = true
}

// drop counts a game no more; b.mu is held.
func (b *bounds) drop(g *botGame) {
	delete(b.addresses[g.address], g)
	if len(b.addresses[g.address]) == 0 {
		delete(b.addresses, g.address)
	}
	if b.games[g.game] == g {
		delete(b.games, g.game)
	}
}

// ended notes that a game has ended, or its challenge has.
func (b *bounds) ended(id protocol.GameID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g := b.games[id]; g != nil {
		b.drop(g)
	}
}

// keep names the game of an entry, which may have been counted already: the
// request was a repetition.
func (b *bounds) keep(g *botGame, id protocol.GameID, expires time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id == "" || b.games[id] != nil {
		b.drop(g)
		return
	}
	g.game, g.expires = id, expires
	b.games[id] = g
}

// adopt counts the running games of a person who has come, and those that it waits
// for, unless they are counted already: they began before this gateway did, or on
// another.
func (h *hub) adopt(t *tab, waits []message.Waiting) {
	expires := make(map[protocol.GameID]time.Time)
	for g := range h.runningAgainstBots(t.ID) {
		expires[g] = time.Time{}
	}
	for _, w := range waits {
		if !w.Opponent.Person() {
			expires[w.Game] = w.Expires
		}
	}
	b := h.bounds
	b.mu.Lock()
	defer b.mu.Unlock()
	for g, at := range expires {
		if b.games[g] == nil {
			x := &botGame{address: t.address, player: t.ID, game: g, expires: at}
			b.add(x)
			b.games[g] = x
		}
	}
}

func (h *hub) runningAgainstBots(p protocol.PlayerID) map[protocol.GameID]bool {
	games := make(map[protocol.GameID]bool)
	for _, e := range h.arena.RunningOf(p) {
		if !e.Holders[0].Player.Person() || !e.Holders[1].Player.Person() {
			games[e.Game] = true
		}
	}
	return games
}

// reserve counts one more game against a bot, before its challenge is sent.
func (h *hub) reserve(t *tab) (*botGame, message.Answer, bool) {
	if h.arena.NoRoom() { // the challenge would wait, and nobody would know for what
		return nil, message.Answer{Code: protocol.Unavailable, Reason: reasonNoRoom, Text: "no game can be stored now"}, false
	}
	own := h.runningAgainstBots(t.ID)
	for _, w := range t.here.waits() {
		if !w.Opponent.Person() {
			own[w.Game] = true
		}
	}
	h.dropEnded(t.address)
	b := h.bounds
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := 0
	for g := range b.addresses[t.address] {
		switch {
		case g.player != t.ID:
		case g.game == "":
			asked++
		default:
			own[g.game] = true // it may have stopped waiting, and not be seen as running yet
		}
	}
	if len(own)+asked >= b.perPerson {
		return nil, message.Answer{Code: protocol.RateLimited, Reason: reasonOwnGames, Text: "this person has too many games against bots"}, false
	}
	if len(b.addresses[t.address]) >= b.perAddress {
		return nil, message.Answer{Code: protocol.RateLimited, Reason: reasonAddressGames, Text: "this address has too many games against bots"}, false
	}
	g := &botGame{address: t.address, player: t.ID}
	b.add(g)
	return g, message.Answer{}, true
}

// dropEnded drops games of an address whose end was missed.
func (h *hub) dropEnded(address string) {
	b, now := h.bounds, time.Now()
	var old []botGame
	b.mu.Lock()
	for g := range b.addresses[address] {
		if g.game != "" && now.After(g.expires) {
			old = append(old, *g)
		}
	}
	b.mu.Unlock() // the arena calls event, which takes the lock
	for _, g := range old {
		if !h.runningAgainstBots(g.player)[g.game] {
			b.ended(g.game)
		}
	}
}

// againstBot challenges a bot, if the person and its address may have one more game.
func (h *hub) againstBot(ctx context.Context, t *tab, m protocol.ChallengeRequest) message.Answer {
	g, a, ok := h.reserve(t)
	if !ok {
		return a
	}
	a = t.here.challenge(ctx, m)
	h.bounds.keep(g, a.Game, a.Expires)
	if a.Game == "" {
		return a
	}
	if e, _, err := h.arena.Game(ctx, a.Game); err == nil && e.Status == protocol.Finished {
		h.bounds.ended(a.Game) // before it was counted
	}
	return a
}
