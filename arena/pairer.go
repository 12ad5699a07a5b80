package arena

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sparring/arena/pairing"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

const (
	// pairEvery is how often the ladder is paired.
	pairEvery = 250 * time.Millisecond
	// maxPosted bounds the pairings that wait for their seats to be taken, so that
	// the challenges of others never stand behind thousands of them.
	maxPosted = 256
	// postAtOnce is how many pairings are stored at the same time.
	postAtOnce = 16
	// pairingFor is how long a pairing may wait for an arena that has room.
	pairingFor = time.Minute
	// pairingAttempts bounds how often a pairing is tried that is kept by something
	// that passes soon: some two seconds in all.
	pairingAttempts = 5
	// begunLately is how long a heartbeat may not yet name a game that has begun.
	begunLately = 2 * time.Second
	// firstRest is how long a player is not paired that did not take its seat, or did not
	// begin its game. It doubles each time, up to longestRest.
	firstRest   = time.Second
	longestRest = 5 * time.Minute
)

// ladderPoolOf returns the pool in which the ladder's games under the terms wait.
func ladderPoolOf(t protocol.Terms) protocol.Pool { return protocol.LadderPoolOf(t.Game) }

// pairer pairs the players of the ladder who are free, while this arena holds the
// lease for that. What a pairing becomes is decided as for any challenge: by whichever
// arena takes it from the queue, and by the first entry of the game's log. So another
// pairer only has to read which pairings wait; everything else here is memory that may
// be lost, and grows with the players who are present.
type pairer struct {
	a      *Arena
	pools  []ladderGroup
	posted map[protocol.GameID]*postedPairing
	known  map[protocol.PlayerID]*contender
	keeps  bool // room for the loss of processes, instead of pairing more

	mu    sync.Mutex
	ended []protocol.Event // the ends of the ladder's games since the last step
}

// ladderGroup is a pool of players who meet: those of some kinds, under some terms.
type ladderGroup struct {
	terms protocol.Terms
	kinds []protocol.Kind
}

// postedPairing is a challenge that is on its way to become a game.
type postedPairing struct {
	ch     protocol.Challenge
	stored bool         // as far as we know
	since  [2]time.Time // when its players became free
}

// ladderID names a ladder of ratings.
type ladderID struct {
	game  string
	speed clock.Speed
}

func ladderOf(t protocol.Terms) ladderID { return ladderID{t.Game, t.Clock.Speed()} }

// ladderTerms returns those of each game, rule set and clock of the ladder.
func (a *Arena) ladderTerms() []protocol.Terms {
	var all []protocol.Terms
	for _, g := range catalog.Games() {
		rules := a.cfg.Ladder.Rules[g.Name]
		if len(rules) == 0 {
			rules = []string{g.Default}
		}
		for _, r := range rules {
			for _, c := range a.cfg.Ladder.Clocks {
				all = append(all, protocol.Terms{Game: g.Name, Rules: r, Clock: c, Rated: true})
			}
		}
	}
	return all
}

func (a *Arena) ladderGroups() (all []ladderGroup) {
	for _, t := range a.ladderTerms() {
		if a.cfg.Ladder.Apart {
			all = append(all, ladderGroup{t, []protocol.Kind{protocol.Bot}}, ladderGroup{t, []protocol.Kind{protocol.Human}})
		} else {
			all = append(all, ladderGroup{t, []protocol.Kind{protocol.Bot, protocol.Human}})
		}
	}
	return all
}

// pairPlayers pairs players until ctx ends.
func (a *Arena) pairPlayers(ctx context.Context) {
	p := &pairer{a: a, pools: a.ladderGroups(), known: make(map[protocol.PlayerID]*contender)}
	defer a.index.subscribe(p.noteEnd)()
	failing := false
	for ctx.Err() == nil {
		err := p.step(ctx)
		switch {
		case err == nil:
			failing = false
			sleep(ctx, pairEvery)
			continue
		case ctx.Err() != nil:
			return
		case !failing:
			a.log.Error().Err(err).Msg("the ladder can't be paired now; trying again")
		}
		failing = true
		sleep(ctx, time.Second)
	}
}

// step pairs those who are free now. Before the first one it reads what another
// arena has posted.
func (p *pairer) step(ctx context.Context) error {
	if p.posted == nil {
		if err := p.takeUp(ctx); err != nil {
			return err
		}
	}
	if !p.mayPost() {
		return nil // the lease may be lost, and comes back or ends ctx
	}
	now := time.Now()
	if err := p.settle(ctx, now); err != nil {
		return err
	}
	p.settleEnded(time.Now()) // settle may have taken long, and a rest begins after the end
	if p.a.isDraining() {
		return nil
	}
	return p.post(ctx, p.pair(now))
}

// mayPost reports whether no other arena can be pairing.
func (p *pairer) mayPost() bool { return p.a.leases.fresh(roundLease) && p.a.nc.IsConnected() }

// takeUp reads the pairings that wait, and ends an unfinished round.
func (p *pairer) takeUp(ctx context.Context) error {
	if err := p.a.dropRound(ctx); err != nil {
		return err
	}
	waiting, err := p.a.store.pairings(ctx)
	if err != nil {
		return err
	}
	p.posted = make(map[protocol.GameID]*postedPairing)
	for _, ch := range waiting {
		p.posted[ch.Game] = &postedPairing{ch: ch, stored: true}
	}
	p.a.log.Info().Int("waiting", len(waiting)).Msg("this arena pairs the ladder")
	return nil
}

// pair returns the pairs of those who are free, those who waited longest first.
func (p *pairer) pair(now time.Time) []*postedPairing {
	present := p.a.presence.all(now)
	for id := range present {
		p.contender(id).present = now
	}
	for id, c := range p.known {
		if now.Sub(c.present) > forgetAfter && now.After(c.until) {
			delete(p.known, id)
		}
	}
	room := p.room(present, now)
	spare := p.keepRoom(present, room, now)
	players := p.freePlayers(present, room, now)
	var made []*postedPairing
	for _, k := range rand.Perm(len(p.pools)) { // who plays several games gets each in turn
		made = append(made, p.pairPool(p.pools[k], players, present, room, now)...)
	}
	waiting := 0
	for id, f := range players {
		if !f.since.IsZero() && !p.a.ladder.anchored(id) { // anchors are there for the others
			waiting++
		}
	}
	p.a.metrics.waitingForGame.Set(float64(waiting))
	slices.SortFunc(made, func(x, y *postedPairing) int {
		return earliest(x.since).Compare(earliest(y.since))
	})
	more := maxPosted - len(p.posted)
	return slices.DeleteFunc(made, func(w *postedPairing) bool {
		if more > 0 && takeSlots(w, players, room, spare) {
			more--
			return false
		}
		for seat, wanted := range w.ch.Seats {
			players[wanted.Player].since = w.since[seat] // it goes on waiting
		}
		return true
	})
}

func earliest(times [2]time.Time) time.Time {
	if times[1].Before(times[0]) {
		return times[1]
	}
	return times[0]
}

// pairPool pairs the players of one pool, and takes them from those who are free.
func (p *pairer) pairPool(g ladderGroup, players map[protocol.PlayerID]*free, present map[protocol.PlayerID][]presentInstance,
	room map[slotPool]freeSlots, now time.Time) (made []*postedPairing) {
	takesPart := func(id protocol.PlayerID, instances []presentInstance) bool {
		return slices.ContainsFunc(instances, func(in presentInstance) bool { return g.has(id, in.hello) })
	}
	members := 0
	for id, instances := range present {
		if takesPart(id, instances) {
			members++
		}
	}
	t := g.terms
	var pool []*free
	for _, f := range players {
		if !f.since.IsZero() && takesPart(f.id, f.instances) {
			pool = append(pool, f)
		}
	}
	if len(pool) < 2 {
		return nil
	}
	slices.SortFunc(pool, func(x, y *free) int { return cmp.Compare(x.id, y.id) })
	ranked, opponents := make([]pairing.Player, len(pool)), make([]protocol.Opponent, len(pool))
	for i, f := range pool {
		ranked[i] = p.a.ladder.contender(t, f.id)
		if _, known := f.balance[ladderOf(t)]; !known {
			f.balance[ladderOf(t)] = ranked[i].Balance
		}
		ranked[i].Balance = f.balance[ladderOf(t)]
		if ranked[i].Wait = now.Sub(f.since); p.a.ladder.anchored(f.id) {
			ranked[i].Wait = 0 // or those who waited longest would come before those who fit best
		}
		ranked[i].Recent = merged(f.met, ranked[i].Recent)
		opponents[i] = protocol.Opponent{Player: f.id, Kind: f.kind, Rating: p.a.rating(t, f.id)}
	}
	pairs := pairing.Match(ranked, members, func(i, j int) bool {
		if p.a.ladder.anchored(pool[i].id) && p.a.ladder.anchored(pool[j].id) {
			return false
		}
		return fit(t, pool[i], pool[j], opponents[i], opponents[j], room)
	})
	for _, pair := range pairs {
		w := &postedPairing{ch: protocol.Challenge{
			V: protocol.Version, Game: protocol.GameID(protocol.NewID()), Terms: t, Pairing: true,
			Created: now.UTC(), Expires: now.Add(pairingFor).UTC(),
		}}
		for seat, i := range pair {
			w.ch.Seats[seat].Player, w.since[seat] = pool[i].id, pool[i].since
			pool[i].since = time.Time{}
		}
		made = append(made, w)
	}
	return made
}

// merged returns the opponents that count as just met.
func merged(met, recorded []protocol.PlayerID) []protocol.PlayerID {
	all := slices.Clone(met)
	for _, id := range recorded {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all[:min(len(all), pairing.Remembered)]
}

// fit reports whether two players take each other and have a slot for that each.
func fit(t protocol.Terms, x, y *free, ox, oy protocol.Opponent, room map[slotPool]freeSlots) bool {
	for _, in := range x.instances {
		if in.hello.Declines(t, oy) != "" || in.slots(oy.Kind, room) < 1 {
			continue
		}
		for _, other := range y.instances {
			same := slotPoolOf(in.hello) == slotPoolOf(other.hello)
			if other.hello.Declines(t, ox) == "" && other.slots(ox.Kind, room) >= 1 && (!same || room[slotPoolOf(in.hello)].less(oy.Kind).against(ox.Kind) >= 1) {
				return true
			}
		}
	}
	return false
}

// takeSlots takes a slot for each player of a pairing. It returns false if others
// have taken them.
func takeSlots(w *postedPairing, players map[protocol.PlayerID]*free, room map[slotPool]freeSlots, spare spareSeats) bool {
	giveBack := func() {}
	for seat, wanted := range w.ch.Seats {
		instances, against := players[wanted.Player].instances, players[w.ch.Seats[1-seat].Player].kind
		i := slices.IndexFunc(instances, func(in presentInstance) bool { return in.slots(against, room) > 0 })
		if i < 0 {
			giveBack()
			return false
		}
		key := slotPoolOf(instances[i].hello)
		unspare, ok := spare.take(key)
		if !ok {
			giveBack()
			return false
		}
		before := room[key]
		room[key] = before.less(against)
		giveBack = func() { room[key] = before; unspare() }
	}
	return true
}

// post stores pairings.
func (p *pairer) post(ctx context.Context, made []*postedPairing) error {
	for _, w := range made {
		p.posted[w.ch.Game] = w
		for seat, wanted := range w.ch.Seats {
			c := p.contender(wanted.Player)
			c.met = merged([]protocol.PlayerID{w.ch.Seats[1-seat].Player}, c.met)
		}
	}
	return p.store(ctx, made)
}

// store stores pairings that may not be stored yet. After the first error it tries no
// others, since the store does not answer or has no room.
func (p *pairer) store(ctx context.Context, all []*postedPairing) error {
	several, within := errgroup.WithContext(ctx)
	several.SetLimit(postAtOnce)
	var mu sync.Mutex
	for _, w := range all {
		several.Go(func() error {
			if within.Err() != nil || !p.mayPost() {
				return within.Err()
			}
			if _, err := p.a.post(ctx, ladderPoolOf(w.ch.Terms), w.ch); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			w.stored = true
			return nil
		})
	}
	return several.Wait()
}

// pairable returns why a pairing can't become a game now, nil if it can: a player is
// not known here, or has begun another game meanwhile.
func (a *Arena) pairable(ch protocol.Challenge, now time.Time) *unfilled {
	for _, w := range ch.Seats {
		if a.presence.anyHello(w.Player, now) == nil {
			return &unfilled{by: w.Player, later: true}
		}
		games := 0
		for _, e := range a.index.runningOf(w.Player) {
			if e.Pool == ladderPoolOf(e.Terms) {
				games++
			}
		}
		if games >= a.cfg.Ladder.Games {
			return &unfilled{}
		}
	}
	return nil
}
