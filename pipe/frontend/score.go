package frontend

import (
	"math"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/pipe/uci"
)

// Constants of scores for GUIs. The engine's unit differs between games, so
// centipawns are made from the winning chance: 73 % is a pawn and a half, as for
// chess engines.
const (
	pawnScale = 150.0
	// maxScore is the largest score made from a chance; beyond it all chances are 1.
	maxScore = 4500
	// repetition is the score of a win by the rules of repetition. It is not a mate,
	// because it depends on the path to the position.
	repetition = 9000
)

// centipawns converts a score that is not a proven win or loss.
func centipawns(s search.Score, chance float64) int {
	switch {
	case s >= search.RepBound:
		return repetition - int(search.RepWin-s)
	case s <= -search.RepBound:
		return -repetition + int(search.RepWin+s)
	}
	return int(math.Round(min(max(pawnScale*math.Log(chance/(1-chance)), -maxScore), maxScore)))
}

// uciScore converts a score for UCI: mates in moves of the winning side, "mate 0" for
// a lost position.
func uciScore(i search.Info) uci.Score {
	s := uci.Score{Unit: uci.Centipawns}
	if plies, ok := search.MateIn(i.Score); ok {
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

// wdl converts a score of an evaluation into wins, draws and losses per thousand.
func wdl(gameName, eval string, s search.Score) *uci.WDL {
	params, err := engine.Params(gameName, eval)
	if err != nil {
		return nil // it can't have been searched
	}
	win, _, loss := params.WDL(s)
	wins := int(math.Round(1000 * win))
	losses := min(int(math.Round(1000*loss)), 1000-wins)
	return &uci.WDL{Win: wins, Draw: 1000 - wins - losses, Loss: losses}
}
