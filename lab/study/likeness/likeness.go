// Package likeness makes an opponent that plays like a player whose games are known:
// [Of] gives the openings that it chose and the level of our engine nearest to its
// strength.
//
// # Strength
//
// The results of all games of the source are fitted by the model of Bradley and Terry
// (The rank analysis of incomplete block designs, Biometrika 39, 1952), with draws as
// half a win, on the scale of the levels: a player that is one of our levels has that
// level's measured Elo, fixed; each other has a strength with a normal prior of 400 Elo
// around the mean of those. A player whom no chain of games connects with a level has
// no known strength.
package likeness

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sparring/engine/book"
	"sparring/game"
	"sparring/lab/match/elo"
	"sparring/record"
	"sparring/record/format"
)

// Likeness is what is known of a player.
type Likeness struct {
	Games    int         // that have a result
	Openings *book.Shelf // its moves alone, as often as it played them
	Moves    int         // in the openings
	Rated    bool        // Elo is known
	Elo      float64     // on the scale of the levels
	Error    float64     // of Elo, 95 %
	Level    int         // nearest to Elo; 0: not known
	LevelElo float64
}

// ErrNoGames is returned by Of if the player has no finished game.
var ErrNoGames = errors.New("no finished game of the player")

// plies is how far into a game openings are read.
const plies = 60

// LevelElo returns the measured strength of a level; ok is false if there is none.
type LevelElo func(gameName string, level int) (elo, plusMinus float64, ok bool)

// Of examines the games of a player among the records, which may be of several kinds.
// The error wraps ErrNoGames, or comes from a game that can't be played through.
func Of(games []*record.Record, gameName, player string, levels LevelElo, most int) (*Likeness, error) {
	l := &Likeness{}
	books := map[string]*book.Builder{}
	for _, r := range games {
		seat, ok := seatOf(r, player)
		if !ok || r.Game != gameName || r.Result == game.Undecided {
			continue
		}
		l.Games++
		family := book.Family(r.Rules)
		if books[family] == nil {
			b, err := book.NewBuilder(r.Rules, plies)
			if err != nil {
				return nil, err
			}
			books[family] = b
		}
		if err := books[family].Count(chosenBy(r, seat)); err != nil && !errors.Is(err, book.ErrKnown) {
			return nil, err
		}
	}
	if l.Games == 0 {
		return nil, fmt.Errorf("%w %q of %s", ErrNoGames, player, gameName)
	}
	var all []*book.Book
	for _, b := range books {
		made := b.Book(0)
		_, moves := made.Size()
		l.Moves += moves
		all = append(all, made)
	}
	var err error
	if l.Openings, err = book.NewShelf(all...); err != nil {
		return nil, err
	}
	l.rate(games, gameName, player, levels, most)
	return l, nil
}

// seatOf returns the seat of a player of this name or id.
func seatOf(r *record.Record, player string) (game.Seat, bool) {
	for seat, s := range r.Seats {
		if s.Player == player || s.Display == player {
			return game.Seat(seat), true
		}
	}
	return 0, false
}

// chosenBy returns a game with the moves that a seat chose itself: not those that a
// match began with, nor those of the game that this one continues.
func chosenBy(r *record.Record, seat game.Seat) book.Game {
	g := book.Game{ID: r.ID, Rules: r.Rules, Position: r.Position, Result: r.Result, Given: r.OpeningPlies(), Only: &seat}
	for _, p := range r.Plies {
		g.Moves = append(g.Moves, p.Move)
	}
	return g
}

// meeting is a pair of players with the points of the first in their games.
type meeting struct {
	a, b   int
	points float64
	games  float64
}

// rate estimates the player's strength.
func (l *Likeness) rate(games []*record.Record, gameName, player string, levels LevelElo, most int) {
	f := fit{number: map[string]int{}}
	for _, r := range games {
		if r.Game != gameName || r.Result == game.Undecided || format.Identity(r.Seats[0]) == format.Identity(r.Seats[1]) {
			continue
		}
		f.add(r, levels)
	}
	me := -1
	for _, r := range games {
		if seat, ok := seatOf(r, player); ok && r.Game == gameName {
			if n, ok := f.number[format.Identity(r.Seats[seat])]; ok {
				me = n
			}
		}
	}
	if me < 0 || !f.connected(me) {
		return
	}
	f.run()
	l.Rated, l.Elo, l.Error = true, f.elo[me], f.uncertainty(me)
	if f.fixed[me] {
		l.Error = 0
	}
	best := math.Inf(1)
	for level := 1; level <= most; level++ {
		if e, _, ok := levels(gameName, level); ok && math.Abs(e-l.Elo) < best {
			best, l.Level, l.LevelElo = math.Abs(e-l.Elo), level, e
		}
	}
}

// fit estimates the strength of players.
type fit struct {
	number   map[string]int // of a player
	elo      []float64
	fixed    []bool
	meetings []meeting
	mean     float64 // of the fixed
}

// prior is the standard deviation of a strength before any game, in Elo.
const prior = 400

// perElo turns Elo into log-odds.
var perElo = math.Ln10 / 400

func (f *fit) add(r *record.Record, levels LevelElo) {
	var at [2]int
	for seat, s := range r.Seats {
		name := format.Identity(s)
		n, ok := f.number[name]
		if !ok {
			n = len(f.elo)
			f.number[name] = n
			f.elo, f.fixed = append(f.elo, math.NaN()), append(f.fixed, false)
		}
		at[seat] = n
		if set := s.Settings; set != nil && set.Level > 0 && isMeasured(set) && !f.fixed[n] {
			if e, _, ok := levels(r.Game, set.Level); ok {
				f.elo[n], f.fixed[n] = e, true
			}
		}
	}
	m := meeting{a: at[0], b: at[1], games: 1}
	switch r.Result {
	case game.FirstWins:
		m.points = 1
	case game.Draw:
		m.points = 0.5
	}
	f.meetings = append(f.meetings, m)
}

// isMeasured reports whether a level played with the limits by which it was measured: with
// tighter ones, as in self:level=6,nodes=100, its record has limits but no Elo.
func isMeasured(s *record.Settings) bool { return s.Elo != nil || s.Nodes == 0 && s.Depth == 0 }

// connected reports whether a chain of games connects a player with a fixed one.
func (f *fit) connected(me int) bool {
	reached := make([]bool, len(f.elo))
	reached[me] = true
	for again := true; again; {
		again = false
		for _, m := range f.meetings {
			if reached[m.a] != reached[m.b] {
				reached[m.a], reached[m.b], again = true, true, true
			}
		}
	}
	return slices.ContainsFunc(slices.Collect(indices(reached)), func(i int) bool { return f.fixed[i] })
}

// indices yields the indices of the true values.
func indices(of []bool) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i, v := range of {
			if v && !yield(i) {
				return
			}
		}
	}
}

// run maximizes the posterior by Newton's method, a player at a time.
func (f *fit) run() {
	n := 0.0
	for i := range indices(f.fixed) {
		f.mean += f.elo[i]
		n++
	}
	f.mean /= n
	for i := range f.elo {
		if !f.fixed[i] {
			f.elo[i] = f.mean
		}
	}
	for range 500 {
		moved := 0.0
		for i := range f.elo {
			if f.fixed[i] {
				continue
			}
			slope, curvature := f.derivatives(i)
			step := min(max(slope/curvature, -200), 200)
			f.elo[i] += step
			moved = max(moved, math.Abs(step))
		}
		if moved < 0.01 {
			return
		}
	}
}

// derivatives returns the first derivative of the log posterior by a player's Elo, and
// the negative second.
func (f *fit) derivatives(i int) (slope, curvature float64) {
	slope, curvature = (f.mean-f.elo[i])/(prior*prior), 1.0/(prior*prior)
	for _, m := range f.meetings {
		points, other := m.points, m.b
		if i == m.b {
			points, other = m.games-m.points, m.a
		} else if i != m.a {
			continue
		}
		expected := elo.ToScore(f.elo[i] - f.elo[other])
		slope += perElo * (points - m.games*expected)
		curvature += perElo * perElo * m.games * expected * (1 - expected)
	}
	return slope, curvature
}

// uncertainty returns the 95 % error of a player's Elo, with those of the others taken
// as known.
func (f *fit) uncertainty(i int) float64 {
	_, curvature := f.derivatives(i)
	return elo.Z95 / math.Sqrt(curvature)
}
