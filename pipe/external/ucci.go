package external

import (
	"strings"
	"time"

	"sparring/engine"
	"sparring/game/xiangqi"
	"sparring/pipe/ucci"
	"sparring/pipe/uci"
)

// ucciDialect speaks UCCI.
type ucciDialect struct {
	spec    Spec
	options options
	unit    time.Duration // of its clocks
	// bareInfinite: search without limits by "go infinite", as in UCI, not by UCCI's
	// "go depth infinite".
	bareInfinite bool
}

func newUCCI(s Spec, _ string) dialect { return &ucciDialect{spec: s, unit: ucci.Unit(false)} }

func (t *ucciDialect) handshake(p *program) error {
	if err := p.send(ucci.Hello{}.String()); err != nil {
		return err
	}
	err := p.await(p.times.start, engine.FaultStart, "ucciok", func(line string) bool {
		reply, _ := ucci.ParseReply(line)
		switch reply := reply.(type) {
		case ucci.Option:
			t.options = append(t.options, reply.Option)
		case ucci.ID:
			switch reply.Key {
			case "name":
				p.called(reply.Value, p.identity.build)
			case "version":
				p.called(p.identity.name, reply.Value)
			}
			if strings.Contains(reply.Value, "Fairy-Stockfish") {
				t.unit = time.Millisecond // it has no option for it
			}
		}
		return reply == ucci.OK{}
	})
	if err != nil {
		return err
	}
	hash, threads := "hashsize", "threads"
	if _, ok := t.options.find("Hash"); ok {
		hash = "Hash" // as in UCI
	}
	set, err := t.options.wanted(t.spec, hash, threads)
	if err != nil {
		return p.refuse("%w", err)
	}
	p.sizes = t.options.sizes(set, hash, threads)
	if o, ok := t.options.find("usemillisec"); ok {
		t.unit = ucci.Unit(true)
		set = append(set, Option{o.Name, "true"})
	}
	for _, o := range set {
		if err := p.send(ucci.SetOption{Name: o.Name, Value: o.Value}.String()); err != nil {
			return err
		}
	}
	return waitReady(p, engine.FaultStart)
}

func (t *ucciDialect) announced() options { return t.options }

// renew implements renewer.
func (t *ucciDialect) renew(p *program) error {
	if o, ok := t.options.find("newgame"); ok {
		if err := p.send(ucci.SetOption{Name: o.Name}.String()); err != nil {
			return err
		}
	}
	if err := waitReady(p, engine.FaultHang); err != nil {
		return err
	}
	p.needsSync = false
	return nil
}

func (t *ucciDialect) setUp(p *program, q *query) error {
	if p.board == nil {
		if err := p.newGame(); err != nil {
			return err
		}
	}
	if p.needsSync {
		if err := waitReady(p, engine.FaultHang); err != nil {
			return err
		}
		p.needsSync = false
	}
	p.fresh = false
	return p.send(ucci.Position{FEN: q.start, Moves: q.moves}.String())
}

func (t *ucciDialect) startSearch(p *program, _ *query, a searchLimits) error {
	// A search has one limit: programs read the first and skip the rest. One by depth or
	// nodes is stopped when its time is over.
	g := ucci.Go{Depth: a.limits.Depth, Nodes: a.limits.Nodes}
	units := func(d time.Duration) int { return max(int(d/t.unit), 1) }
	switch {
	case a.infinite && t.bareInfinite:
		return p.send("go infinite")
	case a.infinite:
		g = ucci.Go{Infinite: true}
	case a.clocked:
		g.Clock = &ucci.Clock{Time: units(a.mine), Increment: int(a.increment / t.unit),
			OppTime: units(a.theirs), OppIncrement: int(a.theirIncrement / t.unit)}
	case a.move > 0 && g.Depth == 0 && g.Nodes == 0: // the only way to set it
		g.Clock = &ucci.Clock{Time: units(a.move), MovesToGo: 1}
	}
	g.Infinite = g.Infinite || g.Clock == nil && g.Depth == 0 && g.Nodes == 0
	return p.send(g.String())
}

func (t *ucciDialect) parseLine(_ *query, line string) (*answer, *uci.Info) {
	switch reply, _ := ucci.ParseReply(line); reply := reply.(type) {
	case ucci.Info:
		i := &uci.Info{Depth: reply.Depth, Nodes: reply.Nodes, Time: reply.Time, PV: mapMoves(reply.PV, ourText)}
		if reply.Score != nil {
			i.Score = uci.Score{Unit: uci.Centipawns, Value: *reply.Score}
		}
		return nil, i
	case ucci.BestMove:
		return &answer{line: line, move: ourText(reply.Move), ponder: ourText(reply.Ponder), resign: reply.Resign, draw: reply.Draw}, nil
	case ucci.NoBestMove:
		return &answer{line: line, invalid: "no move"}, nil
	}
	return nil, nil
}

func (t *ucciDialect) isError(string) bool { return false }

// alternateInfinite implements dialect. ElephantEye and Fairy-Stockfish take "go
// depth infinite" for a search to depth 0; both understand "go infinite".
func (t *ucciDialect) alternateInfinite() bool {
	was := t.bareInfinite
	t.bareInfinite = true
	return !was
}

func (t *ucciDialect) stopCommand() string { return ucci.Stop{}.String() }
func (t *ucciDialect) quitCommand() string { return ucci.Quit{}.String() }

// ourText converts a move, in any case and with or without a hyphen.
func ourText(move string) string { return uci.Dialect{Game: xiangqi.Name}.Ours(move) }

func (t *ucciDialect) unknownLine(line string) bool {
	reply, _ := ucci.ParseReply(line)
	_, chatter := reply.(ucci.Chatter)
	return chatter
}
