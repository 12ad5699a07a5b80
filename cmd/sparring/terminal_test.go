package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// platformCommands are the commands at a terminal that need a platform.
func platformCommands(url string) map[string][]string {
	return map[string][]string{
		"records": {"records", "list", "--nats", url},
		"match":   {"match", "--over", "nats", "--game", "amazons", "--a", "x", "--b", "y", "--clock", "60+1", "--games", "2", "--nats", url},
	}
}

// TestWithoutPlatform: a command at a terminal that has no platform to talk to, or no
// right to, ends with one line that says why.
func TestWithoutPlatform(t *testing.T) {
	srv, err := embedded.Start(embedded.Config{Port: embedded.RandomPort, Passwords: map[string]string{"platform": "p", "bots": "b"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	for name, test := range map[string]struct{ url, user, password, says string }{
		"no server":      {fmt.Sprintf("nats://127.0.0.1:%d", gametest.FreePort(t)), "platform", "p", "no NATS server answers; --wait"},
		"wrong password": {srv.URL(), "platform", "x", `user "platform" refused`},
		"no password":    {srv.URL(), "platform", "", `user "platform" refused: no password (SPARRING_NATS_PASSWORD)`},
		"no rights":      {srv.URL(), "bots", "b", `the server denies user "bots"`},
		"no platform":    {srv.URL(), "platform", "p", "no platform there"},
	} {
		for command, args := range platformCommands(test.url) {
			t.Run(name+", "+command, func(t *testing.T) {
				t.Setenv("SPARRING_NATS_URL", "nats://127.0.0.1:1") // --nats stands before it
				t.Setenv("SPARRING_NATS_USER", test.user)
				t.Setenv("SPARRING_NATS_PASSWORD", test.password)
				var out, errs bytes.Buffer
				code := run(args, strings.NewReader(""), &out, &errs)
				text := errs.String()
				if code != exitFailed || out.Len() > 0 || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "sparring: ") || !strings.Contains(text, test.says) {
					t.Errorf("exit %d, %s\n%s", code, text, out.String())
				}
			})
		}
	}
}

// TestReportOfPlatform: the page of a platform's games names the server, not the
// password with which they were read. A damaged record is skipped.
func TestReportOfPlatform(t *testing.T) {
	const password = "the-password-of-the-platform"
	srv, err := embedded.Start(embedded.Config{Port: embedded.RandomPort, Passwords: map[string]string{"platform": password}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	nc := arenatest.Connect(t, srv.Platform())
	if _, err := arena.New(t.Context(), nc, arena.Defaults(), arenatest.Log(t)); err != nil {
		t.Fatal(err)
	}
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	const record = `{"v":1,"id":"g","game":"gomoku","rules":"gomoku/freestyle-15","source":{"by":"arena"},"seats":[{"player":"a","kind":"bot"},{"player":"b","kind":"bot"}],"result":"first","reason":"resign","plies":[{"seat":"first","move":"h8"}]}`
	for id, text := range map[protocol.GameID]string{"damaged": "{}", "g": record} {
		if _, err := nc.Request(subjects.Record("gomoku", id), []byte(text), patience); err != nil {
			t.Fatal(err)
		}
	}
	page := filepath.Join(t.TempDir(), "report.html")
	url := strings.Replace(srv.URL(), "://", "://platform:"+password+"@", 1)
	var out, errs bytes.Buffer
	if code := run([]string{"records", "report", "--analyse", "none", "--html", page, "--nats", url}, strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(errs.String(), "skipped: stream sparring_records:") {
		t.Fatalf("exit %d, %s", code, errs.String())
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), password) || !strings.Contains(string(text), strings.TrimPrefix(srv.URL(), "nats://")) {
		t.Error("the page has the password, or does not name the server")
	}
}

// TestFleetAtServer: --nats names the server of the operator's verbs, with the user.
func TestFleetAtServer(t *testing.T) {
	srv, err := embedded.Start(embedded.Config{Port: embedded.RandomPort, Passwords: map[string]string{"platform": "p"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	t.Setenv("SPARRING_NATS_URL", "nats://127.0.0.1:1")
	for url, says := range map[string]string{
		strings.Replace(srv.URL(), "://", "://platform:p@", 1): "no process of a fleet answered",
		strings.Replace(srv.URL(), "://", "://platform:x@", 1): `user "platform" refused`,
	} {
		var out, errs bytes.Buffer
		code := run([]string{"fleet", "ls", "--nats", url}, strings.NewReader(""), &out, &errs)
		if text := errs.String(); code != exitFailed || !strings.Contains(text, says) || strings.Contains(text, ":p@") || strings.Contains(text, ":x@") {
			t.Errorf("exit %d, %s", code, text)
		}
	}
}

// TestWaitForPlatform: with --wait the same commands wait for a platform that comes
// later.
func TestWaitForPlatform(t *testing.T) {
	port := gametest.FreePort(t)
	url := fmt.Sprintf("nats://127.0.0.1:%d", port)
	t.Setenv("SPARRING_NATS_PASSWORD", "p")
	ended := make(chan string, 1)
	go func() {
		var out, errs bytes.Buffer
		code := run([]string{"records", "list", "--wait", "--nats", url}, strings.NewReader(""), &out, &errs)
		ended <- fmt.Sprintf("exit %d\n%s%s", code, out.String(), errs.String())
	}()
	srv, err := embedded.Start(embedded.Config{Port: port, Passwords: map[string]string{"platform": "p"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := arena.New(ctx, arenatest.Connect(t, srv.Platform()), arena.Defaults(), arenatest.Log(t)); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-ended:
		if !strings.HasPrefix(text, "exit 0\nID ") {
			t.Error(text)
		}
	case <-time.After(patience):
		t.Fatal("it still waits")
	}
}
