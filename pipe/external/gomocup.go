package external

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/game/gomoku"
	"sparring/pipe/gomocup"
	"sparring/pipe/uci"
)

// gomocupDialect speaks the Gomocup protocol.
type gomocupDialect struct {
	spec      Spec
	size      int               // of the board
	noRestart bool              // it has not obeyed RESTART
	told      map[string]string // the INFO sent in this game
}

func newGomocup(s Spec, _ string) dialect { return &gomocupDialect{spec: s} }

func (t *gomocupDialect) handshake(p *program) error {
	// Every program must know START, so it shows whether this is one.
	if err := t.begin(p, startSize, engine.FaultStart); err != nil {
		return err
	}
	p.fresh = true
	if err := t.about(p); err != nil {
		return err
	}
	for _, o := range t.spec.Options {
		if err := t.info(p, o.Name, o.Value); err != nil {
			return err
		}
	}
	for _, o := range []struct {
		key string
		n   int64
	}{{gomocup.MaxMemory, t.spec.Memory}, {gomocup.HashSize, int64(t.spec.Hash) << 10}, {gomocup.ThreadNum, int64(t.spec.Threads)}} {
		if o.n > 0 {
			if err := t.info(p, o.key, strconv.FormatInt(o.n, 10)); err != nil {
				return err
			}
		}
	}
	kib, _ := strconv.Atoi(t.told[gomocup.HashSize])
	threads, _ := strconv.Atoi(t.told[gomocup.ThreadNum])
	p.sizes = sizes{kib >> 10, threads}
	return t.info(p, gomocup.GameType, "1")
}

// info sends an INFO line unless the value is unchanged, because some programs
// answer each one that they do not know with an error.
func (t *gomocupDialect) info(p *program, key, value string) error {
	if said, ok := t.told[key]; ok && said == value {
		return nil
	}
	if t.told == nil {
		t.told = map[string]string{}
	}
	t.told[key] = value
	return p.send(gomocup.Command{Verb: gomocup.Info, Key: key, Value: value}.String())
}

// aboutTimeout is how long ABOUT may go unanswered: it is optional.
const aboutTimeout = time.Second

// about asks for the name of the program, unless another process of it has told.
func (t *gomocupDialect) about(p *program) error {
	if p.identity.name != "" {
		return nil
	}
	if err := p.send(string(gomocup.About)); err != nil {
		return err
	}
	_, err := p.listen(aboutTimeout, func(line string) bool {
		a, _ := gomocup.ParseAnswer(line)
		if a.Kind != gomocup.Identity {
			return a.Kind == gomocup.Error || a.Kind == gomocup.Unknown
		}
		said := map[string]string{}
		for _, pair := range gomocup.ParseAbout(a.Text) {
			said[pair.Key] = pair.Value
		}
		p.called(said["name"], said["version"])
		return true
	})
	return err
}

// startSize is the size of the board at the start of a program.
const startSize = 15

// gomocupPause is the default of Spec.Pause. Rapfi loses the first word of a line
// that comes right after its own move, but none after 80 ms.
const gomocupPause = 100 * time.Millisecond

// restartTimeout is how long RESTART may go unanswered before START is sent
// instead: it is optional.
const restartTimeout = time.Second

// begin makes the program ready for a game on an empty board.
func (t *gomocupDialect) begin(p *program, size int, kind engine.FaultKind) error {
	t.size = size
	c := gomocup.Command{Verb: gomocup.Start, Width: size, Height: size}
	if err := p.send(c.String()); err != nil {
		return err
	}
	refused := ""
	err := p.await(p.times.start, kind, "OK to "+c.String(), func(line string) bool {
		a, _ := gomocup.ParseAnswer(line)
		if a.Kind == gomocup.Error || a.Kind == gomocup.Unknown {
			refused = line
		}
		return a.Kind == gomocup.OK || refused != ""
	})
	if err == nil && refused != "" {
		return p.refuse("it answers %q to %q", clip(refused), c.String())
	}
	return err
}

// renew implements renewer: an unanswered RESTART takes restartTimeout.
func (t *gomocupDialect) renew(p *program) error {
	return t.restart(p, t.size)
}

// restart makes the program ready for the next game.
func (t *gomocupDialect) restart(p *program, size int) error {
	t.told = nil // the protocol does not say whether the program keeps it
	if size == t.size && !t.noRestart {
		if err := p.send(string(gomocup.Restart)); err != nil {
			return err
		}
		done := false
		_, err := p.listen(restartTimeout, func(line string) bool {
			a, _ := gomocup.ParseAnswer(line)
			done = a.Kind == gomocup.OK
			return done || a.Kind == gomocup.Error || a.Kind == gomocup.Unknown
		})
		if done || err != nil {
			return err
		}
		t.noRestart = true
	}
	return t.begin(p, size, engine.FaultHang)
}

func (t *gomocupDialect) setUp(p *program, q *query) error {
	rule, size, _, err := gomocup.RuleOf(q.pos.Rules().Name)
	if err != nil {
		return err
	}
	if p.board.leadsTo(q) {
		return nil // TURN will do; BEGIN and BOARD need an empty board
	}
	if !p.fresh || size != t.size {
		if err := t.restart(p, size); err != nil {
			return err
		}
	}
	p.fresh = false
	return t.info(p, gomocup.RuleKey, strconv.Itoa(int(rule)))
}

func (t *gomocupDialect) startSearch(p *program, q *query, a searchLimits) error {
	for _, i := range []struct {
		key string
		d   time.Duration
		on  bool
	}{
		{gomocup.TimeoutMatch, a.initial, true},
		{gomocup.TimeIncrement, a.increment, a.increment > 0},
		{gomocup.TimeLeft, a.left(), true},
		{gomocup.TimeoutTurn, a.turn(p), true},
	} {
		if i.on {
			if err := t.info(p, i.key, strconv.FormatInt(i.d.Milliseconds(), 10)); err != nil {
				return err
			}
		}
	}
	c, err := t.position(p, q)
	if err != nil {
		return err
	}
	return p.send(c.String())
}

// left returns the time left on the program's clock.
func (a searchLimits) left() time.Duration {
	if a.clocked {
		return a.mine
	}
	return math.MaxInt32 * time.Millisecond // no limit
}

// turn returns the time for the move.
func (a searchLimits) turn(p *program) time.Duration {
	switch {
	case a.clocked && a.move > 0:
		return min(a.move, a.mine)
	case a.clocked:
		return a.mine
	case a.move > 0:
		return a.move
	}
	return p.times.think
}

// position returns the command that makes the program move: BEGIN on an empty board,
// TURN if it knows all but the last move, BOARD otherwise.
func (t *gomocupDialect) position(p *program, q *query) (gomocup.Command, error) {
	if p.board.leadsTo(q) {
		at, err := gomocup.PointOf(q.moves[len(q.moves)-1], t.size)
		return gomocup.Command{Verb: gomocup.Turn, At: at}, err
	}
	stones, err := t.stones(q)
	if err == nil && len(stones) == 0 {
		return gomocup.Command{Verb: gomocup.Begin}, nil
	}
	return gomocup.Command{Verb: gomocup.Board, Stones: stones}, err
}

// stones lists the stones of the start position, then the moves. Some programs (Wine)
// take the stones for moves of the players in turn, whatever their colour, and
// answer only if the last is the opponent's. So those of the start position alternate, as far
// as their numbers allow, end with one of the side that is not to move there, and could
// have been played in their order. A stone
// of a row that has been counted is a dead one, also if a move of the list has made the row.
func (t *gomocupDialect) stones(q *query) (list []gomocup.Stone, err error) {
	g, ok := q.pos.Clone().(*gomoku.Position)
	if !ok {
		return nil, errors.New("gomocup: no position of Gomoku")
	}
	mine, now := g.ToMove(), g.Board()
	for range q.moves {
		g.Undo()
	}
	b, next := g.Board(), g.ToMove()
	side := func(c gomoku.Colour) gomocup.Side {
		if c == mine {
			return gomocup.Own
		}
		return gomocup.Opponent
	}
	add := func(text string, s gomocup.Side) {
		at, bad := gomocup.PointOf(text, t.size)
		p, bad2 := now.ParsePoint(text)
		switch {
		case bad != nil || bad2 != nil:
			err = errors.Join(bad, bad2)
		case now.Dead(p):
			s = gomocup.Dead
		}
		list = append(list, gomocup.Stone{Point: at, Side: s})
	}
	var last, before []string // stones of the side not to move, and of the other
	for column := range t.size {
		for row := range t.size {
			at := b.Point(column, row)
			switch c, ok := b.At(at); {
			case b.Dead(at):
				add(b.PointText(at), gomocup.Dead)
			case !ok:
			case c == next:
				before = append(before, b.PointText(at))
			default:
				last = append(last, b.PointText(at))
			}
		}
	}
	if len(last)-len(before) == int(next) { // as in a game
		orderAsPlayed(g, last, before)
	}
	for n := max(len(before), len(last)); n > 0; n-- {
		if n <= len(before) {
			add(before[len(before)-n], side(next))
		}
		if n <= len(last) {
			add(last[len(last)-n], side(next.Other()))
		}
	}
	for i, m := range q.moves {
		s := gomocup.Own
		if (len(q.moves)-i)%2 == 1 {
			s = gomocup.Opponent
		}
		add(m, s)
	}
	return list, err
}

// orderAsPlayed changes the order of each side's stones so that no row or forbidden point
// ends a game in which they are played in turn, and the last list has the last. It leaves
// them where it finds no such order.
func orderAsPlayed(g *gomoku.Position, last, before []string) {
	p, err := g.Plain().Rules().New("")
	if err != nil {
		return
	}
	sides := [][]string{slices.Clone(before), slices.Clone(last)}
	if len(last) > len(before) {
		slices.Reverse(sides)
	}
	for n := range len(last) + len(before) {
		stones := sides[n%2][n/2:]
		i := slices.IndexFunc(stones, func(at string) bool { return canPlay(p, at) })
		if i < 0 {
			return
		}
		if _, err := game.PlayText(p, stones[i]); err != nil {
			return
		}
		stones[0], stones[i] = stones[i], stones[0]
	}
	if len(last) > len(before) {
		slices.Reverse(sides)
	}
	copy(before, sides[0])
	copy(last, sides[1])
}

// canPlay reports whether a stone can be played without the end of the game.
func canPlay(p game.Position, at string) bool {
	if _, err := game.PlayText(p, at); err != nil {
		return false
	}
	defer p.Undo()
	return !p.Outcome().Over()
}

func (t *gomocupDialect) parseLine(_ *query, line string) (*answer, *uci.Info) {
	a, err := gomocup.ParseAnswer(line)
	switch a.Kind {
	case gomocup.Points:
		if err != nil || len(a.Points) != 1 {
			return &answer{line: line, invalid: "no move"}, nil
		}
		move := a.Points[0].Move(t.size)
		if move == "" {
			return &answer{line: line, invalid: "off the board"}, nil
		}
		return &answer{line: line, move: move}, nil
	case gomocup.Swap:
		return &answer{line: line, invalid: "no move"}, nil
	case gomocup.Suggest:
		if err == nil {
			return &answer{line: line, reply: gomocup.Command{Verb: gomocup.Play, At: a.Points[0]}.String()}, nil
		}
	case gomocup.Message:
		if thought, ok := gomocup.ParseThought(a.Text); ok {
			return nil, gomocupInfo(thought)
		}
	}
	return nil, nil
}

// gomocupInfo converts what a program says about its search.
func gomocupInfo(t gomocup.Thought) *uci.Info {
	i := &uci.Info{Depth: t.Depth, SelDepth: t.SelDepth, Line: t.Line, Nodes: t.Nodes, Score: uci.Score{Unit: uci.Centipawns, Value: t.Score}}
	if t.Mate {
		moves := (t.Plies + 1) / 2
		if t.Won {
			moves = max(moves, 1) // a mate in 0 is one against the side to move
		} else {
			moves = -moves
		}
		i.Score = uci.Score{Unit: uci.Mate, Value: moves}
	}
	if t.Chance != nil {
		wins := int(math.Round(1000 * *t.Chance))
		i.WDL = &uci.WDL{Win: wins, Loss: 1000 - wins}
	}
	return i
}

func (t *gomocupDialect) isError(line string) bool {
	a, _ := gomocup.ParseAnswer(line)
	return a.Kind == gomocup.Error || a.Kind == gomocup.Unknown
}

func (t *gomocupDialect) alternateInfinite() bool { return false }

func (t *gomocupDialect) stopCommand() string { return "" }
func (t *gomocupDialect) quitCommand() string { return string(gomocup.End) }

func (t *gomocupDialect) unknownLine(line string) bool {
	a, err := gomocup.ParseAnswer(line)
	return err != nil || a.Kind == gomocup.Chatter
}
