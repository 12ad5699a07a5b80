// Package arenatest helps the tests of the arena and of its page.
package arenatest

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// Log returns a log that writes to the test's output.
func Log(t testing.TB) zerolog.Logger {
	level := zerolog.InfoLevel
	if os.Getenv("SPARRING_TEST_DEBUG") != "" {
		level = zerolog.DebugLevel
	}
	return zerolog.New(zerolog.NewTestWriter(t)).Level(level).With().Timestamp().Logger()
}

// StartServer runs a NATS server with users for the players until the test ends.
func StartServer(t testing.TB, dir string, players ...protocol.PlayerID) *embedded.Server {
	t.Helper()
	srv, err := embedded.Start(embedded.Config{Dir: dir, Log: zerolog.Nop(), Players: players})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

// Connect opens a connection that is closed with the test.
func Connect(t testing.TB, c protocol.Connection) *nats.Conn {
	t.Helper()
	c.Log = zerolog.Nop()
	nc, err := protocol.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Quantiles sorts durations and describes how they are distributed.
func Quantiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration {
		return all[int(q*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("median %v, p95 %v, p99 %v", at(0.5), at(0.95), at(0.99))
}
