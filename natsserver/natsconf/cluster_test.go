package natsconf_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sparring/configs"
)

// Servers with cluster/nats.conf as it is shipped find each other. The first one is told
// of nobody, the others of the first, so that each uses the password to reach another.
func TestCluster(t *testing.T) {
	for _, variable := range configs.NATSPasswords {
		t.Setenv(configs.Prefix+"_"+variable, "p")
	}
	t.Setenv("SPARRING_ROUTE_PASSWORD", "p0123456789abcdef")
	t.Setenv("SPARRING_ROUTES", "[]")
	var all []*server.Server
	for i := range 3 {
		t.Setenv("SPARRING_SERVER_NAME", fmt.Sprintf("nats-%d", i+1))
		o, err := server.ProcessConfigFile("../../configs/cluster/nats.conf")
		if err != nil {
			t.Fatal(err)
		}
		o.Host, o.Port, o.HTTPPort, o.Cluster.Host, o.Cluster.Port = "127.0.0.1", server.RANDOM_PORT, 0, "127.0.0.1", server.RANDOM_PORT
		o.JetStream, o.NoSigs, o.NoLog = false, true, true
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		s.Start()
		if !s.ReadyForConnections(time.Minute) {
			t.Fatal("the server does not start")
		}
		if i == 0 {
			t.Setenv("SPARRING_ROUTES", fmt.Sprintf("[nats://route:p0123456789abcdef@%s, nats://route:p0123456789abcdef@%[1]s]", s.ClusterAddr()))
		}
		all = append(all, s)
	}
	for _, s := range all {
		for end := time.Now().Add(time.Minute); s.NumRemotes() < len(all)-1; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s has routes to %d servers, want %d", s.Name(), s.NumRemotes(), len(all)-1)
			}
		}
	}
}
