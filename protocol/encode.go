package protocol

import (
	"encoding/json"
	"strconv"
	"time"

	"sparring/game"
)

// What is said for every move is encoded by the functions of this file: the bytes are
// those of encoding/json, for a tenth of its time. A test holds the two together.

// Encode encodes the event as JSON.
func (m *Event) Encode() []byte {
	o := openObject(make([]byte, 0, 1024+8*len(m.Moves)))
	o.int("v", int64(m.V))
	o.text("kind", string(m.Kind))
	o.uint("index", m.Index)
	o.uint("term", m.Term)
	o.time("time", m.Time)
	o.seatIf("seat", m.Seat)
	o.textIf("request", m.Request)
	o.earlierIf(m.Earlier)
	o.seatsIf("draw_offered", m.DrawOffered)
	o.seatsIf("takeback_asked", m.TakebackAsked)
	o.timeIf("running_since", m.RunningSince)
	o.intIf("turn_ms", m.TurnMS)
	o.snapshot(&m.Snapshot)
	o.receiptIf(m.Receipt)
	if d := m.Dispute; d != nil {
		o.name("dispute")
		in := openObject(o.b)
		in.text("move", d.Move)
		in.text("claimed", d.Claimed)
		in.text("ruled", d.Ruled)
		o.b = in.close()
	}
	o.textIf("text", m.Text)
	return o.close()
}

// body encodes what is the same for both players of a game, without the opening brace.
func (m *State) body() []byte {
	o := object{b: make([]byte, 0, 1024+8*len(m.Moves)), more: true}
	o.snapshot(&m.Snapshot)
	o.receiptIf(m.Receipt)
	return o.close()
}

// encode encodes the state, of which the body is encoded.
func (m *State) encode(body []byte) []byte {
	o := openObject(make([]byte, 0, 192+len(body)))
	o.int("v", int64(m.V))
	o.text("to", m.To)
	o.uint("seq", m.Seq)
	o.uintIf("unkept", m.Unkept)
	o.time("server_time", m.ServerTime)
	o.text("you", m.You.String())
	return append(o.b, body...)
}

// encode encodes the answer.
func (a *ActAnswer) encode() []byte {
	o := openObject(make([]byte, 0, 512))
	o.int("v", int64(a.V))
	o.text("id", a.ID)
	o.text("code", string(a.Code))
	if e := a.Error; e != nil {
		o.name("error")
		in := openObject(o.b)
		in.text("code", string(e.Code))
		in.textIf("text", e.Text)
		o.b = in.close()
	}
	o.time("server_time", a.ServerTime)
	o.textIf("game", string(a.Game))
	o.uintIf("seq", a.Seq)
	o.uintIf("unkept", a.Unkept)
	o.intIf("ply", int64(a.Ply))
	if a.Clocks != nil {
		o.clocks(a.Clocks)
	}
	o.receiptIf(a.Receipt)
	return o.close()
}

// encode encodes the request.
func (m *MoveRequest) encode() []byte {
	o := openObject(make([]byte, 0, 192))
	o.int("v", int64(m.V))
	o.text("id", m.ID)
	o.text("instance", string(m.Instance))
	o.uint("epoch", m.Epoch)
	o.int("ply", int64(m.Ply))
	o.text("move", m.Move)
	o.textIf("key", m.Key)
	o.intIf("lag_ms", m.LagMS)
	o.boolIf("answer_only", m.AnswerOnly)
	o.boolIf("watching", m.Watching)
	return o.close()
}

// encode encodes the heartbeat.
func (m *Alive) encode() []byte {
	o := openObject(make([]byte, 0, 192+20*len(m.Games)))
	o.int("v", int64(m.V))
	o.text("id", m.ID)
	o.text("instance", string(m.Instance))
	o.int("free", int64(m.Free))
	o.countIf("free_for_bots", m.FreeForBots)
	o.countIf("free_together", m.FreeTogether)
	if len(m.Games) > 0 {
		appendTexts(&o, "games", m.Games)
	}
	o.textIf("secret", m.Secret)
	return o.close()
}

// object appends the fields of a JSON object. The methods that end in If leave out what
// is zero.
type object struct {
	b    []byte
	more bool // a field was written
}

func openObject(b []byte) object { return object{b: append(b, '{')} }

func (o *object) close() []byte { return append(o.b, '}') }

func (o *object) name(name string) {
	if o.more {
		o.b = append(o.b, ',')
	}
	o.more = true
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) int(name string, v int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) intIf(name string, v int64) {
	if v != 0 {
		o.int(name, v)
	}
}

func (o *object) countIf(name string, v *int) {
	if v != nil {
		o.int(name, int64(*v))
	}
}

func (o *object) uint(name string, v uint64) {
	o.name(name)
	o.b = strconv.AppendUint(o.b, v, 10)
}

func (o *object) uintIf(name string, v uint64) {
	if v != 0 {
		o.uint(name, v)
	}
}

func (o *object) bool(name string, v bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) boolIf(name string, v bool) {
	if v {
		o.bool(name, v)
	}
}

func (o *object) text(name, v string) {
	o.name(name)
	o.b = appendText(o.b, v)
}

func (o *object) textIf(name, v string) {
	if v != "" {
		o.text(name, v)
	}
}

func appendTexts[T ~string](o *object, name string, list []T) {
	o.name(name)
	if list == nil {
		o.b = append(o.b, "null"...)
		return
	}
	o.b = append(o.b, '[')
	for i, v := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendText(o.b, string(v))
	}
	o.b = append(o.b, ']')
}

func (o *object) time(name string, t time.Time) {
	o.name(name)
	o.b = append(t.AppendFormat(append(o.b, '"'), time.RFC3339Nano), '"')
}

func (o *object) timeIf(name string, t time.Time) {
	if !t.IsZero() {
		o.time(name, t)
	}
}

func (o *object) seatIf(name string, seat *game.Seat) {
	if seat != nil {
		o.text(name, seat.String())
	}
}

func (o *object) seatsIf(name string, seats []game.Seat) {
	if len(seats) == 0 {
		return
	}
	o.name(name)
	for i, seat := range seats {
		o.b = appendText(append(o.b, "[,"[min(i, 1)]), seat.String())
	}
	o.b = append(o.b, ']')
}

// appendText appends a string as encoding/json writes it. Few have characters that need
// more than quotes.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			quoted, err := json.Marshal(s)
			if err != nil {
				return append(b, `""`...) // unreachable: every string can be encoded
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// snapshot appends the fields of a snapshot.
func (o *object) snapshot(s *Snapshot) {
	o.text("game", string(s.Game))
	o.name("terms")
	terms := openObject(o.b)
	terms.terms(&s.Terms)
	o.b = terms.close()
	o.textIf("pool", string(s.Pool))
	o.time("started", s.Started)
	o.name("holders")
	for seat := range s.Holders {
		in := openObject(append(o.b, "[,"[seat]))
		in.holder(&s.Holders[seat])
		o.b = in.close()
	}
	o.b = append(o.b, ']')
	appendTexts(o, "moves", s.Moves)
	o.text("turn", s.Turn.String())
	o.text("key", s.Key)
	o.clocks(&s.Clocks)
	o.seatIf("draw_by", s.DrawBy)
	o.seatIf("takeback_by", s.TakebackBy)
	o.timeIf("first_move_by", s.FirstMoveBy)
	o.intIf("forfeit_ms", s.ForfeitMS)
	o.text("status", string(s.Status))
	o.name("outcome")
	in := openObject(o.b)
	in.text("result", s.Outcome.Result.String())
	in.textIf("reason", string(s.Outcome.Reason))
	o.b = in.close()
}

func (o *object) terms(t *Terms) {
	o.text("game", t.Game)
	o.text("rules", t.Rules)
	o.textIf("position", t.Position)
	if len(t.Moves) > 0 {
		appendTexts(o, "moves", t.Moves)
	}
	o.text("clock", t.Clock.String())
	o.bool("rated", t.Rated)
	o.boolIf("strict", t.Strict)
	o.boolIf("private", t.Private)
}

func (o *object) holder(h *Holder) {
	o.text("player", string(h.Player))
	o.textIf("display", h.Display)
	o.text("kind", string(h.Kind))
	o.intIf("rating", int64(h.Rating))
	o.textIf("build", h.Build)
	o.textIf("instance", string(h.Instance))
	o.uint("epoch", h.Epoch)
	o.timeIf("vacant_since", h.VacantSince)
	if by := h.GivenBack; by != (GivenBack{}) {
		o.name("given_back")
		in := openObject(o.b)
		in.text("instance", string(by.Instance))
		in.text("id", by.ID)
		o.b = in.close()
	}
}

func (o *object) clocks(c *Clocks) {
	o.name("clocks")
	in := openObject(o.b)
	in.name("seats")
	for i, seat := range c.Seats {
		one := openObject(append(in.b, "[,"[i]))
		one.int("left_ms", seat.LeftMS)
		one.intIf("periods", int64(seat.Periods))
		in.b = one.close()
	}
	in.b = append(in.b, ']')
	in.seatIf("running", c.Running)
	in.intIf("used_ms", c.UsedMS)
	o.b = in.close()
}

func (o *object) earlierIf(all []EarlierRequest) {
	if len(all) == 0 {
		return
	}
	o.name("earlier")
	for i, r := range all {
		o.b = append(o.b, "[,"[min(i, 1)])
		in := openObject(o.b)
		in.text("seat", r.Seat.String())
		in.text("id", r.ID)
		in.int("ply", int64(r.Ply))
		o.b = in.close()
	}
	o.b = append(o.b, ']')
}

func (o *object) receiptIf(r *Receipt) {
	if r == nil {
		return
	}
	o.name("receipt")
	in := openObject(o.b)
	in.int("ply", int64(r.Ply))
	in.time("received", r.Received)
	in.int("lag_ms", r.LagMS)
	in.int("charged_ms", r.ChargedMS)
	in.int("left_ms", r.LeftMS)
	in.intIf("periods", int64(r.Periods))
	in.intIf("waited_ms", r.WaitedMS)
	o.b = in.close()
}
