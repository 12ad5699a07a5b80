package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// still starts a game of two players that do nothing by themselves.
func still(t *testing.T, srv platform, terms protocol.Terms) (ann, bob *player, g protocol.GameID) {
	t.Helper()
	ann, bob = join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) { p.play = nil })
	}
	g = ann.challenge("bob", terms, game.First)
	ann.until(g, "the start", plies(len(terms.Moves)))
	bob.until(g, "the start", plies(len(terms.Moves)))
	return ann, bob, g
}

// step makes a legal move in the state that the player knows.
func (p *player) step(ctx context.Context, g protocol.GameID) protocol.ActAnswer {
	p.t.Helper()
	st := p.until(g, "the turn", p.mine)
	pos := position(p.t, st.Snapshot)
	move := pos.Legal(nil)[0]
	text := pos.Format(move)
	if err := pos.Play(move); err != nil {
		p.t.Fatal(err)
	}
	ans, err := p.move(ctx, st, text, key(pos))
	if err != nil {
		p.t.Fatalf("move: %v", err)
	}
	p.until(g, "the own move", plies(len(st.Moves)+1))
	return ans
}

func TestOffersAndChat(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann, bob, g := still(t, srv, small(t, "60+1"))
	ctx := gametest.Context(t)
	ann.step(ctx, g)
	bob.until(g, "the move", plies(1))
	if _, err := ann.Takeback(ctx, g, 1, 1, protocol.StepOffer); err != nil {
		t.Fatal(err)
	}
	bob.until(g, "the request", func(st protocol.State) bool { return st.TakebackBy != nil && *st.TakebackBy == game.First })
	if _, err := bob.Takeback(ctx, g, 1, 1, protocol.StepAccept); err != nil {
		t.Fatal(err)
	}
	ann.until(g, "the move back", func(st protocol.State) bool { return len(st.Moves) == 0 && st.Turn == game.First })
	if _, err := ann.Chat(ctx, g, 1, "sorry, mouse"); err != nil {
		t.Fatal(err)
	}
	if n := bob.notice(protocol.NoticeChat); n.Text != "sorry, mouse" || n.From != "ann" || n.Game != g {
		t.Errorf("notice %+v", n)
	}
	ann.step(ctx, g)
	bob.step(ctx, g)
	if _, err := bob.Draw(ctx, g, 1, 2, protocol.StepOffer); err != nil {
		t.Fatal(err)
	}
	ann.until(g, "the offer", func(st protocol.State) bool { return st.DrawBy != nil && *st.DrawBy == game.Second })
	if _, err := ann.Draw(ctx, g, 1, 2, protocol.StepAccept); err != nil {
		t.Fatal(err)
	}
	st := bob.until(g, "the end", finished)
	if want := (game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}); st.Outcome != want {
		t.Errorf("outcome %+v, want %+v", st.Outcome, want)
	}
	rec := recordOfGame(t, a.store, g)
	if len(rec.Plies) != 2 || rec.Plies[0].Receipt == nil || rec.Result != game.Draw || rec.Seats[1].Player != "bob" || rec.End.Before(rec.Start) {
		t.Errorf("record %+v", rec)
	}
	if _, err := ann.Resign(ctx, g, 1, 2); !errors.Is(err, &protocol.Error{Code: protocol.Over}) {
		t.Errorf("resigning after the end: %v, want over", err)
	}
}

// Requests in a game that has ended are answered: by its referee, and by any arena as soon as
// that is gone.
func TestAnsweredAfterTheEnd(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := steady()
	cfg.Name, cfg.Linger = "first", 300*time.Millisecond
	first := runArena(t, srv, cfg)
	ended := func() (*player, protocol.GameID) {
		t.Helper()
		ann, bob, g := still(t, srv, small(t, "60+1"))
		ctx := gametest.Context(t)
		if _, err := bob.Resign(ctx, g, 1, 0); err != nil {
			t.Fatal(err)
		}
		ann.until(g, "the end", finished)
		recordOfGame(t, first.store, g)
		ann.leaveTable()
		return bob, g
	}
	var unanswered atomic.Int32 // tries
	over := func(bob *player, g protocol.GameID) {
		var ans protocol.ActAnswer
		var err error
		for range 3 {
			within, cancel := context.WithTimeout(t.Context(), patience/3)
			defer cancel()
			var msg *nats.Msg
			msg, err = bob.nc.RequestWithContext(within, first.Subjects().Act("bob", g, protocol.ActResign), []byte(`{"v":1,"id":"late","instance":"b1","epoch":1}`))
			if err == nil {
				err = json.Unmarshal(msg.Data, &ans)
				break
			}
			unanswered.Add(1)
		}
		if err != nil || ans.Code != protocol.Over {
			t.Errorf("a resignation after the end: %s, %v; want %s", ans.Code, err, protocol.Over)
		}
	}
	bob, g := ended()
	var sent sync.WaitGroup
	gametest.Eventually(t, "the game to be forgotten", func() bool {
		sent.Go(func() { over(bob, g) })
		_, known := first.index.last(g)
		return !known
	})
	sent.Wait()
	if n := unanswered.Load(); n > 1 { // one may come to the referee just when it has answered the last
		t.Errorf("%d requests had to be sent again", n)
	}
	bob.leaveTable()
	first.stop()

	cfg.Linger = time.Hour
	first = runArena(t, srv, cfg)
	bob, g = ended()
	cfg.Name = "second"
	second := runArena(t, srv, cfg)
	if refereed, seated := second.served(g, "bob"); !refereed || !seated {
		t.Errorf("while its referee answers elsewhere: refereed %t, seated %t", refereed, seated)
	}
	first.stop()
	gametest.Eventually(t, "the second arena to know that the first one is gone", func() bool { // until then it is sent again
		refereed, _ := second.served(g, "bob")
		return !refereed
	})
	over(bob, g)
}

// A request that is repeated, by its id or as the same move, takes effect once and
// gets the same receipt, even after the game is over.
func TestRepetitions(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann, bob, g := still(t, srv, small(t, "60+1"))
	ctx := gametest.Context(t)
	st := ann.until(g, "the start", plies(0))
	pos := position(t, st.Snapshot)
	text := pos.Format(pos.Legal(nil)[0])
	first, err := ann.Move(ctx, g, 1, 0, text, "")
	if err != nil || first.Code != protocol.Accepted || first.Receipt == nil {
		t.Fatalf("%+v (%v)", first, err)
	}
	seq := lastSeq(t, a.store, g)
	again, err := ann.Move(ctx, g, 1, 0, text, "") // another request, the same move
	if err != nil || again.Code != protocol.Duplicate || again.Receipt == nil || *again.Receipt != *first.Receipt {
		t.Errorf("the move again: %+v (%v), want duplicate with receipt %+v", again, err, first.Receipt)
	}
	resign := []byte(`{"v":1,"id":"bye","instance":"b1","epoch":1,"ply":1}`)
	subject := a.server.Subjects().Act("bob", g, protocol.ActResign)
	for _, want := range []string{`"code":"accepted"`, `"code":"duplicate"`} {
		msg, err := bob.nc.RequestWithContext(ctx, subject, resign)
		if err != nil || !strings.Contains(string(msg.Data), want) {
			t.Errorf("answered %s (%v), want %s", msg.Data, err, want)
		}
	}
	events := whole(t, a.store, g)
	if events[1].Kind != protocol.EventMove || events[2].Kind != protocol.EventEnd || lastSeq(t, a.store, g) < seq {
		t.Errorf("entries %s, %s; want one move and the end", events[1].Kind, events[2].Kind)
	}
}

// The arrival of a move counts, even if the referee is busy and the opponent floods
// it: the wait is not charged.
func TestArrival(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann, bob, g := still(t, srv, small(t, "600"))
	ctx := gametest.Context(t)
	r, hold := a.at(g), make(chan struct{})
	r.send(visitor(func() { <-hold }))
	// The opponent's requests fill only the opponent's own queue.
	chat := []byte(`{"v":1,"id":"c1","instance":"b1","epoch":1,"text":"hurry up"}`)
	for range 20 * laneSize {
		if err := bob.nc.PublishRequest(a.server.Subjects().Act("bob", g, protocol.ActChat), bob.nc.NewRespInbox(), chat); err != nil {
			t.Fatal(err)
		}
	}
	gametest.Eventually(t, "the opponent's queue is full", func() bool { return len(r.lanes[game.Second]) == laneSize })
	answered := make(chan protocol.ActAnswer)
	go func() { answered <- ann.step(ctx, g) }()
	gametest.Eventually(t, "the move waits", func() bool { return len(r.lanes[game.First]) > 0 }) // it is sent again meanwhile
	served := time.Now()
	close(hold)
	if got := (<-answered).Receipt; got == nil || !got.Received.Before(served) {
		t.Errorf("receipt %+v for a move that had arrived by %v", got, served)
	}
}

// timed runs an arena with a stored game after some moves, and waits for its end,
// which only the referee's timer can cause.
func timed(t *testing.T, cfg Config, terms protocol.Terms, plies int) (*running, protocol.Event) {
	t.Helper()
	a := prepareArena(t, arenatest.StartServer(t, ""), cfg)
	begun(t, a.store, "timed", terms, plies)
	a.start()
	var last protocol.Event
	gametest.Eventually(t, "the end", func() bool {
		var err error
		last, _, err = a.store.lastEvent(t.Context(), "timed")
		return err == nil && last.Status == protocol.Finished
	})
	whole(t, a.store, "timed")
	return a, last
}

// A game in which a player never moves has no result and is not rated.
func TestAborted(t *testing.T) {
	t.Parallel()
	cfg := steady()
	cfg.Policy.FirstMove, cfg.Policy.ResumeWithin = 100*time.Millisecond, 100*time.Millisecond
	terms := small(t, "60")
	terms.Rated = true
	a, end := timed(t, cfg, terms, 1)
	if want := (game.Outcome{Reason: protocol.ReasonNoStart}); end.Outcome != want {
		t.Errorf("outcome %+v, want %+v", end.Outcome, want)
	}
	rec := recordOfGame(t, a.store, end.Game)
	gametest.Eventually(t, "the record read", func() bool { return a.ladder.upTo(1) })
	if rec.Result != game.Undecided || len(a.Standings("amazons")) != 0 {
		t.Errorf("record %s, standings %+v", rec.Result, a.Standings("amazons"))
	}
}

// The flag falls by the referee's own timer.
func TestFlagFalls(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"2", "1+1", "1/1x1", "2/move"} {
		t.Run(strings.ReplaceAll(spec, "/", " of "), func(t *testing.T) {
			t.Parallel()
			cfg := steady()
			cfg.Policy.ResumeWithin = 100 * time.Millisecond
			_, end := timed(t, cfg, small(t, spec), 2)
			if want := (game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonTime}); end.Outcome != want {
				t.Errorf("outcome %+v, want %+v", end.Outcome, want)
			}
		})
	}
}

// A disagreement on the position ends the game without a result; the record says why.
func TestDispute(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	terms := small(t, "60")
	terms.Rated = true
	ann, bob, g := still(t, srv, terms)
	ctx := gametest.Context(t)
	ann.step(ctx, g)
	st := bob.until(g, "the turn", bob.mine)
	pos := position(t, st.Snapshot)
	move := pos.Format(pos.Legal(nil)[0])
	if _, err := bob.Move(ctx, g, 1, 1, move, "00000000deadbeef"); !errors.Is(err, &protocol.Error{Code: protocol.Over}) {
		t.Errorf("a key that differs: %v, want over", err)
	}
	end := ann.until(g, "the end", finished)
	if want := (game.Outcome{Reason: protocol.ReasonDispute}); end.Outcome != want {
		t.Errorf("outcome %+v, want %+v", end.Outcome, want)
	}
	rec := recordOfGame(t, a.store, g)
	if len(rec.Disputes) != 1 || rec.Disputes[0].Claimed != "00000000deadbeef" || rec.Disputes[0].Ply != 2 || *rec.Disputes[0].Seat != game.Second {
		t.Errorf("disputes %+v", rec.Disputes)
	}
	if got := counterValue(t, a.Arena, "sparring_arena_disputes_total"); got != 1 {
		t.Errorf("%v disputes counted, want 1", got)
	}
}

// Spectators see the log, with numbers that show gaps, and can't publish.
func TestWatch(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	nc := arenatest.Connect(t, srv.Player("watch"))
	sub, err := nc.SubscribeSync(a.server.Subjects().Prefix() + ".watch.*")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	ann := join(t, srv, "ann", "a1")
	join(t, srv, "bob", "b1")
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	ann.until(g, "the end", finished)
	recordOfGame(t, a.store, g)
	last := "0"
	for i, want := range whole(t, a.store, g) {
		msg, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		if msg.Subject != a.server.Subjects().Watch(g) || msg.Header.Get("Nats-Last-Sequence") != last {
			t.Errorf("message %d on %s follows %s, want %s", i, msg.Subject, msg.Header.Get("Nats-Last-Sequence"), last)
		}
		last = msg.Header.Get("Nats-Sequence")
		if !strings.Contains(string(msg.Data), `"kind":"`+string(want.Kind)+`"`) {
			t.Errorf("message %d is %.60s, want %s", i, msg.Data, want.Kind)
		}
	}
}

// Takebacks, changes of referee and gaps in the log do not confuse a record.
func TestRecordOf(t *testing.T) {
	t.Parallel()
	terms := small(t, "60")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	event := func(kind protocol.EventKind, receipt int64, moves ...string) protocol.Event {
		at = at.Add(time.Second)
		e := protocol.Event{V: 1, Kind: kind, Index: 1, Term: 1, Time: at, Snapshot: protocol.Snapshot{Game: "g1", Terms: terms, Moves: moves, Started: at}}
		if receipt > 0 {
			e.Receipt = &protocol.Receipt{Ply: len(moves), ChargedMS: receipt}
		}
		return e
	}
	pos := position0(t, terms)
	var line []string
	for range 4 {
		m := pos.Legal(nil)[0]
		line = append(line, pos.Format(m))
		if err := pos.Play(m); err != nil {
			t.Fatal(err)
		}
	}
	events := []protocol.Event{
		event(protocol.EventStart, 0),
		event(protocol.EventMove, 11, line[0]),
		event(protocol.EventMove, 12, line[0], line[1]),
		event(protocol.EventTakeback, 0, line[0]),
		event(protocol.EventMove, 22, line[0], line[1]),
		event(protocol.EventTakeover, 0, line[0], line[1]),
		event(protocol.EventSnapshot, 24, line...), // ply 3 was not kept
		event(protocol.EventEnd, 0, line...),
		event(protocol.EventRecorded, 0, line...),
	}
	rec, err := recordOf(events)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{11, 22, 0, 24} {
		p := rec.Plies[i]
		if p.Move != line[i] || p.Seat != game.Seat(i%2) || p.UsedMS != want || (p.Receipt != nil) != (want > 0) {
			t.Errorf("ply %d: %+v, want %s for %d ms", i+1, p, line[i], want)
		}
	}
	if !rec.End.Equal(events[7].Time) {
		t.Errorf("ended %v, want %v", rec.End, events[7].Time)
	}
	if _, err := record.Encode(rec); err != nil {
		t.Error(err)
	}
	if rec, err := recordOf(events[:len(events)-2]); err == nil {
		t.Errorf("a log without its end makes the record %+v", rec)
	}
}

// Entries that could not be stored are in a record once, in the order in which they came,
// whether one was stored after all or not.
func TestRecordOfMissingEvents(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	event := func(second int, kind protocol.EventKind, index uint64) protocol.Event {
		return protocol.Event{Kind: kind, Index: index, Time: at.Add(time.Duration(second) * time.Second)}
	}
	start, a, b, c, end := event(0, protocol.EventStart, 1), event(1, protocol.EventMove, 2), event(2, protocol.EventMove, 2), event(3, protocol.EventMove, 2), event(9, protocol.EventEnd, 3)
	continued := event(4, protocol.EventSnapshot, 2)
	for _, k := range []struct {
		name         string
		log, missing []protocol.Event
		want         []protocol.Event
	}{
		{"nothing", []protocol.Event{start, a, end}, nil, []protocol.Event{start, a, end}},
		{"none stored", []protocol.Event{start, continued, end}, []protocol.Event{a, b, c}, []protocol.Event{start, a, b, c, continued, end}},
		{"one stored", []protocol.Event{start, b, event(4, protocol.EventSnapshot, 3), event(9, protocol.EventEnd, 4)}, []protocol.Event{a, b, c},
			[]protocol.Event{start, a, b, c, event(4, protocol.EventSnapshot, 3), event(9, protocol.EventEnd, 4)}},
		{"another kind at the same time", []protocol.Event{start, event(1, protocol.EventOffer, 2), end}, []protocol.Event{a}, []protocol.Event{start, event(1, protocol.EventOffer, 2), a, end}},
	} {
		if got := withMissing(k.log, k.missing); !reflect.DeepEqual(got, k.want) {
			t.Errorf("%s:\n%+v, want\n%+v", k.name, got, k.want)
		}
	}
}

// A mover that needs the answer alone is sent no state after its move, while its opponent
// is; the end of the game is told to both.
func TestAnswerOnly(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann, bob, g := still(t, srv, small(t, "3600"))
	for player, instance := range map[protocol.PlayerID]protocol.InstanceID{"ann": "a1", "bob": "b1"} {
		gametest.Eventually(t, "a heartbeat that names the game", func() bool {
			plays, _ := a.presence.playing(player, instance, g)
			return plays
		})
	}
	ctx := gametest.Context(t)
	states, err := ann.nc.SubscribeSync(a.server.Subjects().ToGame("ann", g))
	if err != nil {
		t.Fatal(err)
	}
	if err := ann.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	pos := position(t, ann.until(g, "the start", plies(0)).Snapshot)
	text := pos.Format(pos.Legal(nil)[0])
	ans, err := ann.SendMove(ctx, g, protocol.MoveRequest{Epoch: 1, Move: text, AnswerOnly: true})
	if err != nil || ans.Ply != 1 || ans.Seq == 0 || ans.Clocks == nil || ans.Receipt == nil {
		t.Fatalf("%+v (%v)", ans, err)
	}
	bob.until(g, "the move", plies(1))
	bob.step(ctx, g)
	for {
		msg, err := states.NextMsgWithContext(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var st protocol.State
		if err := json.Unmarshal(msg.Data, &st); err != nil {
			t.Fatal(err)
		}
		if len(st.Moves) == 1 {
			t.Errorf("ann was sent the state after its own move: %s", msg.Data)
		}
		if len(st.Moves) == 2 {
			break
		}
	}
	if _, err := ann.Resign(ctx, g, 1, 2); err != nil {
		t.Fatal(err)
	}
	ann.until(g, "the end", finished)
	bob.until(g, "the end", finished)
}

// A move that ends the game is told to both at once, not only when its record is stored,
// also where its answer is enough for the mover.
func TestAnswerOnlyAtTheEnd(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	runArena(t, srv, steady())
	terms := small(t, "3600")
	terms.Game, terms.Rules = "gomoku", "gomoku/freestyle-15"
	terms.Moves = strings.Fields("h8 a1 h9 a2 h10 a3 h11 a4")
	ann, bob, g := still(t, srv, terms)
	ctx := gametest.Context(t)
	ans, err := ann.SendMove(ctx, g, protocol.MoveRequest{Epoch: 1, Ply: 8, Move: "h12", AnswerOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	want := game.Outcome{Result: game.FirstWins, Reason: game.Five}
	for _, p := range []*player{ann, bob} {
		if st := p.until(g, "the end", finished); st.Outcome != want || len(st.Moves) != 9 || st.Seq != ans.Seq {
			t.Errorf("%s is told %+v after %d plies, by entry %d instead of %d", p.id, st.Outcome, len(st.Moves), st.Seq, ans.Seq)
		}
	}
}

// Whoever still names a game in its heartbeats that has ended has missed its last state, and
// gets it again.
func TestEndIsRepeated(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := steady()
	cfg.Linger = patience
	runArena(t, srv, cfg)
	ann, bob, g := still(t, srv, small(t, "3600"))
	ctx := gametest.Context(t)
	bob.set(func(p *player) {
		if err := p.subs[g].Unsubscribe(); err != nil {
			t.Error(err)
		}
		delete(p.subs, g)
	})
	if _, err := ann.Resign(ctx, g, 1, 0); err != nil {
		t.Fatal(err)
	}
	ann.until(g, "the end", finished)
	bob.follow(g)
	bob.until(g, "the end", finished)
}

// What a player sends while its requests wait for the referee is refused, and waits for
// nothing.
func TestTooManyRequestsWait(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann, _, g := still(t, srv, small(t, "3600"))
	busy, idle := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(idle) })
	defer goOn()
	a.at(g).send(visitor(func() { close(busy); <-idle }))
	<-busy
	answers, err := ann.nc.SubscribeSync(ann.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	subject := a.server.Subjects().Act("ann", g, protocol.ActDraw)
	for i := range laneSize + 1 {
		request := fmt.Sprintf(`{"v":1,"id":"r%d","instance":"a1","epoch":1,"step":"offer"}`, i)
		if err := ann.nc.PublishRequest(subject, answers.Subject, []byte(request)); err != nil {
			t.Fatal(err)
		}
	}
	ctx := gametest.Context(t)
	next := func() (ans protocol.ActAnswer) {
		t.Helper()
		msg, err := answers.NextMsgWithContext(ctx)
		if err == nil {
			err = json.Unmarshal(msg.Data, &ans)
		}
		if err != nil {
			t.Fatal(err)
		}
		return ans
	}
	if ans := next(); ans.Code != protocol.RateLimited || ans.ID != fmt.Sprintf("r%d", laneSize) {
		t.Errorf("the first answer is %+v, want the one too many refused", ans)
	}
	goOn()
	if ans := next(); ans.Code != protocol.Accepted || ans.ID != "r0" {
		t.Errorf("then: %+v, want the first one accepted", ans)
	}
	for range laneSize - 1 {
		next()
	}
}
