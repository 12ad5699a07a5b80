package xiangqi

import (
	"testing"

	"sparring/game"
)

// benchFENs are an opening, a middle game, a sharp middle game and an endgame
// in which only few pieces are left.
var benchFENs = []string{
	StartFEN,
	"r1bakab1r/9/1cn2cn2/p1p1p1p1p/9/2P3P2/P3P3P/1CN1C1N2/9/R1BAKAB1R b",
	"2bak4/2c1a3c/4b1n2/1nN1pR3/p5p1p/7r1/P2R2P1P/B3C1N2/1r2C4/3AKAB2 w",
	"3ak4/9/4c4/9/4N4/9/2r6/9/4A4/4K1R2 w",
}

func benchBoards(b *testing.B) (boards []*Board) {
	for _, fen := range benchFENs {
		boards = append(boards, mustBoard(b, fen))
	}
	return boards
}

// BenchmarkPerft counts the leaves of the start position to depth 5.
func BenchmarkPerft(b *testing.B) {
	board := mustBoard(b, StartFEN)
	var leaves uint64
	for b.Loop() {
		leaves += board.Perft(5)
	}
	b.ReportMetric(float64(leaves)/b.Elapsed().Seconds()/1e6, "Mleaves/s")
}

// BenchmarkLegal lists all legal moves of four positions.
func BenchmarkLegal(b *testing.B) {
	boards := benchBoards(b)
	var buf []game.Move
	moves := 0
	for b.Loop() {
		for _, board := range boards {
			buf = board.Legal(buf[:0])
			moves += len(buf)
		}
	}
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds()/1e6, "Mmoves/s")
}

// BenchmarkDoUndo makes and takes back every legal move of four positions,
// with the key, the checkers and the pinned pieces of each.
func BenchmarkDoUndo(b *testing.B) {
	boards := benchBoards(b)
	var lists [][]game.Move
	for _, board := range boards {
		lists = append(lists, board.Legal(nil))
	}
	moves := 0
	for b.Loop() {
		for i, board := range boards {
			for _, m := range lists[i] {
				board.Do(m)
				board.Undo()
			}
			moves += len(lists[i])
		}
	}
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds()/1e6, "Mmoves/s")
}

// BenchmarkIsLegal asks about the moves of one position in another.
func BenchmarkIsLegal(b *testing.B) {
	boards := benchBoards(b)
	moves := boards[2].Legal(nil)
	asked, legal := 0, 0
	for b.Loop() {
		for _, board := range boards {
			for _, m := range moves {
				if board.IsLegal(m) {
					legal++
				}
			}
			asked += len(moves)
		}
	}
	if legal == 0 {
		b.Fatal("none was legal anywhere")
	}
	b.ReportMetric(float64(asked)/b.Elapsed().Seconds()/1e6, "Mmoves/s")
}
