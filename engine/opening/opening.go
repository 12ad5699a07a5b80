// Package opening chooses for a seat in an opening procedure, in which turns need
// not alternate and colours are swapped. The kernel knows no such procedures: each
// choice is made by one search of the plain position.
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

// ErrNoChoice is returned by Choose for a position outside of an opening
// procedure: search it instead.
var ErrNoChoice = errors.New("no opening procedure is under way")

// Search searches a plain position with the Moves and MultiPV of l, and the
// caller's limits of time or nodes.
type Search func(p game.Position, l search.Limits) (search.Result, error)

// Numbers of lines (MultiPV). A procedure may ask for 12 fifth moves, and on a
// symmetric board up to half of the best moves are mirror images. Of the stones
// that may leave the game even, 12 are tried.
const (
	fifthLines   = 2*gomoku.MaxFifths + 2
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

// Plain returns the position as it is without the opening procedure that it is in; p itself,
// if it is in none.
func Plain(p game.Position) game.Position {
	if !Running(p) {
		return p
	}
	return p.(*gomoku.Position).Plain()
}

// Choose returns the choice of the seat to act, among the legal moves only, or all if
// only is nil. It calls find at most once. The error is ErrNoChoice, game.ErrOver or
// that of find. The first two stones of a game are random.
func Choose(p game.Position, only []game.Move, find Search, rng *rand.Rand) (game.Move, error) {
	g, ok := p.(*gomoku.Position)
	if !ok {
		return game.NoMove, fmt.Errorf("%w: %s", ErrNoChoice, p.Rules().Name)
	}
	kind, running := g.Step()
	legal := only
	if legal == nil {
		legal = g.Legal(nil)
	}
	switch {
	case !running:
		return game.NoMove, fmt.Errorf("%w: %s", ErrNoChoice, g)
	case len(legal) == 1:
		return legal[0], nil
	}
	c := chooser{g, g.Plain(), legal, rng, func(p game.Position, l search.Limits) (search.Result, error) {
		r, err := find(p, l)
		// A search that ran out of time has lines without moves.
		r.Lines = slices.DeleteFunc(r.Lines, func(line search.Info) bool { return len(line.PV) == 0 })
		return r, err
	}}
	m, err := c.choose(kind)
	if m != game.NoMove && !slices.Contains(legal, m) {
		m = legal[0] // the best is not allowed
	}
	return m, err
}

func (c *chooser) choose(kind gomoku.StepKind) (game.Move, error) {
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
	legal []game.Move // to choose from
	rng   *rand.Rand
	find  Search
}

// colour takes the side that stands better. If Black may offer fifth moves
// instead, it does so when even the last of them is good for Black; otherwise the
// opponent gets another choice. Placing two more stones (swap2) is never better,
// since the opponent then takes the better side.
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

// fifths returns the scores of the fifth moves that Black might offer together,
// best first, one for each set of symmetric points.
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

// declare declares the number of fifth moves of which the last leaves the game
// even: White will leave that one, and the opponent may still choose a colour.
func (c *chooser) declare() (game.Move, error) {
	plain, numbers := c.plain, c.g.Legal(nil)
	if plain.ToMove() == gomoku.White {
		// The number is declared before the fourth stone: assume White's best.
		r, err := c.find(plain, search.Limits{MultiPV: 1})
		if err != nil {
			return game.NoMove, err
		}
		// Each further fifth move costs Black about fifthWorth: declare as many
		// as Black's lead pays for.
		n := 1
		for lead := -r.Score; lead > fifthWorth && n < len(numbers); lead -= fifthWorth {
			n++
		}
		return numbers[n-1], nil
	}
	r, err := c.find(plain, search.Limits{MultiPV: fifthLines})
	if err != nil {
		return game.NoMove, err
	}
	best := 0
	values := c.fifths(r)
	for i := range min(len(values), len(numbers)) {
		if abs(values[i]) < abs(values[best]) {
			best = i
		}
	}
	return numbers[best], nil
}

// fifthWorth is about what each further fifth move costs Black, in the
// evaluation's unit: an open two, the difference between good points.
const fifthWorth = 80

func abs(s search.Score) search.Score { return max(s, -s) }

// offer offers the best point that may still be offered.
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

// pick leaves Black the offer that is worst for it.
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

// place places a stone. If a choice of colours is still to come, the stone that
// leaves the game most even is best, since the opponent will take the better side.
// For variety the first two stones are random, and so are the candidates for the
// others.
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
	if len(near) == 0 {
		near = slices.Clone(c.legal)
	}
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
