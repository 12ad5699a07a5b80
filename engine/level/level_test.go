package level

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/game/xiangqi"
)

func TestRefusals(t *testing.T) {
	if _, err := New("chess", 1, nil); !errors.Is(err, game.ErrRules) {
		t.Errorf("no such game: %v", err)
	}
	if _, err := NewBeginner("chess"); !errors.Is(err, game.ErrRules) {
		t.Errorf("no beginner for such a game: %v", err)
	}
	for _, n := range []int{0, -1, 11} {
		if _, err := New("gomoku", n, nil); err == nil {
			t.Errorf("level %d is accepted", n)
		}
	}
	over := opened(t, "gomoku", 0, 0)
	for _, text := range []string{"h8", "a1", "h9", "a2", "h10", "a3", "h11", "a4", "h12"} {
		if _, err := game.PlayText(over, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range everyone(t, "gomoku") {
		if _, err := newGame(t, s, 0).Search(over, search.Limits{}, nil); !errors.Is(err, game.ErrOver) {
			t.Errorf("ended game: %v", err)
		}
		if _, err := newGame(t, s, 0).Search(opened(t, "gomoku", 0, 0), search.Limits{Moves: []game.Move{game.Move(500)}}, nil); !errors.Is(err, game.ErrIllegal) {
			t.Errorf("illegal move to search: %v", err)
		}
		if _, err := newGame(t, s, 0).Search(opened(t, "amazons", 0, 0), search.Limits{Nodes: 10}, nil); err == nil {
			t.Error("another game's position is accepted")
		}
		if _, err := s.NewGame(engine.GameOptions{Rules: opened(t, "amazons", 0, 0).Rules()}); !errors.Is(err, game.ErrRules) {
			t.Errorf("a game under another game's rules: %v", err)
		}
	}
}

// tables are endgame tables that have no position, and count the questions.
type tables struct{ asked int }

func (*tables) Men() int                             { return 32 }
func (*tables) Line(*xiangqi.Board, int) []game.Move { return nil }
func (c *tables) Probe(*xiangqi.Board) (int, bool)   { c.asked++; return 0, false }

// TestTables checks that only levels that do not err on purpose have endgame tables.
func TestTables(t *testing.T) {
	p, err := catalog.Setup("xiangqi", "", "4k4/9/9/9/9/9/9/4N4/9/3K5 w")
	if err != nil {
		t.Fatal(err)
	}
	for n := Weakest; n <= Strongest; n++ {
		var c tables
		s, err := New("xiangqi", n, &c)
		if err != nil {
			t.Fatal(err)
		}
		if think(t, s, 0, p, search.Limits{Nodes: 100}); (c.asked > 0) == s.Errs() {
			t.Errorf("level %d, errs: %t, asks its tables %d times", n, s.Errs(), c.asked)
		}
	}
}

// TestOneSearchAtATime checks that the searches of a game run one after another, that
// Close stops them, and that none starts after Close.
func TestOneSearchAtATime(t *testing.T) {
	p := opened(t, "gomoku", 6, 1)
	for n, s := range everyone(t, "gomoku") {
		g := newGame(t, s, 0)
		ponder := func() engine.Running {
			run, err := g.Search(p, search.Limits{Wait: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return run
		}
		first, second, third := ponder(), ponder(), ponder()
		second.Stop()
		select {
		case <-second.Done():
			t.Errorf("level %d: a search ends before the one that was started earlier", n)
		case <-time.After(50 * time.Millisecond):
		}
		first.Stop()
		second.Wait()
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-third.Done():
		case <-time.After(gametest.Patience):
			t.Fatalf("level %d: a search runs after Close", n)
		}
		if r := third.Wait(); !slices.Contains(p.Legal(nil), r.Move) {
			t.Errorf("level %d, stopped by Close, plays %#x", n, uint32(r.Move))
		}
		if _, err := g.Search(p, search.Limits{}, nil); !errors.Is(err, engine.ErrGameClosed) {
			t.Errorf("level %d: a search after Close: %v", n, err)
		}
		if err := g.Close(); err != nil {
			t.Errorf("level %d, closed twice: %v", n, err)
		}
	}
}

// everyone returns the beginner of a game and its levels.
func everyone(t *testing.T, gameName string) []engine.Searcher {
	t.Helper()
	b, err := NewBeginner(gameName)
	if err != nil {
		t.Fatal(err)
	}
	all := []engine.Searcher{b}
	for n := Weakest; n <= Strongest; n++ {
		s, err := New(gameName, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// TestLevelIsWhatItIs checks that a level takes no more nodes than its limit, even
// when pondering, and answers the same request alike whatever was searched before.
func TestLevelIsWhatItIs(t *testing.T) {
	for _, g := range catalog.Games() {
		for n, s := range everyone(t, g.Name) {
			p := opened(t, g.Name, 8, 3)
			l := search.Limits{}
			first := think(t, s, 7, p, l)
			if n > 0 {
				if most := s.(*Searcher).Nodes; first.Nodes > most {
					t.Errorf("%s level %d took %d nodes of %d", g.Name, n, first.Nodes, most)
				}
			}
			if n > 8 {
				continue // the rest takes long, and nothing is random
			}
			think(t, s, 7, opened(t, g.Name, 9, 4), l)

			waiting := l
			waiting.Wait = true
			run, err := newGame(t, s, 7).Search(p, waiting, nil)
			if err != nil {
				t.Fatal(err)
			}
			run.Pause()
			run.Resume()
			select {
			case <-run.Done():
				t.Errorf("%s level %d answers while it ponders", g.Name, n)
			default:
			}
			run.PonderHit(l)
			again := run.Wait()
			if again.Move != first.Move || again.Score != first.Score || again.Nodes != first.Nodes {
				t.Errorf("%s level %d: %s %d after %d nodes, then %s %d after %d", g.Name, n,
					p.Format(first.Move), first.Score, first.Nodes, p.Format(again.Move), again.Score, again.Nodes)
			}
		}
	}
}

// TestNarrowerLimits checks that a level obeys limits that are narrower than its own.
func TestNarrowerLimits(t *testing.T) {
	for _, g := range catalog.Games() {
		p := opened(t, g.Name, 6, 5)
		moves := p.Legal(nil)[3:6]
		for n, s := range everyone(t, g.Name) {
			r := think(t, s, 0, p, search.Limits{Nodes: 50, Moves: moves, MultiPV: 2})
			if !slices.Contains(moves, r.Move) {
				t.Errorf("%s level %d plays %s, which it may not", g.Name, n, p.Format(r.Move))
			}
			if n > 0 && r.Nodes > 50 {
				t.Errorf("%s level %d took %d nodes of 50", g.Name, n, r.Nodes)
			}
			for i, line := range r.Lines {
				if line.Line != i+1 || (line.PV[0] == r.Move) != (i == 0) || i > 1 {
					t.Errorf("%s level %d: line %d is number %d, %s", g.Name, n, i, line.Line, p.Format(line.PV[0]))
				}
			}
			run, err := newGame(t, s, 0).Search(p, search.Limits{Wait: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			run.Stop()
			if r := run.Wait(); !slices.Contains(p.Legal(nil), r.Move) {
				t.Errorf("%s level %d, stopped, plays %#x", g.Name, n, uint32(r.Move))
			}
		}
	}
}

// TestReportsItsChoice checks that a level that chooses reports only its choice.
func TestReportsItsChoice(t *testing.T) {
	p := opened(t, "xiangqi", 10, 2)
	for n := Weakest; n <= 8; n++ {
		s, err := New("xiangqi", n, nil)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(10) {
			var reported []search.Info
			run, err := newGame(t, s, seed).Search(p, search.Limits{}, func(i search.Info) { reported = append(reported, i) })
			if err != nil {
				t.Fatal(err)
			}
			r := run.Wait()
			if s.Errs() && (len(reported) != 1 || reported[0].PV[0] != r.Move || reported[0].Score != r.Score) {
				t.Errorf("level %d plays %s and reports %v", n, p.Format(r.Move), reported)
			}
			if len(r.PV) > 1 && r.Ponder != r.PV[1] || r.WinProb != s.params.WinProb(r.Score) {
				t.Errorf("level %d expects %#x after %v, and has a chance of %g at %d", n, uint32(r.Ponder), r.PV, r.WinProb, r.Score)
			}
		}
	}
}

// TestVaries checks that lower levels vary more.
func TestVaries(t *testing.T) {
	for _, g := range catalog.Games() {
		p := opened(t, g.Name, 8, 6)
		var kinds []int
		for _, n := range []int{Weakest, 5, Strongest} {
			s, err := New(g.Name, n, nil)
			if err != nil {
				t.Fatal(err)
			}
			moves := map[game.Move]bool{}
			for seed := range uint64(12) {
				moves[think(t, s, seed, p, search.Limits{Nodes: 1000}).Move] = true
			}
			kinds = append(kinds, len(moves))
		}
		if kinds[0] < 3 || kinds[2] != 1 { // three moves answer the threat of Gomoku's position
			t.Errorf("%s: levels 1, 5 and 10 play %v different moves in a position", g.Name, kinds)
		}
	}
}

// TestOverlooks checks that lower levels sometimes miss an open three of the opponent,
// as people do, that higher ones do not, and that none leaves a four unanswered.
func TestOverlooks(t *testing.T) {
	const seeds = 40
	for _, c := range []struct {
		what, position, answers string
		overlooked              func(level, times int) bool
	}{
		{"an open three", "15/15/15/15/15/15/15/6ooo6/15/7x7/5x9/8x6/15/15/15 b", "e8 f8 j8 k8",
			func(level, times int) bool { return level < 3 == (times > 0) && times < seeds*3/4 }},
		{"a four", "15/15/15/15/15/15/15/5xoooo5/15/7x7/5x9/8x6/15/15/15 b", "k8",
			func(_, times int) bool { return times == 0 }},
	} {
		p, err := catalog.Setup("gomoku", "", c.position)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{Weakest, 2, 6} {
			s, err := New("gomoku", n, nil)
			if err != nil {
				t.Fatal(err)
			}
			times := 0
			for seed := range uint64(seeds) {
				if m := think(t, s, seed, p, search.Limits{}).Move; !slices.Contains(strings.Fields(c.answers), p.Format(m)) {
					times++
				}
			}
			t.Logf("level %d overlooks %s %d times of %d", n, c.what, times, seeds)
			if !c.overlooked(n, times) {
				t.Errorf("level %d overlooks %s %d times of %d", n, c.what, times, seeds)
			}
		}
	}
}

// TestAtOnce checks that concurrent searches of one level do not affect each other.
func TestAtOnce(t *testing.T) {
	s, err := New("gomoku", 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	var alone, together [6]game.Move
	for i := range alone {
		alone[i] = think(t, s, 1, opened(t, "gomoku", 6+i, 1), search.Limits{}).Move
	}
	var wg sync.WaitGroup
	for i := range together {
		p, g := opened(t, "gomoku", 6+i, 1), newGame(t, s, 1)
		wg.Go(func() {
			if run, err := g.Search(p, search.Limits{}, nil); err == nil {
				together[i] = run.Wait().Move
			}
		})
	}
	wg.Wait()
	if alone != together {
		t.Errorf("alone %v, at once %v", alone, together)
	}
}

// TestSlip checks that slips follow a softmax and stay within Worst.
func TestSlip(t *testing.T) {
	params := &search.Params{WinScale: 100}
	lines := []search.Info{{Score: 100, PV: []game.Move{1}}, {Score: 0, PV: []game.Move{2}}, {Score: -300, PV: []game.Move{3}}}
	tn := &levelSearch{Searcher: &Searcher{Parameters: Parameters{Slip: 1, Worst: 3}}, rng: rand.New(rand.NewPCG(1, 1))}
	const tries = 4000
	count := map[game.Move]int{}
	for range tries {
		order := tn.slip(lines, params)
		count[order[0].PV[0]]++
		if order[2].PV[0] != 3 || len(order) != 3 {
			t.Fatalf("order %v", order)
		}
	}
	want := 1 / (1 + math.Exp(-1)) // one of log-odds apart, at a temperature of one
	if got := float64(count[1]) / tries; math.Abs(got-want) > 0.03 || count[3] > 0 {
		t.Errorf("best in %.3f, want %.3f; the hopeless one %d times", got, want, count[3])
	}
}

// TestNotice checks that moves are noticed in proportion to their weights, forcing ones
// more often, and only those that are allowed.
func TestNotice(t *testing.T) {
	tn := &levelSearch{Searcher: &Searcher{Parameters: Parameters{Notice: 1}}, rng: rand.New(rand.NewPCG(1, 1)),
		seen: []search.ScoredMove{{Move: 1}, {Move: 2}, {Move: 3, Noise: search.GoodNoisy}, {Move: 4}}}
	const tries = 4000
	count := map[game.Move]int{}
	for range tries {
		noticed := tn.notice(nil)
		if len(noticed) != 1 {
			t.Fatalf("noticed %v", noticed)
		}
		count[noticed[0]]++
	}
	weights := map[game.Move]float64{1: 1. / 2, 2: 1. / 3, 3: eager * 1. / 4, 4: 1. / 5}
	for m, w := range weights {
		want := w / (1./2 + 1./3 + eager*1./4 + 1./5)
		if got := float64(count[m]) / tries; math.Abs(got-want) > 0.03 {
			t.Errorf("move %d is noticed in %.3f, want %.3f", m, got, want)
		}
	}
	for range 100 {
		if noticed := tn.notice([]game.Move{2, 4}); len(noticed) != 1 || noticed[0] != 2 && noticed[0] != 4 {
			t.Fatalf("noticed %v of moves 2 and 4", noticed)
		}
	}
}

// TestLogOdds checks that a better score is never worth less, and that a shorter proven
// win is worth more than a longer one, one by repetition less, and any other score less still.
func TestLogOdds(t *testing.T) {
	params := &search.Params{WinScale: 100}
	scores := []search.Score{-search.Win, -search.Win + 10, -search.RepWin, -search.RepWin + 10, -search.RepBound + 1, -200, 0, 200,
		search.RepBound - 1, search.RepWin - 10, search.RepWin, search.Win - 10, search.Win}
	for i := 1; i < len(scores); i++ {
		if low, high := logOdds(scores[i-1], params), logOdds(scores[i], params); low >= high {
			t.Errorf("%d is worth %g, and %d %g", scores[i-1], low, scores[i], high)
		}
	}
}

// TestKeepsItsWin checks that a careful level that has found a win plays it, and that it
// errs before.
func TestKeepsItsWin(t *testing.T) {
	p := opened(t, "gomoku", 2, 1)
	moves := p.Legal(nil)[:2]
	s := &Searcher{Parameters: Parameters{Compare: 2, Slip: 10, Careful: true}, params: search.Params{WinScale: 100}}
	for _, best := range []search.Score{search.Win - 9, 300} {
		played := map[game.Move]bool{}
		for seed := range uint64(50) {
			tn := &levelSearch{Searcher: s, position: p, wanted: 1, rng: rand.New(rand.NewPCG(seed, 1))}
			r := search.Result{Move: moves[0], Score: best, PV: moves[:1], Lines: []search.Info{{Score: best, PV: moves[:1]}, {Score: best - 100, PV: moves[1:]}}}
			played[tn.choose(r).Move] = true
		}
		if errs := best < search.WinBound; !played[moves[0]] || played[moves[1]] != errs {
			t.Errorf("with a score of %d it plays %v of %v", best, played, moves)
		}
	}
}

// TestBeginnerVaries checks that the beginner chooses among the moves that it likes alike.
func TestBeginnerVaries(t *testing.T) {
	for _, g := range catalog.Games() {
		b, err := NewBeginner(g.Name)
		if err != nil {
			t.Fatal(err)
		}
		moves := map[game.Move]bool{}
		p := opened(t, g.Name, 2, 1)
		for seed := range uint64(20) {
			moves[think(t, b, seed, p, search.Limits{}).Move] = true
		}
		if len(moves) < 2 {
			t.Errorf("%s: it plays the same move in 20 games", g.Name)
		}
	}
}

// TestBeginnerBeatsLevelOne checks that the beginner does not lose to the lowest
// level.
func TestBeginnerBeatsLevelOne(t *testing.T) {
	for _, g := range catalog.Games() {
		t.Run(g.Name, func(t *testing.T) {
			beginner, err := NewBeginner(g.Name)
			if err != nil {
				t.Fatal(err)
			}
			lowest, err := New(g.Name, Weakest, nil)
			if err != nil {
				t.Fatal(err)
			}
			points, games := duel(t, g.Name, beginner, lowest, 20, 1)
			t.Logf("%g of %d", points, games)
			if points < float64(games)/2 {
				t.Errorf("the beginner made only %g of %d points", points, games)
			}
		})
	}
}

// TestBeginner checks the choices of the script.
func TestBeginner(t *testing.T) {
	for _, c := range []struct{ name, game, position, want, not string }{
		{"mates", "xiangqi", "3k5/R8/9/9/p8/9/9/9/9/1R3K3 w", "b0b9", ""},
		{"takes the best it can win", "xiangqi", "3k5/9/9/1r2n4/9/9/9/1R2R4/9/5K3 w", "b2b6", ""},
		{"gives no rook for a pawn", "xiangqi", "3k5/9/9/4p3r/9/4R4/9/9/9/5K3 w", "", "e4e6"},
		{"makes five", "gomoku", "15/15/15/15/15/15/15/3oooo8/15/3xxxx8/15/15/15/15/15 b", "c6 h6", ""},
		{"stops a four", "gomoku", "15/15/15/15/15/15/15/3xxxo8/15/3oooox7/15/15/15/15/15 b", "c6", ""},
		{"extends its row", "gomoku", "15/15/15/15/15/15/15/6xxx6/2o9o2/5o9/15/15/15/15/15 b", "f8 j8", ""},
		{"takes room", "amazons", "Q5/6/6/6/6/5q w", "", ""},
	} {
		p, err := catalog.Setup(c.game, "", c.position)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		b, err := NewBeginner(c.game)
		if err != nil {
			t.Fatal(err)
		}
		m := think(t, b, 1, p, search.Limits{}).Move
		got := p.Format(m)
		if c.want != "" && !slices.Contains(strings.Fields(c.want), got) || got == c.not {
			t.Errorf("%s: plays %s, want %s", c.name, got, c.want)
		}
		if c.game != "amazons" {
			continue
		}
		worth := b.worth(p)
		for _, o := range p.Legal(nil) {
			if worth(o) > worth(m) {
				t.Fatalf("%s: %s, worth %d; %s is worth %d", c.name, got, worth(m), p.Format(o), worth(o))
			}
		}
	}
}
