// Package format is the ground that the formats of other programs share: what
// a [Format] is, text in UTF-8 or GBK, errors that say where, and the [Draft]
// that checks a game's moves against the rules while it becomes a record.
//
// The formats themselves are packages beside this one (sgf, pgn, psq, ccgc).
// Callers who just want to read or write a file use package interchange.
package format

import (
	"iter"

	"sparring/record"
)

// Format is a way to write games down that other programs know. Texts are
// UTF-8 here; [Decode] and [Encode] turn them into bytes.
type Format struct {
	Name  string   // "sgf", in lower case
	Ext   string   // of its files: ".sgf"
	About string   // one line for people
	Games []string // names of the games that it can hold
	// Detect reports whether a text looks like this format. Only the
	// beginning is looked at.
	Detect func(text string) bool
	// Write appends the games to a text. The error wraps ErrCannot where the
	// format has no way to say what a record holds, or is that of the rules
	// where the moves are not legal ones.
	Write func(records []*record.Record, o WriteOptions) (string, error)
	// Read runs through the games of a text. A game that is damaged gives an
	// *Error, and the games after it follow where the text shows where they
	// begin. A text without a game is an error.
	Read func(text string, o ReadOptions) iter.Seq2[*record.Record, error]
	// FileName is the name that the format wants for a game's file, nil
	// where any will do.
	FileName func(r *record.Record) string
}

// WriteOptions say how to write. The zero value does what most programs read.
type WriteOptions struct {
	Charset Charset
	Moves   Moves // of Xiangqi, in PGN
}

// ReadOptions say what a file may leave out.
type ReadOptions struct {
	// Rules is the full name of the rule set to check the moves by, whatever
	// the file says. With "" it is that of the file, else the game's default
	// set, else the first well-known set under which all moves are legal.
	Rules string
}

// Moves is a notation of Xiangqi moves.
type Moves string

// The notations.
const (
	ICCS    Moves = "iccs"    // H2-E2, the default
	WXF     Moves = "wxf"     // C2=5
	Chinese Moves = "chinese" // 炮二平五
)
