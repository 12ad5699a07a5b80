// Package format has what the formats of other programs share: the type
// [Format], text in any charset, errors with their place, and [Draft], which
// checks the moves of a game and makes a record of it.
//
// The formats themselves are the packages beside this one (sgf, pgn, psq, ccgc).
// Callers that want to read or write a file use package interchange.
package format

import (
	"iter"

	"sparring/record"
)

// Format is a file format of other programs for games. Texts are UTF-8 here;
// [Decode] and [Encode] convert from and to the bytes of a file.
type Format struct {
	Name  string   // "sgf", in lower case
	Ext   string   // of its files: ".sgf"
	About string   // one line for people
	Games []string // names of the games that it can represent
	// Detect reports whether a text looks like this format. It looks at the
	// beginning only.
	Detect func(text string) bool
	// Charset returns the charset that the bytes of a file name, "" if they name none or are
	// not in this format; nil if the format has no place for it.
	Charset func(data []byte) string
	// Write returns the games as a text. The error is a *GameError: it wraps ErrCannot
	// if the format can't represent a record, or comes from the rules if its moves are
	// not legal.
	Write func(records []*record.Record, o WriteOptions) (string, error)
	// Read yields the games of a text. A damaged game yields an *Error; the games
	// after it follow if the text shows where they begin. A text without a game
	// is an error.
	Read func(text string, o ReadOptions) iter.Seq2[*record.Record, error]
	// FileName is the name that the format prescribes for a game's file; nil if
	// it prescribes none.
	FileName func(r *record.Record) string
}

// WriteOptions say how to write. The zero value is what most programs can read.
type WriteOptions struct {
	Charset Charset
	Moves   Moves // of Xiangqi, in PGN
}

// ReadOptions give what a file does not say.
type ReadOptions struct {
	// Rules is the full name of the rule set that the moves are checked by,
	// whatever the file says. If it is "", the file's own set is used or, if the
	// file names none, the first of RuleSets under which all moves are legal.
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
