package external

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/game/xiangqi"
	"sparring/pipe/uci"
	"sparring/pipe/xboard"
)

// xboardDialect speaks XBoard's protocol. The program keeps the board. A game is
// set up in force mode, and then continues as with XBoard: the clocks and the
// opponent's move are sent, and the program answers. Some programs (HoiXiangqi)
// ignore clocks in force mode.
type xboardDialect struct {
	spec     Spec
	features xboard.Features
	pings    int
	level    string // the time control
	last     string // the opponent's move to be answered; "" if it moves next anyway
	draw     bool   // it has offered a draw with its next move
	refused  string // its answer to a move or position that it refused
	claims   int    // results that it has claimed in this search where its move was due

	asked  *program     // for its move
	limits searchLimits // as they were when it was asked
	since  time.Time    // when it was
}

func newXBoard(s Spec, _ string) dialect {
	return &xboardDialect{spec: s, features: xboard.DefaultFeatures()}
}

// featureTimeout is how long to wait for the first feature, as the protocol
// prescribes: engines of its version 1 send none.
const featureTimeout = 2 * time.Second

func (t *xboardDialect) handshake(p *program) error {
	if err := p.send(xboard.Hello); err != nil {
		return err
	}
	var answers []string
	read := func(line string) bool {
		r, _ := xboard.Parse(line)
		for _, f := range r.Features {
			if a := t.features.Set(f); a != "" {
				answers = append(answers, a)
			}
		}
		return t.features.Done
	}
	done, err := p.listen(featureTimeout, read)
	if err != nil {
		return err
	}
	if !done && t.features.Waiting {
		if err := p.await(p.times.start, engine.FaultStart, "feature done=1", read); err != nil {
			return err
		}
	}
	p.called(t.features.Name, "")
	if v := t.features.Variants; len(v) > 0 && !slices.Contains(v, xiangqi.Name) {
		return p.refuse("it plays no xiangqi: its variants are %s", strings.Join(v, ", "))
	}
	p.oneGame = !t.features.Reuse
	set, err := t.settings(p)
	if err != nil {
		return p.refuse("%w", err)
	}
	if err := p.sendAll(append(answers, set...)); err != nil {
		return err
	}
	return t.sync(p, engine.FaultStart)
}

// settings returns the commands for the settings of the spec, and notes the sizes.
func (t *xboardDialect) settings(p *program) (lines []string, err error) {
	if t.features.Memory && t.spec.Hash > 0 {
		p.sizes.hashMB = t.spec.Hash
		lines = append(lines, xboard.Memory(t.spec.Hash))
	}
	if t.features.SMP && t.spec.Threads > 0 {
		p.sizes.threads = t.spec.Threads
		lines = append(lines, xboard.Cores(t.spec.Threads))
	}
	var known options // "NAME -spin 0 ..."
	for _, o := range t.features.Options {
		name, _, _ := strings.Cut(o, " -")
		known = append(known, uci.Option{Name: name})
	}
	set, err := known.wanted(Spec{Options: t.spec.Options}, "", "")
	for _, o := range set {
		lines = append(lines, xboard.Option(o.Name, o.Value))
	}
	return append(lines, xboard.Easy, xboard.Post), err
}

// announced reads the options of the form "NAME -spin 0 -10 10".
func (t *xboardDialect) announced() (all options) {
	for _, text := range t.features.Options {
		name, what, _ := strings.Cut(text, " -")
		o := uci.Option{Name: name, Kind: uci.Text}
		switch f := strings.Fields(what); {
		case len(f) == 4 && f[0] == "spin":
			var err [2]error
			o.Kind, o.Default = uci.Spin, f[1]
			o.Min, err[0] = strconv.Atoi(f[2])
			o.Max, err[1] = strconv.Atoi(f[3])
			if errors.Join(err[:]...) != nil {
				o.Kind = uci.Text
			}
		case len(f) > 0 && (f[0] == "check" || f[0] == "combo"):
			o.Kind = uci.Kind(f[0])
		case len(f) > 0 && (f[0] == "button" || f[0] == "save" || f[0] == "reset"):
			o.Kind = uci.Button
		}
		all = append(all, o)
	}
	return all
}

// sync waits until the program has handled all commands, if it can tell.
func (t *xboardDialect) sync(p *program, kind engine.FaultKind) error {
	if !t.features.Ping {
		return nil
	}
	t.pings++
	if err := p.send(xboard.Ping(t.pings)); err != nil {
		return err
	}
	return p.await(p.times.start, kind, "pong", func(line string) bool {
		r, _ := xboard.Parse(line)
		if r.Kind == xboard.Illegal || r.Kind == xboard.Error {
			t.refused = line
		}
		return r.Kind == xboard.Pong && r.N == t.pings
	})
}

func (t *xboardDialect) setUp(p *program, q *query) error {
	t.draw, t.last, t.claims = false, "", 0
	if line := p.inbox.latest(); p.board != nil && t.features.Reuse {
		if r, _ := xboard.Parse(line); r.Kind == xboard.ResultClaim { // after its last move
			p.claimed(line)
			p.board = nil // it may take no more moves in this game
		}
	}
	if p.board.leadsTo(q) {
		t.last = q.moves[len(q.moves)-1]
		return nil
	}
	return t.place(p, q.start, q.moves)
}

// renew implements renewer. Of a program without ping it is not known when it is ready.
func (t *xboardDialect) renew(p *program) error {
	t.level = ""
	return t.tell(p, "a new game", xboard.New, xboard.Variant(xiangqi.Name), xboard.Easy, xboard.Force)
}

// place sets up a position of a new game with the moves that lead to it.
func (t *xboardDialect) place(p *program, start string, moves []string) error {
	if err := p.newGame(); err != nil {
		return err
	}
	p.fresh, t.last = false, ""
	var lines []string
	if start != "" {
		fen, err := xboard.FEN(start)
		if err != nil {
			return err
		}
		if !t.features.SetBoard {
			return p.refuse("it can't set up a position (feature setboard)")
		}
		lines = append(lines, xboard.SetBoard(fen))
	}
	for _, m := range moves {
		lines = append(lines, xboard.Move(t.features, m))
	}
	if len(lines) == 0 {
		return nil
	}
	return t.tell(p, "the position", lines...)
}

// tell sends commands and waits until the program has handled them. The error is a fault if it
// refuses what they ask for.
func (t *xboardDialect) tell(p *program, what string, lines ...string) error {
	t.refused = ""
	if err := p.sendAll(lines); err != nil {
		return err
	}
	if err := t.sync(p, engine.FaultHang); err != nil {
		return err
	}
	if t.refused != "" {
		p.fail(engine.FaultIllegal, "it refuses %s: %q", what, clip(t.refused))
		<-p.gone
		return p.fault()
	}
	return nil
}

func (t *xboardDialect) startSearch(p *program, _ *query, a searchLimits) error {
	t.asked, t.limits, t.since = p, a, time.Now()
	var lines []string
	level, mine, theirs := "", a.mine, a.theirs
	switch {
	case a.clocked:
		level = xboard.Level(0, a.initial, a.increment)
	case a.move > 0:
		// One move to the next time control, with this much time left: the command
		// for the time of each move (st) takes only whole seconds.
		level, mine, theirs = xboard.Level(1, a.move+time.Second-1, 0), a.move, a.move
	default:
		level, mine, theirs = xboard.Level(0, unhurried, 0), unhurried, unhurried
	}
	if level != t.level {
		lines, t.level = append(lines, level), level
	}
	if t.features.Time {
		lines = append(lines, xboard.Clocks(mine, theirs))
	}
	if a.limits.Depth > 0 {
		lines = append(lines, xboard.Depth(a.limits.Depth))
	}
	if t.last == "" {
		return p.sendAll(append(lines, xboard.Go))
	}
	return p.sendAll(append(lines, xboard.Move(t.features, t.last)))
}

// unhurried is the time for a game without a clock.
const unhurried = 24 * time.Hour

func (t *xboardDialect) parseLine(q *query, line string) (*answer, *uci.Info) {
	switch r, _ := xboard.Parse(line); r.Kind {
	case xboard.MoveReply:
		return &answer{line: line, move: ourText(r.Move), draw: t.draw}, nil
	case xboard.Resign:
		return &answer{line: line, resign: true}, nil
	case xboard.OfferDraw:
		t.draw = true
	case xboard.ResultClaim:
		return t.claimed(q, r, line), nil
	case xboard.Pong:
		if t.claims > 0 && r.N == t.pings {
			if t.askAgain(q) != nil {
				t.asked.inbox.signal() // it has ended
			}
		}
	case xboard.Illegal:
		return &answer{line: line, invalid: "it calls a legal move illegal"}, nil
	case xboard.Thinking:
		return nil, &uci.Info{
			Depth: r.Thought.Depth, Nodes: r.Thought.Nodes, Time: r.Thought.Time, Score: xboardScore(r.Thought.Score),
		}
	}
	return nil, nil
}

// maxClaims is how often an engine that answers with a claim is asked for its move again.
const maxClaims = 2

// drawn is the result of a draw.
const drawn = "1/2-1/2"

// claimed reads a result that the program claims where its move is due. The game has not
// ended by our rules, so the claim of a draw offers one, and the move is waited for. Some
// programs think on, and others wait to be asked again: a ping tells them apart, because a
// program that thinks answers it after its move.
func (t *xboardDialect) claimed(q *query, r xboard.Reply, line string) *answer {
	lost := "1-0"
	if q.pos.Turn() == game.First {
		lost = "0-1"
	}
	if r.Result == lost && strings.Contains(strings.ToLower(r.Text), "resign") { // another form of "resign"
		return &answer{line: line, resign: true}
	}
	t.draw = t.draw || r.Result == drawn
	if t.claims++; t.claims > maxClaims {
		return &answer{line: line, invalid: "it claims a result, for which there is no reason in the rules, and does not move"}
	}
	if t.features.Ping {
		t.pings++
		t.asked.send(xboard.Ping(t.pings)) // an error is the end of the process, which is noticed
	}
	return &answer{line: line, claim: true}
}

// askAgain asks a program for its move that has stopped to think after a claim. For it the
// game may be over, so it gets the position as for a new game; after another claim without
// the moves that led to it, of which it believes that they have ended the game.
func (t *xboardDialect) askAgain(q *query) error {
	var err error
	switch {
	case !t.features.Reuse:
		return t.asked.sendAll([]string{xboard.Force, xboard.Go})
	case t.claims > 1 && t.features.SetBoard:
		err = t.place(t.asked, q.pos.String(), nil)
	default:
		err = t.place(t.asked, q.start, q.moves)
	}
	if err != nil {
		return err
	}
	left, gone := t.limits, time.Since(t.since)
	left.mine = max(left.mine-gone, time.Millisecond)
	if left.move > 0 {
		left.move = max(left.move-gone, time.Millisecond)
	}
	return t.startSearch(t.asked, q, left)
}

// xboardScore converts a score: beyond mateBase it is the number of moves to mate.
func xboardScore(n int) uci.Score {
	const mateBase = 100_000
	switch {
	case n > mateBase:
		return uci.Score{Unit: uci.Mate, Value: n - mateBase}
	case n < -mateBase:
		return uci.Score{Unit: uci.Mate, Value: n + mateBase}
	}
	return uci.Score{Unit: uci.Centipawns, Value: n}
}

func (t *xboardDialect) isError(line string) bool {
	r, _ := xboard.Parse(line)
	return r.Kind == xboard.Error
}

func (t *xboardDialect) alternateInfinite() bool { return false }

func (t *xboardDialect) stopCommand() string { return xboard.Now }
func (t *xboardDialect) quitCommand() string { return xboard.Quit }

// unknownLine implements dialect. The protocol allows programs to write anything.
func (t *xboardDialect) unknownLine(string) bool { return false }
