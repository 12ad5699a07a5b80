package browser

import (
	"encoding/json"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"sparring/game/gametest"
	"sparring/protocol"
	"strings"
	"sync"
	"testing"
)

// ForgetWaiting removes the stored challenges that wait.
func (w *World) ForgetWaiting(t testing.TB) {
	t.Helper()
	js := w.Store(t)
	kv, err := js.KeyValue(t.Context(), "sparring_agreements")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := kv.ListKeysFiltered(t.Context(), "waiting.>")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for key := range keys.Keys() {
		if err := kv.Purge(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n == 0 {
		t.Error("no challenge is stored")
	}
}

// Games has the last event of each game of a world, as spectators get them.
type Games struct {
	mu   sync.Mutex
	last map[protocol.GameID]protocol.Event
}

// Watch follows all games of a world.
func (w *World) Watch(t testing.TB) *Games {
	t.Helper()
	nc, err := protocol.Connect(w.nats.Player("watch"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	g := &Games{last: make(map[protocol.GameID]protocol.Event)}
	if _, err := nc.Subscribe("sparring.watch.*", g.note); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *Games) note(m *nats.Msg) {
	var e protocol.Event
	if json.Unmarshal(m.Data, &e) != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.Index > g.last[e.Game].Index {
		g.last[e.Game] = e
	}
}

func (g *Games) Of(id protocol.GameID) protocol.Event {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last[id]
}

// Latest waits until the spectators have all moves that a player sees, and returns
// that event.
func (g *Games) Latest(t testing.TB, id protocol.GameID, p *Tab) protocol.Event {
	t.Helper()
	var e protocol.Event
	ply := p.Ply()
	gametest.Eventually(t, "the spectators have the position", func() bool {
		e = g.Of(id)
		return len(e.Moves) >= ply
	})
	return e
}

// CopyRecord stores the record of a game of Gomoku once more, under another id: that game is
// one whose log was removed long ago.
func (w *World) CopyRecord(t testing.TB, from, to string) {
	t.Helper()
	js := w.Store(t)
	records, err := js.Stream(t.Context(), "sparring_records")
	if err != nil {
		t.Fatal(err)
	}
	const subject = "sparring.record.gomoku."
	var found *jetstream.RawStreamMsg
	gametest.Eventually(t, "the record is stored", func() bool {
		found, err = records.GetLastMsgForSubject(t.Context(), subject+from)
		return err == nil
	})
	m := &nats.Msg{Subject: subject + to, Header: found.Header, Data: []byte(strings.ReplaceAll(string(found.Data), from, to))}
	m.Header.Del(nats.MsgIdHdr)
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// Store returns the platform's JetStream, for tests that change what is stored.
func (w *World) Store(t testing.TB) jetstream.JetStream {
	t.Helper()
	nc, err := protocol.Connect(w.nats.Platform())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}
