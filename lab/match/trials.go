package match

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/match/openings"
)

// Trials plays the pairs of an experiment, in which the players differ from pair to
// pair. Its methods are safe for concurrent use.
type Trials struct {
	// KeepFaults keeps games that ended by a fault in the file, too. Otherwise the
	// pair is played again when the experiment is resumed.
	KeepFaults bool

	plan  *Plan
	rules *game.Rules

	mu   sync.Mutex
	kept map[[2]int]*Game // games in the file, by pair and leg
}

// NewTrials returns the trials of a plan with two players; in each pair other specs
// stand in their place. The plan's number of games, openings and test are not used.
func NewTrials(p *Plan) (*Trials, error) {
	rules, err := catalog.Rules(p.Terms.Rules)
	if err != nil {
		return nil, err
	}
	t := &Trials{plan: p, rules: rules, kept: map[[2]int]*Game{}}
	if p.File != nil {
		for _, g := range p.File.Games() {
			t.kept[[2]int{g.Match.Pair, g.Match.Leg}] = g
		}
	}
	return t, nil
}

// Kept returns the numbers of the pairs, from 0, of which the file has games.
func (t *Trials) Kept() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	pairs := map[int]bool{}
	for place := range t.kept {
		pairs[place[0]-1] = true
	}
	return slices.Sorted(maps.Keys(pairs))
}

// Games returns the games of a pair that the file has, and whether they are all of it:
// two, or one that ended by a fault.
func (t *Trials) Games(pair int) (games []*Game, whole bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for leg := 1; leg <= 2; leg++ {
		if g, ok := t.kept[[2]int{pair + 1, leg}]; ok {
			games = append(games, g)
			whole = leg == 2 && len(games) == 2 || g.Match.Fault != nil
		}
	}
	return games, whole
}

// Play plays a pair, numbered from 0: both games from the opening, or one if it ends by
// a fault. Each game is kept as it ends, and games that the file has are not played
// again. After an error, including that of ctx, the pair is incomplete.
func (t *Trials) Play(ctx context.Context, pair int, o openings.Opening, players [2]string) ([]*Game, error) {
	games, whole := t.Games(pair)
	if whole {
		return games, nil
	}
	terms := t.plan.Terms
	terms.Players = players[:]
	bouts, err := terms.bouts(t.rules, pair+1, pair, [2]int{0, 1}, o)
	if err != nil {
		return nil, err
	}
	w, err := t.plan.Backend.Worker(&terms)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for _, b := range bouts {
		if slices.ContainsFunc(games, func(g *Game) bool { return g.Match.Leg == b.Leg }) {
			continue
		}
		g, err := w.Play(ctx, b)
		if err != nil {
			return nil, err
		}
		if err := t.keep(g); err != nil {
			return nil, err
		}
		if games = append(games, g); g.Match.Fault != nil {
			break
		}
	}
	return games, nil
}

// keep saves a game.
func (t *Trials) keep(g *Game) error {
	if t.plan.File == nil || g.Match.Fault != nil && !t.KeepFaults {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plan.File.Append(g)
}

// bouts returns both games of a pair, from 1, between two players, from the opening of
// a round, from 0.
func (t *Terms) bouts(rules *game.Rules, pair, round int, players [2]int, o openings.Opening) ([]Bout, error) {
	pos, err := o.Setup(rules)
	if err != nil {
		return nil, fmt.Errorf("opening %d: %w", round+1, err)
	}
	names := t.Names()
	var bouts []Bout
	for leg, seats := range [2][2]int{players, {players[1], players[0]}} {
		bouts = append(bouts, Bout{
			Pair: pair, Leg: leg + 1, Opening: round + 1, Players: seats, Names: [2]string{names[seats[0]], names[seats[1]]},
			Start: o.Start, Moves: o.Moves, Position: pos,
			Seed: openings.Mix(t.Seed, uint64(round)), ID: gameID(t.ID, pair, leg+1),
		})
	}
	return bouts, nil
}
