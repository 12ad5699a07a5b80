package bot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// analyst answers requests for analysis of the games that our own engine plays for
// a player of the process, always at full strength. Its searches stand below all
// searches for moves.
type analyst struct {
	bot    *Bot
	places int // analyses at once; one more if it is a hint
	log    zerolog.Logger

	mu      sync.Mutex
	used    int
	subs    map[string]*nats.Subscription // by game; nil while it takes none
	may     []string                      // games that the user may analyse
	working context.Context               // of all analyses; nil before the start
}

// updateInterval is the time between two answers of an analysis, while there is
// something new. It must stay under protocol.AnalysisPulse.
const updateInterval = 300 * time.Millisecond

// analysedGames returns the games that our own engine plays for one of the players.
func analysedGames(players []*player) (names []string) {
	for _, p := range players {
		for _, g := range p.profile().Games {
			if !p.profile().external() && !slices.Contains(names, g) {
				names = append(names, g)
			}
		}
	}
	return names
}

// newAnalyst returns an analyst that takes no requests yet.
func newAnalyst(b *Bot) *analyst {
	return &analyst{bot: b, places: b.cfg.Analyses, log: b.log}
}

// start lets the analyst take requests, in the games that the user may analyse. Its analyses
// end with working. It waits for the server, until ctx ends.
func (a *analyst) start(ctx, working context.Context) {
	// Of cancellations that never come: a request that was lost here would wait for seconds.
	games := make(map[string]string) // by the subject that is asked about
	for _, g := range catalog.Games() {
		games[a.bot.subjects.AnalyseCancel(g.Name, protocol.NewID())] = g.Name
	}
	for a.bot.cfg.Analyses > 0 && ctx.Err() == nil && protocol.Await(ctx, a.bot.nc) == nil {
		within, cancel := context.WithTimeout(ctx, probeTimeout)
		may, err := protocol.MaySubscribe(within, a.bot.nc, protocol.AnalystsQueue, slices.Collect(maps.Keys(games))...)
		cancel()
		if err != nil {
			a.log.Debug().Err(err).Msg("can't ask whether this user may analyse; trying again")
			sleep(ctx, checkInterval)
			continue
		}
		if len(may) == 0 && len(analysedGames(a.bot.roster())) > 0 {
			a.log.Info().Msg("no analyses: this user may not take requests for them")
		}
		a.mu.Lock()
		for _, subject := range may {
			a.may = append(a.may, games[subject])
		}
		a.working = working
		a.mu.Unlock()
		a.bot.followMode()
		return
	}
}

// end makes the analyst take no more requests, for good.
func (a *analyst) end() {
	a.serve(false)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.places = 0
}

// serve joins or leaves the queue of analysts of each game, once the analyst has
// started. Analyses under way go on.
func (a *analyst) serve(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !on || a.places == 0 || a.working == nil {
		for _, sub := range a.subs {
			sub.Drain() // answers requests that are on their way; fails only on a closed connection
		}
		a.subs = nil
		return
	}
	if a.subs != nil {
		return
	}
	a.subs = make(map[string]*nats.Subscription)
	for _, name := range analysedGames(a.bot.roster()) {
		if !slices.Contains(a.may, name) {
			continue
		}
		sub, err := a.bot.base.Analyst(name, func(t *protocol.AnalysisTask) { a.take(name, t) })
		if err != nil {
			a.log.Error().Err(err).Str("game_name", name).Msg("can't take requests for analysis") // the connection is closed, which ends Run
			continue
		}
		a.subs[name] = sub
	}
}

// underWay returns how many analyses are under way.
func (a *analyst) underWay() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

// take accepts or refuses a request, and returns at once.
func (a *analyst) take(gameName string, t *protocol.AnalysisTask) {
	if !a.reserve(t.Purpose) {
		t.Refuse(protocol.Refuse(protocol.CodeBusy, "%d analyses are under way", a.places))
		return
	}
	started := a.bot.spawn(func() {
		defer a.release()
		a.work(gameName, t)
	})
	if !started {
		a.release()
		t.Refuse(shuttingDown)
	}
}

var shuttingDown = protocol.Refuse(protocol.Unavailable, "shutting down")

// reserve takes a place. The last one is for hints: somebody waits for them.
func (a *analyst) reserve(p protocol.Purpose) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	places := a.places
	if p == protocol.ForHint {
		places++
	}
	if a.used >= places || a.subs == nil {
		return false
	}
	a.used++
	return true
}

func (a *analyst) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used--
}

// work answers a request.
func (a *analyst) work(gameName string, t *protocol.AnalysisTask) {
	pos, consider, refusal := analysedPosition(gameName, t)
	if refusal != nil {
		t.Refuse(refusal)
		return
	}
	ctx, err := t.Accept(a.working)
	if err != nil {
		t.Refuse(protocol.Refuse(protocol.Unavailable, "can't subscribe to cancellations"))
		return
	}
	g, err := a.bot.deps.NewGame("", engine.GameOptions{ID: "analysis-" + t.ID, Rules: pos.Rules()})
	if err != nil {
		a.fail(t, err)
		return
	}
	defer g.Close()
	w := &analysis{task: t, pos: pos, engine: publicText(protocol.Engine(g.Describe()).String()), lines: search.NewLines(t.AnalysisRequest.Lines)}
	begun := time.Now()
	result, err := a.search(ctx, g, w, consider)
	late := time.Since(begun) >= time.Duration(t.TimeMS)*time.Millisecond
	switch {
	case err != nil:
		a.fail(t, err)
	case a.working.Err() != nil:
		t.Refuse(shuttingDown)
	case ctx.Err() == nil && (result.Move == game.NoMove || late && w.unsearched(result)):
		t.Refuse(protocol.Refuse(protocol.CodeBusy, "the games left no core free"))
	default:
		t.Finish(w.final(result))
	}
}

func (a *analyst) fail(t *protocol.AnalysisTask, err error) {
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		t.Refuse(refusal)
		return
	}
	a.log.Error().Err(err).Str("rules", t.Rules).Msg("the analysis failed")
	t.Refuse(protocol.Refuse(protocol.Unavailable, "the engine failed"))
}

// analysedPosition returns the position of a request and the moves to consider,
// nil for all.
func analysedPosition(gameName string, t *protocol.AnalysisTask) (game.Position, []game.Move, *protocol.Error) {
	rules, err := catalog.Rules(t.Rules)
	if err != nil || rules.Game != gameName {
		return nil, nil, protocol.Refuse(protocol.UnknownGame, "no such rule set of this game")
	}
	if _, err := rules.New(t.Position); err != nil {
		return nil, nil, protocol.Refuse(protocol.UnknownGame, "the rules refuse the start position")
	}
	pos, err := game.Replay(rules, t.Position, t.Moves)
	if err != nil {
		return nil, nil, protocol.Refuse(protocol.Illegal, "move %d is not legal", pos.Ply()+1)
	}
	if pos.Outcome().Over() {
		return nil, nil, protocol.Refuse(protocol.Over, "the game has ended in this position")
	}
	if len(t.Consider) > 0 && opening.Running(pos) {
		return nil, nil, protocol.Refuse(protocol.Illegal, "in an opening procedure the engine only names its choice")
	}
	var consider []game.Move
	for i, text := range t.Consider {
		m, err := pos.Parse(text)
		if err != nil || !slices.Contains(pos.Legal(nil), m) {
			return nil, nil, protocol.Refuse(protocol.Illegal, "move %d to consider is not legal", i+1)
		}
		if !slices.Contains(consider, m) {
			consider = append(consider, m)
		}
	}
	return pos, consider, nil
}

// search searches until the budget is used up or ctx ends, and sends what it finds.
func (a *analyst) search(ctx context.Context, g engine.Game, w *analysis, consider []game.Move) (search.Result, error) {
	t := w.task
	r := engine.Request{Game: g, Position: w.pos, Purpose: engine.ForReview, Limits: search.Limits{
		Nodes: uint64(t.AnalysisRequest.Nodes), MultiPV: max(t.AnalysisRequest.Lines, 1), Moves: consider, Threads: 1, NoBook: true,
		Hard: time.Duration(t.TimeMS) * time.Millisecond, // also ends the search of what is decided
	}, Watch: w.lines.Watch}
	if t.Purpose == protocol.ForHint {
		r.Purpose = engine.ForHint
	}
	s, err := a.bot.deps.Pool.Start(r)
	if err != nil {
		if errors.Is(err, engine.ErrClosed) {
			err = shuttingDown
		}
		return search.Result{}, err
	}
	// The pool ends no analysis that waits for a core, so the time is counted here.
	budget := time.NewTimer(time.Duration(t.TimeMS) * time.Millisecond)
	defer budget.Stop()
	tick := time.NewTicker(updateInterval)
	defer tick.Stop()
	for sent := time.Now(); ; {
		select {
		case <-s.Done():
			return s.Wait()
		case <-ctx.Done():
			s.Stop()
			return s.Wait()
		case <-budget.C:
			s.Stop()
		case <-tick.C:
			if now, fresh := w.current(); fresh || time.Since(sent) > protocol.AnalysisPulse/2 {
				sent = time.Now()
				t.Update(now)
			}
		}
	}
}

// analysis is the state of an analysis under way.
type analysis struct {
	task   *protocol.AnalysisTask
	pos    game.Position
	engine string
	lines  *search.Lines
}

// current returns the latest state, and whether it is new.
func (w *analysis) current() (protocol.Analysis, bool) {
	lines, fresh := w.lines.Latest()
	return w.answer(lines, true), fresh
}

// final returns the answer with the result. A search that was stopped has at least
// a move.
func (w *analysis) final(r search.Result) protocol.Analysis {
	a := w.answer(w.lines.Final(r))
	a.Nodes = int64(r.Nodes)
	return a
}

// unsearched reports whether the result is of a search that did not even finish its
// first iteration: its move is the first in order, its score compares nothing.
func (w *analysis) unsearched(r search.Result) bool {
	return r.Depth == 0 && r.Source == search.FromSearch && !opening.Running(w.pos)
}

// answer returns an answer with these lines, best first.
func (w *analysis) answer(lines []search.Info, scored bool) protocol.Analysis {
	a := protocol.Analysis{Engine: w.engine}
	for _, l := range lines {
		line := protocol.AnalysisLine{Moves: game.FormatLine(w.pos, "", l.PV[:min(len(l.PV), longestLine)])}
		if len(line.Moves) == 0 {
			continue
		}
		if scored {
			line.Score, line.Chance = int(l.Score), &l.WinProb
		}
		a.Lines = append(a.Lines, line)
		a.Nodes = max(a.Nodes, int64(l.Nodes))
		if len(a.Lines) == 1 {
			a.Depth, a.Chance = l.Depth, line.Chance
		}
	}
	return a
}

// longestLine is how many moves of a line are sent, to keep answers small.
const longestLine = 24
