package scripted

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// monitor is a lock with one condition variable, for whose changes one can wait as
// long as a context lasts, which sync.Cond does not allow.
type monitor struct {
	mu      sync.Mutex
	changed chan struct{} // closed and renewed by broadcast
}

func newMonitor() monitor { return monitor{changed: make(chan struct{})} }

// Do calls f under the lock, which protects what hooks and conditions see.
func (m *monitor) Do(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// broadcast wakes up all who wait; m.mu is held.
func (m *monitor) broadcast() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Wait waits until ok, called under the lock, returns true. The error says what was
// waited for.
func (m *monitor) Wait(ctx context.Context, what string, ok func() bool) error {
	for {
		m.mu.Lock()
		done, changed := ok(), m.changed
		m.mu.Unlock()
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
