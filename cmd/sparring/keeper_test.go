package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
	"sparring/record"
)

// The platform's records come into files also if they could not be read at the start.
func TestKeeperTriesAgain(t *testing.T) {
	t.Parallel()
	srv, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	nc, err := protocol.Connect(srv.Platform())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := arena.New(ctx, nc, arena.Defaults(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, "sparring_records")
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(ctx, "sparring_records"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	k, err := newKeeper(dir, record.Bounds{}, nc, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	life, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { k.follow(life, a); close(ended) }()
	defer func() { end(); <-ended }()
	select {
	case <-ended:
		t.Fatal("the keeper has given up")
	case <-time.After(500 * time.Millisecond): // without the stream it fails at once
	}
	if _, err := js.CreateStream(ctx, stream.CachedInfo().Config); err != nil {
		t.Fatal(err)
	}
	data, err := record.Encode(&record.Record{ID: "g1", Game: "gomoku", Rules: "gomoku/freestyle-15", Reason: protocol.ReasonVoid, Result: game.Undecided,
		Source: record.Source{By: record.ByArena}, Plies: []record.Ply{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "sparring.record.gomoku.g1", data); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the record in a file", func() bool {
		r, err := record.Find(ctx, dir, "g1")
		return err == nil && r.ID == "g1"
	})
}

// A disk that takes no records is an error once, and not for every game.
func TestKeeperWithoutADisk(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	k, err := newKeeper(dir, record.Bounds{}, nil, zerolog.New(&log).Level(zerolog.InfoLevel))
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	keep := func(ids ...string) {
		for _, id := range ids {
			k.keep(&record.Record{ID: id, Game: "gomoku", Rules: "gomoku/freestyle-15", Reason: protocol.ReasonVoid, Result: game.Undecided,
				Source: record.Source{By: record.ByArena}, Plies: []record.Ply{}}, nil)
		}
	}
	path := filepath.Join(dir, keptBy+".jsonl")
	for n := range 2 {
		if err := os.Mkdir(path, 0o755); err != nil { // in the way of the file
			t.Fatal(err)
		}
		keep(fmt.Sprint("a", n), fmt.Sprint("b", n), fmt.Sprint("c", n))
		if errs := strings.Count(log.String(), `"level":"error"`); errs != n+1 {
			t.Errorf("%d errors after %d times without a disk: %s", errs, n+1, log.String())
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		keep(fmt.Sprint("d", n))
		if _, err := record.Find(t.Context(), dir, fmt.Sprint("d", n)); err != nil {
			t.Error(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// A damaged record is one; that the store can't be read is not.
func TestKeeperWithoutAStore(t *testing.T) {
	for err, want := range map[error]string{
		fmt.Errorf("stream sparring_records: %w", context.DeadlineExceeded):                  "records not written to disk",
		&record.DamagedError{File: "stream sparring_records", Line: 3, Err: errors.New("?")}: "unreadable record skipped",
	} {
		var log bytes.Buffer
		k := &keeper{log: zerolog.New(&log)}
		k.keep(nil, err)
		if !strings.Contains(log.String(), want) {
			t.Errorf("%v: %s", err, log.String())
		}
	}
}
