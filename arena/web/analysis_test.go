package web

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
	"sparring/record/review"
)

// oracle is a scripted analyst.
type oracle struct {
	t testing.TB
	// chance is the winning chance of seat first after some moves; compared, if not
	// nil, is that of the seat to act after a move that is compared with another.
	chance   func(moves []string) float64
	compared func(moves []string, move string) float64
	best     func(moves []string) string

	mu       sync.Mutex
	requests []protocol.AnalysisRequest
	hold     chan struct{} // if not nil, work waits until it is closed
	stopped  int           // cancelled
}

func (o *oracle) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.requests)
}

func (o *oracle) cancelled() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stopped
}

// release lets the work that is held go on, and holds none any more.
func (o *oracle) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.hold)
	o.hold = nil
}

// join makes the oracle answer for a game.
func (o *oracle) join(srv *embedded.Server, gameName string) {
	o.t.Helper()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		o.t.Fatal(err)
	}
	nc := arenatest.Connect(o.t, srv.Player("bots"))
	c, err := protocol.NewClient(nc, subjects, "gomoku-hare", "oracle", zerolog.Nop())
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := c.Analyst(gameName, func(task *protocol.AnalysisTask) { o.take(nc, task) }); err != nil {
		o.t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		o.t.Fatal(err)
	}
}

func (o *oracle) take(nc *nats.Conn, task *protocol.AnalysisTask) {
	o.mu.Lock()
	o.requests = append(o.requests, task.AnalysisRequest)
	hold := o.hold
	o.mu.Unlock()
	ctx, err := task.Accept(context.Background())
	if err != nil {
		if !nc.IsClosed() { // as it is where a test ends without waiting for the answer
			o.t.Error(err)
		}
		return
	}
	go func() {
		tick := time.NewTicker(protocol.AnalysisPulse / 2)
		defer tick.Stop()
		for hold != nil {
			select {
			case <-hold:
				hold = nil
			case <-tick.C:
				task.Update(protocol.Analysis{})
			case <-ctx.Done():
				o.mu.Lock()
				o.stopped++
				o.mu.Unlock()
				hold = nil
			}
		}
		task.Finish(o.answer(task.AnalysisRequest))
	}()
}

func (o *oracle) answer(r protocol.AnalysisRequest) protocol.Analysis {
	rules, err := catalog.Rules(r.Rules)
	if err != nil {
		o.t.Error(err)
		return protocol.Analysis{}
	}
	pos, err := game.Replay(rules, r.Position, r.Moves)
	if err != nil {
		o.t.Error(err)
		return protocol.Analysis{}
	}
	a := protocol.Analysis{Depth: 5}
	for _, move := range r.Consider {
		c := o.compared(r.Moves, move)
		a.Lines = append(a.Lines, protocol.AnalysisLine{Chance: &c, Moves: []string{move, "d4"}})
	}
	if len(r.Consider) > 0 {
		return a
	}
	c := o.chance(r.Moves)
	if pos.Turn() == game.Second {
		c = 1 - c
	}
	a.Chance = &c
	a.Lines = []protocol.AnalysisLine{{Chance: &c, Moves: []string{o.best(r.Moves), "d5", "d6"}}}
	return a
}

// evenOracle finds every position even and prefers a corner.
func evenOracle(t testing.TB) *oracle {
	return &oracle{t: t,
		chance:   func([]string) float64 { return 0.5 },
		compared: func([]string, string) float64 { return 0.5 },
		best:     func([]string) string { return "o15" },
	}
}

// analysed starts a gateway whose limits of analysis are changed.
func analysed(t testing.TB, change func(*analysisLimits)) (*embedded.Server, *gateway) {
	t.Helper()
	srv := arenatest.StartServer(t, "", "hare")
	g := startGateway(t, srv, quick(), func(h *hub) {
		limits := defaultAnalysisLimits
		limits.progress, limits.retry = 20*time.Millisecond, 100*time.Millisecond
		if change != nil {
			change(&limits)
		}
		h.analyses = newAnalyses(h, limits)
	})
	return srv, g
}

// begin starts a game of a person, with seat first, against the bot.
func begin(t testing.TB, p *socketPage, want *protocol.Terms) protocol.GameID {
	t.Helper()
	first := game.First
	id := p.want(message.Request{T: "play", Terms: want, Opponent: "hare", Seat: &first}).Game
	p.want(message.Request{T: "open", Game: id})
	p.state(id, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	return id
}

// inOrder makes the bot play the moves, by ply.
func inOrder(b *bot, moves ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pick = func(st protocol.State, _ []string) string {
		if n := len(st.Moves); n < len(moves) {
			return moves[n]
		}
		return ""
	}
}

// shortGame plays four plies and resigns.
func shortGame(t testing.TB, p *socketPage, b *bot) (protocol.GameID, []string) {
	t.Helper()
	moves := []string{"h8", "a1", "h9", "b1"}
	inOrder(b, moves...)
	id := begin(t, p, terms(t, "gomoku/freestyle-15", "300+2"))
	for ply := 0; ply < len(moves); ply += 2 {
		p.move(id, ply, moves[ply])
		p.state(id, "the answer", plies(ply+2))
	}
	p.want(message.Request{T: "resign", Game: id})
	p.state(id, "the end", finished)
	return id, moves
}

// reviewed waits for a complete review and returns it.
func (p *socketPage) reviewed(id protocol.GameID) (r message.Review) {
	p.t.Helper()
	p.until("the review", func() bool {
		for _, m := range p.reviews {
			if m.Game == id && m.Done == m.Total {
				r = m
				return true
			}
		}
		return false
	})
	return r
}

// A review is done once for all. What a move lost is found by comparing it with
// the best one, where the chances before and after it differ.
func TestReview(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, nil)
	b := joinBot(t, srv, "hare", protocol.Hello{})
	chances := []float64{0.5, 0.5, 0.9, 0.6, 0.95}
	o := evenOracle(t)
	o.chance = func(moves []string) float64 { return chances[len(moves)] }
	o.compared = func(moves []string, move string) float64 {
		if move == "o15" {
			return 0.5
		}
		return []float64{0.5, 0.15, 0.27, 0.5}[len(moves)]
	}
	o.join(srv, "gomoku")
	ann, bob := openPage(t, g, human("ann")), openPage(t, g, human("bob"))
	id, moves := shortGame(t, ann, b)

	ann.want(message.Request{T: "review", Game: id})
	r := ann.reviewed(id)
	if r.Total != len(moves)+1 || len(r.Plies) != r.Total || r.Code != "" {
		t.Fatalf("%+v", r)
	}
	shown := []float64{0.5, 0.5, 0.9, 0.5, 0.5} // the comparison has refuted that the last move lost anything
	want := []struct {
		lost  float64
		class review.Class
	}{{0, ""}, {0.35, review.Blunder}, {0.23, review.Mistake}, {0, ""}, {0, ""}}
	for i, ply := range r.Plies {
		if ply == nil || ply.Chance == nil || math.Abs(*ply.Chance-shown[i]) > 1e-9 || math.Abs(ply.Lost-want[i].lost) > 1e-9 || ply.Class != want[i].class ||
			ply.Best != "o15" || ply.Depth != 5 || len(ply.Line) != 3 {
			t.Errorf("ply %d: %+v, want %+v", i, ply, want[i])
		}
	}
	asked := o.count()
	if asked != 5+3 {
		t.Errorf("%d searches, want 5 positions and 3 comparisons", asked)
	}
	o.mu.Lock()
	for _, r := range o.requests {
		if r.Purpose != protocol.ForReview || r.TimeMS <= 0 || r.TimeMS > 1500 {
			t.Errorf("request %+v", r)
		}
	}
	o.mu.Unlock()
	bob.want(message.Request{T: "review", Game: id})
	if other := bob.reviewed(id); len(other.Plies) != len(r.Plies) || o.count() != asked {
		t.Errorf("the second reader cost %d searches", o.count()-asked)
	}
}

// A mistake is tried again.
func TestTry(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, nil)
	b := joinBot(t, srv, "hare", protocol.Hello{})
	o := evenOracle(t)
	o.compared = func(_ []string, move string) float64 {
		return map[string]float64{"o15": 0.6, "c3": 0.52, "c4": 0.45}[move]
	}
	o.join(srv, "gomoku")
	p := openPage(t, g, human("ann"))
	id, _ := shortGame(t, p, b)
	p.refuse(message.Request{T: "try", Game: id, Ply: 2, Move: "c3"}, protocol.NotOffered)
	p.want(message.Request{T: "review", Game: id})
	p.reviewed(id)
	asked := o.count()
	tried := func(ply int, move string) (last message.Tried) {
		t.Helper()
		n := len(p.tried)
		p.want(message.Request{T: "try", Game: id, Ply: ply, Move: move})
		p.until("the judgment of "+move, func() bool { return len(p.tried) > n })
		return p.tried[n]
	}
	for _, c := range []struct {
		move  string
		lost  float64
		class review.Class
		cost  int
	}{{"o15", 0, "", 0}, {"c3", 0.08, "", 1}, {"c4", 0.15, review.Inaccuracy, 1}, {"c5", 0.6, review.Blunder, 1}, {"c4", 0.15, review.Inaccuracy, 0}} {
		m := tried(2, c.move)
		if m.Game != id || m.Ply != 2 || m.Move != c.move || math.Abs(m.Lost-c.lost) > 1e-9 || m.Class != c.class || m.Code != "" {
			t.Errorf("%s: %+v", c.move, m)
		}
		asked += c.cost
		if o.count() != asked {
			t.Errorf("%s: %d searches more than expected", c.move, o.count()-asked)
		}
	}
	p.refuse(message.Request{T: "try", Game: id, Ply: 2, Move: "h8"}, protocol.Illegal)
	p.refuse(message.Request{T: "try", Game: id, Ply: 4, Move: "c3"}, protocol.NotOffered)
	p.refuse(message.Request{T: "try", Game: id, Ply: 400, Move: "c3"}, protocol.NotOffered)
}

// A hint shows as much as its level, and is searched for once.
func TestHint(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, nil)
	inOrder(joinBot(t, srv, "hare", protocol.Hello{}), "h8", "a1", "h9")
	o := evenOracle(t)
	o.join(srv, "gomoku")
	p := openPage(t, g, human("ann"))
	id := begin(t, p, terms(t, "gomoku/freestyle-15", "300+2"))
	if st := p.state(id, "the start", plies(0)); !slices.Contains(st.May, "hint") {
		t.Errorf("may %v", st.May)
	}
	hint := func(level int) message.Hint {
		t.Helper()
		n := len(p.hints)
		p.want(message.Request{T: "hint", Game: id, Ply: 0, Level: level})
		p.until("the hint", func() bool { return len(p.hints) > n })
		return p.hints[n]
	}
	if h := hint(1); h.From != "k11:o15" || h.Move != "" || h.Line != nil || h.Level != 1 || h.Game != id {
		t.Errorf("the region: %+v", h)
	}
	if h := hint(2); h.Move != "o15" || h.From != "" || h.Line != nil {
		t.Errorf("the point: %+v", h)
	}
	if h := hint(3); h.Move != "o15" || len(h.Line) != 3 || h.Line[0] != "o15" {
		t.Errorf("the line: %+v", h)
	}
	if n := o.count(); n != 1 {
		t.Errorf("%d searches for one position", n)
	}
	p.refuse(message.Request{T: "hint", Game: id, Level: 4}, protocol.Malformed)
	p.refuse(message.Request{T: "hint", Game: id, Ply: 3, Level: 1}, protocol.Stale)
	p.refuse(message.Request{T: "review", Game: id}, protocol.Denied)
	other := openPage(t, g, human("bob"))
	other.refuse(message.Request{T: "hint", Game: id, Level: 1}, protocol.Denied)
	stranger := openPage(t, g, "")
	stranger.refuse(message.Request{T: "hint", Game: id, Level: 1}, protocol.Denied)
	stranger.refuse(message.Request{T: "review", Game: id}, protocol.Denied)
}

// Without analysts that is said, and what is missing is done when one has come.
func TestReviewIsResumed(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, nil)
	b := joinBot(t, srv, "hare", protocol.Hello{})
	p := openPage(t, g, human("ann"))
	id, moves := shortGame(t, p, b)
	p.want(message.Request{T: "review", Game: id})
	p.until("the review broken off", func() bool {
		return len(p.reviews) > 0 && p.reviews[len(p.reviews)-1].Code == protocol.Unavailable
	})
	evenOracle(t).join(srv, "gomoku")
	p.want(message.Request{T: "review", Game: id})
	if r := p.reviewed(id); r.Total != len(moves)+1 || r.Code != "" {
		t.Errorf("%+v", r)
	}
}

// Moves that the rules refuse are not believed, whoever names them.
func TestHostileAnalyst(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, nil)
	b := joinBot(t, srv, "hare", protocol.Hello{})
	o := evenOracle(t)
	next := make(chan string, 1)
	o.best = func(moves []string) string {
		select {
		case text := <-next:
			return text
		default:
		}
		return []string{"<b>o15</b>", "h8", "O15", "z99", "o15"}[len(moves)]
	}
	o.join(srv, "gomoku")
	p := openPage(t, g, human("ann"))
	id, _ := shortGame(t, p, b)
	p.want(message.Request{T: "review", Game: id})
	p.until("the review broken off", func() bool {
		return len(p.reviews) > 0 && p.reviews[len(p.reviews)-1].Code == protocol.Unavailable
	})
	for _, r := range p.reviews {
		for i, ply := range r.Plies {
			if ply != nil && i < 4 && ply.Best != "" {
				t.Errorf("ply %d: the page was told to play %s", i, ply.Best)
			}
		}
	}
	inOrder(b)
	running := begin(t, p, terms(t, "gomoku/freestyle-15", "300+2"))
	for i, text := range []string{"<b>o15</b>", "O15", "z99", "swap"} {
		next <- text
		p.want(message.Request{T: "hint", Game: running, Level: 2})
		p.until("no hint", func() bool { return len(p.hints) == i+1 })
		if h := p.hints[i]; h.Code != protocol.Unavailable || h.Move != "" {
			t.Errorf("%s: %+v", text, h)
		}
	}
}

// A review that nobody looks at any more ends; a hint that is cancelled, too.
func TestAnalysisEndsWithoutReaders(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, func(l *analysisLimits) { l.linger = 50 * time.Millisecond })
	b := joinBot(t, srv, "hare", protocol.Hello{})
	o := evenOracle(t)
	o.hold = make(chan struct{})
	o.join(srv, "gomoku")
	p, other := openPage(t, g, human("ann")), openPage(t, g, human("bob"))
	id, _ := shortGame(t, p, b)
	p.want(message.Request{T: "review", Game: id})
	other.want(message.Request{T: "review", Game: id})
	gametest.Eventually(t, "the searches", func() bool { return o.count() == defaultAnalysisLimits.searches })
	p.want(message.Request{T: "cancel", What: "review", Game: id})
	time.Sleep(5 * g.analyses.limits.linger) // nothing may happen meanwhile
	if n := o.cancelled(); n != 0 {
		t.Errorf("%d searches ended although somebody reads", n)
	}
	other.close()
	gametest.Eventually(t, "the end of the searches", func() bool { return o.cancelled() == defaultAnalysisLimits.searches })

	inOrder(b)
	running := begin(t, p, terms(t, "gomoku/freestyle-15", "300+2"))
	p.want(message.Request{T: "hint", Game: running, Level: 1})
	gametest.Eventually(t, "the search for a hint", func() bool { return o.count() == defaultAnalysisLimits.searches+1 })
	p.want(message.Request{T: "cancel", What: "hint"})
	gametest.Eventually(t, "the end of the search for a hint", func() bool { return o.cancelled() == defaultAnalysisLimits.searches+1 })
	p.refuse(message.Request{T: "cancel", What: "game"}, protocol.Malformed)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.hints) != 0 {
		t.Errorf("a cancelled hint came: %+v", p.hints)
	}
}

// A review that somebody resumes counts for that person, not for the one who asked first and
// has left: else that one could be refused for the work of others.
func TestResumedReviewCountsForWhoResumes(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, func(l *analysisLimits) { l.linger = 20 * time.Millisecond })
	b := joinBot(t, srv, "hare", protocol.Hello{})
	o := evenOracle(t)
	o.hold = make(chan struct{})
	o.join(srv, "gomoku")
	ann, bob := openPage(t, g, human("ann")), openPage(t, g, human("bob"))
	id, _ := shortGame(t, ann, b)
	own := func(p protocol.PlayerID) int {
		_, n, _ := g.analyses.underWay(p, "")
		return n
	}
	ann.want(message.Request{T: "review", Game: id})
	gametest.Eventually(t, "ann's review", func() bool { return own(human("ann")) == 1 })
	ann.want(message.Request{T: "cancel", What: "review", Game: id})
	gametest.Eventually(t, "its end", func() bool { return own(human("ann")) == 0 })
	bob.want(message.Request{T: "review", Game: id})
	gametest.Eventually(t, "bob's review", func() bool { return own(human("ann"))+own(human("bob")) == 1 })
	if own(human("ann")) != 0 {
		t.Error("the review that bob has resumed counts for ann")
	}
	o.release()
	bob.reviewed(id)
}

// A page that asks for a review just while that ends, since nobody had looked at it, gets it:
// the work begins again. Nothing else would tell the page that it has stopped.
func TestReviewIsResumedWhileItEnds(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, func(l *analysisLimits) {
		l.linger, l.progress = 0, time.Millisecond
		l.reviewsHourly, l.burst = 1_000_000, 1_000_000
	})
	b := joinBot(t, srv, "hare", protocol.Hello{})
	o := evenOracle(t)
	o.hold = make(chan struct{})
	o.join(srv, "gomoku")
	p := openPage(t, g, human("ann"))
	id, _ := shortGame(t, p, b)
	rng := rand.New(rand.NewPCG(1, 1))
	pause := func() { time.Sleep(time.Duration(rng.IntN(3_000)) * time.Microsecond) } // any moment may be that of the end
	for range 300 {
		p.want(message.Request{T: "review", Game: id})
		pause()
		gametest.Eventually(t, "the work to go on for the page", func() bool {
			g.analyses.mu.Lock()
			v := g.analyses.reviews[id]
			g.analyses.mu.Unlock()
			v.mu.Lock()
			defer v.mu.Unlock()
			return v.running
		})
		p.want(message.Request{T: "cancel", What: "review", Game: id})
		pause()
	}
	p.want(message.Request{T: "review", Game: id})
	o.release()
	if r := p.reviewed(id); r.Code != "" {
		t.Errorf("%+v", r)
	}
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	m := newMemory[int, string](2)
	for i, text := range []string{"a", "b", "c"} {
		m.put(i, text)
	}
	m.put(2, "d")
	if _, ok := m.get(0); ok || len(m.known) != 2 || len(m.order) != 2 {
		t.Errorf("kept %v", m.known)
	}
	if v, ok := m.get(2); !ok || v != "d" {
		t.Errorf("%q", v)
	}
}

func TestRegions(t *testing.T) {
	for _, c := range []struct{ rules, at, want string }{
		{"gomoku/freestyle-15", "a1", "a1:e5"}, {"gomoku/freestyle-15", "h8", "f6:j10"}, {"gomoku/freestyle-15", "o15", "k11:o15"},
		{"gomoku/freestyle-19", "s19", "p16:s19"},
	} {
		if got := regionOf(c.at, protocol.Terms{Rules: c.rules}); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.rules, c.at, got, c.want)
		}
	}
	for move, want := range map[string]string{"h2e2": "h2", "d1d7/b7": "d1"} {
		if h := hintOf(message.Request{Level: 1}, protocol.Terms{}, protocol.Analysis{Lines: []protocol.AnalysisLine{{Moves: []string{move}}}}); h.From != want || h.Move != "" {
			t.Errorf("%s: %+v", move, h)
		}
	}
	if h := hintOf(message.Request{Level: 1}, protocol.Terms{}, protocol.Analysis{Lines: []protocol.AnalysisLine{{Moves: []string{"put-two"}}}}); h.Move != "put-two" || h.From != "" {
		t.Errorf("a choice: %+v", h)
	}
}
