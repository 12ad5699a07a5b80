package web

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/arena"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/protocol"
)

// table is a game that at least one socket of this gateway follows. It makes
// each state into a message once for all that see the same.
type table struct {
	hub *hub
	id  protocol.GameID

	mu      sync.Mutex
	tabs    map[*tab]bool
	feeds   map[protocol.PlayerID]*nats.Subscription // states of the players that are here
	latest  *update                                  // has been pushed last
	next    *update                                  // latest, while it waits for the goroutine in work
	working bool

	shown   *update       // nil until there is a game
	views   positionViews // of shown
	before  [2]int        // moves before the last decision of each seat in shown; -1 if it has made none
	after   continuations
	rated   bool // ratings are known, or looked for
	ratings []*message.RatingChange
	seen    int // watchers in the last message
	offers  int // open offers in the last message
}

// update is the state of a game, from its log or as its referee sent it.
type update struct {
	protocol.Snapshot
	seq     uint64
	unkept  uint64    // as in protocol.State
	at      time.Time // when the clocks were as the snapshot says, on this machine's clock
	receipt *protocol.Receipt
	event   bool // from the log
}

// ofEvent returns the update of a log entry that has just been written.
func ofEvent(e protocol.Event, seq uint64) *update {
	return &update{Snapshot: e.Snapshot, seq: seq, at: time.Now(), receipt: e.Receipt, event: true}
}

// replaces reports whether u is news after old. A referee sends the state of the
// same entry again when a stopped clock resumes.
func (u *update) replaces(old *update) bool {
	if old == nil || u.order() != old.order() {
		return old == nil || old.order().Before(u.order())
	}
	sameHolder := func(x, y protocol.Holder) bool { return x.Instance == y.Instance && x.Epoch == y.Epoch }
	same := u.Key == old.Key && len(u.Moves) == len(old.Moves) && u.Status == old.Status && u.Outcome == old.Outcome &&
		(u.Clocks.Running == nil) == (old.Clocks.Running == nil) && sameHolder(u.Holders[0], old.Holders[0]) && sameHolder(u.Holders[1], old.Holders[1]) &&
		(u.DrawBy == nil) == (old.DrawBy == nil) && (u.TakebackBy == nil) == (old.TakebackBy == nil)
	return !u.event && !same
}

func (u *update) order() protocol.StateOrder {
	return protocol.StateOrder{Seq: u.seq, Unkept: u.unkept}
}

// follow returns the table of a game, with the socket added to it.
func (h *hub) follow(t *tab, g protocol.GameID) *table {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.tables[g]
	if x == nil {
		x = &table{hub: h, id: g, tabs: make(map[*tab]bool), feeds: make(map[protocol.PlayerID]*nats.Subscription)}
		h.tables[g] = x
	}
	x.mu.Lock()
	x.tabs[t] = true
	x.mu.Unlock()
	return x
}

// remove ends that a socket follows the game.
func (x *table) remove(t *tab) {
	h := x.hub
	h.mu.Lock()
	x.mu.Lock()
	delete(x.tabs, t)
	if len(x.tabs) == 0 && h.tables[x.id] == x {
		delete(h.tables, x.id)
	}
	var unused []*nats.Subscription
	for player, sub := range x.feeds {
		if !x.hasTabOf(player) {
			delete(x.feeds, player)
			unused = append(unused, sub)
		}
	}
	x.mu.Unlock()
	h.mu.Unlock()
	for _, sub := range unused {
		sub.Unsubscribe()
	}
}

func (x *table) hasTabOf(player protocol.PlayerID) bool {
	for t := range x.tabs {
		if t.ID == player {
			return true
		}
	}
	return false
}

// load shows the game to a socket that has just begun to follow it.
func (x *table) load(ctx context.Context, t *tab) message.Answer {
	x.mu.Lock()
	shown := x.shown
	x.mu.Unlock()
	if shown == nil {
		if a := x.find(ctx, t); a.Code != "" {
			return a
		}
	}
	x.feed(t)
	x.mu.Lock()
	if x.shown != nil && x.tabs[t] {
		x.sendTo(t, nil)
	}
	x.mu.Unlock()
	if t.here != nil {
		t.here.tellChatAgain(t, x.id)
	}
	return message.Answer{Game: x.id}
}

// findFor is how long a socket waits for a game that has been agreed on and begins
// in a moment.
const findFor = 2 * time.Second

// find reads the game. The answer refuses if there is none.
func (x *table) find(ctx context.Context, t *tab) message.Answer {
	x.feed(t)
	e, seq, err := x.hub.arena.Game(ctx, x.id)
	if errors.Is(err, arena.ErrNoGame) && (t.here == nil || !t.here.waitsFor(x.id)) {
		for end := time.Now().Add(findFor); time.Now().Before(end) && ctx.Err() == nil; {
			x.mu.Lock()
			found := x.shown != nil
			x.mu.Unlock()
			if found {
				return message.Answer{}
			}
			if t.here != nil && t.here.waitsFor(x.id) {
				break // a gateway that was just started has learnt of the challenge
			}
			sleep(ctx, 20*time.Millisecond)
		}
		e, seq, err = x.hub.arena.Game(ctx, x.id)
	}
	switch {
	case errors.Is(err, arena.ErrNoGame) && t.here != nil && t.here.waitsFor(x.id):
		return message.Answer{} // its states come when it begins
	case err != nil:
		return notRead(err)
	}
	u := ofEvent(e, seq)
	if e.Clocks.Running != nil {
		u.at = e.RunningSince
	}
	if e.Status == protocol.Finished {
		x.loadAfter(ctx) // before the game is shown: a page goes on to a game that comes later
	}
	x.push(u)
	return message.Answer{}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// loadAfter reads how the finished game was continued.
func (x *table) loadAfter(ctx context.Context) {
	c, _, err := readEntry[continuations](ctx, x.hub.agreements, "after."+string(x.id))
	if err != nil {
		x.hub.log.Debug().Err(err).Str("game", string(x.id)).Msg("continuations not read")
		return
	}
	x.hub.continued(x.id, c)
}

// continued shows how a finished game is continued.
func (h *hub) continued(g protocol.GameID, c continuations) {
	h.mu.Lock()
	x := h.tables[g]
	h.mu.Unlock()
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.after = c
	if x.shown != nil {
		x.show()
	}
}

// feed subscribes to the states that the referee sends to a player.
func (x *table) feed(t *tab) {
	if t.here == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.shown != nil && x.shown.Status == protocol.Finished || x.feeds[t.ID] != nil || !x.tabs[t] ||
		x.shown != nil && !x.shown.plays(t.ID) {
		return
	}
	here := t.here
	sub, err := here.client.Game(x.id, func(st protocol.State) {
		if st.Status == protocol.Finished {
			here.sawEnd(st.Game)
		}
		x.push(&update{Snapshot: st.Snapshot, seq: st.Seq, unkept: st.Unkept, at: time.Now(), receipt: st.Receipt})
	})
	if err != nil {
		x.hub.log.Warn().Err(err).Str("game", string(x.id)).Msg("states of the game can't be received; its log is followed")
		return
	}
	x.feeds[t.ID] = sub
}

// plays reports whether a player has a seat.
func (u *update) plays(p protocol.PlayerID) bool { _, ok := seatOf(&u.Snapshot, p); return ok }

func seatOf(s *protocol.Snapshot, p protocol.PlayerID) (game.Seat, bool) {
	i := slices.IndexFunc(s.Holders[:], func(h protocol.Holder) bool { return h.Player == p })
	return game.Seat(max(i, 0)), i >= 0 && p != ""
}

// push takes a new state. It does not block; of several states that come faster
// than they can be shown, the latest is.
func (x *table) push(u *update) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !u.replaces(x.latest) {
		return
	}
	x.latest, x.next = u, u
	if !x.working {
		x.working = true
		x.hub.beside(x.work)
	}
}

// work shows the states that wait.
func (x *table) work(context.Context) {
	x.mu.Lock()
	for x.next != nil {
		u := x.next
		x.next = nil
		shown, views, before := x.shown, x.views, x.before
		x.mu.Unlock()
		if shown == nil || shown.Key != u.Key || len(shown.Moves) != len(u.Moves) {
			var err error
			if views, before, err = encodePosition(u.Terms, u.Moves); err != nil {
				x.hub.log.Error().Err(err).Str("game", string(x.id)).Msg("position can't be shown")
			}
		}
		x.mu.Lock()
		x.shown, x.views, x.before = u, views, before
		if u.Status == protocol.Finished && u.Terms.Rated && !x.rated {
			x.rated = true
			x.hub.spawn(func(ctx context.Context) { x.loadRatings(ctx, u.Snapshot) })
		}
		x.show()
	}
	x.working = false
	x.mu.Unlock()
}

// snapshot returns the latest known state of a game, from the table if a socket
// follows it.
func (h *hub) snapshot(ctx context.Context, g protocol.GameID) (protocol.Snapshot, error) {
	h.mu.Lock()
	x := h.tables[g]
	h.mu.Unlock()
	e, seq, err := h.arena.Game(ctx, g)
	if x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		if u := x.latest; u != nil && (err != nil || u.seq >= seq) {
			return u.Snapshot, nil
		}
	}
	return e.Snapshot, err
}

// notRead answers a request about a game that could not be read.
func notRead(err error) message.Answer {
	if errors.Is(err, arena.ErrNoGame) {
		return message.Refused(protocol.NoGame, "no such game")
	}
	return message.Refused(protocol.Unavailable, "the game can't be read now")
}

func (h *hub) open(_ context.Context, t *tab, r message.Request) message.Answer {
	if r.Game == "" {
		return message.Refused(protocol.Malformed, "game: missing")
	}
	t.mu.Lock()
	x, full := t.games[r.Game], len(t.games) >= h.limits.openGames
	t.mu.Unlock()
	if x == nil && full {
		return message.Refused(protocol.RateLimited, "too many games are open in this tab")
	}
	opens := x == nil
	if opens {
		x = h.follow(t, r.Game)
		t.mu.Lock()
		t.games[r.Game] = x
		t.mu.Unlock()
		h.lobbies.refresh(t.ID)
	}
	served := t.beside(r.ID, func(ctx context.Context) message.Answer {
		a := x.load(ctx, t)
		if a.Code != "" {
			t.unfollow(r.Game)
		}
		return a
	})
	if opens && !served {
		t.unfollow(r.Game)
	}
	return message.Answer{T: noAnswer}
}

func (h *hub) close(_ context.Context, t *tab, r message.Request) message.Answer {
	t.unfollow(r.Game)
	h.lobbies.refresh(t.ID)
	return message.Answer{}
}

// follows reports whether the tab follows a game.
func (t *tab) follows(g protocol.GameID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.games[g] != nil
}

func (t *tab) unfollow(g protocol.GameID) {
	t.mu.Lock()
	x := t.games[g]
	delete(t.games, g)
	t.mu.Unlock()
	if x != nil {
		x.remove(t)
	}
}
