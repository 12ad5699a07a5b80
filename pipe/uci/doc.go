// Package uci is the text of UCI, the Universal Chess Interface, as it is spoken
// for board games other than chess. [Parse] and [Command] are what a GUI says
// to an engine, [ParseReply] and [Reply] what the engine says to the GUI;
// [Dialect] is how the two write moves. Nothing here thinks or waits.
//
// The protocol is Stefan Meyer-Kahlen's of 2006; what is common beyond it is
// read and written too: WDL in info, perft and mate in go, UCI_Variant. Words
// that nobody knows are passed over, as the protocol asks; a number that is
// none is passed over as well, and the error then says so beside what could be
// read. No line of text makes a parser fail in any other way.
package uci

import "sparring/pipe/internal/tokens"

// MaxLine is the longest line, in bytes, that is looked at. A longer one is an
// error that wraps ErrSyntax.
const MaxLine = tokens.MaxLine

// ErrSyntax: a line that is too long, or a word in it that is not what it should be.
var ErrSyntax = tokens.ErrSyntax
