package frontend

import (
	"fmt"
	"slices"
	"time"

	"sparring/game"
	"sparring/game/gomoku"
	"sparring/pipe/gomocup"
)

// swap2 is the answer to SWAP2BOARD in progress: the choices of the opening procedure
// one by one, by search or at random, until it is the other side's turn.
type swap2 struct {
	seat   game.Seat       // ours
	points []gomocup.Point // of the answer
	chosen bool            // we have chosen a colour
}

// Numbers of stones in SWAP2BOARD: none asks for the first three stones, three for
// the second seat's choice, five for the first seat's.
const (
	swap2Choice = 3
	swap2Again  = 5
)

// swap2 starts the answer.
func (g *gomocupHandler) swap2(list []gomocup.Stone) error {
	rules, err := g.rules(g.size)
	if err != nil {
		return err
	}
	var moves []string
	for i, st := range list {
		taken := slices.ContainsFunc(list[:i], func(o gomocup.Stone) bool { return o.Point == st.Point })
		if err := g.freeOf(st.Point, taken); err != nil {
			return fmt.Errorf("SWAP2BOARD: %w", err)
		}
		if i == swap2Choice {
			moves = append(moves, "put-two")
		}
		moves = append(moves, st.Point.Move(g.size))
	}
	switch len(list) {
	case 0, swap2Choice, swap2Again:
	default:
		return fmt.Errorf("SWAP2BOARD with %d stones: want none, %d or %d", len(list), swap2Choice, swap2Again)
	}
	if err := g.s.set(gomoku.Name, rules+"+swap2", "", moves); err != nil {
		return fmt.Errorf("SWAP2BOARD: %w", err)
	}
	g.swap = &swap2{seat: g.s.pos.Turn()}
	searches := 1 // the first stones are random
	if len(list) > 0 {
		searches = 2 // the better side, and its stone
	}
	g.search(g.limits(searches, g.s.readAt))
	return nil
}

// swap2Answer plays the choice m and continues or answers.
func (g *gomocupHandler) swap2Answer(m game.Move) {
	w, p := g.swap, g.s.pos
	text := p.Format(m)
	if err := p.Play(m); err != nil {
		g.sendError(err)
		return
	}
	if at, err := gomocup.PointOf(text, g.size); err == nil {
		w.points = append(w.points, at)
	} else {
		w.chosen = true // not a stone
	}
	if m != gomoku.PutTwo && len(w.points) == 0 && p.Turn() != w.seat {
		g.s.say(gomocup.Answer{Kind: gomocup.Swap})
		return
	}
	_, placing := p.(*gomoku.Position).Step()
	if p.Turn() == w.seat && (placing || w.chosen && len(w.points) == 0) {
		g.search(g.limits(2, time.Now()))
		return
	}
	g.s.say(gomocup.Answer{Kind: gomocup.Points, Points: w.points})
}
