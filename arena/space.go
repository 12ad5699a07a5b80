package arena

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"sparring/internal/diskspace"
	"sparring/protocol"
)

// spaceLevels are how full the platform's disk, streams and account are.
type spaceLevels struct {
	mu   sync.Mutex
	all  []diskspace.Level
	said map[string]time.Time // when a low level was last logged
}

// Times of the levels.
const (
	measureEvery = 30 * time.Second
	sayAgain     = time.Hour
)

// watchSpace measures levels, and warns of low ones, until ctx ends.
func (a *Arena) watchSpace(ctx context.Context) {
	ratio := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "sparring", Subsystem: "arena", Name: "space_used_ratio",
		Help: "How full the disk, the streams and the account with limits are, 0 to 1."}, []string{"of"})
	a.metrics.registry.MustRegister(ratio)
	watch := &diskspace.Watch{Limits: a.cfg.Warn}
	for ctx.Err() == nil {
		all := a.measure(ctx, watch, time.Now())
		for _, l := range all {
			ratio.WithLabelValues(l.Of).Set(l.Share())
		}
		a.noteLevels(all, time.Now())
		sleep(ctx, measureEvery)
	}
}

// measure returns the levels of what has a limit. What can't be measured now has none.
func (a *Arena) measure(ctx context.Context, w *diskspace.Watch, now time.Time) (all []diskspace.Level) {
	if a.cfg.Disk != "" {
		if used, most, err := diskspace.Disk(a.cfg.Disk); err == nil {
			all = append(all, w.Note("disk "+a.cfg.Disk, used, most, now))
		} else {
			a.log.Debug().Err(err).Msg("disk not measured")
		}
	}
	s := a.store
	ctx, cancel := context.WithTimeout(ctx, 4*storeWait)
	defer cancel()
	for _, stream := range []jetstream.Stream{s.challenges, s.games, s.records} {
		if i, err := info(ctx, stream); err == nil && i.Config.MaxBytes > 0 {
			all = append(all, w.Note("stream "+i.Config.Name, int64(i.State.Bytes), i.Config.MaxBytes, now))
		}
	}
	if account, err := s.js.AccountInfo(ctx); err == nil && account.Limits.MaxStore > 0 {
		all = append(all, w.Note("account", int64(account.Store), account.Limits.MaxStore, now))
	}
	return all
}

// noteLevels keeps levels for the operator, and logs low ones.
func (a *Arena) noteLevels(all []diskspace.Level, now time.Time) {
	x := &a.space
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = all
	if x.said == nil {
		x.said = make(map[string]time.Time)
	}
	for _, l := range all {
		switch last, said := x.said[l.Of]; {
		case !l.Low:
			delete(x.said, l.Of)
		case !said || now.Sub(last) >= sayAgain:
			x.said[l.Of] = now
			a.log.Warn().Str("of", l.Of).Int64("used_bytes", l.Used).Int64("most_bytes", l.Most).Dur("full_in_ms", l.FullIn).
				Msg("space runs out: make room, or keep less (SPARRING_KEEP_LOGS, SPARRING_KEEP_RECORDS)")
		}
	}
}

// low describes the low levels, a line each.
func (x *spaceLevels) low() (lines []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.all {
		if l.Low {
			lines = append(lines, fmt.Sprintf("warning: %s", l))
		}
	}
	return lines
}

// report returns the levels for the operator.
func (x *spaceLevels) report() (all []protocol.Space) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.all {
		all = append(all, protocol.Space{Of: l.Of, Used: l.Used, Most: l.Most, FullInMS: l.FullIn.Milliseconds(), Low: l.Low})
	}
	return all
}
