package external

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/xiangqi"
	"sparring/pipe/uci"
)

// uciDialect speaks UCI.
type uciDialect struct {
	spec    Spec
	game    string
	form    uci.Dialect
	options options
	rules   string // the rules it was set to
	lines   int    // the value of MultiPV
}

func newUCI(s Spec, gameName string) dialect {
	return &uciDialect{spec: s, game: gameName, form: uci.Dialect{Game: gameName}, lines: 1}
}

func (t *uciDialect) handshake(p *program) error {
	if err := p.send(uci.Hello{}.String()); err != nil {
		return err
	}
	err := p.await(p.times.start, engine.FaultStart, "uciok", func(line string) bool {
		reply, _ := uci.ParseReply(line)
		switch reply := reply.(type) {
		case uci.Option:
			t.options = append(t.options, reply)
		case uci.ID:
			if reply.Key == "name" {
				p.called(reply.Value, "")
			}
		}
		return reply == uci.OK{}
	})
	if err != nil {
		return err
	}
	set, err := t.options.wanted(t.spec, "Hash", "Threads")
	if err != nil {
		return p.refuse("%w", err)
	}
	p.sizes = t.options.sizes(set, "Hash", "Threads")
	variant, has := t.options.find("UCI_Variant")
	switch {
	case has && !slices.Contains(variant.Vars, t.game):
		return p.refuse("it plays no %s: UCI_Variant has %s", t.game, strings.Join(variant.Vars, ", "))
	case has:
		t.form.Ranks = 1 // as in Fairy-Stockfish, where the option comes from
		set = append([]Option{{variant.Name, t.game}}, set...)
	case t.game != xiangqi.Name:
		return p.refuse("it has no option UCI_Variant, by which it could be told to play %s", t.game)
	}
	for _, o := range set {
		if err := t.set(p, o.Name, o.Value); err != nil {
			return err
		}
	}
	if err := waitReady(p, engine.FaultStart); err != nil {
		return err
	}
	if t.game == xiangqi.Name && !has {
		return t.probe(p)
	}
	return nil
}

func (t *uciDialect) announced() options { return t.options }

func (t *uciDialect) set(p *program, name, value string) error {
	return p.send(uci.SetOption{Name: name, Value: value}.String())
}

// probe finds out the number of the first rank. In this position only the king can
// move, and none of its moves is legal in both notations.
func (t *uciDialect) probe(p *program) error {
	const position = "3k4r/9/9/9/9/9/9/9/9/4K4 w - - 0 1"
	if err := p.sendAll([]string{uci.Position{FEN: position}.String(), uci.Go{Depth: 1}.String()}); err != nil {
		return err
	}
	return p.await(p.times.start, engine.FaultStart, "answer to a test position", func(line string) bool {
		reply, _ := uci.ParseReply(line)
		best, ok := reply.(uci.BestMove)
		if ok && (best.Move == "e1e2" || best.Move == "e1f1") {
			t.form.Ranks = 1
		}
		return ok
	})
}

// renew implements renewer.
func (t *uciDialect) renew(p *program) error {
	if err := p.send(uci.NewGame{}.String()); err != nil {
		return err
	}
	if err := waitReady(p, engine.FaultHang); err != nil {
		return err
	}
	p.needsSync = false
	return nil
}

func (t *uciDialect) setUp(p *program, q *query) error {
	if p.board == nil {
		if err := p.newGame(); err != nil {
			return err
		}
		told, err := t.tellRules(p, q.pos.Rules())
		if err != nil {
			return err
		}
		p.needsSync = p.needsSync || told
	}
	p.fresh = false
	if p.needsSync {
		if err := waitReady(p, engine.FaultHang); err != nil {
			return err
		}
		p.needsSync = false
	}
	if lines := max(q.lines, 1); lines != t.lines {
		if have, ok := t.options.find("MultiPV"); ok {
			if err := t.set(p, have.Name, strconv.Itoa(min(lines, max(have.Max, 1)))); err != nil {
				return err
			}
		}
		t.lines = lines
	}
	pos := uci.Position{FEN: t.form.TheirPosition(q.start), Moves: mapMoves(q.moves, t.form.Theirs)}
	return p.send(pos.String())
}

// tellRules sets the program's options for rules, and refuses rules that it can't
// be set to. Told says that it has set some.
func (t *uciDialect) tellRules(p *program, r *game.Rules) (told bool, err error) {
	if r.Name == t.rules {
		return false, nil
	}
	_, set, _ := strings.Cut(r.Name, "/")
	names := []string{r.Name, set}
	if t.game == xiangqi.Name {
		set, _, _ = strings.Cut(set, "+")
		names = append(names, set, repetition[set])
	}
	for _, name := range []string{"Rules", "Repetition Rule"} {
		have, ok := t.options.find(name)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(names, func(n string) bool { return n != "" && slices.Contains(have.Vars, n) }); i >= 0 {
			if err := t.set(p, have.Name, names[i]); err != nil {
				return told, err
			}
			told = true
		}
	}
	// An engine without such options plays the game's default rules. In Xiangqi it
	// may treat repetitions differently: our rules decide.
	if g, err := catalog.Game(t.game); err != nil || !told && t.game != xiangqi.Name && r.Name != g.Default {
		return told, fmt.Errorf("it has no option by which it could be told to play %s", r.Name)
	}
	t.rules = r.Name
	return told, nil
}

// repetition is Pikafish's names of the rules of repetition.
var repetition = map[string]string{"wxf": "AsianRule", "cxa": "ChineseRule"}

func (t *uciDialect) startSearch(p *program, q *query, a searchLimits) error {
	g := uci.Go{Depth: a.limits.Depth, Nodes: a.limits.Nodes, Mate: a.limits.Mate}
	for _, m := range a.limits.Moves {
		g.Moves = append(g.Moves, t.form.Theirs(q.pos.Format(m)))
	}
	switch {
	case a.infinite:
		g.Infinite, g.Depth, g.Nodes, g.Mate = true, 0, 0, 0
	case a.clocked:
		g.Clocks = &uci.Clocks{White: a.mine, Black: a.theirs, WhiteIncrement: a.increment, BlackIncrement: a.theirIncrement}
		if !q.first {
			g.Clocks = &uci.Clocks{White: a.theirs, Black: a.mine, WhiteIncrement: a.theirIncrement, BlackIncrement: a.increment}
		}
	case a.move > 0:
		g.MoveTime = max(a.move, time.Millisecond)
	}
	g.Infinite = g.Infinite || g.Clocks == nil && g.MoveTime == 0 && g.Depth == 0 && g.Nodes == 0 && g.Mate == 0
	return p.send(g.String())
}

func (t *uciDialect) parseLine(_ *query, line string) (*answer, *uci.Info) {
	switch reply, _ := uci.ParseReply(line); reply := reply.(type) {
	case uci.Info:
		reply.PV = mapMoves(reply.PV, t.form.Ours)
		return nil, &reply
	case uci.BestMove:
		a := &answer{line: line, move: t.form.Ours(reply.Move), ponder: t.form.Ours(reply.Ponder)}
		switch {
		case reply.None():
			a.invalid = "no move"
		case t.form.BelowRanks(reply.Move):
			a.invalid = "no move with ranks from 1 to 10, as engines with the option UCI_Variant write them"
		}
		return a, nil
	}
	return nil, nil
}

func (t *uciDialect) isError(string) bool { return false }

func (t *uciDialect) alternateInfinite() bool { return false }

func (t *uciDialect) stopCommand() string { return uci.Stop{}.String() }
func (t *uciDialect) quitCommand() string { return uci.Quit{}.String() }

func (t *uciDialect) unknownLine(line string) bool {
	reply, _ := uci.ParseReply(line)
	_, chatter := reply.(uci.Chatter)
	return chatter
}
