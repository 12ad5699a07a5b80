package frontend

import (
	"math"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/pipe/uci"
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
		s.Value = centipawns(i.Score, i.WinProb)
	}
	switch i.Bound {
	case search.Lower:
		s.Bound = uci.Lower
	case search.Upper:
		s.Bound = uci.Upper
	}
	return s
}

// wdl is what a score of the game by an evaluation stands for, in thousandths of
// wins, draws and losses.
func wdl(gameName, eval string, s search.Score) *uci.WDL {
	params, err := engine.Params(gameName, eval)
	if err != nil {
		return nil // it would not have been searched
	}
	win, _, loss := params.WDL(s)
	wins := int(math.Round(1000 * win))
	losses := min(int(math.Round(1000*loss)), 1000-wins)
	return &uci.WDL{Win: wins, Draw: 1000 - wins - losses, Loss: losses}
}
