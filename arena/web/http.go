package web

import (
	"log"
	"net/http"
	"regexp"
	"time"

	"github.com/rs/zerolog"
)

// HTTPServer returns a server for the handler, [Server.Handler] or
// [Server.Operator], that slow or huge requests can't occupy. Sockets are not
// subject to its times once they are open.
func (s *Server) HTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(withoutAddresses{s.log}, "", 0),
	}
}

// withoutAddresses logs what package net/http reports, without the addresses of
// visitors.
type withoutAddresses struct{ log zerolog.Logger }

var addressIn = regexp.MustCompile(`(from|serving) \S+`)

func (l withoutAddresses) Write(line []byte) (int, error) {
	l.log.Warn().Str("error", addressIn.ReplaceAllString(string(line), "$1 a visitor")).Msg("http")
	return len(line), nil
}

// Operator serves what is not for the public: /healthz, which is 200 while the
// arena and the page serve people, and /metrics.
func (s *Server) Operator() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health)
	mux.Handle("GET /metrics", s.arena.Handler())
	return mux
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	switch {
	case !s.serving.Load():
		http.Error(w, "the page does not serve", http.StatusServiceUnavailable)
	case s.people.isResting():
		http.Error(w, "the bucket of people does not answer", http.StatusServiceUnavailable)
	default:
		s.arena.Handler().ServeHTTP(w, r)
	}
}
