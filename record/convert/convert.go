// Package convert writes records in the formats of other programs and reads
// them from there: SGF, the PGN of Xiangqi, Piskvork's psq, and the texts of
// the Chinese computer games championship.
//
// [Export] and [Import] are all there is to call. A round trip keeps every
// move, the result and the players' names; what else a format can hold is
// kept too, where it is said below. Imported games are replayed under their
// rules, so that moves are legal and in our own text form afterwards.
package convert

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
)

// Format is a way to write games.
type Format string

// The formats.
const (
	SGF  Format = "sgf"  // Smart Game Format: GM 4 Gomoku, 7 Xiangqi, 18 Amazons
	PGN  Format = "pgn"  // Xiangqi as xqbase describes it; moves written in ICCS
	PSQ  Format = "psq"  // Gomoku as Piskvork saves it
	CCGC Format = "ccgc" // Amazons and Gomoku, as the Chinese championship collects them
)

// Errors, wrapped with what and where.
var (
	// ErrFormat: no such format, or not a text of any.
	ErrFormat = errors.New("unknown format")
	// ErrUnsupported: the format cannot hold this game.
	ErrUnsupported = errors.New("not possible in this format")
	// ErrSyntax: a text that breaks its format; the error names line and column.
	ErrSyntax = errors.New("damaged record")
)

// MaxBytes is the longest text that Import looks at.
const MaxBytes = 16 << 20

// formats has each format's writer and reader; a reader gets UTF-8.
var formats = map[Format]struct {
	write func(g *played) ([]byte, error)
	read  func(text string) ([]*draft, error)
}{
	SGF:  {writeSGF, readSGF},
	PGN:  {writePGN, readPGN},
	PSQ:  {writePSQ, readPSQ},
	CCGC: {writeCCGC, readCCGC},
}

// Export writes a record in a format, in UTF-8. The error wraps ErrFormat,
// ErrUnsupported, or what is wrong with the record's moves.
func Export(r *record.Record, f Format) ([]byte, error) {
	form, ok := formats[f]
	if !ok {
		return nil, fmt.Errorf("%w %.20q: want sgf, pgn, psq or ccgc", ErrFormat, f)
	}
	g, err := replay(r)
	if err != nil {
		return nil, fmt.Errorf("game %.40q: %w", r.ID, err)
	}
	return form.write(g)
}

// Import reads all games of a text, whose format it recognizes by its look, in
// UTF-8 or GBK. Ids are made from the content, so that the same file gives the
// same ids. The error wraps ErrFormat or ErrSyntax, or is what the rules say
// to a move; it names the line and column, or the game and the ply.
func Import(data []byte) ([]*record.Record, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", ErrSyntax, len(data), MaxBytes)
	}
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	f, err := detect(text)
	if err != nil {
		return nil, err
	}
	drafts, err := formats[f].read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	sum := sha256.Sum256(data)
	var records []*record.Record
	for i, d := range drafts {
		r, err := d.finish()
		if err != nil {
			return nil, fmt.Errorf("%s: game %d: %w", f, i+1, err)
		}
		r.ID = fmt.Sprintf("import-%s-%d", hex.EncodeToString(sum[:6]), i+1)
		records = append(records, r)
	}
	return records, nil
}

// decode is the text in UTF-8. What is not UTF-8 is taken for GB 18030, of
// which GBK and GB 2312 are parts.
func decode(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if utf8.Valid(data) {
		return string(data), nil
	}
	out, err := simplifiedchinese.GB18030.NewDecoder().Bytes(data)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return "", fmt.Errorf("%w: neither UTF-8 nor GBK", ErrSyntax)
	}
	return string(out), nil
}

// detect recognizes the format by how the text begins.
func detect(text string) (Format, error) {
	head := strings.TrimLeft(text, " \t\r\n")
	letters := strings.TrimLeft(head, "#{[＃｛【")
	switch {
	case strings.HasPrefix(head, "Piskvorky"):
		return PSQ, nil
	case strings.HasPrefix(head, "("):
		return SGF, nil
	case len(letters) < len(head) && (strings.HasPrefix(letters, "AM") || strings.HasPrefix(letters, "C5")) &&
		strings.ContainsAny(letters[:min(len(letters), 5)], "]}】"):
		return CCGC, nil
	case strings.HasPrefix(head, "["):
		return PGN, nil
	}
	return "", fmt.Errorf("%w: the text begins with %.20q", ErrFormat, head)
}

// draft is a game as a reader found it: the record, but for what follows from
// the moves.
type draft struct {
	record.Record
	texts    []string       // moves in the format's notation, for the game to parse
	used     []int64        // milliseconds of each move, where the format tells
	left     []int64        // on the mover's clock after each move
	comments map[int]string // by move, from 0
	looser   string         // rule set to take where the moves break Rules; "" is none
	// names and winner go by colour, 0 for the one that opens the game; which
	// seat had it is known after the replay.
	names  [2]string
	winner *int
	draw   bool
}

// finish is the game as a record, replayed.
func (d *draft) finish() (*record.Record, error) {
	if len(d.texts) > record.MaxPlies {
		return nil, fmt.Errorf("%w: %d moves, more than %d", ErrSyntax, len(d.texts), record.MaxPlies)
	}
	r, err := d.replay(d.Rules)
	if err != nil && d.looser != "" {
		if r, err := d.replay(d.looser); err == nil {
			return r, nil
		}
	}
	return r, err
}

// replay brings the moves to our form, finds out who made them, and thereby
// who had which colour.
func (d *draft) replay(rulesName string) (*record.Record, error) {
	c := d.Record
	r := &c
	rules, err := catalog.Rules(rulesName)
	if err != nil {
		return nil, err
	}
	p, err := rules.New(r.Position)
	if err != nil {
		return nil, err
	}
	r.V, r.Rules, r.Source.By = record.Version, rules.Name, record.ByImport
	for i, text := range d.texts {
		m, err := p.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("ply %d: %w", i+1, err)
		}
		ply := record.Ply{Seat: p.Turn(), Move: p.Format(m), Comment: d.comments[i]}
		if err := p.Play(m); err != nil {
			return nil, fmt.Errorf("ply %d: %w", i+1, err)
		}
		ply.Key = record.Key(p.Key())
		if i < len(d.used) {
			ply.UsedMS = d.used[i]
		}
		if i < len(d.left) {
			ply.LeftMS = d.left[i]
		}
		r.Plies = append(r.Plies, ply)
	}
	opener := opener(r, p)
	r.Seats[opener].Display, r.Seats[opener.Other()].Display = d.names[0], d.names[1]
	switch {
	case d.draw:
		r.Result = game.Draw
	case d.winner != nil:
		r.Result = game.WonBy(opener ^ game.Seat(*d.winner))
	}
	// What the board shows is right where the file is silent.
	out := p.Outcome()
	if out.Over() && (r.Result == game.Undecided || r.Result == out.Result && r.Reason == "") {
		r.Result, r.Reason = out.Result, out.Reason
	}
	return r, nil
}
