package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"sparring/arena/web/message"
	"sparring/protocol"
)

// challenges are the challenges of a person that wait, as they are stored: whichever
// gateway the person's page reaches next shows them, and announces the person so that
// their games can begin. The log of the game decides whether a challenge still waits;
// an entry that could not be changed in time misleads nobody for longer than its
// challenges live.
type challenges struct {
	List []message.Waiting `json:"list"`
}

// open returns the challenges that have not expired.
func (c challenges) open(now time.Time) []message.Waiting {
	return slices.DeleteFunc(slices.Clone(c.List), func(w message.Waiting) bool { return !now.Before(w.Expires) })
}

// keepWaiting stores a challenge that waits.
func (s *agreements) keepWaiting(ctx context.Context, id protocol.PlayerID, w message.Waiting) error {
	_, err := changeEntry(ctx, s, "waiting."+string(id), func(c *challenges) error {
		others := slices.DeleteFunc(c.open(time.Now()), func(x message.Waiting) bool { return x.Game == w.Game })
		c.List = append(others, w)
		return nil
	})
	return err
}

// dropWaiting removes a challenge that waits no more.
func (s *agreements) dropWaiting(ctx context.Context, id protocol.PlayerID, g protocol.GameID) error {
	_, err := changeEntry(ctx, s, "waiting."+string(id), func(c *challenges) error {
		if !slices.ContainsFunc(c.List, func(w message.Waiting) bool { return w.Game == g }) {
			return errRepeated // another gateway was faster, or the person is erased
		}
		c.List = slices.DeleteFunc(c.open(time.Now()), func(w message.Waiting) bool { return w.Game == g })
		return nil
	})
	if errors.Is(err, errRepeated) {
		return nil
	}
	return err
}

// followsWaiting takes over the challenges of a person that a gateway has stored; data
// is empty once they are erased.
func (s *agreements) followsWaiting(id protocol.PlayerID, data []byte) {
	var c challenges
	if len(data) > 0 && json.Unmarshal(data, &c) != nil {
		return
	}
	now := time.Now()
	s.mu.Lock()
	maps.DeleteFunc(s.challenges, func(_ protocol.PlayerID, c challenges) bool { return len(c.open(now)) == 0 })
	delete(s.challenges, id)
	open := c.open(now)
	if len(open) > 0 {
		s.challenges[id] = c
	}
	s.mu.Unlock()
	if len(open) > 0 {
		s.waiting(id, open)
	}
}

// waitingOf returns the stored challenges of a person that have not expired.
func (s *agreements) waitingOf(id protocol.PlayerID) []message.Waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.challenges[id].open(time.Now())
}

// learnWaiting takes over the challenges of a person who is here.
func (h *hub) learnWaiting(id protocol.PlayerID, list []message.Waiting) {
	h.mu.Lock()
	p := h.here[id]
	h.mu.Unlock()
	if p != nil {
		p.learnWaiting(list)
	}
}

// learnWaiting takes over challenges that another gateway has stored, or this one
// before it was started again, unless they have become games or ended meanwhile.
func (p *participant) learnWaiting(list []message.Waiting) {
	var added []message.Waiting
	p.mu.Lock()
	for _, w := range list {
		if _, known := p.waiting[w.Game]; !known {
			p.waiting[w.Game] = w
			added = append(added, w)
		}
	}
	p.mu.Unlock()
	if len(added) == 0 {
		return
	}
	if p.hasTab() {
		p.wake()
	}
	p.hub.lobbies.refresh(p.id)
	p.hub.beside(func(ctx context.Context) {
		for _, w := range added {
			p.forgetDecided(ctx, w.Game)
		}
	})
}

// noteWaiting notes and stores a challenge that has just been sent.
func (p *participant) noteWaiting(ctx context.Context, w message.Waiting) {
	p.mu.Lock()
	p.waiting[w.Game] = w
	p.mu.Unlock()
	if err := p.hub.agreements.keepWaiting(ctx, p.id, w); err != nil {
		p.hub.log.Warn().Err(err).Str("player", string(p.id)).Str("game", string(w.Game)).Msg("challenge not stored; only this gateway knows that it waits")
	}
	if !p.waitsFor(w.Game) { // it was decided before it was stored
		p.dropStored(ctx, w.Game)
	}
	p.forgetDecided(ctx, w.Game) // the game was faster than the answer
}

// forgetDecided forgets a challenge that has become a game or ended.
func (p *participant) forgetDecided(ctx context.Context, g protocol.GameID) {
	if _, _, err := p.hub.arena.Game(ctx, g); err == nil {
		p.forgetChallenge(g)
		p.hub.lobbies.refresh(p.id)
	}
}

// forgetChallenge forgets a challenge that waits no more.
func (p *participant) forgetChallenge(g protocol.GameID) {
	p.mu.Lock()
	_, waited := p.waiting[g]
	delete(p.waiting, g)
	p.mu.Unlock()
	if waited {
		p.hub.beside(func(ctx context.Context) { p.dropStored(ctx, g) })
	}
}

func (p *participant) dropStored(ctx context.Context, g protocol.GameID) {
	if err := p.hub.agreements.dropWaiting(ctx, p.id, g); err != nil {
		p.hub.log.Debug().Err(err).Str("player", string(p.id)).Str("game", string(g)).Msg("challenge not removed; it ends by itself")
	}
}

// dropExpired drops challenges whose end was missed; p.mu is held.
func (p *participant) dropExpired(now time.Time) {
	maps.DeleteFunc(p.waiting, func(_ protocol.GameID, w message.Waiting) bool { return now.After(w.Expires) })
}

// waits returns the person's challenges that wait.
func (p *participant) waits() []message.Waiting {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropExpired(time.Now())
	return slices.SortedFunc(maps.Values(p.waiting), func(x, y message.Waiting) int {
		return cmp.Or(x.Expires.Compare(y.Expires), cmp.Compare(x.Game, y.Game))
	})
}

// waitsFor reports whether the game is a challenge of the person that waits.
func (p *participant) waitsFor(g protocol.GameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.waiting[g]
	return ok
}
