package openings

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
)

// Judge returns the winning chance of the side to move, draws counted half.
type Judge func(ctx context.Context, p game.Position) (chance float64, err error)

// Searching returns a Judge that searches, by Evaluate.
func Searching(g engine.Game, l search.Limits) Judge {
	return func(ctx context.Context, p game.Position) (float64, error) {
		e, err := Evaluate(ctx, g, p, l)
		return e.Chance, err
	}
}

// Maker is a Source of balanced random openings: random legal moves from the
// usual start that lead to distinct positions, which every judge considers even.
// It is safe for concurrent use.
type Maker struct {
	// Watch is called after each position that was tried, one call at a time, with
	// the numbers so far. It may be nil; set it before the first opening.
	Watch func(made, tries int)

	rules  []*game.Rules
	judges []Judge
	recipe Recipe

	mu    sync.Mutex
	made  []Opening
	seen  map[uint64]bool
	tries int
}

// Recipe says how openings are made.
type Recipe struct {
	Plies int     // random moves
	Bound float64 // largest distance of a judge's winning chance from 0.5
	Seed  uint64
}

// Usual is the recipe of a rule set's game, without a seed. An opening procedure makes the
// opening itself: there it has no plies, and the bound is for openings that were made before.
// The error is for a game whose adapter does not say how openings are made.
func Usual(r *game.Rules) (Recipe, error) {
	p, err := r.New("")
	if err != nil {
		return Recipe{}, err
	}
	a, err := engine.Adapter(r.Game)
	if err == nil && opening.Running(p) {
		return Recipe{Bound: a.Openings.Bound}, nil
	}
	if err == nil && a.Openings.Plies == 0 {
		err = fmt.Errorf("openings: %s has no recipe for random ones: name a file, or none", r.Game)
	}
	return Recipe{Plies: a.Openings.Plies, Bound: a.Openings.Bound}, err
}

// maxTries is the number of tries in a row without an opening after which Opening
// gives up.
const maxTries = 5000

// ErrNone is returned by Maker.Opening if it finds no balanced opening.
var ErrNone = errors.New("no balanced opening")

// NewMaker makes a Maker. It needs at least one judge and rule set, all of one kind
// of game. Every judge has to consider an opening even under every rule set.
func NewMaker(rules []*game.Rules, judges []Judge, recipe Recipe) (*Maker, error) {
	switch {
	case len(rules) == 0 || len(judges) == 0:
		return nil, errors.New("openings: want rules and a judge")
	case recipe.Plies < 1 || recipe.Plies > 40:
		return nil, fmt.Errorf("openings: %d plies: want 1 to 40", recipe.Plies)
	case !(recipe.Bound > 0 && recipe.Bound <= 0.5):
		return nil, fmt.Errorf("openings: bound %g: want above 0, up to 0.5", recipe.Bound)
	}
	for _, r := range rules {
		if r.Game != rules[0].Game {
			return nil, fmt.Errorf("openings: %s and %s are different games", rules[0].Name, r.Name)
		}
	}
	return &Maker{rules: rules, judges: judges, recipe: recipe, seen: map[uint64]bool{}}, nil
}

// Opening implements Source. The openings do not depend on the order or number of
// calls. The error wraps ErrNone, or is that of a judge.
func (m *Maker) Opening(ctx context.Context, n int) (Opening, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for failed := 0; len(m.made) <= n; {
		if failed >= maxTries {
			others := ""
			if n := len(m.made); n > 0 {
				others = fmt.Sprintf(" other than the %d found before,", n)
			}
			return Opening{}, fmt.Errorf("%w%s among %d tries (%s, %d plies, %g from one half at most)", ErrNone, others, failed, m.rules[0].Name, m.recipe.Plies, m.recipe.Bound)
		}
		o, key, ok, err := m.try(ctx)
		if err != nil {
			return Opening{}, err
		}
		m.tries++ // not if it was cancelled: it is repeated
		failed++
		if ok && !m.seen[key] {
			failed = 0
			m.seen[key] = true
			m.made = append(m.made, o)
		}
		if m.Watch != nil {
			m.Watch(len(m.made), m.tries)
		}
	}
	return m.made[n], nil
}

// Tries returns the number of random positions judged so far.
func (m *Maker) Tries() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tries
}

// try makes one random position; ok reports whether it will do.
func (m *Maker) try(ctx context.Context) (o Opening, key uint64, ok bool, err error) {
	rng := rand.New(rand.NewPCG(m.recipe.Seed, uint64(m.tries)))
	p, err := m.rules[0].New("")
	if err != nil {
		return o, 0, false, err
	}
	for range m.recipe.Plies {
		moves := likely(p)
		if len(moves) == 0 {
			return o, 0, false, nil
		}
		move := moves[rng.IntN(len(moves))]
		o.Moves = append(o.Moves, p.Format(move))
		if err := p.Play(move); err != nil {
			return o, 0, false, fmt.Errorf("legal move %s: %w", p.Format(move), err)
		}
	}
	if m.seen[p.Key()] {
		return o, p.Key(), false, nil
	}
	for _, r := range m.rules {
		pos, err := o.Setup(r)
		if err != nil {
			return o, 0, false, nil // over, or not legal under these rules
		}
		for _, judge := range m.judges {
			chance, err := judge(ctx, pos)
			if err != nil {
				return o, 0, false, fmt.Errorf("judging %s: %w", pos, err)
			}
			if math.Abs(chance-0.5) > m.recipe.Bound {
				return o, 0, false, nil
			}
		}
	}
	return o, p.Key(), true, nil
}

// likely lists the moves that a random opening chooses from.
func likely(p game.Position) []game.Move {
	if a, err := engine.Adapter(p.Rules().Game); err == nil && a.Openings.Moves != nil {
		return a.Openings.Moves(p)
	}
	return p.Legal(nil)
}
