package frontend

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/xiangqi"
	"sparring/pipe/ucci"
	"sparring/pipe/uci"
)

// ucciHandler speaks UCCI 3.0, for Xiangqi.
type ucciHandler struct {
	s        *session
	millis   bool // clocks are in milliseconds, not seconds
	batch    bool // lines are queued until the search has ended
	resign   bool // resign lost games
	rules    string
	preset   string        // the rules at the start
	maxClock time.Duration // as in uciHandler
	// A move of this game had a clock for more than itself. UCCI has no command for a fixed
	// time: clients send it as one move to go, without an increment, each time.
	controls bool
	banned   []game.Move   // by banmoves
	position ucci.Position // the last one, to be set up again by new rules

	endless bool // the last search has no limits

	// Of the running search.
	clock    *engine.Clock
	told     game.Move // that the last line sent begins with
	offered  bool      // the opponent has offered a draw
	infinite bool      // until a mate is found
	static   bool      // only the score is needed
}

func beginsUCCI(text string) bool {
	c, _ := ucci.Parse(text)
	_, hello := c.(ucci.Hello)
	return hello
}

func newUCCI(s *session) handler {
	u := &ucciHandler{s: s, millis: true, resign: true, rules: xiangqi.Game().Default}
	u.place(ucci.Position{})
	if s.o.Rules != "" {
		if err := u.setRules(s.o.Rules); err != nil {
			u.sendError(err)
		}
	}
	u.preset = u.rules
	return u
}

// schedule implements handler. In batch mode the lines come from a file and are
// handled in order; but a search without limits can only be ended by a line.
func (u *ucciHandler) schedule(line string) schedule {
	c, _ := ucci.Parse(line)
	switch c := c.(type) {
	case ucci.SetOption, ucci.Position, ucci.BanMoves:
		return inOrder
	case ucci.Go:
		if u.endless = unbounded(c); u.endless {
			return startsInfinite
		}
		return startsSearch
	case ucci.Stop:
		return stopsSearch
	case ucci.PonderHit:
		return adjustsSearch
	case ucci.Quit:
		if u.batch && u.endless {
			return stopsSearch
		}
	}
	if u.batch {
		return inOrder
	}
	return immediately
}

// unbounded reports whether only another line ends the search.
func unbounded(c ucci.Go) bool {
	return c.Ponder || c.Infinite || c.Clock == nil && c.Depth == 0 && c.Nodes == 0 && !c.Static
}

// finishesAtEOF implements handler. The file of a batch ends before its searches.
func (u *ucciHandler) finishesAtEOF() bool { return u.batch && !u.endless }

func (u *ucciHandler) sendError(err error) { u.s.say(ucci.Info{Message: "error: " + err.Error()}) }

func (u *ucciHandler) handle(line string) {
	command, err := ucci.Parse(line)
	if err != nil {
		u.sendError(err)
	}
	s := u.s
	switch c := command.(type) {
	case ucci.Hello:
		u.hello()
	case ucci.IsReady:
		s.ready()
		s.say(ucci.ReadyOK{})
	case ucci.SetOption:
		u.setOption(c)
	case ucci.Position:
		if u.place(c); err != nil {
			s.pos = nil // without a position no wrong move is played
		}
	case ucci.BanMoves:
		u.ban(c.Moves)
	case ucci.Go:
		u.search(c)
	case ucci.Stop:
		s.stop() // if it has ended, its answer has been sent
	case ucci.PonderHit:
		u.offered = u.offered || c.Draw
		s.ponderHit(u.clock)
	case ucci.Probe:
		u.probe(c.Position)
	case ucci.Quit:
		s.say(ucci.Bye{})
		s.quit()
	case ucci.Unknown:
		if c.Text != "" && err == nil {
			u.sendError(fmt.Errorf("unknown command: %.60q", c.Text))
		}
	}
}

// hello answers "ucci".
func (u *ucciHandler) hello() {
	s := u.s
	s.say(ucci.ID{Key: "name", Value: s.o.Name})
	s.say(ucci.ID{Key: "version", Value: s.o.Version})
	s.say(ucci.ID{Key: "author", Value: s.o.Author})
	for _, o := range u.settings() {
		s.say(ucci.Option{Option: o.Option})
	}
	s.say(ucci.OK{})
}

// settings returns the options of UCCI that apply to this engine.
func (u *ucciHandler) settings() []setting {
	rules := xiangqi.Game().Sets
	if !slices.Contains(rules, u.preset) {
		rules = append(slices.Clone(rules), u.preset)
	}
	return slices.Concat([]setting{
		check("usemillisec", true, func(on bool) { u.millis = on }),
		check("batch", false, func(on bool) { u.batch = on }),
		check("ponder", false, func(bool) {}), // decided by the GUI
		button("newgame", func() {
			u.s.newGame()
			u.maxClock, u.controls = 0, false
		}),
	}, u.s.engineSettings(engineNames{"hashsize", "threads", "level", "usebook", "bookfiles", "eval", "variety"}), []setting{
		check("resign", true, func(on bool) { u.resign = on }),
		combo("rules", u.preset, rules, u.setRules),
	})
}

// setOption sets an option. Unknown options are not errors, because UCCI GUIs send
// theirs without asking. 0 is the default of a number.
func (u *ucciHandler) setOption(c ucci.SetOption) {
	all := u.settings()
	i := slices.IndexFunc(all, func(o setting) bool { return sameName(o.Name, c.Name) })
	if i < 0 {
		return
	}
	o := all[i]
	switch {
	case o.Kind == uci.Spin && c.Value == "0" && o.Min > 0:
		c.Value = o.Default
	case o.Kind == uci.Check:
		// GUIs write them in different ways, uci2wb as numbers.
		switch c.Value {
		case "on", "1", "":
			c.Value = "true"
		case "off", "0":
			c.Value = "false"
		}
	}
	if err := o.apply(c.Value); err != nil {
		u.sendError(fmt.Errorf("option %.40q: %w", c.Name, err))
	}
}

func (u *ucciHandler) setRules(name string) error {
	if !strings.Contains(name, "/") {
		name = xiangqi.Game().Name + "/" + name
	}
	r, err := xiangqi.FindRules(name)
	if err != nil {
		return err
	}
	if u.rules != r.Name {
		u.rules = r.Name
		u.place(u.position)
	}
	return nil
}

// place sets up a position, without banned moves.
func (u *ucciHandler) place(c ucci.Position) {
	u.banned, u.position = nil, c
	if err := u.s.set(xiangqi.Game().Name, u.rules, c.FEN, c.Moves); err != nil {
		u.sendError(fmt.Errorf("position: %w", err))
	}
}

// probe sends the hash entry of a position.
func (u *ucciHandler) probe(c ucci.Position) {
	p, err := setUp(xiangqi.Game().Name, u.rules, c.FEN, c.Moves)
	if err != nil {
		u.sendError(fmt.Errorf("probe: %w", err))
		return
	}
	var reply ucci.PopHash
	if known, ok := u.s.known(p); ok {
		if known.Move != game.NoMove {
			reply.BestMove = p.Format(known.Move)
		}
		bound := &ucci.Bound{Score: ucciScore(known.Score, known.WinProb), Depth: known.Depth}
		if known.Bound&search.Lower != 0 {
			reply.Lower = bound
		}
		if known.Bound&search.Upper != 0 {
			reply.Upper = bound
		}
	}
	u.s.say(reply)
}

// ban excludes moves from the search.
func (u *ucciHandler) ban(texts []string) {
	if u.s.pos == nil {
		u.sendError(errNoPosition)
		return
	}
	for _, text := range texts {
		m, err := u.s.pos.Parse(text)
		if err != nil {
			u.sendError(fmt.Errorf("banmoves: %w", err))
			continue
		}
		u.banned = append(u.banned, m)
	}
}

// search handles "go".
func (u *ucciHandler) search(c ucci.Go) {
	u.offered, u.infinite, u.static, u.clock, u.told = c.Draw, c.Infinite, c.Static, nil, game.NoMove
	l := search.Limits{Depth: c.Depth, Nodes: c.Nodes}
	if len(u.banned) > 0 {
		l.Moves = slices.DeleteFunc(u.s.pos.Legal(nil), func(m game.Move) bool { return slices.Contains(u.banned, m) })
		if len(l.Moves) == 0 {
			u.s.say(ucci.NoBestMove{})
			return
		}
	}
	if c.Static {
		l.Depth = 1
	}
	if t := c.Clock; t != nil {
		u.clock, l.MovesToGo = u.clocks(t), t.MovesToGo
		u.controls = u.controls || t.MovesToGo != 1 || t.Increment > 0
		if !u.controls {
			u.clock = fixedClock(u.clock.Mine.Left, u.clock.Overhead)
		}
	}
	if unbounded(c) {
		u.s.ponder(l)
		return
	}
	u.s.think(l, u.clock)
}

// clocks returns the engine's clocks.
func (u *ucciHandler) clocks(c *ucci.Clock) *engine.Clock {
	unit := ucci.Unit(u.millis)
	// The largest number, for no limit, is 68 years in seconds: multiples of it overflow.
	length := func(n int) time.Duration { return min(time.Duration(max(n, 0))*unit, clock.Longest) }
	mine := length(c.Time)
	u.maxClock = max(u.maxClock, mine)
	return &engine.Clock{
		Spec: clock.Spec{Kind: clock.Fischer, Initial: u.maxClock, Increment: length(c.Increment)},
		Mine: clock.State{Left: mine}, Theirs: clock.State{Left: length(c.OppTime)},
		Overhead: u.s.o.Overhead,
	}
}

// minorScale converts scores to the protocol's unit, in which a horse or a cannon is
// about 100. A minor piece is 450 of our units, and 200 are the chance of 73 % of
// pawnScale.
const minorScale = 100.0 * 200 / 450

// mateScore is the score of a mate at once in UCCI, which has no mate scores.
const mateScore = 10000

func ucciScore(s search.Score, chance float64) int {
	if plies, ok := search.MateIn(s); ok {
		if plies > 0 {
			return mateScore - plies
		}
		return -mateScore - plies
	}
	return int(math.Round(float64(centipawns(s, chance)) * minorScale / pawnScale))
}

// report sends the state of the search. UCCI has no bounds, so bounded scores are not sent.
func (u *ucciHandler) report(i search.Info) {
	if i.Bound != search.Exact {
		return
	}
	u.tell(i)
	if plies, ok := search.MateIn(i.Score); u.infinite && ok && plies > 0 {
		u.s.stop()
	}
}

// tell sends a line of the search in two lines, as specified.
func (u *ucciHandler) tell(i search.Info) {
	score := ucciScore(i.Score, i.WinProb)
	if len(i.PV) > 0 {
		u.told = i.PV[0]
	}
	u.s.say(ucci.Info{Time: i.Time, Nodes: i.Nodes})
	u.s.say(ucci.Info{Depth: i.Depth, Score: &score, PV: u.texts(i.PV)})
}

func (u *ucciHandler) texts(moves []game.Move) (texts []string) {
	for _, m := range moves {
		texts = append(texts, u.s.pos.Format(m))
	}
	return texts
}

// answer sends the result.
func (u *ucciHandler) answer(r search.Result, err error) {
	if err != nil && !errors.Is(err, game.ErrOver) {
		u.sendError(err)
	}
	if err != nil || r.Move == game.NoMove || u.static {
		u.s.say(ucci.NoBestMove{})
		return
	}
	// As in UCI: GUIs expect a line before the move, which begins with it, and the nodes of the
	// whole search, which are more than those of the last line.
	if len(r.PV) > 0 && u.told != r.Move {
		u.tell(search.Info{Depth: max(r.Depth, 1), Score: r.Score, WinProb: r.WinProb, Nodes: r.Nodes, Time: r.Time, PV: r.PV})
	} else {
		u.s.say(ucci.Info{Time: r.Time, Nodes: r.Nodes})
	}
	best := ucci.BestMove{Move: u.s.pos.Format(r.Move)}
	if r.Ponder != game.NoMove {
		best.Ponder = u.s.pos.Format(r.Ponder)
	}
	plies, proven := search.MateIn(r.Score)
	best.Resign = u.resign && (r.Resign || proven && plies < 0)
	// Accept a draw unless we stand better.
	best.Draw = r.OfferDraw || u.offered && r.WinProb <= 0.5
	u.s.say(best)
}
