package web

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"sparring/protocol"
)

// Rate bounds how often something happens: Burst times at once, and PerMinute
// times a minute in the long run.
type Rate struct {
	PerMinute float64
	Burst     int
}

// Limits bound what one address or one person may do by requests. A school may
// have one address only, so those of an address allow for a class. IPv6 addresses
// count by their /64. The other limits of sockets are the hub's.
type Limits struct {
	// Requests are those of an address, except for static files.
	Requests Rate
	// Sessions are the new guests of an address.
	Sessions Rate
	// Positions are the views of positions that an address asks for.
	Positions Rate
	// Histories are the players whose games an address looks at: a page of them reads
	// many records.
	Histories Rate
	// Changes are those that a person makes to its name, sessions and links.
	Changes Rate
	// Challenges, moves and other Acts, Chats, Hints and Lookups are those of an
	// address, from all its sockets. Lookups are what needs no session and reads a game
	// or an invitation.
	Challenges, Acts, Chats, Hints, Lookups Rate
	// AddressGames and PersonGames are the games against bots, running and waiting, of
	// an address and of a person.
	AddressGames, PersonGames int
}

// DefaultLimits are the limits of a page for the public.
func DefaultLimits() Limits {
	return Limits{
		Requests:  Rate{PerMinute: 1800, Burst: 600},
		Sessions:  Rate{PerMinute: 6, Burst: 60},
		Positions: Rate{PerMinute: 1200, Burst: 400},
		Histories: Rate{PerMinute: 300, Burst: 100},
		Changes:   Rate{PerMinute: 20, Burst: 10},

		Challenges: Rate{PerMinute: 120, Burst: 60},
		Acts:       Rate{PerMinute: 6000, Burst: 1000},
		Chats:      Rate{PerMinute: 240, Burst: 60},
		Hints:      Rate{PerMinute: 60, Burst: 60},
		Lookups:    Rate{PerMinute: 1200, Burst: 400}, // as many at once as an address has tabs, after a restart

		AddressGames: 32, PersonGames: 8,
	}
}

// limiter bounds how often each of many keys does something. It forgets keys that
// have not been used for so long that they may do everything again, and bounds
// the memory for keys: in a flood of new ones, old ones are forgotten too early.
type limiter[K comparable] struct {
	limit  rate.Limit
	burst  int
	full   time.Duration // a key is as new after so long
	mu     sync.Mutex
	recent map[K]*rate.Limiter
	older  map[K]*rate.Limiter
	since  time.Time // of recent
}

// maxKeys bounds each of the two generations of keys.
const maxKeys = 50_000

func newLimiter[K comparable](r Rate) *limiter[K] {
	l := &limiter[K]{limit: rate.Limit(r.PerMinute / 60), burst: r.Burst, recent: make(map[K]*rate.Limiter)}
	seconds := min(float64(r.Burst)/max(float64(l.limit), 1e-9), 86400)
	l.full = time.Duration(math.Ceil(max(seconds, 1))) * time.Second
	return l
}

// allow counts one more use. It returns 0, or how long the key has to wait.
func (l *limiter[K]) allow(key K, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) > l.full || len(l.recent) >= maxKeys {
		l.older, l.recent, l.since = l.recent, make(map[K]*rate.Limiter), now
	}
	of := l.recent[key]
	if of == nil {
		if of = l.older[key]; of == nil {
			of = rate.NewLimiter(l.limit, l.burst)
		}
		l.recent[key] = of
	}
	next := of.ReserveN(now, 1)
	if !next.OK() {
		return l.full // a burst of 0 allows nothing
	}
	wait := next.DelayFrom(now)
	if wait > 0 {
		next.CancelAt(now)
	}
	return wait
}

// limits are the limiters of a gateway.
type limits struct {
	requests, sessions, positions, histories *limiter[netip.Addr]
	changes                                  *limiter[protocol.PlayerID]
}

func newLimits(l Limits) limits {
	return limits{
		requests: newLimiter[netip.Addr](l.Requests), sessions: newLimiter[netip.Addr](l.Sessions),
		positions: newLimiter[netip.Addr](l.Positions),
		histories: newLimiter[netip.Addr](l.Histories), changes: newLimiter[protocol.PlayerID](l.Changes),
	}
}

// tooMany is the error of a request beyond a limit.
type tooMany struct{ wait time.Duration }

func (t tooMany) Error() string { return "too many requests of this kind" }

// bounded returns tooMany if the key has reached the limit.
func bounded[K comparable](l *limiter[K], key K) error {
	if wait := l.allow(key, time.Now()); wait > 0 {
		return tooMany{wait}
	}
	return nil
}

// retryAfter tells the visitor when to come again, in whole seconds.
func retryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}

// byAddress lets a handler be called only so often from one address.
func (s *Server) byAddress(l *limiter[netip.Addr], next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := bounded(l, s.visitor(r)); err != nil {
			s.refuseError(w, r, err)
			return
		}
		next(w, r)
	}
}
