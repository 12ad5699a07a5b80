package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// ask sends bytes as a request and returns the answer.
func (w *wire) ask(nc *nats.Conn, subject string, data []byte) protocol.Answer {
	w.t.Helper()
	msg, err := nc.RequestWithContext(w.ctx, subject, data)
	w.must(err)
	var ans protocol.Answer
	w.must(json.Unmarshal(msg.Data, &ans))
	return ans
}

// acts accept everything and count.
func acts(n *atomic.Int64) func(protocol.GameRequest) {
	return func(r protocol.GameRequest) {
		n.Add(1)
		r.Answer(protocol.ActAnswer{})
	}
}

// An invalid request is refused with a code, is logged once, and never reaches the
// referee.
func TestBadRequests(t *testing.T) {
	w := newWire(t)
	var log gametest.Output
	s := w.server(&log, protocol.DefaultLimits)
	var reached atomic.Int64
	w.serve(s.ServeGame("g1", []protocol.PlayerID{"alice", "bob"}, acts(&reached)))
	alice := w.connect(w.Player("alice"))
	move := w.subjects.Act("alice", "g1", protocol.ActMove)
	for _, c := range []struct {
		subject, data string
		code          protocol.Code
		id            string // of the answer: that of the request, if it can be read
	}{
		{move, "", protocol.Malformed, ""},
		{move, "hello?", protocol.Malformed, ""},
		{move, strings.Repeat(" ", 17<<10), protocol.TooLarge, ""},
		{move, strings.Repeat("[", 100), protocol.TooLarge, ""},
		{move, `{"v":9}`, protocol.BadVersion, ""},
		{move, `{"v":9,"id":"r2"}`, protocol.BadVersion, "r2"},
		{move, `{"v":"1","id":"r3"}`, protocol.Malformed, "r3"},
		{move, `{"id":"r4","v":1.0}`, protocol.Malformed, "r4"},
		{move, strings.Replace(sound["move"], `"ply":0`, `"ply":-7`, 1), protocol.Malformed, "r1"},
		{w.subjects.Act("alice", "g1", "castle"), sound["move"], protocol.UnknownVerb, "r1"},
	} {
		ans := w.ask(alice, c.subject, []byte(c.data))
		if ans.ID != c.id || ans.Code != c.code || ans.Error == nil || ans.Error.Code != c.code || ans.Error.Text == "" || ans.ServerTime.IsZero() {
			t.Errorf("%.40q on %s: %+v, want %s of %q", c.data, c.subject, ans, c.code, c.id)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d bad requests reached the referee", n)
	}
	for range 20 {
		w.ask(alice, move, []byte("hello?"))
	}
	if n := log.Count(`"code":"malformed"`); n != 1 {
		t.Errorf("the same refusal was logged %d times: %s", n, log.String())
	}
	if !strings.Contains(log.String(), `"game":"g1"`) || !strings.Contains(log.String(), "alice") {
		t.Errorf("the log does not name player and game: %s", log.String())
	}
	if ans := w.ask(alice, move, []byte(sound["move"])); ans.Code != protocol.Accepted || ans.ID != "r1" {
		t.Errorf("a good move afterwards: %+v", ans)
	}
}

func TestVerbs(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	var heard atomic.Int64
	w.serve(s.Observe(protocol.Observer{Alive: func(f protocol.From, m protocol.Alive) {
		if f.Player == "alice" && m.Instance == "i-alice" {
			heard.Add(1)
		}
	}}))
	begun, ready := make(chan struct{}, 100), make(chan struct{})
	secrets := make(chan string, 100)
	w.serve(s.ServeVerbs(protocol.Verbs{
		Hello: func(f protocol.From, m protocol.Hello) protocol.HelloAnswer {
			secrets <- m.Secret
			return protocol.HelloAnswer{HeartbeatMS: 500, Limits: protocol.DefaultLimits, Held: []protocol.GameID{protocol.GameID(f.Player)}}
		},
		Alive: func(_ protocol.From, m protocol.Alive) protocol.AliveAnswer {
			secrets <- m.Secret
			return protocol.AliveAnswer{Answer: protocol.Answer{Error: protocol.Refuse(protocol.UnknownPeer, "say hello first")}}
		},
		Leave: func(_ protocol.From, m protocol.Leave) protocol.Answer {
			secrets <- m.Secret
			return protocol.Answer{Code: protocol.Duplicate}
		},
		Challenge: func(protocol.From, protocol.ChallengeRequest) protocol.ChallengeAnswer {
			begun <- struct{}{}
			<-ready // a slow store
			return protocol.ChallengeAnswer{Game: "g7", Expires: time.Now()}
		},
		Withdraw: func(_ protocol.From, m protocol.Withdraw) protocol.Answer {
			return protocol.Answer{Error: protocol.Refuse(protocol.NoGame, "no challenge %s", "of that id")}
		},
	}))
	alice := w.client("alice")
	challenged := make(chan protocol.ChallengeAnswer, 1)

	hello, err := alice.Hello(w.ctx, protocol.Hello{Kind: protocol.Bot, Slots: 1})
	if err != nil || hello.HeartbeatMS != 500 || hello.Limits != protocol.DefaultLimits || len(hello.Held) != 1 || hello.Held[0] != "alice" {
		t.Errorf("hello: %+v %v", hello, err)
	}
	if a, err := alice.Leave(w.ctx); err != nil || a.Code != protocol.Duplicate {
		t.Errorf("leave: %+v %v", a, err)
	}
	if _, err := alice.Withdraw(w.ctx, "g1"); !errors.Is(err, &protocol.Error{Code: protocol.NoGame}) {
		t.Errorf("withdraw: %v", err)
	}
	go func() {
		c, _ := alice.Challenge(w.ctx, protocol.ChallengeRequest{Terms: terms, Pool: "gomoku.blitz"})
		challenged <- c
	}()
	// Heartbeats don't wait for the challenge.
	<-begun
	if _, err := alice.Alive(w.ctx, protocol.Alive{Free: 1}); !errors.Is(err, &protocol.Error{Code: protocol.UnknownPeer}) {
		t.Errorf("alive: %v", err)
	}
	close(ready)
	if c := <-challenged; c.Game != "g7" || c.Code != protocol.Accepted {
		t.Errorf("challenge: %+v", c)
	}
	first := <-secrets
	for range 2 {
		if secret := <-secrets; secret == "" || secret != first {
			t.Errorf("one of hello, heartbeat and leave has the secret %q, another one %q", first, secret)
		}
	}
	gametest.Eventually(t, "the heartbeat is observed", func() bool { return heard.Load() > 0 })
	if a := w.ask(w.connect(w.Player("bob")), w.subjects.Play("bob", "dance"), []byte(`{"v":1,"id":"x"}`)); a.Code != protocol.UnknownVerb || a.ID != "x" {
		t.Errorf("unknown verb: %+v", a)
	}
}

// A reply subject can't make the platform publish where the player may not.
func TestSpoofedReply(t *testing.T) {
	w := newWire(t)
	var log gametest.Output
	s := w.server(&log, protocol.DefaultLimits)
	js, err := jetstream.New(w.connect(w.Platform()))
	w.must(err)
	_, err = js.CreateStream(w.ctx, jetstream.StreamConfig{Name: "GAMES", Subjects: []string{w.subjects.Logs()}})
	w.must(err)
	var n atomic.Int64
	w.serve(s.ServeGame("g1", []protocol.PlayerID{"alice", "bob"}, acts(&n)))
	w.serve(s.ServeOrphans(func(g protocol.GameID, p protocol.PlayerID) (refereed, seated bool) { return g == "g1", p != "eve" }, func(protocol.GameID) *protocol.Error {
		return protocol.Refuse(protocol.NoGame, "no such game")
	}))
	logSubject := w.subjects.Log("g1")
	// forged returns the number of entries besides the marks that it writes itself.
	// The stream stores in order, so anything sent before a mark has a lower sequence.
	marks := uint64(0)
	forged := func() uint64 {
		t.Helper()
		ack, err := js.Publish(w.ctx, w.subjects.Log("mark"), nil)
		w.must(err)
		marks++
		return ack.Sequence - marks
	}

	t.Run("across accounts", func(t *testing.T) {
		alice := w.connect(w.Player("alice"))
		w.must(alice.PublishRequest(w.subjects.Act("alice", "g1", protocol.ActMove), logSubject, []byte(sound["move"])))
		w.ask(alice, w.subjects.Act("alice", "g1", protocol.ActMove), []byte(sound["move"])) // is answered after it
		if n.Load() != 2 || forged() != 0 {
			t.Errorf("%d of 2 moves were judged; the log has unexpected entries", n.Load())
		}
	})
	t.Run("within the platform's account", func(t *testing.T) {
		before := n.Load()
		inside := w.connect(w.Platform())
		for _, g := range []protocol.GameID{"g1", "g2"} {
			subject := w.subjects.Act("alice", g, protocol.ActMove)
			w.must(inside.PublishRequest(subject, logSubject, []byte(sound["move"])))
			w.ask(inside, subject, []byte(sound["move"])) // is answered after it
		}
		if refused := log.Count(`"code":"bad-reply"`); refused != 2 || n.Load() != before+1 || forged() != 0 {
			t.Errorf("%d of 2 refused, %d of 1 moves judged; the log has unexpected entries: %s", refused, n.Load()-before, log.String())
		}
	})
	// Within the players' account the answer does go where the sender wants, and the
	// receiver must recognize that it is not from the platform.
	t.Run("to another player", func(t *testing.T) {
		states := make(chan protocol.State, 10)
		var heard gametest.Output
		bob := w.connect(w.Player("bob"))
		_, err := w.clientOver(bob, "bob", &heard).Game("g1", func(st protocol.State) { states <- st })
		w.must(err, bob)
		alice := w.connect(w.Player("alice"))
		w.must(alice.PublishRequest(w.subjects.Act("alice", "g1", protocol.ActMove), w.subjects.ToGame("bob", "g1"), []byte(sound["move"])))
		w.ask(alice, w.subjects.Act("alice", "g1", protocol.ActMove), []byte(sound["move"])) // is answered after it
		s.Tell("bob", protocol.State{Seq: 1, Snapshot: snapshot("g1")})
		if st := <-states; st.Seq != 1 || heard.Count("invalid state ignored") != 1 {
			t.Errorf("bob took %+v for a state, and logged %s", st, heard.String())
		}
	})
}

func TestRateLimit(t *testing.T) {
	w := newWire(t)
	var log gametest.Output
	s := w.server(&log, protocol.Limits{MessageBytes: 1 << 10, Nesting: 8, PerSecond: 1})
	var reached atomic.Int64
	w.serve(s.ServeGame("g1", []protocol.PlayerID{"alice", "bob"}, acts(&reached)))
	w.serve(s.ServeVerbs(protocol.Verbs{Alive: func(protocol.From, protocol.Alive) protocol.AliveAnswer { return protocol.AliveAnswer{} }}))
	alice, bob := w.connect(w.Player("alice")), w.client("bob")
	codes := map[protocol.Code]int{}
	begin := time.Now()
	for i := range 100 {
		codes[w.ask(alice, w.subjects.Act("alice", "g1", protocol.ActChat), fmt.Appendf(nil, `{"v":1,"id":"r%d","instance":"i","epoch":1,"text":"spam"}`, i)).Code]++
	}
	allowed := 2 + (int(time.Since(begin).Seconds()) + 1) // the burst, and what came due meanwhile
	if codes[protocol.RateLimited] == 0 || codes[protocol.Accepted] > allowed || codes[protocol.Accepted] != int(reached.Load()) {
		t.Errorf("answers %v with %d allowed, %d reached the referee", codes, allowed, reached.Load())
	}
	if n := log.Count(`"code":"rate-limited"`); n < 1 || n > 1+int(time.Since(begin)/(10*time.Second)) {
		t.Errorf("the flood was logged %d times", n)
	}
	if _, err := bob.Chat(w.ctx, "g1", 1, "hello"); err != nil {
		t.Errorf("another player is limited, too: %v", err)
	}
	for range 30 { // heartbeats don't count
		if a := w.ask(alice, w.subjects.Play("alice", protocol.VerbAlive), []byte(sound["alive"])); a.Code != protocol.Accepted {
			t.Fatalf("heartbeat: %+v", a)
		}
	}
}

// After a restart of the platform everybody is told to say hello, and to wait while it can't
// store. Neither is a player's fault, which is worth a warning for each of them.
func TestRefusalsOfEverybodyAreNoWarning(t *testing.T) {
	for _, code := range []protocol.Code{protocol.UnknownPeer, protocol.Unavailable} {
		t.Run(string(code), func(t *testing.T) {
			w := newWire(t)
			var log gametest.Output
			s := w.server(&log, protocol.DefaultLimits)
			w.serve(s.ServeVerbs(protocol.Verbs{Alive: func(protocol.From, protocol.Alive) (ans protocol.AliveAnswer) {
				ans.Error = protocol.Refuse(code, "not now")
				return ans
			}}))
			if a := w.ask(w.connect(w.Player("alice")), w.subjects.Play("alice", protocol.VerbAlive), []byte(sound["alive"])); a.Code != code {
				t.Fatalf("a heartbeat: %+v", a)
			}
			if log.Count(fmt.Sprintf(`"level":"debug","code":%q`, code)) != 1 || log.Count(`"level":"warn"`) != 0 {
				t.Errorf("logged: %s", &log)
			}
		})
	}
}

// Refusals in many games, which a player finds among those that are watched, do not fill the log.
func TestRefusalsInManyGames(t *testing.T) {
	w := newWire(t)
	var log gametest.Output
	s := w.server(&log, protocol.DefaultLimits)
	w.serve(s.ServeOrphans(func(protocol.GameID, protocol.PlayerID) (bool, bool) { return true, false }, nil))
	alice := w.connect(w.Player("alice"))
	begin := time.Now()
	for i := range 60 {
		g := protocol.GameID(fmt.Sprintf("g%d", i))
		if a := w.ask(alice, w.subjects.Act("alice", g, protocol.ActMove), []byte(sound["move"])); a.Code != protocol.Denied {
			t.Fatalf("a move in somebody else's game: %+v", a)
		}
	}
	if n, most := log.Count(`"message":"refused"`), 10+int(time.Since(begin)/time.Second); n < 10 || n > most {
		t.Errorf("logged %d times, want 10 to %d", n, most)
	}
}

func TestOffer(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	offer := func(d time.Duration) protocol.Offer {
		return protocol.Offer{Kind: protocol.OfferMatch, Game: "g1", Terms: terms, Seat: game.Second, Deadline: time.Now().Add(d), HoldMS: 1000}
	}
	if _, err := s.Offer(w.ctx, "gomoku.blitz", offer(patience)); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("an offer without a recipient: %v", err)
	}

	nc := w.connect(w.Player("alice"))
	alice := w.clientOver(nc, "alice", io.Discard)
	answer := protocol.OfferAnswer{Answer: protocol.Accept, Player: "alice"}
	sub, err := alice.Offers("gomoku.blitz", func(o protocol.Offer) protocol.OfferAnswer { return answer })
	w.must(err, nc)
	if a, err := s.Offer(w.ctx, "gomoku.blitz", offer(patience)); err != nil || a.Answer != protocol.Accept || a.Player != "alice" || a.Instance != "i-alice" {
		t.Errorf("accepted: %+v %v", a, err)
	}
	answer = protocol.OfferAnswer{Answer: protocol.Decline, Reason: protocol.DeclineClock, Text: "too fast"}
	if a, err := s.Offer(w.ctx, "gomoku.blitz", offer(patience)); err != nil || a.Answer != protocol.Decline || a.Reason != protocol.DeclineClock {
		t.Errorf("declined: %+v %v", a, err)
	}
	answer = protocol.OfferAnswer{Answer: protocol.Accept, Player: "alice"}
	o := offer(patience)
	o.Player = "bob"
	if a, err := s.Offer(w.ctx, "gomoku.blitz", o); err == nil {
		t.Errorf("bob's seat was taken for alice: %+v", a)
	}
	answer = protocol.OfferAnswer{Answer: "perhaps"}
	if _, err := s.Offer(w.ctx, "gomoku.blitz", offer(patience)); !errors.Is(err, &protocol.Error{Code: protocol.Malformed}) {
		t.Errorf("an invalid answer: %v", err)
	}
	w.must(sub.Unsubscribe(), nc)
	if _, err := s.Offer(w.ctx, "gomoku.blitz", offer(patience)); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("an offer after the bot left: %v", err)
	}

	// An instance that receives the offer and does not answer.
	_, err = nc.QueueSubscribe(w.subjects.Offer("gomoku.rapid"), protocol.BotsQueue, func(*nats.Msg) {})
	w.must(err, nc)
	if _, err := s.Offer(w.ctx, "gomoku.rapid", offer(50*time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) || w.ctx.Err() != nil {
		t.Errorf("an offer that is not answered: %v, %v", err, w.ctx.Err())
	}
}

// The processes of a fleet share the offers: each reaches one process.
func TestOffersAreShared(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	var heard [3]atomic.Int64
	for i := range heard {
		nc := w.connect(w.Player("bots"))
		_, err := w.clientOver(nc, "gomoku-hare", io.Discard).Offers(protocol.OwnPool("gomoku-hare"), func(protocol.Offer) protocol.OfferAnswer {
			heard[i].Add(1)
			return protocol.OfferAnswer{Answer: protocol.Busy}
		})
		w.must(err, nc)
	}
	const offers = 60
	for range offers {
		_, err := s.Offer(w.ctx, protocol.OwnPool("gomoku-hare"), protocol.Offer{Kind: protocol.OfferSeat, Game: "g1", Terms: terms, Deadline: time.Now().Add(patience)})
		w.must(err)
	}
	total := int64(0)
	for i := range heard {
		if heard[i].Load() == 0 {
			t.Errorf("process %d got none of %d offers", i, offers)
		}
		total += heard[i].Load()
	}
	if total != offers {
		t.Errorf("%d offers were received %d times", offers, total)
	}
}

// TestTellBoth: both players are told, first the one to move, whose time it is.
func TestTellBoth(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	told, err := w.platform.SubscribeSync(w.subjects.ToGame("*", "g1"))
	w.must(err, w.platform)
	for turn, want := range [][2]protocol.PlayerID{{"alice", "bob"}, {"bob", "alice"}} {
		st := protocol.State{Seq: 1, Snapshot: snapshot("g1")}
		st.Turn = game.Seat(turn)
		s.TellBoth([2]protocol.PlayerID{"alice", "bob"}, st)
		for i, p := range want {
			msg, err := told.NextMsgWithContext(w.ctx)
			w.must(err)
			var to protocol.State
			w.must(json.Unmarshal(msg.Data, &to))
			if msg.Subject != w.subjects.ToGame(p, "g1") || to.You != game.Seat(turn^i) {
				t.Errorf("%s to move: message %d is to %s, for %s", st.Turn, i+1, msg.Subject, to.You)
			}
		}
	}
}

// TestTellWithoutConnection: what can't be told while there is no connection is not warned
// of, message by message: an operator has read that the connection is lost.
func TestTellWithoutConnection(t *testing.T) {
	w := newWire(t)
	var log gametest.Output
	nc := w.connect(w.Platform())
	s := protocol.NewServer(nc, w.subjects, protocol.DefaultLimits, nil, zerolog.New(&log))
	w.Server.Close()
	gametest.Eventually(t, "the connection is seen to be down", func() bool { return !nc.IsConnected() })
	s.Tell("alice", protocol.State{})
	s.Notify("alice", protocol.Notice{Kind: protocol.NoticeShutdown})
	if n, warnings := log.Count("could not publish"), log.Count(`"level":"warn"`); n != 2 || warnings != 0 {
		t.Errorf("logged %d times, as %d warnings: %s", n, warnings, log.String())
	}
}

// TestAnswerWithoutConnection: nor are the answers to what was read before the connection was
// lost, of which there are thousands when a process goes on that was stopped for a minute.
func TestAnswerWithoutConnection(t *testing.T) {
	w := newWire(t)
	var log, heard gametest.Output
	s := w.server(&log, protocol.DefaultLimits)
	begun, lost := make(chan struct{}, 2), make(chan struct{})
	w.serve(s.ServeVerbs(protocol.Verbs{Challenge: func(protocol.From, protocol.ChallengeRequest) (ans protocol.ChallengeAnswer) {
		begun <- struct{}{}
		<-lost
		return ans
	}}))
	nc := w.connect(w.Player("alice"))
	alice := w.clientOver(nc, "alice", &heard)
	_, err := alice.Offers("gomoku.blitz", func(protocol.Offer) protocol.OfferAnswer {
		begun <- struct{}{}
		<-lost
		return protocol.OfferAnswer{Answer: protocol.Busy}
	})
	w.must(err, nc)
	ctx, cancel := context.WithCancel(w.ctx)
	var asked sync.WaitGroup
	asked.Go(func() { alice.Challenge(ctx, protocol.ChallengeRequest{Terms: terms, Pool: "gomoku.blitz"}) })
	asked.Go(func() {
		s.Offer(ctx, "gomoku.blitz", protocol.Offer{Kind: protocol.OfferMatch, Game: "g1", Terms: terms, Deadline: time.Now().Add(patience), HoldMS: 1000})
	})
	<-begun
	<-begun
	w.Server.Close()
	cancel()
	asked.Wait()
	gametest.Eventually(t, "the connections are seen to be down", func() bool { return !nc.IsConnected() && !w.platform.IsConnected() })
	close(lost)
	for who, l := range map[string]*gametest.Output{"platform": &log, "player": &heard} {
		gametest.Eventually(t, "the "+who+" to log its answer", func() bool { return l.Count("could not send the answer") == 1 })
		if l.Count(`"level":"warn"`) != 0 {
			t.Errorf("%s: %s", who, l)
		}
	}
}
