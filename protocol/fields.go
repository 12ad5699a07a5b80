package protocol

import (
	"bytes"
	"encoding"
	"encoding/json"
	"iter"
	"math"
	"time"
	"unicode/utf8"

	"sparring/game"
)

// What is said for every move is decoded by the functions of this file and of
// messagefields.go, as encode.go encodes it: in a fifth of the time of encoding/json. They read messages in the form
// that nearly all have. What has any other (a field that they don't know, an escape in a
// text, a null, a fraction), they leave to encoding/json, which alone says what is wrong.
// A fuzz test holds the two together.

// plain is a message that is read so.
type plain interface{ read(f *fields) }

// unmarshal decodes a message into a zero value.
func unmarshal[T any](data []byte, msg *T) error {
	if m, ok := any(msg).(plain); ok {
		f := fields{b: data}
		if m.read(&f); f.whole() {
			return nil
		}
		*msg = *new(T)
	}
	return json.Unmarshal(data, msg)
}

// fields reads JSON from left to right.
type fields struct {
	b     []byte // what is left
	other bool   // it has another form than this reads
}

// whole reports whether all was read.
func (f *fields) whole() bool {
	f.space()
	return !f.other && len(f.b) == 0
}

func (f *fields) space() {
	for len(f.b) > 0 && (f.b[0] == ' ' || f.b[0] == '\n' || f.b[0] == '\t' || f.b[0] == '\r') {
		f.b = f.b[1:]
	}
}

// next passes a character, if it comes next.
func (f *fields) next(c byte) bool {
	f.space()
	if len(f.b) == 0 || f.b[0] != c {
		return false
	}
	f.b = f.b[1:]
	return true
}

// must passes a character that has to come next.
func (f *fields) must(c byte) {
	f.other = !f.next(c) || f.other
}

// names runs through the fields of an object. The loop reads the value of each.
func (f *fields) names() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if f.must('{'); f.other || f.next('}') {
			return
		}
		for more := true; more; more = f.next(',') {
			name := f.quoted()
			if f.must(':'); f.other || !yield(name) || f.other {
				return
			}
		}
		f.must('}')
	}
}

// elements runs through the elements of an array. The loop reads each.
func (f *fields) elements() iter.Seq[int] {
	return func(yield func(int) bool) {
		if f.must('['); f.other || f.next(']') {
			return
		}
		for i, more := 0, true; more; i, more = i+1, f.next(',') {
			if !yield(i) || f.other {
				return
			}
		}
		f.must(']')
	}
}

// pair runs through the two elements of an array, those of the seats.
func (f *fields) pair(read func(seat int)) {
	n := 0
	for i := range f.elements() {
		if n = i + 1; n > 2 {
			break
		}
		read(i)
	}
	f.other = f.other || n != 2
}

// quoted reads a text without escapes. The bytes are those of the message.
func (f *fields) quoted() []byte {
	f.must('"')
	end := bytes.IndexByte(f.b, '"')
	if f.other || end < 0 {
		f.other = true
		return nil
	}
	text := f.b[:end]
	f.b = f.b[end+1:]
	ascii := true
	for _, c := range text {
		f.other = f.other || c < ' ' || c == '\\'
		ascii = ascii && c < utf8.RuneSelf
	}
	f.other = f.other || !ascii && !utf8.Valid(text)
	return text
}

// digits reads a whole number without its sign.
func (f *fields) digits() (v uint64) {
	n := 0
	for n < len(f.b) && '0' <= f.b[n] && f.b[n] <= '9' {
		v = v*10 + uint64(f.b[n]-'0')
		n++
	}
	f.other = f.other || n == 0 || n > 18 || n > 1 && f.b[0] == '0'
	f.b = f.b[n:]
	return v
}

func (f *fields) uint() uint64 {
	f.space()
	return f.digits()
}

func (f *fields) int64() int64 {
	sign := int64(1)
	if f.next('-') {
		sign = -1
	}
	return sign * int64(f.digits())
}

func (f *fields) int() int {
	v := f.int64()
	f.other = f.other || v < math.MinInt || v > math.MaxInt
	return int(v)
}

func (f *fields) bool() bool {
	f.space()
	for _, v := range [...]struct {
		text  string
		value bool
	}{{"true", true}, {"false", false}} {
		if rest, ok := bytes.CutPrefix(f.b, []byte(v.text)); ok {
			f.b = rest
			return v.value
		}
	}
	f.other = true
	return false
}

func (f *fields) text() string { return string(f.quoted()) }

// texts reads a list of texts. They share one string, which is the list and nothing
// else of the message.
func texts[T ~string](f *fields) []T {
	f.space()
	whole := f.b
	var spans [][2]int
	for range f.elements() {
		n := len(f.quoted())
		end := len(whole) - len(f.b) - 1
		spans = append(spans, [2]int{end - n, end})
	}
	if f.other {
		return nil
	}
	list, all := T(whole[:len(whole)-len(f.b)]), make([]T, len(spans))
	for i, span := range spans {
		all[i] = list[span[0]:span[1]]
	}
	return all
}

func (f *fields) value(v encoding.TextUnmarshaler) {
	f.other = v.UnmarshalText(f.quoted()) != nil || f.other
}

func (f *fields) time() (t time.Time) {
	f.space()
	at := f.b
	f.quoted()
	f.other = f.other || t.UnmarshalJSON(at[:len(at)-len(f.b)]) != nil
	return t
}

func (f *fields) seat() *game.Seat {
	seat := new(game.Seat)
	f.value(seat)
	return seat
}
