package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"sparring/arena"
	"sparring/arena/glicko"
	"sparring/arena/web/message"
	"sparring/protocol"
)

// challengeFor is how long a challenge of a person waits at most.
const challengeFor = 10 * time.Minute

// noticeStarted tells a person's tabs that a game of the person has begun.
const noticeStarted protocol.NoticeKind = "started"

// lobbies sends the lobby to the tabs that follow it, when it has changed.
type lobbies struct {
	hub *hub

	mu        sync.Mutex
	followers map[*tab][]byte            // with the lobby that each was sent last
	changed   map[protocol.PlayerID]bool // whose lobby is sent soon
	wake      chan struct{}
}

// lobbyEvery is how often the lobby is looked at for changes.
const lobbyEvery = time.Second

func newLobbies(h *hub) *lobbies {
	return &lobbies{hub: h, followers: make(map[*tab][]byte), changed: make(map[protocol.PlayerID]bool), wake: make(chan struct{}, 1)}
}

// refresh has the lobby of a person sent soon. Visitors without a session share theirs,
// which is looked at every second: what one of them does changes it for nobody.
func (l *lobbies) refresh(id protocol.PlayerID) {
	if id == "" {
		return
	}
	l.mu.Lock()
	l.changed[id] = true
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run sends changes until ctx ends.
func (l *lobbies) run(ctx context.Context) {
	tick := time.NewTicker(lobbyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.send(func(*tab) bool { return true })
		case <-l.wake:
			l.mu.Lock()
			changed := l.changed
			l.changed = make(map[protocol.PlayerID]bool)
			l.mu.Unlock()
			l.send(func(t *tab) bool { return changed[t.ID] })
			for id := range changed {
				l.hub.tellTurns(id)
			}
		}
	}
}

// send sends the lobby to the followers that are meant and do not have it yet.
func (l *lobbies) send(meant func(*tab) bool) {
	l.mu.Lock()
	var tabs []*tab
	for t := range l.followers {
		if meant(t) {
			tabs = append(tabs, t)
		}
	}
	l.mu.Unlock()
	if len(tabs) == 0 {
		return
	}
	common := l.hub.commonLobby()
	for _, t := range tabs {
		l.sendTo(t, common)
	}
}

func (l *lobbies) sendTo(t *tab, common message.Lobby) {
	m := common
	if t.here != nil {
		m.Mine = l.hub.mine(t.here.id)
		m.Waiting = append(t.here.waits(), t.here.invites(t.base)...)
		m.Results = t.here.pastResults()
		m.Ladder = t.ladderFor(common.Ladder)
	}
	data, err := json.Marshal(m)
	if err != nil {
		l.hub.log.Error().Err(err).Str("of", "lobby").Msg("message not made")
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if sent, ok := l.followers[t]; ok && !bytes.Equal(sent, data) {
		l.followers[t] = data
		t.put("lobby", data)
	}
}

func (h *hub) lobby(_ context.Context, t *tab, r message.Request) message.Answer {
	if !r.On {
		h.unfollowLobby(t)
		return message.Answer{}
	}
	h.lobbies.mu.Lock()
	h.lobbies.followers[t] = nil
	h.lobbies.mu.Unlock()
	h.lobbies.sendTo(t, h.commonLobby())
	return message.Answer{}
}

func (h *hub) unfollowLobby(t *tab) {
	h.lobbies.mu.Lock()
	defer h.lobbies.mu.Unlock()
	delete(h.lobbies.followers, t)
}

// commonLobby returns what everybody sees.
func (h *hub) commonLobby() message.Lobby {
	all, resting := h.levels.with(h.arena.Instances(), time.Now())
	return message.Lobby{T: "lobby", Opponents: opponents(all, resting, h.ratings), Running: h.arena.CountRunning(), Ladder: h.commonLadder()}
}

// opponents returns the bots that take people, an entry for each game, by level.
// Resting are those whose processes are silent. Ratings are those of the levels' players.
func opponents(instances []arena.Instance, resting map[protocol.PlayerID]bool, ratings map[protocol.PlayerID]glicko.Rating) []message.Opponent {
	list := []message.Opponent{}
	levels := levelsOf(instances)
	for _, in := range instances {
		if !takesPeople(in) {
			continue
		}
		for _, c := range in.Hello.Games {
			o := message.Opponent{Player: in.Player, Display: in.Hello.Display, Game: c.Game, Rules: c.Rules, Busy: in.Free == 0, Resting: resting[in.Player], Rated: true, Casual: true}
			for _, s := range c.Speeds {
				o.Speeds = append(o.Speeds, string(s))
			}
			if c.Engine != nil {
				o.Level, o.Rating = levels.of(in.Player, c), int(math.Round(ratings[in.Player].Rating))
			}
			if t := in.Hello.Takes; t != nil && t.Rated != nil {
				o.Rated, o.Casual = *t.Rated, !*t.Rated
			}
			same := func(x message.Opponent) bool { return x.Player == o.Player && x.Game == o.Game }
			if i := slices.IndexFunc(list, same); i >= 0 {
				list[i].Busy = list[i].Busy && o.Busy
				continue
			}
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(x, y message.Opponent) int {
		return cmp.Or(cmp.Compare(x.Game, y.Game), cmp.Compare(x.Level, y.Level), cmp.Compare(x.Player, y.Player))
	})
	return list
}

// levels are the players that take people: among them may be a level's own, which stands for it.
type levels map[protocol.PlayerID]bool

func levelsOf(instances []arena.Instance) levels {
	present := levels{}
	for _, in := range instances {
		if takesPeople(in) {
			present[in.Player] = true
		}
	}
	return present
}

// of returns the level at which a player plays a game; 0: none. Anybody may claim one, and
// so stand on everybody's start page where the platform has no player for it.
func (l levels) of(p protocol.PlayerID, c protocol.Capability) int {
	if c.Engine == nil {
		return 0
	}
	if own := protocol.LevelPlayer(c.Game, c.Engine.Level); own != p && l[own] {
		return 0
	}
	return c.Engine.Level
}

// takesPeople reports whether an instance plays against people.
func takesPeople(in arena.Instance) bool {
	t := in.Hello.Takes
	return in.Hello.Kind == protocol.Bot && (t == nil || len(t.Kinds) == 0 || slices.Contains(t.Kinds, protocol.Human))
}

// takes reports whether an instance would accept a game on these terms against a
// person, as far as its hello says.
func takes(in arena.Instance, t protocol.Terms) bool {
	return takesPeople(in) && in.Hello.Declines(t, protocol.Opponent{Kind: protocol.Human}) == ""
}

// mine returns the running games of a player, those with its turn first, then by
// the time left now; those without a limit last.
func (h *hub) mine(id protocol.PlayerID) []message.Mine {
	var list []message.Mine
	for _, e := range h.arena.RunningOf(id) {
		seat, _ := seatOf(&e.Snapshot, id)
		other := e.Holders[seat.Other()]
		m := message.Mine{
			Game: e.Game, Rules: e.Terms.Rules, Opponent: cmp.Or(other.Display, string(other.Player)), Level: other.Player.IsLevel(), Clock: e.Terms.Clock.String(),
			Ply: len(e.Moves), MyTurn: e.Turn == seat, Since: e.Time,
		}
		if left, limited := e.Terms.Clock.Budget(e.Clocks.Seats[seat].State()); limited {
			m.LeftMS = left.Milliseconds()
			if m.MyTurn {
				m.LeftMS -= e.Clocks.UsedMS
			}
		}
		if run := e.Clocks.Running; run != nil {
			m.Since, m.Running = e.RunningSince, *run == seat
		}
		list = append(list, m)
	}
	slices.SortStableFunc(list, byUrgency(time.Now()))
	return list
}

// byUrgency compares the games of a player as mine lists them.
func byUrgency(now time.Time) func(x, y message.Mine) int {
	turn := func(m message.Mine) int {
		if m.MyTurn {
			return 0
		}
		return 1
	}
	left := func(m message.Mine) time.Duration {
		switch d := time.Duration(m.LeftMS) * time.Millisecond; {
		case m.LeftMS == 0: // no limit
			return math.MaxInt64
		case m.Running:
			return d - now.Sub(m.Since)
		default:
			return d
		}
	}
	return func(x, y message.Mine) int { return cmp.Or(turn(x)-turn(y), cmp.Compare(left(x), left(y))) }
}

// tellTurns tells the tabs of a person of the games that wait for it, if that has
// changed. Only [lobbies.run] calls it.
func (h *hub) tellTurns(id protocol.PlayerID) {
	h.mu.Lock()
	p := h.here[id]
	h.mu.Unlock()
	if p == nil {
		return
	}
	waiting := slices.DeleteFunc(h.mine(id), func(m message.Mine) bool { return !m.MyTurn })
	seeking := p.seekingNow()
	for _, t := range p.allTabs() {
		turns := message.Turns{T: "turns", Seeking: seeking}
		for i, m := range waiting {
			if t.follows(m.Game) {
				continue
			}
			if turns.Count++; turns.Next == nil {
				turns.Next = &waiting[i]
			}
		}
		if turns.Count == 0 && seeking == nil && t.turns == nil {
			continue
		}
		data, err := json.Marshal(turns)
		if err != nil {
			h.log.Error().Err(err).Str("of", "turns").Msg("message not made")
			return
		}
		if !bytes.Equal(data, t.turns) {
			t.turns = data
			t.put("turns", data)
		}
	}
}

func (p *participant) pastResults() []message.PastResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.results
}

// play asks the platform for a game against a bot that would take it.
func (h *hub) play(ctx context.Context, t *tab, r message.Request) message.Answer {
	if a, ok := allow(t.here.challenges, "challenges"); !ok {
		return a
	}
	if r.Terms == nil || (r.Opponent == "") == (r.Pool == "") {
		return message.Refused(protocol.Malformed, "want terms, and either opponent or pool")
	}
	fits := func(in arena.Instance) bool {
		return takes(in, *r.Terms) && (in.Player == r.Opponent || r.Pool != "" && slices.Contains(in.Hello.Pools, r.Pool))
	}
	all, _ := h.levels.with(h.arena.Instances(), time.Now()) // a level that rests takes it later
	if !slices.ContainsFunc(all, fits) {
		return message.Refused(protocol.NotOffered, "nobody is here who takes such a game")
	}
	return h.againstBot(ctx, t, protocol.ChallengeRequest{
		Header: protocol.Header{ID: t.secretID(r.ID)}, Terms: *r.Terms, Seat: r.Seat, Opponent: r.Opponent, Pool: r.Pool,
		ExpireMS: challengeFor.Milliseconds(),
	})
}

// secretID returns the id of the challenge for a page's request. The game's id
// follows from it, by which alone a private game is found, so that nobody must be
// able to guess it.
func (t *tab) secretID(id string) string {
	sum := sha256.Sum256([]byte(t.session + " " + id))
	return hex.EncodeToString(sum[:16])
}

// challenge sends a challenge and notes that it waits.
func (p *participant) challenge(ctx context.Context, m protocol.ChallengeRequest) message.Answer {
	if err := p.ready(ctx); err != nil {
		return message.Refused(protocol.Unavailable, "the platform does not answer now")
	}
	ans, err := p.client.Challenge(ctx, m)
	if errors.Is(err, &protocol.Error{Code: protocol.Over}) {
		return message.Answer{Code: protocol.Duplicate, Game: ans.Game} // the same request made a game, or came to nothing
	}
	if err != nil {
		return message.Failed(err)
	}
	p.noteWaiting(ctx, message.Waiting{Game: ans.Game, Terms: m.Terms, Opponent: m.Opponent, Expires: ans.Expires})
	p.hub.lobbies.refresh(p.id)
	return message.Answer{Code: ans.Code, Game: ans.Game, Expires: ans.Expires}
}

func (h *hub) withdraw(ctx context.Context, t *tab, r message.Request) message.Answer {
	if r.Game == "" {
		return message.Refused(protocol.Malformed, "game: missing")
	}
	if a, ok := allow(t.here.acts, "actions"); !ok {
		return a
	}
	ans, err := t.here.client.Withdraw(ctx, r.Game)
	if err != nil {
		return message.Failed(err)
	}
	t.here.forgetChallenge(r.Game)
	h.lobbies.refresh(t.here.id)
	return message.Answer{Code: ans.Code, Game: r.Game}
}
