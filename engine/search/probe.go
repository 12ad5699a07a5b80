package search

import "sparring/game"

// TableEntry is what the hash table knows of a position.
type TableEntry struct {
	Move    game.Move // NoMove where none is known
	Score   Score
	WinProb float64 // the winning chance for Score
	Bound   Bound   // NoBound where no score is known
	Depth   int
}

// ProbeTable looks a position up in the game's hash table, for debugging a
// search; ok is false where nothing is stored, and always in a game whose
// searches have tables of their own (GameOptions.Fresh). Searches may run meanwhile. It
// calls pos.Enter.
func (g *Game) ProbeTable(pos Position) (e TableEntry, ok bool) {
	if g.table == nil {
		return TableEntry{}, false
	}
	node := pos.Enter()
	r, ok := g.table.probe(node.SearchKey ^ g.salt())
	if !ok {
		return TableEntry{}, false
	}
	score := fromTable(r.score, 0)
	e = TableEntry{Score: score, WinProb: g.k.params.WinProb(score), Bound: r.bound, Depth: r.depth}
	if _, legal := pos.Find(r.move); legal {
		e.Move = r.move
	}
	return e, true
}
