package livegame

import (
	"testing"
	"testing/synctest"
	"time"

	"sparring/game"
	"sparring/protocol"
)

// A change of referee at any moment costs no time and loses nothing: the last entry
// restores the game, and its clock is stopped until a message of the seat to act.
func TestRestore(t *testing.T) {
	for _, clock := range []string{"60+1", "3/2x5", "5/move"} {
		synctest.Test(t, func(t *testing.T) {
			tb := open(t, terms(t, clock, true), DefaultPolicy())
			tb.play()
			tb.play()
			time.Sleep(4 * time.Second)
			tb.store(tb.Halt("pause", time.Now()))
			last := tb.log[len(tb.log)-1]
			if last.Status != protocol.Halted || last.Text != "pause" || last.Clocks.Running != nil || !last.RunningSince.IsZero() {
				t.Errorf("%s: halted by %+v", clock, last)
			}
			if move := tb.log[len(tb.log)-2]; !move.RunningSince.Equal(move.Time) {
				t.Errorf("%s: the clock runs since %v, after a move at %v", clock, move.RunningSince, move.Time)
			}
			time.Sleep(time.Hour)
			m, e, err := Restore(last, uint64(len(tb.log)), DefaultPolicy(), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			tb.Game = m
			tb.store(e)
			if e.Term != 2 || e.Kind != protocol.EventTakeover || e.Clocks.Running != nil || e.Clocks.Seats != last.Clocks.Seats {
				t.Errorf("%s: %s of term %d, clocks %+v; want a takeover of term 2 with %+v standing", clock, e.Kind, e.Term, e.Clocks, last.Clocks)
			}
			time.Sleep(10 * time.Second)
			if e := tb.Expire(time.Now()); e != nil {
				t.Fatalf("%s: %s while the clock stands", clock, e.Kind)
			}
			if !tb.Suspended() {
				t.Errorf("%s: not suspended while the clock stands", clock)
			}
			if !tb.Heard(game.First, time.Now()) || tb.Heard(game.First, time.Now()) || tb.Suspended() {
				t.Errorf("%s: want the clock to start when first is heard, once", clock)
			}
			time.Sleep(500 * time.Millisecond)
			tb.code(tb.play(), protocol.Accepted)
			if tb.receipt.ChargedMS != 4500 {
				t.Errorf("%s: charged %d ms, want 4500", clock, tb.receipt.ChargedMS)
			}
		})
	}
}

// An entry whose moves can't be played, or lead elsewhere than it says, is not continued.
func TestRestoreRefuses(t *testing.T) {
	tb := open(t, terms(t, "60", true), DefaultPolicy())
	tb.play()
	for _, change := range []func(*protocol.Event){
		func(e *protocol.Event) { e.Terms.Rules = "amazons/moon" },
		func(e *protocol.Event) { e.Moves = []string{"a1a1/a1"} },
		func(e *protocol.Event) { e.Moves = nil },
		func(e *protocol.Event) { e.Key = "0123456789abcdef" },
	} {
		last := tb.log[len(tb.log)-1]
		change(&last)
		if m, _, err := Restore(last, 2, DefaultPolicy(), time.Now()); err == nil || m != nil {
			t.Errorf("rules %s, moves %v, key %s: %v", last.Terms.Rules, last.Moves, last.Key, err)
		}
	}
}

// Without any message after the change, the clock resumes after ResumeWithin.
func TestRestoreWaitsOnlySoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := DefaultPolicy()
		tb := open(t, terms(t, "10", true), policy)
		tb.play()
		tb.play()
		m, e, err := Restore(tb.log[2], 3, policy, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		tb.Game = m
		tb.store(e)
		began := time.Now()
		tb.run(time.Hour)
		tb.want(game.SecondWins, protocol.ReasonTime)
		if took, want := time.Since(began), policy.ResumeWithin+10*time.Second+policy.FlagGrace; took != want {
			t.Errorf("flag after %v, want %v", took, want)
		}
	})
}

// Where the clocks of two arenas' machines differ, a game that goes from one to the other and
// back costs nobody time, and nobody the game: neither its flag nor who left first goes by
// what the other clock said.
func TestSkewedClocks(t *testing.T) {
	for _, skew := range []time.Duration{-30 * time.Second, -3 * time.Second, 3 * time.Second, 30 * time.Second} {
		var tb *table
		var ahead time.Duration // of the clock of the arena that has the game
		now := func() time.Time { return time.Now().Add(ahead) }
		move := func() {
			tb.Helper()
			p, in := tb.name(tb.pos.Turn())
			tb.code(tb.done(tb.Move(p, protocol.MoveRequest{
				Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: tb.Holder(tb.pos.Turn()).Epoch, Ply: tb.Ply(), Move: tb.legal(),
			}, now(), now())), protocol.Accepted)
		}
		store := func(e *protocol.Event) {
			tb.log = append(tb.log, *e)
			tb.Commit(uint64(len(tb.log)), now())
		}
		to := func(other time.Duration) {
			ahead = other
			m, e, err := Restore(tb.log[len(tb.log)-1], uint64(len(tb.log)), tb.policy, now())
			if err != nil {
				tb.Fatal(err)
			}
			tb.Game = m
			store(e)
		}
		synctest.Test(t, func(t *testing.T) {
			tb, ahead = open(t, terms(t, "60", true), DefaultPolicy()), 0
			move()
			move()
			time.Sleep(4 * time.Second)
			store(tb.Halt("pause", now()))
			to(skew)
			time.Sleep(time.Second)
			tb.Heard(game.First, now())
			time.Sleep(2 * time.Second)
			store(tb.Halt("pause", now()))
			to(0)
			time.Sleep(time.Second)
			tb.Heard(game.First, now())
			at, ok := tb.Deadline()
			if want := 54*time.Second + tb.policy.FlagGrace; !ok || at.Sub(now()) != want {
				t.Errorf("%v: the flag falls in %v, want %v", skew, at.Sub(now()), want)
			}
			time.Sleep(time.Second)
			move()
			if tb.receipt.ChargedMS != 7000 {
				t.Errorf("%v: charged %d ms, want 7000", skew, tb.receipt.ChargedMS)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			tb, ahead = open(t, terms(t, "600", true), DefaultPolicy()), 0
			move()
			move()
			store(tb.Vacate(game.First, "a1", "gone", now()))
			time.Sleep(5 * time.Second)
			to(skew)
			time.Sleep(20 * time.Second)
			store(tb.Vacate(game.Second, "b1", "gone", now()))
			for !tb.Over() {
				at, ok := tb.Deadline()
				if !ok {
					t.Fatal("no deadline")
				}
				time.Sleep(at.Sub(now()))
				if e := tb.Expire(now()); e != nil {
					store(e)
				}
			}
			tb.want(game.SecondWins, protocol.ReasonAbandoned)
		})
	}
}

// What took effect is not ruled on again by a later referee, also if other entries came
// after it in the log, unless the game has gone on beyond it.
func TestRepeatedToAnotherReferee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "600", false), DefaultPolicy())
		restore := func() {
			m, e, err := Restore(tb.log[len(tb.log)-1], uint64(len(tb.log)), tb.policy, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			tb.Game = m
			tb.store(e)
			tb.Heard(game.First, time.Now())
			tb.Heard(game.Second, time.Now())
		}
		tb.play()
		tb.play()
		offer := protocol.ActRequest{Header: protocol.Header{ID: "d1"}, Instance: "a1", Epoch: 1, Ply: 2, Step: protocol.StepOffer}
		sendOffer := func() protocol.Code { return tb.done(tb.Act("ann", protocol.ActDraw, offer, time.Now(), time.Now())) }
		tb.code(sendOffer(), protocol.Accepted)
		tb.code(tb.act(game.Second, protocol.ActDraw, protocol.StepDecline), protocol.Accepted)
		tb.store(tb.Vacate(game.Second, "b1", "gone", time.Now()))
		tb.store(tb.Seat(game.Second, 2, "b1", "", time.Now()))
		restore()
		tb.code(sendOffer(), protocol.Duplicate)
		restore() // from an entry that no request caused
		tb.code(sendOffer(), protocol.Duplicate)
		if tb.snap.DrawBy != nil {
			t.Error("the offer that was declined is open again")
		}

		move := protocol.MoveRequest{Header: protocol.Header{ID: "m1"}, Instance: "a1", Epoch: 1, Ply: 2, Move: tb.legal()}
		sendMove := func() protocol.Code { return tb.done(tb.Move("ann", move, time.Now(), time.Now())) }
		tb.code(sendMove(), protocol.Accepted)
		if e := tb.log[len(tb.log)-1]; len(e.Earlier) != 0 {
			t.Errorf("the entry of a move names %+v, whose ply is over", e.Earlier)
		}
		tb.code(tb.act(game.First, protocol.ActTakeback, protocol.StepOffer), protocol.Accepted)
		tb.code(tb.act(game.Second, protocol.ActTakeback, protocol.StepAccept), protocol.Accepted)
		restore()
		tb.code(sendMove(), protocol.Duplicate)
		if n := tb.Ply(); n != 2 {
			t.Errorf("at ply %d, want 2: the move was taken back", n)
		}
	})
}

// A request with the id of another one is not taken for its repetition, or its sender would
// believe that it took effect.
func TestIDOfAnotherRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "600", false), DefaultPolicy())
		header := protocol.Header{ID: "r1"}
		first := protocol.MoveRequest{Header: header, Instance: "a1", Epoch: 1, Move: tb.legal()}
		move := func(m protocol.MoveRequest) protocol.Code { return tb.done(tb.Move("ann", m, time.Now(), time.Now())) }
		act := func(a protocol.Action, step protocol.Step) protocol.Code {
			req := protocol.ActRequest{Header: header, Instance: "a1", Epoch: 1, Ply: tb.Ply(), Step: step}
			return tb.done(tb.Act("ann", a, req, time.Now(), time.Now()))
		}
		chat := func(text string) protocol.Code {
			_, ans := tb.Chat("ann", protocol.ChatRequest{Header: header, Instance: "a1", Epoch: 1, Text: text}, time.Now())
			return tb.done(nil, ans)
		}
		tb.code(move(first), protocol.Accepted)
		tb.code(move(first), protocol.Duplicate)
		tb.play()
		next := first
		next.Ply, next.Move = 2, tb.legal()
		tb.code(move(next), protocol.Malformed)
		tb.code(act(protocol.ActResign, ""), protocol.Malformed)
		tb.code(chat("hello"), protocol.Malformed)

		header.ID = "r2"
		tb.code(act(protocol.ActDraw, protocol.StepOffer), protocol.Accepted)
		tb.code(act(protocol.ActDraw, protocol.StepOffer), protocol.Duplicate)
		tb.code(act(protocol.ActDraw, protocol.StepDecline), protocol.Malformed)
		tb.code(act(protocol.ActTakeback, protocol.StepOffer), protocol.Malformed)

		header.ID = "r3"
		tb.code(chat("hello"), protocol.Accepted)
		tb.code(chat("hello"), protocol.Duplicate)
		tb.code(chat("bye"), protocol.Malformed)
		if tb.Over() || tb.snap.DrawBy == nil || tb.Ply() != 2 {
			t.Errorf("over %t, draw offered by %v, ply %d", tb.Over(), tb.snap.DrawBy, tb.Ply())
		}

		header.ID = "r4"
		tb.code(act(protocol.ActResign, ""), protocol.Accepted)
		again := protocol.ActRequest{Header: header, Instance: "a1", Epoch: 1, Ply: 1}
		tb.code(tb.done(tb.Act("ann", protocol.ActResign, again, time.Now(), time.Now())), protocol.Duplicate)
	})
}

// Who has offered a draw or asked for a takeback may not do so again before the next move,
// whichever referee rules on it.
func TestOneOfferPerMoveWithAnotherReferee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "600", false), DefaultPolicy())
		restore := func() {
			m, e, err := Restore(tb.log[len(tb.log)-1], uint64(len(tb.log)), tb.policy, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			tb.Game = m
			tb.store(e)
			tb.Heard(game.First, time.Now())
			tb.Heard(game.Second, time.Now())
		}
		tb.play()
		tb.play()
		for _, a := range []protocol.Action{protocol.ActDraw, protocol.ActTakeback} {
			tb.code(tb.act(game.First, a, protocol.StepOffer), protocol.Accepted)
			tb.code(tb.act(game.Second, a, protocol.StepDecline), protocol.Accepted)
			for range 2 { // the second time from an entry that no request caused
				restore()
				if code := tb.act(game.First, a, protocol.StepOffer); code != protocol.RateLimited {
					t.Fatalf("another %s offer at the same move: %s", a, code)
				}
			}
			tb.code(tb.act(game.Second, a, protocol.StepOffer), protocol.Accepted)
			tb.code(tb.act(game.First, a, protocol.StepDecline), protocol.Accepted)
		}
		tb.play()
		restore()
		for _, a := range []protocol.Action{protocol.ActDraw, protocol.ActTakeback} {
			tb.code(tb.act(game.First, a, protocol.StepOffer), protocol.Accepted)
		}
	})
}

// A seat is given back once by a request, which another instance may have given the same id.
func TestGivenBackOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "600", true), DefaultPolicy())
		tb.play()
		tb.play()
		for i, x := range []struct {
			from protocol.InstanceID
			id   string
			want bool
			next protocol.InstanceID // takes the seat
		}{{"a9", "l1", false, ""}, {"a1", "l1", true, "a1"}, {"a1", "l1", false, ""}, {"a1", "l2", true, "a2"}, {"a2", "l2", true, ""}} {
			e := tb.GiveBack(game.First, x.from, x.id, time.Now())
			if (e != nil) != x.want {
				t.Errorf("%d: %+v: given back %t", i, x, e != nil)
			}
			if e != nil {
				tb.store(e)
			}
			if x.next != "" {
				time.Sleep(time.Minute / 2)
				tb.store(tb.Seat(game.First, tb.Holder(game.First).Epoch, x.next, "", time.Now()))
			}
		}
	})
}

func TestSeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "600", true), DefaultPolicy())
		tb.play()
		tb.play()
		if e := tb.Vacate(game.First, "a9", "", time.Now()); e != nil {
			t.Error("vacated for an instance that does not hold it")
		}
		tb.store(tb.Vacate(game.First, "a1", "gone", time.Now()))
		if e := tb.Vacate(game.First, "a1", "gone", time.Now()); e != nil {
			t.Error("vacated twice")
		}
		if e := tb.Seat(game.First, 1, "a2", "", time.Now()); e != nil {
			t.Error("seated in an old epoch")
		}
		tb.run(59 * time.Second)
		tb.store(tb.Seat(game.First, 2, "a2", "build 2", time.Now()))
		if h := tb.Holder(game.First); h.Instance != "a2" || h.Epoch != 2 || h.Build != "build 2" {
			t.Errorf("holder %+v", h)
		}
		tb.run(time.Minute) // no longer abandoned
		tb.code(tb.play(), protocol.Accepted)
		if tb.receipt.ChargedMS != 119000 {
			t.Errorf("charged %d ms: the vacant seat's clock runs", tb.receipt.ChargedMS)
		}
		tb.store(tb.Vacate(game.First, "a2", "gone", time.Now()))
		tb.run(time.Hour)
		tb.want(game.SecondWins, protocol.ReasonAbandoned)
	})
}

// Of two players who are away the one who left first has abandoned the game, whatever its
// seat, also if the referee changed or had no connection meanwhile. If they left together
// neither has.
func TestBothSeatsVacant(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  game.Seat
		apart  time.Duration
		during func(*table)
		want   game.Outcome
	}{
		{"the first seat left first", game.First, 20 * time.Second, nil, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonAbandoned}},
		{"the second seat left first", game.Second, 20 * time.Second, nil, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}},
		{"together", game.First, time.Second, nil, game.Outcome{Reason: protocol.ReasonVoid}},
		{"together, the second seat first", game.Second, time.Second, nil, game.Outcome{Reason: protocol.ReasonVoid}},
		{"with another referee", game.Second, 20 * time.Second, func(tb *table) {
			m, e, err := Restore(tb.log[len(tb.log)-1], uint64(len(tb.log)), tb.policy, time.Now())
			if err != nil {
				tb.Fatal(err)
			}
			tb.Game = m
			tb.store(e)
		}, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}},
		{"without a connection", game.Second, 20 * time.Second, func(tb *table) { tb.Suspend(time.Now(), time.Now()) },
			game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}},
	} {
		synctest.Test(t, func(t *testing.T) {
			tb := open(t, terms(t, "600", true), DefaultPolicy())
			tb.play()
			tb.play()
			for i, seat := range []game.Seat{c.first, c.first.Other()} {
				tb.run(time.Duration(i) * c.apart)
				_, in := tb.name(seat)
				tb.store(tb.Vacate(seat, in, "gone", time.Now()))
			}
			if c.during != nil {
				c.during(tb)
			}
			tb.run(time.Hour)
			if got := tb.snap.Outcome; got != c.want {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
			}
		})
	}
}

// TestSuspend cuts the referee off for an hour: no flag falls, no game is abandoned,
// and the mover is only charged for the time with a connection.
func TestSuspend(t *testing.T) {
	for _, clock := range []string{"60+1", "3/2x5", "5/move"} {
		synctest.Test(t, func(t *testing.T) {
			policy := DefaultPolicy()
			tb := open(t, terms(t, clock, true), policy)
			tb.play()
			tb.play()
			tb.store(tb.Vacate(game.Second, "b1", "gone", time.Now()))
			time.Sleep(2 * time.Second)
			for range 3600 {
				tb.Suspend(time.Now(), time.Now())
				time.Sleep(time.Second)
				if e := tb.Expire(time.Now()); e != nil {
					t.Fatalf("%s: %s (%s) while cut off", clock, e.Kind, e.Outcome.Reason)
				}
			}
			for seat, h := range tb.Snapshot(time.Now()).Holders {
				if vacant := game.Seat(seat) == game.Second; h.VacantSince.IsZero() == vacant {
					t.Errorf("%s: seat %d is vacant since %v", clock, seat, h.VacantSince)
				}
			}
			if !tb.Heard(game.First, time.Now()) {
				t.Errorf("%s: the clock does not start when first is heard", clock)
			}
			time.Sleep(time.Second)
			tb.code(tb.play(), protocol.Accepted)
			if tb.receipt.ChargedMS != 3000 {
				t.Errorf("%s: charged %d ms, want 3000", clock, tb.receipt.ChargedMS)
			}
		})
	}
}

// An outage is taken off the running clock, the limit for the first move and the time
// that a seat has been vacant, as far as it comes after their start.
func TestLapsesAreNotCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := DefaultPolicy()
		tb := open(t, terms(t, "60", true), policy)
		begun := time.Now()
		time.Sleep(5 * time.Second)
		tb.Uncharge(begun.Add(-time.Hour), begun.Add(2*time.Second)) // of which 2 s after the start
		tb.Uncharge(begun.Add(3*time.Second), begun.Add(4*time.Second))
		tb.Uncharge(begun.Add(-time.Hour), begun) // before it
		if by := tb.Snapshot(time.Now()).FirstMoveBy; !by.Equal(begun.Add(3*time.Second + policy.FirstMove)) {
			t.Errorf("first move until %v after the start", by.Sub(begun))
		}
		tb.code(tb.play(), protocol.Accepted)
		if tb.receipt.ChargedMS != 2000 {
			t.Errorf("charged %d ms, want 2000", tb.receipt.ChargedMS)
		}
		tb.code(tb.play(), protocol.Accepted)
		tb.store(tb.Vacate(game.First, "a1", "", time.Now()))
		vacant := time.Now()
		time.Sleep(10 * time.Second)
		tb.Uncharge(vacant, vacant.Add(8*time.Second))
		if since := tb.Snapshot(time.Now()).Holders[game.First].VacantSince; !since.Equal(vacant.Add(8 * time.Second)) {
			t.Errorf("vacant since %v after the seat was vacated", since.Sub(vacant))
		}
	})
}
