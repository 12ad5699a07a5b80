package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/lab/match"
	"sparring/lab/openings"
	"sparring/lab/screening"
	"sparring/pipe/playerspec"
)

// worthFlags holds the flags of a screening experiment.
type worthFlags struct {
	matchFlags
	player string
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
stops early and prints the estimates so far. See docs/search.md.`,
		Example: `  sparring learn worth --game xiangqi --player self:nodes=5000 --games 4000 --openings shipped
  sparring learn worth --game xiangqi --clock movetime=50ms --chance 0.5 without=NullMove without=CheckExtension`,
		RunE: func(c *cobra.Command, changes []string) error {
			plan, err := f.prepare(changes)
			if err != nil {
				return &usageError{err}
			}
			return f.run(c, plan)
		},
	}
	f.conditions(c)
	fl := c.Flags()
	fl.StringVar(&f.player, "player", playerspec.Self, "spec of both players; must be Sparring's engine")
	fl.Float64Var(&f.design.Chance, "chance", 0.15, "probability that a player has a change in a pair of games")
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
	return plan, errors.Join(errs...)
}

// worthPlayers are the names of the two players.
var worthPlayers = [2]string{"first", "second"}

// changed returns the spec of player 0 or 1 with the given changes.
func (f *worthFlags) changed(player int, changes []string) string {
	return strings.Join(append([]string{f.player, "name=" + worthPlayers[player]}, changes...), ",")
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

// Opening implements openings.Source with a single opening.
func (p pair) Opening(context.Context, int) (openings.Opening, error) { return p.opening, nil }

func (f *worthFlags) run(c *cobra.Command, plan *match.Plan) error {
	began, out := time.Now(), c.OutOrStdout()
	show := newDisplay(c.ErrOrStderr())
	var mu sync.Mutex
	results := map[int]screening.Result{}
	group, ctx := errgroup.WithContext(c.Context())
	pairs := make(chan pair)
	group.Go(func() error {
		defer close(pairs)
		for n := range f.games / 2 {
			o, err := plan.Openings.Opening(ctx, n)
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
	})
	for range f.concurrency {
		group.Go(func() error {
			for p := range pairs {
				r, err := f.play(ctx, plan, p)
				if err != nil {
					return err
				}
				mu.Lock()
				results[p.number] = r
				n := len(results)
				mu.Unlock()
				if show.live() || n%max(f.games/40, 1) == 0 {
					left := time.Since(began) / time.Duration(n) * time.Duration(f.games/2-n)
					show.game("worth", fmt.Sprintf("%d of %d games, %v left", 2*n, f.games, left.Round(time.Second)))
				}
			}
			return nil
		})
	}
	err := group.Wait()
	show.clear()
	if len(results) == 0 && err != nil {
		return err
	}
	if wrong := f.report(out, results); err == nil {
		err = wrong
	}
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted after %d games", 2*len(results))
	}
	return err
}

// play plays a pair of games with randomly changed players.
func (f *worthFlags) play(ctx context.Context, plan *match.Plan, p pair) (screening.Result, error) {
	r := screening.Result{Players: f.design.Draw(p.number)}
	own := *plan
	own.Games, own.Concurrency, own.Openings = 2, 1, p
	own.Terms.ID, own.Terms.Seed = match.NewID(), openings.Mix(f.seed, uint64(p.number))
	own.Terms.Players = nil
	for i, has := range r.Players {
		own.Terms.Players = append(own.Terms.Players, f.changed(i, f.design.Of(has)))
	}
	standing, err := match.Run(ctx, own)
	if err != nil {
		return r, err
	}
	for _, p := range standing.Players {
		if p.FirstFault != nil {
			return r, fmt.Errorf("%s: %s: %s", p.Name, p.FirstFault.Kind, p.FirstFault.Text)
		}
	}
	m := standing.Meets[0]
	r.Share = m.Points() / float64(m.Games())
	return r, nil
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
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CHANGE\tPOINTS PER 100 GAMES\tGAMES WITH IT ON ONE SIDE")
	for _, e := range effects {
		fmt.Fprintf(w, "%s\t%+.1f ± %.1f\t%d\n", e.Change, 100*e.Worth, 100*e.Error, 2*e.Pairs)
	}
	return w.Flush()
}
