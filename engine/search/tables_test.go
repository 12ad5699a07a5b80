package search_test

import (
	"runtime"
	"testing"

	"sparring/engine/search"
)

// TestTablesKeepsFew checks that unused tables are lent again, but that no more of
// them are kept than there are cores.
func TestTablesKeepsFew(t *testing.T) {
	tables := search.NewTables(tableBytes)
	cores := runtime.GOMAXPROCS(0)
	lent := map[*search.Table]bool{}
	for range 3 * cores {
		lent[tables.Take()] = true
	}
	for table := range lent {
		tables.Put(table)
	}
	again := 0
	for range 3 * cores {
		if lent[tables.Take()] {
			again++
		}
	}
	if again != cores {
		t.Errorf("%d tables were kept, want %d", again, cores)
	}
}
