// Package analysis searches positions and finished games with any engine: an
// [Analyst] is an engine with the limits of its searches, a [Session] is one that
// analyses positions of one kind. [Session.Search] gives the best lines of a
// position. [Session.Review] finds the mistakes of a game, a [Cache] remembers its
// searches, so that it can be resumed, and [Course] draws the result.
package analysis

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/pipe/playerspec"
)

// Analyst is an engine that analyses. It is safe for concurrent use.
type Analyst struct {
	spec    playerspec.Spec
	engines *playerspec.Engines
	pool    *engine.Pool
	limits  search.Limits
	lines   int
}

// New makes the analyst of a spec for a kind of game, which finds so many lines in a
// position, within the limits in each search. Without limits, of its own or of the
// spec, it goes on until it is stopped. The error says what is wrong with the spec.
// Close it.
func New(gameName, spec string, lines int, l search.Limits, o playerspec.Options) (*Analyst, error) {
	s, err := playerspec.Parse(spec)
	if err != nil {
		return nil, err
	}
	if err := s.Check(gameName); err != nil {
		return nil, err
	}
	if out := s.Outside; out != nil && lines > 1 && !out.Dialect.Compares() {
		return nil, fmt.Errorf("player %.100q: %s engines report one line only", s, out.Dialect)
	}
	return &Analyst{spec: s, engines: playerspec.NewEngines(o), pool: engine.NewPool(0), limits: l, lines: max(lines, 1)}, nil
}

// Spec returns the spec of the engine.
func (a *Analyst) Spec() playerspec.Spec { return a.spec }

// Limits returns the limits of a search, without those of the spec.
func (a *Analyst) Limits() search.Limits { return a.limits }

// Close ends all searches and programs.
func (a *Analyst) Close() error {
	a.pool.Close()
	return a.engines.Close()
}

// compares reports whether the engine can search some moves of a position alone.
func (a *Analyst) compares() bool { return a.spec.Outside == nil || a.spec.Outside.Dialect.Compares() }

// Session analyses the positions of one game, one at a time.
type Session struct {
	analyst *Analyst
	game    engine.Game

	scored, unscored int // searches of reviews
}

// Open begins a session under a rule set; the id is for error texts. An external
// program is started, until ctx ends. What the engine learns in a session helps it until Close, and
// with one thread and limits of nodes or depth the results of our own engine depend
// on nothing else.
func (a *Analyst) Open(ctx context.Context, id string, r *game.Rules) (*Session, error) {
	g, err := a.engines.NewGame(a.spec.String(), engine.GameOptions{ID: id, Rules: r, OwnTable: true})
	if err != nil {
		return nil, err
	}
	if err := engine.Ready(ctx, g); err != nil {
		g.Close() // the first error tells more
		return nil, err
	}
	return &Session{analyst: a, game: g}, nil
}

// Close ends the session.
func (s *Session) Close() error { return s.game.Close() }

// Describe returns the engine and its settings.
func (s *Session) Describe() engine.Description { return s.game.Describe() }

// Found is what a search has found.
type Found struct {
	// Lines are the lines of the last complete iteration, best first. There is none
	// if the search was stopped too early, or the engine resigns without naming one.
	Lines []search.Info
	// Scored: the scores of the lines are known. They are not in an opening
	// procedure, where the engine only names its choice, and some programs give none.
	Scored bool
	// Result is what the engine returned, the zero value after an early stop.
	Result search.Result
	// Stopped: the context ended the search.
	Stopped bool
}

// ErrNoLine is returned by Session.Search if the engine found nothing.
var ErrNoLine = errors.New("the engine named no move")

const (
	refresh = 100 * time.Millisecond // between two updates with new lines
	idle    = time.Second            // between two updates without
	// endless is the limit of time for a program's search that nothing else limits:
	// without any it would be told to stop after ten minutes. In milliseconds it
	// fits 32 bits.
	endless = 7 * 24 * time.Hour
)

// Search searches a position until a limit is reached, ctx ends, or nothing is left
// to find: each line's result is proven, and the search is deeper than it is long.
// If moves is not empty, only these are searched, and each gets a line. Update, if
// not nil, is called when there are new lines, and every second with those of before.
// The error is a *engine.Fault, wraps
// game.ErrOver for a position in which the game has ended, or says what the engine's
// protocol has no words for.
func (s *Session) Search(ctx context.Context, p game.Position, moves []game.Move, update func(lines []search.Info, fresh bool)) (Found, error) {
	a := s.analyst
	l := a.limits
	l.MultiPV = a.lines
	if len(moves) > 0 {
		l.Moves, l.MultiPV = moves, len(moves)
	}
	if a.spec.Outside == nil {
		l.NoBook = true
	} else if l.Hard == 0 && l.Nodes == 0 && l.Depth == 0 {
		l.Hard = endless
	}
	lines := search.NewLines(l.MultiPV)
	var searching *engine.Search
	started := make(chan struct{})
	var settled atomic.Bool
	searching, err := a.pool.Start(engine.Request{Game: s.game, Position: p, Limits: l, Watch: func(i search.Info) {
		lines.Watch(i)
		if enough(lines.Complete(), l.Mate) && !settled.Swap(true) {
			<-started
			searching.Stop()
		}
	}})
	if err != nil {
		return Found{}, err
	}
	close(started)
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	updated := time.Now()
	stop := ctx.Done()
	for {
		select {
		case <-searching.Done():
			result, err := searching.Wait()
			found := Found{Result: result, Stopped: ctx.Err() != nil}
			found.Lines, found.Scored = lines.Final(result)
			if err != nil && !found.Stopped {
				return Found{}, err
			}
			if len(found.Lines) == 0 && !found.Stopped && !result.Resign {
				return Found{}, ErrNoLine
			}
			return found, nil
		case <-stop:
			stop = nil
			searching.Stop()
		case <-tick.C:
			if now, fresh := lines.Latest(); update != nil && (fresh || time.Since(updated) >= idle) {
				updated = time.Now()
				update(now, fresh)
			}
		}
	}
}

// enough reports whether a search with these lines can find nothing better: each is
// a proven result and shorter than the search is deep, or the first is a win in as
// few moves as was asked for.
func enough(lines []search.Info, mate int) bool {
	if len(lines) == 0 {
		return false
	}
	if plies, ok := search.MateIn(lines[0].Score); ok && plies >= 0 && plies < 2*mate {
		return true
	}
	for _, l := range lines {
		if plies, ok := search.MateIn(l.Score); !ok || l.Depth <= max(plies, -plies) {
			return false
		}
	}
	return true
}
