package livegame

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sparring/game"
	"sparring/protocol"
)

// table is a game with its log and a clock, run as a referee would run it, without a
// network.
type table struct {
	testing.TB
	*Game
	log []protocol.Event
	ids int
}

func open(t testing.TB, terms protocol.Terms, policy Policy, kinds ...protocol.Kind) *table {
	t.Helper()
	return openFor(t, [2]protocol.PlayerID{"ann", "bob"}, terms, policy, kinds...)
}

// openFor is open for players of other names.
func openFor(t testing.TB, names [2]protocol.PlayerID, terms protocol.Terms, policy Policy, kinds ...protocol.Kind) *table {
	t.Helper()
	o := Opening{Game: "g1", Terms: terms}
	for i, name := range names {
		o.Holders[i] = protocol.Holder{Player: name, Kind: protocol.Bot, Instance: protocol.InstanceID(name[:1]) + "1"}
		if len(kinds) > i {
			o.Holders[i].Kind = kinds[i]
		}
	}
	m, e, refused := New(o, policy, time.Now())
	if refused != nil {
		t.Fatal(refused)
	}
	tb := &table{TB: t, Game: m}
	tb.store(e)
	return tb
}

func (tb *table) store(e *protocol.Event) protocol.ActAnswer {
	tb.log = append(tb.log, *e)
	return tb.Commit(uint64(len(tb.log)), time.Now())
}

// done stores the event, if there is one, and returns the code of the answer.
func (tb *table) done(e *protocol.Event, ans protocol.ActAnswer) protocol.Code {
	if e != nil {
		ans = tb.store(e)
	}
	switch {
	case ans.Error != nil:
		return ans.Error.Code
	case ans.Code == "":
		return protocol.Accepted
	}
	return ans.Code
}

func (tb *table) id() string {
	tb.ids++
	return fmt.Sprintf("r%d", tb.ids)
}

func (tb *table) name(seat game.Seat) (protocol.PlayerID, protocol.InstanceID) {
	h := tb.Holder(seat)
	return h.Player, h.Instance
}

// play makes the first legal move for the seat to act.
func (tb *table) play() protocol.Code {
	tb.Helper()
	p, in := tb.name(tb.pos.Turn())
	return tb.done(tb.Move(p, protocol.MoveRequest{
		Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: tb.Holder(tb.pos.Turn()).Epoch, Ply: tb.Ply(), Move: tb.legal(),
	}, time.Now(), time.Now()))
}

func (tb *table) legal() string { return tb.pos.Format(tb.pos.Legal(nil)[0]) }

func (tb *table) act(seat game.Seat, a protocol.Action, step protocol.Step) protocol.Code {
	tb.Helper()
	p, in := tb.name(seat)
	return tb.done(tb.Act(p, a, protocol.ActRequest{
		Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: tb.Holder(seat).Epoch, Ply: tb.Ply(), Step: step,
	}, time.Now(), time.Now()))
}

// run lets time pass as a referee does, until the game is over or limit.
func (tb *table) run(limit time.Duration) {
	tb.Helper()
	end := time.Now().Add(limit)
	for !tb.Over() {
		when, ok := tb.Deadline()
		if !ok || when.After(end) {
			time.Sleep(time.Until(end))
			return
		}
		time.Sleep(time.Until(when))
		if e := tb.Expire(time.Now()); e != nil {
			tb.store(e)
		}
	}
}

func (tb *table) want(result game.Result, reason game.Reason) {
	tb.Helper()
	if got, want := tb.snap.Outcome, (game.Outcome{Result: result, Reason: reason}); got != want || !tb.Over() {
		tb.Errorf("outcome %+v (over: %v), want %+v", got, tb.Over(), want)
	}
	if end := tb.log[len(tb.log)-1]; end.Kind == protocol.EventEnd { // another referee can read it
		again, _, err := Restore(end, uint64(len(tb.log)), tb.policy, time.Now())
		if err != nil || !again.Over() {
			tb.Errorf("the end can't be restored: %v", err)
		}
	}
}

func (tb *table) code(got, want protocol.Code) {
	tb.Helper()
	if got != want {
		tb.Errorf("answered %s, want %s", got, want)
	}
}

func terms(t testing.TB, clock string, rated bool) protocol.Terms {
	return protocol.Terms{Game: "amazons", Rules: "amazons/6x6", Clock: spec(t, clock), Rated: rated}
}

// Flags fall by the clock alone, for every kind of clock, and not before both
// seats have made their first move.
func TestFlags(t *testing.T) {
	policy := DefaultPolicy()
	for _, c := range []struct {
		clock string
		falls time.Duration // after the third move's turn began; 0: never
	}{
		{"3", 3 * time.Second}, {"3+1", 4 * time.Second}, {"3/2x5", 13 * time.Second}, {"2/move", 2 * time.Second}, {"unlimited", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			tb := open(t, terms(t, c.clock, true), policy)
			tb.play()
			tb.play()
			began := time.Now()
			tb.run(time.Hour)
			if c.falls == 0 {
				if tb.Over() {
					t.Errorf("%s: over without a limit: %+v", c.clock, tb.snap.Outcome)
				}
				return
			}
			tb.want(game.SecondWins, protocol.ReasonTime)
			if took := time.Since(began); took != c.falls+policy.FlagGrace {
				t.Errorf("%s: flag after %v, want %v and the grace", c.clock, took, c.falls)
			}
		})
	}
}

func TestNoStart(t *testing.T) {
	for _, c := range []struct {
		clock string
		moves int
	}{{"600", 0}, {"600", 1}, {"1", 0}, {"1", 1}, {"unlimited", 1}} {
		synctest.Test(t, func(t *testing.T) {
			tb := open(t, terms(t, c.clock, true), DefaultPolicy())
			for range c.moves {
				tb.play()
			}
			tb.run(time.Minute)
			tb.want(game.Undecided, protocol.ReasonNoStart)
		})
	}
}

// A move that arrived before the flag counts, although it is handled after.
func TestArrivalCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "3", true), DefaultPolicy())
		tb.play()
		tb.play()
		time.Sleep(2990 * time.Millisecond)
		arrived := time.Now()
		time.Sleep(50 * time.Millisecond)
		if e := tb.Expire(time.Now()); e != nil {
			t.Fatal("flag within the grace")
		}
		p, in := tb.name(game.First)
		req := protocol.MoveRequest{Header: protocol.Header{ID: "x"}, Instance: in, Epoch: 1, Ply: 2, Move: tb.legal()}
		tb.code(tb.done(tb.Move(p, req, arrived, time.Now())), protocol.Accepted)
		r := tb.receipt
		if r.ChargedMS != 2990 || r.LeftMS != 10 || r.WaitedMS != 50 {
			t.Errorf("receipt %+v, want 2990 charged, 10 left, 50 waited", r)
		}
		// The next one is late, and so the game is over.
		time.Sleep(3001 * time.Millisecond)
		tb.code(tb.play(), protocol.Late)
		tb.want(game.FirstWins, protocol.ReasonTime)
	})
}

// The time for storing an entry is not charged to the seat to act.
func TestCreditDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "5", true), DefaultPolicy())
		tb.play()
		tb.play()
		time.Sleep(time.Second)
		e := tb.Vacate(game.Second, "b1", "gone", time.Now())
		time.Sleep(10 * time.Second)
		tb.CreditDelay(10 * time.Second)
		tb.store(e)
		if e := tb.Expire(time.Now()); e != nil {
			t.Fatalf("%s by %s", e.Kind, e.Outcome.Reason)
		}
		time.Sleep(time.Second)
		tb.code(tb.play(), protocol.Accepted)
		if tb.receipt.ChargedMS != 2000 {
			t.Errorf("charged %d ms, want 2000", tb.receipt.ChargedMS)
		}
	})
	synctest.Test(t, func(t *testing.T) { // nor does the limit for the first move run meanwhile
		tb := open(t, terms(t, "60", true), DefaultPolicy())
		begun, limit := time.Now(), tb.policy.FirstMove
		time.Sleep(10 * time.Second)
		tb.CreditDelay(10 * time.Second)
		tb.run(time.Hour)
		tb.want(game.Undecided, protocol.ReasonNoStart)
		if took := time.Since(begun); took != 10*time.Second+limit {
			t.Errorf("no first move after %v, want %v and the delay", took, limit)
		}
	})
}

// A wrong position key does not save a late mover.
func TestLateBeforeDispute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "3", true), DefaultPolicy())
		tb.play()
		tb.play()
		time.Sleep(3001 * time.Millisecond)
		req := protocol.MoveRequest{Header: protocol.Header{ID: "m"}, Instance: "a1", Epoch: 1, Ply: 2, Move: tb.legal(), Key: "0123456789abcdef"}
		tb.code(tb.done(tb.Move("ann", req, time.Now(), time.Now())), protocol.Late)
		tb.want(game.SecondWins, protocol.ReasonTime)
	})
}

func TestPeopleHaveLagCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := openFor(t, [2]protocol.PlayerID{"human-ann", "bob"}, terms(t, "60", true), DefaultPolicy(), protocol.Human, protocol.Human)
		for _, want := range []int64{300, 0} { // bob only says that it is human
			time.Sleep(time.Second)
			turn := tb.pos.Turn()
			p, in := tb.name(turn)
			tb.done(tb.Move(p, protocol.MoveRequest{Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: 1, Ply: tb.Ply(), Move: tb.legal(), LagMS: 300}, time.Now(), time.Now()))
			if tb.receipt.LagMS != want || tb.receipt.ChargedMS != 1000-want {
				t.Errorf("%s: receipt %+v, want %d ms credited", tb.Holder(turn).Kind, tb.receipt, want)
			}
		}
	})
}

func TestDraws(t *testing.T) {
	offer, accept, declined := protocol.StepOffer, protocol.StepAccept, protocol.StepDecline
	tb := open(t, terms(t, "60", true), DefaultPolicy())
	tb.code(tb.act(game.First, protocol.ActDraw, accept), protocol.NotOffered)
	tb.code(tb.act(game.First, protocol.ActDraw, offer), protocol.Accepted)
	tb.code(tb.act(game.First, protocol.ActDraw, accept), protocol.NotOffered) // one's own
	tb.code(tb.act(game.First, protocol.ActDraw, offer), protocol.NotOffered)  // it stands
	tb.code(tb.act(game.Second, protocol.ActDraw, declined), protocol.Accepted)
	tb.code(tb.act(game.First, protocol.ActDraw, offer), protocol.RateLimited)
	tb.play()
	tb.code(tb.act(game.First, protocol.ActDraw, offer), protocol.Accepted)
	if tb.snap.DrawBy == nil {
		t.Fatal("no open offer")
	}
	tb.play() // Second moves on
	if tb.snap.DrawBy != nil {
		t.Error("the offer outlived the other side's move")
	}
	tb.code(tb.act(game.Second, protocol.ActDraw, offer), protocol.Accepted)
	tb.code(tb.act(game.First, protocol.ActDraw, offer), protocol.Accepted) // offering back is accepting
	tb.want(game.Draw, protocol.ReasonAgreement)
	if tb.snap.DrawBy != nil {
		t.Error("an offer is open after the end")
	}
	tb.code(tb.act(game.First, protocol.ActResign, ""), protocol.Over)

	// So it is for a seat that has made its own offer at this ply, which was declined.
	tb = open(t, terms(t, "60", true), DefaultPolicy())
	tb.code(tb.act(game.First, protocol.ActDraw, offer), protocol.Accepted)
	tb.code(tb.act(game.Second, protocol.ActDraw, declined), protocol.Accepted)
	tb.code(tb.act(game.Second, protocol.ActDraw, offer), protocol.Accepted)
	tb.code(tb.act(game.First, protocol.ActDraw, offer), protocol.Accepted)
	tb.want(game.Draw, protocol.ReasonAgreement)
}

// A fallen flag decides the game before anything else that its players ask for after it:
// the seat to act is late, and the opponent can't give up the win.
func TestFlagBeforeActs(t *testing.T) {
	offer, accept := protocol.StepOffer, protocol.StepAccept
	for _, c := range []struct {
		name   string
		offers game.Seat
		asks   game.Seat
		action protocol.Action
		step   protocol.Step
		answer protocol.Code
	}{
		{"late to accept a draw", game.First, game.Second, protocol.ActDraw, accept, protocol.Late},
		{"late to offer one as well", game.First, game.Second, protocol.ActDraw, offer, protocol.Late},
		{"late to resign", game.First, game.Second, protocol.ActResign, "", protocol.Late},
		{"a draw accepted from a seat without time", game.Second, game.First, protocol.ActDraw, accept, protocol.Unanswered},
		{"a win resigned", game.Second, game.First, protocol.ActResign, "", protocol.Unanswered},
		{"a takeback accepted from a seat without time", game.Second, game.First, protocol.ActTakeback, accept, protocol.Unanswered},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tb := openFor(t, [2]protocol.PlayerID{"ann", "human-bob"}, terms(t, "60", false), DefaultPolicy(), protocol.Bot, protocol.Human)
				for range 3 {
					tb.play()
				}
				offered := protocol.ActDraw
				if c.action == protocol.ActTakeback {
					offered = c.action
				}
				tb.code(tb.act(c.offers, offered, offer), protocol.Accepted)
				tb.run(time.Minute + time.Millisecond) // within the grace
				tb.code(tb.act(c.asks, c.action, c.step), c.answer)
				if over := c.answer == protocol.Late; tb.Over() != over {
					t.Errorf("over: %v, want %v", tb.Over(), over)
				}
				tb.run(time.Minute)
				tb.want(game.FirstWins, protocol.ReasonTime)
			})
		})
	}
}

// What arrived before the flag fell counts, although it is handled after. A move that
// arrived in time leaves the opponent's request to the position after it.
func TestActsBeforeFlag(t *testing.T) {
	late := func(t *testing.T) (tb *table, arrived time.Time, accept protocol.ActRequest) {
		tb = open(t, terms(t, "60", true), DefaultPolicy())
		for range 3 {
			tb.play()
		}
		tb.code(tb.act(game.First, protocol.ActDraw, protocol.StepOffer), protocol.Accepted)
		time.Sleep(time.Minute)
		arrived = time.Now() // no time is left, and the flag falls after it
		time.Sleep(time.Millisecond)
		return tb, arrived, protocol.ActRequest{Header: protocol.Header{ID: tb.id()}, Instance: "b1", Epoch: 1, Ply: 3, Step: protocol.StepAccept}
	}
	synctest.Test(t, func(t *testing.T) {
		tb, arrived, accept := late(t)
		tb.code(tb.done(tb.Act("bob", protocol.ActDraw, accept, arrived, time.Now())), protocol.Accepted)
		tb.want(game.Draw, protocol.ReasonAgreement)
	})
	synctest.Test(t, func(t *testing.T) {
		tb, arrived, _ := late(t)
		tb.code(tb.act(game.First, protocol.ActResign, ""), protocol.Unanswered)
		move := protocol.MoveRequest{Header: protocol.Header{ID: "m"}, Instance: "b1", Epoch: 1, Ply: 3, Move: tb.legal()}
		tb.code(tb.done(tb.Move("bob", move, arrived, time.Now())), protocol.Accepted)
		tb.code(tb.act(game.First, protocol.ActResign, ""), protocol.Accepted)
		tb.want(game.SecondWins, protocol.ReasonResign)
	})
}

// A step that is sent to the subject of resignations, as of a draw that was offered, ends no
// game.
func TestNoResignationWithStep(t *testing.T) {
	tb := open(t, terms(t, "60", true), DefaultPolicy())
	tb.play()
	for _, step := range []protocol.Step{protocol.StepOffer, protocol.StepAccept, protocol.StepDecline} {
		tb.code(tb.act(game.First, protocol.ActResign, step), protocol.Malformed)
	}
	tb.code(tb.act(game.First, protocol.ActDraw, ""), protocol.Malformed)
	tb.code(tb.act(game.First, protocol.ActResign, ""), protocol.Accepted)
}

// A resignation of a player whose engine failed says so, for programs and for people.
func TestResignsForFault(t *testing.T) {
	tb := open(t, terms(t, "60", true), DefaultPolicy())
	tb.play()
	_, in := tb.name(game.Second)
	req := protocol.ActRequest{Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: tb.Holder(game.Second).Epoch, Fault: protocol.ReasonCrash}
	tb.code(tb.done(tb.Act("bob", protocol.ActResign, req, time.Now(), time.Now())), protocol.Accepted)
	tb.want(game.FirstWins, protocol.ReasonCrash)
	if e := tb.log[len(tb.log)-1]; e.Text != "the engine of bob crashed" {
		t.Errorf("the log says %q", e.Text)
	}
}

func TestTakebacks(t *testing.T) {
	offer, accept, declined := protocol.StepOffer, protocol.StepAccept, protocol.StepDecline
	rated := open(t, terms(t, "60", true), DefaultPolicy())
	rated.play()
	rated.code(rated.act(game.First, protocol.ActTakeback, offer), protocol.Illegal)

	tb := open(t, terms(t, "60", false), DefaultPolicy())
	tb.code(tb.act(game.First, protocol.ActTakeback, offer), protocol.Illegal) // nothing to take back
	tb.play()
	tb.code(tb.act(game.First, protocol.ActTakeback, offer), protocol.Accepted)
	tb.code(tb.act(game.First, protocol.ActTakeback, accept), protocol.NotOffered)
	tb.code(tb.act(game.First, protocol.ActTakeback, offer), protocol.NotOffered) // it stands
	tb.code(tb.act(game.Second, protocol.ActTakeback, offer), protocol.NotOffered)
	tb.code(tb.act(game.Second, protocol.ActTakeback, declined), protocol.Accepted)
	before := len(tb.log)
	tb.code(tb.act(game.First, protocol.ActTakeback, offer), protocol.RateLimited)
	if len(tb.log) != before {
		t.Errorf("a refused request added %d entries", len(tb.log)-before)
	}
	tb.play()
	tb.play()
	moves := fmt.Sprint(tb.snap.Moves[:1])
	// Second's last move is two plies back: First's goes with it.
	tb.code(tb.act(game.Second, protocol.ActTakeback, offer), protocol.Accepted)
	tb.code(tb.act(game.First, protocol.ActTakeback, accept), protocol.Accepted)
	if fmt.Sprint(tb.snap.Moves) != moves || tb.pos.Turn() != game.Second {
		t.Errorf("moves %v, want %v and second to act", tb.snap.Moves, moves)
	}
	// There may be a request at each ply that a takeback leads to.
	tb.code(tb.act(game.First, protocol.ActTakeback, offer), protocol.Accepted)
	tb.code(tb.act(game.First, protocol.ActTakeback, declined), protocol.Accepted) // withdrawn
	tb.code(tb.act(game.First, protocol.ActTakeback, offer), protocol.RateLimited)
	tb.code(tb.play(), protocol.Accepted)
	tb.code(tb.act(game.Second, protocol.ActTakeback, offer), protocol.Accepted)
	tb.play()
	if tb.snap.TakebackBy != nil {
		t.Error("the request outlived a move")
	}
}

// Every kind of refusal leaves the game unchanged.
func TestRefusals(t *testing.T) {
	tb := open(t, terms(t, "60", true), DefaultPolicy())
	tb.play()
	good := protocol.MoveRequest{Header: protocol.Header{ID: "m"}, Instance: "b1", Epoch: 1, Ply: 1, Move: tb.legal()}
	for _, c := range []struct {
		name   string
		player protocol.PlayerID
		change func(*protocol.MoveRequest)
		want   protocol.Code
	}{
		{"a stranger", "eve", func(*protocol.MoveRequest) {}, protocol.Denied},
		{"the other player", "ann", func(m *protocol.MoveRequest) { m.Instance = "a1" }, protocol.NotYourTurn},
		{"another instance", "bob", func(m *protocol.MoveRequest) { m.Instance = "b2" }, protocol.Stale},
		{"an old epoch", "bob", func(m *protocol.MoveRequest) { m.Epoch = 0 }, protocol.Stale},
		{"an old ply", "bob", func(m *protocol.MoveRequest) { m.Ply = 0 }, protocol.Stale},
		{"a ply to come", "bob", func(m *protocol.MoveRequest) { m.Ply = 2 }, protocol.Stale},
		{"nonsense", "bob", func(m *protocol.MoveRequest) { m.Move = "castle" }, protocol.Illegal},
		{"an illegal move", "bob", func(m *protocol.MoveRequest) { m.Move = "a1a1/a1" }, protocol.Illegal},
		{"a malformed key", "bob", func(m *protocol.MoveRequest) { m.Key = strings.Repeat("z", 16) }, protocol.Malformed},
	} {
		req := good
		c.change(&req)
		before := fmt.Sprintf("%+v", tb.Snapshot(epoch))
		e, ans := tb.Move(c.player, req, time.Now(), time.Now())
		if e != nil || ans.Error == nil || ans.Error.Code != c.want {
			t.Errorf("%s: %+v with event %v, want refusal %s", c.name, ans.Answer, e != nil, c.want)
		}
		if ans.Game != "g1" || ans.Seq != 2 || ans.Ply != 1 || ans.Clocks == nil { // where the sender's view is out of date
			t.Errorf("%s: the answer tells of game %q, entry %d, ply %d, clocks %+v", c.name, ans.Game, ans.Seq, ans.Ply, ans.Clocks)
		}
		if after := fmt.Sprintf("%+v", tb.Snapshot(epoch)); after != before {
			t.Errorf("%s changed the game:\n%s\n%s", c.name, before, after)
		}
	}
	tb.code(tb.done(tb.Move("bob", good, time.Now(), time.Now())), protocol.Accepted)
	if len(tb.log) != 3 {
		t.Errorf("%d entries, want start and two moves", len(tb.log))
	}
}

// A move that is sent again, as the same request or by another one, changes nothing. Each
// answer has the move's receipt and the state after it, since no state need follow.
func TestRepeatedMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "60", true), DefaultPolicy())
		for ply, seat := range []game.Seat{game.First, game.Second} {
			time.Sleep(time.Second)
			p, in := tb.name(seat)
			move := protocol.MoveRequest{Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: 1, Ply: ply, Move: tb.legal()}
			for i, want := range []protocol.Code{"", protocol.Duplicate, protocol.Duplicate} {
				if i == 2 {
					move.ID = tb.id()
				}
				e, ans := tb.Move(p, move, time.Now(), time.Now())
				if e != nil {
					ans = tb.store(e)
				}
				if r := ans.Receipt; ans.Error != nil || ans.Code != want || r == nil || r.Ply != ply+1 || r.ChargedMS != 1000 {
					t.Errorf("ply %d, sent %d times: answered %+v with receipt %+v", ply, i+1, ans.Answer, r)
				}
				if c := ans.Clocks; ans.Game != "g1" || ans.Ply != ply+1 || ans.Seq != uint64(len(tb.log)) || c == nil || *c.Running != seat.Other() {
					t.Errorf("ply %d, sent %d times: the answer is of game %q, ply %d, entry %d, clocks %+v", ply, i+1, ans.Game, ans.Ply, ans.Seq, c)
				}
			}
		}
		if len(tb.log) != 3 {
			t.Errorf("%d entries, want start and two moves", len(tb.log))
		}
	})
}

// A key of another position voids a game; in a rated one only with a seat's first move, and
// later it loses: a player about to lose could void it otherwise.
func TestKeyDispute(t *testing.T) {
	void, lost := game.Outcome{Reason: protocol.ReasonDispute}, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonIllegal}
	for _, c := range []struct {
		rated bool
		plies int
		want  game.Outcome
	}{{true, 1, void}, {true, 3, lost}, {false, 3, void}} {
		tb := open(t, terms(t, "60", c.rated), DefaultPolicy())
		for range c.plies {
			tb.play()
		}
		req := protocol.MoveRequest{Header: protocol.Header{ID: "m"}, Instance: "b1", Epoch: 1, Ply: c.plies, Move: tb.legal(), Key: "0123456789abcdef"}
		tb.code(tb.done(tb.Move("bob", req, time.Now(), time.Now())), protocol.Over)
		tb.want(c.want.Result, c.want.Reason)
		d := tb.log[len(tb.log)-1].Dispute
		if d == nil || d.Claimed != req.Key || d.Move != req.Move || len(d.Ruled) != 16 {
			t.Errorf("dispute %+v", d)
		}
		if tb.Ply() != c.plies {
			t.Errorf("the disputed move was kept")
		}
	}
}

// A game ends before its log is full.
func TestLogLimit(t *testing.T) {
	policy := DefaultPolicy()
	policy.LogLimit = 20
	tb := open(t, terms(t, "60", false), policy)
	for range 3 * policy.LogLimit {
		if tb.Over() {
			break
		}
		tb.act(game.First, protocol.ActDraw, protocol.StepOffer)
		tb.play()
	}
	tb.want(game.Undecided, protocol.ReasonVoid)
	if len(tb.log) >= policy.LogLimit {
		t.Errorf("%d entries, the limit is %d", len(tb.log), policy.LogLimit)
	}
}

// What can't be stored counts as well, so that a seat that keeps changing hands meanwhile
// does not fill the memory.
func TestLogLimitWhileNothingIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := DefaultPolicy()
		policy.LogLimit = 40
		tb := open(t, terms(t, "3600/move", true), policy)
		tb.play()
		unkept := 0
		for ; !tb.Over() && unkept < 3*policy.LogLimit; unkept++ {
			h := tb.Holder(game.Second)
			e := tb.Vacate(game.Second, h.Instance, "given back", time.Now())
			if e == nil {
				time.Sleep(seatPause)
				e = tb.Seat(game.Second, h.Epoch, "b1", "", time.Now())
			}
			if e == nil {
				t.Fatal("the seat does not change hands")
			}
			tb.CommitUnlogged(time.Now())
		}
		tb.want(game.Undecided, protocol.ReasonAbandoned)
		if all := len(tb.log) + unkept; all >= policy.LogLimit {
			t.Errorf("%d events, the limit is %d", all, policy.LogLimit)
		}
		if e := tb.CatchUp("", time.Now()); e.Kind != protocol.EventEnd || e.Outcome.Reason != protocol.ReasonAbandoned {
			t.Errorf("the log continues with %s, %+v", e.Kind, e.Outcome)
		}
	})
}

// The end of a game whose log is full has the position without the move that was refused,
// so that the next referee can read it.
func TestRestoreAfterLogLimit(t *testing.T) {
	policy := DefaultPolicy()
	policy.LogLimit = 2 * reserve
	tb := open(t, terms(t, "60", true), policy)
	moves := 0
	for tb.play() == protocol.Accepted {
		moves++
	}
	tb.want(game.Undecided, protocol.ReasonVoid)
	end := tb.log[len(tb.log)-1]
	if end.Kind != protocol.EventEnd || len(end.Moves) != moves || end.Turn != tb.pos.Turn() {
		t.Errorf("the last entry, %s, has %d moves and turn %v, want the end with %d and %v", end.Kind, len(end.Moves), end.Turn, moves, tb.pos.Turn())
	}
	if again, _, err := Restore(end, uint64(len(tb.log)), policy, time.Now()); err != nil || !again.Over() {
		t.Errorf("restored from the end: %v", err)
	}
}

// A player who gives the seat back and takes it again all the time can't fill the log of
// the game: the first times the seat is taken at once, and then it stays vacant for a
// while. The game goes on.
func TestSeatCannotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "600+5", true), DefaultPolicy())
		for range 3 {
			tb.play()
		}
		before, taken := len(tb.log), 0
		for i := range 50 * 120 {
			time.Sleep(20 * time.Millisecond)
			if tb.Over() {
				t.Fatalf("over after %d entries: %+v", len(tb.log), tb.snap.Outcome)
			}
			h := tb.Holder(game.Second)
			if h.Instance != "" {
				tb.store(tb.Vacate(game.Second, h.Instance, "given back", time.Now()))
				h = tb.Holder(game.Second)
			}
			if e := tb.Seat(game.Second, h.Epoch, "b1", "", time.Now()); e != nil {
				tb.store(e)
				taken++
			}
			if i == 4 && taken != 5 {
				t.Errorf("the seat was taken back at once %d times of the first 5", taken)
			}
		}
		if n := len(tb.log) - before; n > 120 {
			t.Errorf("%d entries in two minutes", n)
		}
		time.Sleep(seatPause)
		if h := tb.Holder(game.Second); h.Instance == "" {
			tb.store(tb.Seat(game.Second, h.Epoch, "b1", "", time.Now()))
		}
		tb.code(tb.play(), protocol.Accepted)
	})
}

// The time that a seat stays vacant because it changed hands often is never long enough
// to lose by it.
func TestSeatIsFillableBeforeItIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := DefaultPolicy()
		policy.AbandonAfter = time.Second
		tb := open(t, terms(t, "60", true), policy)
		for range 2 * seatBurst {
			h := tb.Holder(game.Second)
			tb.store(tb.Vacate(game.Second, h.Instance, "given back", time.Now()))
			for !tb.Over() && !tb.Fillable(game.Second, time.Now()) {
				tb.run(50 * time.Millisecond)
			}
			if tb.Over() {
				t.Fatalf("over: %+v", tb.snap.Outcome)
			}
			tb.store(tb.Seat(game.Second, h.Epoch+1, "b1", "", time.Now()))
		}
	})
}

// A player whose seat fills most of the log by changing hands has abandoned the game.
func TestSeatThatFillsTheLogLoses(t *testing.T) {
	for _, c := range []struct {
		moves int
		want  game.Result
	}{{4, game.FirstWins}, {1, game.Undecided}} {
		synctest.Test(t, func(t *testing.T) {
			policy := DefaultPolicy()
			policy.LogLimit = 40
			tb := open(t, terms(t, "3600/move", true), policy)
			for range c.moves {
				tb.play()
			}
			for !tb.Over() {
				h := tb.Holder(game.Second)
				tb.store(tb.Vacate(game.Second, h.Instance, "given back", time.Now()))
				time.Sleep(seatPause)
				if e := tb.Seat(game.Second, h.Epoch+1, "b1", "", time.Now()); e != nil {
					tb.store(e)
				}
			}
			tb.want(c.want, protocol.ReasonAbandoned)
			if len(tb.log) >= policy.LogLimit {
				t.Errorf("%d entries, the limit is %d", len(tb.log), policy.LogLimit)
			}
			if e := tb.log[len(tb.log)-1]; e.Kind != protocol.EventEnd {
				t.Errorf("the last entry is %s, want the end", e.Kind)
			}
		})
	}
}

func TestSetupRefuses(t *testing.T) {
	for _, c := range []struct{ game, rules, position string }{
		{"chess", "chess/fide", ""},
		{"amazons", "amazons/nonsense", ""},
		{"amazons", "gomoku/freestyle-15", ""},
		{"amazons", "amazons", ""},
		{"amazons", "amazons/6x6", "not a board"},
	} {
		_, e := Setup(protocol.Terms{Game: c.game, Rules: c.rules, Position: c.position})
		if e == nil || e.Code != protocol.UnknownGame {
			t.Errorf("%+v: %v, want a refusal", c, e)
		} else if strings.Contains(e.Text, c.rules) || c.position != "" && strings.Contains(e.Text, c.position) {
			t.Errorf("%+v: the refusal repeats what was sent: %s", c, e.Text)
		}
	}
}

// A rated game is one of equals on a clock. Whoever may choose rules with a handicap and the
// seat that it helps could win points for ever, and so could a weak player whose games are
// soon drawn.
func TestAcceptable(t *testing.T) {
	for _, c := range []struct {
		game, rules, position, clock string
		rated                        bool
		want                         protocol.Code // "": none
	}{
		{"xiangqi", "xiangqi/wxf", "", "60+1", true, ""},
		{"xiangqi", "xiangqi/wxf+limit=100", "", "60+1", true, ""},
		{"xiangqi", "xiangqi/wxf+limit=none", "", "60+1", true, ""},
		{"xiangqi", "xiangqi/wxf+limit=59", "", "60+1", true, protocol.Malformed},
		{"xiangqi", "xiangqi/wxf+limit=10", "", "60+1", false, ""},
		{"xiangqi", "xiangqi/wxf+handicap=horse", "", "60+1", true, protocol.Malformed},
		{"xiangqi", "xiangqi/simple+limit=none+handicap=two-rooks", "", "60+1", true, protocol.Malformed},
		{"xiangqi", "xiangqi/wxf+handicap=horse", "", "60+1", false, ""},
		{"gomoku", "gomoku/renju-15+swap2", "", "60+1", true, ""},
		{"gomoku", "gomoku/freestyle-15", "", "unlimited", true, protocol.Malformed},
		{"gomoku", "gomoku/freestyle-15", "", "unlimited", false, ""},
		{"gomoku", "gomoku/freestyle-15", "", "0+1", true, protocol.Malformed},
		{"gomoku", "gomoku/freestyle-15", "", "0+1", false, protocol.Malformed},
		{"amazons", "amazons/6x6", "", "60+1", true, ""},
		{"amazons", "amazons/6x6", "1q2q1/q4q/6/6/Q4Q/1Q2Q1 b", "60+1", true, protocol.Malformed},
		{"amazons", "amazons/6x6", "1q2q1/q4q/6/6/Q4Q/1Q2Q1 b", "60+1", false, ""},
		{"amazons", "amazons/6x6", "not a board", "60+1", false, protocol.UnknownGame},
	} {
		_, e := SetupRequested(protocol.Terms{Game: c.game, Rules: c.rules, Position: c.position, Clock: spec(t, c.clock), Rated: c.rated})
		var got protocol.Code
		if e != nil {
			got = e.Code
		}
		if got != c.want {
			t.Errorf("%+v: refused as %q", c, got)
		}
	}
}

// An end that could not be stored is told to nobody before it is.
func TestEndIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "60", true), DefaultPolicy())
		before := tb.State(game.First, time.Now())
		for !tb.Over() {
			before = tb.State(game.First, time.Now())
			seat := tb.pos.Turn()
			p, in := tb.name(seat)
			e, ans := tb.Move(p, protocol.MoveRequest{
				Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: 1, Ply: tb.Ply(), Move: tb.legal(),
			}, time.Now(), time.Now())
			if e == nil {
				t.Fatalf("refused: %+v", ans)
			}
			ans = tb.CommitUnlogged(time.Now())
			if tb.EndWithheld() != tb.Over() || tb.EndWithheld() != (ans.Code == protocol.Unanswered) {
				t.Fatalf("ply %d: over %v, held back %v, answered %q", tb.Ply(), tb.Over(), tb.EndWithheld(), ans.Code)
			}
		}
		held := tb.State(game.First, time.Now())
		if held.Status != protocol.Halted || held.Outcome.Over() || held.Clocks.Running != nil || held.Key != before.Key || held.Turn != before.Turn ||
			len(held.Moves) != len(before.Moves) || held.Seq != before.Seq || held.Unkept != before.Unkept+1 {
			t.Errorf("while the end is held back: %+v\nbefore it: %+v", held, before)
		}
		p, in := tb.name(game.First)
		resign := protocol.ActRequest{Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: 1}
		tb.code(tb.done(tb.Act(p, protocol.ActResign, resign, time.Now(), time.Now())), protocol.Unanswered)
		if e := tb.CatchUp("late", time.Now()); e.Kind != protocol.EventEnd || e.Outcome.Reason != game.NoMoves || e.Text != "late" || e.Receipt != tb.receipt {
			t.Errorf("the log continues with %s, %+v, %q, receipt %+v", e.Kind, e.Outcome, e.Text, e.Receipt)
		} else {
			tb.store(e)
		}
		if st := tb.State(game.First, time.Now()); st.Status != protocol.Finished || len(st.Moves) != len(before.Moves)+1 || st.Unkept != 0 {
			t.Errorf("once it is stored: %+v", st)
		}
		tb.code(tb.done(tb.Act(p, protocol.ActResign, resign, time.Now(), time.Now())), protocol.Over)
	})
}

// What a seat says is passed on once, and only so often.
func TestChatIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "60", false), DefaultPolicy())
		say := func(seat game.Seat, id string) (protocol.PlayerID, protocol.Code) {
			p, in := tb.name(seat)
			to, ans := tb.Chat(p, protocol.ChatRequest{Header: protocol.Header{ID: id}, Instance: in, Epoch: 1, Text: "hello"}, time.Now())
			return to, tb.done(nil, ans)
		}
		flood := func(seat game.Seat) (passed int) {
			for range 100 {
				to, code := say(seat, tb.id())
				if to != "" {
					passed++
				}
				if (to == "") != (code == protocol.RateLimited) {
					t.Fatalf("answered %s, and passed on to %q", code, to)
				}
			}
			return passed
		}
		if n := flood(game.First); n != chatBurst {
			t.Errorf("%d messages passed on at once", n)
		}
		if to, code := say(game.Second, "once"); to != "ann" || code != protocol.Accepted {
			t.Errorf("the other seat: answered %s, passed on to %q", code, to)
		}
		if to, code := say(game.Second, "once"); to != "" || code != protocol.Duplicate {
			t.Errorf("a repetition: answered %s, passed on to %q", code, to)
		}
		time.Sleep(3 * chatPause)
		if n := flood(game.First); n != 3 {
			t.Errorf("%d messages passed on after three pauses", n)
		}
		p, in := tb.name(game.First)
		tb.store(tb.Abort("", time.Now()))
		m, _, err := Restore(tb.log[len(tb.log)-1], uint64(len(tb.log)), tb.policy, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if to, _ := m.Chat(p, protocol.ChatRequest{Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: 1, Text: "bye"}, time.Now()); to != "bob" {
			t.Errorf("after the end, with another referee: passed on to %q", to)
		}
	})
}
