package arena

import (
	"cmp"
	"crypto/subtle"
	"slices"
	"sync"
	"time"

	"sparring/protocol"
)

// presence has every instance that said hello, with the time of its last message.
// All arenas receive all hellos and heartbeats, so that they agree without storing
// anything.
type presence struct {
	lostAfter time.Duration

	mu      sync.Mutex
	players map[protocol.PlayerID]map[protocol.InstanceID]*instance
	greeted chan struct{} // closed and renewed at every hello
}

// instance is one process as it acts for one player.
type instance struct {
	hello   *protocol.Hello // nil if it sends heartbeats but has not said hello
	hellos  []helloID       // the last ones that were observed, see observeHello
	since   time.Time       // when it was first heard
	seen    time.Time
	greeted time.Time         // when it said hello last
	free    freeSlots         // that it reports
	pool    freeSlots         // of all players that have the slots together, as it reports
	games   []protocol.GameID // that it reports as played
	gave    []gaveBack        // single seats that it has given back
	left    string            // id of the request by which it gives back all seats, so that it gets no new ones; "" without one
	leaves  []string          // ids of the requests that gave them back
	silent  bool              // it has lost a seat for want of heartbeats, and sent none since
	// replaced is the process that acted as the instance before this one, and turnedAway the
	// secret of one that came later and had to make way; see listens.
	replaced   *replaced
	turnedAway string
}

// freeSlots are slots for further games. Some may be kept for games against people.
type freeSlots struct{ all, bots int }

// against returns how many there are for games against players of a kind.
func (f freeSlots) against(k protocol.Kind) int {
	if k == protocol.Bot {
		return min(f.all, f.bots)
	}
	return f.all
}

// less returns the slots that are left with a game against a player of a kind.
func (f freeSlots) less(k protocol.Kind) freeSlots {
	f.all--
	if k == protocol.Bot {
		f.bots--
	}
	return f
}

// maxInstances bounds the remembered instances of one player, who may invent
// names.
const maxInstances = 64

// forgetAfter is how long a silent instance is remembered. One of the operator's fleet
// is remembered longer: the operator wants to know of a process that hangs.
const (
	forgetAfter      = time.Minute
	forgetFleetAfter = time.Hour
)

// makeRoomIn forgets the instance that has been silent longest, unless it may still be there:
// a process that is started again and again must not wait for those that it was.
func (p *presence) makeRoomIn(all map[protocol.InstanceID]*instance, now time.Time) bool {
	var oldest protocol.InstanceID
	for id, in := range all {
		if oldest == "" || in.seen.Before(all[oldest].seen) {
			oldest = id
		}
	}
	if now.Sub(all[oldest].seen) < p.lostAfter {
		return false
	}
	delete(all, oldest)
	return true
}

func newPresence(lostAfter time.Duration) *presence {
	return &presence{lostAfter: lostAfter, players: make(map[protocol.PlayerID]map[protocol.InstanceID]*instance),
		greeted: make(chan struct{})}
}

// of returns the instance, which it adds if it is new; nil if there are too many.
func (p *presence) of(player protocol.PlayerID, id protocol.InstanceID, now time.Time) *instance {
	all := p.players[player]
	if all == nil {
		all = make(map[protocol.InstanceID]*instance)
		p.players[player] = all
	}
	in := all[id]
	if in == nil {
		if len(all) >= maxInstances && !p.makeRoomIn(all, now) {
			return nil
		}
		in = &instance{since: now}
		all[id] = in
	}
	in.seen = now
	return in
}

func (p *presence) alive(from protocol.From, m protocol.Alive) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[from.Player][m.Instance]; in != nil && in.otherProcess(m.Secret) {
		if in.mayStillRun(m.Secret, from.Arrived, p.lostAfter) {
			in.signOfLife(from.Arrived, p.lostAfter)
		}
		return
	}
	if in := p.of(from.Player, m.Instance, from.Arrived); in != nil {
		in.games, in.free, in.silent = m.Games, freeSlots{m.Free, m.FreeFor(protocol.Bot)}, false
		others := m.Together() - m.Free // that the player does not take
		in.pool = freeSlots{in.free.all + others, in.free.bots + others}
	}
}

// lostSeat notes that an instance has lost a seat because no heartbeats came.
func (p *presence) lostSeat(player protocol.PlayerID, id protocol.InstanceID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[player][id]; in != nil {
		in.silent = true
	}
}

// staysSilent reports whether an instance that has lost a seat in this way has sent no
// heartbeat since, whatever else it sends.
func (p *presence) staysSilent(player protocol.PlayerID, id protocol.InstanceID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.players[player][id]
	return in != nil && in.silent
}

// known reports whether the instance has said hello.
func (p *presence) known(player protocol.PlayerID, id protocol.InstanceID) bool {
	return p.helloOf(player, id) != nil
}

// helloOf returns the last hello of the instance, nil if there is none.
func (p *presence) helloOf(player protocol.PlayerID, id protocol.InstanceID) *protocol.Hello {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[player][id]; in != nil {
		return in.hello
	}
	return nil
}

// anyHello returns the hello of any instance of the player that is present, nil
// if there is none.
func (p *presence) anyHello(player protocol.PlayerID, now time.Time) *protocol.Hello {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.players[player] {
		if p.isPresent(in, now) {
			return in.hello
		}
	}
	return nil
}

// takes reports whether an instance of the player is present that takes matches against
// bots under the terms: one that was paused takes none.
func (p *presence) takes(player protocol.PlayerID, t protocol.Terms, now time.Time) bool {
	return p.anyHello(player, now) != nil && p.declines(player, t, protocol.Opponent{Kind: protocol.Bot}, now) == ""
}

// busy reports whether the player is present, but has no free slot anywhere for a game
// against a player of some kind.
func (p *presence) busy(player protocol.PlayerID, against protocol.Kind, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	busy := false
	for _, in := range p.players[player] {
		if p.isPresent(in, now) {
			if in.free.against(against) > 0 {
				return false
			}
			busy = true
		}
	}
	return busy
}

// hasSlot reports whether an instance of the player is present that has a free slot.
func (p *presence) hasSlot(player protocol.PlayerID, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.players[player] {
		if p.isPresent(in, now) && in.free.all > 0 {
			return true
		}
	}
	return false
}

// authentic reports whether an answer to an offer comes from the instance that
// it names: any member of a pool could name another's.
func (p *presence) authentic(player protocol.PlayerID, ans protocol.OfferAnswer) bool {
	hello := p.helloOf(player, ans.Instance)
	return hello != nil && hello.Secret != "" && subtle.ConstantTimeCompare([]byte(hello.Secret), []byte(ans.Secret)) == 1
}

// playersPresent returns the players with an instance that is present and fits,
// ordered by name.
func (p *presence) playersPresent(now time.Time, fits func(protocol.PlayerID, *protocol.Hello) bool) []protocol.PlayerID {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []protocol.PlayerID
	for player, instances := range p.players {
		for _, in := range instances {
			if p.isPresent(in, now) && fits(player, in.hello) {
				found = append(found, player)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// has reports whether an instance of the player is present and fits.
func (p *presence) has(player protocol.PlayerID, now time.Time, fits func(*protocol.Hello) bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.players[player] {
		if p.isPresent(in, now) && fits(in.hello) {
			return true
		}
	}
	return false
}

// several reports whether more than one instance of the player is present.
func (p *presence) several(player protocol.PlayerID, now time.Time) bool {
	return p.count(player, now) > 1
}

// count returns how many instances of the player are present.
func (p *presence) count(player protocol.PlayerID, now time.Time) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.players[player] {
		if p.isPresent(in, now) {
			n++
		}
	}
	return n
}

// partlySilent reports whether an instance of the player is present and another is not, though
// it has not left: the server may still give it the player's offers, as while it is stopped.
func (p *presence) partlySilent(player protocol.PlayerID, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	present, silent := false, false
	for _, in := range p.players[player] {
		if p.isPresent(in, now) {
			present = true
		} else if in.left == "" {
			silent = true
		}
	}
	return present && silent
}

// others returns the player's other instances that are present, those known longest
// first.
func (p *presence) others(player protocol.PlayerID, except protocol.InstanceID, now time.Time) (found []protocol.OtherInstance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, in := range p.players[player] {
		if id == except || !p.isPresent(in, now) {
			continue
		}
		o := protocol.OtherInstance{Instance: id, Host: in.hello.Host, Since: in.since}
		for _, c := range in.hello.Games {
			o.Games = append(o.Games, protocol.InstanceGame{Game: c.Game, Engine: c.Engine})
		}
		found = append(found, o)
	}
	slices.SortFunc(found, func(x, y protocol.OtherInstance) int {
		return cmp.Or(x.Since.Compare(y.Since), cmp.Compare(x.Instance, y.Instance))
	})
	return found[:min(len(found), protocol.MaxOthers)]
}

// presentInstance is what the ladder has to know of an instance.
type presentInstance struct {
	hello *protocol.Hello
	seen  time.Time // its last heartbeat, which named
	free  freeSlots
	pool  freeSlots
	games []protocol.GameID // and running games
}

// all returns the instances that are present, by player.
func (p *presence) all(now time.Time) map[protocol.PlayerID][]presentInstance {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[protocol.PlayerID][]presentInstance, len(p.players))
	for player, instances := range p.players {
		for _, in := range instances {
			if p.isPresent(in, now) {
				all[player] = append(all[player], presentInstance{in.hello, in.seen, in.free, in.pool, in.games})
			}
		}
	}
	return all
}

// seen returns when the instance was last heard; zero means never.
func (p *presence) seen(player protocol.PlayerID, id protocol.InstanceID) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[player][id]; in != nil {
		return in.seen
	}
	return time.Time{}
}

// playing reports whether the last heartbeat of the instance named the game, and when
// the instance said hello last.
func (p *presence) playing(player protocol.PlayerID, id protocol.InstanceID, g protocol.GameID) (plays bool, hello time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.players[player][id]
	if in == nil {
		return false, hello
	}
	return slices.Contains(in.games, g), in.greeted
}

// reported reports whether the last heartbeat of any instance of the player named the game:
// that of one, too, that has lost its seat while it was away.
func (p *presence) reported(player protocol.PlayerID, g protocol.GameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.players[player] {
		if slices.Contains(in.games, g) {
			return true
		}
	}
	return false
}

// present reports whether the instance is alive and is not leaving.
func (p *presence) present(player protocol.PlayerID, id protocol.InstanceID, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.players[player][id]
	return in != nil && p.isPresent(in, now)
}

func (p *presence) isPresent(in *instance, now time.Time) bool {
	return in.hello != nil && in.left == "" && now.Sub(in.seen) < p.lostAfter
}

// claimant returns an instance of the player that gets the vacant seat at once:
// one that was heard since the given time and either reports the game as played
// or belongs to a person, who can't be asked by an offer. One that is on the ladder
// only waits to be paired.
func (p *presence) claimant(player protocol.PlayerID, g protocol.GameID, since, now time.Time) (protocol.InstanceID, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, in := range p.players[player] {
		if !p.isPresent(in, now) || in.silent || in.doesWithout(g) {
			continue
		}
		if in.seen.After(since) && (slices.Contains(in.games, g) || in.hello.Kind == protocol.Human && !slices.Contains(in.hello.Pools, protocol.LadderPool)) {
			return id, true
		}
	}
	return "", false
}

// bots returns the bots that are present and take a match against bots under the
// terms, ordered by name.
func (p *presence) bots(t protocol.Terms, now time.Time) []protocol.PlayerID {
	return p.playersPresent(now, func(_ protocol.PlayerID, h *protocol.Hello) bool {
		return h.Kind == protocol.Bot && h.Declines(t, protocol.Opponent{Kind: protocol.Bot}) == ""
	})
}

// declines returns why the player would decline a match, by the hellos of its
// instances that are present; "" if one would not, or none is present.
func (p *presence) declines(player protocol.PlayerID, t protocol.Terms, o protocol.Opponent, now time.Time) (why protocol.DeclineReason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.players[player] {
		if !p.isPresent(in, now) {
			continue
		}
		if why = in.hello.Declines(t, o); why == "" {
			return ""
		}
	}
	return why
}

// members are the players who have joined a pool and are present.
type members struct {
	takers   []protocol.PlayerID // who would take a match and have a free slot, ordered by name
	declines bool                // some would decline it
}

// membersOf asks the hellos of a pool's members about a match.
func (p *presence) membersOf(pool protocol.Pool, t protocol.Terms, o protocol.Opponent, now time.Time) members {
	p.mu.Lock()
	defer p.mu.Unlock()
	var m members
	for player, instances := range p.players {
		takes := false
		for _, in := range instances {
			if player == o.Player || !p.isPresent(in, now) || !slices.Contains(in.hello.Pools, pool) {
				continue
			}
			if in.hello.Declines(t, o) != "" {
				m.declines = true
			} else if in.free.against(o.Kind) > 0 && slices.Contains(in.hello.Pools, protocol.OwnPool(player)) {
				takes = true
			}
		}
		if takes {
			m.takers = append(m.takers, player)
		}
	}
	slices.Sort(m.takers)
	return m
}

// forget drops instances that have been silent for long.
func (p *presence) forget(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for player, all := range p.players {
		for id, in := range all {
			after := forgetAfter
			if in.hello != nil && in.hello.Fleet && in.left == "" {
				after = forgetFleetAfter
			}
			if now.Sub(in.seen) > after {
				delete(all, id)
			}
		}
		if len(all) == 0 {
			delete(p.players, player)
		}
	}
}
