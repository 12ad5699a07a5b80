package weakness

import (
	"fmt"
	"strings"

	"sparring/engine"
	"sparring/game"
	"sparring/game/clock"
	"sparring/lab/analysis"
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

// eachMove calls take for each judged move of a game with the groups of moves that it
// belongs to; side is 0 for the player and 1 for the opponent. Colours are those of the
// player. The opening moves of a match are not the players'.
func eachMove(g *Game, take func(ply, side int, groups []key)) error {
	a, err := engine.Adapter(g.Record.Game)
	if err != nil {
		return err
	}
	p, moves, err := analysis.Moves(g.Record)
	if err != nil {
		return err
	}
	colour := key{Colour, "as " + g.Seat.String()}
	for i, text := range moves {
		game.PlayOn(p)
		m, err := p.Parse(text)
		if err != nil {
			return fmt.Errorf("ply %d: %w", i+1, err)
		}
		t := g.Record.Plies[i].Think
		given := g.Record.Source.By == record.ByMatch && t != nil && t.Source == record.FromBook
		if g.Report.Plies[i].Judged && !given {
			side := 0
			if p.Turn() != g.Seat {
				side = 1
			}
			groups := []key{colour, phaseOf(i, a.Length)}
			if a.Kind != nil {
				groups = append(groups, key{Kind, a.Kind(p, m)})
			}
			if k, ok := timeOf(g.Record, i); ok {
				groups = append(groups, k)
			}
			take(i, side, groups)
		}
		if err := p.Play(m); err != nil {
			return fmt.Errorf("ply %d: %w", i+1, err)
		}
	}
	return nil
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
	left := r.Plies[ply].LeftMS
	if left == 0 || r.Clock.Kind == clock.PerMove || r.Clock.Initial == 0 {
		return key{}, false
	}
	switch share := float64(left) / float64(r.Clock.Initial.Milliseconds()); {
	case share < 0.1:
		return key{Time, "under 10 %"}, true
	case share < 0.3:
		return key{Time, "10 to 30 %"}, true
	}
	return key{Time, "over 30 %"}, true
}
