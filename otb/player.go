package otb

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/engine/timing"
	"sparring/game"
	"sparring/protocol"
	"sparring/record"
)

// player runs our engine: it thinks when it is our move, and ponders on the reply that
// it expects. The table's mu guards it.
type player struct {
	t        *Table
	searcher engine.Searcher
	pool     *engine.Pool
	game     engine.Game // nil while it is started
	length   int         // plies of a usual game
	starting bool
	work     sync.WaitGroup
	closed   bool
	life     context.Context // ends with close
	end      context.CancelFunc

	current  *thinking
	expected map[string]game.Move // reply by the key of the position after our move
	failures int                  // in a row
	gaveUp   string               // key of the position in which it failed too often
	idle     string               // key of a position on which it does not ponder any more
}

// thinking is a search under way.
type thinking struct {
	key      string // of the position searched
	pos      game.Position
	search   *engine.Search
	ponders  bool // the opponent is still to move
	hit      bool
	expected string // the move pondered on
	began    time.Time
	due      time.Time // when the engine is taken to hang; zero: never
	mu       sync.Mutex
	info     *search.Info
}

// maxFailures is how often an engine may fail in a row before the operator is asked.
const maxFailures = 3

func newPlayer(t *Table) (*player, error) {
	name := t.game.pos.Rules().Game
	a, err := engine.Adapter(name)
	if err != nil {
		return nil, err
	}
	s, err := t.o.Open(t.game.Terms.Engine, name)
	if err != nil {
		return nil, err
	}
	p := &player{t: t, searcher: s, pool: engine.NewPool(max(t.game.Terms.Threads, 1)), length: a.Length, expected: map[string]game.Move{}}
	p.life, p.end = context.WithCancel(context.Background())
	p.start()
	return p, nil
}

// start opens the game with the engine, in the background.
func (p *player) start() {
	if p.starting || p.closed {
		return
	}
	p.starting = true
	old := p.game
	p.game = nil
	t := p.t
	o := engine.GameOptions{ID: t.game.Terms.ID, Rules: t.game.pos.Rules(), Seed: t.game.Terms.Seed, OwnTable: true}
	p.work.Go(func() {
		if old != nil {
			old.Close() // it has failed
		}
		g, err := p.searcher.NewGame(o)
		if err == nil {
			err = engine.Ready(p.life, g)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		p.starting = false
		if p.closed {
			if g != nil {
				g.Close() // nothing was searched
			}
			return
		}
		if err != nil {
			if g != nil {
				g.Close() // the first error tells more
			}
			p.failed(keyOf(t.game, nil), err)
			return
		}
		p.game = g
		t.say("The engine is ready: %s", protocol.Engine(g.Describe()))
	})
}

// close stops the engine and waits for its end.
func (p *player) close() {
	p.t.mu.Lock()
	if p.closed {
		p.t.mu.Unlock()
		return
	}
	p.closed = true
	p.stop()
	p.end()
	p.t.mu.Unlock()
	p.pool.Close()
	p.work.Wait()
	if p.game != nil {
		p.game.Close() // the error does not matter at the end
	}
	p.searcher.Close() // nor this one
}

// stop ends the search; its result is not used.
func (p *player) stop() {
	if p.current != nil {
		p.current.search.Stop()
		p.current = nil
	}
}

// restart starts the search over, with the clocks as they are.
func (p *player) restart() {
	if p.current != nil && !p.current.ponders {
		p.stop()
	}
}

// keyOf identifies a position of the game by its moves, with further ones. It is never
// empty.
func keyOf(g *Game, more []string) string {
	all := []string{"start"}
	for _, ply := range g.Plies {
		all = append(all, ply.Move)
	}
	return strings.Join(append(all, more...), " ")
}

// wanted returns what the engine is to search: nothing if pos is nil.
func (p *player) wanted() (key string, pos game.Position, expected string) {
	g := p.t.game
	if g.standing() {
		return "", nil, ""
	}
	switch g.Phase() {
	case Thinking:
		if key = keyOf(g, nil); key == p.gaveUp {
			return "", nil, ""
		}
		return key, g.Position(), ""
	case Announced, Theirs:
		return p.ponderTarget(g)
	}
	return "", nil, ""
}

// ponderTarget returns the position after the reply that the engine expects.
func (p *player) ponderTarget(g *Game) (key string, pos game.Position, expected string) {
	pos = g.Position()
	var more []string
	if g.Choice != nil {
		more = append(more, g.Choice.Move)
		if pos.Play(g.parse(g.Choice.Move)) != nil {
			return "", nil, ""
		}
	}
	reply, ok := p.expected[keyOf(g, more)]
	if !ok || !g.Terms.Ponder || pos.Turn() == g.Terms.Us || opening.Running(pos) {
		return "", nil, ""
	}
	expected = pos.Format(reply)
	if key = keyOf(g, append(more, expected)); key == p.idle {
		return "", nil, ""
	}
	if pos.Play(reply) != nil || pos.Outcome().Over() || pos.Turn() != g.Terms.Us {
		return "", nil, ""
	}
	return key, pos, expected
}

// drive makes the engine do what is wanted.
func (p *player) drive() {
	key, pos, expected := p.wanted()
	c := p.current
	switch {
	case c != nil && pos != nil && c.key == key && c.ponders == (expected != ""):
		if !c.due.IsZero() && time.Now().After(c.due) {
			c.due = time.Time{}
			p.t.alert("The engine has thought for %s, longer than it should: it is told to move.", ClockText(time.Since(c.began)))
			c.search.Stop()
		}
		return
	case c != nil && pos != nil && c.key == key && expected == "":
		clock := p.clock()
		c.ponders, c.hit, c.began, c.due = false, true, time.Now(), p.due(clock)
		c.search.PonderHit(&clock)
		return
	}
	p.stop()
	if pos == nil || p.closed {
		return
	}
	if p.game == nil {
		p.start()
		return
	}
	p.begin(&thinking{key: key, pos: pos, expected: expected, ponders: expected != "", began: time.Now()})
}

// clock returns the time for our move.
func (p *player) clock() search.Clock {
	g := p.t.game
	at := time.Now()
	c := g.Clocks(p.t.now())
	mine := c.Seats[g.Terms.Us]
	out := search.Clock{
		Spec: g.Terms.Clock, Mine: mine.State, Theirs: c.Seats[g.Terms.Us.Other()].State,
		At: at.Add(-mine.Used), Overhead: g.hand(),
	}
	out.Mine.Left = max(out.Mine.Left, 0)
	if most := g.Terms.move(); most > 0 {
		out.MoveLimit = max(most-c.Used+mine.Used, time.Millisecond)
	}
	return out
}

// due returns when an engine is taken to hang.
func (p *player) due(c search.Clock) time.Time {
	if !c.Spec.Traits().Limited {
		return time.Time{}
	}
	b := timing.Allot(timing.Situation{Clock: c.Spec, Mine: c.Mine, Theirs: c.Theirs, Ply: len(p.t.game.Plies), Length: p.length, Overhead: c.Overhead, MoveLimit: c.MoveLimit})
	return c.At.Add(b.Hard*3/2 + 2*time.Second)
}

// begin starts a search.
func (p *player) begin(th *thinking) {
	t := p.t
	r := engine.Request{Game: p.game, Position: th.pos, Ponder: th.ponders, Watch: th.watch}
	if !th.ponders {
		clock := p.clock()
		r.Clock, th.due = &clock, p.due(clock)
	}
	var err error
	if th.search, err = p.pool.Start(r); err != nil {
		p.failed(th.key, err)
		return
	}
	p.current = th
	p.work.Go(func() {
		result, err := th.search.Wait()
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, text := range result.Incidents {
			t.say("The engine: %s", text)
		}
		if p.current != th {
			return // not wanted any more
		}
		p.current = nil
		if th.ponders {
			p.idle = th.key // it has ended by itself
			return
		}
		p.answered(th, result, err)
		t.signal()
	})
}

func (th *thinking) watch(i search.Info) {
	if i.Line > 1 || len(i.PV) == 0 {
		return
	}
	th.mu.Lock()
	defer th.mu.Unlock()
	th.info = &i
}

// answered takes the result of a search for a move.
func (p *player) answered(th *thinking, r search.Result, err error) {
	t := p.t
	switch {
	case err != nil:
		p.failed(th.key, err)
		return
	case r.Resign:
		t.alert("The engine resigns. The operator decides: resign us, or hand MOVE.")
		if r.Move == game.NoMove {
			p.gaveUp = th.key
			return
		}
	case r.Move == game.NoMove:
		p.failed(th.key, fmt.Errorf("it named no move"))
		return
	}
	p.failures = 0
	move := th.pos.Format(r.Move)
	if r.Ponder != game.NoMove {
		p.expected[th.key+" "+move] = r.Ponder
	}
	if r.OfferDraw {
		t.alert("The engine would offer a draw with this move (draw us).")
	}
	think := &record.Think{
		Source: record.SourceOf(r.Source), Depth: r.Depth, SelDepth: r.SelDepth, Score: int(r.Score), WinProb: r.WinProb,
		Nodes: r.Nodes, TimeMS: time.Since(th.began).Milliseconds(), PV: game.FormatLine(th.pos, "", r.PV), Ponder: th.expected, PonderHit: th.hit,
	}
	t.decided(move, think)
}

// failed notes that the engine failed in a position, and starts it again.
func (p *player) failed(key string, err error) {
	t := p.t
	p.failures++
	t.alert("The engine failed: %s", firstLine(err.Error()))
	if e := t.enter(Entry{Kind: Note, Text: "the engine failed: " + firstLine(err.Error())}); e != nil {
		t.alert("%v", e)
	}
	if p.failures >= maxFailures {
		p.gaveUp = key
		t.alert("The engine has failed %d times in a row. Enter our move by hand (hand MOVE), or engine to start it again.", p.failures)
		return
	}
	p.start()
}

func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "..."
	}
	return text
}

// activity returns what the engine does.
func (p *player) activity() (a Activity) {
	a.State = "idle"
	g := p.t.game
	switch c := p.current; {
	case p.gaveUp != "" && p.gaveUp == keyOf(g, nil) || p.gaveUp == "" && p.failures >= maxFailures:
		a.State = "failed"
	case p.starting:
		a.State = "starting"
	case c != nil:
		a.State = "thinking"
		if c.ponders {
			a.State, a.Expected = "pondering", c.expected
		}
		a.For = time.Since(c.began)
		c.mu.Lock()
		info := c.info
		c.mu.Unlock()
		if info != nil {
			a.Known, a.Depth, a.Chance, a.Score, a.Nodes = true, info.Depth, info.WinProb, int(info.Score), info.Nodes
			a.Line = game.FormatLine(c.pos, spokenNotation(c.pos, p.t.o.UCI), info.PV)
		}
		return a
	}
	for i := len(g.Plies) - 1; i >= 0 && !a.Known; i-- { // what it thought last
		a.take(g.Plies[i].Think)
	}
	if g.Choice != nil {
		a.take(g.Choice.Think)
	}
	return a
}

func (a *Activity) take(th *record.Think) {
	if th != nil && th.Source != record.FromPerson && th.Depth > 0 {
		a.Known, a.Depth, a.Chance, a.Score, a.Line, a.Nodes = true, th.Depth, th.WinProb, th.Score, th.PV, th.Nodes
	}
}
