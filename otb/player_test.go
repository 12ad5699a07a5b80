package otb

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/game/gametest"
)

// hanging is an engine that does not get ready before its game is closed.
type hanging struct {
	engine.Searcher
	engine.Game
	once   sync.Once
	closed chan struct{}
}

func (h *hanging) NewGame(engine.GameOptions) (engine.Game, error) { return h, nil }

func (h *hanging) Ready() error {
	<-h.closed
	return engine.ErrGameClosed
}

func (h *hanging) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// TestCloseWhileTheEngineStarts: the operator who leaves need not wait for an engine.
func TestCloseWhileTheEngineStarts(t *testing.T) {
	table, err := Open(Options{
		Journal: filepath.Join(t.TempDir(), "game.jsonl"), Terms: terms("xiangqi/wxf", "600", game.First),
		Open: func(string, string) (engine.Searcher, error) { return &hanging{closed: make(chan struct{})}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan error, 1)
	go func() { left <- table.Close() }()
	select {
	case err := <-left:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(gametest.Patience):
		t.Error("the table waits for the engine")
	}
}
