package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"

	"sparring/game"
	"sparring/pipe/external/faultyengine"
)

// boardSize is the width of the boards.
const boardSize = 15

// The rule sets.
const (
	freestyle = "gomoku/freestyle-15"
	standard  = "gomoku/standard-15"
	renju     = "gomoku/renju-15"
)

// drawGomoku draws boards that are nearly full, boards on which the game goes on beyond a
// row of six, and boards with points that are forbidden for Black.
func drawGomoku(rng *rand.Rand) (lines []string) {
	for range 20 {
		lines = append(lines, line("full", freestyle, nearlyFull(rng, freestyle, 1+rng.IntN(4)).String(), nil))
	}
	for range 8 {
		lines = append(lines, line("full", standard, nearlyFull(rng, standard, 1+rng.IntN(4)).String(), nil))
	}
	for range 10 {
		lines = append(lines, line("six", standard, beyondSix(rng).String(), nil))
	}
	for _, kind := range []game.ForbiddenKind{game.Overline, game.DoubleFour, game.DoubleThree} {
		for range 8 {
			lines = append(lines, forbidding(rng, kind))
		}
	}
	for range 8 {
		lines = append(lines, nearlyFullForbidding(rng))
	}
	return lines
}

// nearlyFull fills a board without a row, but for so many points. It begins with a pattern
// of pairs, and exchanges stones.
func nearlyFull(rng *rand.Rand, rules string, left int) game.Position {
	const exchanges = 600
	var stones [boardSize][boardSize]byte
	for row := range stones {
		for column := range stones[row] {
			stones[row][column] = "xxoo"[(row+2*column)%4]
		}
	}
	at := func() *byte { return &stones[rng.IntN(boardSize)][rng.IntN(boardSize)] }
	for range exchanges {
		a, b := at(), at()
		if *a, *b = *b, *a; hasRow(stones) {
			*a, *b = *b, *a
		}
	}
	for {
		some := stones
		for n := 0; n < left; {
			if p := &some[rng.IntN(boardSize)][rng.IntN(boardSize)]; *p != 0 {
				*p = 0
				n++
			}
		}
		if p := setUp(rules, boardText(some)); p != nil {
			return p
		}
	}
}

// hasRow reports whether there are five stones of a colour in a row.
func hasRow(stones [boardSize][boardSize]byte) bool {
	for row := range stones {
		for column := range stones[row] {
			for _, d := range [][2]int{{0, 1}, {1, 0}, {1, 1}, {1, -1}} {
				n := 0
				for r, c := row, column; r < boardSize && c >= 0 && c < boardSize && stones[r][c] == stones[row][column]; r, c = r+d[0], c+d[1] {
					n++
				}
				if n >= 5 {
					return true
				}
			}
		}
	}
	return false
}

// beyondSix puts a row of six on a random board, on which nobody has won by that.
func beyondSix(rng *rand.Rand) game.Position {
	for {
		stones := randomStones(rng, 12)
		row, column, across := rng.IntN(boardSize-5), rng.IntN(boardSize-5), rng.IntN(2)
		for i := range 6 {
			stones[row+i*across][column+i*(1-across)] = 'x'
		}
		for balance(stones) > 1 {
			if row, column := rng.IntN(boardSize), rng.IntN(boardSize); stones[row][column] == 0 {
				stones[row][column] = 'o'
			}
		}
		if p := setUp(standard, boardText(stones)); p != nil {
			return p
		}
	}
}

// forbidding returns a board on which Black, to move, has a point that is forbidden, and
// nobody can win at once.
func forbidding(rng *rand.Rand, kind game.ForbiddenKind) string {
	for {
		text := boardText(randomStones(rng, 6+rng.IntN(8)))
		p := setUp(renju, text)
		if p == nil || !strings.HasSuffix(text, " b") {
			continue
		}
		points := forbidden(p, kind)
		other := setUp(renju, strings.TrimSuffix(text, "b")+"w")
		if len(points) == 0 || other == nil || winsAtOnce(p) || winsAtOnce(other) {
			continue
		}
		return line(string(kind), renju, p.String(), points)
	}
}

// nearlyFullForbidding returns a board on which many of the last points are forbidden.
func nearlyFullForbidding(rng *rand.Rand) string {
	for {
		p := nearlyFull(rng, renju, 5+rng.IntN(8))
		points := forbidden(p, "")
		if len(points) == 0 || len(points) == len(p.Legal(nil)) || !strings.HasSuffix(p.String(), " b") {
			continue
		}
		return line("full", renju, p.String(), points)
	}
}

// forbidden lists the forbidden points of a kind, "" for all.
func forbidden(p game.Position, kind game.ForbiddenKind) (points []string) {
	for _, at := range p.(game.Forbidder).Forbidden() {
		if kind == "" || at.Kind == kind {
			points = append(points, at.Point)
		}
	}
	return points
}

// winsAtOnce reports whether a move wins.
func winsAtOnce(p game.Position) bool {
	return slices.ContainsFunc(p.Legal(nil), func(m game.Move) bool {
		after := p.Clone()
		return after.Play(m) == nil && after.Outcome().Reason == game.Five
	})
}

// randomStones puts so many stones of each colour near the centre.
func randomStones(rng *rand.Rand, each int) (stones [boardSize][boardSize]byte) {
	const near = 7
	for i := 0; i < 2*each; {
		row, column := 4+rng.IntN(near), 4+rng.IntN(near)
		if stones[row][column] != 0 {
			continue
		}
		stones[row][column] = "xo"[i%2]
		i++
	}
	return stones
}

// balance returns how many more stones Black has.
func balance(stones [boardSize][boardSize]byte) (n int) {
	for _, row := range stones {
		n += bytes.Count(row[:], []byte{'x'}) - bytes.Count(row[:], []byte{'o'})
	}
	return n
}

// boardText writes a board, with the side to move that the number of stones says; a text
// that is none if nobody can be.
func boardText(stones [boardSize][boardSize]byte) string {
	var rows [][]byte
	for i := range stones {
		rows = append(rows, stones[i][:])
	}
	switch balance(stones) {
	case 0:
		return faultyengine.BoardText(rows) + " b"
	case 1:
		return faultyengine.BoardText(rows) + " w"
	}
	return "impossible"
}
