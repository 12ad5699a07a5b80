package protocol

import "sparring/game"

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
		case "watching":
			m.Watching = f.bool()
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

func (m *Event) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "v":
			m.V = f.int()
		case "kind":
			m.Kind = EventKind(f.text())
		case "index":
			m.Index = f.uint()
		case "term":
			m.Term = f.uint()
		case "time":
			m.Time = f.time()
		case "seat":
			m.Seat = f.seat()
		case "request":
			m.Request = f.text()
		case "running_since":
			m.RunningSince = f.time()
		case "turn_ms":
			m.TurnMS = f.int64()
		case "receipt":
			m.Receipt = readReceipt(m.Receipt, f)
		case "earlier":
			m.Earlier = []EarlierRequest{}
			for range f.elements() {
				m.Earlier = append(m.Earlier, readEarlier(f))
			}
		case "draw_offered":
			m.DrawOffered = readSeats(f)
		case "takeback_asked":
			m.TakebackAsked = readSeats(f)
		case "dispute":
			if m.Dispute == nil {
				m.Dispute = new(Dispute)
			}
			m.Dispute.read(f)
		case "text":
			m.Text = f.text()
		default:
			m.Snapshot.field(name, f)
		}
	}
}

func readEarlier(f *fields) (r EarlierRequest) {
	for name := range f.names() {
		switch string(name) {
		case "seat":
			f.value(&r.Seat)
		case "id":
			r.ID = f.text()
		case "ply":
			r.Ply = f.int()
		default:
			f.other = true
		}
	}
	return r
}

func readSeats(f *fields) []game.Seat {
	seats := []game.Seat{}
	for range f.elements() {
		var seat game.Seat
		f.value(&seat)
		seats = append(seats, seat)
	}
	return seats
}

func (d *Dispute) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "move":
			d.Move = f.text()
		case "claimed":
			d.Claimed = f.text()
		case "ruled":
			d.Ruled = f.text()
		default:
			f.other = true
		}
	}
}

// eventHead is what an entry of a log begins with, as Event.Encode writes it.
type eventHead struct {
	kind EventKind
	seat *game.Seat // nil: it comes later, or not at all
}

// read reads no further than the seat.
func (h *eventHead) read(f *fields) {
	for name := range f.names() {
		switch string(name) {
		case "kind":
			h.kind = EventKind(f.text())
		case "v", "index", "term":
			f.uint()
		case "time":
			f.quoted()
		case "seat":
			h.seat = f.seat()
			return
		default:
			return
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
