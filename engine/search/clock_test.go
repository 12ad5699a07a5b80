package search_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/engine/timing"
	"sparring/game"
)

// The tests of this file let each move that a search makes take moveTime of the fake
// clock of a synctest bubble, so that the time of a search follows from its nodes.
const moveTime = 100 * time.Microsecond

// ticking is a position whose moves take time.
type ticking struct{ search.Position }

func (p ticking) Do(m game.Move) {
	time.Sleep(moveTime)
	p.Position.Do(m)
}

func (p ticking) Clone() search.Position { return ticking{p.Position.Clone()} }

// onClock searches a position whose moves take time.
func onClock(t *testing.T, p search.Position, params search.Params, limits search.Limits) (r search.Result) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { r = newGame(params).Start(ticking{p}, limits, nil).Wait() })
	return r
}

// A single answer is played at once, without asking the prover; where there are
// several the soft limit is used.
func TestSingleAnswerOnTheClock(t *testing.T) {
	const soft = time.Second
	for _, moves := range []int{1, 2} {
		g, params := deep()
		params.ProveRoot = 1000
		var all []game.Move
		for _, m := range g.Moves(nil, &search.Cursor{})[:moves] {
			all = append(all, m.Move)
		}
		var questions []question
		var r search.Result
		synctest.Test(t, func(*testing.T) {
			p := &askedTicking{asked{Graph: g, questions: &questions}}
			r = newGame(params).Start(p, search.Limits{Soft: soft, Hard: time.Minute, Moves: all}, nil).Wait()
		})
		if single := moves == 1; single != (r.Time < soft/2) || single != (len(questions) == 0) {
			t.Errorf("%d moves: took %v of %v to depth %d, and asked the prover %d times", moves, r.Time, soft, r.Depth, len(questions))
		}
	}
}

// askedTicking is asked with moves that take time.
type askedTicking struct{ asked }

func (p *askedTicking) Do(m game.Move) {
	time.Sleep(moveTime)
	p.asked.Do(m)
}

func (p *askedTicking) Clone() search.Position { return &askedTicking{*p.asked.Clone().(*asked)} }

// A win or loss that the search has proven ends it.
func TestProvenResultOnTheClock(t *testing.T) {
	const soft = time.Second
	wins, losses := 0, 0
	for seed := range uint64(160) {
		g := searchtest.NewGraph(seed)
		g.Terminal = 30 // percent of the vertices end the game
		params := with(g.Params(), exact...)
		plies, proven := search.MateIn(find(g, params, search.Limits{Depth: 6}).Score)
		if !proven {
			continue
		}
		if plies > 0 {
			wins++
		} else {
			losses++
		}
		if r := onClock(t, g, params, search.Limits{Soft: soft, Hard: 2 * soft}); r.Time >= soft {
			t.Errorf("seed %d: %d plies to the end, and the search took %v", seed, plies, r.Time)
		}
	}
	if wins < 3 || losses < 1 {
		t.Errorf("%d wins and %d losses", wins, losses)
	}
}

// The time of a search is the soft limit times what the time manager makes of its
// progress, up to the hard limit.
func TestTimeByProgress(t *testing.T) {
	const soft = time.Second
	g, params := deep()
	var times []time.Duration
	for _, tt := range []struct {
		name string
		p    search.Progress // as if the search went like this
	}{
		{"calm", search.Progress{StableIterations: 8, Effort: 0.95}},
		{"usual", search.Progress{StableIterations: 3, Effort: 0.5}},
		{"a new best move", search.Progress{Effort: 0.5}},
		{"a falling score", search.Progress{StableIterations: 3, Effort: 0.5, WinProbDrop: 0.2}},
		{"both", search.Progress{Effort: 0.1, WinProbDrop: 0.5}},
	} {
		scale := timing.SoftScale(tt.p)
		r := onClock(t, g, params, search.Limits{Soft: soft, Hard: 5 * soft,
			SoftScale: func(search.Progress) float64 { return scale }})
		want := time.Duration(scale * float64(soft))
		if r.Time < want || r.Time >= 5*soft {
			t.Errorf("%s: took %v, want %v, and up to a root move more", tt.name, r.Time, want)
		}
		t.Logf("%s: factor %.2f, %v", tt.name, scale, r.Time)
		times = append(times, r.Time)
	}
	if !slices.IsSorted(times) || times[0] == times[1] || times[1] == times[2] {
		t.Errorf("times %v", times)
	}
}

// What the time manager is told of a search is true: of a search of which the best move
// changed, that it did.
func TestProgressIsOfTheSearch(t *testing.T) {
	changed, stayed := 0, 0
	for seed := range uint64(6) {
		g := searchtest.NewGraph(seed)
		g.Terminal, g.Dead, g.Vertices = 0, 0, 1_000_000
		best, stable, depth := game.NoMove, -1, 0 // stable is unknown until the best move changes
		var told []search.Progress
		synctest.Test(t, func(*testing.T) {
			s := newGame(with(g.Params(), exact...)).Start(ticking{g}, search.Limits{Soft: time.Second, Hard: time.Minute,
				SoftScale: func(p search.Progress) float64 {
					told = append(told, p)
					if p.Depth == depth && stable >= 0 && p.StableIterations != stable {
						t.Errorf("seed %d, depth %d: %d stable iterations, want %d", seed, depth, p.StableIterations, stable)
					}
					return 1
				}}, func(i search.Info) {
				if i.Depth <= depth || i.Bound != search.Exact {
					return
				}
				depth = i.Depth
				switch {
				case best == game.NoMove:
				case i.PV[0] != best:
					stable = 0
					changed++
				case stable >= 0:
					stable++
					stayed++
				}
				best = i.PV[0]
			})
			s.Wait()
		})
		for _, p := range told {
			if p.Effort < 0 || p.Effort > 1 {
				t.Errorf("seed %d: effort %g", seed, p.Effort)
			}
		}
	}
	if changed < 5 || stayed < 5 {
		t.Errorf("the best move changed %d times, and stayed %d times", changed, stayed)
	}
}

// A hit after which nothing is left of the soft limit ends the search, in whatever
// iteration it is; a hit within it lets the search go on to the soft limit. Pauses do
// not count, however many threads search.
func TestHitBeyondTheSoftLimit(t *testing.T) {
	const soft = time.Second
	for _, c := range []struct {
		what                   string
		before, paused, at, to time.Duration // pondered, of this paused; the answer comes from at to to after the hit
		still                  bool          // paused until after the hit
		threads                int
	}{
		{"beyond it", 5 * soft, 0, 0, soft / 100, false, 1},
		{"within it", soft / 2, 0, soft * 4 / 10, soft, false, 1},
		{"after a pause", 5 * soft, 9 * soft / 2, soft * 4 / 10, soft, false, 1},
		{"after a pause of two threads", 5 * soft, 9 * soft / 2, soft * 4 / 10, soft, false, 2},
		{"in a pause", 5 * soft, 9 * soft / 2, soft * 4 / 10, soft, true, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			// A game whose root moves take long, so that the soft limit is seldom looked at.
			g, params := deep()
			s := newGame(params).Start(ticking{g}, search.Limits{Wait: true, Threads: c.threads}, nil)
			time.Sleep(c.before - c.paused)
			if c.paused > 0 {
				s.Pause()
				time.Sleep(c.paused)
				if !c.still {
					s.Resume()
				}
			}
			hit := time.Now()
			s.PonderHit(search.Limits{Soft: soft, Hard: time.Minute})
			if c.still {
				s.Resume()
			}
			r := s.Wait()
			if took := time.Since(hit); took < c.at || took > c.to {
				t.Errorf("%s: the answer came %v after the hit, want %v to %v", c.what, took, c.at, c.to)
			}
			if r.Depth < 1 || r.Move == game.NoMove {
				t.Errorf("%s: move %d of depth %d", c.what, r.Move, r.Depth)
			}
		})
	}
}

// insatiable is a position whose prover takes all the time that it gets, and whose moves
// take time.
type insatiable struct{ *searchtest.Graph }

func (p insatiable) Prove(_ int, stop func() bool) (search.Proof, int, bool) {
	for !stop() {
		time.Sleep(moveTime)
	}
	return search.Proof{}, 0, false
}

func (p insatiable) Do(m game.Move) {
	time.Sleep(moveTime)
	p.Graph.Do(m)
}

func (p insatiable) Clone() search.Position { return insatiable{p.Graph.Clone().(*searchtest.Graph)} }

// A prover that is at work when the expected move is played leaves the search its part of
// the time that is left then.
func TestHitWhileProving(t *testing.T) {
	for _, limits := range []search.Limits{{Soft: time.Second, Hard: 5 * time.Second}, {Hard: time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			g, params := deep()
			params.ProveRoot = 1000
			s := newGame(params).Start(insatiable{g}, search.Limits{Wait: true}, nil)
			time.Sleep(time.Second / 10)
			s.PonderHit(limits)
			if r := s.Wait(); r.Depth < 1 || r.Nodes == 0 {
				t.Errorf("%+v: a result of depth %d, by %d nodes in %v", limits, r.Depth, r.Nodes, r.Time)
			}
		})
	}
}
