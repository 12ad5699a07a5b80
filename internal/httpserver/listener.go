// Package httpserver serves HTTP to strangers: with bounds on connections, headers and times, so
// that one visitor takes no place from others, and with a certificate that is read again when
// its files change. It knows no page: whoever uses it gives the handler.
package httpserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

// Listener is an HTTP server's address. Its certificate and proxies are set before Serve.
type Listener struct {
	net.Listener
	Certificate *KeyPair       // nil: no TLS
	Proxies     []netip.Prefix // from which there may be any number of connections

	headersWithin time.Duration // how long a request's headers may take
}

// Listen takes an address; the result is nil for "".
func Listen(ctx context.Context, address string) (*Listener, error) {
	if address == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &Listener{Listener: l, headersWithin: headersWithin}, nil
}

// ListenNear takes the address or, if it is in use, any free port of its host.
func ListenNear(ctx context.Context, address string) (*Listener, error) {
	l, err := Listen(ctx, address)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return Listen(ctx, net.JoinHostPort(host, "0"))
}

// headersWithin is how long a request's headers may take: a phone in a tunnel sends a packet
// again after one, three, seven and fifteen seconds. Who sends them slowly on purpose
// takes no connection from others: see boundedListener.
const headersWithin = 30 * time.Second

// Serve serves HTTP until the function returned is called.
func (l *Listener) Serve(h http.Handler, log zerolog.Logger) (end func()) {
	// WriteTimeout allows for a slow phone. It does not end sockets of the page,
	// which the gateway watches itself.
	bounded := bound(l.Listener, l.Proxies, log)
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: l.headersWithin, ReadTimeout: 2 * l.headersWithin, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: stdlog.New(panics{log}, "", 0), ConnState: bounded.changed,
	}
	var done sync.WaitGroup
	done.Go(func() {
		var err error
		if l.Certificate != nil {
			server.TLSConfig = &tls.Config{GetCertificate: l.Certificate.get, MinVersion: tls.VersionTLS12}
			err = server.ServeTLS(bounded, "", "")
		} else {
			err = server.Serve(bounded)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("HTTP server")
		}
	})
	log.Info().Str("url", l.URL()).Msg("serving HTTP")
	return func() {
		server.Close()
		done.Wait()
	}
}

// URL returns where people reach the listener. If it listens on all interfaces, that
// is the machine's address in its network, if there is one.
func (l *Listener) URL() string {
	address := l.Addr().String()
	if a, ok := l.Addr().(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		address = net.JoinHostPort(ownAddress(), strconv.Itoa(a.Port))
	}
	if l.Certificate != nil {
		return "https://" + address
	}
	return "http://" + address
}

// IsLoopback reports whether only this machine reaches the listener.
func (l *Listener) IsLoopback() bool {
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

// CheckAddress reports whether an HTTP address is valid; "" is valid and means none.
func CheckAddress(address string) error {
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
