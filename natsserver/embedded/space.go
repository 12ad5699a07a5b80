package embedded

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A stream that could not write once refuses everything until JetStream is started
// again, even if there is room: see "Critical write error" in the server's log. That happens
// on a full disk, and when the process may open no more files. A
// server in a process of its own has to be restarted for that. This one starts
// JetStream again by itself, so that the games in the memory of the same process
// are not lost.

const (
	// roomEvery is how often a full disk is looked at.
	roomEvery = time.Second
	// roomFor is how much has to fit on the disk before JetStream is started again.
	roomFor = 1 << 20
	// filesFor is how many files have to be free besides. With fewer JetStream would start
	// without the streams that it can't open.
	filesFor = 64
)

// lacksRoom reports whether a line of the server's log tells of a full disk, or of too many
// open files.
func lacksRoom(text string) bool {
	return strings.Contains(text, syscall.ENOSPC.Error()) || strings.Contains(text, "JetStream out of") ||
		strings.Contains(text, "write error") && strings.Contains(text, syscall.EMFILE.Error()) // connections lack files, too
}

// awaitRoom starts JetStream again whenever there is room after the disk was full, or no
// more files could be opened, until ctx ends.
func (s *Server) awaitRoom(ctx context.Context, dir string, log *serverLog) {
	tick := time.NewTicker(roomEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !log.full.Load() || !hasRoom(dir) {
			continue
		}
		log.full.Store(false)
		if err := s.restartJetStream(dir); err != nil {
			log.full.Store(true)
			s.log.Error().Err(err).Msg("JetStream can't be started again; trying again")
		} else {
			s.log.Warn().Msg("there is room again: JetStream was started again")
		}
	}
}

// hasRoom reports whether a file of some size can be written, and many be open.
func hasRoom(dir string) bool {
	name := filepath.Join(dir, "room")
	err := os.WriteFile(name, make([]byte, roomFor), 0o600)
	for range filesFor {
		if err != nil {
			break
		}
		var f *os.File
		if f, err = os.Open(name); err == nil {
			defer f.Close()
		}
	}
	os.Remove(name) // also what could be written of it
	return err == nil
}

func (s *Server) restartJetStream(dir string) error {
	if cfg := s.ns.JetStreamConfig(); cfg != nil {
		s.jetStream = *cfg
	}
	if err := s.ns.ShutdownJetStream(); err != nil {
		return err
	}
	cfg := s.jetStream
	cfg.StoreDir = dir
	return s.ns.EnableJetStream(&cfg)
}
