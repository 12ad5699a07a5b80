package otb

import (
	"path/filepath"
	"strings"
	"testing"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/internal/journal"
)

// TestWaitsForRoom: nobody else gets the journal while the disk is full.
func TestWaitsForRoom(t *testing.T) {
	disk := arenatest.NewSmallDisk(t, "2m")
	path := filepath.Join(disk.Dir, "game.jsonl")
	s, _, err := openStore(path, terms("amazons/10x10", "600", game.First), func(Terms) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	long := entry(t, "1 note "+strings.Repeat("x", 100_000))
	for range 2 {
		disk.Fill()
		for s.append(long) == nil {
			continue // in the reserved space
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 300 {
			if s.flush() == nil {
				t.Error("written to a full disk")
			}
		}
	}()
	for waiting := true; waiting; {
		select {
		case <-done:
			waiting = false
		default:
			if !journal.InUse(path) {
				t.Error("another program can take the game over")
				<-done
				waiting = false
			}
		}
	}
	n := len(s.pending)
	disk.Empty()
	if err := s.close(false); err != nil {
		t.Fatal(err)
	}
	if g, err := Load(path); err != nil || len(g.Notes) < n {
		t.Errorf("%v, %v", g, err)
	}
}
