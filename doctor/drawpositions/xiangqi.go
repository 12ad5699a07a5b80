package main

import (
	"math/rand/v2"
	"slices"

	"sparring/game"
	"sparring/pipe/external/faultyengine"
)

// xiangqiRules are the rules, with a piece of the mover that can break each, and how many
// positions there are of it.
var xiangqiRules = []struct {
	rule  game.Refusal
	piece string
	count int
	moves int // legal moves at most
}{
	{game.RefusedLeg, "N", 8, 4},
	{game.RefusedEye, "B", 5, 4},
	{game.RefusedRiver, "B", 4, 4},
	{game.RefusedPalace, "A", 6, 4},
	{game.RefusedSideways, "P", 5, 4},
	{game.RefusedBackward, "P", 5, 4},
	{game.RefusedScreen, "C", 5, 12},
	{game.RefusedBlocked, "R", 5, 12},
	{game.RefusedFacing, "R", 6, 4},
	{game.RefusedExposes, "R", 6, 4},
	{game.RefusedInCheck, "R", 8, 1},
}

// drawXiangqi draws positions in which a move that breaks the rule would take more than any
// legal one. Half of them have Black to move.
func drawXiangqi(rng *rand.Rand) (lines []string) {
	for _, want := range xiangqiRules {
		for n := 0; n < want.count; {
			text := randomXiangqi(rng, want.piece, n%2 == 1)
			p := setUp("xiangqi/wxf", text)
			if p == nil || len(p.Legal(nil)) > want.moves {
				continue
			}
			legal := 0
			for _, m := range p.Legal(nil) {
				legal = max(legal, faultyengine.Taken(p, p.Format(m)))
			}
			wrong := slices.DeleteFunc(faultyengine.Breaking(p, want.rule), func(m string) bool { return faultyengine.Taken(p, m) <= legal })
			if len(wrong) == 0 {
				continue
			}
			lines = append(lines, line(string(want.rule), "", p.String(), wrong))
			n++
		}
	}
	return lines
}

// randomXiangqi returns a random board with few pieces of the mover. Most are impossible.
func randomXiangqi(rng *rand.Rand, piece string, black bool) string {
	var board [10][9]byte // the mover's side is at the bottom
	put := func(piece byte) {
		rank, file := rng.IntN(10), rng.IntN(9)
		switch piece {
		case 'K':
			rank, file = 7+rng.IntN(3), 3+rng.IntN(3)
		case 'k':
			rank, file = rng.IntN(3), 3+rng.IntN(3)
		}
		if board[rank][file] == 0 {
			board[rank][file] = piece
		}
	}
	put('K')
	put('k')
	put(piece[0])
	for range rng.IntN(3) {
		put("RNCABPP"[rng.IntN(7)])
	}
	for range 2 + rng.IntN(5) {
		put("rrnncabpp"[rng.IntN(9)])
	}
	rows := make([][]byte, len(board))
	for i := range board {
		rows[i] = board[i][:]
	}
	side := " w"
	if black {
		side = " b"
		slices.Reverse(rows)
		for _, row := range rows {
			for i, c := range row {
				if c != 0 {
					row[i] = c ^ ' ' // the other case
				}
			}
		}
	}
	return faultyengine.BoardText(rows) + side + " - - 0 1"
}
