package embedded

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
	"sparring/protocol"
)

// TestRoutineWarnings: what the server reports after every kill is no warning;
// damage is.
func TestRoutineWarnings(t *testing.T) {
	for text, level := range map[string]string{
		"Filestore [queue] Stream state detected prior state, could not locate msg block 10":              "info",
		"Filestore [records] Stream state detected prior state, could not locate msg block 10":            "warn",
		"Filestore [records] Stream state outdated, last block has additional entries, will rebuild":      "info",
		"Filestore [records] TTL state is outdated; attempting to recover using linear scan (seq 1 to 2)": "info",
		"Filestore [records] Recovering stream state from index errored: prior state file":                "info",
		"Filestore [records] Recovering stream state from index errored: corrupt state file":              "warn",
		"Filestore [records] Stream state checksum did not match":                                         "warn",
		"Filestore [records] loadBlock error: no such file":                                               "warn",
		"Error recreating stream \"records\": no such file":                                               "warn",
	} {
		var out strings.Builder
		l := newServerLog(zerolog.New(&out), []storedStream{{name: "queue"}, {name: "records", keeps: true}})
		l.Warnf("%s", text)
		if !strings.Contains(out.String(), `"level":"`+level+`"`) {
			t.Errorf("%s: logged as %s, want %s", text, out.String(), level)
		}
	}
}

// TestLinesAboutClients: a user who sends what it may not send does not fill the log, nor does
// it hide what the server says of itself, which is logged once.
func TestLinesAboutClients(t *testing.T) {
	var log gametest.Output
	srv, err := Start(Config{Players: []protocol.PlayerID{"alice"}, Log: zerolog.New(&log)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	nc, err := protocol.Connect(srv.Player("alice"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	const denied = 1000
	var refused atomic.Int64
	nc.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) { refused.Add(1) })
	begun := time.Now()
	for range denied {
		if err := nc.Publish("sparring.play.bob.hello", nil); err != nil {
			t.Fatal(err)
		}
	}
	gametest.Eventually(t, "the refusals", func() bool { return refused.Load() == denied })
	most := clientLines * (1 + int(time.Since(begun)/clientPeriod))
	if n := log.Count("Publish Violation"); n == 0 || n > most {
		t.Errorf("%d lines about %d refusals, want up to %d", n, denied, most)
	}
	for range 3 {
		srv.ns.Errorf("the disk fails")
	}
	if n := log.Count("the disk fails"); n != 1 {
		t.Errorf("what the server says of itself three times is logged %d times, want once", n)
	}
}
