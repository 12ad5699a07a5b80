package spsa

import (
	"context"
	"errors"
	"fmt"

	"sparring/engine"
	"sparring/game"
	"sparring/lab/match"
)

// Plan says how a tuning is played.
type Plan struct {
	Settings
	// Match has the terms, openings, backend and file. Its players are First and
	// Second; Spec returns the specs that play in their place.
	Match       *match.Plan
	Spec        func(player int, values []float64) string
	Concurrency int
	// Watch, unless nil, is called after each new pair, in their order, and Failed for
	// each pair that does not count. They are not called concurrently.
	Watch  func(*Tuning)
	Failed func(Failure)
}

// Failure is a pair that ended by a fault.
type Failure struct {
	Pair   int // from 1
	Values []float64
	Kind   engine.FaultKind
	Text   string
}

// ErrFaults is returned when too many pairs ended by faults of the engine, so that the
// result would be about those that did not.
var ErrFaults = errors.New("too many pairs ended by a fault of the engine")

// A run ends after so many faults in succession, or when more than a share of its
// pairs and a number of them had some.
const (
	faultsInSuccession = 3
	faultsAtMost       = 10
	faultShare         = 0.1
)

// outcome is a pair that was played.
type outcome struct {
	pair  int
	games []*match.Game
	kept  bool // by an earlier run
	err   error
}

// Run plays the pairs that the file does not have. It returns the tuning as far as it
// came even with an error: that of ctx, ErrFaults, or one that says what failed.
func Run(ctx context.Context, p Plan) (*Tuning, error) {
	t := New(p.Settings)
	if err := p.Validate(); err != nil {
		return t, err
	}
	trials, err := match.NewTrials(p.Match)
	if err != nil {
		return t, err
	}
	trials.KeepFaults = true // later pairs depend on what they did not move
	r := &run{Plan: p, tuning: t, trials: trials, played: map[int]outcome{}}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan outcome)
	running := 0
	for next := 0; len(t.Results) < p.Pairs; {
		for err == nil && next < p.Pairs && running < p.Concurrency && t.Ready(next) {
			if games, whole := trials.Games(next); whole {
				err = r.take(outcome{pair: next, games: games, kept: true})
			} else {
				r.begin(ctx, next, ended)
				running++
			}
			next++
		}
		if running == 0 {
			return t, err
		}
		o := <-ended
		running--
		if err == nil {
			err = r.take(o)
		}
		if err != nil {
			stop() // and wait for the others
		}
	}
	return t, err
}

// run is a tuning under way.
type run struct {
	Plan
	tuning *Tuning
	trials *match.Trials
	played map[int]outcome // that wait for an earlier pair

	faults, succession, pairs int // of this run
}

// begin plays a pair.
func (r *run) begin(ctx context.Context, pair int, ended chan<- outcome) {
	trial := r.tuning.Trial(pair)
	go func() {
		games, err := r.play(ctx, pair, trial)
		ended <- outcome{pair: pair, games: games, err: err}
	}()
}

func (r *run) play(ctx context.Context, pair int, trial Trial) ([]*match.Game, error) {
	opening, err := r.Match.Openings.Opening(ctx, pair)
	if err != nil {
		return nil, fmt.Errorf("opening %d: %w", pair+1, err)
	}
	return r.trials.Play(ctx, pair, opening, [2]string{r.Spec(0, trial.First), r.Spec(1, trial.Second)})
}

// take adds a pair that was played, now or in an earlier run, and those that waited
// for it.
func (r *run) take(o outcome) error {
	if o.err != nil {
		return o.err
	}
	r.played[o.pair] = o
	for {
		pair := len(r.tuning.Results)
		o, ok := r.played[pair]
		if !ok {
			return nil
		}
		delete(r.played, pair)
		if err := r.add(o); err != nil {
			return err
		}
		if !o.kept && r.Watch != nil {
			r.Watch(r.tuning)
		}
	}
}

// add adds the result of the next pair.
func (r *run) add(o outcome) error {
	halves := 0
	var failed *Failure
	for _, g := range o.games {
		seat := game.First // of the first player
		if g.Match.Players[game.First] != 0 {
			seat = game.Second
		}
		switch g.Result {
		case game.WonBy(seat):
			halves += 2
		case game.Draw:
			halves++
		}
		if f := g.Match.Fault; f != nil {
			trial := r.tuning.Trial(o.pair)
			failed = &Failure{Pair: o.pair + 1, Values: [2][]float64{trial.First, trial.Second}[g.Match.Players[f.Seat]], Kind: f.Kind, Text: f.Text}
		}
	}
	r.tuning.Add(halves, failed == nil)
	if o.kept {
		return nil
	}
	if r.pairs++; failed == nil {
		r.succession = 0
		return nil
	}
	if r.Failed != nil {
		r.Failed(*failed)
	}
	r.faults++
	if r.succession++; r.succession == faultsInSuccession {
		return fmt.Errorf("%w: the last %d, such as %s: %s", ErrFaults, r.succession, failed.Kind, failed.Text)
	}
	if r.faults > faultsAtMost && float64(r.faults) > faultShare*float64(r.pairs) {
		return fmt.Errorf("%w: %d of %d, such as %s: %s", ErrFaults, r.faults, r.pairs, failed.Kind, failed.Text)
	}
	return nil
}
