package protocol

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// Connection says where NATS is and who we are there.
type Connection struct {
	URL      string
	Name     string // of this process, as the server shows it
	User     string
	Password string
	Creds    string // path of a .creds file, instead of User and Password
	CA       string // path of the CA that signed the server's certificate; "" is the system's
	// InProcess serves the connection without a socket when the server is
	// embedded in this process.
	InProcess nats.InProcessConnProvider
	Log       zerolog.Logger
}

// Connect opens a connection that outlives the server: it reconnects for ever
// with jitter, finds dead sockets within 15 seconds, and says what happens to
// it in the log. It waits for the server when it is not there yet.
func Connect(c Connection) (*nats.Conn, error) {
	log := c.Log.With().Str("nats", c.Name).Logger()
	opts := []nats.Option{
		nats.Name(c.Name),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.Timeout(5 * time.Second),
		nats.DrainTimeout(5 * time.Second),
		// Replies come to an inbox of our own name, the only one that the
		// server's permissions let us read.
		nats.CustomInboxPrefix(inbox(c.User)),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn().Err(err).Msg("disconnected")
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.Info().Str("url", nc.ConnectedUrlRedacted()).Msg("reconnected") }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			e := log.Error().Err(err)
			if sub != nil {
				e = e.Str("subject", sub.Subject)
			}
			e.Msg("nats")
		}),
	}
	if c.User != "" {
		opts = append(opts, nats.UserInfo(c.User, c.Password))
	}
	if c.Creds != "" {
		opts = append(opts, nats.UserCredentials(c.Creds))
	}
	if c.CA != "" {
		opts = append(opts, nats.RootCAs(c.CA))
	}
	if c.InProcess != nil {
		opts = append(opts, nats.InProcessServer(c.InProcess))
	}
	nc, err := nats.Connect(c.URL, opts...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return nil, fmt.Errorf("connect %s: user %q refused: %w", c.URL, c.User, err)
	case err != nil:
		return nil, fmt.Errorf("connect %s: %w", c.URL, err)
	}
	return nc, nil
}

func inbox(user string) string {
	if user == "" {
		return "_INBOX"
	}
	return "_INBOX_" + user
}
