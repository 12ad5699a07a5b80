package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/protocol"
	"sparring/record"
)

// keeper writes the platform's records to files, next to those of the bots.
type keeper struct {
	nc     *nats.Conn
	writer *record.Writer
	end    func() // ends the removal of old files
	log    zerolog.Logger
	mu     sync.Mutex
	have   map[string]bool // games that are in the files
}

// keptBy begins the names of a keeper's files.
const keptBy = "arena"

// newKeeper opens the files, of which the bounds say what is kept.
func newKeeper(dir string, b record.Bounds, nc *nats.Conn, log zerolog.Logger) (*keeper, error) {
	k := &keeper{nc: nc, log: log, have: make(map[string]bool)}
	var err error
	if k.writer, err = record.NewWriter(dir, keptBy, 0); err != nil {
		return nil, err
	}
	for r, err := range record.All(dir) {
		switch {
		case err != nil:
			log.Warn().Err(err).Msg("unreadable record skipped")
		case r.Source.By == record.ByArena:
			k.have[r.ID] = true
		}
	}
	k.end = trimRecords(k.writer, keptBy, b, dir, log)
	return k, nil
}

// follow writes the platform's records until ctx ends or the connection is closed. The store
// may not answer yet when it is called.
func (k *keeper) follow(ctx context.Context, a *arena.Arena) {
	for said := false; ctx.Err() == nil && !k.nc.IsClosed(); said = true {
		if err := a.FollowRecords(ctx, k.keep); err != nil && ctx.Err() == nil && !said {
			k.log.Error().Err(err).Msg("records not written to disk; the platform keeps them; trying again")
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// catchUp writes the platform's records that are not in the files yet.
func (k *keeper) catchUp(ctx context.Context) {
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		k.keep(nil, err) // never: this is the prefix that up uses
		return
	}
	for r, err := range arena.Records(ctx, k.nc, subjects) {
		k.keep(r, err)
	}
}

func (k *keeper) keep(r *record.Record, err error) {
	if _, damaged := errors.AsType[*record.DamagedError](err); damaged {
		k.log.Error().Err(err).Msg("unreadable record skipped")
		return
	} else if err != nil {
		k.log.Error().Err(err).Msg("records not written to disk; the platform keeps them and the next start writes them")
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.have[r.ID] {
		return
	}
	if err := k.writer.Append(r); err != nil {
		level := zerolog.ErrorLevel
		if lost, ok := errors.AsType[*record.NotKeptError](err); ok && !lost.First {
			level = zerolog.DebugLevel // logged for the first of them
		}
		k.log.WithLevel(level).Err(err).Str("game", r.ID).Msg("record not written to disk; the platform keeps it and the next start writes it")
		return
	}
	k.have[r.ID] = true
}

func (k *keeper) close() {
	k.end()
	if err := k.writer.Close(); err != nil {
		k.log.Warn().Err(err).Msg("can't close the records")
	}
}
