package main

import (
	"fmt"

	"sparring/engine/tablebase"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// tableWinner returns the winner of a Xiangqi position that is won by the tables.
// Drawn positions are played on, since a player may still err.
func tableWinner(t *tablebase.Tables) func(game.Position) (game.Seat, bool) {
	return func(p game.Position) (game.Seat, bool) {
		x, ok := p.(*rules.Position)
		if !ok {
			return 0, false
		}
		plies, known := t.Probe(x.Board())
		if !known || plies == tablebase.Drawn {
			return 0, false
		}
		if limit := x.RuleSet().Limit(); limit > 0 && int(x.Board().State().Quiet)+plies > limit {
			return 0, false // the move limit may come first
		}
		if plies%2 == 0 {
			return p.Turn().Other(), true
		}
		return p.Turn(), true
	}
}

// matchTables opens the tables for adjudication.
func matchTables(gameName, dir string, report func(error)) (*tablebase.Tables, error) {
	if gameName != rules.Name {
		return nil, fmt.Errorf("there are no endgame tables for %s", gameName)
	}
	t, err := tablebase.Open(dir, report)
	if err == nil && t.Men() == 0 {
		t.Close()
		return nil, fmt.Errorf("no tables in %s (build them with sparring tablebase build)", dir)
	}
	return t, err
}
