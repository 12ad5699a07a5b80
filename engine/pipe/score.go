package pipe

import (
	"math"

	"sparring/engine/search"
	"sparring/protocol/uci"
)

// Scores as GUIs have them. The engine's own unit differs from game to game, a
// winning chance does not, so centipawns are made from it: a pawn and a half
// wins 73 % of games, as among chess engines.
const (
	pawnScale = 150.0
	// most is where centipawns from chances end: further out they are all 1.
	most = 4500
	// repetition is what a win by the rules of repetition begins from: it is
	// no mate, for it hangs on the path that led there.
	repetition = 9000
)

// centipawns is a score that is no proven win or loss.
func centipawns(s search.Score, chance float64) int {
	switch {
	case s >= search.RepBound:
		return repetition - int(search.RepWin-s)
	case s <= -search.RepBound:
		return -repetition + int(search.RepWin+s)
	}
	return int(math.Round(min(max(pawnScale*math.Log(chance/(1-chance)), -most), most)))
}

// mateIn is how many plies a proven win or loss takes, from the side to move:
// negative for a loss; ok is false for other scores.
func mateIn(s search.Score) (plies int, ok bool) {
	switch {
	case s >= search.WinBound:
		return int(search.Win - s), true
	case s <= -search.WinBound:
		return -int(search.Win + s), true
	}
	return 0, false
}

// uciScore is a score as UCI has it: mates in moves of the side that wins,
// "mate 0" for who has lost.
func uciScore(i search.Info) uci.Score {
	s := uci.Score{Unit: uci.Centipawns}
	if plies, ok := mateIn(i.Score); ok {
		s.Unit = uci.Mate
		if s.Value = (plies + 1) / 2; plies < 0 {
			s.Value = (plies - 1) / 2
		}
	} else {
		s.Value = centipawns(i.Score, i.Chance)
	}
	switch i.Bound {
	case search.Lower:
		s.Bound = uci.Lower
	case search.Upper:
		s.Bound = uci.Upper
	}
	return s
}

// wdl is a winning chance as thousandths. The chance counts draws half and says
// no more of them, so none are shown.
func wdl(chance float64) *uci.WDL {
	win := int(math.Round(1000 * min(max(chance, 0), 1)))
	return &uci.WDL{Win: win, Loss: 1000 - win}
}
