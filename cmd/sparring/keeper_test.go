package main

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/protocol/embedded"
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
