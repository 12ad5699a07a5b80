package fleetbench

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/chart"
	"sparring/protocol"
)

func plan(t *testing.T) Plan {
	t.Helper()
	spec, err := clock.Parse("60+0.6")
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Games: []int{10, 100}, Window: time.Second, Limit: time.Minute, Rules: []string{"gomoku/renju-15"}, Clock: spec, Starts: 10, MaxP99: time.Second}
}

func TestValidate(t *testing.T) {
	if p := plan(t); p.Validate() != nil {
		t.Fatal(p.Validate())
	}
	for want, change := range map[string]func(*Plan){
		"ascending": func(p *Plan) { p.Games = []int{10, 10} },
		"games: m":  func(p *Plan) { p.Games = nil },
		"window":    func(p *Plan) { p.Window = 0 },
		"limit":     func(p *Plan) { p.Limit = 0 },
		"pace":      func(p *Plan) { p.Pace = -1 },
		"players":   func(p *Plan) { p.Players = 3 },
		"too few":   func(p *Plan) { p.Games, p.Players = []int{1000}, 6 },
		"starts":    func(p *Plan) { p.Starts = 0 },
		"bots":      func(p *Plan) { p.Bots = []int{1, 0} },
		"p99":       func(p *Plan) { p.MaxP99 = 0 },
		"clock":     func(p *Plan) { p.Clock = clock.Spec{} },
		"chess":     func(p *Plan) { p.Rules = []string{"chess"} },
	} {
		p := plan(t)
		change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// Ten games have two players, and however many games, the players are even in number
// and few enough for one process.
func TestPlayers(t *testing.T) {
	p := plan(t)
	for games, want := range map[int]int{1: 4, 10: 4, 100: 10, 1000: 100, 10_000: MaxPlayers} {
		if n := p.players(games); n != want {
			t.Errorf("%d games have %d players, want %d", games, n, want)
		}
	}
	p.Players = 6
	if n := p.players(1000); n != 6 {
		t.Errorf("%d players, want those of the plan, 6", n)
	}
}

// One bot process has room for all seats. Several share what all games need and a tenth
// more, by their capacities.
func TestSeats(t *testing.T) {
	p := plan(t)
	for _, c := range []struct{ bots, want []int }{
		{nil, []int{200}}, {[]int{5}, []int{200}}, {[]int{1, 1}, []int{110, 110}}, {[]int{1, 3}, []int{55, 165}}, {[]int{1, 1, 1}, []int{74, 74, 74}},
	} {
		if p.Bots = c.bots; !slices.Equal(p.seats(100), c.want) {
			t.Errorf("%v have %v seats, want %v", c.bots, p.seats(100), c.want)
		}
	}
}

// The figures of several processes are their sums, and the longest times.
func TestAdd(t *testing.T) {
	all := Stats{}
	all.Add(Stats{CPU: 1, Resident: 2, Live: 3, Overhead: Overhead{4, 9}, Seats: []Seats{{1, 2}}})
	all.Add(Stats{CPU: 10, Resident: 20, Live: 30, Overhead: Overhead{5, 8}, Offered: 3, Seats: []Seats{{3, 4}}})
	if want := (Stats{CPU: 11, Resident: 22, Live: 33, Overhead: Overhead{5, 9}, Offered: 3, Seats: []Seats{{1, 2}, {3, 4}}}); !reflect.DeepEqual(all, want) {
		t.Errorf("%+v, want %+v", all, want)
	}
}

func TestLatency(t *testing.T) {
	var all []time.Duration
	for i := 200; i > 0; i-- {
		all = append(all, time.Duration(i)*time.Millisecond)
	}
	if l := latencyOf(all); l != (Latency{200, 100, 198}) {
		t.Errorf("%+v, want 100 and 198 of 200", l)
	}
	if l := latencyOf(nil); l != (Latency{}) {
		t.Errorf("%+v of nothing", l)
	}
}

// The figures of a step come from the differences between those of the processes.
func TestFill(t *testing.T) {
	at := time.Now()
	stats := func(after time.Duration, cpu time.Duration, live int64, moves int64) allStats {
		s := allStats{at: at.Add(after), part: map[Part]Stats{}}
		for i, part := range Parts {
			s.part[part] = Stats{CPU: cpu * time.Duration(i+1), Live: live * int64(i+1), Moves: moves, Games: 101, Resident: 5e6}
		}
		return s
	}
	step := Step{Relay: Latency{Samples: 500}}
	step.fill(stats(0, 0, 1e6, 0), stats(time.Second, time.Second, 0, 100), stats(3*time.Second, 2*time.Second, 0, 1100), stats(4*time.Second, 0, 3e6, 0))
	want := Step{
		Running: 100, Seconds: 2, Moves: 1000, MovesPerSecond: 500, Cores: 3, Relay: step.Relay,
		CPU: ByProcess{NATS: 1, Arena: 2, Bot: 6}, LiveKB: ByProcess{NATS: 20, Arena: 40, Bot: 60}, ResidentMB: ByProcess{NATS: 5, Arena: 5, Bot: 5},
	}
	if step.CPU != want.CPU || step.LiveKB != want.LiveKB || step.ResidentMB != want.ResidentMB || step.Cores != want.Cores ||
		step.Running != want.Running || step.Moves != want.Moves || math.Abs(step.MovesPerSecond-want.MovesPerSecond) > 1e-9 {
		t.Errorf("%+v, want %+v", step, want)
	}
}

func TestStop(t *testing.T) {
	fine := Step{Relay: Latency{Samples: 1, P99: 10}}
	if why := fine.stop(50 * time.Millisecond); why != "" {
		t.Errorf("stops: %s", why)
	}
	for want, change := range map[string]func(*Step){
		"time":    func(s *Step) { s.count(tally{}, tally{faults: map[game.Reason]int{protocol.ReasonTime: 2}}) },
		"dispute": func(s *Step) { s.count(tally{}, tally{faults: map[game.Reason]int{protocol.ReasonDispute: 1}}) },
		"p99":     func(s *Step) { s.Relay.P99 = 50.1 },
		"no move": func(s *Step) { s.Relay.Samples = 0 },
	} {
		s := fine
		change(&s)
		if why := s.stop(50 * time.Millisecond); !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
}

// The table has a cell for each heading, and the drawing a curve over any number of
// steps.
func TestReport(t *testing.T) {
	r := &Result{Alone: Latency{Samples: 1, P50: 1}}
	if r.Draw(&bytes.Buffer{}, chart.SVG) == nil {
		t.Error("nothing is drawn without an error")
	}
	for _, games := range []int{1, 10, 300} {
		r.Steps = append(r.Steps, Step{Games: games, Running: games, Relay: Latency{Samples: 1, P50: 1, P99: 2}})
		var out bytes.Buffer
		if err := r.Draw(&out, chart.SVG); err != nil || !strings.Contains(out.String(), "games at once") {
			t.Errorf("%d steps: %v", len(r.Steps), err)
		}
	}
	rows := r.Rows()
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if len(row) != len(Heading) {
			t.Errorf("%d cells under %d headings: %q", len(row), len(Heading), row)
		}
	}
}

// The timed game's moves are legal, from the start to the end.
func TestRandomMoves(t *testing.T) {
	moves, err := randomMoves()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := catalog.Rules(relayRules)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := game.Replay(rules, "", moves); err != nil || len(moves) != relayPlies {
		t.Errorf("%d moves: %v", len(moves), err)
	}
}
