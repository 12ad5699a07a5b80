package protocol_test

import (
	"bytes"
	"io"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// follower is alice, who has said hello to a platform and follows a game as its second seat.
type follower struct {
	*wire
	*protocol.Following
	server *protocol.Server
	conn   *nats.Conn
	log    bytes.Buffer

	mu  sync.Mutex
	got []protocol.State
}

// follow answers alice's hello, and tells her the state with sequence 5 and no moves.
func follow(t *testing.T, watch bool) *follower {
	w := newWire(t)
	f := &follower{wire: w, server: w.server(io.Discard, protocol.DefaultLimits), conn: w.connect(w.Player("alice"))}
	w.serve(f.server.ServeVerbs(protocol.Verbs{Hello: func(protocol.From, protocol.Hello) protocol.HelloAnswer {
		return protocol.HelloAnswer{Watch: watch}
	}}))
	w.must(nil, w.platform)
	alice := w.clientOver(f.conn, "alice", &f.log)
	_, err := alice.Hello(w.ctx, protocol.Hello{Kind: protocol.Bot})
	w.must(err)
	f.Following, err = alice.Follow("g1", func(st protocol.State) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.got = append(f.got, st)
	})
	w.must(err, f.conn)
	f.tell(5)
	f.await(5)
	return f
}

// tell sends alice the state after so many moves of an entry, as the platform does.
func (f *follower) tell(seq uint64, moves ...string) {
	f.t.Helper()
	snap := snapshot("g1")
	snap.Moves = moves
	f.server.Tell("alice", protocol.State{Seq: seq, You: game.Second, Snapshot: snap})
	f.must(nil, f.platform)
}

// entry publishes an entry of a log, as the server does that stores it, with changes.
func (f *follower) entry(seq uint64, mover game.Seat, move string, change ...func(*nats.Msg, *protocol.Event)) {
	f.t.Helper()
	snap := snapshot("g1")
	snap.Moves = []string{move}
	e := protocol.Event{V: 1, Kind: protocol.EventMove, Index: seq, Term: 1, Time: time.Now().UTC(), Seat: &mover, Snapshot: snap, Receipt: &protocol.Receipt{Ply: 1, LeftMS: int64(seq)}}
	m := nats.NewMsg(f.subjects.Watch("g1"))
	m.Header.Set(jetstream.SequenceHeader, strconv.FormatUint(seq, 10))
	m.Header.Set(jetstream.SubjectHeader, f.subjects.Log("g1"))
	for _, c := range change {
		c(m, &e)
	}
	m.Data = e.Encode()
	f.must(f.platform.PublishMsg(m), f.platform)
}

// await waits for the state with a sequence.
func (f *follower) await(seq uint64) (st protocol.State) {
	f.t.Helper()
	gametest.Eventually(f.t, "the state of entry "+strconv.FormatUint(seq, 10), func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		i := slices.IndexFunc(f.got, func(st protocol.State) bool { return st.Seq == seq })
		if i >= 0 {
			st = f.got[i]
		}
		return i >= 0
	})
	return st
}

// seqs returns the sequences of the states that alice has got.
func (f *follower) seqs() (all []uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, st := range f.got {
		all = append(all, st.Seq)
	}
	return all
}

// A move of the opponent comes from the log, as complete as a state. The player's own moves,
// other changes, and what is older than the last state don't.
func TestFollowTheLog(t *testing.T) {
	f := follow(t, true)
	f.entry(4, game.First, "a1")  // older
	f.entry(5, game.First, "a1")  // known
	f.entry(6, game.Second, "b1") // alice's own
	f.entry(7, game.First, "c1", func(_ *nats.Msg, e *protocol.Event) { e.Kind = protocol.EventEnd })
	f.entry(8, game.First, "c1", func(_ *nats.Msg, e *protocol.Event) { e.Kind, e.Seat = protocol.EventTakeover, nil })
	f.entry(9, game.First, "c1", func(_ *nats.Msg, e *protocol.Event) { e.Game = "g2" })
	f.entry(10, game.First, "d1")
	st := f.await(10)
	want := snapshot("g1")
	want.Moves = []string{"d1"}
	if st.To != f.subjects.ToGame("alice", "g1") || st.You != game.Second || st.ServerTime.IsZero() || !reflect.DeepEqual(st.Moves, want.Moves) || st.Receipt == nil || st.Receipt.LeftMS != 10 ||
		st.Game != want.Game || st.Holders != want.Holders || st.Status != want.Status {
		t.Errorf("the state is %+v", st)
	}
	f.entry(12, game.First, "e1")
	f.await(12)
	f.tell(11, "late") // older than what the log has told
	f.tell(13, "f1")
	f.await(13)
	if got, want := f.seqs(), []uint64{5, 10, 12, 13}; !slices.Equal(got, want) {
		t.Errorf("the states of the entries %v, want %v", got, want)
	}
	if err := f.Unsubscribe(); err != nil {
		t.Error(err)
	}
	f.must(nil, f.conn)
	f.entry(14, game.First, "g1")
	f.must(nil, f.conn)
	if got := f.seqs(); got[len(got)-1] != 13 {
		t.Errorf("after the end came the states of %v", got)
	}
}

// Only who has had the last change from the log is watching.
func TestIsWatching(t *testing.T) {
	f := follow(t, true)
	if f.Watching() {
		t.Error("watching before an entry came")
	}
	f.entry(6, game.First, "a1")
	f.await(6)
	gametest.Eventually(t, "watching", f.Watching)
	f.tell(8, "a1", "b1", "c1") // its entry was lost
	f.await(8)
	if f.Watching() {
		t.Error("watching although an entry was lost")
	}
	f.entry(8, game.First, "c1") // it was late
	gametest.Eventually(t, "watching again", f.Watching)
}

// While changes can't be stored, an entry is an older one that the store has written late: nobody
// may go back to it.
func TestEntriesWrittenLate(t *testing.T) {
	f := follow(t, true)
	f.entry(6, game.First, "a1")
	gametest.Eventually(t, "watching", f.Watching)
	snap := snapshot("g1")
	snap.Moves = []string{"a1", "b1", "c1"}
	f.server.Tell("alice", protocol.State{Seq: 6, Unkept: 2, You: game.Second, Snapshot: snap})
	f.must(nil, f.platform)
	gametest.Eventually(t, "not watching while changes can't be stored", func() bool { return !f.Watching() })
	f.entry(7, game.Second, "b1")
	f.entry(8, game.First, "c1") // two that were given up
	f.tell(9, "a1", "b1", "c1", "d1")
	f.await(9)
	f.entry(10, game.First, "e1")
	f.await(10)
	if got, want := f.seqs(), []uint64{5, 6, 6, 9, 10}; !slices.Equal(got, want) {
		t.Errorf("the states of the entries %v, want %v", got, want)
	}
}

// Who is handed a state may ask whether it is watching, and wait for a lock under which others
// ask.
func TestWatchingDoesNotWait(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	nc := w.connect(w.Player("alice"))
	alice := w.clientOver(nc, "alice", io.Discard)
	following, asked := make(chan *protocol.Following, 1), make(chan bool, 1)
	f, err := alice.Follow("g1", func(protocol.State) { asked <- (<-following).Watching() })
	w.must(err, nc)
	following <- f
	s.Tell("alice", protocol.State{Seq: 1, Snapshot: snapshot("g1")})
	w.must(nil, w.platform)
	select {
	case watching := <-asked:
		if watching {
			t.Error("watching without entries")
		}
	case <-w.ctx.Done():
		t.Error("asking while a state is handed on waits for ever")
	}
}

// Anybody can have an answer of the platform delivered on the subject of a log's entries.
func TestForgedEntries(t *testing.T) {
	f := follow(t, true)
	for _, forge := range []func(*nats.Msg, *protocol.Event){
		func(m *nats.Msg, _ *protocol.Event) { m.Header = nil },
		func(m *nats.Msg, _ *protocol.Event) { m.Header.Del(jetstream.SubjectHeader) },
		func(m *nats.Msg, _ *protocol.Event) { m.Header.Set(jetstream.SubjectHeader, f.subjects.Log("g2")) },
		func(m *nats.Msg, _ *protocol.Event) { m.Header.Del(jetstream.SequenceHeader) },
		func(m *nats.Msg, _ *protocol.Event) { m.Header.Set(jetstream.SequenceHeader, "-6") },
		func(_ *nats.Msg, e *protocol.Event) { e.V = 2 },
		func(_ *nats.Msg, e *protocol.Event) { e.Key = "no key" },
	} {
		f.entry(6, game.First, "a1", forge)
	}
	f.entry(9, game.First, "b1")
	f.await(9)
	if got, want := f.seqs(), []uint64{5, 9}; !slices.Equal(got, want) {
		t.Errorf("the states of the entries %v, want %v", got, want)
	}
	f.conn.Close()
	if n := bytes.Count(f.log.Bytes(), []byte("invalid entry of a log ignored")); n != 1 {
		t.Errorf("logged %d times, want once:\n%s", n, f.log.String())
	}
}

// On a platform that does not say that it can be watched nobody listens there.
func TestFollowWithoutLogs(t *testing.T) {
	f := follow(t, false)
	f.entry(6, game.First, "a1")
	f.tell(7, "a1")
	f.await(7)
	if got, want := f.seqs(), []uint64{5, 7}; !slices.Equal(got, want) || f.Watching() || f.conn.NumSubscriptions() != 2 { // one is for answers
		t.Errorf("the states of %v, want %v; watching: %v; %d subscriptions", got, want, f.Watching(), f.conn.NumSubscriptions())
	}
	if err := f.Unsubscribe(); err != nil {
		t.Error(err)
	}
}
