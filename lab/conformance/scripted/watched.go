package scripted

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// watched is a lock over what several goroutines share, and tells those who wait of every
// change.
type watched struct {
	mu      sync.Mutex
	changed chan struct{} // closed and renewed at every change
}

func newWatched() watched { return watched{changed: make(chan struct{})} }

// Do calls f under the lock.
func (w *watched) Do(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// news wakes up all who wait; w.mu is held.
func (w *watched) news() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// Wait waits until ok, called under the lock, returns true. The error says what was
// waited for.
func (w *watched) Wait(ctx context.Context, what string, ok func() bool) error {
	for {
		w.mu.Lock()
		done, changed := ok(), w.changed
		w.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Millisecond): // some conditions depend on the time
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %s", what)
		}
	}
}
