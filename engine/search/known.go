package search

import "sparring/game"

// Known is what the hash table knows of a position.
type Known struct {
	Move   game.Move // NoMove where none is known
	Score  Score
	Chance float64 // of winning, that Score stands for
	Bound  Bound   // NoBound where no score is known
	Depth  int
}

// Known looks a position up in the hash table, for debugging a search; ok is
// false where nothing is stored. Searches may run meanwhile. Pos is entered.
func (k *Kernel) Known(pos Position) (known Known, ok bool) {
	node := pos.Enter()
	r, ok := k.table.probe(node.SearchKey ^ k.salt)
	if !ok {
		return Known{}, false
	}
	score := fromTable(r.score, 0)
	known = Known{Score: score, Chance: k.params.Chance(score), Bound: r.bound, Depth: r.depth}
	if _, legal := pos.Find(r.move); legal {
		known.Move = r.move
	}
	return known, true
}
