package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/match/elo"
	"sparring/lab/match/openings"
)

// Plan configures a match.
type Plan struct {
	Terms       Terms
	Games       int // per pairing, an even number
	Openings    openings.Source
	Concurrency int       // games played in parallel
	SPRT        *elo.SPRT // stops a match of two players early; nil: never
	Backend     Backend
	File        *File // nil: games are not saved
	// Watch, if not nil, is called after each new game, never concurrently.
	Watch func(*Standing, *Game)
}

// Validate reports all faults of a plan.
func (p *Plan) Validate() error {
	errs := []error{p.Terms.Validate()}
	if p.Games < 2 || p.Games%2 != 0 {
		errs = append(errs, fmt.Errorf("%d games: want an even number from 2 on, since each opening is played twice", p.Games))
	}
	errs = append(errs, CheckConcurrency(p.Concurrency))
	if p.SPRT != nil && len(p.Terms.Players) != 2 {
		errs = append(errs, fmt.Errorf("a sequential test is for two players, not %d", len(p.Terms.Players)))
	}
	return errors.Join(errs...)
}

// maxConcurrency bounds the games played in parallel: more are a slip, and take a machine's
// memory before the first game.
const maxConcurrency = 1024

// CheckConcurrency returns an error for a number of games that can't be played in parallel.
func CheckConcurrency(n int) error {
	if n < 1 || n > maxConcurrency {
		return fmt.Errorf("concurrency %d: want 1 to %d", n, maxConcurrency)
	}
	return nil
}

// Run plays the games that the file does not hold yet, until all are played, the
// sequential test stops, or ctx ends. It returns the standing even with an error.
// Pairings and openings depend only on the terms: deterministic players play the
// same games whether or not a match was interrupted, and however many games run
// in parallel.
func Run(ctx context.Context, p Plan) (*Standing, error) {
	m, err := Begin(p)
	if err != nil {
		return m.standing, err
	}
	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	var wg sync.WaitGroup
	for range p.Concurrency {
		wg.Go(func() {
			if err := m.work(life); err != nil {
				end(err)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(life); err != nil && !errors.Is(err, errDecided) {
		return m.standing, err
	}
	return m.standing, nil
}

// errDecided ends a match whose sequential test has reached a decision.
var errDecided = errors.New("the sequential test has decided")

// Match is a match under way, for those that play several at once: they take its
// pairs with Next and give the games back with Finished. Its methods may be called
// concurrently.
type Match struct {
	plan  Plan
	rules *game.Rules
	done  map[[2]int]bool // pair and leg of the games in the file

	handing sync.Mutex // before mu
	next    int        // pair, from 0
	opening *openings.Opening
	round   int // of opening

	mu       sync.Mutex
	standing *Standing
	starts   map[int]int // consecutive games that a player lost because it failed to start
}

// Begin counts the games of the plan's file. It returns a match even with an error,
// for its standing. The plan's concurrency and backend are for Run.
func Begin(p Plan) (*Match, error) {
	m := &Match{plan: p, standing: NewStanding(&p.Terms), done: map[[2]int]bool{}, starts: map[int]int{}}
	if err := p.Validate(); err != nil {
		return m, err
	}
	var err error
	if m.rules, err = catalog.Rules(p.Terms.Rules); err != nil {
		return m, err
	}
	if p.File == nil {
		return m, nil
	}
	for _, g := range p.File.Games() {
		if err := m.standing.Add(g); err != nil {
			return m, err
		}
		m.done[[2]int{g.Match.Pair, g.Match.Leg}] = true
	}
	return m, nil
}

// Look calls look with the standing, which must not be used afterwards.
func (m *Match) Look(look func(*Standing)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	look(m.standing)
}

// maxFailedStarts is the number of such games after which a match ends: it would
// measure nothing but a broken installation.
const maxFailedStarts = 3

// ErrStart is returned if a player failed to start in several consecutive games.
// Check its command line.
var ErrStart = errors.New("player failed to start")

// checkStarts reports a player that repeatedly fails to start. The caller holds mu.
func (m *Match) checkStarts(g *Game) error {
	for seat, i := range g.Match.Players {
		f := g.Match.Fault
		if f == nil || f.Kind != engine.FaultStart || f.Seat != game.Seat(seat) {
			delete(m.starts, i)
			continue
		}
		if m.starts[i]++; m.starts[i] == maxFailedStarts {
			return fmt.Errorf("%w in %d consecutive games: %s: %s", ErrStart, maxFailedStarts, g.Seats[seat].Player, f.Text)
		}
	}
	return nil
}

// Next returns the games of the next pair that are still to be played; none when all
// pairs were returned, or the sequential test has decided.
func (m *Match) Next(ctx context.Context) ([]Bout, error) {
	m.handing.Lock()
	defer m.handing.Unlock()
	m.mu.Lock()
	over := m.decided()
	m.mu.Unlock()
	if over {
		return nil, nil
	}
	pairings := m.plan.Terms.Pairings()
	for ; m.next < m.plan.Games/2*len(pairings); m.next++ {
		round := m.next / len(pairings)
		bouts, err := m.bouts(ctx, m.next+1, round, pairings[m.next%len(pairings)])
		if err != nil {
			return nil, err
		}
		if len(bouts) == 0 {
			continue
		}
		m.next++
		return bouts, nil
	}
	return nil, nil
}

// bouts returns the games of a pair that are not played yet.
func (m *Match) bouts(ctx context.Context, pair, round int, players [2]int) ([]Bout, error) {
	played := func(leg int) bool { return m.done[[2]int{pair, leg}] }
	if played(1) && played(2) {
		return nil, nil
	}
	if m.opening == nil || m.round != round {
		o, err := m.plan.Openings.Opening(ctx, round)
		if err != nil {
			return nil, fmt.Errorf("opening %d: %w", round+1, err)
		}
		m.opening, m.round = &o, round
	}
	bouts, err := m.plan.Terms.bouts(m.rules, pair, round, players, *m.opening)
	return slices.DeleteFunc(bouts, func(b Bout) bool { return played(b.Leg) }), err
}

// work plays both games of each pair.
func (m *Match) work(ctx context.Context) error {
	w, err := m.plan.Backend.Worker(&m.plan.Terms)
	if err != nil {
		return err
	}
	defer w.Close()
	for ctx.Err() == nil {
		bouts, err := m.Next(ctx)
		if err != nil || len(bouts) == 0 {
			return err
		}
		for _, b := range bouts {
			if ctx.Err() != nil {
				return nil
			}
			g, err := w.Play(ctx, b)
			if err == nil {
				err = m.Finished(g)
			}
			if err == nil && m.Decided() {
				err = errDecided
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Finished saves and counts a game. The error is ErrStart after the game was counted;
// after any other the game does not count, see [journal.ErrWrite]. A game that ends
// when the sequential test has decided is left out.
func (m *Match) Finished(g *Game) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.decided() {
		return nil
	}
	if m.plan.File != nil {
		if err := m.plan.File.Append(g); err != nil {
			return err
		}
	}
	if err := m.standing.Add(g); err != nil {
		return err
	}
	if m.plan.Watch != nil {
		m.plan.Watch(m.standing, g)
	}
	return m.checkStarts(g)
}

// Decided reports whether the sequential test has decided.
func (m *Match) Decided() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.decided()
}

func (m *Match) decided() bool {
	return m.plan.SPRT != nil && m.plan.SPRT.Verdict(m.standing.Pairings[0].Pairs) != elo.Open
}
