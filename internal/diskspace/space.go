// Package diskspace tells in time when a disk, or another store with a limit, will be full.
//
// Call [Watch.Note] now and then with what is used; it returns a [Level] with a forecast.
// [Disk] measures a disk.
package diskspace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Level is how full something is.
type Level struct {
	Of   string // "disk /data"
	Used int64  // bytes
	Most int64  // bytes that it can have, more than 0
	// FullIn is when it will be full if it goes on as in the last hours; 0: it does not
	// grow, or was not watched for long enough.
	FullIn time.Duration
	// Low: the operator should act now.
	Low bool
}

// Share returns how full it is, 0 to 1.
func (l Level) Share() float64 { return float64(l.Used) / float64(l.Most) }

// String writes it for people: "disk /data is 91 % full, and full in 3h".
func (l Level) String() string {
	text := fmt.Sprintf("%s is %.0f %% full", l.Of, 100*l.Share())
	if l.FullIn > 0 {
		text += fmt.Sprintf(", and full in %s", strings.TrimSuffix(l.FullIn.Round(time.Minute).String(), "0s"))
	}
	return text
}

// Limits say when a level is low. Zero is never.
type Limits struct {
	Within time.Duration // full in less than this
	Share  float64       // fuller than this, 0 to 1
}

// What a forecast is made from: readings of this long, this far apart at least, and over
// this time at least.
const (
	remembered = 6 * time.Hour
	apart      = time.Minute
	minSpan    = 10 * time.Minute
)

// Watch remembers readings. Its zero value has no limits. It is not safe for concurrent
// use.
type Watch struct {
	Limits Limits
	of     map[string][]reading
}

type reading struct {
	at   time.Time
	used int64
}

// Note takes a reading, and returns the level.
func (w *Watch) Note(of string, used, most int64, at time.Time) Level {
	if w.of == nil {
		w.of = map[string][]reading{}
	}
	all := slices.DeleteFunc(w.of[of], func(r reading) bool { return at.Sub(r.at) > remembered })
	if len(all) == 0 || at.Sub(all[len(all)-1].at) >= apart {
		all = append(all, reading{at, used})
	}
	w.of[of] = all
	l := Level{Of: of, Used: used, Most: most}
	if span := at.Sub(all[0].at); span >= minSpan && used > all[0].used && used < most {
		perSecond := float64(used-all[0].used) / span.Seconds()
		if seconds := float64(most-used) / perSecond; seconds < (365 * 24 * time.Hour).Seconds() {
			l.FullIn = max(time.Duration(seconds*float64(time.Second)), 1)
		}
	}
	l.Low = w.Limits.Share > 0 && l.Share() >= w.Limits.Share || l.FullIn > 0 && l.FullIn <= w.Limits.Within
	return l
}
