package arena

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves /healthz (200 while players are served, with a line for each store that
// will soon be full, and for missing streams that games go on without) and /metrics (Prometheus), for operators. It is read-only and shows
// no secrets, but is not meant for the internet.
func (a *Arena) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", a.health)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

// healthWithin is when /healthz answers at the latest, before those who ask give up. What
// it looks at may wait longer for a NATS server that hangs: for the store, or for an attempt
// to connect again.
const healthWithin = 2 * time.Second

func (a *Arena) health(w http.ResponseWriter, _ *http.Request) {
	fault := make(chan error, 1)
	go func() { fault <- a.fault() }()
	var err error
	select {
	case err = <-fault:
	case <-time.After(healthWithin):
		err = errors.New("NATS does not answer")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	lines := append([]string{"ok"}, a.space.low()...)
	if lost := a.lost.Load(); lost != nil {
		lines = append(lines, "warning: "+lost.Error())
	}
	fmt.Fprintln(w, strings.Join(lines, "\n"))
}

// fault returns why players are not served, or nil.
func (a *Arena) fault() error {
	select {
	case <-a.serving:
	default:
		return errors.New("starting")
	}
	if a.life.Err() != nil {
		return errors.New("stopped")
	}
	if !a.nc.IsConnected() {
		return fmt.Errorf("no connection to NATS: %s", a.nc.Status())
	}
	if err := a.missingStreams(); err != nil {
		return err
	}
	if n := a.unkept.Load(); n > 0 || a.leases.short() {
		return fmt.Errorf("the store has no room; games that go on in this process alone: %d; %s, and leave this process running", n, makeRoom)
	}
	if _, ok := a.leases.alive(); !ok {
		return errors.New("the store does not answer: games wait until it does")
	}
	a.mu.Lock()
	checks := a.checks
	a.mu.Unlock()
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}
