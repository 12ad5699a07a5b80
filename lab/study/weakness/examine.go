package weakness

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"sparring/lab/match/elo"
)

// tally sums up losses.
type tally struct {
	moves int
	lost  float64
}

func (t *tally) add(lost float64) { t.moves++; t.lost += lost }

// members is what belongs to a group.
type members struct {
	games []int             // of a group of games
	moves map[int]*[2]tally // by game, of the player and of the opponent; of faults all, of moves those that count
}

// examination is a run of Find.
type examination struct {
	games  []*facts
	order  []key
	groups map[key]*members
	all    []sums // by game: its moves that count, all of them elsewhere
	strata []int  // by opponent
	seats  []int  // by opponent and colour
	seen   map[string]bool
	tests  resampling
}

// examine looks at the games of a player. If the moves were judged by the players' own
// scores, groups of moves are described and not tested.
func examine(games []*facts, own bool) *Result {
	e := examination{games: games, groups: map[key]*members{}, seen: map[string]bool{}}
	r := &Result{Games: len(games), Own: own, Groups: []Group{}}
	opponents, seats, points := make([]string, len(games)), make([]string, len(games)), 0.0
	for i, f := range games {
		opponents[i], seats[i] = f.opponent, fmt.Sprint(f.seat, " ", f.opponent)
		points += f.score
		e.all = append(e.all, sums{})
		e.gather(i, f, r)
	}
	e.strata, e.seats = strata(opponents), strata(seats)
	e.tests = resampling{scores: make([]float64, len(games)), strata: e.seats}
	for i, f := range games {
		e.tests.scores[i] = f.score
	}
	var all sums
	for i := range e.all {
		all.add(&e.all[i], 1)
	}
	r.Score = points / float64(max(len(games), 1))
	r.Lost = all.lost[elsewhere][0] / max(all.moves[elsewhere][0], 1)
	r.Theirs = all.lost[elsewhere][1] / max(all.moves[elsewhere][1], 1)
	for _, k := range e.order {
		if g, ok := e.describe(k, own); ok {
			r.Groups = append(r.Groups, g)
		}
	}
	adjust(r.Groups)
	slices.SortStableFunc(r.Groups, func(a, b Group) int {
		return cmp.Or(compareBool(b.Tested, a.Tested), cmp.Compare(a.P, b.P), cmp.Compare(b.Low, a.Low), cmp.Compare(b.Excess-b.Error, a.Excess-a.Error))
	})
	return r
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// gather puts a game and its moves into their groups.
func (e *examination) gather(i int, f *facts, r *Result) {
	for _, k := range f.groups {
		m := e.group(k)
		m.games = append(m.games, i)
	}
	for _, j := range f.moves {
		if j.side == 0 && !j.fault {
			r.Judged++
		}
		if !j.fault && j.isUndecided() {
			e.all[i].moves[elsewhere][j.side]++
			e.all[i].lost[elsewhere][j.side] += j.lost
		}
		for _, k := range j.groups {
			if k.by != Fault && !j.isUndecided() {
				continue
			}
			m := e.group(k)
			if m.moves[i] == nil {
				m.moves[i] = &[2]tally{}
			}
			m.moves[i][j.side].add(j.lost)
		}
	}
}

func (e *examination) group(k key) *members {
	m := e.groups[k]
	if m == nil {
		m = &members{moves: map[int]*[2]tally{}}
		e.groups[k] = m
		e.order = append(e.order, k)
	}
	return m
}

// describe fills in a group; ok is false if it has too little support, or all that there is.
func (e *examination) describe(k key, own bool) (g Group, ok bool) {
	m := e.groups[k]
	g = Group{By: k.by, Name: k.name, P: 1}
	switch {
	case k.by.OfGames():
		same := fmt.Sprint(k.by, m.games)
		if len(m.games) < MinGames || len(m.games) == len(e.games) || e.seen[same] {
			return g, false // too few, all, or an opening that only goes on
		}
		e.seen[same] = true
		return g, e.describeScore(&g, m)
	case k.by == Fault:
		same := fmt.Sprint(k.by, slices.Sorted(maps.Keys(m.moves)))
		if len(m.moves) < MinGames || e.seen[same] {
			return g, false // too few, or there is only one kind
		}
		e.seen[same] = true
		e.describeFault(&g, m)
		return g, true
	}
	return g, e.describeMoves(&g, m, own)
}

// describeMoves fills in a group of moves.
func (e *examination) describeMoves(g *Group, m *members, own bool) bool {
	c := contrast{games: slices.Clone(e.all), strata: e.strata}
	var all sums
	var games [2][2]int // by cell and side, those with moves
	for i := range c.games {
		s := &c.games[i]
		if in := m.moves[i]; in != nil {
			for side, t := range in {
				s.moves[within][side], s.lost[within][side] = float64(t.moves), t.lost
				s.moves[elsewhere][side] = max(s.moves[elsewhere][side]-float64(t.moves), 0)
				s.lost[elsewhere][side] = max(s.lost[elsewhere][side]-t.lost, 0)
			}
		}
		for cell := range games {
			for side := range games[cell] {
				if s.moves[cell][side] > 0 {
					games[cell][side]++
				}
			}
		}
		all.add(s, 1)
	}
	for cell := range games {
		for side := range games[cell] {
			if games[cell][side] < MinGames || all.moves[cell][side] < MinMoves {
				return false
			}
		}
	}
	est, ok := c.estimate()
	if !ok {
		return false
	}
	g.Games, g.Moves = games[within][0], int(all.moves[within][0])
	g.Lost, g.Theirs = all.lost[within][0]/all.moves[within][0], all.lost[within][1]/all.moves[within][1]
	excess := est.linear(1, -1)
	low, high := excess.interval()
	g.Factor, g.Low, g.High = math.Exp(excess.value), math.Exp(low), math.Exp(high)
	if !own {
		g.Tested, g.P = true, est.pWeak()
	}
	return true
}

// describeScore fills in a group of games; ok is false if it can't be compared.
func (e *examination) describeScore(g *Group, m *members) (ok bool) {
	s, ok := e.tests.scoreOf(m.games)
	if !ok && g.By == Opening {
		return false
	}
	n := float64(len(m.games))
	points, others, outside := 0.0, 0.0, 0.0
	for i, f := range e.games {
		switch {
		case slices.Contains(m.games, i):
			points += f.score
		case g.By != Opening || s.in[e.seats[i]] > 0:
			others += f.score
			outside++
		}
	}
	g.Games, g.Score, g.Other = len(m.games), points/n, others/max(outside, 1)
	if g.By != Opening {
		return true
	}
	g.Excess, g.Error = (s.expected-points)/n, elo.Z95*s.sigma/n
	g.Tested, g.P = true, e.tests.pOfScore(s, n*explained(s.expected/n)-points)
	return true
}

// describeFault fills in a group of faults: the winning chance that the player lost by them
// in each game, less what the opponent lost by them. Unlike moves, faults need no comparison
// with the rest: a weaker player need not forfeit more.
func (e *examination) describeFault(g *Group, m *members) {
	differences := make([]float64, len(e.games))
	var both [2]tally
	for i, o := range m.moves {
		differences[i] = o[0].lost - o[1].lost
		for side, t := range o {
			both[side].moves += t.moves
			both[side].lost += t.lost
		}
	}
	n := float64(len(e.games))
	mean, sigma := spread(differences)
	g.Games, g.Moves, g.Lost, g.Theirs = len(m.moves), both[0].moves, both[0].lost/n, both[1].lost/n
	g.Excess, g.Error = mean, elo.Z95*sigma
	g.Tested, g.P = true, e.tests.pOfSigns(differences)
}

// adjust makes the p-values those of Benjamini and Hochberg.
func adjust(groups []Group) {
	var tested []*Group
	for i := range groups {
		if groups[i].Tested {
			tested = append(tested, &groups[i])
		}
	}
	slices.SortStableFunc(tested, func(a, b *Group) int { return cmp.Compare(a.P, b.P) })
	least := 1.0
	for i, g := range slices.Backward(tested) {
		least = min(least, g.P*float64(len(tested))/float64(i+1))
		g.P, g.Weak = least, least <= Level
	}
}

// explained returns the lowest score that strength explains in an opening if so much is
// expected: unequal players score more evenly in some openings than in others.
func explained(expected float64) float64 {
	odds := math.Log(expected / (1 - expected))
	odds -= margin + math.Abs(odds)/2
	return 1 / (1 + math.Exp(-odds))
}

// fewestOfOpponent is how many games an opponent needs for a stratum of its own.
const fewestOfOpponent = 10

// strata numbers the games by opponent; those of opponents with few games are one.
func strata(opponents []string) []int {
	count, number := map[string]int{}, map[string]int{}
	for _, o := range opponents {
		count[o]++
	}
	of := make([]int, len(opponents))
	for i, o := range opponents {
		if count[o] < fewestOfOpponent {
			continue // 0
		}
		if number[o] == 0 {
			number[o] = len(number) + 1
		}
		of[i] = number[o]
	}
	return of
}

// spread returns the mean of values and the standard error of the mean.
func spread(values []float64) (mean, sigma float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		sigma += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sigma / max(n-1, 1) / n)
}
