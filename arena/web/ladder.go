package web

import (
	"context"
	"errors"
	"math"
	"time"

	"sparring/arena/web/message"
	"sparring/game/clock"
	"sparring/protocol"
)

const (
	// stillHere is how long a person counts as present on the ladder after a page that
	// waits was heard last. The scripts of a page say something every second, or when
	// they are called: those of a frozen tab, of a phone in a pocket, do not.
	stillHere = 5 * time.Second
	// callAfter is how long a page is silent before it is called: a browser slows the
	// timers of a hidden tab down.
	callAfter = 2 * time.Second
	// keepSeeking is how long somebody is kept on the ladder without a page that waits.
	// Meanwhile nobody is paired with this person.
	keepSeeking = 2 * time.Minute
)

// seeking is the wish of a person to be paired on the ladder.
type seeking struct {
	terms  protocol.Terms
	since  time.Time
	heard  time.Time // when a page that waits was heard last
	called time.Time // when silent ones were called last
	// The person has accepted the game taken, whose first state may come until then.
	taken protocol.GameID
	until time.Time
	slot  *botGame // counts it among the games of its address
}

// announced is what the instance of a person on the ladder has said: nothing, or only
// Something whose answer has not come, or all of it.
type announced struct {
	something bool
	rules     string
	clock     clock.Spec
	name      string
}

// ladder puts the person on the ladder, or takes it off. Requests take effect in the
// order in which they came, so it must not wait for the platform: beat tells it.
func (h *hub) ladder(_ context.Context, t *tab, r message.Request) message.Answer {
	p, now := t.here, time.Now()
	if a, ok := allow(p.acts, "actions"); !ok {
		return a
	}
	if !r.On {
		if t.waits.Store(false); r.What != "page" || p.seekingNow() == nil {
			p.stopSeeking("")
		}
		return message.Answer{}
	}
	if r.Terms == nil {
		return message.Refused(protocol.Malformed, "terms: missing")
	}
	terms, ok := h.ladderTerms(*r.Terms)
	if !ok {
		return message.Refused(protocol.NotOffered, "there is no such ladder here")
	}
	for _, e := range h.arena.RunningOf(p.id) {
		if e.Pool.Ladder() && !p.hasEnded(e.Game) {
			return message.Answer{Code: protocol.Duplicate, Game: e.Game}
		}
	}
	if !r.Since.IsZero() && p.hasLeft(r.Since) {
		return message.Refused(protocol.Over, "this person has left the ladder meanwhile")
	}
	if s := p.seeks(now); s != nil && s.terms.Rules == terms.Rules && s.terms.Clock == terms.Clock {
		t.waits.Store(true)
		h.lobbies.refresh(p.id)
		p.wake()
		p.tick()
		return message.Answer{Code: protocol.Duplicate}
	}
	if a, ok := allow(p.challenges, "challenges"); !ok {
		return a
	}
	client, err := h.arena.Person(p.id, h.ladderInstance, h.log)
	if err != nil { // the id is one that a session made
		return message.Failed(err)
	}
	p.stopSeeking("") // for other terms, and its slot
	slot, a, ok := h.reserve(t)
	if !ok {
		return a
	}
	p.mu.Lock()
	p.onLadder = client
	p.seeking = &seeking{terms: terms, since: now.UTC(), heard: now, slot: slot}
	if !r.Since.IsZero() && r.Since.Before(now) {
		p.seeking.since = r.Since // by another gateway, or by this one before it was restarted
	}
	p.mu.Unlock()
	t.waits.Store(true)
	h.lobbies.refresh(p.id)
	p.wake()
	p.tick()
	return message.Answer{}
}

// ladderTerms returns the terms of the ladder's pool that a request names by its rules
// and clock.
func (h *hub) ladderTerms(want protocol.Terms) (protocol.Terms, bool) {
	for _, pool := range h.arena.LadderPools() {
		if pool.Terms.Rules == want.Rules && pool.Terms.Clock == want.Clock {
			return pool.Terms, true
		}
	}
	return protocol.Terms{}, false
}

// hasEnded reports whether the person has seen the end of a game, which the index of
// games may learn of a moment later.
func (p *participant) hasEnded(g protocol.GameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over == g
}

// sawEnd notes the end of a game that the person has been told of.
func (p *participant) sawEnd(g protocol.GameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = g
}

// hasLeft reports whether a wish of the person that began then has ended.
func (p *participant) hasLeft(since time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return since.Before(p.stopped)
}

// seeks returns the person's wish to be paired, nil if there is none any more.
func (p *participant) seeks(now time.Time) *seeking {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seeksLocked(now)
}

func (p *participant) seeksLocked(now time.Time) *seeking {
	if p.seeking != nil && now.Sub(p.seeking.heard) < p.hub.keepSeeking {
		return p.seeking
	}
	return nil
}

// hear notes when a page that waits for the ladder was heard last. Present reports
// whether one is there that was heard just now.
func (p *participant) hear(now time.Time) (s *seeking, present bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s = p.seeksLocked(now); s == nil {
		return nil, false
	}
	for t := range p.tabs {
		if !t.waits.Load() {
			continue
		}
		if heard := time.Unix(0, t.heard.Load()); heard.After(s.heard) {
			s.heard = heard
		}
		present = true
	}
	return s, present && now.Sub(s.heard) < p.hub.stillHere
}

// call asks the pages that wait to say something, if none was heard lately.
func (p *participant) call(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seeking == nil || now.Sub(p.seeking.heard) < p.hub.callAfter || now.Sub(p.seeking.called) < p.hub.callAfter {
		return
	}
	p.seeking.called = now
	for t := range p.tabs {
		if t.waits.Load() {
			t.send("call", message.Call{T: "call"})
		}
	}
}

// stopSeeking ends the person's wish to be paired, because it has left the ladder, or a
// game has begun.
func (p *participant) stopSeeking(begun protocol.GameID) {
	p.mu.Lock()
	s, now := p.seeking, time.Now()
	if p.seeking = nil; s != nil {
		p.stopped = now
	}
	for t := range p.tabs {
		t.waits.Store(false)
	}
	p.mu.Unlock()
	if s == nil {
		return
	}
	p.hub.bounds.keep(s.slot, begun, now)
	p.hub.lobbies.refresh(p.id)
	p.tick()
}

// soughtAfter reports whether the person's wish to be paired began after a time. The page may
// show a game, and the person go on the ladder, before the event of its start comes here.
func (p *participant) soughtAfter(at time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seeking != nil && p.seeking.since.After(at)
}

// forgetSeeking ends a wish whose pages have been silent for too long.
func (p *participant) forgetSeeking(now time.Time) {
	p.mu.Lock()
	old := p.seeking != nil && p.seeksLocked(now) == nil
	p.mu.Unlock()
	if old {
		p.stopSeeking("")
	}
}

// tick makes beat go round now.
func (p *participant) tick() {
	select {
	case p.nudge <- struct{}{}:
	default:
	}
}

// pulseLadder tells the platform whether the person can be paired now. On the ladder it
// is an instance of its own, which plays nothing: it says what the person waits for, and
// falls silent with the page that waits, while the person's games go on.
func (p *participant) pulseLadder(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	now := time.Now()
	s, present := p.hear(now)
	p.call(now)
	if !present {
		return p.leaveLadder(ctx)
	}
	p.mu.Lock()
	client, said, as := p.onLadder, p.announced, announced{true, s.terms.Rules, s.terms.Clock, p.name}
	p.mu.Unlock()
	if said == as {
		_, err := client.Alive(ctx, protocol.Alive{Free: 1})
		if !errors.Is(err, &protocol.Error{Code: protocol.UnknownPeer}) {
			return err
		}
	}
	p.announce(announced{something: true})
	rated, c := true, s.terms.Clock
	_, err := client.Hello(ctx, protocol.Hello{
		Kind: protocol.Human, Display: as.name, Slots: 1, Pools: []protocol.Pool{protocol.LadderPool},
		Games: []protocol.Capability{{Game: s.terms.Game, Rules: []string{s.terms.Rules}, Speeds: []clock.Speed{c.Speed()}}},
		Takes: &protocol.Takes{Rated: &rated, Fastest: &c, Slowest: &c},
	})
	if err == nil {
		p.announce(as)
	}
	return err
}

func (p *participant) announce(as announced) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announced = as
}

// leaveLadder tells the platform that the person can't be paired, if it believes so.
func (p *participant) leaveLadder(ctx context.Context) error {
	p.mu.Lock()
	client, there := p.onLadder, p.announced.something
	p.mu.Unlock()
	if !there {
		return nil
	}
	_, err := client.Leave(ctx)
	if err == nil || errors.Is(err, &protocol.Error{Code: protocol.UnknownPeer}) {
		p.announce(announced{})
		err = nil
	}
	return err
}

// paired answers the offer of a pairing: the person has asked for it, on this gateway or
// on another, and a page that waits is there. It answers at once, so that the opponent,
// if it gets no game, is paired again at once.
func (p *participant) paired(o protocol.Offer, now time.Time) protocol.OfferAnswer {
	busy, accept := protocol.OfferAnswer{Answer: protocol.Busy}, protocol.OfferAnswer{Answer: protocol.Accept, Player: p.id}
	if s, present := p.hear(now); present {
		p.mu.Lock()
		defer p.mu.Unlock()
		asked := p.seeking == s && s.terms.Rules == o.Terms.Rules && s.terms.Clock == o.Terms.Clock && o.Terms.Rated
		if another := s.taken != o.Game && now.Before(s.until); !asked || another {
			return busy
		}
		s.taken, s.until = o.Game, now.Add(time.Duration(o.HoldMS)*time.Millisecond)
		return accept
	}
	if p.hub.arena.OnLadder(p.id, o.Terms, p.hub.ladderInstance) {
		return accept
	}
	return busy
}

// released notes that a pairing which was accepted has come to nothing.
func (p *participant) released(g protocol.GameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seeking != nil && p.seeking.taken == g {
		p.seeking.taken, p.seeking.until = "", time.Time{}
	}
}

// seekingNow describes what the person waits for, nil if no page of it waits.
func (p *participant) seekingNow() *message.Seeking {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seeksLocked(now)
	for t := range p.tabs {
		if s != nil && t.waits.Load() {
			return &message.Seeking{Terms: s.terms, Since: s.since}
		}
	}
	return nil
}

// ladderFor describes the pools of the ladder as a tab's person sees them.
func (t *tab) ladderFor(common []message.LadderPool) []message.LadderPool {
	if t.here == nil || len(common) == 0 {
		return common
	}
	s := t.here.seekingNow()
	list := make([]message.LadderPool, len(common))
	for i, pool := range common {
		if s != nil && s.Terms.Rules == pool.Terms.Rules && s.Terms.Clock == pool.Terms.Clock {
			pool.Here = max(0, pool.Here-1)
		}
		if st, ok := t.hub.arena.Rating(pool.Terms.Game, pool.Terms.Clock.Speed(), t.ID); ok {
			pool.Rating = &message.Rating{Rating: rounded(st.Rating.Rating), Error: rounded(st.Error())}
		}
		list[i] = pool
	}
	return list
}

func rounded(x float64) int { return int(math.Round(x)) }

// commonLadder returns the pools of the ladder as everybody sees them.
func (h *hub) commonLadder() (list []message.LadderPool) {
	for _, pool := range h.arena.LadderPools() {
		list = append(list, message.LadderPool{Terms: pool.Terms, Bots: pool.Bots, Here: pool.Players})
	}
	return list
}

const (
	// ratedWithin is how long the ratings of a finished game are waited for.
	ratedWithin = 30 * time.Second
	ratedFirst  = 100 * time.Millisecond // the first pause, which doubles each time
)

// loadRatings shows how the finished game has changed the ratings, once it is rated.
func (x *table) loadRatings(ctx context.Context, s protocol.Snapshot) {
	pause := ratedFirst
	for end := time.Now().Add(ratedWithin); time.Now().Before(end) && ctx.Err() == nil; pause *= 2 {
		sleep(ctx, pause)
		changes, known, err := x.hub.arena.RatingChanges(ctx, s)
		if err != nil {
			x.hub.log.Debug().Err(err).Str("game", string(s.Game)).Msg("ratings not read")
			continue
		}
		if !known {
			continue
		}
		var list []*message.RatingChange
		for _, c := range changes {
			if c == nil {
				list = append(list, nil)
				continue
			}
			list = append(list, &message.RatingChange{Before: rounded(c.Before.Rating), Rating: message.Rating{Rating: rounded(c.After.Rating.Rating), Error: rounded(c.After.Error())}})
		}
		x.mu.Lock()
		x.ratings = list
		x.show()
		x.mu.Unlock()
		return
	}
}
