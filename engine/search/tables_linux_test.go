package search_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"sparring/engine/search"
)

// TestTablesTakeMemory checks that the memory of a table is there before a search
// needs it.
func TestTablesTakeMemory(t *testing.T) {
	const size = 64 << 20
	debug.FreeOSMemory() // what other tests have used is not given out again
	before := resident(t)
	table := search.NewTables(size).Take()
	if grown := resident(t) - before; grown < size/2 {
		t.Errorf("a table of %d MiB takes %d MiB of memory", size>>20, grown>>20)
	}
	runtime.KeepAlive(table)
}

// resident returns how much memory the process uses, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var all, pages int
	if _, err := fmt.Fscan(bytes.NewReader(statm), &all, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
