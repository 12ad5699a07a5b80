package frontend

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/game/xiangqi"
	"sparring/pipe/uci"
)

// uciHandler speaks UCI for all games, selected by UCI_Variant.
//
// The first rank of Xiangqi is 0 or 1, and the protocol does not say which. GUIs
// that know UCI_Variant name a game by it and write 1, as Fairy-Stockfish does; those
// made only for Xiangqi (Cyclone's dialect) write 0. So it is 1 after a game was named,
// and 0 otherwise, unless the words or the moves of a position show another. Many GUIs
// send every option back as it was announced. That names no game, because the announced
// default of UCI_Variant is none.
type uciHandler struct {
	s       *session
	dialect uci.Dialect
	ranks   string  // the option: ranksAuto or a fixed one
	named   bool    // the number of the first rank is 1 only because a game was named
	rules   string  // rulesAuto or a rule set
	preset  variant // at the start
	overhead,
	maxClock time.Duration // the longest time on a clock, which is about the initial time
	multiPV int
	showWDL bool
	debug   bool

	// Of the running search.
	clock *engine.Clock // for ponderhit
	lines *search.Lines // collects the lines of an iteration, if there are several
	told  []search.Info // the lines that were sent last, best first
}

func beginsUCI(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	c, _ := uci.Parse(first)
	_, unknown := c.(uci.Unknown)
	return !unknown && first != "quit"
}

func newUCI(s *session) handler {
	u := &uciHandler{s: s, ranks: ranksAuto, overhead: s.o.Overhead, multiPV: 1}
	u.play(variant{cmp.Or(s.o.Game, catalog.Games()[0].Name), rulesAuto})
	if s.o.Rules != "" {
		if err := u.setRules(s.o.Rules); err != nil {
			u.sendError(err)
		}
	}
	u.preset = variant{u.dialect.Game, u.rules}
	return u
}

// variant is a game and its rules.
type variant struct{ game, rules string }

// play changes the game or its rules and sets up the start.
func (u *uciHandler) play(v variant) {
	if v != (variant{u.dialect.Game, u.rules}) {
		u.dialect.Game, u.rules = v.game, v.rules
		u.setUp()
	}
}

// setUp sets up the usual start of the rules. An evaluation that the game does not
// have is replaced by its own.
func (u *uciHandler) setUp() {
	if err := u.s.set(u.dialect.Game, u.ruleSet(), "", nil); err != nil {
		u.sendError(err)
	}
	if err := u.s.evaluateBy(cmp.Or(u.s.setup.Eval, evalOwn)); err != nil {
		u.s.evaluateBy(evalOwn) // every game has its own
	}
}

// ruleSet returns the rule set for session.set.
func (u *uciHandler) ruleSet() string {
	if u.rules == rulesAuto {
		return ""
	}
	return u.rules
}

func (u *uciHandler) schedule(line string) schedule {
	c, _ := uci.Parse(line)
	switch c := c.(type) {
	case uci.SetOption, uci.Position, uci.NewGame, uci.Show:
		return inOrder
	case uci.Go:
		if unlimited(c) {
			return startsInfinite
		}
		return startsSearch
	case uci.Stop:
		return stopsSearch
	case uci.PonderHit:
		return adjustsSearch
	}
	return immediately
}

func (u *uciHandler) finishesAtEOF() bool { return false }

func (u *uciHandler) sendError(err error) { u.s.say(uci.Info{Note: "error: " + err.Error()}) }

func (u *uciHandler) handle(line string) {
	command, err := uci.Parse(line)
	if err != nil {
		u.sendError(err)
	}
	s := u.s
	switch c := command.(type) {
	case uci.Hello:
		u.hello(c)
	case uci.Debug:
		u.debug = c.On
	case uci.IsReady:
		s.ready()
		s.say(uci.ReadyOK{})
	case uci.SetOption:
		if err := u.setOption(c); err != nil {
			u.sendError(fmt.Errorf("option %.40q: %w", c.Name, err))
		}
	case uci.NewGame:
		s.newGame()
		u.maxClock = 0
		u.setUp()
	case uci.Position:
		if err != nil {
			s.pos = nil // no position is better than a wrong one
		} else if err := u.position(c); err != nil {
			u.sendError(fmt.Errorf("position: %w", err))
		}
	case uci.Go:
		u.search(c)
	case uci.Stop:
		s.stop()
	case uci.PonderHit:
		s.ponderHit(u.clock)
	case uci.Quit:
		s.quit()
	case uci.Show:
		u.show()
	case uci.Register:
		s.say(uci.State{Key: "registration", Value: "ok"})
	case uci.Unknown:
		if c.Text != "" && err == nil {
			u.sendError(fmt.Errorf("unknown command: %.60q", c.Text))
		}
	}
}

// position sets up a position. If its moves are legal only with the other number of
// Xiangqi's first rank, that number is used from now on.
func (u *uciHandler) position(c uci.Position) error {
	if c.Cyclone && u.ranks == ranksAuto {
		u.count(0)
	}
	err := u.read(c)
	if err == nil || u.dialect.Game != xiangqi.Name || u.ranks != ranksAuto || len(c.Moves) == 0 {
		return err
	}
	u.dialect.Ranks = 1 - u.dialect.Ranks
	if u.read(c) == nil {
		u.named = false // the moves have shown it
		return nil
	}
	u.dialect.Ranks = 1 - u.dialect.Ranks
	return err
}

// count has the ranks of Xiangqi count from the given number.
func (u *uciHandler) count(first int) { u.dialect.Ranks, u.named = first, false }

func (u *uciHandler) read(c uci.Position) error {
	moves := make([]string, len(c.Moves))
	for i, m := range c.Moves {
		var err error
		if moves[i], err = u.ours(m); err != nil {
			u.s.pos = nil
			return fmt.Errorf("ply %d: %w", i+1, err)
		}
	}
	return u.s.set(u.dialect.Game, u.ruleSet(), u.dialect.OurPosition(c.FEN), moves)
}

// ours converts a move into our notation. The error is for one of the other number of
// Xiangqi's first rank.
func (u *uciHandler) ours(move string) (string, error) {
	if u.dialect.BelowRanks(move) {
		return "", fmt.Errorf("%w: %.20q, but ranks count from %d (option Xiangqi Ranks)", game.ErrIllegal, move, u.dialect.Ranks)
	}
	return u.dialect.Ours(move), nil
}

// unlimited reports whether only another line ends the search.
func unlimited(c uci.Go) bool {
	bounded := c.MoveTime > 0 || c.Clocks != nil || c.Depth > 0 || c.Nodes > 0 || c.Mate > 0 || c.Perft > 0
	return c.Ponder || c.Infinite || !bounded
}

// search handles "go".
func (u *uciHandler) search(c uci.Go) {
	u.clock, u.lines, u.told = nil, nil, nil
	if c.Perft > 0 {
		u.perft(c.Perft)
		return
	}
	l := search.Limits{Depth: c.Depth, Nodes: c.Nodes, Mate: c.Mate, MultiPV: u.multiPV}
	for _, text := range c.Moves {
		if m, err := u.parse(text); err != nil {
			u.sendError(fmt.Errorf("searchmoves: %w", err))
		} else {
			l.Moves = append(l.Moves, m)
		}
	}
	if len(c.Moves) > 0 && len(l.Moves) == 0 {
		u.answer(search.Result{}, nil) // none of the moves is legal
		return
	}
	if u.s.pos != nil {
		moves := len(l.Moves)
		if moves == 0 {
			moves = len(u.s.pos.Legal(nil))
		}
		if n := min(u.multiPV, moves); n > 1 {
			u.lines = search.NewLines(n)
		}
	}
	switch {
	case c.MoveTime > 0:
		u.clock = fixedClock(c.MoveTime, u.overhead)
	case c.Clocks != nil:
		u.clock, l.MovesToGo = u.clocks(*c.Clocks), c.Clocks.MovesToGo
	}
	if unlimited(c) {
		u.s.ponder(l)
		return
	}
	u.s.think(l, u.clock)
}

// parse parses a move in the position.
func (u *uciHandler) parse(text string) (game.Move, error) {
	if u.s.pos == nil {
		return game.NoMove, errNoPosition
	}
	move, err := u.ours(text)
	if err != nil {
		return game.NoMove, err
	}
	return u.s.pos.Parse(move)
}

// clocks returns the engine's clocks. White's is that of the seat that moves first.
func (u *uciHandler) clocks(c uci.Clocks) *engine.Clock {
	mine, theirs, gain := c.White, c.Black, c.WhiteIncrement
	if u.s.pos != nil && u.s.pos.Turn() == game.Second {
		mine, theirs, gain = c.Black, c.White, c.BlackIncrement
	}
	mine, gain = max(mine, 0), max(gain, 0)
	u.maxClock = max(u.maxClock, mine)
	return &engine.Clock{
		Spec: clock.Spec{Kind: clock.Fischer, Initial: u.maxClock, Increment: gain},
		Mine: clock.State{Left: mine}, Theirs: clock.State{Left: max(theirs, 0)},
		Overhead: u.overhead,
	}
}

// report sends the state of the search. The search finds one line after the other, and a
// later one may be better: GUIs want those of one depth together, best first.
func (u *uciHandler) report(i search.Info) {
	if u.lines == nil {
		u.tell([]search.Info{i}, i)
		return
	}
	u.lines.Watch(i)
	if lines, fresh := u.lines.Latest(); fresh {
		u.tell(lines, i)
	}
}

// tell sends lines, best first, with the nodes and the time of now.
func (u *uciHandler) tell(lines []search.Info, now search.Info) {
	u.told = lines
	for n, i := range lines {
		info := uci.Info{
			Depth: max(i.Depth, 1), SelDepth: i.SelDepth, Line: n + 1, Score: uciScore(i),
			Nodes: now.Nodes, NPS: now.NPS, HashFull: now.HashFull, Time: now.Time, PV: u.theirs(i.PV),
		}
		if u.showWDL {
			info.WDL = wdl(u.s.pos.Rules().Game, u.s.setup.Eval, i.Score)
		}
		u.s.say(info)
	}
}

// theirs converts moves into the GUI's notation.
func (u *uciHandler) theirs(moves []game.Move) (texts []string) {
	for _, m := range moves {
		texts = append(texts, u.dialect.Theirs(u.s.pos.Format(m)))
	}
	return texts
}

// answer sends the result.
func (u *uciHandler) answer(r search.Result, err error) {
	if err != nil && !errors.Is(err, game.ErrOver) {
		u.sendError(err)
	}
	if err != nil || r.Move == game.NoMove {
		u.s.say(uci.BestMove{Move: uci.NoMoves[0]})
		return
	}
	if opening.Running(u.s.pos) {
		// A choice has no score, and a runner would resign on a low one.
		u.s.say(uci.Info{Depth: 1, Line: 1, Nodes: r.Nodes, Time: r.Time, PV: u.theirs(r.PV)})
	} else {
		u.conclude(&r)
	}
	best := uci.BestMove{Move: u.theirs([]game.Move{r.Move})[0]}
	if r.Ponder != game.NoMove {
		best.Ponder = u.theirs([]game.Move{r.Ponder})[0]
	}
	u.s.say(best)
}

// conclude sends the lines of a result, unless its best is the one that was sent last: GUIs
// expect a line before the move, and that it begins with it.
func (u *uciHandler) conclude(r *search.Result) {
	now := search.Info{Line: 1, Depth: r.Depth, SelDepth: r.SelDepth, Score: r.Score, Bound: search.Exact, WinProb: r.WinProb,
		Nodes: r.Nodes, Time: r.Time, PV: r.PV}
	lines, fresh := []search.Info{now}, false
	if u.lines != nil {
		lines, _ = u.lines.Final(*r)
		_, fresh = u.lines.Latest()
		switch at := slices.IndexFunc(lines, func(l search.Info) bool { return l.PV[0] == r.Move }); {
		case at < 0 || lines[at].Score != r.Score, // of an iteration that was cut short
			u.s.setup.Level > 0: // a level need not play the best
			lines = slices.DeleteFunc(lines, func(l search.Info) bool { return l.PV[0] == r.Move })
			lines = append([]search.Info{now}, lines...)
		case at > 0: // found before a better line of the same iteration
			r.Move, r.PV, r.Ponder = lines[0].PV[0], lines[0].PV, game.NoMove
			if len(r.PV) > 1 {
				r.Ponder = r.PV[1]
			}
		}
	}
	if fresh || len(u.told) == 0 || len(u.told[0].PV) == 0 || u.told[0].PV[0] != r.Move {
		u.tell(lines, now)
		return
	}
	u.s.say(uci.Info{Nodes: r.Nodes, Time: r.Time}) // newer than the last report
}

// show prints the position.
func (u *uciHandler) show() {
	p := u.s.pos
	if p == nil {
		u.sendError(errNoPosition)
		return
	}
	u.s.sayf("%s\nRules: %s\nFen: %s\nKey: %s\nOutcome: %s %s", p.Diagram(), p.Rules().Name,
		u.dialect.TheirPosition(p.String()), game.KeyText(p.Key()), p.Outcome().Result, p.Outcome().Reason)
}

// perft counts the leaf nodes of the move tree, for each root move and in total.
func (u *uciHandler) perft(depth int) {
	if u.s.pos == nil {
		u.sendError(errNoPosition)
		return
	}
	p := u.s.pos.Clone()
	u.s.work(func(stop <-chan struct{}) {
		var total uint64
		for _, m := range p.Legal(nil) {
			text := u.dialect.Theirs(p.Format(m))
			if p.Play(m) != nil {
				continue
			}
			n, whole := leaves(p, depth-1, stop)
			p.Undo()
			if !whole {
				return
			}
			total += n
			u.s.sayf("%s: %d", text, n)
		}
		u.s.sayf("\nNodes searched: %d\n", total)
	}, func() {})
}

// countAtOnce is the depth below which stop is not checked.
const countAtOnce = 2

// leaves is game.Perft with a stop channel; whole is false after a stop.
func leaves(p game.Position, depth int, stop <-chan struct{}) (n uint64, whole bool) {
	select {
	case <-stop:
		return 0, false
	default:
	}
	if depth <= countAtOnce {
		return game.Perft(p, depth), true
	}
	for _, m := range p.Legal(nil) {
		if p.Play(m) != nil {
			continue
		}
		below, whole := leaves(p, depth-1, stop)
		p.Undo()
		if !whole {
			return 0, false
		}
		n += below
	}
	return n, true
}
