// Package ucci is a codec for UCCI, the Universal Chinese Chess Protocol, version
// 3.0 of 2007 (www.xqbase.com/protocol/cchess_ucci.htm). [Parse] and [Command]
// are for lines from a GUI to a Xiangqi engine, [ParseReply] and [Reply] for those
// from the engine to the GUI. The package does no I/O.
//
// It differs from UCI in that options are one word without "name" and "value",
// clocks are the mover's own and the opponent's, scores have no unit before
// them, and draws, resignation and moves that the rules of repetition forbid
// have words of their own. Moves are written as in our rules: h2e2, with ranks
// from 0.
package ucci

import "sparring/pipe/internal/tokens"

// MaxLine is the longest line that is read, in bytes. A longer one is an error
// that wraps ErrSyntax.
const MaxLine = tokens.MaxLine

// ErrSyntax is wrapped by the error of a line that is too long or has an invalid
// word. What could be read of the line is valid.
var ErrSyntax = tokens.ErrSyntax
