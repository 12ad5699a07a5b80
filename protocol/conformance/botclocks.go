package conformance

import (
	"fmt"
	"time"

	"sparring/game"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// Scenarios of the clocks of a bot's game.

func botStaleClock(t botTrial) string {
	left, late := 2*t.eased(least), t.eased(least)
	reached := make(chan struct{})
	var holding, told bool
	t.SetHooks(scripted.Hooks{Tell: func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		switch {
		case told || len(st.Moves) < 3 || st.Turn != st.You:
			send(st)
		case !holding: // and what is repeated meanwhile is not sent at all: it would come in time
			holding = true
			g.SetClock(game.Second, left)
			st := t.State(g, game.Second)
			time.AfterFunc(late, func() {
				t.Do(func() { told = true })
				send(st)
			})
			close(reached)
		}
	}})
	g := t.startGame()
	t.awaitTurn(g, reached)
	t.playOn(g, 1)
	return fmt.Sprintf("with %v left it was told %v late, and moved in time", left, late)
}

func botTimeTrouble(t botTrial) string {
	g := t.startGameAt(3, func(g *scripted.Game, _ protocol.State, send func(protocol.State)) {
		g.SetClock(game.Second, t.eased(least))
		send(t.State(g, game.Second))
	})
	return t.playOn(g, 5)
}

func botHalt(t botTrial) string {
	reached := t.atTurn(3, func(*scripted.Game, protocol.State, func(protocol.State)) {}) // it is told after the halt
	g := t.startGame()
	t.awaitTurn(g, reached)
	t.Do(func() { t.SetStatus(g, protocol.Halted) })
	t.expectNoMoves(g, time.Second, "while the game was halted")
	t.Do(func() { t.SetStatus(g, protocol.Playing) })
	seen := t.playOn(g, 3)
	return "nothing for a second, then " + seen
}
