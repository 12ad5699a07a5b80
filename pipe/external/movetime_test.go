package external

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
)

var (
	moveTimeEngine = flag.String("movetime.engine", "", "sparring, whose moves of a fixed time TestMoveTimes measures")
	moveTimeMoves  = flag.Int("movetime.moves", 1000, "moves of each protocol in TestMoveTimes")
	moveTimeOf     = flag.Duration("movetime.of", 100*time.Millisecond, "the fixed time in TestMoveTimes")
	moveTimeOnly   = flag.String("movetime.only", "", "only these, as in uci,in-process")
)

// timedSearch searches for a move of a fixed time. It returns the result and how long it took.
type timedSearch func(p game.Position) (search.Result, time.Duration)

// TestMoveTimes measures how much of a fixed time for a move the program uses: over pipes as a
// client would, in every protocol, and inside of this process, from the search's deadline to
// its end. What both have above the limit is the search's own, and the machine's; the load is
// printed with it.
//
//	go build -o /tmp/sparring ./cmd/sparring
//	go test ./pipe/external -run TestMoveTimes -v -timeout 1h -movetime.engine /tmp/sparring
func TestMoveTimes(t *testing.T) {
	if *moveTimeEngine == "" {
		t.Skip("measures only with -movetime.engine")
	}
	perMove := []string{"engine", "--clock", clock.Spec{Kind: clock.PerMove, Period: *moveTimeOf}.String()}
	for _, c := range []struct {
		dialect Dialect // "" is this process
		game    string
		args    []string
	}{
		{"", "xiangqi", nil}, {"", "gomoku", nil}, {"", "amazons", nil},
		{UCI, "xiangqi", []string{"engine"}}, {UCI, "amazons", []string{"engine"}},
		{UCCI, "xiangqi", []string{"engine"}},
		{Gomocup, "gomoku", []string{"engine"}}, {SAU, "amazons", perMove},
	} {
		name := string(c.dialect)
		if name == "" {
			name = "in-process"
		}
		if *moveTimeOnly != "" && !slices.Contains(strings.Split(*moveTimeOnly, ","), name) {
			continue
		}
		t.Run(name+"/"+c.game, func(t *testing.T) {
			newGame := inProcess
			if c.dialect != "" {
				e := open(t, Spec{Dialect: c.dialect, Path: *moveTimeEngine, Args: c.args}, c.game)
				newGame = func(t *testing.T, gameName string) (timedSearch, func()) { return overPipe(t, e, gameName) }
			}
			measure(t, c.dialect, c.game, newGame)
		})
	}
}

// inProcess opens a game of our engine whose searches are timed from their beginning.
func inProcess(t *testing.T, gameName string) (timedSearch, func()) {
	e, err := engine.New(gameName, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.NewGame(engine.GameOptions{OwnTable: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(p game.Position) (search.Result, time.Duration) {
		began := time.Now()
		run, err := g.Search(p, search.Limits{Hard: *moveTimeOf, From: began}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := run.Wait()
		return r, time.Since(began)
	}, func() { g.Close(); e.Close() }
}

// overPipe opens a game of a program.
func overPipe(t *testing.T, e *Engine, gameName string) (timedSearch, func()) {
	g, err := e.NewGame(engine.GameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Ready(); err != nil {
		t.Fatal(err)
	}
	return func(p game.Position) (search.Result, time.Duration) {
		c := search.Clock{Spec: clock.Spec{Kind: clock.PerMove, Period: *moveTimeOf}}
		run, err := g.Search(p, search.Limits{Clock: &c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := run.Wait()
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		return r, r.Time
	}, func() { g.Close() }
}

// measuredMoves is the length of a measured game: against random replies it is soon decided,
// and a proven end needs no time. In Gomoku that is the case after two moves, and only in some
// protocols the score says so.
var measuredMoves = map[string]int{"xiangqi": 6, "gomoku": 2, "amazons": 6}

// measure plays short games with random replies and prints the times of the moves.
func measure(t *testing.T, d Dialect, gameName string, newGame func(*testing.T, string) (timedSearch, func())) {
	rng := rand.New(rand.NewPCG(1, 2))
	var times []time.Duration
	for len(times) < *moveTimeMoves {
		p, err := catalog.Setup(gameName, d.Rules(gameName), "")
		if err != nil {
			t.Fatal(err)
		}
		think, end := newGame(t, gameName)
		for range measuredMoves[gameName] {
			playRandom(t, rng, p)
			r, took := think(p)
			if _, proven := search.MateIn(r.Score); !proven {
				times = append(times, took)
			}
			if err := p.Play(r.Move); err != nil {
				t.Fatal(err)
			}
			if p.Outcome().Over() {
				break
			}
		}
		end()
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Log(summary(times) + "; load " + strings.TrimSpace(string(load)))
}

// playRandom plays a random move.
func playRandom(t *testing.T, rng *rand.Rand, p game.Position) {
	t.Helper()
	moves := p.Legal(nil)
	if err := p.Play(moves[rng.IntN(len(moves))]); err != nil {
		t.Fatal(err)
	}
}

// summary describes times: percentiles in milliseconds, and how many are out of bounds.
func summary(times []time.Duration) string {
	slices.Sort(times)
	short, long := 0, 0
	for _, d := range times {
		if d < *moveTimeOf*19/20 {
			short++
		}
		if d > *moveTimeOf+20*time.Millisecond {
			long++
		}
	}
	text := fmt.Sprintf("%d moves of %v: ms", len(times), *moveTimeOf)
	for _, q := range []struct {
		name  string
		share float64
	}{{"least", 0}, {"1 %", 0.01}, {"median", 0.5}, {"99 %", 0.99}, {"99.9 %", 0.999}, {"most", 1}} {
		at := min(int(q.share*float64(len(times))), len(times)-1)
		text += fmt.Sprintf(" %s %.1f", q.name, float64(times[at].Microseconds())/1000)
	}
	return fmt.Sprintf("%s; %d below 95 %%, %d more than 20 ms over", text, short, long)
}
