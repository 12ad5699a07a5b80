package main

import (
	"fmt"

	"sparring/engine/tablebase"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// tableWinner tells who wins a game of Xiangqi when a table knows it. What a
// table calls drawn may still be lost by a mistake, and is played on.
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

// matchTables are the tables that a match is to be judged by.
func matchTables(gameName, dir string, report func(error)) (*tablebase.Tables, error) {
	if gameName != "xiangqi" {
		return nil, fmt.Errorf("there are none for %s", gameName)
	}
	t, err := tablebase.Open(dir, report)
	if err == nil && t.Men() == 0 {
		t.Close()
		return nil, fmt.Errorf("no tables in %s (sparring tablebase build makes them)", dir)
	}
	return t, err
}
