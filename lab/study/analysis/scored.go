package analysis

import (
	"fmt"

	"sparring/game"
	"sparring/lab/match/elo"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/review"
)

// Scored returns what a record tells of its own course, without a search: the chances
// that the players saw. What a move lost is the difference between the chance that
// its player saw before it and at its next move, since two players' evaluations are
// not comparable and one's own are; after a player's last move it is the result, if
// the rules ended the game. A move before which or after which no chance is known is
// not judged, nor is one of a book.
func Scored(r *record.Record) (*Report, error) {
	if err := Check(r); err != nil {
		return nil, err
	}
	p, _, err := Moves(r)
	if err != nil {
		return nil, fmt.Errorf("game %s: %w", r.ID, err) // it was checked
	}
	n := len(r.Plies)
	chances := make([]*float64, n+1) // of seat first
	for i, ply := range r.Plies {
		game.PlayOn(p)
		if _, err := game.PlayText(p, ply.Move); err != nil {
			return nil, fmt.Errorf("game %s: %w", r.ID, err) // it was checked
		}
		if c, ok := ChanceSeen(ply.Think); ok {
			c = review.SideOf(c, ply.Seat)
			chances[i] = &c
		}
	}
	if out := p.Outcome(); out.Over() {
		c := review.ChanceOf(out, game.First)
		chances[n] = &c
	}
	rep := &Report{Game: r.ID, Rules: r.Rules, Position: r.Position, Result: r.Result, Reason: r.Reason, Engine: "the players' own scores", Start: chances[0], Plies: []Move{}, Own: true}
	for seat, s := range r.Seats {
		rep.Players[seat], rep.Names[seat] = s.Player, format.Name(s)
	}
	for i, ply := range r.Plies {
		m := Move{Ply: i + 1, Seat: ply.Seat, Move: ply.Move, Chance: chances[i+1]}
		next := i + 1
		for next < n && r.Plies[next].Seat != ply.Seat {
			next++
		}
		if t := ply.Think; chances[i] != nil && chances[next] != nil && t.Source != record.FromBook {
			m.Judged = true
			m.Lost = min(max(review.SideOf(*chances[i], ply.Seat)-review.SideOf(*chances[next], ply.Seat), 0), 1)
			m.Class = review.ClassOf(m.Lost)
		}
		if t := ply.Think; t != nil {
			m.Depth = t.Depth
		}
		rep.Plies = append(rep.Plies, m)
	}
	rep.total()
	return rep, nil
}

// ChanceSeen returns the winning chance, 0 to 1, that a mover saw; ok is false if it
// recorded none. A score without a chance, as in files of other programs, which often have
// no depth either, is read as points by the Elo formula. An even chance without depth or score is that of a program
// that has said nothing, such as HoiXiangqi when it has only one move.
func ChanceSeen(t *record.Think) (chance float64, ok bool) {
	switch {
	case t == nil || t.Depth == 0 && t.WinProb == 0 && t.Score == 0:
		return 0, false
	case t.Source == record.FromExternal && t.Depth == 0 && t.Score == 0 && t.WinProb == 0.5:
		return 0, false
	case t.WinProb > 0:
		return t.WinProb, true
	}
	return elo.ToScore(float64(t.Score)), true
}
