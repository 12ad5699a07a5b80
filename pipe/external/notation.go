package external

import (
	"errors"
	"strconv"
	"strings"

	"sparring/engine"
	"sparring/game"
)

// hint says what an illegal move looks like, "" where it looks like nothing
// known. The programs that play one are mostly right about the game and wrong
// about how its squares are called.
func (x *checker) hint(p game.Position, err error) string {
	fault, ok := errors.AsType[*engine.Fault](err)
	if !ok || fault.Kind != engine.FaultIllegal || x.lastMove == "" {
		return ""
	}
	text := x.lastMove
	rows := boardHeight(p)
	legal := func(t string) bool { _, err := p.Parse(t); return err == nil }
	switch {
	case legal(text):
		return "; its ranks count from 0, and should from 1"
	case legal(eachRow(text, func(r int) int { return r - 1 })):
		return "; this would be a legal move if its ranks counted from one more"
	case legal(eachRow(text, func(r int) int { return r + 1 })):
		return "; this would be a legal move if its ranks counted from one less"
	case legal(eachRow(text, func(r int) int { return rows - r })), legal(eachRow(text, func(r int) int { return rows + 1 - r })):
		return "; this would be a legal move if its rows counted from the other side: wrong origin"
	case theirs(p, text):
		return "; this is a move of the other side"
	}
	return ""
}

// theirs reports whether the other side could play the move.
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

// boardHeight is the number of rows on the board of a position.
func boardHeight(p game.Position) int {
	board, _, _ := strings.Cut(p.String(), " ")
	return 1 + strings.Count(board, "/")
}

// eachRow changes all the numbers in a move.
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
