package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/arena/web"
	"sparring/configs"
	"sparring/internal/httpserver"
)

// webSettings are the arena command's settings of the page for people.
type webSettings struct {
	Address    string         `desc:"address of the page for people, such as 127.0.0.1:8080 or :443; empty: none"`
	URL        string         `desc:"how people reach the page, such as https://play.example.org; links that they pass on begin with it; empty: the address of each request"`
	Cert       string         `desc:"path of the page's TLS certificate, with those of its issuers, read again when it changes; empty: no TLS"`
	Key        string         `desc:"path of the key of WEB_CERT"`
	Proxies    []netip.Prefix `desc:"addresses of the proxies before the page, such as 127.0.0.1/32,10.0.0.0/8: they are believed about whom they ask for, and whether over TLS"`
	Reviews    int            `default:"2" desc:"positions that reviews search at once, on all analysts together: as many as the bot processes have SPARRING_ANALYSES"`
	ReviewTime time.Duration  `split_words:"true" default:"45s" desc:"how long the searches of a review may take, where its cores are free: 1s to 10m"`
	Files      string         `desc:"path of a checkout of the program, to read the page's files from at each request; empty: those in the program"`
}

func (s *webSettings) validate(faults *configs.Faults) {
	faults.Err("WEB_ADDRESS", httpserver.CheckAddress(s.Address))
	if s.URL != "" {
		faults.Err("WEB_URL", web.CheckURL(s.URL))
	}
	if (s.Cert == "") != (s.Key == "") {
		faults.Add("WEB_CERT", "want WEB_KEY with it, or neither")
	} else if s.Cert != "" {
		_, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		faults.Err("WEB_CERT", err)
	}
	faults.AtLeast("WEB_REVIEWS", s.Reviews, 1)
	if s.ReviewTime < time.Second || s.ReviewTime > 10*time.Minute {
		faults.Add("WEB_REVIEW_TIME", "must be 1s to 10m, not %s", s.ReviewTime)
	}
	faults.Err("WEB_FILES", pageFiles(s.Files))
}

// pageFiles reports whether a path can be a folder with the page's files; "" is valid
// and means those in the program.
func pageFiles(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(filepath.Join(path, "screen", "static"))
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%.200s: not a folder", info.Name())
	}
	return err
}

// gateway is the page for people as it is served. Nil serves none.
type gateway struct {
	url      string // where people reach it
	operator bool   // it serves /healthz and /metrics, too
	server   *web.Server
	end      func()
}

// openGateway serves the page at an address, unless that is nil.
func openGateway(ctx context.Context, a *arena.Arena, at *httpserver.Listener, cfg web.Config, log zerolog.Logger) (*gateway, error) {
	if at == nil {
		return nil, nil
	}
	cfg.Levels = levelAnchors()
	at.Proxies = cfg.Proxies
	server, err := web.New(ctx, a, cfg, log)
	if err != nil {
		at.Close()
		return nil, err
	}
	return &gateway{url: cmp.Or(cfg.URL, at.URL()), operator: cfg.Operator, server: server, end: at.Serve(server.Handler(), log)}, nil
}

// run does the gateway's own work until ctx ends.
func (g *gateway) run(ctx context.Context) error {
	if g == nil {
		<-ctx.Done()
		return nil
	}
	return g.server.Run(ctx)
}

func (g *gateway) close() {
	if g != nil {
		g.end()
	}
}
