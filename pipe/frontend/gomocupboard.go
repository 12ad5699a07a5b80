package frontend

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sparring/game/gomoku"
	"sparring/pipe/gomocup"
)

// placed is a stone on the board. A dead stone belongs to a row that was counted;
// its colour is not known.
type placed struct {
	at     gomocup.Point
	colour gomoku.Colour
	dead   bool
}

// empty removes all stones.
func (g *gomocupHandler) empty() { g.stones, g.given, g.next = nil, 0, gomoku.Black }

// put places a stone.
func (g *gomocupHandler) put(at gomocup.Point, c gomoku.Colour) error {
	if err := g.free(at); err != nil {
		return err
	}
	g.stones = append(g.stones, placed{at: at, colour: c})
	g.next = c.Other()
	return nil
}

// play places a stone as a move, or none if the rules do not allow it: also the commands
// after that would be refused because of it.
func (g *gomocupHandler) play(at gomocup.Point) error {
	if err := g.put(at, g.next); err != nil {
		return err
	}
	err := g.setUp()
	if err != nil {
		g.stones, g.next = g.stones[:len(g.stones)-1], g.next.Other()
	}
	return err
}

// free returns an error if no stone may be placed there.
func (g *gomocupHandler) free(at gomocup.Point) error {
	return g.freeOf(at, g.find(at) >= 0)
}

// freeOf is free where it is known whether a stone is on the point.
func (g *gomocupHandler) freeOf(at gomocup.Point, taken bool) error {
	if at.Move(g.size) == "" || at.X >= g.size {
		return fmt.Errorf("%s is not on a board of %d", at, g.size)
	}
	if taken {
		return fmt.Errorf("%s is taken", at)
	}
	return nil
}

func (g *gomocupHandler) find(at gomocup.Point) int {
	for i := len(g.stones) - 1; i >= 0; i-- {
		if g.stones[i].at == at {
			return i
		}
	}
	return -1
}

// takeBack removes a stone, usually the last. Its colour moves next.
func (g *gomocupHandler) takeBack(at gomocup.Point) error {
	i := g.find(at)
	if i < 0 {
		return fmt.Errorf("TAKEBACK: no stone at %s", at)
	}
	g.next = g.stones[i].colour
	g.stones = append(g.stones[:i], g.stones[i+1:]...)
	if i < g.given {
		g.given--
	}
	g.ok()
	return nil
}

// board sets up a position.
func (g *gomocupHandler) board(list []gomocup.Stone) error {
	g.empty()
	rules, err := g.rules(g.size)
	if err != nil {
		return err
	}
	continuous := strings.HasPrefix(rules, gomoku.Name+"/continuous-")
	own := ownColour(list, strings.HasPrefix(rules, gomoku.Name+"/renju-"))
	for _, st := range list {
		if st.Point == gomocup.Pass || st.Side == gomocup.Dead && !continuous {
			continue // a pass, or a forbidden point
		}
		c := own
		if st.Side == gomocup.Opponent {
			c = own.Other()
		}
		if err := g.free(st.Point); err != nil {
			return fmt.Errorf("BOARD: %w", err)
		}
		g.stones = append(g.stones, placed{at: st.Point, colour: c, dead: st.Side == gomocup.Dead})
	}
	g.given, g.next = len(g.stones), own
	g.remarkOnCount(list, own)
	return nil
}

// remarkOnCount says so if the numbers of stones occur in no game. The engine plays on
// all the same: managers set up such positions for analysis.
func (g *gomocupHandler) remarkOnCount(list []gomocup.Stone, own gomoku.Colour) {
	var count [gomocup.Dead + 1]int
	for _, st := range list {
		if st.Point == gomocup.Pass || st.Side == gomocup.Dead {
			return // the colours of dead stones are not known
		}
		count[st.Side]++
	}
	// White has moved as often as Black, or once less.
	if count[gomocup.Opponent]-count[gomocup.Own] != int(own) {
		g.s.say(gomocup.Answer{Kind: gomocup.Message, Text: fmt.Sprintf("BOARD: %d stones of mine and %d of the opponent's are not from a game; I play %s",
			count[gomocup.Own], count[gomocup.Opponent], own)})
	}
}

// ownColour returns the colour to move. In Renju the list is in order, so the first
// stone is Black's. Otherwise it may be in any order, and the numbers of stones
// decide; if they are impossible in a game, the first stone decides again.
func ownColour(list []gomocup.Stone, ordered bool) gomoku.Colour {
	var count [gomocup.Dead + 1]int
	first := gomocup.Own
	for i := len(list) - 1; i >= 0; i-- {
		count[list[i].Side]++
		if list[i].Side != gomocup.Dead {
			first = list[i].Side
		}
	}
	ahead := count[gomocup.Opponent] - count[gomocup.Own]
	switch {
	case !ordered && ahead == 0:
		return gomoku.Black
	case !ordered && ahead == 1, first == gomocup.Opponent:
		return gomoku.White
	}
	return gomoku.Black
}

// setUp sets the session's position: by moves if the stones came in the order of a
// game. Otherwise those of BOARD are the start, and moves lead on from there, because
// a row that a move makes is counted under the continuous rules. Stones in an order in
// which a game would have ended were not placed in that order.
func (g *gomocupHandler) setUp() error {
	rules, err := g.rules(g.size)
	if err != nil {
		return err
	}
	if moves, ok := g.moves(0, gomoku.Black); ok {
		if err := g.s.set(gomoku.Name, rules, "", moves); err == nil || g.given == 0 {
			return err
		}
	}
	first := g.next
	if g.given < len(g.stones) {
		first = g.stones[g.given].colour
	}
	if moves, ok := g.moves(g.given, first); ok {
		return g.s.set(gomoku.Name, rules, g.text(g.given, first), moves)
	}
	return g.s.set(gomoku.Name, rules, g.text(len(g.stones), g.next), nil) // a stone was taken back
}

// moves returns the stones from an index on as moves; ok is false if they are not those of
// a game that the colour begins.
func (g *gomocupHandler) moves(from int, colour gomoku.Colour) (moves []string, ok bool) {
	for _, st := range g.stones[from:] {
		if st.colour != colour || st.dead {
			return nil, false
		}
		moves = append(moves, st.at.Move(g.size))
		colour = colour.Other()
	}
	return moves, colour == g.next
}

// text returns the position of so many stones, with a colour to move, in our notation.
func (g *gomocupHandler) text(stones int, next gomoku.Colour) string {
	rows := make([][]byte, g.size)
	for y := range rows {
		rows[y] = bytes.Repeat([]byte{'.'}, g.size)
	}
	for _, st := range g.stones[:stones] {
		mark := "xo"[st.colour]
		if st.dead {
			mark = '#'
		}
		rows[st.at.Y][st.at.X] = mark
	}
	text := emptyRun.ReplaceAllStringFunc(string(bytes.Join(rows, []byte{'/'})), func(run string) string { return strconv.Itoa(len(run)) })
	return text + " " + string("bw"[next])
}

var emptyRun = regexp.MustCompile(`\.+`)
