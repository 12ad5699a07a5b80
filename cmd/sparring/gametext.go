package main

import (
	"fmt"
	"time"

	"sparring/bot/play"
	"sparring/engine/search"
	"sparring/game"
	"sparring/internal/texttable"
)

// clockText formats a clock for people: 1:05 or, below ten seconds, 9.3.
func clockText(left time.Duration) string {
	if left < 10*time.Second {
		return fmt.Sprintf("%4.1f", left.Seconds())
	}
	return fmt.Sprintf("%d:%02d", int(left.Minutes()), int(left.Seconds())%60)
}

// count is here for its many callers.
var count = texttable.Count

// heading names a game by its players, first seat first.
func heading(e play.Event) string {
	first, second := string(e.Player), string(e.Opponent.Player)
	if e.You == game.Second {
		first, second = second, first
	}
	return fmt.Sprintf("%-8s %s - %s", e.Terms.Game, first, second)
}

func plies(n int) string { return count(n, "ply", "plies") }

func evaluation(a *play.Think) string {
	if a == nil {
		return ""
	}
	if a.Source == search.FromBook {
		return "  book"
	}
	if a.Depth == 0 && a.Score == 0 && a.WinProb == 0 {
		return "  no depth was finished"
	}
	text := fmt.Sprintf("%+6d %3.0f%%  depth %2d", a.Score, 100*a.WinProb, a.Depth)
	if a.PonderHit {
		text += fmt.Sprintf("  ponder hit, saved %.1f s", a.PonderSaved.Seconds())
	}
	return text
}

func verdict(o game.Outcome) string {
	switch o.Result {
	case game.FirstWins, game.SecondWins:
		return fmt.Sprintf("%s wins by %s", o.Result, o.Reason)
	case game.Draw:
		return fmt.Sprintf("draw by %s", o.Reason)
	}
	return fmt.Sprintf("no result: %s", o.Reason)
}
