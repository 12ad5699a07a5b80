package weakness

import (
	"fmt"
	"strings"

	"sparring/engine"
	"sparring/game"
	"sparring/game/clock"
	"sparring/lab/study/analysis"
	"sparring/record"
	"sparring/record/format"
)

// openingPlies are the lengths, in plies, of the openings that games are grouped by.
var openingPlies = []int{1, 2, 3, 4, 6, 8, 10, 12}

// groupsOfGame returns the groups of games that a game belongs to.
func groupsOfGame(g *Game) (all []key, err error) {
	r := g.Record
	p, moves, err := analysis.Moves(r)
	if err != nil {
		return nil, err
	}
	for _, n := range openingPlies {
		if n >= len(moves) {
			break
		}
		for _, m := range moves[p.Ply():n] {
			game.PlayOn(p)
			if _, err := game.PlayText(p, m); err != nil {
				return nil, err
			}
		}
		name := strings.Join(moves[:n], " ")
		if r.Position != "" {
			name = r.Position + " moves " + name
		}
		all = append(all, key{Opening, name})
	}
	all = append(all, key{Opponent, opponentOf(g)})
	a, err := engine.Adapter(r.Game)
	if err != nil {
		return nil, err
	}
	third := a.Length / 3
	switch n := len(moves); {
	case n <= 2*third:
		all = append(all, key{Length, fmt.Sprintf("up to %d plies", 2*third)})
	case n <= a.Length+third:
		all = append(all, key{Length, fmt.Sprintf("%d to %d plies", 2*third+1, a.Length+third)})
	default:
		all = append(all, key{Length, fmt.Sprintf("over %d plies", a.Length+third)})
	}
	return all, nil
}

func opponentOf(g *Game) string { return format.Name(g.Record.Seats[g.Seat.Other()]) }

// facts are what is examined of a game.
type facts struct {
	opponent string
	seat     game.Seat // of the player
	score    float64
	groups   []key    // of the game
	moves    []judged // of both sides
}

// judged is a judged move, or the fault in place of one.
type judged struct {
	ply    int     // from 0; a fault comes after the last move
	side   int     // 0 for the player, 1 for the opponent
	chance float64 // the mover's before it
	lost   float64
	fault  bool
	groups []key
}

// isUndecided reports whether the move counts: from a decided position both players win with
// the same side, whatever they are weak at.
func (j *judged) isUndecided() bool { return isUndecided(j.chance) }

// factsOf returns what is examined of a game: the groups that it belongs to, and its judged
// moves with theirs.
func factsOf(g *Game) (*facts, error) {
	groups, err := groupsOfGame(g)
	if err != nil {
		return nil, err
	}
	f := &facts{opponent: opponentOf(g), seat: g.Seat, score: g.score(), groups: groups}
	return f, eachMove(g, func(j judged) { f.moves = append(f.moves, j) })
}

// eachMove calls take for each judged move of a game with the groups of moves that it
// belongs to, and for the fault that lost the game: it lost all the winning chance that
// there was, and belongs to the groups that may be its cause. Colours are those of the
// mover. Moves with which a game was set up are not the players'.
func eachMove(g *Game, take func(judged)) error {
	a, err := engine.Adapter(g.Record.Game)
	if err != nil {
		return err
	}
	p, moves, err := analysis.Moves(g.Record)
	if err != nil {
		return err
	}
	noProgress := func() []key { return nil }
	if a.NoProgress != nil {
		noProgress = func() []key { return []key{noProgressOf(a.NoProgress(p))} }
	}
	f, faulty := g.fault()
	openingPlies := g.Record.OpeningPlies()
	for i, text := range moves {
		game.PlayOn(p)
		m, err := p.Parse(text)
		if err != nil {
			return fmt.Errorf("ply %d: %w", i+1, err)
		}
		if rated := g.Report.Plies[i]; rated.Judged && i >= openingPlies {
			j := judged{ply: i, side: g.sideOf(p.Turn()), chance: g.chanceBefore(i, p.Turn()), lost: rated.Lost,
				groups: append(noProgress(), key{Colour, "as " + p.Turn().String()}, phaseOf(i, a.Length))}
			if a.Kind != nil {
				j.groups = append(j.groups, key{Kind, a.Kind(p, m)})
			}
			if k, ok := timeOf(g.Record, i); ok {
				j.groups = append(j.groups, k)
			}
			if faulty && f.ply == i {
				j.groups = append(j.groups, f.groups()...)
			}
			take(j)
		}
		if err := p.Play(m); err != nil {
			return fmt.Errorf("ply %d: %w", i+1, err)
		}
	}
	if !faulty || f.ply < len(moves) {
		return nil
	}
	if chance, ok := g.chanceAtEnd(f.loser); ok {
		j := judged{ply: f.ply, side: g.sideOf(f.loser), chance: chance, lost: chance, fault: true, groups: append(noProgress(), f.groups()...)}
		if f.name == string(engine.FaultTime) {
			if k, ok := timeGroup(g.Record.ClockOf(f.loser), 0); ok {
				j.groups = append(j.groups, k)
			}
		}
		take(j)
	}
	return nil
}

// sideOf returns 0 for the player and 1 for the opponent.
func (g *Game) sideOf(s game.Seat) int {
	if s == g.Seat {
		return 0
	}
	return 1
}

// noProgressFrom are the plies without progress at which groups begin. A move limit is
// usually at 100 or 120.
var noProgressFrom = []int{0, 20, 40, 80}

// noProgressOf returns the group of positions after so many plies without progress.
func noProgressOf(plies int) key {
	i := len(noProgressFrom) - 1
	for plies < noProgressFrom[i] {
		i--
	}
	switch from := noProgressFrom[i]; {
	case i == len(noProgressFrom)-1:
		return key{NoProgress, fmt.Sprintf("from %d plies", from)}
	case i == 0:
		return key{NoProgress, fmt.Sprintf("under %d plies", noProgressFrom[1])}
	default:
		return key{NoProgress, fmt.Sprintf("%d to %d plies", from, noProgressFrom[i+1]-1)}
	}
}

// phaseOf returns the phase of a game that usually lasts so many plies.
func phaseOf(ply, length int) key {
	switch third := length / 3; {
	case ply < third:
		return key{Phase, fmt.Sprintf("plies 1 to %d", third)}
	case ply < 2*third:
		return key{Phase, fmt.Sprintf("plies %d to %d", third+1, 2*third)}
	case ply < length:
		return key{Phase, fmt.Sprintf("plies %d to %d", 2*third+1, length)}
	}
	return key{Phase, fmt.Sprintf("from ply %d", length+1)}
}

// timeOf returns how much of its time a mover had left after a move.
func timeOf(r *record.Record, ply int) (key, bool) {
	if r.Plies[ply].LeftMS == 0 {
		return key{}, false
	}
	return timeGroup(r.ClockOf(r.Plies[ply].Seat), r.Plies[ply].LeftMS)
}

func timeGroup(c clock.Spec, leftMS int64) (key, bool) {
	if c.Kind == clock.PerMove || c.Initial == 0 {
		return key{}, false
	}
	switch share := float64(leftMS) / float64(c.Initial.Milliseconds()); {
	case share < 0.1:
		return key{Time, "under 10 %"}, true
	case share < 0.3:
		return key{Time, "10 to 30 %"}, true
	}
	return key{Time, "over 30 %"}, true
}
