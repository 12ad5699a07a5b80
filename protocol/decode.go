package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sparring/game/clock"
)

// DefaultLimits are the limits of a platform that sets no others.
var DefaultLimits = Limits{MessageBytes: 16 << 10, Nesting: 8, PerSecond: 50, HeartbeatsPerSecond: 200, StandingsPerSecond: 4, ChallengesPerSecond: 8,
	BytesPerSecond: 1 << 20}

// Checker is a message that can check its own fields.
type Checker interface{ Check() error }

// Decode decodes a message from an untrusted sender. It checks size, nesting,
// JSON, version and the message's own fields, in this order, and ignores unknown
// fields. The error is a refusal to answer with.
func Decode[T any, P interface {
	*T
	Checker
}](data []byte, lim Limits) (T, *Error) {
	var msg T
	if err := bounded(data, lim); err != nil {
		return msg, err
	}
	err := unmarshal(data, &msg)
	told, knows := any(&msg).(interface{ version() int })
	if err == nil && knows {
		if v := told.version(); v != Version {
			return msg, otherVersion(v)
		}
	} else { // a message of another version may not fit, and should be told why
		var version struct {
			V int `json:"v"`
		}
		if err := json.Unmarshal(data, &version); err != nil {
			return msg, Refuse(Malformed, "%s", describe(err))
		}
		if version.V != Version {
			return msg, otherVersion(version.V)
		}
	}
	if err != nil {
		return msg, Refuse(Malformed, "%s", describe(err))
	}
	if m, ok := any(&msg).(requirer); ok {
		if name := missing(data, m.required()); name != "" {
			return msg, Refuse(Malformed, "%s: missing", name)
		}
	}
	if err := P(&msg).Check(); err != nil {
		return msg, Refuse(Malformed, "%v", err)
	}
	return msg, nil
}

// requirer is a message that has to have some fields although what they are without a
// value could be meant.
type requirer interface{ required() []string }

// missing returns the first of the fields that a message lacks, or "".
func missing(data []byte, names []string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return "" // unreachable: it has been decoded
	}
	for _, name := range names {
		if v := fields[name]; v == nil || string(v) == "null" {
			return name
		}
	}
	return ""
}

func otherVersion(v int) *Error {
	return Refuse(BadVersion, "version %d: only version %d is supported", v, Version)
}

// bounded checks size, nesting and encoding without allocating memory.
func bounded(data []byte, lim Limits) *Error {
	if len(data) > lim.MessageBytes {
		return Refuse(TooLarge, "%d bytes, the limit is %d", len(data), lim.MessageBytes)
	}
	depth, inString, escaped := 0, false, false
	for _, c := range data {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > lim.Nesting {
				return Refuse(TooLarge, "nested deeper than %d", lim.Nesting)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	if !utf8.Valid(data) {
		return Refuse(Malformed, "not UTF-8")
	}
	return nil
}

// describe explains a decoding error without quoting the message.
func describe(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var stamp *time.ParseError
	var timing *clock.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("invalid JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		got, _, _ := strings.Cut(kind.Value, " ") // of "number 17", without the sender's number
		if within, whole := wholeNumbers[kind.Type.Kind()]; whole && got == "number" {
			return fmt.Sprintf("%.64s: want a whole number %s, without fraction or exponent", fieldName(kind.Field), within)
		}
		return fmt.Sprintf("%.64s: unexpected %s", fieldName(kind.Field), got)
	case errors.As(err, &stamp):
		return "a time is not in RFC 3339 format"
	case errors.As(err, &timing):
		return "clock: " + timing.Why + "; want " + clock.Forms()
	}
	return "a field has an invalid value (a seat is first or second)"
}

// wholeNumbers says which whole numbers the fields of a type can have.
var wholeNumbers = map[reflect.Kind]string{reflect.Int: "below 2^63", reflect.Int64: "below 2^63", reflect.Uint64: "from 0, below 2^64"}

// fieldName returns the name that a field has in messages. The path of package json
// contains the names of embedded Go types.
func fieldName(path string) string {
	names := slices.DeleteFunc(strings.Split(path, "."), func(name string) bool { return name == "" || unicode.IsUpper(rune(name[0])) })
	if len(names) == 0 {
		return "message"
	}
	return "field " + strings.Join(names, ".")
}
