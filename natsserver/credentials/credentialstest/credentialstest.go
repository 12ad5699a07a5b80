// Package credentialstest runs servers with the credentials of package credentials, for
// tests.
package credentialstest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"sparring/game/gametest"
	"sparring/natsserver/credentials"
	"sparring/protocol"
)

// Server is a NATS server with the configuration that package credentials makes: TLS, and
// users whose credentials an operator signs.
type Server struct {
	t    testing.TB
	ns   *server.Server
	dir  string // of the credentials
	port int
}

// Users of every server besides platform and the players. Their names are in no subject.
const (
	Fleet     = "engine-room" // of the role fleet
	Spectator = "club-tv"     // of the role spectator
)

// Start runs a server, with credentials of the role bot for the players, until
// the test ends.
func Start(t testing.TB, players ...protocol.PlayerID) *Server {
	t.Helper()
	s := &Server{t: t, dir: filepath.Join(t.TempDir(), "credentials"), port: gametest.FreePort(t)}
	if err := credentials.Init(s.dir, []string{"127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	requests := []credentials.Request{{Role: credentials.Platform}, {Role: credentials.Fleet, Name: Fleet}, {Role: credentials.Spectator, Name: Spectator}}
	for _, p := range players {
		requests = append(requests, credentials.Request{Role: credentials.Bot, Players: []protocol.PlayerID{p}})
	}
	for _, r := range requests {
		s.Issue(r)
	}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *Server) stop() {
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
}

// Restart stops the server and starts it again, with the files of the store as they are.
func (s *Server) Restart() {
	s.t.Helper()
	s.stop()
	s.start()
}

// start runs the server with the files of the store. Its paths are relative to its
// directory, where the process of a test is not.
func (s *Server) start() {
	s.t.Helper()
	dir := filepath.Join(s.dir, credentials.ServerDir)
	conf, err := os.ReadFile(filepath.Join(dir, "nats.conf"))
	if err != nil {
		s.t.Fatal(err)
	}
	here := strings.NewReplacer(`"server.pem"`, `"`+filepath.Join(dir, "server.pem")+`"`, `"data/`, `"`+dir+"/data/").Replace(string(conf))
	if err := os.WriteFile(filepath.Join(dir, "here.conf"), []byte(here), 0o600); err != nil {
		s.t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(filepath.Join(dir, "here.conf"))
	if err != nil {
		s.t.Fatal(err)
	}
	o.Host, o.Port, o.HTTPHost, o.HTTPPort, o.NoSigs, o.NoLog = "127.0.0.1", s.port, "", 0, true, true
	if s.ns, err = server.NewServer(o); err != nil {
		s.t.Fatal(err)
	}
	s.ns.Start()
	if !s.ns.ReadyForConnections(gametest.Patience) {
		s.t.Fatal("the server is not ready")
	}
}

// Store opens the store of the credentials. Others can, too, after f.
func (s *Server) Store(f func(*credentials.Store)) {
	s.t.Helper()
	store, err := credentials.Open(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	f(store)
}

// Issue makes credentials, in the file of the user.
func (s *Server) Issue(r credentials.Request) {
	s.t.Helper()
	s.Store(func(store *credentials.Store) {
		creds, err := store.Issue(r)
		if err != nil {
			s.t.Fatal(err)
		}
		users := store.Users()
		if err := credentials.WriteSecret(s.File(users[len(users)-1].Name), creds); err != nil {
			s.t.Fatal(err)
		}
	})
}

// File returns the path of a user's credentials.
func (s *Server) File(user string) string { return filepath.Join(s.dir, user+".creds") }

// Platform returns the connection of the platform.
func (s *Server) Platform() protocol.Connection { return s.Player("platform") }

// Player returns the connection of a user: a player, Fleet, Spectator or "system".
func (s *Server) Player(user string) protocol.Connection {
	return protocol.Connection{
		URL: strings.Replace(s.ns.ClientURL(), "nats://", "tls://", 1), Name: user,
		Creds: s.File(user), CA: filepath.Join(s.dir, credentials.CAFile),
	}
}

// seed is a private key of NATS: of an operator, an account, a user or a server.
var seed = regexp.MustCompile(`\bS[OAUN][A-Z2-7]{56}\b`)

// HasSeed reports whether a text has a private key of NATS.
func HasSeed(text string) bool { return seed.MatchString(text) }
