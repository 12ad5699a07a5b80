package engine

import (
	"context"
	"errors"
	"testing"
)

// starting is a game whose engine gets ready only by Close.
type starting struct {
	Game
	closed chan struct{}
}

func (s *starting) Ready() error {
	<-s.closed
	return ErrGameClosed
}

func (s *starting) Close() error {
	close(s.closed)
	return nil
}

// The end of the context ends the wait for an engine that does not get ready, and is the error.
func TestReadyEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	if err := Ready(ctx, &starting{closed: make(chan struct{})}); err != why {
		t.Error(err)
	}
}
