package bot

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/bot/play"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// Every state is sent twice, and the one before it again.
func TestDuplicatedAndReorderedStates(t *testing.T) {
	p, m, f := playing(t, func(p *platform) {
		var before *protocol.State
		p.tell = func(_ *platform, _ *scriptedGame, st protocol.State, send func(protocol.State)) {
			send(st)
			if before != nil {
				send(*before)
			}
			send(st)
			before = &st
		}
	})
	p.finished(m)
	gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[int]bool{}
	for _, r := range m.requests {
		if seen[r.Ply] {
			t.Errorf("two requests for the move after %d plies", r.Ply)
		}
		seen[r.Ply] = true
	}
	if f.count(play.MovePlayed) != len(m.Moves) {
		t.Errorf("%d move events for %d moves", f.count(play.MovePlayed), len(m.Moves))
	}
}

// While the platform can't store the game, the number of the log's last entry stands
// still. Its states are no older for that, also on a platform that does not count
// the changes since.
func TestGameGoesOnWithoutItsLog(t *testing.T) {
	for _, counted := range []bool{true, false} {
		p, m, f := playing(t, func(p *platform) {
			p.kept, p.counted = 3, counted
		})
		p.finished(m)
		gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
		if m.Outcome.Reason != game.NoMoves {
			t.Errorf("counted %v: the game ended by %s", counted, m.Outcome.Reason)
		}
	}
}

// Every fifth state is lost. The next one is complete, or is requested.
func TestLostStatesAreHealed(t *testing.T) {
	t.Parallel() // it mostly waits
	n := 0
	p, m, f := playingAt(t, "4+4", func(p *platform) { // with little time it asks soon
		p.tell = func(_ *platform, _ *scriptedGame, st protocol.State, send func(protocol.State)) {
			if n++; n%5 != 0 {
				send(st)
			}
		}
	})
	p.finished(m)
	gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
}

// A bot that watches its game is sent no state after its opponent's moves. Every fifth entry of
// the log is lost: the state is requested.
func TestMovesFromTheLog(t *testing.T) {
	t.Parallel() // it mostly waits
	told, entries, left := uint64(0), 0, 0
	p, m, f := playingAt(t, "4+4", func(p *platform) {
		p.watched = true
		p.tell = func(p *platform, m *scriptedGame, st protocol.State, send func(protocol.State)) {
			news := st.Seq > told
			if told = st.Seq; !news || len(st.Moves) == 0 || st.Turn != st.You || st.Status != protocol.Playing {
				send(st)
				return
			}
			mover := st.You.Other()
			e := protocol.Event{V: 1, Kind: protocol.EventMove, Index: st.Seq, Term: 1, Time: time.Now().UTC(), Seat: &mover, Snapshot: st.Snapshot}
			entry := nats.NewMsg(p.server.Subjects().Watch(st.Game))
			entry.Header.Set(jetstream.SequenceHeader, fmt.Sprint(st.Seq))
			entry.Header.Set(jetstream.SubjectHeader, p.server.Subjects().Log(st.Game))
			entry.Data = e.Encode()
			if entries++; entries%5 != 0 {
				if err := p.nc.PublishMsg(entry); err != nil {
					p.t.Error(err)
				}
			}
			if n := len(m.requests); n > 0 && m.requests[n-1].Watching {
				left++
			} else {
				send(st)
			}
		}
	})
	p.finished(m)
	gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
	p.mu.Lock()
	defer p.mu.Unlock()
	if left < entries/2 || left == entries {
		t.Errorf("of %d moves %d were left to the log", entries, left)
	}
}

// The answer to a move is lost: the same request is sent again.
func TestLostAnswerRepeatsTheRequest(t *testing.T) {
	t.Parallel() // it mostly waits
	p, m, f := playing(t, func(p *platform) {
		lost := false
		p.move = func(m *scriptedGame, r protocol.MoveRequest) *protocol.ActAnswer {
			if r.Ply == 1 && !lost {
				lost = true
				return &protocol.ActAnswer{Answer: protocol.Answer{Code: protocol.Unanswered}}
			}
			return nil
		}
	})
	p.finished(m)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(m.requests) < 2 || m.requests[0] != m.requests[1] || m.requests[0].Ply != 1 {
		t.Errorf("requests %+v", m.requests[:min(2, len(m.requests))])
	}
	if f.log.Has(`"level":"error"`) {
		t.Errorf("log:\n%s", f.log)
	}
}

// A move that is temporarily refused is sent again until it is accepted.
func TestRefusalsThatPass(t *testing.T) {
	for _, code := range []protocol.Code{protocol.Unavailable, protocol.RateLimited, protocol.UnknownPeer, protocol.Stale, protocol.NotYourTurn} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel() // it mostly waits
			p, m, f := playing(t, func(p *platform) {
				n := 0
				p.move = func(m *scriptedGame, r protocol.MoveRequest) *protocol.ActAnswer {
					if n++; r.Ply != 3 || n > 4 {
						return nil
					}
					var a protocol.ActAnswer
					a.Error = protocol.Refuse(code, "not now")
					return &a
				}
			})
			p.finished(m)
			if f.log.Has(`"level":"error"`) {
				t.Errorf("log:\n%s", f.log)
			}
		})
	}
}

// A halt ends the search, and nothing is sent until the game continues.
func TestHaltedGameGoesOn(t *testing.T) {
	p, m, f := thinking(t)
	p.mu.Lock()
	m.Status = protocol.Halted
	p.advance(m)
	p.mu.Unlock()
	gametest.Eventually(t, "the search to end", func() bool { return f.engine.searches() == 0 })
	f.engine.setPause(0)
	p.mu.Lock()
	m.Status = protocol.Playing
	p.advance(m)
	p.mu.Unlock()
	p.finished(m)
	p.mu.Lock()
	defer p.mu.Unlock()
	// A move sent during the halt would have been refused before the later ones.
	if len(m.refused) > 0 {
		t.Errorf("moves were refused: %v", m.refused)
	}
}

// The platform calls a move illegal that our rules allow: the bot resigns.
func TestIllegalMoveResigns(t *testing.T) {
	p, m, f := playing(t, func(p *platform) {
		p.move = func(m *scriptedGame, r protocol.MoveRequest) *protocol.ActAnswer {
			if r.Ply < 3 {
				return nil
			}
			var a protocol.ActAnswer
			a.Error = protocol.Refuse(protocol.Illegal, "not under these rules")
			return &a
		}
	})
	p.finished(m)
	if m.Outcome != (game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonResign}) {
		t.Errorf("outcome %+v", m.Outcome)
	}
	if n := f.log.Count("disagreement with the platform"); n != 1 {
		t.Errorf("%d lines about the disagreement, want 1:\n%s", n, f.log)
	}
}

// The platform's key differs from ours: this is logged and recorded, and play continues.
func TestKeyDisagreement(t *testing.T) {
	records := newStorage(t)
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	p.tell = func(_ *platform, _ *scriptedGame, st protocol.State, send func(protocol.State)) {
		if len(st.Moves) == 4 {
			st.Key = "00000000deadbeef"
		}
		send(st)
	}
	f := startBotWith(t, connect(t, srv.Player("bots")), records)
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.finished(m)
	gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
	f.stop(t)
	if n := f.log.Count("disagreement with the platform"); n != 1 {
		t.Errorf("%d lines about the disagreement, want 1:\n%s", n, f.log)
	}
	doc := records.find(t, 1, "game1")
	if len(doc.Disputes) != 1 || doc.Disputes[0].Ply != 4 || doc.Disputes[0].Ruled != "00000000deadbeef" || doc.Disputes[0].Claimed == "" {
		t.Errorf("disputes in the record: %+v", doc.Disputes)
	}
	checkRecord(t, doc, m)
}

// checkRecord compares a record with the platform's game.
func checkRecord(t *testing.T, doc *record.Record, m *scriptedGame) {
	t.Helper()
	if doc.Result != m.Outcome.Result || doc.Reason != m.Outcome.Reason || len(doc.Plies) != len(m.Moves) {
		t.Fatalf("record says %s by %q after %d plies, the platform %+v after %d", doc.Result, doc.Reason, len(doc.Plies), m.Outcome, len(m.Moves))
	}
	hits := 0
	for i, ply := range doc.Plies {
		if ply.Move != m.Moves[i] || ply.Key == "" {
			t.Errorf("ply %d: %+v, want move %s", i+1, ply, m.Moves[i])
		}
		if own := ply.Seat == *doc.Source.Seat; own != (ply.Think != nil) {
			t.Errorf("ply %d by %s: thinking %+v", i+1, ply.Seat, ply.Think)
		}
		if th := ply.Think; th != nil {
			if th.PonderHit {
				hits++
				if th.Ponder != m.Moves[i-1] {
					t.Errorf("ply %d: hit on %s after %s", i+1, th.Ponder, m.Moves[i-1])
				}
			}
			if th.Depth == 0 || th.Nodes == 0 || len(th.PV) == 0 || th.Source != record.FromSearch {
				t.Errorf("ply %d: thinking %+v", i+1, th)
			}
		}
	}
	if hits == 0 {
		t.Error("no ponder hit in the record")
	}
}

// restartable starts a NATS server that stop ends and start starts again, at
// the same address.
func restartable(t *testing.T) (at protocol.Connection, stop, start func()) {
	t.Helper()
	opts := &server.Options{Host: "127.0.0.1", Port: gametest.FreePort(t), NoSigs: true, NoLog: true}
	var ns *server.Server
	start = func() {
		var err error
		if ns, err = server.NewServer(opts); err != nil {
			t.Fatal(err)
		}
		ns.Start()
		if !ns.ReadyForConnections(waitFor) {
			t.Fatal("server not ready")
		}
	}
	stop = func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	}
	start()
	t.Cleanup(func() { stop() })
	return protocol.Connection{URL: ns.ClientURL(), Log: zerolog.Nop()}, stop, start
}

func TestNATSRestartsInMidGame(t *testing.T) {
	t.Parallel() // it mostly waits
	at, stop, start := restartable(t)
	p := newPlatform(t, connect(t, at))
	nc := connect(t, at)
	f := startBot(t, nc)
	f.engine.setPause(20 * time.Millisecond)
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.seen("some moves", func() bool { return len(m.Moves) >= 4 })
	stop()
	gametest.Eventually(t, "the loss of the connection", func() bool { return !nc.IsConnected() })
	start()
	p.finished(m)
	gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
}

// Without a server a draining bot ends by itself, after writing the record of the
// game.
func TestDrainWithoutAServer(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	w, err := record.NewWriter(dir, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	at, stop, start := restartable(t)
	p := newPlatform(t, connect(t, at))
	f := startBotWith(t, connect(t, at), w, func(c *Config) { c.DrainSilence = 100 * time.Millisecond })
	f.engine.setPause(50 * time.Millisecond)
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.seen("some moves", func() bool { return len(m.Moves) >= 4 })
	stop()
	f.Drain()
	f.wait(t)
	start() // for the cleanups
	if f.err != nil {
		t.Errorf("Run returned %v", f.err)
	}
	// The state after the last move may not have arrived when the server stopped.
	if doc, err := record.Find(t.Context(), dir, "game1"); err != nil || len(doc.Plies) < 3 || doc.Result != game.Undecided || doc.Text == "" {
		t.Errorf("record %+v, %v", doc, err)
	}
}

// Invalid messages: the process warns a few times and plays on.
func TestGarbage(t *testing.T) {
	srv := service(t)
	nc := connect(t, srv.Platform())
	p := newPlatform(t, nc)
	f := startBot(t, connect(t, srv.Player("bots")))
	f.engine.setPause(2 * time.Millisecond)
	// A second responder answers everything, and first.
	for _, subject := range []string{"sparring.play.amazons-hare.game.game1.*", "sparring.play.amazons-hare.alive"} {
		if _, err := nc.Subscribe(subject, func(msg *nats.Msg) {
			if err := msg.Respond([]byte(`{"v":1,"id":"another","code":"accepted","seq":-1}`)); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	junk := []string{"", "null", "[]", "{", `{"v":1}`, `{"v":99,"game":"game1"}`, `{"v":1,"game":"other","seq":9999}`,
		`{"v":1,"game":"game1","seq":"x"}`, string(make([]byte, 300<<10)), `{"v":1,"game":"game1","you":"third"}`}
	for range 20 {
		for _, j := range junk {
			for _, subject := range []string{"sparring.to.amazons-hare.game.game1", "sparring.to.amazons-hare.notice", "sparring.offer.player.amazons-hare"} {
				if err := nc.Publish(subject, []byte(j)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// Well-formed, but wrong.
	p.mu.Lock()
	p.server.Tell(hare, protocol.State{Seq: m.seq, You: game.First, Snapshot: m.Snapshot})
	other := m.Snapshot
	other.Terms.Rules, other.Moves = "xiangqi/simple", []string{"h2e2"}
	p.server.Tell(hare, protocol.State{Seq: m.seq, You: game.Second, Snapshot: other})
	p.server.Notify(hare, protocol.Notice{Kind: protocol.NoticeDeclined, Game: "game1"})
	p.mu.Unlock()
	p.finished(m)
	gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
	if n := f.log.Count(`"level":"warn"`); n == 0 || n > 10 {
		t.Errorf("%d warnings, want a few for hundreds of messages:\n%s", n, f.log)
	}
}

// The platform does not answer for a while: this is logged once.
func TestSilentPlatform(t *testing.T) {
	t.Parallel() // it mostly waits
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")))
	p.seen("a hello", func() bool { return p.hellos > 0 })
	p.setMute(true)
	gametest.Eventually(t, "the silence to be noticed", func() bool { return f.log.Has("the platform does not answer") })
	p.setMute(false)
	gametest.Eventually(t, "the platform to be back", func() bool { return f.log.Has("answers again") })
	if n := f.log.Count("does not answer"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

// The platform can store nothing for a while, as a cluster without a majority, and goes on to
// answer hellos: this is logged once, too, and for what it is.
func TestStorelessPlatform(t *testing.T) {
	t.Parallel() // it mostly waits
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")))
	p.seen("a hello", func() bool { return p.hellos > 0 })
	p.setStoreless(true)
	gametest.Eventually(t, "that to be noticed", func() bool { return f.log.Has("the platform can store nothing") })
	before := 0
	p.seen("more hellos", func() bool {
		if before == 0 {
			before = p.hellos
		}
		return p.hellos > before+3
	})
	if f.log.Has("answers again") {
		t.Error("an answer to a hello is taken for the end of it")
	}
	p.setStoreless(false)
	gametest.Eventually(t, "the platform to be back", func() bool { return f.log.Has("answers again") })
	if n, m := f.log.Count("can store nothing"), f.log.Count("does not answer"); n != 1 || m != 0 {
		t.Errorf("logged %d times, and %d times that it does not answer", n, m)
	}
}

func TestClosedConnectionEndsRun(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	nc := connect(t, srv.Player("bots"))
	f := startBot(t, nc)
	p.seen("a hello", func() bool { return p.hellos > 0 })
	nc.Close()
	f.wait(t)
	if !errors.Is(f.err, nats.ErrConnectionClosed) {
		t.Errorf("Run returned %v", f.err)
	}
}
