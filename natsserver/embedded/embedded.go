// Package embedded runs a NATS server inside the process, with the accounts,
// permissions and limits of configs/nats.conf and generated passwords. It is a
// complete server, with JetStream on disk, that works without a socket.
// `sparring up` and the tests use it.
package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"sparring/configs"
	"sparring/natsserver/natsconf"
	"sparring/protocol"
)

// Special values of Config.Port.
const (
	NoPort     = 0  // do not listen: only this process can connect
	RandomPort = -1 // listen on a free port, which Server.URL names
)

// ready is how long a server may take to start, including the recovery of large
// streams.
const ready = 2 * time.Minute

// unbounded is how many bytes the store may have: as much as the disk. The limit of nats.conf
// is for a server whose operator can set another; here the store would be full while the disk
// has room, and nobody be warned before, since clients can't see the limit of a server.
const unbounded = 1 << 60

// Config holds the settings of a server.
type Config struct {
	// Dir is the data directory of JetStream, used by one server at a time. ""
	// is a temporary directory that Close removes.
	Dir  string
	Host string // to listen on; "" is 127.0.0.1, "0.0.0.0" all addresses of this machine
	Port int    // to listen on, NoPort or RandomPort
	Log  zerolog.Logger
	// Players get a user each, of the same name and with the permissions of
	// "guest" in configs/nats.conf. The users "bots" and "guest" always exist.
	Players []protocol.PlayerID
	// Owner adds the user Owner, who may act for every player: whoever runs the server,
	// from other processes.
	Owner bool
	// Passwords are passwords by user that must be the same for the next
	// server. All others are generated.
	Passwords map[string]string
}

// Server is a running server.
type Server struct {
	ns        *server.Server
	log       zerolog.Logger
	passwords map[string]string // by user
	listens   bool
	release   func()                 // unlocks the directory
	temporary string                 // directory to remove, or ""
	jetStream server.JetStreamConfig // as it was when the disk became full
	stopWatch context.CancelFunc     // ends awaitRoom
	watch     sync.WaitGroup
}

// Start runs a server and waits until it is ready. It checks the data first. If a
// file is damaged, it returns an error that names the file, and changes nothing.
func Start(c Config) (srv *Server, err error) {
	srv = &Server{log: c.Log, listens: c.Port != NoPort, stopWatch: func() {}}
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
	// From here on, release everything if the start fails.
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
	log := newServerLog(c.Log, stored)
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
	log.begin()
	srv.jetStream = *srv.ns.JetStreamConfig()
	var watching context.Context
	watching, srv.stopWatch = context.WithCancel(context.Background())
	srv.watch.Go(func() { srv.awaitRoom(watching, c.Dir, log) })
	return srv, nil
}

// options returns the options of configs/nats.conf with passwords and players
// filled in.
func (s *Server) options(c Config) (*server.Options, error) {
	s.passwords = map[string]string{}
	for user := range configs.NATSPasswords {
		s.passwords[user] = c.password(user)
	}
	opts, err := natsconf.Options(s.passwords)
	if err != nil {
		return nil, err
	}
	for _, p := range c.Players {
		if err := protocol.CheckID("player", p); err != nil {
			return nil, err
		}
		if err := addUser(opts, string(p), string(p), c.password(string(p)), s.passwords); err != nil {
			return nil, err
		}
	}
	if c.Owner {
		if err := addUser(opts, Owner, "*", c.password(Owner), s.passwords); err != nil {
			return nil, err
		}
	}
	opts.Host, opts.Port, opts.DontListen = "127.0.0.1", c.Port, c.Port == NoPort
	if c.Host != "" {
		opts.Host = c.Host
	}
	opts.HTTPHost, opts.HTTPPort = "", 0
	opts.JetStreamMaxStore = unbounded
	opts.NoSigs = true // the process handles signals itself
	return opts, nil
}

func (c *Config) password(user string) string {
	if p, ok := c.Passwords[user]; ok {
		return p
	}
	return rand.Text()
}

// Platform returns the connection of the platform: of arenas, and of readers of
// its records.
func (s *Server) Platform() protocol.Connection { return s.connection("platform") }

// Player returns the connection of a user: "bots", "guest" or one of
// Config.Players, or the spectator "watch", which may only subscribe to
// sparring.watch.>. The server refuses any other user.
func (s *Server) Player(user string) protocol.Connection { return s.connection(user) }

func (s *Server) connection(user string) protocol.Connection {
	c := protocol.Connection{URL: s.URL(), Name: user, User: user, Password: s.passwords[user], Log: s.log}
	if !s.listens {
		c.InProcess = s.ns
	}
	return c
}

// Password returns the password of a user, or "" if there is no such user, for
// clients outside this process.
func (s *Server) Password(user string) string { return s.passwords[user] }

// URL returns an address at which processes of this machine reach the server, or a name
// for the log if it does not listen.
func (s *Server) URL() string {
	if !s.listens {
		return "nats://in-process"
	}
	at := s.ns.Addr().String() // with the port that it found
	if host, port, err := net.SplitHostPort(at); err == nil && net.ParseIP(host).IsUnspecified() {
		at = net.JoinHostPort("127.0.0.1", port) // it listens on all addresses
	}
	return "nats://" + at
}

// Close stops the server, waits until everything is on disk, and unlocks the
// directory. Connections to it try to reconnect until they are closed.
func (s *Server) Close() {
	s.stopWatch()
	s.watch.Wait()
	if s.ns != nil {
		s.ns.Shutdown()
		s.ns.WaitForShutdown()
	}
	if s.release != nil {
		s.release()
	}
	if s.temporary != "" {
		if err := os.RemoveAll(s.temporary); err != nil {
			s.log.Warn().Err(err).Msg("could not remove the temporary data")
		}
	}
}
