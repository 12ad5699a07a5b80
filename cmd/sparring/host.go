package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/game/clock"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// upTeam runs a platform until the team has played and the games of others on it have
// ended, or the platform fails. The first Ctrl-C, or the team's last game, ends the
// pairing; Ctrl-C again ends everything.
func upTeam(ctx context.Context, f upFlags, srv *embedded.Server, a *arena.Arena, log zerolog.Logger, platform func(context.Context) error) error {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var running sync.WaitGroup
	var failure error
	running.Go(func() {
		defer end()
		failure = platform(life)
	})
	h := &host{team: f.team, arena: a}
	var hurry context.CancelFunc
	h.hurry, hurry = context.WithCancel(life)
	defer h.obey(ctx, hurry)()
	f.team.hosting = true
	err := f.team.play(life, srv.Player(embedded.Owner), log)
	h.awaitOthers()
	end()
	running.Wait()
	return errors.Join(err, failure)
}

// host is a team whose process runs the ladder.
type host struct {
	team  *team
	arena *arena.Arena

	hurry context.Context // ends when everything is to end

	mu   sync.Mutex
	told bool // by Ctrl-C, or by the team's end, to start no more games
}

// obey follows Ctrl-C beside the team's bot. First is the context that it ended before,
// if it did. The function returned stops this.
func (h *host) obey(first context.Context, hurry func()) (stop func()) {
	if first.Err() != nil {
		h.windDown()
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, ends(false)...)
	quit := make(chan struct{})
	go func() {
		for {
			select {
			case <-quit:
				return
			case <-signals:
				if !h.windDown() {
					hurry()
				}
			}
		}
	}()
	return func() { signal.Stop(signals); close(quit) }
}

// windDown lets the ladder start no more games. It returns false if it was called before.
func (h *host) windDown() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.told {
		return false
	}
	h.told = true
	go h.arena.Drain(h.hurry)
	return true
}

// awaitOthers waits, once the team has left, until the games of others have ended, or
// until hurry does. It says whose games it waits for, and whose it does not.
func (h *host) awaitOthers() {
	h.windDown()
	h.arena.Drain(h.hurry)
	said := ""
	for none := 0; none < 2; { // a game that began a moment ago may not be listed yet
		others := strings.Join(h.others(true), ", ")
		if none++; others != "" {
			none = 0
		}
		if h.hurry.Err() == nil && others != "" && others != said {
			said = others
			h.team.screen.Say("others still play on this ladder, which ends with their games: %s; Ctrl-C ends it at once", others)
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-h.hurry.Done():
			if cut := h.others(false); len(cut) > 0 {
				h.team.screen.Say("cut off: %s; the next start with --data %s goes on with them", strings.Join(cut, ", "), h.team.data)
			}
			return
		}
	}
}

// others lists the running games of others: those that end by their clocks within
// hours, or all.
func (h *host) others(soon bool) (games []string) {
	for _, e := range h.arena.Running() {
		ends := e.Terms.Clock.Traits().Limited && e.Terms.Clock.Speed() != clock.Correspondence
		mine := e.Holders[0].Player == h.team.id || e.Holders[1].Player == h.team.id
		if !mine && (ends || !soon) {
			games = append(games, fmt.Sprintf("%s against %s", nameOf(e.Holders[0]), nameOf(e.Holders[1])))
		}
	}
	return games
}

func nameOf(h protocol.Holder) string {
	if h.Display != "" {
		return h.Display
	}
	return string(h.Player)
}

// How long a process waits for a ladder that does not answer, before it gives up.
const (
	// goneAfter is for the ladder of another machine, whose server may be restarted.
	goneAfter = 5 * time.Minute
	// goneHere is for a ladder on this machine. The next one has another address.
	goneHere = time.Minute
	// goneEnded is for a ladder on this machine that has said that it ended.
	goneEnded = 5 * time.Second
)

// awaitGone waits until the ladder that a bot plays on is gone, and returns an error
// that says so; nil when ctx ends first. Silence is how long the platform has not
// answered, and left says whether the ladder has ended properly; nil for one on another
// machine.
func awaitGone(ctx context.Context, silence func() time.Duration, url string, left func() bool) error {
	const every = time.Second
	tick := time.NewTicker(every)
	defer tick.Stop()
	patience := goneAfter
	if left != nil {
		patience = goneHere
	}
	// Ticks are counted, since after a pause of this process, as on a machine that
	// sleeps, the last answer is old although the ladder is there.
	for silent := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if silent += every; silence() < 2*every {
			silent = 0
		}
		switch {
		case silent >= patience:
			return fmt.Errorf("the ladder at %s is gone: no answer for %v", url, patience)
		case silent >= goneEnded && left != nil && left():
			return fmt.Errorf("the ladder at %s has ended", url)
		}
	}
}
