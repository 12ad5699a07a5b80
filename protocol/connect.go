package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// Connection says where NATS is and who we are there.
type Connection struct {
	URL  string // several may be named, with commas between
	Name string // of this process, as the server shows it
	// User names the inbox too: _INBOX_<user>.> is the only one that the
	// server's permissions let us read.
	User     string
	Password string
	Creds    string // path of a .creds file, instead of the password
	CA       string // path of the CA that signed the server's certificate; "" is the system's
	// InProcess serves the connection without a socket when the server is
	// embedded in this process.
	InProcess nats.InProcessConnProvider
	Log       zerolog.Logger
}

// Connect opens a connection that outlives the server: it reconnects for ever
// with jitter, finds dead sockets within 15 seconds, and says what happens to
// it in the log. A server that is not there is waited for: the connection is
// returned at once, and requests on it fail until the server has come ([Await]
// waits for that). A server that refuses us, or settings that can't work, are an error.
//
// What is published while the connection is down is lost, and the publisher
// told (nats.ErrReconnectBufExceeded): a move that is sent a minute late by a
// buffer helps nobody, and who wants an answer asks again.
func Connect(c Connection) (*nats.Conn, error) {
	servers, err := redacted(c.URL)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	opts := c.options()
	nc, err := nats.Connect(c.URL, opts...)
	if err == nil {
		return nc, nil
	}
	if refused(err) {
		return nil, fmt.Errorf("connect %s: user %q refused: %w", servers, c.User, err)
	}
	if !absent(err) {
		return nil, fmt.Errorf("connect %s: %w", servers, err)
	}
	c.Log.Warn().Str("nats", c.Name).Str("url", servers).Err(err).Msg("no NATS server there; waiting for it")
	// Later on a refusal may be a server that is being set up anew.
	nc, err = nats.Connect(c.URL, append(opts, nats.RetryOnFailedConnect(true))...)
	if err != nil {
		return nil, fmt.Errorf("connect %s: %w", servers, err)
	}
	return nc, nil
}

// Await waits until the connection is up, for work that can't begin without a
// server. The error is ctx's end, or that the connection was closed.
func Await(ctx context.Context, nc *nats.Conn) error {
	changed := nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer nc.RemoveStatusListener(changed)
	for !nc.IsConnected() {
		if nc.IsClosed() {
			return nats.ErrConnectionClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("no NATS server: %w", context.Cause(ctx))
		}
	}
	return nil
}

// redacted is the list of servers without passwords.
func redacted(list string) (string, error) {
	var out []string
	for i, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); !strings.Contains(s, "://") {
			s = "nats://" + s
		}
		u, err := url.Parse(s)
		if err != nil {
			var e *url.Error
			if errors.As(err, &e) {
				err = e.Err // the rest of it tells the password
			}
			return "", fmt.Errorf("server %d of the list is not a URL: %w", i+1, err)
		}
		out = append(out, u.Redacted())
	}
	return strings.Join(out, ","), nil
}

func refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked)
}

// absent tells a server that may come from a mistake that stays.
func absent(err error) bool {
	var network *net.OpError
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, io.EOF) ||
		errors.As(err, &network) && network.Op != "remote error" // which is TLS: a certificate refused
}

func (c Connection) options() []nats.Option {
	log := c.Log.With().Str("nats", c.Name).Logger()
	var failure string // the last one logged; callbacks come one at a time
	opts := []nats.Option{
		nats.Name(c.Name),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.Timeout(5 * time.Second),
		nats.DrainTimeout(5 * time.Second),
		nats.CustomInboxPrefix(inbox(c.User)),
		nats.ConnectHandler(func(nc *nats.Conn) { log.Debug().Str("url", nc.ConnectedUrlRedacted()).Msg("connected") }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn().Err(err).Msg("disconnected")
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if text := err.Error(); text != failure { // not every quarter of a second
				failure = text
				log.Warn().Err(err).Msg("can't reconnect yet")
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			failure = ""
			log.Info().Str("url", nc.ConnectedUrlRedacted()).Msg("reconnected")
		}),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			e := log.Error().Err(err)
			if sub != nil {
				e = e.Str("subject", sub.Subject)
			}
			e.Msg("nats")
		}),
	}
	switch {
	case c.Creds != "":
		opts = append(opts, nats.UserCredentials(c.Creds))
	case c.User != "":
		opts = append(opts, nats.UserInfo(c.User, c.Password))
	}
	if c.CA != "" {
		opts = append(opts, nats.RootCAs(c.CA))
	}
	if c.InProcess != nil {
		opts = append(opts, nats.InProcessServer(c.InProcess))
	}
	return opts
}

func inbox(user string) string {
	if user == "" {
		return "_INBOX"
	}
	return "_INBOX_" + user
}
