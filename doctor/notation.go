package doctor

import (
	"errors"
	"strconv"
	"strings"

	"sparring/engine"
	"sparring/game"
)

// hint explains an illegal move, if it can: most programs that play one know the
// game, but name its squares in another way.
func hint(p game.Position, text string, err error) string {
	fault, ok := errors.AsType[*engine.Fault](err)
	if !ok || fault.Kind != engine.FaultIllegal || text == "" {
		return ""
	}
	rows := boardHeight(p)
	legal := func(t string) bool { _, err := p.Parse(t); return err == nil }
	switch {
	case legal(text):
		return "; its ranks start at 0, and should start at 1"
	case legal(eachRow(text, func(r int) int { return r - 1 })):
		return "; it would be legal with ranks one lower"
	case legal(eachRow(text, func(r int) int { return r + 1 })):
		return "; it would be legal with ranks one higher"
	case legal(eachRow(text, func(r int) int { return rows - r })), legal(eachRow(text, func(r int) int { return rows + 1 - r })):
		return "; it would be legal with rows counted from the other side: wrong origin"
	case theirs(p, text):
		return "; it is a move of the other side"
	}
	return ""
}

// theirs reports whether the move is legal for the other side.
func theirs(p game.Position, text string) bool {
	for _, m := range p.Legal(nil) {
		q := p.Clone()
		if q.Play(m) != nil {
			continue
		}
		if _, err := q.Parse(text); err == nil {
			return true
		}
	}
	return false
}

// boardHeight returns the number of rows of the board.
func boardHeight(p game.Position) int {
	board, _, _ := strings.Cut(p.String(), " ")
	return 1 + strings.Count(board, "/")
}

// eachRow applies f to all numbers in a move.
func eachRow(move string, f func(int) int) string {
	var s strings.Builder
	for i := 0; i < len(move); {
		j := i
		for j < len(move) && move[j] >= '0' && move[j] <= '9' {
			j++
		}
		if j == i {
			s.WriteByte(move[i])
			i++
			continue
		}
		n, err := strconv.Atoi(move[i:j])
		if err != nil {
			return move
		}
		s.WriteString(strconv.Itoa(f(n)))
		i = j
	}
	return s.String()
}
