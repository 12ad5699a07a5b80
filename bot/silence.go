package bot

import (
	"context"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/protocol"
)

// What a bot does about a platform that does not answer.
const (
	silenceLimit = 5 * time.Second // without any answer: warn, and probe the connection
	cutOffLimit  = time.Second     // without an answer: try the other servers of a cluster
	checkCluster = cutOffLimit / 4 // of the watchdog for other servers
)

// noteAnswer notes that the platform answered a heartbeat, and its time.
func (b *Bot) noteAnswer(sent time.Time, server time.Time) {
	now := time.Now()
	b.clock.Observe(sent, now, server)
	b.lastAnswer.Store(&now)
}

// noteUnavailable notes that the platform refused a heartbeat because it can't store.
func (b *Bot) noteUnavailable() {
	now := time.Now()
	b.lastUnavailable.Store(&now)
}

// isUnavailable reports whether the platform has lately refused a heartbeat for that reason.
func (b *Bot) isUnavailable() bool {
	last := b.lastUnavailable.Load()
	return last != nil && time.Since(*last) < silenceLimit
}

// Silence returns the time since the platform last answered a heartbeat of any player with
// anything but that it can't store; 0 before Run.
func (b *Bot) Silence() time.Duration {
	last := b.lastAnswer.Load()
	if last == nil {
		return 0
	}
	return time.Since(*last)
}

// watchdog detects that the platform no longer answers although the connection is up.
func (b *Bot) watchdog(ctx context.Context) {
	silent := false
	for sleep(ctx, checkInterval) {
		gone := b.Silence()
		switch {
		case gone < silenceLimit && silent:
			silent = false
			b.log.Info().Msg("the platform answers again")
			b.requestHellos()
		case gone >= silenceLimit && b.nc.IsConnected():
			if !silent {
				silent = true
				if line := b.log.Warn().Dur("silent_ms", gone); b.isUnavailable() {
					line.Msg("the platform can store nothing: games wait until it can")
				} else {
					line.Msg("the platform does not answer")
				}
			}
			b.probe(ctx)
			b.requestHellos()
		}
	}
}

// watchCluster fails over to another server of the cluster whenever the platform answers
// there and not here: this server is cut off, or hangs.
func (b *Bot) watchCluster(ctx context.Context) {
	for sleep(ctx, checkCluster) {
		if b.Silence() < cutOffLimit || !protocol.CanFailOver(b.nc) {
			continue
		}
		players := slices.DeleteFunc(slices.Clone(b.roster()), func(p *player) bool { return !p.known() })
		if len(players) == 0 {
			continue
		}
		from := b.nc.ConnectedUrlRedacted()
		if protocol.FailOver(ctx, b.nc, func(ctx context.Context, nc *nats.Conn) bool {
			return players[0].answeredOver(ctx, nc) && b.Silence() >= cutOffLimit
		}) {
			b.log.Warn().Str("url", from).Msg("the platform can't be reached from this server; going to another one of the cluster")
			sleep(ctx, cutOffLimit) // until it answers
		}
	}
}

// probe reconnects if the server does not answer either.
func (b *Bot) probe(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := b.nc.FlushWithContext(within)
	if err == nil || ctx.Err() != nil || !b.nc.IsConnected() {
		return
	}
	b.log.Warn().Err(err).Msg("the server does not answer; reconnecting")
	if err := b.nc.ForceReconnect(); err != nil {
		b.log.Error().Err(err).Msg("can't reconnect")
	}
}
