package tune_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sparring/game"
	"sparring/lab/train/tune"
	"sparring/record"
)

// TestGamesAreSmall: of a game, only what is learnt from is kept, not its record with what the
// engines wrote about each move.
func TestGamesAreSmall(t *testing.T) {
	const games, size = 16, 1 << 20
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, set := heap(), &tune.Games{Game: "xiangqi"}
	for i := range games {
		r := &record.Record{ID: fmt.Sprint("g", i), Game: "xiangqi", Rules: "xiangqi/wxf", Result: game.FirstWins}
		r.Plies = []record.Ply{{Move: "h2e2", Comment: strings.Repeat("x", size), Think: &record.Think{Source: record.FromSearch, Score: i}}}
		set.Add(r)
	}
	if after := heap(); set.Len() != games || after > before+games*size/4 {
		t.Errorf("%d games have %d MiB, the records %d", set.Len(), (after-before)>>20, games*size>>20)
	}
	runtime.KeepAlive(set)
}
