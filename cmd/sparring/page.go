package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/arena/web"
	"sparring/configs"
)

// webSettings are the arena command's settings of the page for people.
type webSettings struct {
	Address string         `desc:"address of the page for people, such as 127.0.0.1:8080 or :443; empty: none"`
	URL     string         `desc:"how people reach the page, such as https://play.example.org; links that they pass on begin with it; empty: the address of each request"`
	Cert    string         `desc:"path of the page's TLS certificate, with those of its issuers, read again when it changes; empty: no TLS"`
	Key     string         `desc:"path of the key of WEB_CERT"`
	Proxies []netip.Prefix `desc:"addresses of the proxies before the page, such as 127.0.0.1/32,10.0.0.0/8: they are believed about whom they ask for, and whether over TLS"`
	Reviews int            `default:"2" desc:"positions that reviews search at once, on all analysts together: as many as the bot processes have SPARRING_ANALYSES"`
	Files   string         `desc:"path of a checkout of the program, to read the page's files from at each request; empty: those in the program"`
}

func (s *webSettings) validate(faults *configs.Faults) {
	faults.Err("WEB_ADDRESS", checkAddress(s.Address))
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
func openGateway(ctx context.Context, a *arena.Arena, at *listener, cfg web.Config, log zerolog.Logger) (*gateway, error) {
	if at == nil {
		return nil, nil
	}
	cfg.Levels = levelAnchors()
	at.proxies = cfg.Proxies
	server, err := web.New(ctx, a, cfg, log)
	if err != nil {
		at.Close()
		return nil, err
	}
	return &gateway{url: cmp.Or(cfg.URL, at.url()), operator: cfg.Operator, server: server, end: at.serve(server.Handler(), log)}, nil
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

// listener is an HTTP server's address.
type listener struct {
	net.Listener
	tls     *keyPair       // nil: no TLS
	proxies []netip.Prefix // from which there may be any number of connections
}

// listen takes an address; the result is nil for "".
func listen(ctx context.Context, address string) (*listener, error) {
	if address == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &listener{Listener: l}, nil
}

// listenNear takes the address or, if it is in use, any free port of its host.
func listenNear(ctx context.Context, address string) (*listener, error) {
	l, err := listen(ctx, address)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return listen(ctx, net.JoinHostPort(host, "0"))
}

// headersWithin is how long a request's headers may take: a phone in a tunnel sends a packet
// again after one, three, seven and fifteen seconds. Who sends them slowly on purpose
// takes no connection from others: see boundedListener.
const headersWithin = 30 * time.Second

// serve serves HTTP until the function returned is called.
func (l *listener) serve(h http.Handler, log zerolog.Logger) (end func()) {
	// WriteTimeout allows for a slow phone. It does not end sockets of the page,
	// which the gateway watches itself.
	bounded := bound(l.Listener, l.proxies, log)
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headersWithin, ReadTimeout: 2 * headersWithin, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: stdlog.New(panics{log}, "", 0), ConnState: bounded.changed,
	}
	var done sync.WaitGroup
	done.Go(func() {
		var err error
		if l.tls != nil {
			server.TLSConfig = &tls.Config{GetCertificate: l.tls.get, MinVersion: tls.VersionTLS12}
			err = server.ServeTLS(bounded, "", "")
		} else {
			err = server.Serve(bounded)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("HTTP server")
		}
	})
	log.Info().Str("url", l.url()).Msg("serving HTTP")
	return func() {
		server.Close()
		done.Wait()
	}
}

// url returns where people reach the listener. If it listens on all interfaces, that
// is the machine's address in its network, if there is one.
func (l *listener) url() string {
	address := l.Addr().String()
	if a, ok := l.Addr().(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		address = net.JoinHostPort(ownAddress(), strconv.Itoa(a.Port))
	}
	if l.tls != nil {
		return "https://" + address
	}
	return "http://" + address
}

// loopback reports whether only this machine reaches the listener.
func (l *listener) loopback() bool {
	if l == nil {
		return false
	}
	a, ok := l.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}

// ownAddress returns an address of this machine that others in its network reach,
// or else its name for itself.
func ownAddress() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return "localhost"
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return "localhost"
}

// checkAddress reports whether an HTTP address is valid; "" is valid and means none.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("address %.60q: want a port of 0 to 65535", address)
	}
	return nil
}

// keyPair is a TLS certificate in files, which are renewed while the server runs.
type keyPair struct {
	cert, key string
	log       zerolog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	tried  [2]time.Time // when certificate and key had been changed that were last read
}

// get returns the certificate, for tls.Config. While the files can't be read, or only
// one of them is replaced yet, the last one stays.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var changed [2]time.Time
	var err error
	for i, path := range []string{k.cert, k.key} {
		info, failed := os.Stat(path)
		if failed == nil {
			changed[i] = info.ModTime()
		}
		err = errors.Join(err, failed)
	}
	if k.loaded != nil && changed[0].Equal(k.tried[0]) && changed[1].Equal(k.tried[1]) {
		return k.loaded, nil
	}
	k.tried = changed
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(k.cert, k.key)
	}
	switch {
	case err == nil:
		k.loaded = &pair
	case k.loaded == nil:
		return nil, err
	default:
		k.log.Warn().Err(err).Msg("the page's new certificate can't be read; keeping the old one")
	}
	return k.loaded, nil
}

// panics logs the panics among the errors of an HTTP server. The others are about
// the connections of visitors, whose addresses belong in no log.
type panics struct{ log zerolog.Logger }

// Write logs an error of an HTTP server.
func (p panics) Write(line []byte) (int, error) {
	if rest, ok := bytes.CutPrefix(line, []byte("http: panic serving ")); ok {
		_, what, _ := bytes.Cut(rest, []byte(": "))
		p.log.Error().Str("panic", string(what)).Msg("HTTP server")
	}
	return len(line), nil
}
