package web

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the counters for operators. None says anything about one person.
type metrics struct {
	sockets     prometheus.Gauge
	people      prometheus.Gauge
	sessions    prometheus.Counter
	refused     *prometheus.CounterVec // by code
	slowReaders prometheus.Counter
}

// newMetrics registers the counters.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "sparring", Subsystem: "page", Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "sparring", Subsystem: "page", Name: name, Help: help}
	}
	m := &metrics{
		sockets:     gauge("sockets", "Pages that are connected."),
		people:      gauge("people", "People with a page that is connected."),
		sessions:    prometheus.NewCounter(counter("sessions_total", "New guests.")),
		refused:     prometheus.NewCounterVec(counter("refusals_total", "Requests of pages that were refused."), []string{"code"}),
		slowReaders: prometheus.NewCounter(counter("slow_readers_total", "Sockets closed because their reader was too slow.")),
	}
	return m, errors.Join(r.Register(m.sockets), r.Register(m.people), r.Register(m.sessions), r.Register(m.refused), r.Register(m.slowReaders))
}
