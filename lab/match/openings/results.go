package openings

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
	"sparring/record/format"
)

// Results counts how games ended by the openings of a set that they began with.
type Results struct {
	Tallies []Tally // of the set's openings
	// Games that are not in Tallies: those that began otherwise, are of other rules or have
	// no result, and those that are move for move like one before.
	Others, Repeated int

	at      map[string]map[uint64]int // openings by rule set and key of the position after them
	longest int                       // moves of an opening
	set     bool                      // an opening begins with a position, after who knows how many moves
	seen    map[string]bool           // courses of games
}

// Tally has the results of the games from one opening.
type Tally struct {
	First, Drawn, Second int // games won by the player who moves first, drawn, lost
}

// Games returns the number of games.
func (t Tally) Games() int { return t.First + t.Drawn + t.Second }

// Share returns the points of the player who moves first, of one a game; NaN without games.
func (t Tally) Share() float64 {
	return (float64(t.First) + float64(t.Drawn)/2) / float64(t.Games())
}

// Compare orders tallies by how even they are, of as even ones those with more games first.
func (t Tally) Compare(u Tally) int {
	return cmp.Or(cmp.Compare(math.Abs(t.Share()-0.5), math.Abs(u.Share()-0.5)), cmp.Compare(u.Games(), t.Games()))
}

// NewResults returns empty counts for a set that Read has checked.
func NewResults(s *Set) (*Results, error) {
	r := &Results{Tallies: make([]Tally, len(s.Openings)), at: map[string]map[uint64]int{}, seen: map[string]bool{}}
	for _, name := range s.Rules {
		rules, err := catalog.Rules(name)
		if err != nil {
			return nil, err
		}
		r.at[name] = map[uint64]int{}
		for i, o := range s.Openings {
			p, err := o.Setup(rules)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, o, err)
			}
			r.at[name][p.Key()] = i
			r.longest = max(r.longest, len(o.Moves))
			r.set = r.set || o.Start != ""
		}
	}
	return r, nil
}

// Add counts a game: for the last opening of the set whose position it reached within
// as many moves as the longest opening has, by whatever order of moves. Openings that are
// positions may be reached at any time by a game that did not begin with one of them. The
// error is that of a game that can't be replayed.
func (r *Results) Add(g *record.Record) (counted bool, err error) {
	n := -1
	if openings := r.at[g.Rules]; openings != nil && g.Result != game.Undecided {
		if n, err = r.opening(g, openings); err != nil {
			return false, fmt.Errorf("game %s: %w", g.ID, err)
		}
	}
	if n < 0 {
		r.Others++
		return false, nil
	}
	course := courseOf(g)
	if r.seen[course] {
		r.Repeated++
		return false, nil
	}
	r.seen[course] = true
	switch t := &r.Tallies[n]; g.Result {
	case game.FirstWins:
		t.First++
	case game.SecondWins:
		t.Second++
	default:
		t.Drawn++
	}
	return true, nil
}

// errFar ends the reading of a game that is longer than any opening.
var errFar = errors.New("beyond the openings")

// opening returns the number of the opening that a game began with, or -1.
func (r *Results) opening(g *record.Record, openings map[uint64]int) (int, error) {
	found, within := -1, r.longest
	if r.set {
		within = len(g.Plies)
	}
	look := func(p game.Position) {
		if n, ok := openings[p.Key()]; ok {
			found = n
		}
	}
	end, err := format.Played(g, func(ply int, p game.Position, _ game.Move) error {
		if ply > within+1 {
			return errFar
		}
		if look(p); ply == 1 && found >= 0 && g.Position != "" {
			within = r.longest
		}
		return nil
	})
	switch {
	case errors.Is(err, errFar):
		return found, nil
	case err != nil:
		return 0, err
	case len(g.Plies) <= within:
		look(end)
	}
	return found, nil
}

// courseOf returns what two games have in common that are move for move alike.
func courseOf(g *record.Record) string {
	var b strings.Builder
	fmt.Fprintln(&b, g.Rules, g.Position)
	for _, p := range g.Plies {
		fmt.Fprintln(&b, p.Move)
	}
	return b.String()
}
