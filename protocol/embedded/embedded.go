// Package embedded runs the NATS server inside the process, on the accounts,
// permissions and limits of the shipped configs/nats.conf with generated
// passwords. `sparring up` and the tests use it: a real server, JetStream on
// disk included, that needs no socket.
package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"sparring/configs"
	"sparring/protocol"
)

// Ports that are none.
const (
	NoPort     = 0  // don't listen: only this process can connect
	RandomPort = -1 // listen on a free port: see Server.URL
)

// ready is how long a server may take to start; recovering large streams is part of it.
const ready = 2 * time.Minute

// Config says where the server keeps its data and whether it listens.
type Config struct {
	// Dir holds what JetStream keeps. One server at a time may use it. "" is
	// a temporary directory, removed by Close.
	Dir  string
	Host string // to listen on; "" is 127.0.0.1
	Port int    // to listen on; NoPort, RandomPort, or a number
	Log  zerolog.Logger
	// Players get a user each, of the same name, with the rights of
	// configs/nats.conf's "guest". The user "bots" and its players, and
	// "guest", are always there.
	Players []protocol.PlayerID
	// Passwords by user, where a password must outlive this server. The
	// others are generated.
	Passwords map[string]string
}

// Server is a running server.
type Server struct {
	ns        *server.Server
	log       zerolog.Logger
	passwords map[string]string // by user
	listens   bool
	release   func() // gives the directory back
	temporary string // directory to remove
}

// Start runs a server and waits until it is ready. The data is checked first:
// the error names the file that is damaged, and nothing is changed then.
func Start(c Config) (srv *Server, err error) {
	srv = &Server{log: c.Log, listens: c.Port != NoPort}
	opts, err := srv.options(c)
	if err != nil {
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	if c.Dir == "" {
		if srv.temporary, err = os.MkdirTemp("", "sparring-nats-"); err != nil {
			return nil, fmt.Errorf("embedded NATS server: %w", err)
		}
		c.Dir = srv.temporary
	}
	// From here on, what was taken is given back when the start fails.
	defer func() {
		if err != nil {
			srv.Close()
			srv, err = nil, fmt.Errorf("embedded NATS server: %w", err)
		}
	}()
	if srv.release, err = lockDir(c.Dir); err != nil {
		return srv, err
	}
	opts.StoreDir = c.Dir
	stored, err := checkStore(filepath.Join(c.Dir, server.JetStreamStoreDir), c.Log)
	if err != nil {
		return srv, err
	}
	if srv.ns, err = server.NewServer(opts); err != nil {
		return srv, err
	}
	log := newServerLog(c.Log)
	srv.ns.SetLoggerV2(log, false, false, false)
	srv.ns.Start()
	if err := log.fault(); err != nil {
		return srv, err
	}
	if !srv.ns.ReadyForConnections(ready) {
		return srv, errors.Join(fmt.Errorf("not ready after %s", ready), log.fault())
	}
	if err := srv.recovered(stored, log); err != nil {
		return srv, err
	}
	return srv, nil
}

// options are those of configs/nats.conf, with passwords and players filled in.
func (s *Server) options(c Config) (*server.Options, error) {
	s.passwords = map[string]string{}
	text := ""
	for variable, user := range map[string]string{
		"SPARRING_PLATFORM_PASSWORD": "platform",
		"SPARRING_BOTS_PASSWORD":     "bots",
		"SPARRING_GUEST_PASSWORD":    guest,
		"SPARRING_WATCH_PASSWORD":    "watch",
	} {
		s.passwords[user] = c.password(user)
		text += fmt.Sprintf("%s: %q\n", variable, s.passwords[user])
	}
	var opts server.Options
	if err := opts.ProcessConfigString(text + configs.NATS); err != nil {
		return nil, fmt.Errorf("nats.conf: %w", err)
	}
	for _, p := range c.Players {
		if err := addPlayer(&opts, p, c.password(string(p)), s.passwords); err != nil {
			return nil, err
		}
	}
	opts.Host, opts.Port, opts.DontListen = "127.0.0.1", c.Port, c.Port == NoPort
	if c.Host != "" {
		opts.Host = c.Host
	}
	opts.HTTPHost, opts.HTTPPort = "", 0
	opts.NoSigs = true // signals belong to the program around us
	return &opts, nil
}

func (c *Config) password(user string) string {
	if p, ok := c.Passwords[user]; ok {
		return p
	}
	return rand.Text()
}

// Platform connects as the platform: arenas, and readers of its records.
func (s *Server) Platform() protocol.Connection { return s.connection("platform") }

// Player connects as a user of the players' account: "bots", "guest", or one
// of Config.Players; or as "watch", a spectator, who may listen to
// sparring.watch.> only. Any other user is refused by the server.
func (s *Server) Player(user string) protocol.Connection { return s.connection(user) }

func (s *Server) connection(user string) protocol.Connection {
	c := protocol.Connection{URL: s.URL(), Name: user, User: user, Password: s.passwords[user], Log: s.log}
	if !s.listens {
		c.InProcess = s.ns
	}
	return c
}

// Password is that of a user, for clients outside this process; "" for none.
func (s *Server) Password(user string) string { return s.passwords[user] }

// URL is where the server listens; a name for the log when it does not.
func (s *Server) URL() string {
	if !s.listens {
		return "nats://in-process"
	}
	return s.ns.ClientURL()
}

// Close stops the server, waits until everything is on disk, and gives the
// directory back. Connections to it go on trying to reconnect until closed.
func (s *Server) Close() {
	if s.ns != nil {
		s.ns.Shutdown()
		s.ns.WaitForShutdown()
	}
	if s.release != nil {
		s.release()
	}
	if s.temporary != "" {
		if err := os.RemoveAll(s.temporary); err != nil {
			s.log.Warn().Err(err).Msg("temporary data not removed")
		}
	}
}
