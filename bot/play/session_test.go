package play

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
)

// The game goes on after each end by our rules that is not one of the platform's,
// with its history, and each end is noted once. After a takeback our rules apply in
// full again: the record does not tell of it, and a replay must see the same positions.
func TestPlaysOnWhereOnlyOurRulesEndTheGame(t *testing.T) {
	rules, err := catalog.Rules("xiangqi/simple+limit=10")
	if err != nil {
		t.Fatal(err)
	}
	const noAttackers = "3ak4/4a4/9/9/9/9/9/9/9/3K5 w - - 0 1"
	for start, c := range map[string]struct {
		cycle    []string
		rules    string
		disputes []int // plies
	}{
		"":          {[]string{"a0a1", "a9a8", "a1a0", "a8a9"}, "xiangqi/simple+limit=none+repetition=none", []int{8, 20}},
		noAttackers: {[]string{"d0d1", "e8d7", "d1d0", "d7e8"}, "xiangqi/simple+limit=10", []int{0}},
	} {
		s := bare(t, "60")
		s.game.rules, s.game.start = rules, start
		moves := slices.Repeat(c.cycle, 10)
		for n := range len(moves) + 1 {
			s.st.Moves, s.st.Turn = moves[:n], game.Seat(n%2)
			s.syncPosition()
		}
		check := func(s *Session) {
			t.Helper()
			pos := s.game.pos
			if pos == nil || pos.Outcome().Over() || pos.Ply() != len(s.st.Moves) || len(s.game.plies) != len(s.st.Moves) || pos.Rules().Name != c.rules {
				t.Fatalf("%q, after %d of %d moves: %+v", start, len(s.game.plies), len(s.st.Moves), s.game)
			}
			if !slices.EqualFunc(s.disputes, c.disputes, func(d record.Dispute, ply int) bool { return d.Ply == ply && d.Text != "" }) {
				t.Errorf("%q: disputes %+v", start, s.disputes)
			}
		}
		check(s)
		resumed := bare(t, "60")
		resumed.game.rules, resumed.game.start, resumed.st.Moves = rules, start, moves
		resumed.syncPosition()
		check(resumed)
		s.st.Moves, s.st.Turn = moves[:5], game.Second
		s.syncPosition()
		if pos := s.game.pos; pos == nil || pos.Ply() != 5 || len(s.game.plies) != 5 || pos.Rules().Name != rules.Name {
			t.Errorf("%q, taken back: %+v", start, s.game)
		}
		s.st.Moves, s.st.Turn = moves, game.First
		s.syncPosition()
		check(s)
	}
}

// An offer is answered once while it is open, and one at a ply. A ply that comes again
// after a takeback counts from the start.
func TestOffersThatAreAnswered(t *testing.T) {
	var a answered
	for i, x := range []struct {
		ply       int
		open, due bool
	}{
		{10, false, false}, {10, true, true}, {10, true, false}, {10, false, false}, {10, true, false},
		{11, true, false}, {12, false, false}, {12, true, true}, {13, true, false},
		{11, false, false}, {12, false, false}, {12, true, true},
	} {
		if due := a.due(x.open, x.ply); due != x.due {
			t.Errorf("state %d, ply %d, open %v: due %v", i, x.ply, x.open, due)
		}
	}
}

// TestScoresWithoutDepth: what a program thinks that tells no depth, as some in the protocol
// of Gomocup, is in the record, and it resigns by that. One that tells nothing does not.
func TestScoresWithoutDepth(t *testing.T) {
	s := bare(t, "10")
	s.player.Settings.Manners.ResignBelow, s.player.Settings.Manners.ResignMoves = 10, 2
	lost := search.Result{Source: search.FromExternal, Score: -900, WinProb: 0.02}
	if a := s.thought(nil, lost); a.Score != lost.Score || a.WinProb != lost.WinProb {
		t.Errorf("in the record: %+v", a)
	}
	for i, want := range []bool{false, true} {
		if got := s.manners.shouldResign(s, lost); got != want {
			t.Errorf("move %d: resigns %v", i+1, got)
		}
	}
	silent := search.Result{Source: search.FromExternal, WinProb: 0.5}
	if a := s.thought(nil, silent); a.WinProb != 0 {
		t.Errorf("it has said nothing: %+v", a)
	}
	before := s.manners
	if s.manners.shouldResign(s, silent); s.manners != before {
		t.Error("it has said nothing, and is taken to know its chance")
	}
}

func TestDelayLeavesTheClockAlone(t *testing.T) {
	s := bare(t, "10")
	s.player.Settings.Manners.HumanDelay = 5 * time.Second
	c, _ := s.clock()
	if d := s.manners.delay(s, c); d > time.Second {
		t.Errorf("delay %v with 10 s on the clock", d)
	}
	s.st.Holders[game.Second].Kind = protocol.Bot
	if d := s.manners.delay(s, c); d != 0 {
		t.Errorf("delay %v against a bot", d)
	}
}

// Without a limit on the clock a person waits as long as the settings say.
func TestDelayWithoutALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, "unlimited")
		s.player.Settings.Manners.Delay, s.player.Settings.Manners.HumanDelay = time.Second, 5*time.Second
		time.Sleep(200 * time.Millisecond) // for thinking
		c, _ := s.clock()
		if d := s.manners.delay(s, c); d != 4800*time.Millisecond {
			t.Errorf("delay %v against a person, want what is left of 5s", d)
		}
		s.st.Holders[game.Second].Kind = protocol.Bot
		if d := s.manners.delay(s, c); d != 800*time.Millisecond {
			t.Errorf("delay %v against a bot, want what is left of 1s", d)
		}
		s.manners.notBefore = time.Now().Add(2 * time.Second)
		if d := s.manners.delay(s, c); d != 2*time.Second {
			t.Errorf("delay %v, want the pause after a refusal", d)
		}
	})
}

// A game that can't be played here, by its rules or its start position, is given back at once.
func TestGivesBackWhatItCannotPlay(t *testing.T) {
	for _, terms := range []protocol.Terms{
		{Game: "amazons", Rules: "amazons/moon", Clock: spec(t, "60")},
		{Game: "amazons", Rules: "amazons/6x6", Position: "not a board", Clock: spec(t, "60")},
	} {
		process := new(asked)
		s := New(t.Context(), &Player{
			ID: "hare", Clock: new(ServerClock), Process: process, Settings: Settings{Instance: "here"},
			NewGame: func(engine.GameOptions) (engine.Game, error) { panic("an engine is asked for") },
		}, nil)
		s.confirm = func() bool { return true }
		s.handleState(&arrival{protocol.State{Seq: 1, Snapshot: protocol.Snapshot{
			Terms: terms, Status: protocol.Playing, Holders: [2]protocol.Holder{{Player: "hare", Instance: "here", Epoch: 1}, {Player: "ann", Epoch: 1}},
		}}, time.Now()})
		if !s.ended || s.Held() || process.givenBack != 1 {
			t.Errorf("%+v: ended %v, held %v, given back %d times", terms, s.ended, s.Held(), process.givenBack)
		}
		s.Cancel()
	}
}

// An engine that gives the game up has it resigned.
func TestEngineResigns(t *testing.T) {
	s := bare(t, "60")
	rules, err := catalog.Rules("amazons/6x6")
	if err != nil {
		t.Fatal(err)
	}
	s.game.rules = rules
	s.syncPosition()
	disconnected(t, s)
	s.handleResult(searchEnd{Result: search.Result{Resign: true}})
	s.work.Wait()
	if !s.manners.resigned || s.out != nil {
		t.Errorf("resigned %v, move %+v", s.manners.resigned, s.out)
	}
}

// A move that is refused for a moment is sent again after a pause, and one that is refused
// while the platform pauses waits for a state.
func TestTemporaryRefusals(t *testing.T) {
	for code, again := range map[protocol.Code]bool{protocol.Unavailable: true, protocol.RateLimited: true, protocol.Paused: false} {
		s := bare(t, "60")
		disconnected(t, s)
		out := &outgoing{decision: &decision{move: "a1b2/a1"}, inFlight: true}
		s.out = out
		s.handleAnswer(out, &moveAnswer{err: protocol.Refuse(code, "not now")})
		s.work.Wait()
		if s.out != out || out.inFlight != again || s.manners.notBefore.After(time.Now().Add(-time.Minute)) != again || s.manners.resigned {
			t.Errorf("%s: move %+v, in flight %v, not before %v, resigned %v", code, s.out, out.inFlight, s.manners.notBefore, s.manners.resigned)
		}
	}
}

// A delayed move waits until it is due, and is not sent if the game has changed by then.
func TestDelayedMove(t *testing.T) {
	s := bare(t, "60")
	disconnected(t, s)
	s.out, s.manners.notBefore = &outgoing{decision: &decision{move: "a1b2/a1"}}, time.Now().Add(time.Hour)
	s.send()
	if s.delay == nil || !s.out.inFlight {
		t.Errorf("delayed: %v, in flight: %v", s.delay != nil, s.out.inFlight)
	}
	s.out = nil  // as a takeback does
	s.dispatch() // sending would need a move
	if s.delay != nil {
		t.Error("the delay is not over")
	}
}

// disconnected gives a session a client whose requests end at once, unsent.
func disconnected(t *testing.T, s *Session) {
	t.Helper()
	client, err := protocol.NewClient(new(nats.Conn), protocol.Subjects{}, "hare", "here", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	s.player.Client = client
	s.ctx, s.cancel = context.WithCancel(t.Context())
	s.cancel()
}

// bare returns a session that does not run, first to move against a human.
func bare(t *testing.T, clock string) *Session {
	t.Helper()
	now, first := time.Now(), game.First
	s := &Session{
		player: &Player{Clock: new(ServerClock)}, received: now, latency: newLatency(20 * time.Millisecond),
	}
	s.st.ServerTime, s.st.Terms.Clock, s.st.Status = now, spec(t, clock), protocol.Playing
	s.st.Clocks.Running = &first
	for i := range s.st.Holders {
		s.st.Holders[i].Kind = protocol.Human
		s.st.Clocks.Seats[i] = protocol.ClockOf(s.st.Terms.Clock.Start())
	}
	return s
}

// The clock of a delayed state is corrected by the delay.
func TestClockIsNeverStale(t *testing.T) {
	s := bare(t, "10")
	now := s.received
	s.player.Clock.Observe(now.Add(-time.Millisecond), now, now)
	s.st.ServerTime = now.Add(-3 * time.Second)
	c, running := s.clock()
	if age := now.Sub(c.At); !running || age < 3*time.Second || age > 3*time.Second+10*time.Millisecond {
		t.Errorf("the clock started %v before the state arrived, want 3s", age)
	}
	if c.Overhead != 20*time.Millisecond || c.Mine.Left != 10*time.Second {
		t.Errorf("clock %+v", c)
	}
	s.st.Clocks.Running = nil
	if c, running := s.clock(); running || time.Since(c.At) > time.Minute {
		t.Errorf("a stopped clock: %+v", c)
	}
}

// An instance that takes a seat during a period has only the rest of it.
func TestClockCountsThePeriodUnderWay(t *testing.T) {
	for _, text := range []string{"5/move", "0/3x5"} {
		s := bare(t, text)
		s.st.Clocks.UsedMS = 4000
		for _, running := range []bool{true, false} {
			if !running {
				s.st.Clocks.Running = nil
			}
			c, _ := s.clock()
			if gone := time.Since(c.At); gone < 4*time.Second || gone > time.Minute {
				t.Errorf("%s, running %v: the period has run for %v, want 4s", text, running, gone)
			}
		}
	}
}

func spec(t *testing.T, text string) clock.Spec {
	t.Helper()
	s, err := clock.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// While our move is on its way, the platform plays one that our rules refuse. The
// answer to our move is ignored.
func TestMoveAcceptedInAGameThatOurRulesRefuse(t *testing.T) {
	rules, err := catalog.Rules("amazons/6x6")
	if err != nil {
		t.Fatal(err)
	}
	s := bare(t, "60")
	s.game.rules, s.resync.timer = rules, time.NewTimer(time.Hour)
	s.syncPosition()
	out := &outgoing{decision: &decision{move: "a1b2/a1"}}
	s.out = out
	s.st.Moves, s.st.Turn = []string{"z9z9/z9"}, game.Second
	s.syncPosition()
	s.handleAnswer(out, &moveAnswer{})
	if len(s.disputes) != 1 || len(s.game.plies) != 0 || s.out != nil {
		t.Errorf("disputes %+v, plies %+v, move %+v", s.disputes, s.game.plies, s.out)
	}
}

// A halt ends the search, and its move is not sent. The session has no client: a
// request would end the test.
func TestNothingIsSentWhileHalted(t *testing.T) {
	own, err := engine.New("amazons", engine.Options{HashBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	pos, err := catalog.Setup("amazons", "6x6", "")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		pool := engine.NewPool(1)
		defer pool.Close()
		p := &Player{
			ID: "hare", Clock: new(ServerClock), Process: new(asked), NewGame: own.NewGame, Pool: pool,
			Settings: Settings{Instance: "here", Nodes: 100_000}, // a limit, in case the halt does not stop it
		}
		ctx, cancel := context.WithCancel(t.Context())
		s := New(ctx, p, nil)
		s.confirm = func() bool { return true }
		ran := make(chan struct{})
		go func() {
			defer close(ran)
			s.Run()
		}()
		st := protocol.State{Seq: 1, You: game.First, Snapshot: protocol.Snapshot{
			Terms:  protocol.Terms{Game: "amazons", Rules: "amazons/6x6", Clock: spec(t, "unlimited")},
			Status: protocol.Playing, Key: game.KeyText(pos.Key()),
			Holders: [2]protocol.Holder{{Player: "hare", Instance: "here", Epoch: 1}, {Player: "script", Epoch: 1}},
		}}
		s.receive(st)
		st.Seq, st.Status = 2, protocol.Halted
		s.receive(st)
		synctest.Wait()
		if s.engine == nil || s.search != nil || s.out != nil || s.ended {
			t.Errorf("engine %v, search %v, move %v, ended %v; want the engine alone", s.engine, s.search, s.out, s.ended)
		}
		cancel()
		<-ran
	})
}

// The opponent's choices in an opening procedure are not pondered on.
func TestDoesNotPonderOnAnOpeningProcedure(t *testing.T) {
	rules, err := catalog.Rules("gomoku/freestyle-15+swap2")
	if err != nil {
		t.Fatal(err)
	}
	pos, err := rules.New("")
	if err != nil {
		t.Fatal(err)
	}
	s := bare(t, "60")
	s.player.Settings.Ponder = true
	for range 20 {
		next := pos.Clone()
		reply := pos.Legal(nil)[0]
		if next.Play(reply) != nil {
			t.Fatal("an illegal move")
		}
		s.st.You = next.Turn()
		if pos.Turn() != s.st.You {
			s.setPonderTarget(&decision{}, pos, reply)
			if procedure := opening.Running(next); procedure == (s.target != nil) {
				t.Errorf("after %d plies, procedure %v: target %+v", pos.Ply(), procedure, s.target)
			}
		}
		pos = next
	}
	if opening.Running(pos) {
		t.Error("the procedure never ended")
	}
}

// What differs at a ply is noted once, however often the platform sends the state.
func TestDisputeIsNotedOnce(t *testing.T) {
	rules, err := catalog.Rules("amazons/6x6")
	if err != nil {
		t.Fatal(err)
	}
	s := bare(t, "60")
	s.game.rules, s.player.Tally = rules, NewTally()
	s.st.Key = "0123456789abcdef"
	s.syncPosition()
	s.syncPosition()
	if n := s.player.Tally.Counts().Faults; n != 1 || len(s.disputes) != 1 {
		t.Fatalf("%d faults, disputes %+v, want one", n, s.disputes)
	}
	if d := s.disputes[0]; d.Ply != 0 || *d.Seat != game.First || d.Ruled != s.st.Key || d.Claimed != game.KeyText(s.game.pos.Key()) {
		t.Errorf("dispute %+v", d)
	}
}

// The answer to our move brings the state up to date, since no state need follow. That
// of a repeated request, which tells of a later position, does not.
func TestAnswerMovesTheState(t *testing.T) {
	s := bare(t, "60")
	rules, err := catalog.Rules("xiangqi/simple")
	if err != nil {
		t.Fatal(err)
	}
	s.game.rules = rules
	s.syncPosition()
	after := s.game.pos.Clone()
	if _, err := game.PlayText(after, "h2e2"); err != nil {
		t.Fatal(err)
	}
	key := game.KeyText(after.Key())
	theirs := game.Second
	s.st.DrawBy = &theirs
	ans := protocol.ActAnswer{Seq: 7, Ply: 2, Clocks: &protocol.Clocks{Running: &theirs}, Receipt: &protocol.Receipt{Ply: 1, ChargedMS: 5}}
	ans.ServerTime = time.Now().Add(time.Second)
	out := &outgoing{decision: &decision{ply: 0, move: "h2e2", key: key}}
	if s.moved(out, &ans); len(s.st.Moves) != 0 {
		t.Errorf("moved by the answer for a later position: %+v", s.st)
	}
	ans.Ply = 1
	s.out, s.resync.timer = out, time.NewTimer(time.Hour)
	s.target = &ponderTarget{own: out.decision, pos: after}
	pondered := false
	s.player.NewGame = func(engine.GameOptions) (engine.Game, error) {
		pondered = true
		return nil, errors.New("no engine")
	}
	s.handleAnswer(out, &moveAnswer{ans: ans})
	if !pondered {
		t.Error("it does not ponder on the reply that it expects")
	}
	st := s.st
	if !slices.Equal(st.Moves, []string{"h2e2"}) || st.Turn != game.Second || st.Key != key || st.Seq != 7 || st.Clocks != *ans.Clocks ||
		st.DrawBy != nil || st.ServerTime != ans.ServerTime || st.Receipt != ans.Receipt || s.game.plies[0].receipt != ans.Receipt {
		t.Errorf("after the answer: %+v, plies %+v", st, s.game.plies)
	}
}

// After a power cut, or a restore from a backup, the platform's log of a game ends further
// back: the session goes on there. A state that only came late changes nothing.
func TestGoesBackWithThePlatform(t *testing.T) {
	s := bare(t, "60")
	s.player.ID, s.player.Settings.Instance = "hare", "here"
	s.game.rules, _ = catalog.Rules("xiangqi/simple")
	s.resync.timer = time.NewTimer(time.Hour)
	s.held.Store(&s.received)
	moves := []string{"h2e2", "h9g7", "h0g2"}
	theirs := game.Second
	state := func(seq uint64, plies int, epoch uint64, after time.Duration, instance protocol.InstanceID) *arrival {
		st := s.st
		st.Seq, st.ServerTime, st.Moves, st.Turn, st.Key = seq, s.received.Add(after), moves[:plies], theirs, ""
		st.Clocks.Running = &theirs
		st.Holders[game.First] = protocol.Holder{Player: "hare", Instance: instance, Epoch: epoch}
		return &arrival{st, s.received}
	}
	s.handleState(state(9, 3, 4, 0, "here"))
	s.handleState(state(5, 1, 2, time.Second, "here"))
	if len(s.game.plies) != 3 || s.epoch != 4 {
		t.Fatalf("after a state that came late: %d plies, epoch %d", len(s.game.plies), s.epoch)
	}
	s.handleState(state(5, 1, 3, time.Minute, "")) // the seat is vacant until our heartbeats are heard
	s.handleState(state(6, 1, 2, time.Minute, "here"))
	if len(s.game.plies) != 1 || s.epoch != 2 || s.newest.Order.Seq != 6 || s.resync.ending {
		t.Errorf("after the platform went back: %d plies, epoch %d, newest %+v, ending %v", len(s.game.plies), s.epoch, s.newest, s.resync.ending)
	}
}
