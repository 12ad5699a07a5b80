package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/internal/texttable"
	"sparring/lab/match"
	"sparring/lab/match/openings"
	"sparring/lab/train/screening"
	"sparring/pipe/playerspec"
)

// worthFlags holds the flags of a screening experiment.
type worthFlags struct {
	matchFlags
	player string
	keep   string // result file
	design screening.Plan
}

func learnWorth() *cobra.Command {
	f := &worthFlags{}
	c := &cobra.Command{
		Use:   "worth [CHANGE...]",
		Short: "Measure the effects of many changes to the engine at once",
		Long: `Measure the effects of many changes to the engine at once. A CHANGE is an
option of a spec: without=NullMove, with=Razoring, set.LMPBase=4. The
default is every switch of the search, inverted. In each pair of games every
change is applied to each of the two players at random; least squares over all
games estimates the effect of each change in points per hundred games. Ctrl-C
stops early and prints the estimates so far; with --keep the same command goes
on. See docs/search.md.`,
		Example: `  sparring learn worth --game xiangqi --player self:nodes=5000 --games 4000 --openings shipped
  sparring learn worth --game xiangqi --clock movetime=50ms --chance 0.5 without=NullMove without=CheckExtension`,
		RunE: func(c *cobra.Command, changes []string) error {
			plan, err := f.prepare(changes)
			if err != nil {
				return usage(err)
			}
			if f.keep != "" {
				if plan.File, err = openResults(c.ErrOrStderr(), f.keep, &plan.Terms); err != nil {
					return err
				}
				defer plan.File.Close()
			}
			return f.run(c, plan)
		},
	}
	f.conditions(c)
	fl := c.Flags()
	fl.StringVar(&f.player, "player", playerspec.Self, "spec of both players; must be Sparring's engine")
	fl.Float64Var(&f.design.Chance, "chance", 0.15, "probability that a player has a change in a pair of games")
	fileFlag(fl, &f.keep, "keep", "file for the games, as of a match; an existing one is resumed")
	return c
}

// prepare returns the match for a pair of games; play sets its players, openings
// and seed.
func (f *worthFlags) prepare(changes []string) (*match.Plan, error) {
	spec, err := playerspec.Parse(f.player)
	if err != nil {
		return nil, err
	}
	if spec.Outside != nil {
		return nil, fmt.Errorf("--player %.60q: only Sparring's engine has these options", f.player)
	}
	f.a, f.b, f.tournament = f.changed(0, nil), f.changed(1, nil), string(match.RoundRobin)
	plan, err := f.plan()
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		if changes, err = everySwitch(f.game); err != nil {
			return nil, err
		}
	}
	f.design.Changes, f.design.Seed = changes, f.seed
	errs := []error{f.design.Validate()}
	for _, change := range changes {
		s, err := playerspec.Parse(f.changed(0, []string{change}))
		if err == nil {
			err = s.Check(f.game)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := f.design.Enough(f.games / 2); err != nil {
		return nil, fmt.Errorf("--games %d: %w", f.games, err)
	}
	if f.keep != "" {
		plan.Terms.Experiment = fmt.Sprintf("each with probability %g: %s", f.design.Chance, strings.Join(changes, " "))
	}
	return plan, nil
}

// experimentPlayers are the names of the two players of an experiment, in the records of its
// games.
var experimentPlayers = [2]string{"first", "second"}

// changed returns the spec of player 0 or 1 with the given changes.
func (f *worthFlags) changed(player int, changes []string) string {
	return strings.Join(append([]string{f.player, "name=" + experimentPlayers[player]}, changes...), ",")
}

// everySwitch returns a change for each switch of a game's search: its inversion.
func everySwitch(gameName string) (changes []string, err error) {
	e, err := engine.New(gameName, engine.Options{HashBytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	on := e.Params().On
	for _, name := range search.SwitchNames() {
		turn := "with="
		if on.Is(name) {
			turn = "without="
		}
		changes = append(changes, turn+name)
	}
	return changes, nil
}

// pair is two games from an opening, numbered from 0.
type pair struct {
	number  int
	opening openings.Opening
}

// worthRun is an experiment under way.
type worthRun struct {
	*worthFlags
	plan   *match.Plan
	trials *match.Trials

	mu      sync.Mutex
	results map[int]screening.Result // by pair
}

// newRun returns a run with the results that the plan's file holds.
func (f *worthFlags) newRun(plan *match.Plan) (*worthRun, error) {
	trials, err := match.NewTrials(plan)
	if err != nil {
		return nil, err
	}
	w := &worthRun{worthFlags: f, plan: plan, trials: trials, results: map[int]screening.Result{}}
	for _, n := range trials.Kept() {
		games, whole := trials.Games(n)
		if !whole || n >= f.games/2 {
			continue // interrupted, and completed later; or beyond --games
		}
		if err := w.count(n, games); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// count adds the result of a pair.
func (w *worthRun) count(n int, games []*match.Game) error {
	s := match.NewStanding(&w.plan.Terms)
	for _, g := range games {
		if err := s.Add(g); err != nil {
			return err
		}
	}
	w.results[n] = screening.Result{Players: w.design.Draw(n), Share: s.Pairings[0].Points() / float64(len(games))}
	return nil
}

func (f *worthFlags) run(c *cobra.Command, plan *match.Plan) error {
	w, err := f.newRun(plan)
	if err != nil {
		return err
	}
	before := len(w.results)
	sayResumed(c.ErrOrStderr(), f.keep, 2*before)
	began, out := time.Now(), c.OutOrStdout()
	show := newDisplay(c.ErrOrStderr())
	pace := newPace(show, f.games/2)
	watch := func(n int) {
		if pace.Due(n) {
			show.Line("worth", fmt.Sprintf("%d of %d games, %s", 2*n, f.games, timeLeft(began, n-before, f.games/2-before)))
		}
	}
	group, ctx := errgroup.WithContext(c.Context())
	pairs := make(chan pair)
	group.Go(func() error {
		defer close(pairs)
		return w.schedule(ctx, pairs)
	})
	for range f.concurrency {
		group.Go(func() error {
			for p := range pairs {
				games, err := w.play(ctx, p)
				if err != nil {
					return err
				}
				if err := w.finished(p.number, games, watch); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	show.Clear()
	if len(w.results) == 0 && err != nil {
		return err
	}
	if wrong := f.report(out, w.results); err == nil {
		err = wrong
	}
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted after %s", count(2*len(w.results), "game", "games"))
		if f.keep != "" {
			err = fmt.Errorf("%w; run the same command to resume", err)
		}
	}
	return err
}

// schedule sends the pairs that have no result yet.
func (w *worthRun) schedule(ctx context.Context, pairs chan<- pair) error {
	w.mu.Lock()
	known := maps.Clone(w.results)
	w.mu.Unlock()
	for n := range w.games / 2 {
		if _, ok := known[n]; ok {
			continue
		}
		o, err := w.plan.Openings.Opening(ctx, n)
		if err != nil {
			return fmt.Errorf("opening %d: %w", n+1, err)
		}
		select {
		case pairs <- pair{n, o}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// play plays a pair of games with randomly changed players.
func (w *worthRun) play(ctx context.Context, p pair) ([]*match.Game, error) {
	var players [2]string
	for i, has := range w.design.Draw(p.number) {
		players[i] = w.changed(i, w.design.Of(has))
	}
	games, err := w.trials.Play(ctx, p.number, p.opening, players)
	if err != nil {
		return nil, err
	}
	for _, g := range games {
		if f := g.Match.Fault; f != nil {
			return nil, fmt.Errorf("%s: %s: %s", players[g.Match.Players[f.Seat]], f.Kind, f.Text)
		}
	}
	return games, nil
}

// finished counts the games of a pair. It calls watch with the number of pairs that
// have a result.
func (w *worthRun) finished(n int, games []*match.Game, watch func(pairs int)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.count(n, games); err != nil {
		return err
	}
	watch(len(w.results))
	return nil
}

// report prints the estimated effects. They do not depend on the order of the
// games.
func (f *worthFlags) report(out io.Writer, results map[int]screening.Result) error {
	var all []screening.Result
	for n := range f.games / 2 {
		if r, ok := results[n]; ok {
			all = append(all, r)
		}
	}
	effects, err := f.design.Fit(all)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d games of %s, each change with probability %g\n\n", 2*len(all), f.player, f.design.Chance)
	rows := texttable.Table{{"CHANGE", "POINTS PER 100 GAMES", "GAMES WITH IT ON ONE SIDE"}}
	for _, e := range effects {
		rows.Add(e.Change, fmt.Sprintf("%+.1f ± %.1f", 100*e.Worth, 100*e.Error), 2*e.Pairs)
	}
	return rows.Write(out)
}
