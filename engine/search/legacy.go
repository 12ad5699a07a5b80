package search

// Start searches a position as that of a game which no caller names. It goes
// when all callers open games.
func (k *Kernel) Start(pos Position, limits Limits, report func(Info)) *Search {
	k.mu.Lock()
	var g *Game
	if n := len(k.nameless); n > 0 {
		g = k.nameless[n-1]
		k.nameless = k.nameless[:n-1]
	} else {
		g = k.NewGame(GameOptions{})
		g.nameless = true
	}
	k.mu.Unlock()
	return g.Start(pos, limits, report)
}

// Forget clears the hash table and all histories. No search may run meanwhile.
func (k *Kernel) Forget() {
	k.table.Clear()
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.idle.Len() > 0 {
		k.dropHistories(k.idle.Front().Value.(*Game))
	}
}

// ProbeTable is that of a game with the kernel's table.
func (k *Kernel) ProbeTable(pos Position) (e TableEntry, ok bool) {
	return k.NewGame(GameOptions{}).ProbeTable(pos)
}
