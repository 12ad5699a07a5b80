package web

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"sparring/arena"
	"sparring/arena/glicko"
	"sparring/arena/web/message"
	"sparring/protocol"
)

// hub connects the sockets of people with the platform. Locks are taken in this
// order: hub, participant, table, tab. Nothing is locked while an outbox's lock or busy
// is held.
type hub struct {
	arena      *arena.Arena
	people     *people
	agreements *agreements
	limits     socketLimits
	// ladderInstance is the instance of this gateway's people who wait on the ladder.
	ladderInstance                    protocol.InstanceID
	stillHere, callAfter, keepSeeking time.Duration
	// challengePace is how many challenges and invitations a person may send a second.
	challengePace rate.Limit
	grace         time.Duration // a person stays on its seats for so long without a tab
	metrics       *metrics
	version       func() string // of the page's files
	log           zerolog.Logger

	requests    map[string]handler
	compressing chan struct{} // see compressors
	lobbies     *lobbies
	levels      *restingLevels
	analyses    *analyses // set by New
	bounds      *bounds   // set by New

	changes *limiter[protocol.PlayerID]         // of accounts; set by New
	ratings map[protocol.PlayerID]glicko.Rating // of the levels' players; set by New

	life context.Context // ends when the gateway stops
	stop context.CancelFunc
	busy sync.Mutex     // held while something is added to wg
	wg   sync.WaitGroup // of what runs beside the sockets

	mu        sync.Mutex
	tabs      map[*tab]bool
	addresses map[string]*address
	here      map[protocol.PlayerID]*participant
	tables    map[protocol.GameID]*table
}

// address is one from which there are sockets.
type address struct {
	sockets     int
	compressing chan struct{} // see compressors
}

// handler serves one kind of request.
type handler struct {
	serve func(ctx context.Context, t *tab, r message.Request) message.Answer
	// Anyone: without a session, too. Such requests change nothing.
	anyone bool
	// AtOnce: in the order of arrival, before the next request is read; it must
	// not wait for the platform. A repetition on the same socket has no effect. Others
	// run beside each other, and a repetition gets the answer of the first.
	atOnce bool
	// Known: the platform knows a repetition by its id, so that the answer need not
	// be remembered here.
	known bool
	// Pace: the kind under which an address may send only so many; "" for none.
	pace string
}

// requestWait bounds how long a request waits for the platform.
const requestWait = 10 * time.Second

func newHub(a *arena.Arena, people *people, agreed *agreements, metrics *metrics, version func() string, log zerolog.Logger) *hub {
	h := &hub{
		arena: a, people: people, agreements: agreed, metrics: metrics, version: version, log: log,
		limits: defaultSocketLimits, ladderInstance: protocol.InstanceID("ladder-" + protocol.NewID()),
		stillHere: stillHere, callAfter: callAfter, keepSeeking: keepSeeking, challengePace: challengesPerSecond, grace: defaultGrace,
		compressing: make(chan struct{}, compressors),
		tabs:        make(map[*tab]bool), addresses: make(map[string]*address),
		here: make(map[protocol.PlayerID]*participant), tables: make(map[protocol.GameID]*table),
	}
	h.life, h.stop = context.WithCancel(context.Background())
	h.lobbies, h.levels = newLobbies(h), newRestingLevels()
	people.onChange(h.changed)
	agreed.after, agreed.invited, agreed.waiting = h.continued, h.lobbies.refresh, h.learnWaiting
	h.requests = map[string]handler{
		"ping":     {serve: h.ping, anyone: true, atOnce: true},
		"lobby":    {serve: h.lobby, anyone: true, atOnce: true},
		"open":     {serve: h.open, anyone: true, atOnce: true, pace: paceLookups},
		"close":    {serve: h.close, anyone: true, atOnce: true},
		"play":     {serve: h.play, pace: paceChallenges},
		"withdraw": {serve: h.withdraw, pace: paceActs},
		"invite":   {serve: h.invite, pace: paceChallenges},
		"uninvite": {serve: h.uninvite, pace: paceActs},
		"invited":  {serve: h.invited, anyone: true, pace: paceLookups},
		"join":     {serve: h.join, pace: paceChallenges},
		"ladder":   {serve: h.ladder, atOnce: true, pace: paceActs},
		"rematch":  {serve: h.rematch, pace: paceChallenges},
		"move":     {serve: h.move, known: true, pace: paceActs},
		"resign":   {serve: h.resign, known: true, pace: paceActs},
		"draw":     {serve: h.draw, known: true, pace: paceActs},
		"takeback": {serve: h.takeback, pace: paceActs},
		"chat":     {serve: h.chat, pace: paceChats},
		"name":     {serve: h.name, pace: paceActs},
		"why":      {serve: h.why, anyone: true, pace: paceLookups},
	}
	return h
}

// run serves until ctx ends. Then it closes all sockets and waits for what it has
// started.
func (h *hub) run(ctx context.Context) {
	defer h.wg.Wait()
	defer func() {
		h.busy.Lock()
		defer h.busy.Unlock()
		h.stop()
	}()
	defer h.arena.Follow(h.event)()
	h.wg.Go(func() { h.lobbies.run(h.life) })
	h.wg.Go(func() { h.agreements.run(h.life, h.arena.Conn()) })
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for n := 0; ; n++ {
		select {
		case now := <-sweep.C:
			h.people.sweep(now)
		case <-tick.C:
			h.look(time.Now())
			if n%3 == 0 {
				h.countWatchers()
			}
		case <-ctx.Done():
			h.closeSockets()
			return
		}
	}
}

// closeSockets tells all pages that the server stops, so that they look for
// another one at once.
func (h *hub) closeSockets() {
	h.mu.Lock()
	var all sync.WaitGroup
	for t := range h.tabs {
		all.Go(func() { t.conn.Close(websocket.StatusGoingAway, "the server stops") })
	}
	h.mu.Unlock()
	all.Wait()
}

// connect notes a socket, so that it is closed when the gateway stops.
func (h *hub) connect(t *tab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tabs[t] = true
}

func (h *hub) disconnect(t *tab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tabs, t)
}

// errStops is the error of a socket that comes while the gateway stops.
var errStops = errors.New("the server stops")

// admit counts a socket from an address. The error is tooMany if there are too many, or errStops.
func (h *hub) admit(name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	of := h.addresses[name]
	if of == nil {
		of = &address{compressing: make(chan struct{}, h.limits.compressed)}
	}
	switch {
	case h.life.Err() != nil:
		return errStops
	case of.sockets >= h.limits.perAddress:
		return tooMany{socketsAgain}
	}
	of.sockets++
	h.addresses[name] = of
	return nil
}

func (h *hub) release(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if of := h.addresses[name]; of.sockets > 1 {
		of.sockets--
	} else {
		delete(h.addresses, name)
	}
}

// participant returns the person with an id, which it adds if it is new.
func (h *hub) participant(id protocol.PlayerID, name string) *participant {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.participantLocked(id, name)
}

func (h *hub) participantLocked(id protocol.PlayerID, name string) *participant {
	p := h.here[id]
	if p == nil {
		p = newParticipant(h, id, name)
		h.here[id] = p
	}
	return p
}

// attach adds a socket to its person; nil if the person has too many.
func (h *hub) attach(t *tab) *participant {
	h.mu.Lock()
	first := h.here[t.ID] == nil
	p := h.participantLocked(t.ID, t.Name)
	ok := p.attach(t)
	h.mu.Unlock()
	if !ok {
		return nil
	}
	if first {
		h.beside(p.loadResults)
		p.learnWaiting(h.agreements.waitingOf(p.id)) // what is stored later is told
	}
	if waits := p.waits(); len(waits) > 0 || len(h.arena.RunningOf(p.id)) > 0 {
		h.adopt(t, waits)
		p.wake()
	}
	return p
}

// changed takes over what a person, or a session elsewhere, has changed in its
// account. Sockets of sessions that have ended are closed.
func (h *hub) changed(id protocol.PlayerID, a *account) {
	h.mu.Lock()
	p := h.here[id]
	h.mu.Unlock()
	if a == nil {
		h.beside(func(ctx context.Context) { h.agreements.erase(ctx, id) })
	}
	if p == nil {
		return
	}
	if a != nil {
		p.rename(a.Name)
	}
	for _, t := range p.allTabs() {
		if a == nil || a.session(t.session, time.Now()) == nil {
			h.beside(func(context.Context) { t.conn.Close(statusSessionEnded, "the session has ended") })
		}
	}
}

// look drops people who have not been here for long, counts the others, and wakes
// those who have invited somebody or have games: the platform may have learnt of them after their pages came.
func (h *hub) look(now time.Time) {
	h.mu.Lock()
	var here []*participant
	for id, p := range h.here {
		if p.gone(now) {
			delete(h.here, id)
		} else if p.hasTab() {
			here = append(here, p)
		}
	}
	all := slices.Collect(maps.Values(h.here))
	h.metrics.people.Set(float64(len(here)))
	h.metrics.sockets.Set(float64(len(h.tabs)))
	h.mu.Unlock()
	for _, p := range all {
		p.forgetSeeking(now)
	}
	expecting := h.agreements.expecting(now)
	for _, p := range here {
		p.expecting(expecting[p.id])
		if len(h.arena.RunningOf(p.id)) > 0 {
			p.wake()
		}
	}
}

// countWatchers shows the players of each game how many watch it.
func (h *hub) countWatchers() {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.tables))
	h.mu.Unlock()
	for _, x := range all {
		x.showWatchers()
	}
}

// event passes on an entry of a game's log. It must not block.
func (h *hub) event(e protocol.Event, seq uint64) {
	h.mu.Lock()
	t := h.tables[e.Game]
	var players []*participant
	for _, holder := range e.Holders {
		if p := h.here[holder.Player]; p != nil {
			players = append(players, p)
		}
	}
	h.mu.Unlock()
	if e.Status == protocol.Finished {
		h.bounds.ended(e.Game)
	}
	if t != nil {
		t.push(ofEvent(e, seq))
	}
	for _, p := range players {
		p.event(e)
	}
}

// serve answers one request of a page.
func (h *hub) serve(t *tab, data []byte) {
	var r message.Request
	if err := json.Unmarshal(data, &r); err != nil {
		t.answer("", message.Refused(protocol.Malformed, "not a request"))
		return
	}
	if protocol.CheckID("id", r.ID) != nil {
		t.answer("", message.Refused(protocol.Malformed, "id: want 1 to 32 of a-z 0-9 _ -"))
		return
	}
	if err := r.Check(); err != nil {
		t.answer(r.ID, message.Refused(protocol.Malformed, err.Error()))
		return
	}
	handler, ok := h.requests[r.T]
	switch {
	case !ok:
		t.answer(r.ID, message.Refused(protocol.UnknownVerb, "no such request"))
	case t.here == nil && !handler.anyone:
		t.answer(r.ID, message.Refused(protocol.Denied, "without a session a page can only watch"))
	case handler.atOnce && t.again(r):
	case !h.paced(t, r.ID, handler.pace):
	case handler.atOnce:
		if a := handler.serve(h.life, t, r); a.T != noAnswer {
			t.answer(r.ID, a)
		}
	case t.here == nil:
		t.beside(r.ID, func(ctx context.Context) message.Answer { return handler.serve(ctx, t, r) })
	default:
		t.here.once(t, r, handler)
	}
}

// paced refuses a request of which the address has sent too many.
func (h *hub) paced(t *tab, id, kind string) bool {
	a, ok := h.bounds.pace(kind, t.address)
	if !ok {
		t.answer(id, a)
	}
	return ok
}

// noAnswer is T of the answer of a handler that has answered by itself.
const noAnswer = "none"

// beside runs f, which waits for the platform, in a goroutine that the gateway
// waits for when it stops.
func (h *hub) beside(f func(context.Context)) {
	h.spawn(func(life context.Context) {
		ctx, cancel := context.WithTimeout(life, requestWait)
		defer cancel()
		f(ctx)
	})
}

// spawn is beside for what may take long; its context ends when the gateway stops.
// It returns false if that has happened already.
func (h *hub) spawn(f func(context.Context)) bool {
	h.busy.Lock()
	defer h.busy.Unlock()
	if h.life.Err() != nil {
		return false
	}
	h.wg.Go(func() { f(h.life) })
	return true
}

func (h *hub) ping(_ context.Context, t *tab, r message.Request) message.Answer {
	t.send("", message.Pong{T: "pong", N: r.N, ServerTime: time.Now().UTC()})
	return message.Answer{T: noAnswer}
}
