package protocol_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/game/gametest"
	"sparring/protocol"
)

// startForgetfulStore runs a server with one that answers for JetStream, and that loses the
// first of the requests, as a server does that dies.
func startForgetfulStore(t *testing.T) jetstream.JetStream {
	t.Helper()
	ns, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	nc, err := nats.Connect("", nats.InProcessServer(ns))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); ns.Shutdown(); ns.WaitForShutdown() })
	lost := false
	if _, err := nc.Subscribe("$JS.API.STREAM.INFO.games", func(m *nats.Msg) {
		if lost {
			m.Respond([]byte(`{"config": {"name": "games"}}`))
		}
		lost = true
	}); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// A request that is lost is asked again, although its caller has much time.
func TestRepeatAfterLostRequest(t *testing.T) {
	t.Parallel()
	for name, within := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"a caller without a deadline": context.WithCancel,
		"a caller with a deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, gametest.Patience)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				js := startForgetfulStore(t)
				ctx, cancel := within(t.Context())
				defer cancel()
				tries := 0
				if err := protocol.Repeat(ctx, 2*time.Second, time.Second, func(ctx context.Context) (bool, error) {
					tries++
					_, err := js.Stream(ctx, "games")
					return err == nil, err
				}); err != nil || tries != 2 {
					t.Errorf("%v after %d tries, want success at the second", err, tries)
				}
			})
		})
	}
}

// Tests that ask again until something is there get a context whose requests end early.
func TestPatientContextBoundsRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := startForgetfulStore(t)
		ctx := gametest.Context(t)
		for tries := 1; ; tries++ {
			_, err := js.Stream(ctx, "games")
			if err == nil {
				break
			}
			if tries > 1 || ctx.Err() != nil {
				t.Fatalf("try %d: %v, want an answer to the second request", tries, err)
			}
		}
	})
}

func TestRepeatEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, stopped)
		defer cancel()
		if err := protocol.Repeat(ctx, time.Second, time.Second, func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			return false, ctx.Err()
		}); !errors.Is(err, stopped) {
			t.Errorf("%v, want the cause of the context's end", err)
		}
		refused := errors.New("refused")
		if err := protocol.Repeat(t.Context(), time.Second, time.Second, func(context.Context) (bool, error) { return true, refused }); err != refused {
			t.Errorf("%v, want the answer's error", err)
		}
	})
}
