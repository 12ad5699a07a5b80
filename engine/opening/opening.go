// Package opening makes the decisions of an opening procedure, in which turns
// need not alternate and the players may swap colours. The kernel does not handle
// that: for each decision this package searches the plain position once and
// compares the results.
package opening

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// ErrNoChoice is returned by Choose for a position without an opening procedure
// under way: search it instead.
var ErrNoChoice = errors.New("no opening procedure is under way")

// Search searches a plain position with the Moves and MultiPV of l. It sets the
// limits of time or nodes itself.
type Search func(p game.Position, l search.Limits) (search.Result, error)

// Numbers of lines to search. A procedure may ask for up to 12 fifth moves; on a
// symmetric board up to half of the best moves are mirror images. A dozen stones
// are compared for the most even one.
const (
	fifthLines   = 2*gomoku.MostFifths + 2
	balanceLines = 12
)

// Has reports whether a game has opening procedures.
func Has(gameName string) bool { return gameName == gomoku.Name }

// Running reports whether the position is in an opening procedure.
func Running(p game.Position) bool {
	g, ok := p.(*gomoku.Position)
	if !ok {
		return false
	}
	_, running := g.Step()
	return running
}

// Choose is the decision of the seat to act. It calls find at most once; the error
// is ErrNoChoice, game.ErrOver or find's. The first two stones of a game are
// random.
func Choose(p game.Position, find Search, rng *rand.Rand) (game.Move, error) {
	g, ok := p.(*gomoku.Position)
	if !ok {
		return game.NoMove, fmt.Errorf("%w: %s", ErrNoChoice, p.Rules().Name)
	}
	kind, running := g.Step()
	legal := g.Legal(nil)
	switch {
	case !running:
		return game.NoMove, fmt.Errorf("%w: %s", ErrNoChoice, g)
	case len(legal) == 1:
		return legal[0], nil
	}
	c := chooser{g, g.Plain(), legal, rng, func(p game.Position, l search.Limits) (search.Result, error) {
		r, err := find(p, l)
		// A search that was short of time has not reached some lines.
		r.Lines = slices.DeleteFunc(r.Lines, func(line search.Info) bool { return len(line.PV) == 0 })
		return r, err
	}}
	switch kind {
	case gomoku.ChooseStep:
		return c.colour()
	case gomoku.DeclareStep:
		return c.declare()
	case gomoku.OfferStep:
		return c.offer()
	case gomoku.PickStep:
		return c.pick()
	}
	return c.place()
}

type chooser struct {
	g     *gomoku.Position
	plain *gomoku.Position
	legal []game.Move
	rng   *rand.Rand
	find  Search
}

// colour takes the better side. If it may offer fifth moves as Black instead, it
// does so if even the last of them is good for Black; otherwise the opponent
// would choose again. Putting two more stones (swap2) is never better, because
// the opponent then takes the better side.
func (c *chooser) colour() (game.Move, error) {
	lines := 1
	fifths := slices.IndexFunc(c.legal, func(m game.Move) bool { _, ok := gomoku.FifthsNumber(m); return ok })
	if fifths >= 0 {
		lines = fifthLines
	}
	r, err := c.find(c.plain, search.Limits{MultiPV: lines})
	if err != nil {
		return game.NoMove, err
	}
	if fifths >= 0 {
		n, _ := gomoku.FifthsNumber(c.legal[fifths])
		if values := c.fifths(r); len(values) >= n && values[n-1] > 0 {
			return c.legal[fifths], nil
		}
	}
	holds := gomoku.Black
	if c.g.Seat(gomoku.Black) != c.g.Turn() {
		holds = gomoku.White
	}
	if (holds == c.g.ToMove()) == (r.Score >= 0) {
		return gomoku.Stay, nil
	}
	return gomoku.Swap, nil
}

// fifths are the scores of the fifth moves that Black might offer together, best
// first: only one of several symmetric points.
func (c *chooser) fifths(r search.Result) (values []search.Score) {
	b := c.g.Board()
	var taken []gomoku.Point
	for _, line := range r.Lines {
		at, ok := b.MovePoint(line.PV[0])
		if !ok || slices.ContainsFunc(taken, func(p gomoku.Point) bool { return b.Same(p, at) }) {
			continue
		}
		taken = append(taken, at)
		values = append(values, line.Score)
	}
	return values
}

// declare announces as many fifth moves as make the last of them even, since
// White will leave that one, and the other seat may still choose its colour.
func (c *chooser) declare() (game.Move, error) {
	plain := c.plain
	if plain.ToMove() == gomoku.White {
		// Before the fourth stone: assume White's best.
		r, err := c.find(plain, search.Limits{MultiPV: 1})
		if err != nil {
			return game.NoMove, err
		}
		// Each further fifth move costs Black about fifthWorth: announce one
		// for each by which Black leads.
		n := 1
		for lead := -r.Score; lead > fifthWorth && n < len(c.legal); lead -= fifthWorth {
			n++
		}
		return c.legal[n-1], nil
	}
	r, err := c.find(plain, search.Limits{MultiPV: fifthLines})
	if err != nil {
		return game.NoMove, err
	}
	best := 0
	values := c.fifths(r)
	for i := range min(len(values), len(c.legal)) {
		if abs(values[i]) < abs(values[best]) {
			best = i
		}
	}
	return c.legal[best], nil
}

// fifthWorth is about what one more fifth move to offer costs Black, in the
// evaluation's unit: an open two, the step between one good point and the next.
const fifthWorth = 80

func abs(s search.Score) search.Score { return max(s, -s) }

// offer offers the best of the points that may still be offered.
func (c *chooser) offer() (game.Move, error) {
	r, err := c.find(c.plain, search.Limits{MultiPV: fifthLines})
	if err != nil {
		return game.NoMove, err
	}
	b := c.g.Board()
	for _, line := range r.Lines {
		if at, ok := b.MovePoint(line.PV[0]); ok && slices.Contains(c.legal, gomoku.Offer(at)) {
			return gomoku.Offer(at), nil
		}
	}
	return c.legal[c.rng.IntN(len(c.legal))], nil
}

// pick leaves Black its worst offer.
func (c *chooser) pick() (game.Move, error) {
	r, err := c.find(c.plain, search.Limits{MultiPV: len(c.legal), Moves: c.legal})
	if err != nil {
		return game.NoMove, err
	}
	if len(r.Lines) == 0 {
		return c.legal[0], nil
	}
	worst := slices.MinFunc(r.Lines, func(a, b search.Info) int { return int(a.Score - b.Score) })
	return worst.PV[0], nil
}

// place puts a stone. Before a choice of colours the most even position is best,
// because the opponent will take the better side. For variety the first two
// stones are random, and so are the candidates for the others.
func (c *chooser) place() (game.Move, error) {
	if !c.g.ChoiceAhead() {
		r, err := c.find(c.plain, search.Limits{Moves: c.legal})
		return r.Move, err
	}
	b := c.g.Board()
	near := slices.DeleteFunc(slices.Clone(c.legal), func(m game.Move) bool {
		at, ok := b.MovePoint(m)
		return !ok || b.FromCentre(at) > 2+b.Stones()
	})
	c.rng.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
	if b.Stones() < 2 {
		return near[0], nil
	}
	near = near[:min(len(near), balanceLines)]
	r, err := c.find(c.plain, search.Limits{MultiPV: len(near), Moves: near})
	if err != nil {
		return game.NoMove, err
	}
	if len(r.Lines) == 0 {
		return near[0], nil
	}
	even := slices.MinFunc(r.Lines, func(a, b search.Info) int { return int(abs(a.Score) - abs(b.Score)) })
	return even.PV[0], nil
}
