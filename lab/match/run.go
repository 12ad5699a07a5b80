package match

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/elo"
	"sparring/lab/openings"
)

// Plan is a match to be run.
type Plan struct {
	Terms       Terms
	Games       int // for each pairing, an even number
	Openings    openings.Source
	Concurrency int       // games at once
	SPRT        *elo.SPRT // ends a match of two players early; nil: never
	Backend     Backend
	File        *File // nil: the games are not kept
	// Watch, unless nil, is called after each new game, one call at a time.
	Watch func(*Standing, *Game)
}

// Validate names all faults of a plan.
func (p *Plan) Validate() error {
	errs := []error{p.Terms.Validate()}
	if p.Games < 2 || p.Games%2 != 0 {
		errs = append(errs, fmt.Errorf("%d games: want an even number, since each opening is played twice", p.Games))
	}
	if p.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("concurrency %d: want 1 at least", p.Concurrency))
	}
	if p.SPRT != nil && len(p.Terms.Players) != 2 {
		errs = append(errs, fmt.Errorf("a sequential test is for two players, not %d", len(p.Terms.Players)))
	}
	return errors.Join(errs...)
}

// Run plays the games that the file does not hold yet, until all are played,
// the test has decided, or ctx ends. The standing is there with an error too:
// finished games are never lost. Which games are played, and from which
// openings, follows from the terms alone: players that are deterministic play
// the same games whether a match was interrupted or not, and however many at
// once.
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

// errDecided ends a match whose sequential test has decided.
var errDecided = errors.New("the sequential test has decided")

// runner is a match under way.
type runner struct {
	Plan
	end  context.CancelCauseFunc
	done map[[2]int]bool // pair and leg of games that the file held

	mu       sync.Mutex
	standing *Standing
	starts   map[int]int // games in a row that a player lost because it could not be started
}

// mostStarts is how many such games a match goes on for: then it measures
// nothing but a broken installation.
const mostStarts = 3

// ErrStart: a player can't be started again and again.
var ErrStart = errors.New("a player can't be started")

// started ends a match in which a player can't be started. The caller holds mu.
func (r *runner) started(g *Game) error {
	for seat, i := range g.Match.Players {
		f := g.Match.Fault
		if f == nil || f.Kind != engine.FaultStart || f.Seat != game.Seat(seat) {
			delete(r.starts, i)
			continue
		}
		if r.starts[i]++; r.starts[i] == mostStarts {
			return fmt.Errorf("%w, %d games in a row: %s: %s", ErrStart, mostStarts, g.Seats[seat].Player, f.Text)
		}
	}
	return nil
}

// schedule hands out the pairs in order, with the games that are still to be
// played.
func (r *runner) schedule(ctx context.Context, rules *game.Rules, out chan<- []Bout) error {
	names := r.Terms.Names()
	pairings := r.Terms.Pairings()
	for round := range r.Games / 2 {
		var o *openings.Opening
		for i, p := range pairings {
			pair := round*len(pairings) + i + 1
			var bouts []Bout
			for leg, players := range [2][2]int{p, {p[1], p[0]}} {
				if r.done[[2]int{pair, leg + 1}] {
					continue
				}
				bouts = append(bouts, Bout{
					Pair: pair, Leg: leg + 1, Opening: round + 1, Players: players,
					Names: [2]string{names[players[0]], names[players[1]]},
					Seed:  openings.Mix(r.Terms.Seed, uint64(round)), ID: gameID(r.Terms.ID, pair, leg+1),
				})
			}
			if len(bouts) == 0 {
				continue
			}
			if o == nil {
				found, err := r.Openings.Opening(ctx, round)
				if err != nil {
					return fmt.Errorf("opening %d: %w", round+1, err)
				}
				o = &found
			}
			pos, err := o.Setup(rules)
			if err != nil {
				return fmt.Errorf("opening %d: %w", round+1, err)
			}
			for k := range bouts {
				bouts[k].Start, bouts[k].Moves, bouts[k].Position = o.Start, o.Moves, pos
			}
			select {
			case out <- bouts:
			case <-ctx.Done():
				return nil
			}
		}
	}
	return nil
}

// work plays pairs, both games of each.
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

// finished keeps a game and counts it.
func (r *runner) finished(ctx context.Context, g *Game) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(context.Cause(ctx), errDecided) {
		return nil // it came after the end of the match
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
	return r.started(g)
}

func (r *runner) decided() bool {
	return r.SPRT != nil && r.SPRT.Verdict(r.standing.Meets[0].Pairs) != elo.Open
}
