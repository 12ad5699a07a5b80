package arena

import (
	"context"
	"time"
)

// Drain makes the arena start no more games: it pairs nobody, refuses challenges, and
// leaves those that wait in the queue. Running games go on. Drain returns when no game
// can start any more, or when ctx ends. It is for the only arena of a platform: another
// one would go on.
func (a *Arena) Drain(ctx context.Context) {
	a.mu.Lock()
	a.draining = true
	a.mu.Unlock()
	a.log.Info().Msg("draining: no more games are started")
	for ctx.Err() == nil {
		a.mu.Lock()
		deciding := a.deciding
		a.mu.Unlock()
		if deciding == 0 {
			return
		}
		sleep(ctx, 50*time.Millisecond)
	}
}

func (a *Arena) isDraining() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.draining
}
