package frontend

import (
	"fmt"
	"time"

	"sparring/game"
	"sparring/game/gomoku"
	"sparring/pipe/gomocup"
)

// swap2 is the answer to a SWAP2BOARD in the making: one choice of the opening
// procedure after the other, each a search or a lot drawn, until it is the
// other side's turn.
type swap2 struct {
	seat   game.Seat       // ours
	points []gomocup.Point // to be answered
	chosen bool            // our choice of colour has been made
}

// Stones on the board when SWAP2BOARD asks: none for the first three, three for
// the second seat's choice, five for the first seat's.
const (
	swap2Choice = 3
	swap2Again  = 5
)

// swap2 begins the answer.
func (g *gomocupHandler) swap2(list []gomocup.Stone) error {
	rules, err := g.rules(g.size)
	if err != nil {
		return err
	}
	var moves []string
	for i, st := range list {
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
	if err := g.s.set("gomoku", rules+"+swap2", "", moves); err != nil {
		return fmt.Errorf("SWAP2BOARD: %w", err)
	}
	g.swap = &swap2{seat: g.s.pos.Turn()}
	searches := 1 // the first stones are drawn by lot
	if len(list) > 0 {
		searches = 2 // whose side is better, and the stone for it
	}
	g.search(g.limits(searches, g.s.readAt))
	return nil
}

// swap2Answer takes the choice m in and goes on, or answers.
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
		w.chosen = true // no stone, so a choice
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
