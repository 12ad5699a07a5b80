package bot

import (
	"context"
	"sync"
	"time"

	"sparring/internal/diskspace"
	"sparring/protocol"
)

// diskLevel is how full the disk of the bot's records is.
type diskLevel struct {
	mu    sync.Mutex
	level diskspace.Level // Most is 0 while it is not known
}

// measureEvery is the time between two measurements of the disk.
const measureEvery = 30 * time.Second

// watchDisk measures the disk, and warns once when it gets low, until ctx ends.
func (b *Bot) watchDisk(ctx context.Context) {
	watch := diskspace.Watch{Limits: diskspace.Limits{Within: b.cfg.Warn.Within, Share: float64(b.cfg.Warn.Percent) / 100}}
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	for low := false; ctx.Err() == nil; {
		if used, most, err := diskspace.Disk(b.cfg.Data); err == nil {
			l := watch.Note("disk "+b.cfg.Data, used, most, time.Now())
			b.disk.mu.Lock()
			b.disk.level = l
			b.disk.mu.Unlock()
			if l.Low && !low {
				b.log.Warn().Str("of", l.Of).Int64("used_bytes", l.Used).Int64("most_bytes", l.Most).Dur("full_in_ms", l.FullIn).
					Msg("space runs out: make room, or keep less (SPARRING_KEEP_RECORDS)")
			}
			low = l.Low
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// report returns the level for the operator, none while it is not known.
func (d *diskLevel) report() []protocol.Space {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.level
	if l.Most == 0 {
		return nil
	}
	return []protocol.Space{{Of: l.Of, Used: l.Used, Most: l.Most, FullInMS: l.FullIn.Milliseconds(), Low: l.Low}}
}
