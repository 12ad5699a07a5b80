package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sparring/game/gametest"
	"sparring/natsserver/credentials"
	"sparring/natsserver/credentials/credentialstest"
	"sparring/protocol"
)

// secured is a directory of credentials, used by the command.
type secured struct {
	t        *testing.T
	dir, url string
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	s := &secured{t: t, dir: filepath.Join(t.TempDir(), "my credentials")}
	s.must("init", "--host", "nats.example.org")
	return s
}

// run runs the command.
func (s *secured) run(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(append([]string{"credentials", "--dir", s.dir}, args...), strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// must runs the command, which has to succeed, and returns what it prints.
func (s *secured) must(args ...string) string {
	s.t.Helper()
	code, out, errs := s.run(args...)
	if code != exitOK {
		s.t.Fatalf("credentials %q: exit %d, %s", args, code, errs)
	}
	return out
}

func (s *secured) file(name string) string { return filepath.Join(s.dir, name) }

// as returns the environment of a process with credentials.
func (s *secured) as(creds string) []string {
	return []string{"SPARRING_NATS_PASSWORD=", "SPARRING_NATS_CREDS=" + s.file(creds), "SPARRING_NATS_CA=" + s.file(credentials.CAFile)}
}

// flags are those of a command with credentials.
func (s *secured) flags(creds string) []string {
	return []string{"--nats", s.url, "--creds", s.file(creds), "--ca", s.file(credentials.CAFile)}
}

// TestSecuredPlatform runs the parts as processes on a server with TLS and signed
// credentials: they play, the commands of an operator work, a revoked bot is cut off and
// plays on with new credentials, and no secret is in a log, a record or the server's data.
func TestSecuredPlatform(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and plays three games: takes half a minute")
	}
	s, h := newSecured(t), newFleet(t)
	for _, role := range []string{"platform", "fleet", "spectator"} {
		s.must("new", "--role", role, "--out", s.file(role+".creds"))
	}
	_, s.url = h.startServer(s.file(credentials.ServerDir), "nats.conf", 0)
	games := h.watchAs(protocol.Connection{URL: s.url, Name: "spectator", Creds: s.file("spectator.creds"), CA: s.file(credentials.CAFile)})
	games.gaps = true
	arena := h.startArena(s.url, append(s.as("platform.creds"), "SPARRING_LOG_LEVEL=trace")...)
	bot := h.startBot(s.url, "one", append(s.as("fleet.creds"), "SPARRING_LOG_LEVEL=trace")...)
	h.wait("a game under way", func() bool { return len(games.heldBy("one")) > 0 })
	if _, out, errs := capture(append([]string{"fleet", "ls", "--json"}, s.flags("platform.creds")...)...); !strings.Contains(out, `"instance": "one"`) {
		t.Errorf("fleet ls: %s%s", out, errs)
	}

	if out := s.must("revoke", "fleet", "--nats", s.url); !strings.Contains(out, "fleet is revoked.") || !strings.Contains(out, "know the accounts: sparring.") {
		t.Error(out)
	}
	h.wait("the bot is refused", func() bool {
		return strings.Contains(bot.out.String(), "fleet.creds: refused: revoked, or another platform's: nats: authentication revoked")
	})
	s.must("new", "--role", "fleet", "--out", s.file("fleet.creds"))
	h.wait("the bot is back", func() bool { return strings.Contains(bot.out.String(), `"message":"reconnected"`) })
	h.wait("all games finished", func() bool { return games.finished() == 3 })
	h.wait("the games' records", func() bool {
		_, out, _ := capture(append([]string{"records", "list", "--json"}, s.flags("platform.creds")...)...)
		return strings.Count(out, "\n") == 3
	})
	h.wait("a player is erased, once its game is rated", func() bool {
		code, out, _ := capture(append([]string{"records", "erase", "gomoku-hare", "--yes"}, s.flags("platform.creds")...)...)
		return code == exitOK && strings.Contains(out, "gomoku-hare on the platform")
	})
	if _, out, _ := capture(append([]string{"records", "list"}, s.flags("platform.creds")...)...); strings.Contains(out, "gomoku-hare") || strings.Count(out, "\n") != 3 {
		t.Errorf("the records after that:\n%s", out)
	}
	bot.end(syscall.SIGTERM)
	arena.end(syscall.SIGTERM)

	secrets := s.secrets()
	for _, p := range h.processes {
		noSecret(t, p.name, p.out.String(), secrets)
	}
	for _, dir := range []string{h.dir, s.file(credentials.ServerDir)} {
		if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "server.pem" {
				return err
			}
			data, err := os.ReadFile(path)
			noSecret(t, path, string(data), secrets)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestConformanceWithCredentials checks an arena on a server with TLS and signed
// credentials, by players with credentials of their own.
func TestConformanceWithCredentials(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	s, h := newSecured(t), newFleet(t)
	s.must("new", "--role", "platform", "--out", s.file("platform.creds"))
	var players []string
	for _, p := range []string{"ann", "bob", "eve"} {
		s.must("new", "--role", "bot", "--player", p, "--out", s.file(p+".creds"))
		players = append(players, p+":"+s.file(p+".creds"))
	}
	_, s.url = h.startServer(s.file(credentials.ServerDir), "nats.conf", 0)
	code, out, errs := capture(append([]string{
		"conformance", "--platform", "--exec", "sparring arena", "--only", "hello,game", "--ease", "10", "--players", strings.Join(players, ","),
	}, s.flags("platform.creds")...)...)
	if code != exitOK || !strings.Contains(out, "PASS       hello ") || !strings.Contains(out, " 0 failed") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// capture runs a command in this process.
func capture(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// secrets returns the tokens of the users' credentials and the private keys in PEM.
func (s *secured) secrets() (all []string) {
	s.t.Helper()
	files, err := filepath.Glob(s.file("*.creds"))
	if err != nil || len(files) < 4 {
		s.t.Fatalf("credentials: %v %v", files, err)
	}
	for _, path := range append(files, s.file("server/server.pem"), s.file("keys/ca.key")) {
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		text := string(data)
		if _, private, ok := strings.Cut(text, "-----BEGIN PRIVATE KEY-----"); ok {
			text = private
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) > 40 && !strings.Contains(line, " ") && !strings.HasPrefix(line, "*") {
				all = append(all, line)
			}
		}
	}
	return all
}

func noSecret(t *testing.T, where, text string, secrets []string) {
	t.Helper()
	if credentialstest.HasSeed(text) || slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(text, s) }) || strings.Contains(text, password("")) {
		t.Errorf("%s has a secret", where)
	}
}

// A kill at any moment leaves a directory that works: what was printed is listed, and a
// revocation that is listed reaches the server's accounts.
func TestCredentialsKilled(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	printed := map[string]bool{}
	users := func() map[string]credentials.User {
		t.Helper()
		var all []credentials.User
		if err := json.Unmarshal([]byte(s.must("list", "--json")), &all); err != nil {
			t.Fatal(err)
		}
		byName := map[string]credentials.User{}
		for _, u := range all {
			byName[u.Name] = u
		}
		return byName
	}
	// killed runs the command as a process and kills it after a while.
	killed := func(after time.Duration, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sparring", append([]string{"credentials", "--dir", s.dir}, args...)...)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(after, func() { cmd.Process.Kill() })
		cmd.Wait() // its error is the kill
		return out.String()
	}
	// From about half of the time that the command takes to the whole.
	begun := time.Now()
	killed(time.Hour, "new", "--role", "bot", "--player", "first")
	whole := time.Since(begun)
	const tries = 10
	for i := range tries {
		name := "p" + string(rune('a'+i))
		out := killed(whole*time.Duration(tries/2+i)/tries, "new", "--role", "bot", "--player", name)
		if printed[name] = strings.Contains(out, "END USER NKEY SEED"); printed[name] && users()[name].Key == "" {
			t.Fatalf("%s has credentials and is not listed", name)
		}
	}
	for i := range tries {
		killed(whole*time.Duration(tries/2+i)/tries, "revoke", "first", "--nats", "nats://127.0.0.1:1")
		if u := users()["first"]; !u.Revoked.IsZero() {
			break
		}
	}
	if code, _, errs := s.run("push", "--nats", "nats://127.0.0.1:1"); code != exitFailed || !strings.Contains(errs, "it holds from the next start") {
		t.Errorf("push without a server: exit %d, %s", code, errs)
	}
	if _, _, errs := s.run("list"); errs != "" {
		t.Error(errs)
	}

	// init makes all or nothing.
	for i := range tries {
		s.dir = filepath.Join(t.TempDir(), "killed")
		killed(whole*time.Duration(tries/2+i)/tries, "init")
		if _, err := os.Stat(s.dir); err != nil {
			s.must("init")
		}
		s.must("new", "--role", "platform")
	}
}

// TestCredentialsCommand: what an operator types, and what comes of it.
func TestCredentialsCommand(t *testing.T) {
	s := newSecured(t)
	ann := s.must("new", "--role", "bot", "--player", "ann", "--expires", "30d")
	s.must("new", "--role", "fleet", "--name", "levels", "--player", "xiangqi-level-1,xiangqi-level-2,xiangqi-level-3")
	s.must("new", "--role", "spectator", "--name", "club-tv", "--expires", "12h")
	s.must("new", "--role", "bot", "--player", "ann", "--renew")
	out := filepath.Join(t.TempDir(), "ann.creds")
	if err := os.WriteFile(out, []byte(ann), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := protocol.ReadCreds(out); err != nil || c.User != "ann" || c.Expires.Before(time.Now().Add(29*24*time.Hour)) || c.Expires.After(time.Now().Add(31*24*time.Hour)) {
		t.Errorf("credentials %+v, %v", c, err)
	}
	s.must("new", "--role", "bot", "--player", "ann", "--renew", "--out", out) // the same user's
	if c, err := protocol.ReadCreds(out); err != nil || !c.Expires.IsZero() {
		t.Errorf("renewed credentials %+v, %v", c, err)
	}
	if code, out, errs := s.run("revoke", "club-tv", "--nats", "nats://127.0.0.1:1"); code != exitFailed || !strings.Contains(out, "club-tv is revoked.") ||
		!strings.Contains(errs, "no running server was told") {
		t.Errorf("revoke without the server that was named: exit %d, %s%s", code, out, errs)
	}
	list := s.must("list")
	for _, want := range []string{
		`(?m)^ann +bot +ann +20\S+ \S+ +20\S+ \S+ +valid +U[A-Z2-7]{55}$`, `(?m)^ann +bot +ann +20\S+ \S+ +never +valid `,
		`(?m)^levels +fleet +xiangqi-level-1 and 2 more .* never +valid `, `(?m)^club-tv +spectator +- .* revoked 20`, `certificate expires on 20`,
	} {
		if !regexp.MustCompile(want).MatchString(list) {
			t.Errorf("no %s in\n%s", want, list)
		}
	}
	if said := s.must("certificate", "--host", "10.1.2.3"); !regexp.MustCompile(`certificate expires on 20.*--signal reload`).MatchString(said) {
		t.Errorf("a new certificate: %q", said)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"init"}, exitFailed, "is there already, and not empty"},
		{[]string{"new"}, exitUsage, "--role: want one of platform, fleet, bot, human, spectator"},
		{[]string{"new", "--role", "root"}, exitUsage, `no role "root"`},
		{[]string{"new", "--role", "bot"}, exitUsage, "role bot: want one player"},
		{[]string{"new", "--role", "bot", "--player", "*"}, exitUsage, `player "*"`},
		{[]string{"new", "--role", "human", "--player", "ann"}, exitFailed, "--renew makes further ones"},
		{[]string{"new", "--role", "bot", "--player", "bob", "--expires", "soon"}, exitUsage, "30d"},
		{[]string{"new", "--role", "bot", "--player", "bob", "--out", out}, exitUsage, "has no credentials of bob"},
		{[]string{"new", "--role", "bot", "--player", "bob", "--out", filepath.Join(s.dir, "keys", "operator.nk")}, exitUsage, "has no credentials of bob"},
		{[]string{"revoke"}, exitUsage, "want one name"},
		{[]string{"revoke", "nobody"}, exitFailed, "no credentials of that name"},
		{[]string{"--dir", filepath.Join(s.dir, "other"), "init", "--host", "tls://nats.example.org"}, exitUsage, "--host: host"},
		{[]string{"certificate", "--host", "nats.example.org:4222"}, exitUsage, "--host: host"},
		{[]string{"--dir", filepath.Join(s.dir, "none"), "list"}, exitFailed, `"sparring credentials init" makes them`},
	} {
		code, out, errs := s.run(c.args...)
		if code != c.code || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("%q: exit %d, %s%s", c.args, code, errs, out)
		}
	}
	// Lost or expired credentials are one line.
	for name, content := range map[string]string{"lost": "", "other": "hello"} {
		file := filepath.Join(t.TempDir(), name+".creds")
		if content != "" {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, _, errs := capture("fleet", "ls", "--creds", file, "--nats", "nats://127.0.0.1:1")
		if code != exitFailed || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, file) {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
}
