package frontend

import (
	"fmt"
	"strings"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
	"sparring/pipe/gomocup"
)

// gomocupHandler speaks the Gomoku AI protocol with Yixin-Board's additions.
type gomocupHandler struct {
	s       *session
	decoder gomocup.Decoder
	size    int  // of the board, 0 before START
	rule    int  // as sent; its meaning depends on yixin
	ruled   bool // the rule was sent
	yixin   bool
	time    gomocupTime
	depth   int
	nodes   uint64
	detail  bool // send messages during the search

	stones  []placed // in the order received
	given   int      // how many of them came by BOARD, the others after it one by one
	next    gomoku.Colour
	blocked []gomocup.Point // excluded from the search

	// Of the running search.
	began time.Time
	swap  *swap2        // the answer to SWAP2BOARD in progress; nil for a move
	lines *search.Lines // collects the lines of an iteration, if there are several
	last  search.Info   // the best line that was told last
}

func beginsGomocup(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	v := gomocup.Verb(strings.ToUpper(word))
	// "stop" and "begin" alone are also words of other protocols.
	return v.Known() && (word == string(v) || rest != "") && v != gomocup.Stop
}

func newGomocup(s *session) handler {
	return &gomocupHandler{s: s, time: gomocupTime{turn: defaultTurn}}
}

func (g *gomocupHandler) schedule(line string) schedule {
	switch v, _, _ := strings.Cut(strings.TrimSpace(line), " "); gomocup.Verb(strings.ToUpper(v)) {
	case gomocup.YXStop, gomocup.Stop:
		return stopsSearch
	case gomocup.End:
		return immediately
	}
	return startsSearch // only the decoder knows which line of a board is the last
}

func (g *gomocupHandler) finishesAtEOF() bool { return false }

func (g *gomocupHandler) sendError(err error) {
	g.s.say(gomocup.Answer{Kind: gomocup.Error, Text: err.Error()})
}

func (g *gomocupHandler) ok() { g.s.say(gomocup.Answer{Kind: gomocup.OK}) }

func (g *gomocupHandler) handle(line string) {
	c, complete, err := g.decoder.Line(line)
	if err == nil && complete {
		err = g.command(c)
	}
	if err != nil {
		if c.Verb == gomocup.Board || c.Verb == gomocup.YXBoard {
			g.empty() // no position is better than a wrong one
		}
		g.sendError(err)
	}
}

// command carries out a command; an error is answered with ERROR.
func (g *gomocupHandler) command(c gomocup.Command) error {
	s := g.s
	switch c.Verb {
	case gomocup.Start, gomocup.RectStart:
		return g.start(c.Width, c.Height)
	case gomocup.Info:
		return g.info(c)
	case gomocup.About:
		s.say(gomocup.Answer{Kind: gomocup.Identity, Text: gomocup.AboutText(
			gomocup.Pair{Key: "name", Value: s.o.Name}, gomocup.Pair{Key: "version", Value: s.o.Version},
			gomocup.Pair{Key: "author", Value: s.o.Author}, gomocup.Pair{Key: "country", Value: s.o.Country})})
		return nil
	case gomocup.End:
		s.quit()
		return nil
	case gomocup.YXStop, gomocup.Stop:
		s.stop()
		return nil
	case gomocup.YXShowInfo:
		g.yixin, g.detail = true, true
		s.say(gomocup.Answer{Kind: gomocup.Message, Text: s.o.Name + " " + s.o.Version})
		return nil
	case gomocup.YXHashClear:
		s.newGame()
		return nil
	case gomocup.YXBlockReset:
		g.blocked = nil
		return nil
	}
	if !c.Verb.Known() {
		s.say(gomocup.Answer{Kind: gomocup.Unknown, Text: fmt.Sprintf("command %.40q", c.Verb)})
		return nil
	}
	if g.size == 0 {
		return fmt.Errorf("%s: no board yet; send START first", c.Verb)
	}
	return g.onBoard(c)
}

// onBoard carries out the commands that need a board.
func (g *gomocupHandler) onBoard(c gomocup.Command) error {
	switch c.Verb {
	case gomocup.Restart:
		g.clear()
		g.ok()
	case gomocup.Begin:
		if len(g.stones) > 0 {
			return fmt.Errorf("BEGIN: %d stones are on the board", len(g.stones))
		}
		return g.think(1)
	case gomocup.Turn:
		if err := g.play(c.At); err != nil {
			return err
		}
		return g.think(1)
	case gomocup.Play:
		if err := g.play(c.At); err != nil {
			return err
		}
		g.s.say(gomocup.Answer{Kind: gomocup.Points, Points: []gomocup.Point{c.At}})
	case gomocup.TakeBack:
		return g.takeBack(c.At)
	case gomocup.Board, gomocup.YXBoard:
		if err := g.board(c.Stones); err != nil || c.Verb == gomocup.YXBoard {
			return err
		}
		return g.think(1)
	case gomocup.Swap2Board:
		return g.swap2(c.Stones)
	case gomocup.YXNBest:
		return g.think(c.N)
	case gomocup.YXShowForbid:
		return g.showForbidden()
	case gomocup.YXBlock, gomocup.YXBlockUndo:
		g.block(c)
	}
	return nil
}

// start makes an empty board.
func (g *gomocupHandler) start(width, height int) error {
	if width != height || width < gomoku.MinSize || width > gomoku.MaxSize {
		return fmt.Errorf("a board of %dx%d, have squares of %d to %d", width, height, gomoku.MinSize, gomoku.MaxSize)
	}
	if _, err := g.rules(width); err != nil {
		return err
	}
	g.size = width
	g.clear()
	if err := g.warmUp(); err != nil {
		return err
	}
	g.ok()
	return nil
}

// warmUp warms the engine up before OK, while no clock runs. Many managers, ours among
// them, send the rule after that. Until it is known, the engine makes its tables for all
// usual ones: otherwise the first move would.
func (g *gomocupHandler) warmUp() error {
	if !g.ruled {
		for _, rule := range []gomocup.Rule{gomocup.ExactFive, gomocup.Renju} {
			rules, err := rule.RuleSet(g.size)
			if err == nil {
				err = g.s.set(gomoku.Name, rules, "", nil)
			}
			if err != nil {
				return err
			}
			g.s.warmUp()
		}
	}
	if err := g.setUp(); err != nil {
		return err
	}
	g.s.warmUp()
	return nil
}

// clear starts a new match on the board.
func (g *gomocupHandler) clear() {
	g.empty()
	g.blocked = nil
	g.time.used = 0
	g.s.newGame()
}

// rules returns the name of our rule set.
func (g *gomocupHandler) rules(size int) (string, error) {
	rule := gomocup.Rule(g.rule)
	if g.yixin {
		// With its swap rules the opening is played on its board, and only the
		// position is sent.
		var err error
		if rule, _, err = gomocup.YixinRule(g.rule); err != nil {
			return "", err
		}
	}
	return rule.RuleSet(size)
}

// think starts the search for a move.
func (g *gomocupHandler) think(lines int) error {
	if err := g.setUp(); err != nil {
		return err
	}
	if out := g.s.pos.Outcome(); out.Over() {
		return fmt.Errorf("%w: %s by %s", game.ErrOver, out.Result, out.Reason)
	}
	g.swap = nil
	l := g.limits(1, g.s.readAt)
	l.MultiPV = lines
	if len(g.blocked) > 0 {
		for _, m := range g.s.pos.Legal(nil) {
			if at, err := gomocup.PointOf(g.s.pos.Format(m), g.size); err == nil && !g.isBlocked(at) {
				l.Moves = append(l.Moves, m)
			}
		}
		if len(l.Moves) == 0 {
			return fmt.Errorf("all points are blocked or taken")
		}
	}
	g.search(l)
	return nil
}

func (g *gomocupHandler) search(l search.Limits) {
	g.began, g.last, g.lines = l.From, search.Info{}, nil
	if l.MultiPV > 1 {
		moves := len(l.Moves)
		if moves == 0 {
			moves = len(g.s.pos.Legal(nil))
		}
		g.lines = search.NewLines(min(l.MultiPV, moves))
	}
	g.s.think(l, nil)
}

// report sends the state of the search, of several lines those of one depth together, best
// first: a later one may have turned out better.
func (g *gomocupHandler) report(i search.Info) {
	if g.lines == nil {
		g.tell([]search.Info{i})
		return
	}
	g.lines.Watch(i)
	if lines, fresh := g.lines.Latest(); fresh {
		g.tell(lines)
	}
}

// tell sends lines, best first, if they are wanted.
func (g *gomocupHandler) tell(lines []search.Info) {
	g.last = lines[0]
	for n, i := range lines {
		if i.Line = n + 1; g.detail {
			g.message(i)
		}
	}
}

// message sends the state of a search.
func (g *gomocupHandler) message(i search.Info) {
	if len(i.PV) == 0 || g.s.pos == nil {
		return
	}
	score := fmt.Sprintf("%d", centipawns(i.Score, i.WinProb))
	if plies, ok := search.MateIn(i.Score); ok {
		score = fmt.Sprintf("win in %d", plies)
		if plies <= 0 {
			score = fmt.Sprintf("loss in %d", -plies)
		}
	}
	var line []string
	for _, m := range i.PV {
		line = append(line, g.s.pos.Format(m))
	}
	text := fmt.Sprintf("depth %d-%d score %s chance %.1f%% nodes %d time %d pv %s", i.Depth, i.SelDepth, score, 100*i.WinProb,
		i.Nodes, i.Time.Milliseconds(), strings.Join(line, " "))
	if i.Line > 1 {
		text = fmt.Sprintf("(%d) %s", i.Line, text)
	}
	g.s.say(gomocup.Answer{Kind: gomocup.Message, Text: text})
}

func (g *gomocupHandler) answer(r search.Result, err error) {
	g.time.spend(time.Since(g.began))
	if err == nil && r.Move == game.NoMove {
		err = fmt.Errorf("no move was found")
	}
	if err == nil && g.swap != nil {
		g.swap2Answer(r.Move)
		return
	}
	var at gomocup.Point
	if err == nil {
		at, err = gomocup.PointOf(g.s.pos.Format(r.Move), g.size)
	}
	if err == nil {
		if g.lines != nil {
			lines, _ := g.lines.Final(r)
			if _, fresh := g.lines.Latest(); fresh { // a level, and an iteration of few moves, end with them
				g.tell(lines)
			}
		}
		// A move of a book, of very few nodes, or of an iteration that was cut short, was not
		// reported.
		if reported := len(g.last.PV) > 0 && g.last.PV[0] == r.Move; !reported {
			g.message(search.Info{Depth: r.Depth, SelDepth: r.SelDepth, Score: r.Score, WinProb: r.WinProb, Nodes: r.Nodes, Time: r.Time, PV: r.PV})
		} else if !g.detail {
			g.message(g.last)
		}
		err = g.put(at, g.next)
	}
	if err != nil {
		g.sendError(err)
		return
	}
	g.s.say(gomocup.Answer{Kind: gomocup.Points, Points: []gomocup.Point{at}})
}

// showForbidden lists the points that are forbidden to Black in Renju.
func (g *gomocupHandler) showForbidden() error {
	if err := g.setUp(); err != nil {
		return err
	}
	a := gomocup.Answer{Kind: gomocup.Forbid}
	if f, ok := g.s.pos.(game.Forbidder); ok {
		for _, point := range f.Forbidden() {
			if at, err := gomocup.PointOf(point.Point, g.size); err == nil {
				a.Points = append(a.Points, at)
			}
		}
	}
	g.s.say(a)
	return nil
}

func (g *gomocupHandler) isBlocked(at gomocup.Point) bool {
	for _, b := range g.blocked {
		if b == at {
			return true
		}
	}
	return false
}

// block excludes points from the search, or includes them again.
func (g *gomocupHandler) block(c gomocup.Command) {
	for _, st := range c.Stones {
		kept := g.blocked[:0]
		for _, b := range g.blocked {
			if b != st.Point {
				kept = append(kept, b)
			}
		}
		g.blocked = kept
		if c.Verb == gomocup.YXBlock {
			g.blocked = append(g.blocked, st.Point)
		}
	}
}
