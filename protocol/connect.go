package protocol

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// Connection holds the settings for connecting to NATS.
type Connection struct {
	URL  string // of the server, or of several, separated by commas; a user in it stands before User, with its password before Password
	Name string // of this process, for the server's lists of connections
	// User is also part of the inbox: the server's permissions allow reading
	// only _INBOX_<user>.>.
	User     string
	Password string
	// Creds is the path of a .creds file, used instead of user and password. It is read
	// again whenever the connection is made again, so that it may be renewed.
	Creds string
	CA    string // path of the CA certificate; "" uses the system's
	// InProcess connects without a socket to a server embedded in this process.
	InProcess nats.InProcessConnProvider
	// Denied, unless nil, is called when the server denies the user a subject; the
	// request just gets no answer. Otherwise that is logged.
	Denied func(error)
	Log    zerolog.Logger
}

// ErrNoServer is returned by Dial if no server answers. Start one, or use Connect,
// which waits for it.
var ErrNoServer = errors.New("no NATS server answers")

// Connect opens a connection that reconnects forever with jitter, detects a dead
// socket within 15 seconds, and logs what happens to it. If no server is
// reachable, it returns a connection anyway, whose requests fail until a server
// is there; [Await] waits for that. It returns an error if the server refuses
// the user, or if the settings can't work.
//
// Messages published while the connection is down are lost, and Publish returns
// nats.ErrReconnectBufExceeded. A move that a buffer sends a minute late would be
// useless, and requests are repeated anyway.
func Connect(c Connection) (*nats.Conn, error) {
	c = c.WithUser()
	nc, err := c.once()
	if !errors.Is(err, ErrNoServer) {
		return nc, err
	}
	servers, redactErr := redacted(c.URL)
	if redactErr != nil {
		return nil, redactErr // once has returned it
	}
	c.Log.Warn().Str("nats", c.Name).Str("url", servers).Err(err).Msg("no NATS server reachable; waiting for one")
	// A refusal later on may come from a server that is still being set up.
	nc, err = nats.Connect(c.URL, append(c.options(), nats.RetryOnFailedConnect(true))...)
	if err != nil {
		return nil, fmt.Errorf("connect %s: %w", servers, err)
	}
	return nc, nil
}

// Dial is Connect for a command that should not wait for a server: its error wraps
// ErrNoServer if none answers, or if ctx ends first.
func Dial(ctx context.Context, c Connection) (*nats.Conn, error) {
	type dialled struct {
		nc  *nats.Conn
		err error
	}
	c = c.WithUser()
	done := make(chan dialled, 1)
	go func() {
		nc, err := c.once()
		done <- dialled{nc, err}
	}()
	select {
	case d := <-done:
		return d.nc, d.err
	case <-ctx.Done():
		go func() {
			if d := <-done; d.nc != nil {
				d.nc.Close()
			}
		}()
		return nil, fmt.Errorf("connect: %w: %w", ErrNoServer, context.Cause(ctx))
	}
}

// WithUser returns the settings with the user that the credentials or the URL name, so
// that the inbox is that user's, too. The password for a user of the URL may be that of
// the settings: one in a command line is read by everybody on the machine.
func (c Connection) WithUser() Connection {
	if c.Creds != "" {
		if creds, err := ReadCreds(c.Creds); err == nil { // else connecting says so
			c.User, c.Password = creds.User, ""
		}
		return c
	}
	user, password, both := URLUser(c.URL)
	switch {
	case both: // the server gets them in any case
		c.User, c.Password = user, password
	case user != "" && c.Password != "": // alone it would be taken for a token
		c.User, c.URL = user, withoutUsers(c.URL)
	}
	return c
}

// URLUser returns the user and the password in the first URL of a list of servers, ""
// where it has none; both reports whether it has both.
func URLUser(list string) (user, password string, both bool) {
	one, _, _ := strings.Cut(list, ",")
	u, err := url.Parse(strings.TrimSpace(one))
	if err != nil || u.User == nil {
		return "", "", false
	}
	password, both = u.User.Password()
	return u.User.Username(), password, both
}

// withoutUsers returns a list of servers without the users in it.
func withoutUsers(list string) string {
	servers := strings.Split(list, ",")
	for i, s := range servers {
		if u, err := url.Parse(strings.TrimSpace(s)); err == nil && u.User != nil {
			u.User = nil
			servers[i] = u.String()
		}
	}
	return strings.Join(servers, ",")
}

// once tries to connect. The error wraps ErrNoServer if that may succeed later.
func (c Connection) once() (*nats.Conn, error) {
	servers, err := redacted(c.URL)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if c.Creds != "" {
		if _, err := ReadCreds(c.Creds); err != nil {
			return nil, fmt.Errorf("connect %s: %w", servers, err)
		}
	}
	nc, err := nats.Connect(c.URL, c.options()...)
	switch {
	case err == nil:
		return nc, nil
	case refused(err) && c.Creds != "":
		return nil, fmt.Errorf("connect %s: %s: the credentials of %q were refused: revoked, or another platform's: %w", servers, c.Creds, c.User, err)
	case refused(err) && c.Password == "":
		return nil, fmt.Errorf("connect %s: user %q refused: no password (SPARRING_NATS_PASSWORD): %w", servers, c.User, err)
	case refused(err):
		return nil, fmt.Errorf("connect %s: user %q refused: %w", servers, c.User, err)
	case errors.Is(err, nats.ErrNoServers): // says no more
		return nil, fmt.Errorf("connect %s: %w", servers, ErrNoServer)
	case absent(err):
		return nil, fmt.Errorf("connect %s: %w (%w)", servers, ErrNoServer, err)
	}
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		return nil, fmt.Errorf("connect %s: %w: name the certificate of its authority with --ca or SPARRING_NATS_CA", servers, err)
	}
	return nil, fmt.Errorf("connect %s: %w", servers, err)
}

// Await waits until the connection is up. It returns nats.ErrConnectionClosed if
// the connection is closed meanwhile, or the cause of ctx when that ends.
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

// CanFailOver reports whether a connection is to a server of a cluster, and knows another
// one, which may reach what this one is cut off from.
func CanFailOver(nc *nats.Conn) bool {
	return nc.ConnectedClusterName() != "" && len(explicit(nc)) > 1
}

// FailOver moves a connection to another server of its cluster through which works
// succeeds, and reports whether there was one. It tries each server over a probe connection
// first: one that accepts connections may be cut off from the others, and while nothing works
// anywhere there is no reason to move.
func FailOver(ctx context.Context, nc *nats.Conn, works func(context.Context, *nats.Conn) bool) bool {
	here := nc.ConnectedUrl()
	pool := explicit(nc)
	if !slices.Contains(pool, here) {
		pool = append(pool, here)
	}
	for _, i := range rand.Perm(len(pool)) {
		if pool[i] == here || !worksOver(ctx, optionsOf(nc), pool[i], works) {
			continue
		}
		pool[0], pool[i] = pool[i], pool[0] // the present one is taken out first, and then this one is next
		if nc.SetServerPool(pool) == nil && nc.ForceReconnect() == nil {
			return true
		}
	}
	return false
}

// explicit returns the URLs of the servers that a connection was told of. It learns of the
// others again from the server that it goes to.
func explicit(nc *nats.Conn) (urls []string) {
	discovered := nc.DiscoveredServers()
	for _, s := range nc.ServerPool() {
		if s.URL != nil && !slices.Contains(discovered, s.URL.Scheme+"://"+s.URL.Host) {
			urls = append(urls, s.URL.String())
		}
	}
	return urls
}

// connectWithin bounds an attempt to connect to another server of a cluster.
const connectWithin = time.Second

// worksOver reports whether works succeeds over a connection of its own to a server.
func worksOver(ctx context.Context, opts nats.Options, url string, works func(context.Context, *nats.Conn) bool) bool {
	opts.Url, opts.Servers = url, nil
	opts.Timeout = connectWithin
	probe, err := connectOnce(opts)
	if err != nil {
		return false
	}
	defer probe.Close()
	return works(ctx, probe)
}

// replacing is held while a service replaces handlers among a connection's options, as micro
// does, and while these are copied.
var replacing sync.Mutex

// optionsOf returns a copy of the options of a connection.
func optionsOf(nc *nats.Conn) nats.Options {
	replacing.Lock()
	defer replacing.Unlock()
	return nc.Opts
}

// connectOnce makes a connection with the options of another one that logs nothing, and is
// not made again.
func connectOnce(opts nats.Options) (*nats.Conn, error) {
	opts.AllowReconnect, opts.RetryOnFailedConnect = false, false
	opts.ConnectedCB, opts.ReconnectedCB, opts.ClosedCB, opts.ReconnectErrCB = nil, nil, nil, nil
	opts.DisconnectedErrCB, opts.DiscoveredServersCB = nil, nil
	opts.AsyncErrorCB = func(*nats.Conn, *nats.Subscription, error) {} // with nil the library prints them
	return opts.Connect()
}

// MaySubscribe returns those of the subjects to which the user of a connection may subscribe,
// in a queue group or, with "", without one. It asks the server over a connection of its own:
// on nc a refusal would be logged as an error, and come again whenever that reconnects.
func MaySubscribe(ctx context.Context, nc *nats.Conn, queue string, subjects ...string) (may []string, err error) {
	probe, err := connectOnce(optionsOf(nc))
	if err != nil {
		return nil, err
	}
	defer probe.Close()
	for _, subject := range subjects {
		if _, err := probe.QueueSubscribeSync(subject, queue); err != nil {
			return nil, err
		}
		if err := flush(ctx, probe); err != nil { // a refusal comes before the answer
			return nil, err
		}
		if err := probe.LastError(); !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), `"`+subject+`"`) {
			may = append(may, subject)
		}
	}
	return may, nil
}

// schemes are those of the URLs of NATS servers.
var schemes = []string{"nats", "tls", "ws", "wss"}

// redacted returns the list of servers without passwords. It refuses other URLs.
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
				err = e.Err // the rest contains the password
			}
			return "", fmt.Errorf("server %d of the list is not a URL: %w", i+1, err)
		}
		if !slices.Contains(schemes, u.Scheme) {
			return "", fmt.Errorf("server %d of the list: %.20s:// is not NATS's: want nats://, tls://, ws:// or wss://", i+1, u.Scheme)
		}
		out = append(out, u.Redacted())
	}
	return strings.Join(out, ","), nil
}

func refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked)
}

// absent reports whether the error may pass once a server is started, unlike a
// wrong setting.
func absent(err error) bool {
	var network *net.OpError
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, io.EOF) ||
		errors.As(err, &network) && network.Op != "remote error" // from TLS: the certificate was refused
}

// options returns the options of the NATS client.
func (c Connection) options() []nats.Option {
	h := &connectionHandlers{
		Connection: c, log: c.Log.With().Str("nats", c.Name).Logger(),
		denied: make(map[string]bool), endWatch: func() {},
	}
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
		nats.ConnectHandler(h.connected),
		nats.DisconnectErrHandler(h.disconnected),
		nats.ReconnectErrHandler(h.reconnectFailed),
		nats.ReconnectHandler(h.reconnected),
		nats.ClosedHandler(func(*nats.Conn) { h.endWatch() }),
		nats.ErrorHandler(h.asyncError),
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

// renewed reports whether the file has credentials that are valid now.
func (c Connection) renewed() bool {
	if c.Creds == "" {
		return false
	}
	_, err := ReadCreds(c.Creds)
	return err == nil
}

// explained returns what is wrong with the credentials if something is, or else the error
// of the connection.
func (c Connection) explained(err error) error {
	if c.Creds == "" {
		return err
	}
	if _, fault := ReadCreds(c.Creds); fault != nil {
		return fault
	}
	if refused(err) {
		return fmt.Errorf("%s: refused: revoked, or another platform's: %w", c.Creds, err)
	}
	return err
}

// lookAtExpiry is how often the credentials of a connection are looked at.
const lookAtExpiry = 24 * time.Hour

// watchExpiry logs that the credentials in the file expire soon, now and once a day, until
// ctx ends: a connection may last as long as its credentials.
func (c Connection) watchExpiry(ctx context.Context, log zerolog.Logger) {
	for {
		if creds, err := ReadCreds(c.Creds); err == nil && !creds.Expires.IsZero() && time.Until(creds.Expires) < expiresSoon {
			log.Warn().Str("file", c.Creds).Time("expires", creds.Expires).Msg("the credentials expire soon; put new ones into the file")
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookAtExpiry):
		}
	}
}

func inbox(user string) string {
	if user == "" {
		return "_INBOX"
	}
	return "_INBOX_" + user
}
