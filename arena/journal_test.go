package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/arena/livegame"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// begun writes the log of a game with some moves that has no referee.
func begun(t *testing.T, s *store, g protocol.GameID, terms protocol.Terms, plies int) {
	t.Helper()
	o := livegame.Opening{Game: g, Terms: terms}
	o.Holders[0], o.Holders[1] = protocol.Holder{Player: "ann", Instance: "a1"}, protocol.Holder{Player: "bob", Instance: "b1"}
	now := time.Now()
	live, event, refused := livegame.New(o, livegame.DefaultPolicy(), now)
	if refused != nil {
		t.Fatal(refused)
	}
	j, pos := s.journal(g, 0, nil), position0(t, terms)
	for ply := 0; ; ply++ {
		if err := j.append(t.Context(), event, 0); err != nil {
			t.Fatal(err)
		}
		live.Commit(j.last, now)
		if ply == plies {
			return
		}
		h := o.Holders[pos.Turn()]
		move := pos.Legal(nil)[0]
		event, _ = live.Move(h.Player, protocol.MoveRequest{Header: protocol.Header{ID: protocol.NewID()}, Instance: h.Instance, Epoch: 1, Ply: ply, Move: pos.Format(move)}, now, now)
		if err := pos.Play(move); err != nil || event == nil {
			t.Fatalf("ply %d is not played (%v)", ply+1, err)
		}
	}
}

func openTestStore(t *testing.T) *store {
	t.Helper()
	a, err := New(t.Context(), arenatest.Connect(t, arenatest.StartServer(t, "").Platform()), quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return a.store
}

// Many referees write to one log without leases. Every result of append is true:
// each accepted entry is in the log once, and the log never forks.
func TestFence(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	const g = "contended"
	begun(t, s, g, small(t, "60+1"), 0)
	const owners, takeovers = 4, 25
	var mu sync.Mutex
	written := map[uint64]uint64{} // entry of the stream -> term
	var wg sync.WaitGroup
	for range owners {
		wg.Go(func() {
			for range takeovers {
				last, seq, err := s.lastEvent(context.Background(), g)
				if err != nil {
					t.Error(err)
					return
				}
				m, event, err := livegame.Restore(last, seq, livegame.DefaultPolicy(), time.Now())
				if err != nil {
					t.Error(err)
					return
				}
				j := s.journal(g, seq, nil)
				for range 3 { // the takeover, and then other events
					err := j.append(context.Background(), event, 0)
					if errors.Is(err, errLost) {
						break
					}
					if err != nil {
						t.Error(err)
						return
					}
					m.Commit(j.last, time.Now())
					mu.Lock()
					if term, twice := written[j.last]; twice {
						t.Errorf("entry %d belongs to terms %d and %d", j.last, term, m.Term())
					}
					written[j.last] = m.Term()
					mu.Unlock()
					if event = m.Vacate(game.First, m.Holder(game.First).Instance, "test", time.Now()); event == nil {
						event = m.Seat(game.First, m.Holder(game.First).Epoch, "a1", "", time.Now())
					}
				}
			}
		})
	}
	wg.Wait()
	events := whole(t, s, g)
	if len(events) != len(written)+1 {
		t.Errorf("%d entries after the first in the log, %d were accepted", len(events)-1, len(written))
	}
	if terms := events[len(events)-1].Term; terms < takeovers {
		t.Errorf("the last term is %d, want at least %d", terms, takeovers)
	}
}

// An entry of unknown outcome is recognized as ours; another referee's is not.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	const g = "unknown"
	begun(t, s, g, small(t, "60+1"), 0)
	last, seq, err := s.lastEvent(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	_, event, err := livegame.Restore(last, seq, livegame.DefaultPolicy(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	ack, err := s.js.Publish(t.Context(), s.subjects.Log(g), data) // the attempt whose answer got lost
	if err != nil {
		t.Fatal(err)
	}
	j := s.journal(g, seq, nil)
	if err := j.append(t.Context(), event, 0); err != nil || j.last != ack.Sequence {
		t.Errorf("our own entry again: %v, last %d; want it found at %d", err, j.last, ack.Sequence)
	}
	// Another referee's entry.
	other := *event
	other.Term++
	j = s.journal(g, seq, nil)
	if err := j.append(t.Context(), &other, 0); !errors.Is(err, errLost) {
		t.Errorf("behind another's entry: %v, want %v", err, errLost)
	}
	if got := whole(t, s, g); len(got) != 2 {
		t.Errorf("%d entries after the loss, want 2", len(got))
	}
}

// Of the entries that were given up for lack of space, the store may have written any
// one after all. The log continues behind it, and other arenas' entries are still told
// from ours.
func TestGivenUpEntries(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	for stored, g := range []protocol.GameID{"first", "second", "third"} {
		begun(t, s, g, small(t, "60+1"), 0)
		last, seq, err := s.lastEvent(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		m, event, err := livegame.Restore(last, seq, livegame.DefaultPolicy(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		j := s.journal(g, seq, nil)
		if err := j.append(t.Context(), event, 0); err != nil {
			t.Fatal(err)
		}
		m.Commit(j.last, time.Now())
		limitStream(t, s, 1)
		var given []*protocol.Event
		for i := range 3 {
			e := m.CatchUp(fmt.Sprintf("%d entries could not be stored", i), time.Now())
			given = append(given, e)
			if err := j.append(t.Context(), e, 0); !errors.Is(err, errSpace) {
				t.Fatalf("without space: %v, want %v", err, errSpace)
			}
		}
		limitStream(t, s, -1)
		write := func(e *protocol.Event) uint64 {
			t.Helper()
			ack, err := s.js.Publish(t.Context(), s.subjects.Log(g), e.Encode())
			if err != nil {
				t.Fatal(err)
			}
			return ack.Sequence
		}
		after := write(given[stored])
		next := m.CatchUp("3 entries could not be stored", time.Now())
		if err := j.append(t.Context(), next, 0); err != nil || j.last != after+1 {
			t.Errorf("behind the %s entry that was given up: %v, last %d; want %d", g, err, j.last, after+1)
		}
		m.Commit(j.last, time.Now())
		if err := j.append(t.Context(), m.CatchUp("", time.Now()), 0); err != nil {
			t.Error(err)
		}
		if got := whole(t, s, g); len(got) != 5 { // their indexes rise by one each
			t.Errorf("%d entries, want 5", len(got))
		}
		write(given[(stored+1)%len(given)]) // can't be ours any more: what we sent expects an older entry
		if err := j.append(t.Context(), m.CatchUp("", time.Now()), 0); !errors.Is(err, errLost) {
			t.Errorf("behind an entry of others: %v, want %v", err, errLost)
		}
	}
}

// An operator who purges the stream of logs ends no running game: its log begins again, and the
// record has all moves. A game that has no referee then is lost, once.
func TestLogsPurged(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	lines := &logLines{}
	a := prepareArenaLog(t, srv, quick(), zerolog.New(zerolog.MultiLevelWriter(lines, zerolog.NewTestWriter(t))))
	a.start()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, 20*time.Millisecond)
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	n := len(bob.until(g, "some moves", plies(3)).Moves)
	lost, _ := a.index.last(g)
	lost.Game = "lost"
	if err := a.store.games.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, seen, _ := a.index.entry(g)
	a.index.note(a.store.subjects.Log("lost"), seen, lost.Encode(), false)
	bob.until(g, "moves after the purge", plies(n+4))
	end := bob.until(g, "the end", finished)
	rec := recordOfGame(t, a.store, g)
	if len(rec.Plies) != len(end.Moves) || rec.Result != end.Outcome.Result {
		t.Errorf("record of %d plies, %v; want %d, %v", len(rec.Plies), rec.Result, len(end.Moves), end.Outcome.Result)
	}
	gametest.Eventually(t, "the lost game to be dropped", func() bool { return !a.index.isUnfinished("lost") })
	for said, times := range map[string]int{
		"the log of a running game was removed from its stream: it begins again with the position that this process has": 1,
		"game lost: its log was removed from its stream, and no referee has it":                                          1,
		"game not taken over": 0,
	} {
		if got := lines.count(map[string]any{"message": said}); got != times {
			t.Errorf("%q is said %d times, want %d", said, got, times)
		}
	}
}

// Also when there is no space again just after such an entry was found.
func TestGivenUpTwice(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	begun(t, s, "g1", small(t, "60+1"), 0)
	last, seq, err := s.lastEvent(t.Context(), "g1")
	if err != nil {
		t.Fatal(err)
	}
	m, event, err := livegame.Restore(last, seq, livegame.DefaultPolicy(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	j := s.journal("g1", seq, nil)
	if err := j.append(t.Context(), event, 0); err != nil {
		t.Fatal(err)
	}
	m.Commit(j.last, time.Now())
	givenUp := func(text string) *protocol.Event {
		t.Helper()
		limitStream(t, s, 1)
		defer limitStream(t, s, -1)
		e := m.CatchUp(text, time.Now())
		if err := j.append(t.Context(), e, 0); !errors.Is(err, errSpace) {
			t.Fatalf("without space: %v, want %v", err, errSpace)
		}
		return e
	}
	if _, err := s.js.Publish(t.Context(), s.subjects.Log("g1"), givenUp("first").Encode()); err != nil {
		t.Fatal(err)
	}
	givenUp("second")
	if err := j.append(t.Context(), m.CatchUp("third", time.Now()), 0); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range whole(t, s, "g1") { // their indexes rise by one each
		texts = append(texts, e.Text)
	}
	if len(texts) != 4 || texts[2] != "first" || texts[3] != "third" {
		t.Errorf("entries %q", texts)
	}
}

// TestAppendMovesElsewhere: going to another server ends the requests under way, and loses
// no entry.
func TestAppendMovesElsewhere(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	moving := make(chan struct{})
	go func() {
		defer close(moving)
		for ctx.Err() == nil {
			if err := s.js.Conn().ForceReconnect(); err != nil {
				t.Error(err)
			}
			sleep(ctx, 20*time.Millisecond)
		}
	}()
	games := []protocol.GameID{"m1", "m2", "m3", "m4", "m5"}
	for _, g := range games {
		begun(t, s, g, small(t, "60+1"), 5)
	}
	cancel()
	<-moving
	gametest.Eventually(t, "a connection", s.js.Conn().IsConnected)
	for _, g := range games {
		if n := len(whole(t, s, g)); n != 6 {
			t.Errorf("game %s: %d entries, want 6", g, n)
		}
	}
}

// failing is an iterator that fails after some messages.
type failing struct {
	jetstream.MessagesContext
	left int
	with error // nil: the next message is left out
}

func (e *failing) Next(o ...jetstream.NextOpt) (jetstream.Msg, error) {
	e.left--
	switch {
	case e.left >= 0:
	case e.with != nil:
		return nil, e.with
	case e.left == -1:
		if _, err := e.MessagesContext.Next(o...); err != nil {
			return nil, err
		}
	}
	return e.MessagesContext.Next(o...)
}

// TestFollowerGoesOn: a reader of a stream misses nothing if its iterator ends by itself,
// its consumer is lost, or a message does not arrive; before the first message or after
// some.
func TestFollowerGoesOn(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	begun(t, s, "first", small(t, "60+1"), 5)
	for _, before := range []int{0, 2} {
		for _, with := range []error{jetstream.ErrMsgIteratorClosed, jetstream.ErrNoHeartbeat, nil} {
			w, err := openFollower(t.Context(), s.js, s.games, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
			if err != nil {
				t.Fatal(err)
			}
			w.messages = &failing{w.messages, before, with}
			ctx, cancel := context.WithCancel(t.Context())
			seen, done := make(chan uint64, 100), make(chan struct{})
			go func() {
				defer close(done)
				w.run(ctx, func(_ jetstream.Msg, meta *jetstream.MsgMetadata) { seen <- meta.Sequence.Stream })
			}()
			for want := range uint64(6) {
				if got := <-seen; got != want+1 {
					t.Fatalf("%v after %d: entry %d, want %d", with, before, got, want+1)
				}
			}
			cancel()
			<-done
		}
	}
}

// TestStartTakesLong: what was there at the start may take as long as it likes, as long as
// some of it comes.
func TestStartTakesLong(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	begun(t, s, "first", small(t, "60+1"), 11)
	w, err := openFollower(t.Context(), s.js, s.games, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		t.Fatal(err)
	}
	w.silence = 2 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	if err := w.start(ctx, func(jetstream.Msg, *jetstream.MsgMetadata, bool) {
		sleep(ctx, w.silence/6)
		n++
	}); err != nil || n != 12 {
		t.Errorf("%d entries, %v; want 12", n, err)
	}
}

// unheardOf is a stream of a cluster in which the server of the client learns late of a new
// consumer: the first requests to it have no responders.
type unheardOf struct {
	jetstream.Stream
	late int
}

type unheardOfConsumer struct {
	jetstream.Consumer
	stream *unheardOf
}

func (s *unheardOf) CreateConsumer(ctx context.Context, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	c, err := s.Stream.CreateConsumer(ctx, cfg)
	return unheardOfConsumer{c, s}, err
}

func (c unheardOfConsumer) Fetch(n int, opts ...jetstream.FetchOpt) (jetstream.MessageBatch, error) {
	if c.stream.late > 0 {
		c.stream.late--
		return noResponders{}, nil
	}
	return c.Consumer.Fetch(n, opts...)
}

type noResponders struct{}

func (noResponders) Messages() <-chan jetstream.Msg {
	none := make(chan jetstream.Msg)
	close(none)
	return none
}

func (noResponders) Error() error { return nats.ErrNoResponders }

// A log is read at once although the consumer for that is not known everywhere yet.
func TestEntriesInCluster(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	begun(t, s, "game", small(t, "60+1"), 3)
	s.games = &unheardOf{Stream: s.games, late: 2}
	events, err := s.entries(t.Context(), "game")
	if err != nil || len(events) != 4 {
		t.Errorf("%d entries, %v", len(events), err)
	}
}

// laggingStream is a stream of a cluster of which the next log is read from a server that has not
// got its last entry yet.
type laggingStream struct {
	jetstream.Stream
	next atomic.Bool
}

type laggingConsumer struct{ jetstream.Consumer }

func (s *laggingStream) CreateConsumer(ctx context.Context, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	c, err := s.Stream.CreateConsumer(ctx, cfg)
	if err == nil && s.next.CompareAndSwap(true, false) {
		return laggingConsumer{c}, nil
	}
	return c, err
}

func (c laggingConsumer) CachedInfo() *jetstream.ConsumerInfo {
	info := *c.Consumer.CachedInfo()
	info.NumPending--
	return &info
}

// A record is stored at the second attempt, without an error in the log, if the first did not
// find the end of the game.
func TestRecordInCluster(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	log := &logLines{}
	a := prepareArenaLog(t, srv, quick(), zerolog.New(zerolog.MultiLevelWriter(log, zerolog.NewTestWriter(t))))
	games := &laggingStream{Stream: a.store.games}
	a.store.games = games
	a.start()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, 100*time.Millisecond)
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	bob.until(g, "some moves", plies(2))
	games.next.Store(true)
	bob.until(g, "the end", finished)
	recordOfGame(t, a.store, g)
	why := map[string]any{"game": g, "message": "record not stored; trying again"}
	if games.next.Load() || log.count(why) != 1 {
		t.Errorf("the first attempt did not fail once")
	}
	why["level"] = "error"
	if log.count(why) != 0 {
		t.Error("an error is logged")
	}
}
