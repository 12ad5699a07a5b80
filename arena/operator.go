package arena

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves /healthz (200 while players are served, with a line for each store that
// will soon be full) and /metrics (Prometheus), for operators. It is read-only and shows
// no secrets, but is not meant for the internet.
func (a *Arena) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", a.health)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

func (a *Arena) health(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-a.serving:
	default:
		http.Error(w, "starting", http.StatusServiceUnavailable)
		return
	}
	if a.life.Err() != nil {
		http.Error(w, "stopped", http.StatusServiceUnavailable)
		return
	}
	if !a.nc.IsConnected() {
		http.Error(w, "no connection to NATS: "+a.nc.Status().String(), http.StatusServiceUnavailable)
		return
	}
	if n := a.unkept.Load(); n > 0 || a.leases.short() {
		http.Error(w, fmt.Sprintf("the store has no room; games that go on in this process alone: %d; %s, and leave this process running", n, makeRoom),
			http.StatusServiceUnavailable)
		return
	}
	if _, ok := a.leases.alive(); !ok {
		http.Error(w, "the store does not answer: games wait until it does", http.StatusServiceUnavailable)
		return
	}
	a.mu.Lock()
	checks := a.checks
	a.mu.Unlock()
	for _, check := range checks {
		if err := check(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	fmt.Fprintln(w, strings.Join(append([]string{"ok"}, a.space.low()...), "\n"))
}
