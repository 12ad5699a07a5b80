package credentials_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
	"sparring/natsserver/credentials"
	"sparring/natsserver/credentials/credentialstest"
	"sparring/protocol"
)

// follow connects a user and tells of each change of the connection.
func follow(t *testing.T, c protocol.Connection) (*nats.Conn, chan nats.Status) {
	t.Helper()
	c.Log = zerolog.Nop()
	nc, err := protocol.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, nc.StatusChanged(nats.RECONNECTING, nats.CONNECTED, nats.CLOSED)
}

func await(t *testing.T, changes chan nats.Status, want ...nats.Status) {
	t.Helper()
	for {
		select {
		case s := <-changes:
			if slices.Contains(want, s) {
				return
			}
		case <-time.After(gametest.Patience):
			t.Fatalf("not %v", want)
		}
	}
}

// refused checks that a user can't connect, and returns the error.
func refused(t *testing.T, c protocol.Connection) string {
	t.Helper()
	c.Log = zerolog.Nop()
	ctx := gametest.Context(t)
	nc, err := protocol.Dial(ctx, c)
	if err == nil {
		nc.Close()
		t.Fatalf("%s may connect", c.Creds)
	}
	if errors.Is(err, protocol.ErrNoServer) || !strings.Contains(err.Error(), c.Creds) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %q, want one line with the file", err)
	}
	return err.Error()
}

// revoke revokes a user and, if told is set, tells the server.
func revoke(t *testing.T, s *credentialstest.Server, name string, told bool) {
	t.Helper()
	s.Store(func(store *credentials.Store) {
		if n, err := store.Revoke(name); n != 1 || err != nil {
			t.Fatalf("%d revoked, %v", n, err)
		}
		if !told {
			return
		}
		nc, _ := follow(t, s.Player("system"))
		ctx := gametest.Context(t)
		servers, err := store.Push(ctx, nc)
		if err != nil || !slices.Equal(servers, []string{"sparring"}) {
			t.Fatalf("servers %v, %v", servers, err)
		}
	})
}

// A revoked user is disconnected by a running server and refused from then on, also
// after its restart; without being told, the server refuses from its next start on.
// Others keep their connections.
func TestRevoke(t *testing.T) {
	s := credentialstest.Start(t, "ann", "bob", "eve")
	_, ann := follow(t, s.Player("ann"))
	nc, bob := follow(t, s.Player("bob"))
	sub, err := nc.SubscribeSync("sparring.watch.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	revoke(t, s, "ann", true)
	await(t, ann, nats.RECONNECTING)
	if text := refused(t, s.Player("ann")); !strings.Contains(text, `the credentials of "ann" were refused`) {
		t.Error(text)
	}
	platform, _ := follow(t, s.Platform())
	if err := platform.Publish("sparring.watch.g1", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.NextMsg(gametest.Patience); err != nil {
		t.Errorf("bob: %v", err)
	}
	select {
	case change := <-bob:
		t.Errorf("bob is %v", change)
	default:
	}
	revoke(t, s, "eve", false)
	follow(t, s.Player("eve")) // the server does not know yet
	s.Restart()
	await(t, bob, nats.CONNECTED)
	refused(t, s.Player("ann"))
	refused(t, s.Player("eve"))
	follow(t, s.Platform())
}

// Credentials that expire end the connection, the error says which file and when, and new
// ones in the same file make the connection again.
func TestExpiry(t *testing.T) {
	s := credentialstest.Start(t)
	request := credentials.Request{Role: credentials.Bot, Players: []protocol.PlayerID{"ann"}, Expires: 2 * time.Second}
	s.Issue(request)
	_, ann := follow(t, s.Player("ann"))
	await(t, ann, nats.RECONNECTING)
	if text := refused(t, s.Player("ann")); !strings.Contains(text, `the credentials of "ann" expired on 20`) {
		t.Error(text)
	}
	request.Expires, request.Renew = time.Hour, true
	s.Issue(request)
	await(t, ann, nats.CONNECTED)
}

// Where the file has new credentials when those of the connection expire, nothing is wrong,
// and the log does not say that anything was refused or revoked.
func TestExpiryOfRenewed(t *testing.T) {
	s := credentialstest.Start(t)
	request := credentials.Request{Role: credentials.Bot, Players: []protocol.PlayerID{"ann"}, Expires: 8 * time.Second} // enough to renew them on a busy machine
	s.Issue(request)
	c := s.Player("ann")
	log := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c.Log = zerolog.New(file)
	nc, err := protocol.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	ann := nc.StatusChanged(nats.RECONNECTING, nats.CONNECTED)
	request.Expires, request.Renew = 30*24*time.Hour, true
	s.Issue(request)
	await(t, ann, nats.RECONNECTING)
	await(t, ann, nats.CONNECTED)
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), "connecting with the new ones") || strings.Contains(string(text), "refused") {
		t.Errorf("logged:\n%s", text)
	}
}

// The errors of files that are no credentials name the file and show nothing of it.
func TestUnusableFiles(t *testing.T) {
	s := credentialstest.Start(t, "ann")
	good, err := os.ReadFile(s.File("ann"))
	if err != nil {
		t.Fatal(err)
	}
	token, seed, _ := strings.Cut(string(good), "****")
	for what, content := range map[string]string{
		"missing": "", "empty": "\n", "no key": token, "no token": "****" + seed, "damaged": strings.Replace(string(good), "eyJ", "eyK", 1), "text": "hello",
	} {
		c := s.Player("ann")
		c.Creds = filepath.Join(t.TempDir(), "x.creds")
		if content != "" {
			if err := os.WriteFile(c.Creds, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text := refused(t, c)
		for line := range strings.Lines(string(good)) {
			if line = strings.TrimSpace(line); len(line) > 40 && !strings.Contains(line, " ") && strings.Contains(text, line) {
				t.Errorf("%s: the error shows the secret: %s", what, text)
			}
		}
	}
	// Of another platform.
	other := s.Player("ann")
	other.Creds = credentialstest.Start(t, "ann").File("ann")
	refused(t, other)
}

// A server without TLS, or another one, gets nothing.
func TestServerIsChecked(t *testing.T) {
	s, other := credentialstest.Start(t, "ann"), credentialstest.Start(t)
	c := s.Player("ann")
	c.CA = other.Platform().CA
	c.Log = zerolog.Nop()
	if nc, err := protocol.Dial(t.Context(), c); err == nil {
		nc.Close()
		t.Error("a server with another's certificate was believed")
	} else if !strings.Contains(err.Error(), "name the certificate of its authority with --ca") {
		t.Error(err)
	}
}

// A message of a player that is too long ends its connection. The platform may send it.
func TestPayload(t *testing.T) {
	s := credentialstest.Start(t, "ann")
	long := make([]byte, 70_000)
	if nc, _ := follow(t, s.Platform()); nc.MaxPayload() < 1<<20 || nc.Publish("sparring.x", long) != nil || nc.Flush() != nil {
		t.Error("the platform may not send 70,000 bytes")
	}
	nc, ann := follow(t, s.Player("ann"))
	if err := nc.Publish("sparring.play.ann.hello", long); errors.Is(err, nats.ErrMaxPayload) {
		return // the server has told its limit already
	}
	await(t, ann, nats.RECONNECTING, nats.CLOSED)
}

// Two users never act for one player, unless asked for, and no name is more than one.
func TestIssue(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "credentials")
	if err := credentials.Init(dir, []string{"localhost"}); err != nil {
		t.Fatal(err)
	}
	if err := credentials.Init(dir, []string{"localhost"}); !errors.Is(err, credentials.ErrExists) {
		t.Errorf("a second Init: %v", err)
	}
	s, err := credentials.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := credentials.Open(dir); !errors.Is(err, credentials.ErrInUse) {
		t.Errorf("a second Open: %v", err)
	}
	ids := func(players ...protocol.PlayerID) []protocol.PlayerID { return players }
	var many []protocol.PlayerID
	for i := range 200 {
		many = append(many, protocol.PlayerID(fmt.Sprintf("somebody-of-many-%d", i)))
	}
	for _, c := range []struct {
		what    string
		request credentials.Request
		fails   string // "": issued
	}{
		{"a bot", credentials.Request{Role: credentials.Bot, Players: ids("ann")}, ""},
		{"the same again", credentials.Request{Role: credentials.Bot, Players: ids("ann")}, "valid credentials already"},
		{"renewed", credentials.Request{Role: credentials.Bot, Players: ids("ann"), Renew: true}, ""},
		{"a person of that name", credentials.Request{Role: credentials.Human, Players: ids("ann"), Renew: true}, "valid credentials already"},
		{"a fleet with her", credentials.Request{Role: credentials.Fleet, Players: ids("zoe", "ann")}, "acts for player ann"},
		{"a fleet", credentials.Request{Role: credentials.Fleet}, ""},
		{"a player of it", credentials.Request{Role: credentials.Bot, Players: ids("xiangqi-hare")}, "acts for player xiangqi-hare"},
		{"everybody", credentials.Request{Role: credentials.Bot, Players: ids("*")}, `player "*"`},
		{"everything", credentials.Request{Role: credentials.Fleet, Name: ">"}, `name ">"`},
		{"a name with a tag", credentials.Request{Role: credentials.Human, Players: ids("{{name()}}")}, "player"},
		{"two players", credentials.Request{Role: credentials.Bot, Players: ids("bob", "eve")}, "want one player"},
		{"no player", credentials.Request{Role: credentials.Human}, "want one player"},
		{"a spectator with a player", credentials.Request{Role: credentials.Spectator, Players: ids("bob")}, "no players"},
		{"the system", credentials.Request{Role: "system", Name: "mine"}, "no role"},
		{"no role", credentials.Request{Role: "root"}, "no role"},
		{"a person of the page", credentials.Request{Role: credentials.Human, Players: ids("human-ann")}, "for whom only the platform's gateways act"},
		{"too many players", credentials.Request{Role: credentials.Fleet, Name: "many", Players: many}, "too many"},
		{"the past", credentials.Request{Role: credentials.Platform, Expires: -1}, "expires"},
	} {
		creds, err := s.Issue(c.request)
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) || (len(creds) > 0) != (err == nil) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if n, err := s.Revoke("ann"); n != 2 || err != nil {
		t.Errorf("%d credentials of ann revoked, %v", n, err)
	}
	if _, err := s.Issue(credentials.Request{Role: credentials.Human, Players: ids("ann")}); err != nil {
		t.Errorf("after she was revoked: %v", err)
	}
	if _, err := s.Revoke("nobody"); !errors.Is(err, credentials.ErrUnknown) {
		t.Errorf("revoke nobody: %v", err)
	}
}

// Private keys can be read by the owner alone, and nothing that a server needs has keys
// that sign.
func TestSecretFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "credentials")
	if err := credentials.Init(dir, []string{"localhost"}); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && d.Name() != "ca.pem" {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if d.IsDir() || !strings.Contains(path, credentials.ServerDir+string(filepath.Separator)) {
			return nil
		}
		data, err := os.ReadFile(path)
		if credentialstest.HasSeed(string(data)) {
			t.Errorf("%s has a private key of NATS", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Accounts that do not follow the revocations, as after a kill, are noticed and written
// again.
func TestUpToDate(t *testing.T) {
	s := credentialstest.Start(t, "ann")
	s.Store(func(store *credentials.Store) {
		before, err := os.ReadFile(store.Path(credentials.AccountsFile))
		if err != nil {
			t.Fatal(err)
		}
		check := func(want bool) {
			t.Helper()
			if same, err := store.UpToDate(); same != want || err != nil {
				t.Errorf("up to date: %v, %v", same, err)
			}
		}
		check(true)
		if _, err := store.Revoke("ann"); err != nil {
			t.Fatal(err)
		}
		check(true)
		if err := os.WriteFile(store.Path(credentials.AccountsFile), before, 0o600); err != nil {
			t.Fatal(err)
		}
		check(false)
		if err := store.WriteAccounts(); err != nil {
			t.Fatal(err)
		}
		check(true)
	})
	s.Restart()
	refused(t, s.Player("ann"))
}

func TestDamagedState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "credentials")
	if _, err := credentials.Open(dir); !errors.Is(err, credentials.ErrNone) {
		t.Errorf("nothing there: %v", err)
	}
	if err := credentials.Init(dir, []string{"localhost"}); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "{", `{"v":2}`} {
		if err := os.WriteFile(filepath.Join(dir, "credentials.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := credentials.Open(dir); err == nil || !strings.Contains(err.Error(), "credentials.json") {
			t.Errorf("%q: %v %v", content, s, err)
		}
	}
}

// A host is what clients ask for, without what else is in their URLs.
func TestCheckHost(t *testing.T) {
	for host, good := range map[string]bool{
		"nats.example.org": true, "nats_1": true, "*.example.org": true, "example.org.": true, "10.0.0.7": true, "::1": true, "localhost": true,
		"nats.example.org:4222": false, "tls://nats.example.org": false, "[::1]": false, "a b": false, "": false, "nats..org": false,
	} {
		if err := credentials.CheckHost(host); (err == nil) != good {
			t.Errorf("%q: %v", host, err)
		}
	}
}

// A renewed certificate is good for all hosts of the one before: clients know the server by
// them.
func TestRenewedCertificate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "credentials")
	if err := credentials.Init(dir, []string{"nats.example.org", "10.1.2.3"}); err != nil {
		t.Fatal(err)
	}
	s, err := credentials.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.NewCertificate([]string{"localhost", "10.1.2.3"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, credentials.ServerDir, "server.pem"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatal("not in PEM")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"nats.example.org", "10.1.2.3", "localhost"} {
		if err := c.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	if len(c.DNSNames) != 2 || len(c.IPAddresses) != 1 {
		t.Errorf("hosts %q and %v", c.DNSNames, c.IPAddresses)
	}
}

// Credentials that were issued while the clock was ahead are revoked by a clock that was set
// right since.
func TestRevokeAfterTheClockWasSetBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "credentials")
	var creds []byte
	at := func(since time.Duration, f func(*credentials.Store) error) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) { // each begins at the same moment
			time.Sleep(since)
			s, err := credentials.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := f(s); err != nil {
				t.Fatal(err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		if err := credentials.Init(dir, []string{"localhost"}); err != nil {
			t.Fatal(err)
		}
	})
	at(time.Hour, func(s *credentials.Store) (err error) {
		creds, err = s.Issue(credentials.Request{Role: credentials.Bot, Players: []protocol.PlayerID{"ann"}})
		return err
	})
	at(time.Minute, func(s *credentials.Store) error {
		_, err := s.Revoke("ann")
		return err
	})
	token, err := jwt.ParseDecoratedJWT(creds)
	if err != nil {
		t.Fatal(err)
	}
	ann, err := jwt.DecodeUserClaims(token)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, credentials.AccountsFile))
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(data)) {
		if account, err := jwt.DecodeAccountClaims(word); err == nil && account.Subject == ann.IssuerAccount {
			if !account.IsClaimRevoked(ann) {
				t.Errorf("issued at %d, revoked for what was issued until %v", ann.IssuedAt, account.Revocations)
			}
			return
		}
	}
	t.Error("the account of the user is not in the file")
}

// Credentials of too many players are refused with the number that fits, and those are issued.
func TestTooManyPlayers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "credentials")
	if err := credentials.Init(dir, []string{"localhost"}); err != nil {
		t.Fatal(err)
	}
	s, err := credentials.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var players []protocol.PlayerID
	for i := range 400 {
		players = append(players, protocol.PlayerID(fmt.Sprintf("player-number-%03d", i)))
	}
	request := func(n int) credentials.Request {
		return credentials.Request{Role: credentials.Fleet, Name: "many", Players: players[:n]}
	}
	if _, err = s.Issue(request(len(players))); err == nil {
		t.Fatal("400 players were issued")
	}
	_, text, _ := strings.Cut(err.Error(), "the first ")
	var fit int
	if _, scanned := fmt.Sscan(text, &fit); scanned != nil || fit < 10 {
		t.Fatalf("the error names no number: %v", err)
	}
	if _, err := s.Issue(request(fit + 1)); err == nil {
		t.Errorf("%d players were issued, and %d should fit", fit+1, fit)
	}
	if _, err := s.Issue(request(fit)); err != nil {
		t.Errorf("%d players: %v", fit, err)
	}
}
