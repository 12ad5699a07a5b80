package web

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"sparring/arena/web/message"
	"sparring/game/catalog"
	"sparring/protocol"
)

// gatewayInstance is the instance of all people on all gateways: whichever gateway a
// person's page is connected to acts for the same instance, so that a seat does
// not change hands when a page reconnects elsewhere or an arena restarts.
const gatewayInstance protocol.InstanceID = "page"

const (
	// defaultGrace is how long a person stays present after the last tab went: a
	// reload takes a moment.
	defaultGrace = 5 * time.Second
	// forgetPerson is how long answers to the requests of a person without tabs are
	// remembered.
	forgetPerson = 2 * time.Minute
	// stayReady is how long a person is announced to the platform for a request.
	stayReady = 20 * time.Second
	// rememberedAnswers is how many answers of a person are remembered, and how many
	// requests of a socket that took effect at once.
	rememberedAnswers = 32
	// requestsAtOnce is how many requests of a person may wait for the platform, and how
	// many of a tab that are not the person's: they need no session, or open games.
	requestsAtOnce = 16
)

// Limits of a person's requests a second, and how many may come at once.
const (
	actsPerSecond, actsAtOnce             = 10, 30
	chatsPerSecond, chatsAtOnce           = 0.5, 5
	challengesPerSecond, challengesAtOnce = 0.5, 10
)

// participant is a person that is or was just here, with its client of the protocol,
// which its tabs share.
type participant struct {
	hub    *hub
	id     protocol.PlayerID
	client *protocol.Client
	nudge  chan struct{} // makes beat go round at once

	acts, chats, challenges *rate.Limiter

	mu        sync.Mutex
	name      string
	tabs      map[*tab]bool
	left      time.Time         // when the last tab went
	until     time.Time         // stays announced until then even without a game
	alone     time.Time         // stays announced until then even without a tab
	tokens    map[string]string // of own invitations, by hash
	results   []message.PastResult
	waiting   map[protocol.GameID]message.Waiting
	lines     []message.Notice // the latest chat messages of its games, see tellChat
	expects   bool             // has an open invitation or offer; see agreements.expecting
	seeking   *seeking         // nil unless it waits for a game of the ladder
	stopped   time.Time        // when it ceased to
	over      protocol.GameID  // the last game whose end it was told
	onLadder  *protocol.Client // the instance that is paired, see pulseLadder
	announced announced        // what onLadder has said
	beating   bool
	greeted   chan struct{} // closed once the platform knows this instance; nil before the first hello
	known     bool          // greeted is closed
	stale     bool          // the platform knows an older name
	calls     map[string]*call
	order     []string // of calls that have ended
	inFlight  int
}

// call is a request that is being answered or was.
type call struct {
	done   chan struct{}
	answer message.Answer
}

func newParticipant(h *hub, id protocol.PlayerID, name string) *participant {
	log := h.log.With().Str("player", string(id)).Logger()
	client, err := h.arena.Person(id, gatewayInstance, log)
	if err != nil { // the id is one that a session made
		log.Error().Err(err).Msg("no client for a person")
	}
	return &participant{
		hub: h, id: id, name: name, client: client, nudge: make(chan struct{}, 1),
		acts:       rate.NewLimiter(actsPerSecond, actsAtOnce),
		chats:      rate.NewLimiter(chatsPerSecond, chatsAtOnce),
		challenges: rate.NewLimiter(h.challengePace, challengesAtOnce),
		tabs:       make(map[*tab]bool), left: time.Now(), waiting: make(map[protocol.GameID]message.Waiting),
		greeted: make(chan struct{}), calls: make(map[string]*call),
	}
}

func (p *participant) displayName() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name
}

// rename notes a new display name, and tells the platform.
func (p *participant) rename(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name != name {
		p.name = name
		p.stale = true
	}
}

func (p *participant) hasTab() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tabs) > 0
}

func (p *participant) allTabs() []*tab {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.tabs))
}

// attach adds a tab, unless there are too many.
func (p *participant) attach(t *tab) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tabs) >= p.hub.limits.perPerson {
		return false
	}
	p.tabs[t] = true
	return true
}

func (p *participant) detach(t *tab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tabs, t)
	p.left = time.Now()
	defer p.tick() // without a page that waits it is not paired
}

// gone reports whether the person may be forgotten.
func (p *participant) gone(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tabs) == 0 && !p.beating && p.seeking == nil && p.inFlight == 0 && now.Sub(p.left) > forgetPerson
}

// tell sends a message to all tabs of the person.
func (p *participant) tell(message any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t := range p.tabs {
		t.send("", message)
	}
}

var tooManyAtOnce = message.Refused(protocol.RateLimited, "too many requests at once")

// once serves a request of the person and answers it on the socket that it came
// from. If it is a repetition, it gets the answer of the first.
func (p *participant) once(t *tab, r message.Request, handler handler) {
	p.mu.Lock()
	c, again := p.calls[r.ID]
	switch {
	case again:
	case p.inFlight >= requestsAtOnce:
		p.mu.Unlock()
		t.answer(r.ID, tooManyAtOnce)
		return
	default:
		c = &call{done: make(chan struct{})}
		p.calls[r.ID] = c
		p.inFlight++
	}
	p.mu.Unlock()
	// A handler may be stuck in a connection that hangs. The page gets an answer
	// nevertheless, and may ask again.
	var answered atomic.Bool
	answer := func(a message.Answer) {
		if answered.CompareAndSwap(false, true) {
			t.answer(r.ID, a)
		}
	}
	late := time.AfterFunc(requestWait, func() { answer(message.Refused(protocol.Unavailable, "the platform does not answer now")) })
	p.hub.beside(func(ctx context.Context) {
		defer late.Stop()
		if !again {
			c.answer = handler.serve(ctx, t, r)
			p.finish(r.ID, c, handler.known)
		}
		select {
		case <-c.done:
			answer(c.answer)
		case <-ctx.Done():
		}
	})
}

// finish ends a call. An answer that changed nothing is not remembered: the
// repetition may have more luck.
func (p *participant) finish(id string, c *call, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight--
	if known || c.answer.Code != "" && c.answer.Code != protocol.Accepted && c.answer.Code != protocol.Duplicate {
		delete(p.calls, id)
	} else if p.order = append(p.order, id); len(p.order) > rememberedAnswers {
		delete(p.calls, p.order[0])
		p.order = slices.Clone(p.order[1:])
	}
	close(c.done)
}

// wake announces the person to the platform and keeps the pulse of its seats, as
// long as that is needed.
func (p *participant) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beating || p.client == nil {
		return
	}
	p.beating = true
	p.hub.lobbies.refresh(p.id) // its games may have become known only now
	p.hub.beside(func(context.Context) { p.beat(p.hub.life) })
}

// ready wakes the person and waits until the platform knows it.
func (p *participant) ready(ctx context.Context) error {
	p.mu.Lock()
	if u := time.Now().Add(stayReady); u.After(p.until) {
		p.until = u
	}
	greeted := p.greeted
	p.mu.Unlock()
	p.wake()
	select {
	case <-greeted:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// expect keeps the person announced for a while without a tab: somebody has taken
// up its invitation.
func (p *participant) expect(d time.Duration) {
	p.mu.Lock()
	if u := time.Now().Add(d); u.After(p.alone) {
		p.alone = u
	}
	p.mu.Unlock()
	p.wake()
}

// expecting notes whether the person has an open invitation or offer, for which it
// is announced as long as it has a tab.
func (p *participant) expecting(open bool) {
	p.mu.Lock()
	p.expects = open
	p.mu.Unlock()
	if open {
		p.wake()
	}
}

// needed reports whether the platform has to know that the person is here. If not,
// beating ends.
func (p *participant) needed(playing int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.dropExpired(now)
	here := len(p.tabs) > 0 || now.Sub(p.left) < p.hub.grace
	if now.Before(p.alone) || p.announced.something ||
		here && (playing > 0 || len(p.waiting) > 0 || p.expects || p.seeking != nil || now.Before(p.until)) {
		return true
	}
	p.beating = false
	if p.known {
		p.known, p.greeted = false, make(chan struct{})
	}
	return false
}

// freeSlots is what a person reports: people are not asked by pools, so that it
// only has to be more than none.
const freeSlots = 100

// beat says hello and sends heartbeats, as long as the person is needed.
func (p *participant) beat(ctx context.Context) {
	log := p.hub.log.With().Str("player", string(p.id)).Logger()
	notices, err := p.client.Notices(p.notice)
	if err == nil {
		defer notices.Unsubscribe()
		var offers interface{ Unsubscribe() error }
		if offers, err = p.client.Offers(protocol.OwnPool(p.id), p.offered); err == nil {
			defer offers.Unsubscribe()
		}
	}
	if err != nil {
		log.Warn().Err(err).Msg("notices or offers can't be received")
	}
	every := p.hub.arena.Heartbeat()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		games := p.hub.arena.RunningOf(p.id)
		if ctx.Err() != nil || !p.needed(len(games)) {
			return
		}
		err := p.pulse(ctx, games, max(2*every, time.Second))
		if err == nil {
			err = p.pulseLadder(ctx, max(2*every, time.Second))
		}
		if err != nil && ctx.Err() == nil {
			log.Debug().Err(err).Msg("heartbeat not answered")
		}
		select {
		case <-ctx.Done():
		case <-p.nudge:
		case <-tick.C:
		}
	}
}

// pulse sends one heartbeat, or a hello if the platform does not know the instance.
func (p *participant) pulse(ctx context.Context, games []protocol.Event, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	p.mu.Lock()
	known := p.known && !p.stale
	p.mu.Unlock()
	if known {
		ids := make([]protocol.GameID, 0, len(games))
		for _, e := range games[:min(len(games), protocol.MaxPlaying)] {
			ids = append(ids, e.Game)
		}
		_, err := p.client.Alive(ctx, protocol.Alive{Free: freeSlots, Games: ids})
		if !errors.Is(err, &protocol.Error{Code: protocol.UnknownPeer}) {
			return err
		}
	}
	hello := protocol.Hello{Kind: protocol.Human, Display: p.displayName(), Slots: freeSlots}
	for _, g := range catalog.Games() {
		hello.Games = append(hello.Games, protocol.Capability{Game: g.Name})
	}
	if _, err := p.client.Hello(ctx, hello); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stale = p.name != hello.Display
	if !p.known {
		p.known = true
		close(p.greeted)
	}
	return nil
}

// notice passes on a notice of the platform.
func (p *participant) notice(n protocol.Notice) {
	switch n.Kind {
	case protocol.NoticeDeclined, protocol.NoticeExpired:
		p.forgetChallenge(n.Game)
	case protocol.NoticeReleased:
		p.released(n.Game)
	case protocol.NoticeChat:
		if readable(n.Text) { // a program may say anything
			p.tellChat(n)
		}
		return
	}
	p.tell(message.Notice{T: "notice", Notice: n})
}

// offered answers an offer of the platform. A person is challenged only by people
// with whom it has agreed on the game: gateways send no other challenge to people. It
// meets bots that it has not chosen on the ladder alone.
func (p *participant) offered(o protocol.Offer) protocol.OfferAnswer {
	if o.Kind == protocol.OfferMatch && o.Pool.Ladder() {
		return p.paired(o, time.Now())
	}
	if o.Kind == protocol.OfferSeat || o.Opponent != nil && o.Opponent.Player.Person() {
		return protocol.OfferAnswer{Answer: protocol.Accept, Player: p.id}
	}
	return protocol.OfferAnswer{Answer: protocol.Decline, Reason: protocol.DeclineOpponent, Text: "this person has not asked for a game"}
}

// event notes what happened in a game of the person.
func (p *participant) event(e protocol.Event) {
	p.forgetChallenge(e.Game)
	if e.Kind == protocol.EventStart {
		p.tell(message.Notice{T: "notice", Notice: protocol.Notice{Kind: noticeStarted, Game: e.Game}, Ladder: e.Pool.Ladder()})
		if live(e.Terms) && !p.soughtAfter(e.Time) { // nobody plays two of these at once
			p.stopSeeking(e.Game)
		}
		p.hub.beside(func(ctx context.Context) {
			if err := p.hub.people.played(ctx, p.id); err != nil && !errors.Is(err, errNobody) {
				p.hub.log.Debug().Err(err).Str("player", string(p.id)).Msg("game not noted")
			}
		})
	}
	p.ended(e)
	if e.Status != protocol.Finished && p.hasTab() {
		p.wake()
	}
	p.hub.lobbies.refresh(p.id)
}
