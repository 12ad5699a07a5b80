package gomoku

import (
	"fmt"
	"strings"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// Linear presents the evaluation as a linear function of its weights, for fitting
// them. It is safe for concurrent use.
type Linear struct {
	class ruleClass
	names []string
	start []float64
}

// NewLinear returns the evaluation under the rules, with the weights of a weights
// file, or with all weights 0 if from is nil.
func NewLinear(rules string, from []byte) (*Linear, error) {
	class, err := classNamed(rules)
	if err != nil {
		return nil, err
	}
	w := new(weights)
	if from != nil {
		if err := w.readEval(from, class); err != nil {
			return nil, err
		}
	}
	l := &Linear{class: class}
	for _, p := range w.evalParameters(class) {
		l.names = append(l.names, p.Name)
		l.start = append(l.start, float64(*p.Value))
	}
	return l, nil
}

func classNamed(rules string) (ruleClass, error) {
	for r, name := range ruleClassNames {
		if name == rules {
			return ruleClass(r), nil
		}
	}
	return 0, fmt.Errorf("rules %.40q: want one of %s", rules, strings.Join(ruleClassNames[:], ", "))
}

// Rules returns the name of the rules that share these weights, as in a weights
// file.
func (l *Linear) Rules() string { return ruleClassNames[l.class] }

// Names returns the names of the weights, as in a weights file. All slices that
// Linear fills are in this order.
func (l *Linear) Names() []string { return l.names }

// Start returns the weights from which tuning starts.
func (l *Linear) Start() []float64 { return l.start }

// The layout of a side's weights in a slice of coefficients.
const (
	otherAt  = int(gomoku.Kinds) + codes
	threatAt = 2 * otherAt
	sideSize = threatAt + 1<<threatBits
)

// Coefficients stores the coefficients of a position in to, whose length is that
// of Names, and returns the evaluation with the weights of Start, without what places
// add while there are few stones. Where the end is settled within a few plies, or a
// five must be stopped, it returns with quiet false. It returns an error for a
// position of another game or other rules.
func (l *Linear) Coefficients(g game.Position, to []float64) (worth float64, quiet bool, err error) {
	a, err := l.adapt(g)
	if err != nil {
		return 0, false, err
	}
	if node := a.Enter(); node.Over || node.Forced {
		return 0, false, nil
	}
	clear(to)
	side := to
	if l.class.sides() == 2 {
		side = to[int(a.toMove)*sideSize:][:sideSize]
	}
	for p := range a.field.open.all() {
		for who, c := range [2]gomoku.Colour{a.toMove, a.toMove.Other()} {
			at := side[who*otherAt:][:otherAt]
			code := a.field.state[p].codes[c]
			if code == 0 {
				continue // all rows dead: worth nothing
			}
			at[int(gomoku.Kinds)+int(code)] += 1. / evalUnit
			for _, k := range kindsOfCode()[code] {
				if k != gomoku.Dead {
					at[k] += 1. / evalUnit
				}
			}
		}
	}
	side[threatAt+a.field.threatIndex(a.toMove)] = 1. / evalUnit
	for i, times := range to {
		worth += times * l.start[i]
	}
	return worth, true, nil
}

func (l *Linear) adapt(g game.Position) (*position, error) {
	p, err := New(g)
	if err != nil {
		return nil, err
	}
	a := p.(*position)
	if class := classOf(a.set); class != l.class {
		return nil, fmt.Errorf("engine/gomoku: a game under %s rules, want %s", ruleClassNames[class], ruleClassNames[l.class])
	}
	return a, nil
}

// Captures reports whether a move makes a four or more: the value of the position
// before it is not settled by rows alone.
func (l *Linear) Captures(g game.Position, m game.Move) bool {
	a, err := l.adapt(g)
	if err != nil {
		return false
	}
	e, ok := a.Find(m)
	return ok && e.Noise != search.Quiet
}

// Choices presents the policy as a function of its weights, for fitting them to
// chosen moves. It is safe for concurrent use.
type Choices struct {
	Linear
}

// NewChoices returns the policy under the rules.
func NewChoices(rules string) (*Choices, error) {
	class, err := classNamed(rules)
	if err != nil {
		return nil, err
	}
	c := &Choices{Linear{class: class}}
	for _, p := range new(weights).moveParameters(class) {
		c.names = append(c.names, p.Name)
	}
	c.start = make([]float64, len(c.names))
	return c, nil
}

// Weights returns the weights of each feature: those of a code's kinds, and its own.
func (l *Choices) Weights() (all [][]int32) {
	for first := 0; first < len(l.names); first += otherAt {
		at := int32(first)
		for i, kinds := range kindsOfCode() {
			feature := []int32{at + int32(gomoku.Kinds) + int32(i)}
			for _, k := range kinds {
				feature = append(feature, at+int32(k))
			}
			all = append(all, feature)
		}
	}
	return all
}

// allowAll lets all moves be listed where a four and a three threaten: the policy
// learns what answers them, and what it learnt before moves were left out there stays
// reproducible.
func (a *position) allowAll() {
	if top := a.resolve(); top.facing == fourAndThree {
		top.facing = nothing
	}
}

// Features returns for each move that the search may consider at a position its two
// features, its point's code for the side to move and for the other, and which of
// the moves is m. Ok is false where nothing can be learnt: the move is the only one,
// or not among them.
func (l *Choices) Features(g game.Position, m game.Move) (moves [][2]int32, chosen int, ok bool, err error) {
	a, err := l.adapt(g)
	if err != nil {
		return nil, 0, false, err
	}
	if node := a.Enter(); node.Over || node.Forced {
		return nil, 0, false, nil
	}
	at := 0
	if l.class.sides() == 2 {
		at = int(a.toMove) * int(needs)
	}
	at += int(a.need())
	a.allowAll()
	chosen = -1
	for i, e := range a.Moves(nil, &search.Cursor{}) {
		if e.Move == m {
			chosen = i
		}
		state := &a.field.state[e.Move-1].codes
		moves = append(moves, [2]int32{int32(2*at*codes) + int32(state[a.toMove]), int32((2*at+1)*codes) + int32(state[a.toMove.Other()])})
	}
	return moves, chosen, chosen >= 0 && len(moves) > 1, nil
}
