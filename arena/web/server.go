package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena"
)

// Config has the settings of a gateway. The zero value serves a page that only
// this machine reaches.
type Config struct {
	// URL is how people reach the page, such as https://play.example.org; links
	// that people pass on begin with it. Empty: the address of each request.
	URL string
	// Proxies are the addresses of the proxies before this server. Only they are
	// believed when they say for whom they ask, and whether that was over TLS.
	Proxies []netip.Prefix
	// Files is the path of this package's folder: static files, templates and
	// texts are read from there at each request instead of from the program.
	Files string
	// Operator serves /healthz and /metrics on the page's address too. Not for
	// the internet.
	Operator bool
}

// Server is a gateway: it serves the page, and lets people play through it.
// Create it with [New], start it with [Server.Run].
type Server struct {
	arena *arena.Arena
	nc    *nats.Conn
	cfg   Config
	log   zerolog.Logger
	site  *site
	mux   *http.ServeMux
}

// New prepares a gateway for the arena's people. nc is a connection of the
// platform's account; the caller closes it.
func New(a *arena.Arena, nc *nats.Conn, cfg Config, log zerolog.Logger) (*Server, error) {
	if cfg.URL = strings.TrimSuffix(cfg.URL, "/"); cfg.URL != "" && !strings.HasPrefix(cfg.URL, "https://") && !strings.HasPrefix(cfg.URL, "http://") {
		return nil, fmt.Errorf("page: address %.60q: want http:// or https://", cfg.URL)
	}
	s := &Server{arena: a, nc: nc, cfg: cfg, log: log}
	var err error
	if s.site, err = openSite(cfg.Files); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	s.routes()
	return s, nil
}

// Run does what has to be done between requests, until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	if s.nc.IsClosed() {
		return errors.New("page: connection closed")
	}
	<-ctx.Done()
	return nil
}

// routes registers every address of the page. A test walks through all of them.
func (s *Server) routes() {
	s.mux = http.NewServeMux()
	for _, path := range []string{"/{$}", "/game/{id}", "/game/{id}/{ply}", "/games", "/ladder", "/invite/{token}"} {
		s.mux.HandleFunc("GET "+path, s.app)
	}
	s.mux.HandleFunc("POST /api/position", s.position)
	s.mux.HandleFunc("GET /api/games", s.gameSets)
	s.mux.HandleFunc("GET /s/{version}/{file...}", s.static)
	s.mux.HandleFunc("GET /favicon.ico", s.root("favicon.svg"))
	s.mux.HandleFunc("GET /robots.txt", s.root("robots.txt"))
}

// Handler serves everything that the page needs.
func (s *Server) Handler() http.Handler {
	return guarded(http.HandlerFunc(s.serve))
}

// serve answers a request that the headers allow. What no route takes gets an
// error page, or an error as JSON below /api.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if _, pattern := s.mux.Handler(r); pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	refused := statusOnly{header: w.Header()}
	s.mux.ServeHTTP(&refused, r)
	s.fail(w, r, refused.status)
}

// app serves a page that the script fills in.
func (s *Server) app(w http.ResponseWriter, r *http.Request) {
	s.page(w, r, http.StatusOK, "app.html", nil)
}

// statusOnly keeps the status of an answer and drops its body.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
