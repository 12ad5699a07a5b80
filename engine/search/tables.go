package search

import (
	"runtime"
	"sync"
)

// Tables lends hash tables of one size. It keeps as many unused ones as there are
// cores, because making a large table is slow.
type Tables struct {
	bytes int

	mu     sync.Mutex
	unused []*Table
}

// NewTables lends tables of the given size, see [NewTable]. It makes none yet.
func NewTables(bytes int) *Tables { return &Tables{bytes: bytes} }

// Take returns an empty table. Its memory has been written to: the pages of a new one
// would otherwise come in the first search, on its clock.
func (t *Tables) Take() *Table {
	t.mu.Lock()
	n := len(t.unused)
	if n == 0 {
		t.mu.Unlock()
		table := NewTable(t.bytes)
		table.Clear()
		return table
	}
	table := t.unused[n-1]
	t.unused[n-1] = nil
	t.unused = t.unused[:n-1]
	t.mu.Unlock()
	table.Clear()
	return table
}

// Put takes a table back that no search uses.
func (t *Tables) Put(table *Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.unused) < runtime.GOMAXPROCS(0) {
		t.unused = append(t.unused, table)
	}
}
