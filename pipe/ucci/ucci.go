// Package ucci is the text of UCCI, the Universal Chinese Chess Protocol, version
// 3.0 of 2007 (www.xqbase.com/protocol/cchess_ucci.htm). [Parse] and [Command]
// are what a GUI says to a Xiangqi engine, [ParseReply] and [Reply] what the
// engine says to the GUI. Nothing here thinks or waits.
//
// It differs from UCI, whose reading of lines it shares, in that options are one
// word without "name" and "value", clocks are the mover's own and the
// opponent's, scores have no unit before them, and draws, resignation and moves
// that the rules of repetition forbid have words of their own. Moves are as the
// rules write them: h2e2, ranks from 0.
package ucci

import (
	"sparring/pipe/internal/tokens"
)

// MaxLine is the longest line, in bytes, that is looked at. A longer one is an
// error that wraps ErrSyntax.
const MaxLine = tokens.MaxLine

// ErrSyntax: a line that is too long, or a word in it that is not what it should be.
var ErrSyntax = tokens.ErrSyntax
