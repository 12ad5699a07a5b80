package external

import (
	"bufio"
	"os"
	"slices"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
)

// TestClockKinds: every protocol with clocks has a command for every kind of clock,
// or uses the time manager's limits.
func TestClockKinds(t *testing.T) {
	commands := map[clock.Kind]map[Dialect][]string{
		clock.Unlimited: {
			UCI:     {"go movetime 2000"},
			UCCI:    {"go time 2000 movestogo 1"},
			XBoard:  {"level 1 0:02 0", "time 200", "otim 200", "go"},
			Gomocup: {"INFO timeout_match 0", "INFO time_left 2147483647", "INFO timeout_turn 2000", "BEGIN"},
		},
		clock.SuddenDeath: {
			UCI:     {"go wtime 299000 btime 300000"},
			UCCI:    {"go time 299000 increment 0 opptime 300000 oppincrement 0"},
			XBoard:  {"level 0 5 0", "time 29900", "otim 30000", "go"},
			Gomocup: {"INFO timeout_match 300000", "INFO time_left 299000", "INFO timeout_turn 299000", "BEGIN"},
		},
		clock.Fischer: {
			UCI:     {"go wtime 9000 btime 10000 winc 100 binc 100"},
			UCCI:    {"go time 9000 increment 100 opptime 10000 oppincrement 100"},
			XBoard:  {"level 0 0:10 0", "time 900", "otim 1000", "go"},
			Gomocup: {"INFO timeout_match 10000", "INFO time_increment 100", "INFO time_left 9000", "INFO timeout_turn 9000", "BEGIN"},
		},
		clock.ByoYomi: {
			UCI:     {"go movetime 2000"},
			UCCI:    {"go time 2000 movestogo 1"},
			XBoard:  {"level 1 0:02 0", "time 200", "otim 200", "go"},
			Gomocup: {"INFO timeout_match 0", "INFO time_left 2147483647", "INFO timeout_turn 2000", "BEGIN"},
		},
		clock.PerMove: {
			UCI:     {"go movetime 4000"},
			UCCI:    {"go time 4000 movestogo 1"},
			XBoard:  {"level 1 0:04 0", "time 400", "otim 400", "go"},
			Gomocup: {"INFO timeout_match 0", "INFO time_left 2147483647", "INFO timeout_turn 4000", "BEGIN"},
		},
	}
	for d, p := range protocols {
		if p.untimed {
			continue
		}
		q := newQuery(newGame(t, "xiangqi/wxf"))
		if d == Gomocup {
			q = newQuery(newGame(t, "gomoku/freestyle-15"))
		}
		for _, k := range clock.Kinds() {
			spec, err := clock.Parse(k.Example())
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			r := &running{engine: &Engine{times: defaultTimes}, limits: search.Limits{
				// What is left of the time manager's limit when a second has passed.
				Soft: 3 * time.Second, Hard: 8 * time.Second, From: now.Add(-time.Second),
				Clock: &search.Clock{Spec: spec, Mine: spec.Start(), Theirs: spec.Start(), At: now.Add(-time.Second)},
			}}
			if got := sent(t, d, q, r.searchLimits(now)); !slices.Equal(got, commands[k][d]) {
				t.Errorf("%s, clock %s: sent %q, want %q", d, spec, got, commands[k][d])
			}
		}
	}
}

// TestOdds: programs of UCI and UCCI are told the opponent's increment too, where it is
// another one.
func TestOdds(t *testing.T) {
	second := newGame(t, "xiangqi/wxf")
	if err := second.Play(second.Legal(nil)[0]); err != nil {
		t.Fatal(err)
	}
	mine, theirs := clock.Spec{Kind: clock.Fischer, Initial: 10 * time.Second, Increment: time.Second}, clock.Spec{Kind: clock.Fischer, Initial: time.Minute, Increment: 2 * time.Second}
	for _, c := range []struct {
		dialect Dialect
		p       game.Position
		want    string
	}{
		{UCI, newGame(t, "xiangqi/wxf"), "go wtime 10000 btime 60000 winc 1000 binc 2000"},
		{UCI, second, "go wtime 60000 btime 10000 winc 2000 binc 1000"},
		{UCCI, second, "go time 10000 increment 1000 opptime 60000 oppincrement 2000"},
	} {
		now := time.Now()
		r := &running{engine: &Engine{times: defaultTimes}, limits: search.Limits{
			Clock: &search.Clock{Spec: mine, TheirSpec: theirs, Mine: mine.Start(), Theirs: theirs.Start(), At: now},
		}}
		if got := sent(t, c.dialect, newQuery(c.p), r.searchLimits(now)); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: sent %q, want %q", c.dialect, got, c.want)
		}
	}
}

// TestLongestMove: Gomocup tells a limit for a move besides that for the game; other
// programs get the time manager's limits, which keep it.
func TestLongestMove(t *testing.T) {
	spec, err := clock.Parse("180")
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range map[Dialect][]string{
		UCI:     {"go movetime 2000"},
		Gomocup: {"INFO timeout_match 180000", "INFO time_left 179000", "INFO timeout_turn 29000", "BEGIN"},
	} {
		now := time.Now()
		r := &running{engine: &Engine{times: defaultTimes, spec: Spec{Dialect: d}}, limits: search.Limits{
			Soft: 3 * time.Second, Hard: 8 * time.Second, From: now.Add(-time.Second),
			Clock: &search.Clock{Spec: spec, Mine: spec.Start(), Theirs: spec.Start(), At: now.Add(-time.Second), MoveLimit: 30 * time.Second},
		}}
		if got := sent(t, d, newQuery(newGame(t, "gomoku/freestyle-15")), r.searchLimits(now)); !slices.Equal(got, want) {
			t.Errorf("%s: sent %q, want %q", d, got, want)
		}
	}
}

// TestOneLimit: a program of UCCI reads one limit of a search. That of its spec comes
// before a time for the move, after which it is stopped.
func TestOneLimit(t *testing.T) {
	now := time.Now()
	for want, l := range map[string]search.Limits{
		"go depth 8":               {Depth: 8, Hard: time.Second},
		"go nodes 5000":            {Nodes: 5000, Soft: time.Second},
		"go time 1000 movestogo 1": {Hard: time.Second},
	} {
		r := &running{engine: &Engine{times: defaultTimes}, limits: l}
		r.limits.From = now
		got := sent(t, UCCI, newQuery(newGame(t, "xiangqi/wxf")), r.searchLimits(now))
		if !slices.Equal(got, []string{want}) || r.due.After(now.Add(2*time.Second+slack)) {
			t.Errorf("%+v: sent %q, want %q; due after %v", l, got, want, r.due.Sub(now))
		}
	}
}

// sent is the lines sent to a program to search a position.
func sent(t *testing.T, d Dialect, q *query, a searchLimits) (lines []string) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p := &program{process: &process{in: in}, times: defaultTimes, dialect: protocols[d].newDialect(Spec{Dialect: d}, q.pos.Rules().Game)}
	switch s := p.dialect.(type) {
	case *ucciDialect:
		s.unit = time.Millisecond
	case *gomocupDialect:
		s.size = startSize
	}
	if err := p.startSearch(p, q, a); err != nil {
		t.Fatal(err)
	}
	in.Close()
	for s := bufio.NewScanner(out); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}
