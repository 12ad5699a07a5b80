package arena

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the counters for operators.
type metrics struct {
	registry   *prometheus.Registry
	running    prometheus.Gauge
	granted    *prometheus.CounterVec // by game
	ended      *prometheus.CounterVec // by game and reason
	recorded   prometheus.Counter
	moves      prometheus.Counter
	waited     prometheus.Histogram
	refused    *prometheus.CounterVec // by code
	disputes   *prometheus.CounterVec // by game
	handovers  prometheus.Counter
	takeovers  prometheus.Counter
	lost       prometheus.Counter
	retries    prometheus.Counter
	unkept     prometheus.Counter
	corrupt    prometheus.Counter
	offers     *prometheus.CounterVec // by answer
	unreadable prometheus.Counter
	challenges prometheus.Counter
	pairings   *prometheus.CounterVec // of the ladder, by what became of them

	waitingForGame prometheus.Gauge
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sparring", Subsystem: "arena", Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sparring", Subsystem: "arena", Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	m.running = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "sparring", Subsystem: "arena",
		Name: "games_refereed", Help: "Games that this process referees, including for a while after their end."})
	m.waited = prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "sparring", Subsystem: "arena",
		Name: "move_waited_seconds", Help: "Time from the arrival of a move to its ruling.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 8)})
	m.registry.MustRegister(m.running, m.waited)
	m.granted = counters("games_granted_total", "Games started.", "game")
	m.ended = counters("games_ended_total", "Games ended.", "game", "reason")
	m.recorded = counter("games_settled_total", "Games whose record was stored.")
	m.moves = counter("moves_total", "Moves accepted.")
	m.refused = counters("refusals_total", "Requests that referees refused.", "code")
	m.disputes = counters("disputes_total", "Games ended because the position key of the mover differs from that of the referee.", "game")
	m.handovers = counter("seat_changes_total", "Seats vacated or taken in running games.")
	m.takeovers = counter("takeovers_total", "Games taken over from another referee.")
	m.lost = counter("games_lost_total", "Games that another referee took over.")
	m.retries = counter("append_retries_total", "Failed attempts to append to a log.")
	m.unkept = counter("games_unkept_total", "Times that a game continued without its log for lack of space.")
	m.corrupt = counter("logs_corrupt_total", "Games that can't be refereed because their log can't be read.")
	m.offers = counters("offers_total", "Offers of seats in new games.", "answer")
	m.unreadable = counter("challenges_unjudged_total", "Unreadable challenges that were returned to the queue.")
	m.pairings = counters("pairings_total", "Pairings of the ladder that this process made, by what became of them.", "outcome")
	m.waitingForGame = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "sparring", Subsystem: "arena",
		Name: "ladder_waiting", Help: "Players who are free and for whom the ladder has no opponent yet, if this process pairs it."})
	m.registry.MustRegister(m.waitingForGame)
	m.challenges = counter("challenges_total", "Challenges stored.")
	return m
}

// count adds a counter with the value that a function returns.
func (m *metrics) count(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "sparring", Subsystem: "arena", Name: name, Help: help}, value))
}

// gauge adds a gauge with the value that a function returns.
func (m *metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "sparring", Subsystem: "arena", Name: name, Help: help}, value))
}

// totals returns the counters, added up over their labels, by name without the prefix.
func (m *metrics) totals() map[string]int64 {
	families, err := m.registry.Gather()
	if err != nil {
		return nil // two metrics of one name, which the tests would find
	}
	totals := make(map[string]int64)
	for _, f := range families {
		name, ours := strings.CutPrefix(f.GetName(), "sparring_arena_")
		for _, one := range f.GetMetric() {
			if c := one.GetCounter(); ours && c != nil {
				totals[name] += int64(c.GetValue())
			}
		}
	}
	return totals
}
