// Package uci is a codec for UCI, the Universal Chess Interface, as it is used
// for board games other than chess. [Parse] and [Command] are for lines from
// a GUI to an engine, [ParseReply] and [Reply] for those from the engine to the GUI;
// [Dialect] is the notation of moves. The package does no I/O.
//
// The protocol is Stefan Meyer-Kahlen's of 2006, with its common extensions: WDL
// in info, perft and mate in go, UCI_Variant. Unknown words are skipped, as the
// protocol asks. An invalid number is skipped too, and reported by the error
// that comes with the rest of the line. Parsers fail in no other way.
package uci

import "sparring/pipe/internal/tokens"

// MaxLine is the longest line that is read, in bytes. A longer one is an error
// that wraps ErrSyntax.
const MaxLine = tokens.MaxLine

// ErrSyntax is wrapped by the error of a line that is too long or has an invalid
// word. What could be read of the line is valid.
var ErrSyntax = tokens.ErrSyntax
