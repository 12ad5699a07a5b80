package arena

import (
	"context"
	"errors"
	"time"
)

// settle stores the record of the ended game, says so in its log, and goes
// when nobody can ask any more. An arena that dies in between leaves a log
// whose last entry is the end, and another settles it.
func (r *referee) settle(now time.Time) {
	switch {
	case r.settled && now.After(r.lingerTo):
		r.stop(errSettled)
		return
	case r.settled || now.Before(r.settleOn):
		return
	}
	r.settleOn = now.Add(time.Second)
	if err := r.a.record(r.ctx, r.id, r.lacking); err != nil {
		if r.ctx.Err() == nil {
			r.log.Error().Err(err).Msg("record not stored; it is tried again")
		}
		return
	}
	switch err := r.j.append(r.ctx, r.m.Recorded(now), 0); {
	case errors.Is(err, errSpace):
		return
	case err != nil:
		r.stop(err)
		return
	}
	r.m.Commit(r.j.last, now)
	r.settled = true
	r.a.metrics.settled.Inc()
	ctx, cancel := context.WithTimeout(r.ctx, storeWait)
	defer cancel()
	r.a.leases.release(ctx, string(r.id))
}
