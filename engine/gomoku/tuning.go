package gomoku

import (
	"fmt"
	"strings"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// Linear presents the evaluation as a linear function of its weights, for fitting
// them. It is safe for concurrent use.
type Linear struct {
	adapter.Parameters
	class ruleClass
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
	return &Linear{adapter.ParametersOf(w.evalParameters(class)), class}, nil
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

// Fits reports whether games under the rules share these weights.
func (l *Linear) Fits(rules *game.Rules) bool {
	p, err := rules.New("")
	if err != nil {
		return false
	}
	g, ok := p.(*gomoku.Position)
	return ok && classOf(g.Set()) == l.class
}

// Sides returns 2 if the colours have weights of their own under these rules, and 1
// otherwise.
func (l *Linear) Sides() int { return l.class.sides() }

// The layout of a side's weights in a slice of coefficients.
const (
	otherAt  = int(gomoku.Kinds) + codes
	threatAt = 2 * otherAt
	sideSize = threatAt + 1<<threatBits
)

// Coefficients stores the coefficients of a position in to, whose length is that
// of Names, and returns the evaluation with the weights of Start, in points, without the
// bonus for the place of the stones while there are few. Quiet is false, and nothing is
// stored, where the end is settled within a few plies or a five must be stopped. It returns
// an error for a position of another game or other rules.
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
	start := l.Start()
	for i, times := range to {
		worth += times * start[i]
	}
	return worth, true, nil
}

// Shipped returns the engine's evaluation of a position without the network of
// look-ups, for the side to move: what the network is to correct. Quiet and errors are
// as for Coefficients.
func (l *Linear) Shipped(g game.Position) (worth search.Score, quiet bool, err error) {
	a, err := l.adapt(g)
	if err != nil {
		return 0, false, err
	}
	if node := a.Enter(); node.Over || node.Forced {
		return 0, false, nil
	}
	a.net = nil
	return a.Eval(), true, nil
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

// NewChoices returns the policy under the rules, with the weights of a weights file, or
// with all weights 0 if from is nil.
func NewChoices(rules string, from []byte) (*Choices, error) {
	class, err := classNamed(rules)
	if err != nil {
		return nil, err
	}
	w := new(weights)
	if from != nil {
		if err := w.readMoves(from, class); err != nil {
			return nil, err
		}
	}
	return &Choices{Linear{adapter.ParametersOf(w.moveParameters(class)), class}}, nil
}

// Features returns the terms of each feature: the weights of a code's kinds, and its
// own.
func (l *Choices) Features() (all [][]adapter.Term) {
	for first := 0; first < len(l.Names()); first += otherAt {
		at := int32(first)
		for i, kinds := range kindsOfCode() {
			feature := []adapter.Term{{Weight: at + int32(gomoku.Kinds) + int32(i), By: 1}}
			for _, k := range kinds {
				feature = append(feature, adapter.Term{Weight: at + int32(k), By: 1})
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

// Choice returns for each move that the policy orders at a position its two
// features, its point's code for the side to move and for the other, and which of
// the moves is m. Ok is false where nothing can be learnt: the move is the only one,
// or not among them.
func (l *Choices) Choice(g game.Position, m game.Move) (c adapter.Choice, ok bool, err error) {
	a, err := l.adapt(g)
	if err != nil {
		return c, false, err
	}
	if node := a.Enter(); node.Over || node.Forced {
		return c, false, nil
	}
	at := 0
	if l.class.sides() == 2 {
		at = int(a.toMove) * int(needs)
	}
	at += int(a.need())
	a.allowAll()
	c.PerMove, c.Chosen = 2, -1
	for _, e := range a.Moves(nil, &search.Cursor{}) {
		if e.Order == foulOrder {
			continue // forbidden, and last whatever the policy says
		}
		if e.Move == m {
			c.Chosen = c.Len()
		}
		state := &a.field.state[e.Move-1].codes
		c.Moves = append(c.Moves, int32(2*at*codes)+int32(state[a.toMove]), int32((2*at+1)*codes)+int32(state[a.toMove.Other()]))
	}
	return c, c.Chosen >= 0 && c.Len() > 1, nil
}
