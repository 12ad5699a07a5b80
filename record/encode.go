package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sparring/game"
)

// MaxLine is the largest size of a record in bytes, including the line end.
const MaxLine = 8 << 20

// MaxPlies bounds the moves of one record.
const MaxPlies = 10_000

// Errors of records, wrapped with what and where.
var (
	// ErrVersion: the record has a version that this program does not know.
	ErrVersion = errors.New("unknown record version")
	// ErrInvalid: the record lacks something, or a value is out of range.
	ErrInvalid = errors.New("invalid record")
)

// Encode returns the record as one line of JSON, with its line end. It sets V where
// it is zero and brings the times to UTC and milliseconds; errors wrap
// ErrInvalid.
func Encode(r *Record) ([]byte, error) {
	c := *r
	if c.V == 0 {
		c.V = Version
	}
	c.Start, c.End = stamp(c.Start), stamp(c.End)
	c.Plies = make([]Ply, len(r.Plies)) // [] instead of null
	for i, p := range r.Plies {
		if p.Receipt != nil {
			receipt := *p.Receipt
			receipt.Received = stamp(receipt.Received)
			p.Receipt = &receipt
		}
		c.Plies[i] = p
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b, err := json.Marshal(&c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(b) >= MaxLine {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", ErrInvalid, len(b), MaxLine)
	}
	return append(b, '\n'), nil
}

func stamp(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Millisecond)
}

// Decode reads one record. Errors wrap ErrVersion or ErrInvalid.
func Decode(line []byte) (*Record, error) {
	if len(line) > MaxLine {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", ErrInvalid, len(line), MaxLine)
	}
	var version struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(line, &version); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if version.V == 0 {
		return nil, fmt.Errorf("%w: no version v, so not the record of a game", ErrInvalid)
	}
	if version.V != Version {
		return nil, fmt.Errorf("%w: v is %d, this program reads %d", ErrVersion, version.V, Version)
	}
	r := &Record{}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r, nil
}

// Validate checks what the schema demands; the error wraps ErrInvalid and
// names all faults.
func (r *Record) Validate() error {
	var faults []string
	bad := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if r.V != Version {
		bad("v is %d, want %d", r.V, Version)
	}
	if !validID(r.ID) {
		bad("id %.40q: want 1 to 32 of a-z 0-9 _ -", r.ID)
	}
	if r.Game == "" {
		bad("no game")
	}
	if !strings.HasPrefix(r.Rules, r.Game+"/") {
		bad("rules %.40q do not belong to game %.40q", r.Rules, r.Game)
	}
	if r.Result > game.Draw {
		bad("result %d", r.Result)
	}
	for i, s := range r.Seats {
		if s.Kind != "" && s.Kind != Bot && s.Kind != Human {
			bad("seat %s: kind %.20q", game.Seat(i), s.Kind)
		}
	}
	if by := r.Source.By; by != ByArena && by != ByPlayer && by != ByImport && by != ByMatch {
		bad("source.by %.20q: want %s, %s, %s or %s", by, ByArena, ByPlayer, ByImport, ByMatch)
	}
	if len(r.Plies) > MaxPlies {
		bad("%d plies, more than %d", len(r.Plies), MaxPlies)
	}
	if r.Given < 0 || r.Given > MaxPlies {
		bad("given is %d", r.Given)
	}
	for i := range r.Plies {
		if fault := r.Plies[i].fault(); fault != "" {
			bad("ply %d: %s", i+1, fault)
			break // the rest is likely to be the same
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w: %s", ErrInvalid, strings.Join(faults, "; "))
	}
	return nil
}

// fault returns what is wrong with a ply, or "".
func (p *Ply) fault() string {
	switch {
	case p.Move == "":
		return "no move"
	case p.Seat > game.Second:
		return fmt.Sprintf("seat %d", p.Seat)
	case p.Key != "" && !validKey(p.Key):
		return fmt.Sprintf("key %.40q: want 16 hex digits", p.Key)
	case p.Think != nil && !(p.Think.WinProb >= 0 && p.Think.WinProb <= 1):
		return fmt.Sprintf("chance %g: want 0 to 1", p.Think.WinProb)
	}
	return ""
}

func validID(id string) bool {
	return len(id) >= 1 && len(id) <= 32 && only(id, "abcdefghijklmnopqrstuvwxyz0123456789_-")
}

func validKey(key string) bool { return len(key) == 16 && only(key, "0123456789abcdef") }

// only reports whether all bytes of s are among the given.
func only(s, among string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return !strings.ContainsRune(among, c) })
}

// Key returns a position key as records write it.
func Key(key uint64) string { return game.KeyText(key) }
