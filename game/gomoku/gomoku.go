package gomoku

import (
	"fmt"
	"strconv"
	"strings"

	"sparring/game"
)

// Name is the game's name.
const Name = "gomoku"

// Game describes the game and its rule sets.
func Game() game.Game {
	g := game.Game{
		Name:      Name,
		Default:   Name + "/freestyle-15",
		Common:    []string{Name + "/freestyle-15", Name + "/standard-15", Name + "/renju-15", Name + "/freestyle-15+swap2"},
		Reasons:   []game.Reason{game.Five, game.Forbidden, game.BoardFull},
		Handicaps: handicaps,
		Rules:     rulesNamed,
		RulesFor:  rulesFor,
	}
	for _, v := range variants {
		for size := MinSize; size <= MaxSize; size++ {
			g.Sets = append(g.Sets, Set{variant: v, Size: size}.Name())
		}
	}
	for _, set := range []string{"freestyle-15+swap", "freestyle-15+swap2", "standard-15+swap2", "renju-15+swap2", "renju-15+rif",
		"renju-15+yamaguchi-12", "renju-15+soosyrv-8", "renju-15+taraguchi-10", "renju-15+ccgc-2"} {
		g.Sets = append(g.Sets, Name+"/"+set)
	}
	return g
}

// handicaps gives Black one or two stones more: they stand around the centre, and
// Black moves. An opening procedure leaves no place for them.
func handicaps(r *game.Rules) (list []game.Handicap) {
	set, err := parseSet(r.Name)
	if err != nil || set.Opening.Name != "" {
		return nil
	}
	middle := set.Size / 2
	stones := [][2]int{{middle, middle}, {middle + 1, middle + 1}}
	for n, name := range []string{"stone", "two-stones"} {
		b := NewBoard(set.Size)
		for _, at := range stones[:n+1] {
			b.Put(b.Point(at[0], at[1]), Black)
		}
		list = append(list, game.Handicap{Name: name, Position: b.text() + " b", Weaker: game.First})
	}
	return list
}

// variant defines the winning rows and their effect.
type variant struct {
	name       string
	lines      [2]Line // by colour
	forbidden  bool    // Black has forbidden points (Renju)
	continuous bool    // a row scores and play continues until the board is full
}

// The variants. Standard is Gomocup's rule 1, caro its rule 8, standardcaro
// both together (rule 9); Renju is its rule 4, continuous its rule 2.
var variants = []variant{
	{name: "freestyle", lines: [2]Line{FiveOrMore, FiveOrMore}},
	{name: "standard", lines: [2]Line{ExactFive, ExactFive}},
	{name: "renju", lines: [2]Line{ExactFive, FiveOrMore}, forbidden: true},
	{name: "caro", lines: [2]Line{Caro, Caro}},
	{name: "standardcaro", lines: [2]Line{ExactCaro, ExactCaro}},
	{name: "continuous", lines: [2]Line{FiveOrMore, FiveOrMore}, continuous: true},
}

// Set is a rule set of the game, by its parts.
type Set struct {
	variant
	Size    int
	Opening Opening
}

// Name returns the full name, as in [game.Rules].
func (s Set) Name() string {
	text := fmt.Sprintf("%s/%s-%d", Name, s.variant.name, s.Size)
	if s.Opening.Name != "" {
		text += "+" + s.Opening.Name
	}
	return text
}

// Line returns the rule for the winning rows of a colour.
func (s Set) Line(c Colour) Line { return s.lines[c] }

// Forbids reports whether a colour has forbidden points.
func (s Set) Forbids(c Colour) bool { return s.forbidden && c == Black }

// Forcing reports whether a four can be stopped only on the points where it would
// become five.
func (s Set) Forcing() bool { return s.lines[Black] < Caro && !s.continuous }

// Continuous reports whether a row scores and dies instead of ending the game.
func (s Set) Continuous() bool { return s.continuous }

// parseSet reads a full name. The error wraps game.ErrRules.
func parseSet(text string) (Set, error) {
	bad := func(why string) (Set, error) {
		return Set{}, fmt.Errorf("%w %.60q: %s", game.ErrRules, text, why)
	}
	rest, ok := strings.CutPrefix(text, Name+"/")
	if !ok {
		return bad("want " + Name + "/...")
	}
	rest, procedure, opens := strings.Cut(rest, "+")
	head, tail, _ := strings.Cut(rest, "-")
	size, err := strconv.Atoi(tail)
	if err != nil || size < MinSize || size > MaxSize || strconv.Itoa(size) != tail {
		return bad(fmt.Sprintf("want a board size of %d to %d, as in %s/freestyle-15", MinSize, MaxSize, Name))
	}
	set := Set{Size: size}
	if opens {
		if set.Opening, err = parseOpening(procedure, size); err != nil {
			return bad(err.Error())
		}
	}
	var names []string
	for _, v := range variants {
		if v.name == head {
			set.variant = v
			return set, nil
		}
		names = append(names, v.name)
	}
	return bad("have " + strings.Join(names, ", "))
}

func rulesNamed(text string) (*game.Rules, error) {
	set, err := parseSet(text)
	if err != nil {
		return nil, err
	}
	return set.rules(), nil
}

// rules returns the rule set as all games have it.
func (set Set) rules() *game.Rules {
	r := &game.Rules{Name: set.Name(), Game: Name}
	r.New = func(position string) (game.Position, error) {
		p, err := newPosition(r, set, position)
		if err != nil {
			return nil, err // not p: a nil *Position is not a nil game.Position
		}
		return p, nil
	}
	return r
}

// rulesFor infers the rules from the size of the board and from dead stones.
func rulesFor(position string) (string, error) {
	if position == "" {
		return Game().Default, nil
	}
	b, _, _, err := parseBoard(position)
	if err != nil {
		return "", err
	}
	set := Set{variant: variants[0], Size: b.Size}
	for at := range Point(b.Points) {
		if b.Dead(at) {
			set.variant = variants[len(variants)-1]
		}
	}
	return set.Name(), nil
}
