package report

import (
	"math"

	"sparring/game"
	"sparring/lab/study/analysis"
	"sparring/record"
	"sparring/record/review"
)

// played is a game with what is known of its course.
type played struct {
	rec    *record.Record
	review *analysis.Report // nil: none
	fault  error            // why the game can't be played through; nil: it can
	start  game.Position
	// chances has the winning chance of seat first after so many plies; NaN where it
	// is not known.
	chances []float64
	turns   []turn // what is known of each move
	board   int    // number of its board, from 1; 0: none
}

// turn is what is known of a move.
type turn struct {
	lost  float64 // winning chance of the mover; NaN: not known
	class review.Class
	line  []string // the better line; nil: none known
}

var unknown = math.NaN()

func newPlayed(rec *record.Record, rev *analysis.Report) *played {
	g := &played{rec: rec, review: rev}
	if g.start, _, g.fault = analysis.Moves(rec); g.fault == nil && len(rec.Plies) > 0 {
		g.fault = analysis.Check(rec)
	}
	g.chances = make([]float64, len(rec.Plies)+1)
	g.turns = make([]turn, len(rec.Plies))
	for i := range g.chances {
		g.chances[i] = unknown
	}
	for i := range g.turns {
		g.turns[i].lost = unknown
	}
	if rev != nil {
		g.reviewed()
	} else {
		g.scored()
	}
	return g
}

// reviewed takes the chances and mistakes of the review.
func (g *played) reviewed() {
	known := func(c *float64) float64 {
		if c == nil {
			return unknown
		}
		return *c
	}
	openingPlies := g.rec.OpeningPlies()
	g.chances[0] = known(g.review.Start)
	for i, m := range g.review.Plies {
		g.chances[i+1] = known(m.Chance)
		if i >= openingPlies && !math.IsNaN(g.chances[i]) && !math.IsNaN(g.chances[i+1]) {
			g.turns[i] = turn{lost: m.Lost, class: m.Class, line: m.Line}
		}
	}
}

// scored takes the chances that the players themselves saw. What a move lost is the
// difference between the chance that its player saw before it and at its next move:
// two players' evaluations are not comparable, one's own are.
func (g *played) scored() {
	n := len(g.rec.Plies)
	for i, p := range g.rec.Plies {
		if c, ok := analysis.ChanceSeen(p.Think); ok {
			g.chances[i] = review.SideOf(c, p.Seat)
		}
	}
	if out, ok := g.end(); ok {
		g.chances[n] = review.ChanceOf(out, game.First)
	}
	for i, p := range g.rec.Plies {
		next := i + 1
		for next < n && g.rec.Plies[next].Seat != p.Seat {
			next++
		}
		lost := review.SideOf(g.chances[i], p.Seat) - review.SideOf(g.chances[next], p.Seat)
		if math.IsNaN(lost) {
			continue
		}
		lost = max(lost, 0)
		g.turns[i] = turn{lost: lost, class: review.ClassOf(lost)}
	}
}

// end returns how the rules ended the game, if they did.
func (g *played) end() (game.Outcome, bool) {
	if g.fault != nil {
		return game.Outcome{}, false
	}
	p := g.start.Clone()
	for _, ply := range g.rec.Plies {
		game.PlayOn(p)
		if _, err := game.PlayText(p, ply.Move); err != nil {
			return game.Outcome{}, false // it was checked
		}
	}
	return p.Outcome(), p.Outcome().Over()
}
