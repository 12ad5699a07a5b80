package bot

import (
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sparring/bot/policy"
	"sparring/engine"
	"sparring/protocol"
)

// overload notices that searches for moves start late, because there are more games
// than the cores can think for, or the machine has other work. Then the process offers
// only three quarters of the slots that are in use, fewer again if that does not help,
// and does not ponder. When searches start in time, it offers more step by step. Running
// games go on in any case.
type overload struct {
	pool   *engine.Pool // of the games of profiles
	ledger *policy.Ledger
	slots  int // without overload
	ponder bool
	log    zerolog.Logger

	// Only check uses these.
	seen  []startCount
	since time.Time // of the last change of slots

	offered atomic.Int64 // slots; the same number as slots without overload
}

// startCount is how many searches had started at a time, and how many of them late.
type startCount struct {
	at            time.Time
	started, late int64
}

const (
	overloadSpan  = 10 * time.Second // whose searches count
	overloadLeast = 16               // searches, before they say anything
	overloadStep  = 5 * time.Second  // between two additions of slots
	// From one late search in four on there are too many games; one in sixteen is few
	// enough for more.
	tooManyLate, fewLate = 4, 16
)

func newOverload(pool *engine.Pool, ledger *policy.Ledger, slots int, ponder bool, log zerolog.Logger) *overload {
	o := &overload{pool: pool, ledger: ledger, slots: slots, ponder: ponder, log: log}
	o.offered.Store(int64(slots))
	return o
}

// restricted reports whether fewer slots are offered than there are.
func (o *overload) restricted() bool { return int(o.offered.Load()) < o.slots }

// check looks at the searches that have started lately. Run calls it about once a
// second.
func (o *overload) check(now time.Time) {
	load := o.pool.Load()
	o.seen = append(o.seen, startCount{now, load.Started, load.Late})
	for len(o.seen) > 2 && now.Sub(o.seen[1].at) >= overloadSpan {
		o.seen = o.seen[1:]
	}
	started, late := load.Started-o.seen[0].started, load.Late-o.seen[0].late
	games := o.ledger.Used() - o.ledger.UsedByLevels()
	switch {
	case started >= overloadLeast && late*tooManyLate >= started:
		// At least one slot, or the process would never find out that it is better again.
		switch {
		case !o.restricted() && o.slots > 1:
			o.pool.AllowPondering(false)
			o.log.Warn().Int64("late", late).Int64("of", started).Int("games", games).Int("slots", o.slots).
				Msg("searches start late: fewer slots are offered, and no pondering")
			o.offer(max(min(games, o.slots)*3/4, 1), now)
		case o.restricted() && now.Sub(o.since) >= overloadSpan: // since when others have counted
			o.offer(max(int(o.offered.Load())*3/4, 1), now)
		}
	case o.restricted() && late*fewLate <= started && now.Sub(o.since) >= overloadStep:
		o.offer(int(o.offered.Load())+max(1, o.slots/8), now)
		if !o.restricted() {
			o.pool.AllowPondering(o.ponder)
			o.log.Info().Int("slots", o.slots).Msg("searches start in time again: all slots are offered")
		}
	}
}

// offer sets the number of slots that are offered.
func (o *overload) offer(slots int, now time.Time) {
	slots = min(slots, o.slots)
	o.since = now
	o.offered.Store(int64(slots))
	if slots < o.slots {
		o.ledger.Restrict(slots)
	} else {
		o.ledger.Unrestrict()
	}
}

// fill completes a report.
func (o *overload) fill(r *protocol.BotReport) {
	if o.restricted() {
		offered := int(o.offered.Load())
		r.Offered = &offered
	}
	load := o.pool.Load()
	r.Started, r.StartedLate = load.Started, load.Late
}
