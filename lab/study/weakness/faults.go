package weakness

import (
	"slices"

	"sparring/game"
	"sparring/lab/match"
	"sparring/record/review"
)

// breaches are the reasons by which the rules end a game against the side that broke
// them.
var breaches = []game.Reason{game.PerpetualCheck, game.PerpetualChase, game.Forbidden}

// fault is what a game was lost by that was the loser's own doing.
type fault struct {
	loser game.Seat
	name  string
	// ply, from 0, is that of the move by which the loser broke the rules, or comes after
	// the last move if the loser made none.
	ply int
}

// anyFault is the group of all faults.
const anyFault = "any fault"

// groups returns the groups of the fault. What ails a program may show in several ways:
// it stops, and ends or not.
func (f fault) groups() []key { return []key{{Fault, f.name}, {Fault, anyFault}} }

// fault returns the fault that lost the game, if any. A resignation is not a fault.
func (g *Game) fault() (f fault, ok bool) {
	r := g.Record
	switch r.Result {
	case game.FirstWins:
		f.loser = game.Second
	case game.SecondWins:
		f.loser = game.First
	default:
		return f, false
	}
	if kind := match.FaultOf(r.Reason); kind != "" {
		f.name, f.ply = string(kind), len(r.Plies)
		return f, true
	}
	if !slices.Contains(breaches, r.Reason) {
		return f, false
	}
	f.name = string(r.Reason)
	for i, p := range slices.Backward(r.Plies) {
		if p.Seat == f.loser {
			f.ply = i
			return f, true
		}
	}
	return f, false
}

// chanceAtEnd returns the winning chance that a seat had after the last move of the
// game: that of a search, else what its player saw before its own last move, else what
// the opponent saw. Known is false if there is none.
func (g *Game) chanceAtEnd(seat game.Seat) (chance float64, known bool) {
	plies := g.Report.Plies
	if n := len(plies); n > 0 && plies[n-1].Chance != nil {
		return review.SideOf(*plies[n-1].Chance, seat), true
	}
	for _, viewer := range []game.Seat{seat, seat.Other()} {
		for i, p := range slices.Backward(plies) {
			seen := g.Report.Start
			if i > 0 {
				seen = plies[i-1].Chance
			}
			if p.Seat == viewer && seen != nil {
				return review.SideOf(*seen, seat), true
			}
		}
	}
	return 0, false
}

// FaultCount says how many games were lost by a fault.
type FaultCount struct {
	Name   string `json:"name"`
	Lost   int    `json:"lost"`   // by the player
	Theirs int    `json:"theirs"` // by the opponents
}

// countFaults counts the faults, the player's most frequent first.
func countFaults(games []*Game) (all []FaultCount) {
	for _, g := range games {
		f, ok := g.fault()
		if !ok {
			continue
		}
		i := slices.IndexFunc(all, func(c FaultCount) bool { return c.Name == f.name })
		if i < 0 {
			i = len(all)
			all = append(all, FaultCount{Name: f.name})
		}
		if f.loser == g.Seat {
			all[i].Lost++
		} else {
			all[i].Theirs++
		}
	}
	slices.SortStableFunc(all, func(a, b FaultCount) int { return b.Lost - a.Lost })
	return all
}
