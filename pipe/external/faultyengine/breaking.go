package faultyengine

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"sparring/game"
)

// breaks begins the modes that do not know a rule: the rest is a game.Refusal, such as
// "breaks-leg" for an engine with horses that no piece blocks.
const breaks = "breaks-"

// Breaks returns the mode of an engine that does not know a rule.
func Breaks(rule game.Refusal) string { return breaks + string(rule) }

// Breaking lists the moves of a position that only one rule forbids, in the game's text
// form, in the order of their squares.
func Breaking(p game.Position, rule game.Refusal) (moves []string) {
	refuser, ok := p.(game.Refuser)
	board, drawn := p.(game.Pictured)
	if !ok || !drawn {
		return nil
	}
	refused := func(points ...string) game.Refusal {
		r, err := refuser.Refusal(points)
		if err != nil {
			return game.RefusedOver
		}
		return r
	}
	all := squares(board.Grid())
	shoots := strings.Contains(p.Format(firstOf(p)), "/")
	for _, from := range all {
		if r := refused(from); r == game.RefusedEmpty || r == game.RefusedNotYours || r == game.RefusedArrowThere || r == game.RefusedOver {
			continue
		}
		for _, to := range all {
			switch r := refused(from, to); {
			case !shoots && r == rule:
				moves = append(moves, from+to)
			case shoots && r == rule: // and it shoots back
				moves = append(moves, from+to+"/"+from)
			case shoots && r == "":
				for _, arrow := range all {
					if refused(from, to, arrow) == rule {
						moves = append(moves, from+to+"/"+arrow)
					}
				}
			}
		}
	}
	return moves
}

// firstOf returns the first legal move, game.NoMove if there is none.
func firstOf(p game.Position) game.Move {
	if legal := p.Legal(nil); len(legal) > 0 {
		return legal[0]
	}
	return game.NoMove
}

// squares lists the points of a board.
func squares(g game.Grid) (all []string) {
	for column := range g.Columns {
		for row := range g.Rows {
			all = append(all, fmt.Sprintf("%c%d", 'a'+column, row+g.FirstRow))
		}
	}
	return all
}

// BoardText writes the rows of a board, the top row first, as all games do: a byte of 0 is an
// empty point.
func BoardText(rows [][]byte) string {
	var lines []string
	for _, row := range rows {
		var line strings.Builder
		empty := 0
		number := func() {
			if empty > 0 {
				fmt.Fprint(&line, empty)
			}
			empty = 0
		}
		for _, c := range row {
			if c == 0 {
				empty++
				continue
			}
			number()
			line.WriteByte(c)
		}
		number()
		lines = append(lines, line.String())
	}
	return strings.Join(lines, "/")
}

// values are those of Xiangqi's pieces.
var values = map[string]int{"r": 9, "c": 5, "h": 4, "n": 4, "a": 2, "e": 2, "b": 2, "p": 1}

// Taken returns the value of what a move takes, 0 in a game in which nothing is taken.
func Taken(p game.Position, move string) int {
	board, drawn := p.(game.Pictured)
	if !drawn || strings.Contains(move, "/") {
		return 0
	}
	i := strings.LastIndexFunc(move, func(r rune) bool { return r >= 'a' })
	return values[strings.ToLower(board.Pieces()[move[max(i, 0):]])]
}

// greedy returns the move that takes the most, one of several at random. Moves that its
// mode takes for legal are among them.
func (e *engine) greedy() string {
	var all []string
	for _, m := range e.pos.Legal(nil) {
		all = append(all, e.pos.Format(m))
	}
	all = append(all, Breaking(e.pos, game.Refusal(strings.TrimPrefix(e.mode, breaks)))...)
	if e.rng == nil {
		e.rng = rand.New(rand.NewPCG(1, 1))
	}
	var best []string
	most := -1
	for _, move := range all {
		switch n := Taken(e.pos, move); {
		case n > most:
			best, most = []string{move}, n
		case n == most:
			best = append(best, move)
		}
	}
	return best[e.rng.IntN(len(best))]
}

// divide counts the moves of the position, as "go perft 1" does. CountsWrong counts the
// moves of horses with a blocked leg, too.
func (e *engine) divide(depth int) {
	total := uint64(0)
	tell := func(text string, n uint64) {
		total += n
		e.say(fmt.Sprintf("%s: %d", e.form().Theirs(text), n))
	}
	for _, m := range e.pos.Legal(nil) {
		if after := e.pos.Clone(); after.Play(m) == nil {
			tell(e.pos.Format(m), game.Perft(after, depth-1))
		}
	}
	if e.mode == CountsWrong {
		for _, text := range Breaking(e.pos, game.RefusedLeg) {
			tell(text, 1)
		}
	}
	e.say(fmt.Sprintf("\nNodes searched: %d\n", total))
}
