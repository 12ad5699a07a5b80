package arena

import (
	"context"
	"errors"
	"time"
)

// storeRecord stores the record of the ended game and notes that in its log; the
// referee stops when it has answered late requests for long enough. If an arena
// dies in between, the log still ends with the game's end, and another arena
// stores the record.
func (r *referee) storeRecord(now time.Time) {
	switch {
	case r.recorded && now.After(r.lingerTo):
		r.stop(errRecorded)
		return
	case r.recorded || now.Before(r.storeAt):
		return
	}
	r.storeAt = now.Add(time.Second)
	if err := r.a.record(r.ctx, r.id, r.missing); err != nil {
		if r.ctx.Err() == nil {
			r.log.Error().Err(err).Msg("record not stored; trying again")
		}
		return
	}
	switch err := r.j.append(r.ctx, r.game.Recorded(now), 0); {
	case errors.Is(err, errSpace):
		return
	case err != nil:
		r.stop(err)
		return
	}
	r.game.Commit(r.j.last, now)
	r.recorded = true
	r.a.metrics.recorded.Inc()
	ctx, cancel := context.WithTimeout(r.ctx, storeWait)
	defer cancel()
	r.a.leases.release(ctx, string(r.id))
}
