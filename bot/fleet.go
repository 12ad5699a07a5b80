package bot

import (
	"context"
	"sync"
	"time"

	"sparring/engine"
	"sparring/protocol"
)

// serveFleet answers the operator, and NATS micro discovery, until ctx ends. A user who
// may not do that, such as a guest, plays without.
func (b *Bot) serveFleet(ctx context.Context) {
	protocol.RunFleet(ctx, b.nc, b.subjects, protocol.FleetProcess{
		Process: protocol.BotProcess, Instance: b.cfg.Instance, Build: cleaned(b.deps.Build, maxBuild), Report: b.Report, Control: b.control,
	}, b.log, func() {
		b.answersFleet.Store(true)
		b.requestHellos() // they say so
	})
}

// Lengths of texts in a report.
const (
	maxBuild = 128
	maxFault = 500
)

// maxPlayers is how many players a report names.
const maxPlayers = 256

// Report describes the process to the operator.
func (b *Bot) Report() protocol.Report {
	now, why, _ := b.mode.current()
	counts := b.tally.Counts()
	levels := b.ledger.UsedByLevels()
	load := b.load()
	r := &protocol.BotReport{
		Slots: b.cfg.slots(), Games: b.ledger.Used() - levels, LevelSlots: b.cfg.Levels, LevelGames: levels,
		Cores: b.cfg.cores(), Load: b.busy.share(b.cfg.cores()), Thinking: load.Thinking, Waiting: load.Waiting, Pondering: load.Pondering,
		Analyses: b.analyst.underWay(),
		Overhead: protocol.Overhead{Moves: counts.Measured, P50MS: counts.Overhead[0].Milliseconds(), P95MS: counts.Overhead[1].Milliseconds(), P99MS: counts.Overhead[2].Milliseconds()},
		Moves:    counts.Moves, Ended: counts.Ended, LostOnTime: counts.LostOnTime, SeatsLost: counts.SeatsLost,
		Faults: counts.Faults, LastFault: cleaned(counts.LastFault, maxFault),
	}
	b.overload.fill(r)
	for _, p := range b.roster() {
		r.PlayerCount++
		if p.profile().level == 0 && len(r.Players) < maxPlayers {
			r.Players = append(r.Players, p.profile().Player)
		}
	}
	return protocol.Report{Mode: now, Text: cleaned(why, maxFault), Bot: r, Space: b.disk.report()}
}

// load adds up the loads of the pools.
func (b *Bot) load() engine.Load {
	l := b.deps.Pool.Load()
	if b.deps.PlayerPool != nil {
		m := b.deps.PlayerPool.Load()
		l.Thinking, l.Waiting, l.Pondering, l.Busy = l.Thinking+m.Thinking, l.Waiting+m.Waiting, l.Pondering+m.Pondering, l.Busy+m.Busy
	}
	return l
}

// busyMeter knows how long the cores were busy over the last minute. It is safe for
// concurrent use.
type busyMeter struct {
	mu    sync.Mutex
	marks []busyMark
}

// busyMark is how long the cores had been busy at a time.
type busyMark struct {
	at   time.Time
	busy time.Duration
}

// busySpan is the time that a share is of.
const busySpan = time.Minute

// mark notes how long the cores have been busy.
func (m *busyMeter) mark(at time.Time, busy time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks = append(m.marks, busyMark{at, busy})
	for len(m.marks) > 2 && at.Sub(m.marks[1].at) >= busySpan {
		m.marks = m.marks[1:]
	}
}

// share returns the share of the cores' time in which they were busy, 0 to 1.
func (m *busyMeter) share(cores int) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.marks) < 2 {
		return 0
	}
	first, last := m.marks[0], m.marks[len(m.marks)-1]
	if span := last.at.Sub(first.at) * time.Duration(cores); span > 0 {
		return min(float64(last.busy-first.busy)/float64(span), 1)
	}
	return 0
}
