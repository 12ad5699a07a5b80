package arena

import (
	"cmp"
	"context"
	"crypto/subtle"
	"slices"
	"sync"
	"time"

	"sparring/game/clock"
	"sparring/protocol"
)

// presence is who is there: every instance that said hello, and its pulse.
// All arenas hear all hellos and heartbeats, so that each has the same picture
// without storing it.
type presence struct {
	lostAfter time.Duration

	mu      sync.Mutex
	players map[protocol.PlayerID]map[protocol.InstanceID]*instance
	greeted chan struct{} // closed and renewed at every hello
}

// instance is one process as it acts for one player.
type instance struct {
	hello *protocol.Hello // nil: only heard, never introduced
	seen  time.Time
	free  int               // slots that it says are free
	games []protocol.GameID // that it says it plays
	gave  []protocol.GameID // whose seats it has given back, and does not claim again
	left  bool              // it gives everything back, and gets nothing new
}

// maxInstances of one player are remembered; names are free to invent.
const maxInstances = 64

// forgetAfter is how long an instance is remembered that is not heard any more.
const forgetAfter = time.Minute

func newPresence(lostAfter time.Duration) *presence {
	return &presence{lostAfter: lostAfter, players: make(map[protocol.PlayerID]map[protocol.InstanceID]*instance),
		greeted: make(chan struct{})}
}

// of returns the instance, made when there is room; nil when there is none.
func (p *presence) of(player protocol.PlayerID, id protocol.InstanceID, now time.Time) *instance {
	all := p.players[player]
	if all == nil {
		all = make(map[protocol.InstanceID]*instance)
		p.players[player] = all
	}
	in := all[id]
	if in == nil {
		if len(all) >= maxInstances {
			return nil
		}
		in = &instance{}
		all[id] = in
	}
	in.seen = now
	return in
}

func (p *presence) hello(from protocol.From, m protocol.Hello) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.of(from.Player, m.Instance, from.Arrived)
	if in == nil || in.hello != nil && in.hello.ID == m.ID {
		return // no room, or heard before: it must not undo what the instance said since
	}
	in.hello, in.free, in.left, in.gave = &m, m.Slots, false, nil
	close(p.greeted)
	p.greeted = make(chan struct{})
}

// await waits until the instance has said hello; false when ctx ends first.
func (p *presence) await(ctx context.Context, player protocol.PlayerID, id protocol.InstanceID) bool {
	for {
		p.mu.Lock()
		greeted := p.greeted
		p.mu.Unlock()
		if p.known(player, id) {
			return true
		}
		select {
		case <-greeted:
		case <-ctx.Done():
			return false
		}
	}
}

func (p *presence) alive(from protocol.From, m protocol.Alive) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.of(from.Player, m.Instance, from.Arrived); in != nil {
		in.games, in.free = m.Games, m.Free
	}
}

// leave notes what an instance gives back: the games named, or everything.
func (p *presence) leave(from protocol.From, m protocol.Leave) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.of(from.Player, m.Instance, from.Arrived)
	switch {
	case in == nil:
	case len(m.Games) == 0:
		in.left = true
	default:
		in.gave = append(in.gave, m.Games...)
		in.gave = in.gave[max(0, len(in.gave)-maxGave):]
	}
}

// maxGave bounds what is remembered of one instance.
const maxGave = 256

// known reports whether the instance has said hello.
func (p *presence) known(player protocol.PlayerID, id protocol.InstanceID) bool {
	return p.introduction(player, id) != nil
}

// introduction is the last hello of the instance, nil where there is none.
func (p *presence) introduction(player protocol.PlayerID, id protocol.InstanceID) *protocol.Hello {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[player][id]; in != nil {
		return in.hello
	}
	return nil
}

// anyIntroduction is a hello of any present instance of the player, nil where
// there is none.
func (p *presence) anyIntroduction(player protocol.PlayerID, now time.Time) *protocol.Hello {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.players[player] {
		if p.here(in, now) {
			return in.hello
		}
	}
	return nil
}

// busy reports whether the player is present without a free slot anywhere.
func (p *presence) busy(player protocol.PlayerID, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	busy := false
	for _, in := range p.players[player] {
		if p.here(in, now) {
			if in.free > 0 {
				return false
			}
			busy = true
		}
	}
	return busy
}

// vouches reports whether an answer to an offer comes from the instance that
// it names: anybody in a pool could name another's.
func (p *presence) vouches(player protocol.PlayerID, ans protocol.OfferAnswer) bool {
	hello := p.introduction(player, ans.Instance)
	return hello != nil && hello.Secret != "" && subtle.ConstantTimeCompare([]byte(hello.Secret), []byte(ans.Secret)) == 1
}

// everybody is all players of whom an instance is present.
func (p *presence) everybody(now time.Time) []protocol.PlayerID {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []protocol.PlayerID
	for player, instances := range p.players {
		for _, in := range instances {
			if p.here(in, now) {
				all = append(all, player)
				break
			}
		}
	}
	return all
}

// seen is when the instance was last heard; zero for never.
func (p *presence) seen(player protocol.PlayerID, id protocol.InstanceID) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[player][id]; in != nil {
		return in.seen
	}
	return time.Time{}
}

// plays reports whether the instance said, when it was last heard, that it
// plays the game.
func (p *presence) plays(player protocol.PlayerID, id protocol.InstanceID, g protocol.GameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.players[player][id]
	return in != nil && slices.Contains(in.games, g)
}

// present reports whether the instance is alive and does not leave.
func (p *presence) present(player protocol.PlayerID, id protocol.InstanceID, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.players[player][id]
	return in != nil && p.here(in, now)
}

func (p *presence) here(in *instance, now time.Time) bool {
	return in.hello != nil && !in.left && now.Sub(in.seen) < p.lostAfter
}

// claimant is an instance of the player that has been heard since a moment, and
// says that it plays the game or is a person's, who can't be asked by an offer:
// it gets the vacant seat at once.
func (p *presence) claimant(player protocol.PlayerID, g protocol.GameID, since, now time.Time) (protocol.InstanceID, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, in := range p.players[player] {
		if !p.here(in, now) || slices.Contains(in.gave, g) {
			continue
		}
		if in.seen.After(since) && (slices.Contains(in.games, g) || in.hello.Kind == protocol.Human) {
			return id, true
		}
	}
	return "", false
}

// bots are the present bots that play a game under the rules at the speed,
// in order of their names.
func (p *presence) bots(gameName, rules string, speed clock.Speed, now time.Time) []protocol.PlayerID {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []protocol.PlayerID
	for player, all := range p.players {
		for _, in := range all {
			if p.here(in, now) && in.hello.Kind == protocol.Bot && capable(in.hello.Games, gameName, rules, speed) {
				found = append(found, player)
				break
			}
		}
	}
	slices.SortFunc(found, func(a, b protocol.PlayerID) int { return cmp.Compare(a, b) })
	return found
}

func capable(games []protocol.Capability, gameName, rules string, speed clock.Speed) bool {
	return slices.ContainsFunc(games, func(c protocol.Capability) bool {
		return c.Game == gameName && (len(c.Rules) == 0 || slices.Contains(c.Rules, rules)) &&
			(len(c.Speeds) == 0 || slices.Contains(c.Speeds, speed))
	})
}

// forget drops instances that have not been heard for long.
func (p *presence) forget(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for player, all := range p.players {
		for id, in := range all {
			if now.Sub(in.seen) > forgetAfter {
				delete(all, id)
			}
		}
		if len(all) == 0 {
			delete(p.players, player)
		}
	}
}
