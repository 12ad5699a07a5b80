package match

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
)

// TestHowGamesEnd plays a script against a steady player, in both seats, to every
// possible end of a game. By default the script is at fault or has lost.
func TestHowGamesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		a, b   script
		limit  string
		change func(*Terms)
		winner func(game.Position) (game.Seat, bool)
		fault  engine.FaultKind
		reason game.Reason
		draw   bool
		won    bool
		over   int // overshoots of the script, in both games
	}{
		"no legal move":       {a: steady, b: steady, reason: game.NoMoves, won: true},
		"resigns":             {a: from(4, resigning), b: steady, reason: protocol.ReasonResign},
		"illegal move":        {a: from(4, illegal), b: steady, fault: engine.FaultIllegal},
		"no move":             {a: from(4, failing(nil)), b: steady, fault: engine.FaultIllegal},
		"crash":               {a: from(4, failing(&engine.Fault{Kind: engine.FaultCrash, Text: "exit 1"})), b: steady, fault: engine.FaultCrash},
		"wrapped fault":       {a: failing(errors.Join(errBroken, &engine.Fault{Kind: engine.FaultFlood})), b: steady, fault: engine.FaultFlood},
		"flag falls":          {a: taking(time.Second), b: steady, limit: "5+0.1", fault: engine.FaultTime, over: 2},
		"move takes too long": {a: from(4, taking(151*time.Millisecond)), b: steady, limit: "movetime=100ms", fault: engine.FaultTime, over: 2},
		"longest move passed": {a: from(4, taking(2151*time.Millisecond)), b: steady, limit: "60", fault: engine.FaultTime, over: 2,
			change: func(t *Terms) { t.MoveMS = 2000 }},
		"longest move kept": {a: from(4, taking(2*time.Second)), b: steady, limit: "60", reason: game.NoMoves, won: true,
			change: func(t *Terms) { t.MoveMS = 2000 }},
		"never answers":    {a: from(4, taking(time.Hour)), b: steady, limit: "60/3x10", fault: engine.FaultTime, over: 2},
		"hangs unclocked":  {a: from(4, taking(time.Hour)), b: steady, limit: "nodes=10", fault: engine.FaultHang},
		"only one offers":  {a: offering, b: steady, reason: game.NoMoves, won: true},
		"draw agreed":      {a: offering, b: offering, reason: protocol.ReasonAgreement, draw: true},
		"resign rule":      {a: saying(0.01), b: saying(0.99), reason: ReasonResignRule, change: func(t *Terms) { t.Resign = &Resign{0.02, 3} }},
		"one sees no loss": {a: saying(0.01), b: saying(0.9), reason: game.NoMoves, won: true, change: func(t *Terms) { t.Resign = &Resign{0.02, 3} }},
		"without a depth":  {a: depthless(0.01), b: depthless(0.99), reason: ReasonResignRule, change: func(t *Terms) { t.Resign = &Resign{0.02, 3} }},
		"draw rule":        {a: saying(0.49), b: saying(0.51), reason: ReasonDrawRule, draw: true, change: func(t *Terms) { t.Draw = &Draw{0.02, 3, 4} }},
		"one sees no draw": {a: saying(0.49), b: saying(0.6), reason: game.NoMoves, won: true, change: func(t *Terms) { t.Draw = &Draw{0.02, 3, 4} }},
		"one says nothing": {a: silent, b: saying(0.5), reason: game.NoMoves, won: true, change: func(t *Terms) { t.Draw = &Draw{0.02, 3, 4} }},
		"table":            {a: steady, b: steady, reason: ReasonTablebase, won: true, winner: func(p game.Position) (game.Seat, bool) { return game.Second, p.Ply() == 5 }},
		"most plies":       {a: steady, b: steady, reason: ReasonMaxPlies, draw: true, change: func(t *Terms) { t.MaxPlies = 7 }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if c.limit == "" {
					c.limit = "unlimited"
				}
				p := planOf(t, c.limit, map[string]script{"a": c.a, "b": c.b}, "a", "b")
				if c.change != nil {
					c.change(&p.Terms)
				}
				p.Backend.(*Local).Winner = c.winner
				s, games := run(t, p)
				if len(games) != 2 {
					t.Fatalf("%d games", len(games))
				}
				if c.fault != "" {
					c.reason = game.Reason(c.fault)
				}
				for i, g := range games {
					seat := game.Seat(i) // of the script
					want := game.WonBy(seat.Other())
					switch {
					case c.draw:
						want = game.Draw
					case c.won:
						want = game.SecondWins // as steady play on this board ends
					}
					if g.Result != want || g.Reason != c.reason {
						t.Errorf("script in seat %s: %s by %s, want %s by %s", seat, g.Result, g.Reason, want, c.reason)
					}
					if f := g.Match.Fault; (f != nil) != (c.fault != "") || f != nil && (f.Seat != seat || f.Kind != c.fault) {
						t.Errorf("script in seat %s: fault %+v, want %q", seat, f, c.fault)
					} else if (c.fault == engine.FaultTime || c.fault == engine.FaultHang) && (strings.HasPrefix(f.Text, ";") || !strings.HasSuffix(f.Text, "; "+oddLine)) {
						t.Errorf("script in seat %s: %q does not say what went wrong before", seat, f.Text)
					} else if f != nil && !strings.HasPrefix(g.Text, fmt.Sprintf("the %s seat's engine %s: ", seat, c.fault.Words())) {
						t.Errorf("script in seat %s: fault %q is told as %q", seat, c.fault, g.Text)
					}
					if adjudicated := strings.HasPrefix(g.Text, "adjudicated"); adjudicated != slices.Contains([]game.Reason{ReasonResignRule, ReasonDrawRule, ReasonMaxPlies, ReasonTablebase}, c.reason) {
						t.Errorf("an end by %s is told as %q", c.reason, g.Text)
					}
				}
				a, b := &s.Players[0], &s.Players[1]
				if c.fault != "" && a.Faults[c.fault] != 2 || b.FaultCount() != 0 || a.Overshoots != c.over || b.Overshoots != 0 {
					t.Errorf("counted: %v faults, %d overshoots; the other %v, %d", a.Faults, a.Overshoots, b.Faults, b.Overshoots)
				}
				if err := games[0].Validate(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestOvershootsAreCounted: a move that slightly exceeds its time is only counted.
func TestOvershootsAreCounted(t *testing.T) {
	for takes, counted := range map[time.Duration]bool{
		100 * time.Millisecond: false, 120 * time.Millisecond: false, 121 * time.Millisecond: true, 149 * time.Millisecond: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := planOf(t, "movetime=100ms", map[string]script{"slow": taking(takes), "b": steady}, "slow", "b")
			s, _ := run(t, p)
			slow := &s.Players[0]
			if slow.FaultCount() > 0 || (slow.Overshoots == slow.Moves) != counted || (slow.Overshoots == 0) == counted {
				t.Errorf("%v a move: %d overshoots in %d moves, faults %v", takes, slow.Overshoots, slow.Moves, slow.Faults)
			}
			if got := time.Duration(slow.TimeUS) * time.Microsecond / time.Duration(slow.Moves); got != takes {
				t.Errorf("%v a move were measured as %v", takes, got)
			}
		})
	}
}

// TestClocks: every kind of clock is charged by its rules, and players see it.
func TestClocks(t *testing.T) {
	for limit, after := range map[string]clock.State{ // after a first move of 2 s
		"300":         {Left: 298 * time.Second},
		"60+1":        {Left: 59 * time.Second},
		"1/3x10":      {Left: 0, Periods: 3},
		"5/move":      {},
		"movetime=3s": {},
		"unlimited":   {},
		"nodes=100":   {},
		"depth=3":     {},
	} {
		synctest.Test(t, func(t *testing.T) {
			var seen []search.Limits
			watching := func(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
				if seen = append(seen, l); seed == 0 {
					t.Errorf("%s: no seed", limit)
				}
				r, _ := steady(p, l, seed)
				if p.Ply() > 1 {
					return search.Result{Resign: true}, 0
				}
				return r, 2 * time.Second
			}
			p := planOf(t, limit, map[string]script{"a": watching, "b": steady}, "a", "b")
			_, games := run(t, p)
			if got := games[0].Plies[0]; got.LeftMS != after.Left.Milliseconds() || got.Periods != after.Periods || got.UsedMS != 2000 {
				t.Errorf("%s: after 2 s %d ms and %d periods are left, want %+v", limit, got.LeftMS, got.Periods, after)
			}
			l := p.Terms.Limit
			for _, s := range seen {
				if s.Nodes != l.Nodes || s.Depth != l.Depth || (s.Clock != nil) != (l.Clock.Kind != clock.Unlimited) || (s.Hard > 0) != (s.Clock != nil) {
					t.Errorf("%s: the player was given %+v", limit, s)
				}
				if l.Clock.Kind == clock.PerMove && s.Hard != l.Clock.Period {
					t.Errorf("%s: hard limit %v", limit, s.Hard)
				}
			}
			if l.Clock.Kind == clock.Fischer && seen[1].Clock.Mine.Left != 59*time.Second {
				t.Errorf("%s: at its second move the player sees %v", limit, seen[1].Clock.Mine.Left)
			}
		})
	}
}

// TestOdds: a player with a limit of its own keeps it in either seat, its opponent that of
// the match, each sees the other's clock, and the record names it.
func TestOdds(t *testing.T) {
	for _, c := range []struct {
		limit, odds string
		// theirs is the clock that the player with odds sees at the other seat.
		theirs clock.State
	}{
		{"60+1", "10+0.5", clock.State{Left: 60 * time.Second}},
		{"movetime=4s", "movetime=2s", clock.State{}},
		{"unlimited", "movetime=2s", clock.State{}},
		{"movetime=4s", "10", clock.State{Left: 10 * time.Second}}, // as much as its own
		{"60", "nodes=100", clock.State{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			seen := map[string]search.Limits{} // in its first search
			watch := func(name string, takes time.Duration) script {
				return func(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
					if _, again := seen[name]; !again {
						seen[name] = l
					}
					return taking(takes)(p, l, seed)
				}
			}
			own, err := ParseLimit(c.odds)
			if err != nil {
				t.Fatal(err)
			}
			// The one loses its games on the clock that it alone has, if it has one.
			p := planOf(t, c.limit, map[string]script{"a": watch("a", 2500*time.Millisecond), "b": watch("b", time.Second)}, "b", "a")
			p.Terms.Limits, p.Terms.MaxPlies = map[int]Limit{1: own}, 12
			if err := p.Terms.Validate(); err != nil {
				t.Fatal(err)
			}
			s, games := run(t, p)
			lost := 0
			if own.Clock.Kind != clock.Unlimited {
				lost = 2
			}
			if s.Players[1].Faults[engine.FaultTime] != lost || s.Players[0].FaultCount() != 0 {
				t.Errorf("%s and %s: faults %v of the player with odds, %v of the other", c.limit, c.odds, s.Players[1].Faults, s.Players[0].Faults)
			}
			for _, g := range games {
				with := game.Seat(slices.Index(g.Match.Players[:], 1))
				if g.ClockOf(with) != own.Clock || g.ClockOf(with.Other()) != p.Terms.Limit.Clock || g.Seats[with.Other()].Clock != nil {
					t.Errorf("%s and %s: the record has %v for the player with odds, %v for the other", c.limit, c.odds, g.ClockOf(with), g.ClockOf(with.Other()))
				}
				if got := g.Seats[with].Settings.Nodes; got != own.Nodes {
					t.Errorf("%s and %s: the record has %d nodes", c.limit, c.odds, got)
				}
			}
			for name, l := range map[string]Limit{"a": own, "b": p.Terms.Limit} {
				got := seen[name]
				if (got.Clock != nil) != l.Clock.Traits().Limited || got.Nodes != l.Nodes || got.Clock != nil && got.Clock.Spec != l.Clock {
					t.Errorf("%s and %s: %s was given %+v", c.limit, c.odds, name, got)
				}
			}
			if got := seen["a"].Clock; got != nil && own.Clock.Traits().Saves && got.Theirs != c.theirs {
				t.Errorf("%s and %s: the player with odds sees %v at the other seat, want %v", c.limit, c.odds, got.Theirs, c.theirs)
			}
		})
	}
}

// TestOpeningMovesAreInTheRecord: the record has the opening moves with their seats;
// the first search follows them.
func TestOpeningMovesAreInTheRecord(t *testing.T) {
	p := enginePlan(t, "amazons/6x6", "nodes=50", "nodes=60")
	p.Games = 2
	_, games := run(t, p)
	for _, g := range games {
		for i, ply := range g.Plies {
			book := ply.Think.Source == "book"
			if book != (i < 3) || ply.Seat != game.Seat(i%2) || ply.Key == "" || !book && len(ply.Think.PV) == 0 {
				t.Errorf("%s, ply %d: %+v %+v", g.ID, i+1, ply, ply.Think)
			}
		}
		if g.Seats[0].Player == g.Seats[1].Player || g.Event == "" || g.Start.IsZero() || g.Record.End.IsZero() {
			t.Errorf("%s: record %+v", g.ID, g.Record)
		}
	}
	if games[0].Seats[0].Player != games[1].Seats[1].Player || games[0].Plies[0].Move != games[1].Plies[0].Move {
		t.Error("the second game differs from the first with swapped seats")
	}
}

// TestProofsInTheRecord: an engine says of which kind its proof is, and the record that it is one.
func TestProofsInTheRecord(t *testing.T) {
	proving := func(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
		r, _ := steady(p, l, seed)
		r.Source = "region"
		return r, 0
	}
	_, games := run(t, planOf(t, "nodes=1", map[string]script{"a": proving, "b": proving}, "a", "b"))
	for _, g := range games {
		for i, ply := range g.Plies {
			if ply.Think.Source != record.FromProver {
				t.Fatalf("%s, ply %d: source %q", g.ID, i+1, ply.Think.Source)
			}
		}
	}
}

// TestStarting: a program has time to start, off the clock. If it can't be started
// it loses, and after some games the match ends.
func TestStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		opening := func(ready func() error) func(string) (engine.Searcher, error) {
			return func(spec string) (engine.Searcher, error) {
				if spec == "late" {
					return late{steady, ready, &calls}, nil
				}
				return script(steady), nil
			}
		}
		p := planOf(t, "movetime=100ms", nil, "late", "b")
		p.Backend = &Local{Open: opening(func() error { time.Sleep(time.Minute); return nil })}
		s, games := run(t, p)
		if calls != 2 || s.Players[0].FaultCount() != 0 || s.Players[0].TimeUS != 0 || len(games) != 2 {
			t.Errorf("%d calls, %+v", calls, s.Players[0])
		}
		p = planOf(t, "movetime=100ms", nil, "late", "b")
		p.Games = 20
		p.Backend = &Local{Open: opening(func() error { return &engine.Fault{Kind: engine.FaultStart, Text: "no such file"} })}
		s, err := Run(t.Context(), p)
		if !errors.Is(err, ErrStart) || !strings.Contains(err.Error(), "late: no such file") || s.Games != maxFailedStarts || s.Players[0].Faults[engine.FaultStart] != maxFailedStarts {
			t.Errorf("%v after %d games, faults %v", err, s.Games, s.Players[0].Faults)
		}
		p.Backend = &Local{Open: opening(func() error { return errBroken })}
		if s, err := Run(t.Context(), p); !errors.Is(err, errBroken) || s.Games != 0 {
			t.Errorf("%v after %d games", err, s.Games)
		}
		p.Backend = &Local{Open: func(spec string) (engine.Searcher, error) { return nil, fmt.Errorf("player %q: %w", spec, errBroken) }}
		if _, err := Run(t.Context(), p); !errors.Is(err, errBroken) || strings.Count(err.Error(), "player") != 1 {
			t.Errorf("%v does not name the player once", err)
		}
	})
}

// TestErrorsEndTheMatch: an error that is not a player's fault ends the match. It
// names the game and the ply.
func TestErrorsEndTheMatch(t *testing.T) {
	p := planOf(t, "nodes=1", map[string]script{"a": steady, "b": from(3, failing(errBroken))}, "a", "b")
	if _, err := Run(t.Context(), p); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "ply 4, player b") {
		t.Errorf("%v", err)
	}
	p = planOf(t, "nodes=1", map[string]script{"a": steady}, "a", "b")
	if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), `no script "b"`) {
		t.Errorf("%v", err)
	}
}

// TestWeakenedLevel: a level was measured by its own limits, so under a tighter one of the
// match its record has no strength.
func TestWeakenedLevel(t *testing.T) {
	elo := 500.0
	for limit, measured := range map[Limit]bool{{}: true, {Nodes: 5000}: true, {Nodes: 100}: false, {Depth: 2}: false} {
		var g Game
		g.describe(game.First, engine.Description{Level: 6, Nodes: 3500, Elo: &elo}, limit)
		if got := g.Seats[game.First].Settings; (got.Elo != nil) != measured || got.Level != 6 {
			t.Errorf("%s: %+v", limit, got)
		}
	}
}
