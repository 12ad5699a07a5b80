package arena

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Times of the look after streams that somebody has removed.
const (
	lookEvery    = 5 * time.Second
	lookAgain    = time.Second // a server that has just started may not list all yet
	sayLostAgain = time.Minute
)

// watchLost looks for streams that are removed while the arena runs, until ctx ends.
// Without one, nothing that is stored fails in a way of its own: the log of a game, its
// record or its rating is tried again and again. So the operator is told, and no game begins
// that could not be stored.
func (a *Arena) watchLost(ctx context.Context) {
	var said time.Time
	doubted := false
	for ctx.Err() == nil {
		pause := lookEvery
		lost, err := a.findLost(ctx)
		switch {
		case err != nil: // the server says nothing of them now
		case lost == nil:
			if a.lost.Swap(nil) != nil {
				a.log.Info().Msg("the missing streams are there again")
			}
			said, doubted = time.Time{}, false
		case !doubted:
			doubted, pause = true, lookAgain
		default:
			a.lost.Store(lost)
			if now := time.Now(); now.Sub(said) >= sayLostAgain {
				if line := a.log.Error().Err(lost); lost.needed {
					line.Msg("streams are missing: no game begins")
				} else {
					line.Msg("streams are missing: games go on")
				}
				said = now
			}
		}
		sleep(ctx, pause)
	}
}

// lostStreams is an error for streams that somebody has removed.
type lostStreams struct {
	names  []string
	kept   bool // some of them hold what an arena does not create again
	needed bool // without some of them games can't be stored
}

func (e *lostStreams) Error() string {
	remedy := "restore them from a backup, or start the arenas again, which create them anew"
	if e.kept {
		remedy = "stop the arenas, restore them from a backup, and start the arenas again"
	}
	return fmt.Sprintf("missing streams: %s; %s", strings.Join(e.names, ", "), remedy)
}

// missingStreams returns why no game may begin, or nil.
func (a *Arena) missingStreams() error {
	if lost := a.lost.Load(); lost != nil && lost.needed {
		return lost
	}
	return nil
}

// findLost returns which of the platform's streams are not on the server, nil if all are.
// The error says that the server did not tell.
func (a *Arena) findLost(ctx context.Context) (*lostStreams, error) {
	a.mu.Lock()
	want := append(a.store.streams(), a.buckets...)
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	list := a.store.js.StreamNames(ctx)
	var there []string
	for name := range list.Name() {
		there = append(there, name)
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	lost, kept := &lostStreams{}, keptStreams(a.Subjects())
	needed := append(kept, bucketStream(a.Subjects(), "leases"), bucketStream(a.Subjects(), "owners"))
	for _, name := range want {
		if !slices.Contains(there, name) {
			lost.names = append(lost.names, name)
			lost.kept = lost.kept || slices.Contains(kept, name)
			lost.needed = lost.needed || slices.Contains(needed, name)
		}
	}
	if lost.names == nil {
		return nil, nil
	}
	return lost, nil
}
