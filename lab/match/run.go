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
	"sparring/lab/elo"
	"sparring/lab/openings"
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
		errs = append(errs, fmt.Errorf("%d games: want an even number, since each opening is played twice", p.Games))
	}
	if p.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("concurrency %d: want at least 1", p.Concurrency))
	}
	if p.SPRT != nil && len(p.Terms.Players) != 2 {
		errs = append(errs, fmt.Errorf("a sequential test is for two players, not %d", len(p.Terms.Players)))
	}
	return errors.Join(errs...)
}

// Run plays the games that the file does not hold yet, until all are played, the
// sequential test stops, or ctx ends. It returns the standing even with an error.
// Pairings and openings depend only on the terms: deterministic players play the
// same games whether or not a match was interrupted, and however many games run
// in parallel.
func Run(ctx context.Context, p Plan) (*Standing, error) {
	r := &runner{Plan: p, standing: NewStanding(&p.Terms), done: map[[2]int]bool{}, starts: map[int]int{}}
	if err := p.Validate(); err != nil {
		return r.standing, err
	}
	rules, err := catalog.Rules(p.Terms.Rules)
	if err != nil {
		return r.standing, err
	}
	if p.File != nil {
		for _, g := range p.File.Games() {
			if err := r.standing.Add(g); err != nil {
				return r.standing, err
			}
			r.done[[2]int{g.Match.Pair, g.Match.Leg}] = true
		}
	}
	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	r.end = end
	if r.decided() {
		return r.standing, nil
	}
	pairs := make(chan []Bout)
	var wg sync.WaitGroup
	for range p.Concurrency {
		wg.Go(func() { r.work(life, pairs) })
	}
	wg.Go(func() {
		defer close(pairs)
		if err := r.schedule(life, rules, pairs); err != nil {
			r.end(err)
		}
	})
	wg.Wait()
	if err := context.Cause(life); err != nil && !errors.Is(err, errDecided) {
		return r.standing, err
	}
	return r.standing, nil
}

// errDecided ends a match whose sequential test has reached a decision.
var errDecided = errors.New("the sequential test has decided")

// runner is a running match.
type runner struct {
	Plan
	end  context.CancelCauseFunc
	done map[[2]int]bool // pair and leg of the games in the file

	mu       sync.Mutex
	standing *Standing
	starts   map[int]int // consecutive games that a player lost because it failed to start
}

// maxFailedStarts is the number of such games after which a match ends: it would
// measure nothing but a broken installation.
const maxFailedStarts = 3

// ErrStart is returned if a player failed to start in several consecutive games.
// Check its command line.
var ErrStart = errors.New("player failed to start")

// checkStarts reports a player that repeatedly fails to start. The caller holds mu.
func (r *runner) checkStarts(g *Game) error {
	for seat, i := range g.Match.Players {
		f := g.Match.Fault
		if f == nil || f.Kind != engine.FaultStart || f.Seat != game.Seat(seat) {
			delete(r.starts, i)
			continue
		}
		if r.starts[i]++; r.starts[i] == maxFailedStarts {
			return fmt.Errorf("%w in %d consecutive games: %s: %s", ErrStart, maxFailedStarts, g.Seats[seat].Player, f.Text)
		}
	}
	return nil
}

// schedule sends the pairs in order, with the games still to be played.
func (r *runner) schedule(ctx context.Context, rules *game.Rules, out chan<- []Bout) error {
	pairings := r.Terms.Pairings()
	for round := range r.Games / 2 {
		var o *openings.Opening
		for i, p := range pairings {
			pair := round*len(pairings) + i + 1
			if r.done[[2]int{pair, 1}] && r.done[[2]int{pair, 2}] {
				continue
			}
			if o == nil {
				found, err := r.Openings.Opening(ctx, round)
				if err != nil {
					return fmt.Errorf("opening %d: %w", round+1, err)
				}
				o = &found
			}
			bouts, err := r.Terms.bouts(rules, pair, round, p, *o)
			if err != nil {
				return err
			}
			bouts = slices.DeleteFunc(bouts, func(b Bout) bool { return r.done[[2]int{pair, b.Leg}] })
			select {
			case out <- bouts:
			case <-ctx.Done():
				return nil
			}
		}
	}
	return nil
}

// work plays both games of each pair.
func (r *runner) work(ctx context.Context, pairs <-chan []Bout) {
	w, err := r.Backend.Worker(&r.Terms)
	if err != nil {
		r.end(err)
		return
	}
	defer w.Close()
	for bouts := range pairs {
		for _, b := range bouts {
			if ctx.Err() != nil {
				return
			}
			g, err := w.Play(ctx, b)
			if err == nil {
				err = r.finished(ctx, g)
			}
			if err != nil {
				r.end(err)
				return
			}
		}
	}
}

// finished saves and counts a game.
func (r *runner) finished(ctx context.Context, g *Game) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(context.Cause(ctx), errDecided) {
		return nil // finished after the end of the match
	}
	if r.File != nil {
		if err := r.File.Append(g); err != nil {
			return err
		}
	}
	if err := r.standing.Add(g); err != nil {
		return err
	}
	if r.Watch != nil {
		r.Watch(r.standing, g)
	}
	if r.decided() {
		r.end(errDecided)
	}
	return r.checkStarts(g)
}

func (r *runner) decided() bool {
	return r.SPRT != nil && r.SPRT.Verdict(r.standing.Meets[0].Pairs) != elo.Open
}
