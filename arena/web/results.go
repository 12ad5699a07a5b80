package web

import (
	"context"
	"slices"
	"time"

	"sparring/arena"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/protocol"
)

// results are the last results of a person against bots.
type results struct {
	List []result `json:"list"` // oldest first
}

// result is one of them, with its game so that it is counted once.
type result struct {
	ID protocol.GameID `json:"id"`
	message.PastResult
}

// maxResults is how many results are kept: enough to see a row of them.
const maxResults = 8

// loadResults reads the person's results, once.
func (p *participant) loadResults(ctx context.Context) {
	r, _, err := readEntry[results](ctx, p.hub.agreements, "results."+string(p.id))
	if err != nil {
		p.hub.log.Debug().Err(err).Str("player", string(p.id)).Msg("results not read")
		return
	}
	p.setResults(r)
}

func (p *participant) setResults(r results) {
	p.mu.Lock()
	p.results = p.results[:0:0]
	for _, x := range r.List {
		p.results = append(p.results, x.PastResult)
	}
	p.mu.Unlock()
	p.hub.lobbies.refresh(p.id)
}

// noteResult stores the result of a finished game against a bot, unless the person has
// been erased while it ran.
func (p *participant) noteResult(ctx context.Context, e protocol.Event) {
	seat, ok := seatOf(&e.Snapshot, p.id)
	opponent := e.Holders[seat.Other()]
	if !ok || opponent.Kind != protocol.Bot || e.Outcome.Result == game.Undecided {
		return
	}
	past := message.PastResult{Game: e.Terms.Game, Opponent: opponent.Player, Result: "lost", Level: levelOf(p.hub.arena.Instances(), opponent.Player, e.Terms.Game)}
	switch e.Outcome.Result {
	case game.WonBy(seat):
		past.Result = "won"
	case game.Draw:
		past.Result = "drawn"
	}
	r, err := changeEntry(ctx, p.hub.agreements, "results."+string(p.id), func(r *results) error {
		if _, err := p.hub.people.get(ctx, p.id); err != nil {
			return err
		}
		if !slices.ContainsFunc(r.List, func(x result) bool { return x.ID == e.Game }) {
			r.List = append(r.List, result{e.Game, past})
			r.List = r.List[max(0, len(r.List)-maxResults):]
		}
		return nil
	})
	if err != nil {
		p.hub.log.Debug().Err(err).Str("player", string(p.id)).Msg("result not stored")
		return
	}
	p.setResults(r)
}

// levelOf returns the level at which a player plays a game, 0 if it does not say.
func levelOf(instances []arena.Instance, player protocol.PlayerID, gameName string) int {
	levels := levelsOf(instances)
	for _, in := range instances {
		if in.Player != player {
			continue
		}
		for _, c := range in.Hello.Games {
			if c.Game == gameName && c.Engine != nil {
				return levels.of(player, c)
			}
		}
	}
	return 0
}

// ended notes the end of a game, once, in the background.
func (p *participant) ended(e protocol.Event) {
	if e.Kind != protocol.EventEnd || e.Index == 1 || time.Since(e.Time) > time.Hour {
		return
	}
	p.hub.beside(func(ctx context.Context) { p.noteResult(ctx, e) })
}
