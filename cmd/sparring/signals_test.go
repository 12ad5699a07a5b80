package main

import (
	"context"
	"io"
	"testing"
	"time"

	"sparring/game/gametest"
	"sparring/protocol/embedded"
)

// A bot process that is told to end while it opens its books and tables ends when it has.
func TestSignalBeforeTheStart(t *testing.T) {
	srv, err := embedded.Start(embedded.Config{Port: embedded.RandomPort})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	for name, value := range map[string]string{"NATS_URL": srv.URL(), "NATS_PASSWORD": srv.Password("bots"), "DATA": t.TempDir(),
		"PLAYERS": "amazons-hare:amazons", "HASH_MB": "8", "ANALYSES": "0"} {
		t.Setenv("SPARRING_"+name, value)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as the signal does
	c := botCommand()
	c.SetArgs(nil)
	c.SetErr(io.Discard)
	ended := make(chan error, 1)
	go func() { ended <- c.ExecuteContext(ctx) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(gametest.Patience):
		t.Fatal("the signal was lost")
	}
}
