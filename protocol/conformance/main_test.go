package conformance_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/internal/netfault"
	"sparring/protocol"
	"sparring/protocol/conformance"
)

func TestMain(m *testing.M) {
	actInstead()
	flag.Parse()
	// The tests wait much and compute little, 22 s of processor time together: far more of
	// them than processors.
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// bench is a NATS server without accounts and without JetStream, with a proxy before it.
type bench struct {
	t     testing.TB
	url   string
	proxy *netfault.Proxy
}

const patience = 30 * time.Second

func newBench(t testing.TB) *bench {
	t.Helper()
	ns, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	proxy, err := netfault.Listen(ns.Addr().(*net.TCPAddr).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return &bench{t: t, url: ns.ClientURL(), proxy: proxy}
}

func (b *bench) direct() protocol.Connection {
	return protocol.Connection{URL: b.url, Log: zerolog.Nop()}
}

// proxied is what the program under test uses.
func (b *bench) proxied() protocol.Connection {
	return protocol.Connection{URL: "nats://" + b.proxy.Addr(), Log: zerolog.Nop()}
}

func (b *bench) connect(c protocol.Connection) *nats.Conn {
	b.t.Helper()
	nc, err := protocol.Connect(c)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(nc.Close)
	return nc
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// chosen are the scenarios of a run by hand, in SPARRING_TEST_ONLY.
func chosen() []string {
	if only := os.Getenv("SPARRING_TEST_ONLY"); only != "" {
		return strings.Split(only, ",")
	}
	return nil
}

// shards is how many programs under test share the scenarios, which mostly wait.
const shards = 8

// inShards runs all scenarios against several programs of one make. Only the scenarios
// named last may fail, and they must.
func inShards(t *testing.T, name string, all []conformance.Description, run func(*testing.T, conformance.Options) conformance.Report, fails ...string) {
	for shard := range shards {
		if testing.Short() && shard > 0 {
			break // one program's share of the scenarios
		}
		t.Run(fmt.Sprintf("%s %d", name, shard+1), func(t *testing.T) {
			t.Parallel()
			o := conformance.Options{Only: chosen()}
			if o.Only == nil {
				for i, d := range all {
					if i%shards == shard {
						o.Only = append(o.Only, d.Scenario)
					}
				}
			}
			for _, res := range run(t, o).Results {
				if failed, known := res.Verdict == conformance.Fail, slices.Contains(fails, res.Scenario); failed != known {
					t.Errorf("%s: %s: %s", res.Scenario, res.Verdict, res.Seen)
				}
			}
		})
	}
}

func logResults(t testing.TB, rep conformance.Report) {
	t.Helper()
	for _, res := range rep.Results {
		t.Logf("%-9s %-16s %5d ms  %s", res.Verdict, res.Scenario, res.TookMS, res.Seen)
	}
}
