package trees

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
)

// Games is a set of games of one kind. It keeps their moves only, some 300 bytes a
// game.
type Games struct {
	// Game is the kind of game, and Rules the rule set in full that the games are
	// played under; "" is any.
	Game, Rules string
	// Others counts the games that were skipped because they are of another kind, Left those
	// under other rules, without moves, and duplicates.
	Others, Left int

	set  map[string]bool // what origin.text writes
	list []string        // the set in ascending order; nil after Add
}

// origin is a game that trees are taken from.
type origin struct {
	rules, position string
	moves           []string
}

// text is the origin as one string, which read reads back. Names, positions and moves
// are single lines, and moves have no spaces.
func (o *origin) text() string {
	return o.rules + "\n" + o.position + "\n" + strings.Join(o.moves, " ")
}

func (o *origin) read(text string) {
	var moves string
	o.rules, text, _ = strings.Cut(text, "\n")
	o.position, moves, _ = strings.Cut(text, "\n")
	o.moves = strings.Fields(moves)
}

// Add adds a game. The error names one whose moves can't be played.
func (g *Games) Add(r *record.Record) error {
	if r.Game != g.Game {
		g.Others++
		return nil
	}
	if g.Rules != "" && r.Rules != g.Rules || len(r.Plies) == 0 {
		g.Left++
		return nil
	}
	o := origin{rules: r.Rules, position: r.Position}
	for _, p := range r.Plies {
		o.moves = append(o.moves, p.Move)
	}
	if _, err := o.replay(len(o.moves)); err != nil {
		return fmt.Errorf("game %.40q: %w", r.ID, err)
	}
	text := o.text()
	if g.set[text] {
		g.Left++
		return nil
	}
	if g.set == nil {
		g.set = map[string]bool{}
	}
	g.set[text] = true
	g.list = nil
	return nil
}

// replay returns the position after the first plies.
func (o *origin) replay(plies int) (game.Position, error) {
	rules, err := catalog.Rules(o.rules)
	if err != nil {
		return nil, err
	}
	p, err := rules.New(o.position)
	if err != nil {
		return nil, err
	}
	for _, move := range o.moves[:plies] {
		game.PlayOn(p) // the arbiter did not end the game there
		if _, err := game.PlayText(p, move); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Len returns the number of games.
func (g *Games) Len() int { return len(g.set) }

// Digest identifies the games, whatever their order.
func (g *Games) Digest() string {
	h := sha256.New()
	for _, text := range g.sorted() {
		io.WriteString(h, text+"\n\n")
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (g *Games) sorted() []string {
	if g.list == nil {
		g.list = slices.Sorted(maps.Keys(g.set))
	}
	return g.list
}
