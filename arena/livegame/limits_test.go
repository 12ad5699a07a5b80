package livegame

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// In a casual game against a program nobody waits for a person: only the clock bounds the
// first move. The program has a limit all the same.
func TestNoHurryAgainstPrograms(t *testing.T) {
	for _, c := range []struct {
		kinds [2]protocol.Kind
		rated bool
		want  [2]bool // whether there is a limit, by seat
	}{
		{kinds: [2]protocol.Kind{protocol.Human, protocol.Bot}, want: [2]bool{false, true}},
		{kinds: [2]protocol.Kind{protocol.Bot, protocol.Human}, want: [2]bool{true, false}},
		{kinds: [2]protocol.Kind{protocol.Human, protocol.Bot}, rated: true, want: [2]bool{true, true}},
		{kinds: [2]protocol.Kind{protocol.Human, protocol.Human}, want: [2]bool{true, true}},
		{kinds: [2]protocol.Kind{protocol.Bot, protocol.Bot}, want: [2]bool{true, true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			tb := open(t, terms(t, "600+5", c.rated), DefaultPolicy(), c.kinds[:]...)
			var limited [2]bool
			limited[game.First] = !tb.Snapshot(time.Now()).FirstMoveBy.IsZero()
			if !limited[game.First] {
				tb.run(10*time.Minute - time.Second)
				if tb.Over() {
					t.Fatalf("%v: over before the flag falls: %+v", c, tb.snap.Outcome)
				}
			}
			tb.play()
			limited[game.Second] = !tb.Snapshot(time.Now()).FirstMoveBy.IsZero()
			if limited != c.want {
				t.Errorf("%v: limits of the first move %v, want %v", c, limited, c.want)
			}
		})
	}
}

// The limits of the first move and of a vacant seat follow the clock. The states
// announce them, and the game ends by them at that time.
func TestLimitsFollowTheClock(t *testing.T) {
	const day = 24 * time.Hour
	bots, people := []protocol.Kind{protocol.Bot, protocol.Bot}, []protocol.Kind{protocol.Human, protocol.Bot}
	for _, c := range []struct {
		clock              string
		kinds              []protocol.Kind
		firstMove, forfeit time.Duration
	}{
		{"60+1", people, 30 * time.Second, time.Minute},
		{"180+2", people, 30 * time.Second, time.Minute},
		{"600+5", people, time.Minute, 2 * time.Minute},
		{"3600", people, 2 * time.Minute, 4 * time.Minute},
		{"259200/move", people, 3 * day, clock.Longest},
		{"unlimited", people, clock.Longest, clock.Longest},
		{"unlimited", bots, 30 * time.Second, time.Minute},
		{"259200/move", bots, 3 * day, time.Minute},
	} {
		t.Run(c.clock+" "+string(c.kinds[0]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tb := open(t, terms(t, c.clock, true), DefaultPolicy(), c.kinds...)
				s := tb.Snapshot(time.Now())
				if at := time.Now().Add(c.firstMove); !s.FirstMoveBy.Equal(at) || !tb.log[0].FirstMoveBy.Equal(at) {
					t.Errorf("first move by %v, logged %v, want %v", s.FirstMoveBy, tb.log[0].FirstMoveBy, at)
				}
				if got := time.Duration(s.ForfeitMS) * time.Millisecond; got != c.forfeit {
					t.Errorf("forfeit after %v, want %v", got, c.forfeit)
				}
				tb.run(c.firstMove - time.Millisecond)
				if tb.Over() {
					t.Fatalf("over before the limit: %+v", tb.snap.Outcome)
				}
				tb.run(c.firstMove)
				tb.want(game.Undecided, protocol.ReasonNoStart)
				if s := tb.Snapshot(time.Now()); !s.FirstMoveBy.IsZero() {
					t.Errorf("a limit for the first move after the end: %v", s.FirstMoveBy)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				tb := open(t, terms(t, "unlimited", false), DefaultPolicy(), c.kinds...)
				tb.limits = DefaultPolicy().limitsOf(protocol.Terms{Clock: spec(t, c.clock), Rated: true}, tb.snap.Holders)
				tb.limits.turn = 0 // see TestUnlimitedGameIsAbandoned
				tb.play()
				tb.play()
				if s := tb.Snapshot(time.Now()); !s.FirstMoveBy.IsZero() {
					t.Errorf("a limit for the first move after it: %v", s.FirstMoveBy)
				}
				time.Sleep(time.Second)
				tb.store(tb.Vacate(game.Second, "b1", "gone", time.Now()))
				for _, since := range []time.Time{tb.Snapshot(time.Now()).Holders[1].VacantSince, tb.log[len(tb.log)-1].Holders[1].VacantSince} {
					if !since.Equal(time.Now()) {
						t.Errorf("vacant since %v, want %v", since, time.Now())
					}
				}
				tb.run(c.forfeit - time.Millisecond)
				if tb.Over() {
					t.Fatalf("over before the limit: %+v", tb.snap.Outcome)
				}
				tb.run(c.forfeit)
				tb.want(game.FirstWins, protocol.ReasonAbandoned)
			})
		})
	}
}

// A person keeps the seat in a correspondence game, and comes back with another
// instance.
func TestCorrespondenceSeatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := open(t, terms(t, "86400/move", false), DefaultPolicy(), protocol.Human, protocol.Bot)
		if !tb.Keeps(game.First) || tb.Keeps(game.Second) {
			t.Fatalf("kept: %v", tb.limits.keeps)
		}
		if e := tb.Seat(game.Second, 1, "b2", "", time.Now()); e != nil {
			t.Errorf("another instance got the bot's held seat: %+v", e)
		}
		tb.store(tb.Seat(game.First, 1, "a2", "", time.Now()))
		if h := tb.Holder(game.First); h.Instance != "a2" || h.Epoch != 2 {
			t.Errorf("holder %+v", h)
		}
		if e := tb.Seat(game.First, 1, "a3", "", time.Now()); e != nil {
			t.Errorf("a claim of an old epoch succeeded: %+v", e)
		}
		tb.code(tb.play(), protocol.Accepted)
		tb.run(25 * time.Hour)
		tb.want(game.Undecided, protocol.ReasonNoStart)
	})
}

// A strict game has no takebacks.
func TestStrict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		strict := terms(t, "60", false)
		strict.Strict = true
		tb := open(t, strict, DefaultPolicy(), protocol.Human, protocol.Human)
		tb.play()
		tb.code(tb.act(game.First, protocol.ActTakeback, protocol.StepOffer), protocol.Illegal)
		tb.code(tb.act(game.Second, protocol.ActTakeback, protocol.StepAccept), protocol.Illegal)
		if tb.Ply() != 1 || tb.snap.TakebackBy != nil {
			t.Errorf("ply %d, takeback by %v", tb.Ply(), tb.snap.TakebackBy)
		}
	})
}

// Under an opening procedure a seat decides twice in a row. A takeback returns to
// its last decision, and takes the opponent's replies with it.
func TestTakebackToLastDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		swap := protocol.Terms{Game: "gomoku", Rules: "gomoku/freestyle-15+swap2", Clock: spec(t, "60")}
		tb := open(t, swap, DefaultPolicy())
		say := func(text string) {
			t.Helper()
			turn := tb.pos.Turn()
			p, in := tb.name(turn)
			tb.code(tb.done(tb.Move(p, protocol.MoveRequest{
				Header: protocol.Header{ID: tb.id()}, Instance: in, Epoch: 1, Ply: tb.Ply(), Move: text}, time.Now(), time.Now())), protocol.Accepted)
		}
		back := func(seat game.Seat, ply int, turn game.Seat) {
			t.Helper()
			tb.code(tb.act(seat, protocol.ActTakeback, protocol.StepOffer), protocol.Accepted)
			tb.code(tb.act(seat.Other(), protocol.ActTakeback, protocol.StepAccept), protocol.Accepted)
			if tb.Ply() != ply || tb.pos.Turn() != turn || len(tb.movers) != ply {
				t.Errorf("ply %d, %v to act; want ply %d, %v", tb.Ply(), tb.pos.Turn(), ply, turn)
			}
		}
		for _, stone := range []string{"h8", "h9", "i9"} {
			say(stone)
		}
		back(game.First, 2, game.First) // its own last stone of three
		say("i9")
		say("put-two")
		say("a1")
		say("a2")
		back(game.First, 2, game.First) // the reply of three decisions goes with it
		say("i9")
		say("swap")
		back(game.Second, 3, game.Second) // the choice of colour
	})
}

// A game that continues another begins with its moves, which can't be taken back.
func TestGivenMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := terms(t, "60", false)
		other := open(t, given, DefaultPolicy())
		for range 2 {
			given.Moves = append(given.Moves, other.legal())
			other.play()
		}
		tb := open(t, given, DefaultPolicy())
		if s := tb.Snapshot(time.Now()); s.Key != other.Snapshot(time.Now()).Key || len(s.Moves) != 2 || s.FirstMoveBy.IsZero() || tb.Started() {
			t.Errorf("begins with %+v", s)
		}
		tb.code(tb.act(game.First, protocol.ActTakeback, protocol.StepOffer), protocol.Illegal)
		tb.play()
		tb.code(tb.act(game.Second, protocol.ActTakeback, protocol.StepOffer), protocol.Illegal)
		tb.play()
		if !tb.Started() {
			t.Error("not started after a move of each seat")
		}
		tb.code(tb.act(game.First, protocol.ActTakeback, protocol.StepOffer), protocol.Accepted)
		tb.code(tb.act(game.Second, protocol.ActTakeback, protocol.StepAccept), protocol.Accepted)
		if tb.Ply() != 2 || tb.Started() {
			t.Errorf("ply %d, started %v", tb.Ply(), tb.Started())
		}
		// The next referee knows the same.
		again, _, err := Restore(tb.log[len(tb.log)-1], 9, DefaultPolicy(), time.Now())
		if err != nil || again.Started() || again.plies(game.First) != 0 {
			t.Errorf("restored: %v", err)
		}
		for _, moves := range [][]string{{"nonsense"}, {given.Moves[1]}, {""}} {
			wrong := given
			wrong.Moves = moves
			if _, e := Setup(wrong); e == nil || e.Code != protocol.UnknownGame {
				t.Errorf("given moves %q: %v", moves, e)
			}
		}
	})
}

// A game of people without a limit on the clock ends when nobody comes back to it.
func TestUnlimitedGameIsAbandoned(t *testing.T) {
	for _, kind := range []protocol.Kind{protocol.Human, protocol.Bot} { // a bot could hold another one's slot for ever
		synctest.Test(t, func(t *testing.T) {
			tb := open(t, terms(t, "unlimited", false), DefaultPolicy(), kind, kind)
			tb.code(tb.play(), protocol.Accepted)
			tb.code(tb.play(), protocol.Accepted)
			for range 3 {
				tb.run(clock.Longest - time.Hour)
				tb.code(tb.play(), protocol.Accepted)
			}
			tb.run(clock.Longest - time.Millisecond)
			if tb.Over() {
				t.Fatalf("%s: over too early: %+v", kind, tb.snap.Outcome)
			}
			tb.run(time.Hour)
			tb.want(game.FirstWins, protocol.ReasonAbandoned)
		})
	}
}

// The two weeks of a game without a limit on the clock do not start over at upgrades of
// the platform.
func TestUnlimitedGameIsAbandonedOverUpgrades(t *testing.T) {
	for _, c := range []struct {
		moves int
		kind  protocol.Kind
		want  game.Outcome
	}{
		{2, protocol.Human, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonAbandoned}},
		{2, protocol.Bot, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonAbandoned}},
		{0, protocol.Human, game.Outcome{Reason: protocol.ReasonNoStart}},
	} {
		synctest.Test(t, func(t *testing.T) {
			tb := open(t, terms(t, "unlimited", false), DefaultPolicy(), c.kind, c.kind)
			for range c.moves {
				tb.code(tb.play(), protocol.Accepted)
			}
			began := time.Now()
			for range 4 {
				tb.run(clock.Longest / 4)
				if tb.Over() {
					break
				}
				tb.store(tb.Halt("the platform pauses", time.Now()))
				m, e, err := Restore(tb.log[len(tb.log)-1], uint64(len(tb.log)), tb.policy, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				tb.Game = m
				tb.store(e)
			}
			tb.run(time.Hour)
			if got := tb.snap.Outcome; got != c.want || time.Since(began) < clock.Longest {
				t.Errorf("%d moves of a %s: %+v after %v, want %+v", c.moves, c.kind, got, time.Since(began), c.want)
			}
		})
	}
}

// Some rule sets have no end. A game that has as many plies as messages can name is void:
// the next move would be refused as malformed, and its player lose on time.
func TestLongestGame(t *testing.T) {
	long := protocol.Terms{Game: "xiangqi", Rules: "xiangqi/simple+limit=none+repetition=none", Clock: spec(t, "60+1"), Rated: true}
	shuffle := []string{"a0a1", "a9a8", "a1a0", "a8a9"}
	for n := range protocol.MaxPlies - 1 {
		long.Moves = append(long.Moves, shuffle[n%len(shuffle)])
	}
	tb := open(t, long, DefaultPolicy())
	tb.code(tb.play(), protocol.Accepted)
	st := tb.State(game.First, time.Now())
	st.V, st.To = protocol.Version, "to.ann.game.g1"
	data, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	if _, refused := protocol.Decode[protocol.State](data, protocol.Limits{MessageBytes: len(data), Nesting: 16}); refused != nil || len(st.Moves) != protocol.MaxPlies {
		t.Errorf("the last state, after %d plies, can't be read: %v", len(st.Moves), refused)
	}
	tb.code(tb.play(), protocol.Over)
	tb.want(game.Undecided, protocol.ReasonVoid)
}

// However much the opponent says, a request that is sent again gets the answer of the first.
func TestRepetitionAmongTheOpponentsRequests(t *testing.T) {
	tb := open(t, terms(t, "60", false), DefaultPolicy())
	offer := func() protocol.Code {
		now := time.Now()
		return tb.done(tb.Act("ann", protocol.ActDraw, protocol.ActRequest{
			Header: protocol.Header{ID: "offer"}, Instance: "a1", Epoch: 1, Step: protocol.StepOffer,
		}, now, now))
	}
	tb.code(offer(), protocol.Accepted)
	for i := range 2 * remembered {
		at := time.Now().Add(time.Duration(i) * chatPause)
		if _, ans := tb.Chat("bob", protocol.ChatRequest{Header: protocol.Header{ID: tb.id()}, Instance: "b1", Epoch: 1, Text: "hurry"}, at); ans.Error != nil {
			t.Fatal(ans.Error)
		}
	}
	tb.code(offer(), protocol.Duplicate)
	if n := len(tb.recent[game.Second]); n != remembered { // a long game's chat must not fill the memory
		t.Errorf("%d requests of the opponent are kept, want the last %d", n, remembered)
	}
}
