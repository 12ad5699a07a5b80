package protocol_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
	"sparring/protocol"
)

// A connection moves to the server of its cluster where something works, and only there.
func TestFailOver(t *testing.T) {
	const servers = 3
	var list string
	var ports [servers]int
	for i := range servers {
		ports[i] = gametest.FreePort(t)
	}
	for i := range servers {
		o := &server.Options{ServerName: fmt.Sprintf("n%d", i), Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true,
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]}}
		for j := range i {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", ports[j])})
		}
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		if !s.ReadyForConnections(patience) {
			t.Fatal("a server does not start")
		}
		if list += s.ClientURL(); i < servers-1 {
			list += ","
		}
	}
	nc, err := protocol.Connect(protocol.Connection{URL: list, Name: "moving", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if !protocol.CanFailOver(nc) {
		t.Fatal("the connection knows of no other server")
	}
	for range 2 * servers {
		here := nc.ConnectedServerName()
		tried := map[string]bool{}
		if protocol.FailOver(t.Context(), nc, func(_ context.Context, probe *nats.Conn) bool {
			tried[probe.ConnectedServerName()] = true
			return false
		}) || nc.ConnectedServerName() != here || len(tried) != servers-1 || tried[here] {
			t.Fatalf("from %s to %s after trying %v, where nothing works", here, nc.ConnectedServerName(), tried)
		}
		var there string
		if !protocol.FailOver(t.Context(), nc, func(_ context.Context, probe *nats.Conn) bool {
			there = probe.ConnectedServerName()
			return true
		}) {
			t.Fatal("nothing tried")
		}
		gametest.Eventually(t, "the move from "+here+" to "+there, func() bool { return nc.IsConnected() && nc.ConnectedServerName() == there })
	}
}
