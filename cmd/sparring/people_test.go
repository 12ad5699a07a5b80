package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/protocol"
)

// TestPersonAgainstBots: in each game a person plays a level from a position in the
// middle of another game, takes back its last decision with the bot's reply, and
// goes on.
func TestPersonAgainstBots(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	var profiles []string
	for _, g := range catalog.Games() {
		profiles = append(profiles, fmt.Sprintf(`{"player": "%s-hare", "games": [%q], "engine": "self:level=2", "policy": {"opponents": "humans"}}`, g.Name, g.Name))
	}
	a := newGround(t, arena.Defaults(), botOf(t, t.TempDir(), profiles...))
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	ann, err := a.Person("human-ann", "g1", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	hello := protocol.Hello{Kind: protocol.Human, Slots: 10}
	for _, g := range catalog.Games() {
		hello.Games = append(hello.Games, protocol.Capability{Game: g.Name})
	}
	if _, err := ann.Hello(ctx, hello); err != nil {
		t.Fatal(err)
	}
	var held sync.Map
	running.Go(func() {
		for ctx.Err() == nil {
			var games []protocol.GameID
			held.Range(func(g, _ any) bool { games = append(games, g.(protocol.GameID)); return true })
			ann.Alive(ctx, protocol.Alive{Free: 9, Games: games}) // the next one makes up for a lost one
			time.Sleep(a.Heartbeat())
		}
	})
	for _, g := range catalog.Games() {
		t.Run(g.Name, func(t *testing.T) {
			p := &personInGame{Client: ann, t: t, states: make(chan protocol.State, 1000)}
			p.playFrom(g, func(id protocol.GameID) { held.Store(id, true) })
		})
	}
}

// personInGame is a person in one game.
type personInGame struct {
	*protocol.Client
	t      *testing.T
	states chan protocol.State
}

func (p *personInGame) playFrom(g game.Game, hold func(protocol.GameID)) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	rules, err := catalog.Rules(g.Default)
	if err != nil {
		p.t.Fatal(err)
	}
	terms := protocol.Terms{Game: g.Name, Rules: rules.Name, Clock: clock.Spec{Kind: clock.Fischer, Initial: 2 * time.Hour, Increment: 2 * time.Second}}
	pos, err := rules.New("")
	if err != nil {
		p.t.Fatal(err)
	}
	for range 6 {
		legal := pos.Legal(nil)
		m := legal[len(legal)/2]
		terms.Moves = append(terms.Moves, pos.Format(m))
		if err := pos.Play(m); err != nil {
			p.t.Fatal(err)
		}
	}
	seat := pos.Turn()
	ans, err := p.Challenge(ctx, protocol.ChallengeRequest{Terms: terms, Seat: &seat, Opponent: protocol.PlayerID(g.Name + "-hare"), ExpireMS: 60_000})
	if err != nil {
		p.t.Fatal(err)
	}
	sub, err := p.Game(ans.Game, func(st protocol.State) { p.states <- st })
	if err != nil {
		p.t.Fatal(err)
	}
	defer sub.Unsubscribe()
	hold(ans.Game)
	st := p.until(ctx, "the start", func(st protocol.State) bool { return true })
	if !slices.Equal(st.Moves, terms.Moves) || st.Turn != seat {
		p.t.Fatalf("begins after %v with %s to act", st.Moves, st.Turn)
	}
	epoch := st.Holders[seat].Epoch
	for range 2 {
		if _, err := p.Move(ctx, ans.Game, epoch, 6, pos.Format(pos.Legal(nil)[0]), ""); err != nil {
			p.t.Fatal(err)
		}
		p.until(ctx, "the bot's reply", func(st protocol.State) bool { return len(st.Moves) == 8 })
		if _, err := p.Takeback(ctx, ans.Game, epoch, 8, protocol.StepOffer); err != nil {
			p.t.Fatal(err)
		}
		st = p.until(ctx, "the takeback", func(st protocol.State) bool { return len(st.Moves) == 6 })
		if st.Turn != seat || st.Status != protocol.Playing {
			p.t.Fatalf("after the takeback: %s, %s to act", st.Status, st.Turn)
		}
	}
	if _, err := p.Resign(ctx, ans.Game, epoch, 6); err != nil {
		p.t.Fatal(err)
	}
	p.until(ctx, "the end", func(st protocol.State) bool { return st.Status == protocol.Finished })
}

func (p *personInGame) until(ctx context.Context, what string, ok func(protocol.State) bool) protocol.State {
	p.t.Helper()
	for {
		select {
		case st := <-p.states:
			if ok(st) {
				return st
			}
		case <-ctx.Done():
			p.t.Fatalf("waited in vain for %s", what)
		}
	}
}
