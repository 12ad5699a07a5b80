package conformance

import (
	"context"
	"fmt"
	"time"

	"sparring/game"
	"sparring/lab/conformance/scripted"
	"sparring/protocol"
)

// Scenarios of the clocks of a bot's game.

func botStaleClock(ctx context.Context, r *botRig) (string, error) {
	left, late := 2*r.eased(least), r.eased(least)
	reached := make(chan struct{})
	var holding, told bool
	r.SetHooks(scripted.Hooks{Tell: func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		switch {
		case told || len(st.Moves) < 3 || st.Turn != st.You:
			send(st)
		case !holding: // and what is repeated meanwhile is not sent at all: it would come in time
			holding = true
			g.SetClock(game.Second, left)
			st := r.State(g, game.Second)
			time.AfterFunc(late, func() {
				r.Do(func() { told = true })
				send(st)
			})
			close(reached)
		}
	}})
	g, err := r.play(ctx)
	if err == nil {
		err = r.comes(ctx, g, reached)
	}
	if err != nil {
		return "", err
	}
	if _, err := r.goesOn(ctx, g, 1); err != nil {
		return "", err
	}
	return fmt.Sprintf("with %v left it was told %v late, and moved in time", left, late), nil
}

func botTimeTrouble(ctx context.Context, r *botRig) (string, error) {
	g, err := r.playTo(ctx, 3, func(g *scripted.Game, _ protocol.State, send func(protocol.State)) {
		g.SetClock(game.Second, r.eased(least))
		send(r.State(g, game.Second))
	})
	if err != nil {
		return "", err
	}
	return r.goesOn(ctx, g, 5)
}

func botHalt(ctx context.Context, r *botRig) (string, error) {
	reached := r.atTurn(3, func(*scripted.Game, protocol.State, func(protocol.State)) {}) // it is told after the halt
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	r.Do(func() { r.SetStatus(g, protocol.Halted) })
	if err := r.quiet(ctx, g, time.Second, "while the game was halted"); err != nil {
		return "", err
	}
	r.Do(func() { r.SetStatus(g, protocol.Playing) })
	seen, err := r.goesOn(ctx, g, 3)
	return "nothing for a second, then " + seen, err
}
