package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/arena/glicko"
	"sparring/protocol"
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
	// Files is the top folder of a checkout: templates, static files and texts are read
	// from there at each request instead of from the program.
	Files string
	// Limits bound what one address or one person may do; the zero value stands
	// for [DefaultLimits].
	Limits Limits
	// Searches is how many positions reviews search at once, on all analysts
	// together; 0 stands for 2.
	Searches int
	// ReviewTime is how long the searches of a review may take; 0 is the default.
	ReviewTime time.Duration
	// Levels are the ratings of the levels' players on the scale of a ladder, which the
	// page shows of them.
	Levels map[protocol.PlayerID]glicko.Rating
	// Operator serves /healthz and /metrics on the page's address too, but not through a
	// proxy, which may be the internet's. For an address of loopback.
	Operator bool
}

// Server is a gateway: it serves the page, and lets people play through it.
// Create it with [New], start it with [Server.Run].
type Server struct {
	arena   *arena.Arena
	cfg     Config
	log     zerolog.Logger
	site    *site
	people  *people
	hub     *hub
	limits  limits
	metrics *metrics
	mux     *http.ServeMux
	serving atomic.Bool // Run runs
}

// New prepares a gateway for the arena's people, on the arena's connection, and
// opens the bucket of people.
func New(ctx context.Context, a *arena.Arena, cfg Config, log zerolog.Logger) (*Server, error) {
	cfg.URL = strings.TrimSuffix(cfg.URL, "/")
	if err := CheckURL(cfg.URL); cfg.URL != "" && err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	s := &Server{arena: a, cfg: cfg, log: log}
	var err error
	if s.site, err = openSite(cfg.Files); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var agreed *agreements
	if err = a.AwaitStore(ctx, func(ctx context.Context) (err error) {
		if s.people, err = openPeople(ctx, a, log); err == nil {
			agreed, err = openAgreements(ctx, a, log)
		}
		return err
	}); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	if s.metrics, err = newMetrics(a.Metrics()); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	s.hub = newHub(a, s.people, agreed, s.metrics, func() string { return s.site.version }, log)
	s.hub.ratings = cfg.Levels
	if cfg.Limits == (Limits{}) {
		cfg.Limits = DefaultLimits()
	}
	s.hub.bounds = newBounds(cfg.Limits)
	s.hub.analyses = newAnalyses(s.hub, limitAnalysis(cfg.Searches, cfg.ReviewTime))
	s.limits = newLimits(cfg.Limits)
	s.hub.changes = s.limits.changes
	a.AddCheck(s.health)
	s.mux = http.NewServeMux()
	for pattern, h := range s.routes() {
		s.mux.HandleFunc(pattern, h)
	}
	return s, nil
}

// CheckURL returns why a text can't be Config.URL.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("address %.60q: want http:// or https:// and a host, without a path", text)
	}
	return nil
}

// Run does what has to be done between requests, until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	s.serving.Store(true)
	defer s.serving.Store(false)
	var hub sync.WaitGroup
	hub.Go(func() { s.hub.run(ctx) })
	s.people.run(ctx)
	hub.Wait()
	return nil
}

// health returns why people can't be served, for /healthz.
func (s *Server) health() error {
	if !s.serving.Load() {
		return errors.New("the page does not serve")
	}
	return s.people.probe()
}

// routes returns every address of the page. Paths are limited by address, except
// for those of static files, which cost nothing.
func (s *Server) routes() map[string]http.HandlerFunc {
	all := map[string]http.HandlerFunc{
		"POST /api/position": s.byAddress(s.limits.positions, s.position),
		"GET /api/games":     s.gameSets,
		"GET /ws":            s.socket,
		"POST /api/session":  api(s, s.begin),
		"POST /api/name":     api(s, s.name),
		"POST /api/link":     api(s, s.makeLink),
		"POST /api/logout":   api(s, s.logout),
		"POST /api/erase":    api(s, s.erase),
		"GET /api/qr":        s.qrCode,
		"GET /link/{token}":  s.showLink,
		"POST /link/{token}": s.useLink,
	}
	for _, path := range []string{"/{$}", "/invite/{token}"} {
		all["GET "+path] = s.app
	}
	for path, h := range map[string]http.HandlerFunc{"/games": s.live, "/ladder": s.ladder, "/rules": s.rules, "/rules/{game}": s.rules,
		"/player/{id}": s.byAddress(s.limits.histories, s.player),
		"/game/{id}":   s.byAddress(s.limits.positions, s.game), "/game/{id}/{ply}": s.byAddress(s.limits.positions, s.game)} {
		all["GET "+path] = h
	}
	for pattern, h := range all {
		all[pattern] = s.byAddress(s.limits.requests, h)
	}
	all["GET /s/{version}/{file...}"] = s.static
	all["GET /favicon.ico"] = s.root("favicon.svg")
	all["GET /robots.txt"] = s.root("robots.txt")
	if s.cfg.Operator {
		all["GET /healthz"] = s.direct(s.arena.Handler())
		all["GET /metrics"] = s.direct(s.arena.Handler())
	}
	return all
}

// Handler serves everything that the page needs.
func (s *Server) Handler() http.Handler {
	return s.guarded(http.HandlerFunc(s.serve))
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
	if refused.status == http.StatusMethodNotAllowed {
		s.refuse(w, r, refused.status, "no-method", "this address does not take that method")
		return
	}
	s.notFound(w, r)
}

// app serves a page that the script fills in.
func (s *Server) app(w http.ResponseWriter, r *http.Request) {
	s.renewCookie(w, r)
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
