package gomoku

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sparring/game"
)

// Choices of opening procedures, as moves. Stones are moves 1 to 400; offerMove +
// a point offers it as the fifth move.
const (
	offerMove  game.Move = 1<<9 + 1
	Swap       game.Move = 1 << 10   // take the other colour
	Stay       game.Move = 1<<10 + 1 // keep the colour
	PutTwo     game.Move = 1<<10 + 2 // put two more stones, the other seat then chooses
	fifthsMove game.Move = 1<<10 + 8 // + n: ask for n offers for the fifth move
)

// MaxFifths bounds the number of fifth moves that a procedure may ask for.
const MaxFifths = 12

// Offer returns the move that offers p as the fifth.
func Offer(p Point) game.Move { return offerMove + game.Move(p) }

// OfferPoint returns the point that a move offers; ok is false for other moves.
func (g *Geometry) OfferPoint(m game.Move) (p Point, ok bool) {
	if m < offerMove || m >= offerMove+game.Move(g.Points) {
		return NoPoint, false
	}
	return Point(m - offerMove), true
}

// Fifths returns the move that asks for n fifth moves.
func Fifths(n int) game.Move { return fifthsMove + game.Move(n) }

// FifthsNumber returns the n of a move made by Fifths; ok is false for other moves.
func FifthsNumber(m game.Move) (n int, ok bool) {
	n = int(m) - int(fifthsMove)
	return n, n >= 1 && n <= MaxFifths
}

// StepKind is the kind of action that a step of an opening procedure requires.
type StepKind uint8

// The kinds of step.
const (
	PlaceStep   StepKind = iota // a stone on the board
	ChooseStep                  // a colour, or how to continue
	DeclareStep                 // the number of fifth moves to offer
	OfferStep                   // one more fifth move to offer
	PickStep                    // one of the offers
)

// actor says which seat acts in a step. In the first step it is the first seat,
// which holds Black.
type actor uint8

const (
	same   actor = iota // the seat that acted before
	other               // the other one
	holder              // the seat that holds the colour of the next stone
)

// anywhere is a reach larger than any board.
const anywhere = MaxSize

// step is one action of a procedure. Steps of the same name in a row are one to
// the player.
type step struct {
	name    string // as in game.Stage
	kind    StepKind
	by      actor
	stones  int      // on the board when the step begins
	reach   int      // of a PlaceStep: largest distance from the centre, in king's steps
	fifths  int      // of a DeclareStep the largest number; of an OfferStep the number if none was asked for
	choices []choice // of a ChooseStep
}

// choice is a move of a ChooseStep, and the step that it leads to.
type choice struct {
	move game.Move
	next int
}

// procedure is an opening procedure: steps in order, unless a choice leads
// elsewhere. After the last step the game continues as usual.
type procedure struct {
	name     string
	centred  bool // needs a point in the middle of the board
	numbered bool // the name ends in a number of fifth moves
	steps    func(n int) []step
}

// swapOrStay both lead to the same step.
func swapOrStay(next int) []choice { return []choice{{Swap, next}, {Stay, next}} }

// designated is the start of the Renju procedures: the first seat puts three
// stones, the first on the centre, the second next to it, the third at most two
// steps from it. That is one of the 26 openings, in any orientation.
var designated = []step{
	{name: "put-three", kind: PlaceStep, by: same, stones: 0, reach: 0},
	{name: "put-three", kind: PlaceStep, by: same, stones: 1, reach: 1},
	{name: "put-three", kind: PlaceStep, by: same, stones: 2, reach: 2},
}

// The procedures, from the sources that docs/rules-gomoku.md names.
var procedures = []procedure{
	{name: "swap", steps: func(int) []step {
		return []step{
			{name: "put-three", kind: PlaceStep, by: same, stones: 0, reach: anywhere},
			{name: "put-three", kind: PlaceStep, by: same, stones: 1, reach: anywhere},
			{name: "put-three", kind: PlaceStep, by: same, stones: 2, reach: anywhere},
			{name: "choose-colour", kind: ChooseStep, by: other, stones: 3, choices: swapOrStay(4)},
		}
	}},
	{name: "swap2", steps: func(int) []step {
		return []step{
			{name: "put-three", kind: PlaceStep, by: same, stones: 0, reach: anywhere},
			{name: "put-three", kind: PlaceStep, by: same, stones: 1, reach: anywhere},
			{name: "put-three", kind: PlaceStep, by: same, stones: 2, reach: anywhere},
			{name: "choose", kind: ChooseStep, by: other, stones: 3, choices: append(swapOrStay(7), choice{PutTwo, 4})},
			{name: "put-two", kind: PlaceStep, by: same, stones: 3, reach: anywhere},
			{name: "put-two", kind: PlaceStep, by: same, stones: 4, reach: anywhere},
			{name: "choose-colour", kind: ChooseStep, by: other, stones: 5, choices: swapOrStay(7)},
		}
	}},
	{name: "rif", centred: true, steps: func(int) []step { return threeSwapFifths(2) }},
	{name: "ccgc", centred: true, numbered: true, steps: threeSwapFifths},
	{name: "yamaguchi", centred: true, numbered: true, steps: func(n int) []step {
		return append(slices.Clone(designated), []step{
			{name: "declare", kind: DeclareStep, by: same, stones: 3, fifths: n},
			{name: "choose-colour", kind: ChooseStep, by: other, stones: 3, choices: swapOrStay(5)},
			{name: "put-fourth", kind: PlaceStep, by: holder, stones: 3, reach: anywhere},
			{name: "offer", kind: OfferStep, by: holder, stones: 4},
			{name: "pick", kind: PickStep, by: other, stones: 4},
		}...)
	}},
	{name: "soosyrv", centred: true, numbered: true, steps: func(n int) []step {
		return append(slices.Clone(designated), []step{
			{name: "choose-colour", kind: ChooseStep, by: other, stones: 3, choices: swapOrStay(4)},
			{name: "put-fourth", kind: PlaceStep, by: holder, stones: 3, reach: anywhere},
			{name: "declare", kind: DeclareStep, by: same, stones: 4, fifths: n},
			{name: "choose-again", kind: ChooseStep, by: other, stones: 4, choices: swapOrStay(7)},
			{name: "offer", kind: OfferStep, by: holder, stones: 4},
			{name: "pick", kind: PickStep, by: other, stones: 4},
		}...)
	}},
	{name: "taraguchi", centred: true, numbered: true, steps: func(n int) []step {
		return []step{
			{name: "put-stone", kind: PlaceStep, by: holder, stones: 0, reach: 0},
			{name: "choose-colour", kind: ChooseStep, by: other, stones: 1, choices: swapOrStay(2)},
			{name: "put-stone", kind: PlaceStep, by: holder, stones: 1, reach: 1},
			{name: "choose-colour", kind: ChooseStep, by: other, stones: 2, choices: swapOrStay(4)},
			{name: "put-stone", kind: PlaceStep, by: holder, stones: 2, reach: 2},
			{name: "choose-colour", kind: ChooseStep, by: other, stones: 3, choices: swapOrStay(6)},
			{name: "put-stone", kind: PlaceStep, by: holder, stones: 3, reach: 3},
			{name: "choose", kind: ChooseStep, by: other, stones: 4, choices: append(swapOrStay(8), choice{Fifths(n), 10})},
			{name: "put-stone", kind: PlaceStep, by: holder, stones: 4, reach: 4},
			{name: "choose-colour", kind: ChooseStep, by: other, stones: 5, choices: swapOrStay(12)},
			{name: "offer", kind: OfferStep, by: holder, stones: 4},
			{name: "pick", kind: PickStep, by: other, stones: 4},
		}
	}},
}

// threeSwapFifths: a designated opening, the other seat may swap, White puts
// the fourth stone, Black offers n fifth ones and White picks.
func threeSwapFifths(n int) []step {
	return append(slices.Clone(designated), []step{
		{name: "choose-colour", kind: ChooseStep, by: other, stones: 3, choices: swapOrStay(4)},
		{name: "put-fourth", kind: PlaceStep, by: holder, stones: 3, reach: anywhere},
		{name: "offer", kind: OfferStep, by: holder, stones: 4, fifths: n},
		{name: "pick", kind: PickStep, by: other, stones: 4},
	}...)
}

// Opening is the opening procedure of a rule set.
type Opening struct {
	Name  string // "swap2", "soosyrv-8"; "" for none
	steps []step
}

// parseOpening reads the part of a rule set's name after the "+".
func parseOpening(text string, size int) (Opening, error) {
	head, number, numbered := strings.Cut(text, "-")
	var names []string
	for _, p := range procedures {
		name := p.name
		if p.numbered {
			name += "-N"
		}
		names = append(names, name)
		if p.name != head {
			continue
		}
		n, err := strconv.Atoi(number)
		switch {
		case p.centred && size%2 == 0:
			return Opening{}, fmt.Errorf("%s needs a board with a centre, of 15, 17 or 19", p.name)
		case numbered != p.numbered, numbered && (err != nil || n < 1 || n > MaxFifths || strconv.Itoa(n) != number):
			return Opening{}, fmt.Errorf("want %s with N, the number of fifth moves, from 1 to %d", name, MaxFifths)
		}
		return Opening{text, p.steps(n)}, nil
	}
	return Opening{}, fmt.Errorf("no opening procedure %.20q, have %s", text, strings.Join(names, ", "))
}

// progress is the state of an opening procedure.
type progress struct {
	step   int       // len(steps) when it is over
	actor  game.Seat // the seat that acts in this step
	fifths int       // fifth moves asked for
	offers []Point   // never changed in place: states before keep theirs
}

// enter goes to a step. Black plays a single fifth move without offering it.
func (p *Position) enter(next int) {
	o := &p.opening
	steps := p.set.Opening.steps
	o.step = next
	if next >= len(steps) {
		*o = progress{step: len(steps)}
		return
	}
	s := &steps[next]
	switch s.by {
	case other:
		o.actor = o.actor.Other()
	case holder:
		o.actor = p.Seat(p.toMove)
	}
	if s.kind == OfferStep {
		if s.fifths > 0 {
			o.fifths = s.fifths
		}
		if o.fifths == 1 {
			p.enter(len(steps))
		}
	}
}

// current returns the current step, nil in the usual play.
func (p *Position) current() *step {
	if p.opening.step >= len(p.set.Opening.steps) {
		return nil
	}
	return &p.set.Opening.steps[p.opening.step]
}

// Step returns the kind of the current step of the opening procedure. Ok is false in
// the usual play, where turns alternate.
func (p *Position) Step() (kind StepKind, ok bool) {
	s := p.current()
	if s == nil {
		return 0, false
	}
	return s.kind, true
}

// ChoiceAhead reports whether a seat may still choose its colour.
func (p *Position) ChoiceAhead() bool {
	rest := p.set.Opening.steps[min(p.opening.step, len(p.set.Opening.steps)):]
	return slices.ContainsFunc(rest, func(s step) bool { return s.kind == ChooseStep })
}

// Offers returns the fifth moves offered so far, and the number to offer.
func (p *Position) Offers() (offers []Point, of int) {
	return slices.Clone(p.opening.offers), p.opening.fifths
}

// openingMoves appends the moves that a step allows.
func (p *Position) openingMoves(s *step, buf []game.Move) []game.Move {
	switch s.kind {
	case ChooseStep:
		for _, c := range s.choices {
			buf = append(buf, c.move)
		}
	case DeclareStep:
		for n := 1; n <= s.fifths; n++ {
			buf = append(buf, Fifths(n))
		}
	case PickStep:
		for _, at := range p.opening.offers {
			buf = append(buf, StoneMove(at))
		}
	case OfferStep:
		same := p.board.selfSymmetries()
		for at := range Point(p.board.Points) {
			if p.offerable(at, same) == nil {
				buf = append(buf, Offer(at))
			}
		}
	case PlaceStep:
		for at := range Point(p.board.Points) {
			if p.board.Empty(at) && p.board.FromCentre(at) <= s.reach {
				buf = append(buf, StoneMove(at))
			}
		}
	}
	return buf
}

// FromCentre returns the distance in king's steps from the middle point.
func (g *Geometry) FromCentre(p Point) int {
	middle := g.Size / 2
	return max(g.Column(p)-middle, middle-g.Column(p), g.RowOf(p)-middle, middle-g.RowOf(p))
}

// offerable returns an error if a point can't be offered: it is taken, was offered
// before, or is the image of an earlier offer under a symmetry of the stones.
func (p *Position) offerable(at Point, same []int) error {
	if c, taken := p.board.At(at); taken {
		return fmt.Errorf("%s is taken by a %s stone", p.board.PointText(at), c)
	}
	for _, s := range same {
		if image := p.board.Symmetric(at, s); slices.Contains(p.opening.offers, image) {
			if image == at {
				return fmt.Errorf("%s was offered before", p.board.PointText(at))
			}
			return fmt.Errorf("%s is symmetric to %s", p.board.PointText(at), p.board.PointText(image))
		}
	}
	return nil
}

// selfSymmetries lists the symmetries that leave all stones in place.
func (b *Board) selfSymmetries() (same []int) {
next:
	for s := range symmetries {
		for p := range Point(b.Points) {
			if b.cell(p) != b.cell(b.Symmetric(p, s)) {
				continue next
			}
		}
		same = append(same, s)
	}
	return same
}

// Same reports whether one point is the image of the other under a symmetry that
// leaves all stones in place.
func (b *Board) Same(p, q Point) bool {
	return slices.ContainsFunc(b.selfSymmetries(), func(s int) bool { return b.Symmetric(p, s) == q })
}

// checkOpening returns an error if a move is not allowed in a step.
func (p *Position) checkOpening(s *step, m game.Move) error {
	switch s.kind {
	case OfferStep:
		at, ok := p.board.OfferPoint(m)
		if !ok {
			break
		}
		if err := p.offerable(at, p.board.selfSymmetries()); err != nil {
			return fmt.Errorf("%w: %w", game.ErrIllegal, err)
		}
		return nil
	case PlaceStep:
		at, ok := p.board.MovePoint(m)
		if !ok {
			break
		}
		if c, taken := p.board.At(at); taken {
			return fmt.Errorf("%w: %s is taken by a %s stone", game.ErrIllegal, p.board.PointText(at), c)
		}
		if p.board.FromCentre(at) > s.reach {
			return fmt.Errorf("%w: %s is more than %d from the centre, which the opening %s does not allow for stone %d",
				game.ErrIllegal, p.board.PointText(at), s.reach, p.set.Opening.Name, s.stones+1)
		}
		return nil
	default:
		if slices.Contains(p.openingMoves(s, nil), m) {
			return nil
		}
	}
	return fmt.Errorf("%w: %s; the opening %s asks %s", game.ErrIllegal, p.Format(m), p.set.Opening.Name, p.wanted(s))
}

// wanted describes what a step asks for.
func (p *Position) wanted(s *step) string {
	switch s.kind {
	case PlaceStep:
		return "for a stone"
	case OfferStep:
		return fmt.Sprintf("for fifth move %d of %d, as offer:h10", len(p.opening.offers)+1, p.opening.fifths)
	}
	var texts []string
	for _, m := range p.openingMoves(s, nil) {
		texts = append(texts, p.Format(m))
	}
	return "to choose of " + strings.Join(texts, ", ")
}

// playOpening makes a move that checkOpening allows.
func (p *Position) playOpening(s *step, m game.Move) {
	next := p.opening.step + 1
	switch s.kind {
	case PlaceStep, PickStep:
		p.put(Point(m - 1))
	case OfferStep:
		at, _ := p.board.OfferPoint(m)
		p.opening.offers = append(slices.Clip(p.opening.offers), at)
		if len(p.opening.offers) < p.opening.fifths {
			return
		}
	case DeclareStep:
		p.opening.fifths, _ = FifthsNumber(m)
	case ChooseStep:
		for _, c := range s.choices {
			if c.move == m {
				next = c.next
			}
		}
		if m == Swap {
			p.black = p.black.Other()
		}
		if n, ok := FifthsNumber(m); ok {
			p.opening.fifths = n
		}
	}
	p.enter(next)
}

// Entries of the Zobrist table for opening procedures, see the package
// documentation.
const (
	keySwapped = 801
	keyFifths  = 810 // + their number
	keyStep    = 830 // + the step
	keyOffer   = 1000
)

// openingKey returns what the procedure adds to the key.
func (p *Position) openingKey() (key uint64) {
	if p.black != game.First {
		key ^= game.Zobrist(keySeed, keySwapped)
	}
	if p.current() == nil {
		return key
	}
	key ^= game.Zobrist(keySeed, keyStep+uint64(p.opening.step))
	if p.opening.fifths > 0 {
		key ^= game.Zobrist(keySeed, keyFifths+uint64(p.opening.fifths))
	}
	for _, at := range p.opening.offers {
		key ^= game.Zobrist(keySeed, keyOffer+uint64(at))
	}
	return key
}
