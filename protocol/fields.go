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

// What is said for every move is decoded by the functions of this file, as encode.go
// encodes it: in a fifth of the time of encoding/json. They read messages in the form
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

func (m *MoveRequest) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "v":
			m.V = f.int()
		case "id":
			m.ID = f.text()
		case "instance":
			m.Instance = InstanceID(f.text())
		case "epoch":
			m.Epoch = f.uint()
		case "ply":
			m.Ply = f.int()
		case "move":
			m.Move = f.text()
		case "key":
			m.Key = f.text()
		case "lag_ms":
			m.LagMS = f.int64()
		case "answer_only":
			m.AnswerOnly = f.bool()
		default:
			f.other = true
		}
	}
}

func (m *Alive) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "v":
			m.V = f.int()
		case "id":
			m.ID = f.text()
		case "instance":
			m.Instance = InstanceID(f.text())
		case "free":
			m.Free = f.int()
		case "free_for_bots":
			m.FreeForBots = new(f.int())
		case "free_together":
			m.FreeTogether = new(f.int())
		case "games":
			m.Games = texts[GameID](f)
		case "secret":
			m.Secret = f.text()
		default:
			f.other = true
		}
	}
}

// field reads a field of an answer.
func (a *Answer) field(name []byte, f *fields) {
	switch string(name) {
	case "v":
		a.V = f.int()
	case "id":
		a.ID = f.text()
	case "code":
		a.Code = Code(f.text())
	case "server_time":
		a.ServerTime = f.time()
	default: // an error among them: refusals are rare
		f.other = true
	}
}

func (a *AliveAnswer) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "held":
			a.Held = texts[GameID](f)
		default:
			a.field(name, f)
		}
	}
}

func (a *ActAnswer) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "game":
			a.Game = GameID(f.text())
		case "seq":
			a.Seq = f.uint()
		case "unkept":
			a.Unkept = f.uint()
		case "ply":
			a.Ply = f.int()
		case "clocks":
			if a.Clocks == nil {
				a.Clocks = new(Clocks)
			}
			a.Clocks.read(f)
		case "receipt":
			a.Receipt = readReceipt(a.Receipt, f)
		default:
			a.field(name, f)
		}
	}
}

func (m *State) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "v":
			m.V = f.int()
		case "to":
			m.To = f.text()
		case "seq":
			m.Seq = f.uint()
		case "unkept":
			m.Unkept = f.uint()
		case "server_time":
			m.ServerTime = f.time()
		case "you":
			f.value(&m.You)
		case "receipt":
			m.Receipt = readReceipt(m.Receipt, f)
		default:
			m.Snapshot.field(name, f)
		}
	}
}

// field reads a field of a snapshot.
func (s *Snapshot) field(name []byte, f *fields) {
	switch string(name) {
	case "game":
		s.Game = GameID(f.text())
	case "terms":
		s.Terms.read(f)
	case "pool":
		s.Pool = Pool(f.text())
	case "started":
		s.Started = f.time()
	case "holders":
		f.pair(func(seat int) { s.Holders[seat].read(f) })
	case "moves":
		s.Moves = texts[string](f)
	case "turn":
		f.value(&s.Turn)
	case "key":
		s.Key = f.text()
	case "clocks":
		s.Clocks.read(f)
	case "draw_by":
		s.DrawBy = f.seat()
	case "takeback_by":
		s.TakebackBy = f.seat()
	case "first_move_by":
		s.FirstMoveBy = f.time()
	case "forfeit_ms":
		s.ForfeitMS = f.int64()
	case "status":
		s.Status = Status(f.text())
	case "outcome":
		for name := range f.names() {
			switch string(name) {
			case "result":
				f.value(&s.Outcome.Result)
			case "reason":
				s.Outcome.Reason = game.Reason(f.text())
			default:
				f.other = true
			}
		}
	default:
		f.other = true
	}
}

func (t *Terms) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "game":
			t.Game = f.text()
		case "rules":
			t.Rules = f.text()
		case "position":
			t.Position = f.text()
		case "moves":
			t.Moves = texts[string](f)
		case "clock":
			f.value(&t.Clock)
		case "rated":
			t.Rated = f.bool()
		case "strict":
			t.Strict = f.bool()
		case "private":
			t.Private = f.bool()
		default:
			f.other = true
		}
	}
}

func (h *Holder) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "player":
			h.Player = PlayerID(f.text())
		case "display":
			h.Display = f.text()
		case "kind":
			h.Kind = Kind(f.text())
		case "rating":
			h.Rating = f.int()
		case "build":
			h.Build = f.text()
		case "instance":
			h.Instance = InstanceID(f.text())
		case "epoch":
			h.Epoch = f.uint()
		case "vacant_since":
			h.VacantSince = f.time()
		case "given_back":
			h.GivenBack.read(f)
		default:
			f.other = true
		}
	}
}

func (by *GivenBack) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "instance":
			by.Instance = InstanceID(f.text())
		case "id":
			by.ID = f.text()
		default:
			f.other = true
		}
	}
}

func (c *Clocks) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "seats":
			f.pair(func(seat int) { c.Seats[seat].read(f) })
		case "running":
			c.Running = f.seat()
		case "used_ms":
			c.UsedMS = f.int64()
		default:
			f.other = true
		}
	}
}

func (c *SeatClock) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "left_ms":
			c.LeftMS = f.int64()
		case "periods":
			c.Periods = f.int()
		default:
			f.other = true
		}
	}
}

// readReceipt reads a receipt, into the one that a field of the same name has left.
func readReceipt(r *Receipt, f *fields) *Receipt {
	if r == nil {
		r = new(Receipt)
	}
	for name := range f.names() {
		switch string(name) {
		case "ply":
			r.Ply = f.int()
		case "received":
			r.Received = f.time()
		case "lag_ms":
			r.LagMS = f.int64()
		case "charged_ms":
			r.ChargedMS = f.int64()
		case "left_ms":
			r.LeftMS = f.int64()
		case "periods":
			r.Periods = f.int()
		case "waited_ms":
			r.WaitedMS = f.int64()
		default:
			f.other = true
		}
	}
	return r
}
