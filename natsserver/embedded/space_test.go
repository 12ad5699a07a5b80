//go:build unix

package embedded

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
)

// A process that could open no more files stores again once it can.
func TestTooManyOpenFiles(t *testing.T) {
	var log gametest.Output
	srv := start(t, Config{Log: zerolog.New(&log)})
	js, err := jetstream.New(connect(t, srv.Platform()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	store := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := js.Publish(ctx, "s", make([]byte, 900<<10)) // a new file every few messages
		return err
	}
	if err := store(); err != nil {
		t.Fatal(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	stored := 1
	said := false
	for range 40 {
		if store() == nil {
			stored++
		}
		if said = log.Has("write error"); said {
			break
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if !said {
		t.Fatalf("without files, %d messages were stored, and no write failed:\n%s", stored, &log)
	}
	gametest.Eventually(t, "the store to work again", func() bool { return store() == nil })
	st, err := js.Stream(t.Context(), "S")
	if err != nil {
		t.Fatal(err)
	}
	if n := st.CachedInfo().State.Msgs; n < uint64(stored) {
		t.Errorf("%d of %d messages are there", n, stored)
	}
}
