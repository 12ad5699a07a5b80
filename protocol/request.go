package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// request is a message and what its subject says.
type request struct {
	From
	msg    *nats.Msg
	game   GameID // "" for verbs
	action Action
	verb   Verb
}

// What may wait in a subscription. The handlers are faster than any network: this is
// for the moments in which the process does not run.
const (
	pendingMessages = 1 << 18
	pendingBytes    = 256 << 20
)

// subscribe calls f for each message on a subject, until stop is called.
func (s *Server) subscribe(subject, queue string, f func(request)) (stop func(), err error) {
	sub, err := s.nc.QueueSubscribe(subject, queue, func(msg *nats.Msg) {
		f(request{From: From{Arrived: time.Now()}, msg: msg})
	})
	if err != nil {
		return nil, fmt.Errorf("subscribe %s: %w", subject, err)
	}
	stop = func() { sub.Unsubscribe() } // fails only if the connection is closed, which ends the subscription too
	if err := sub.SetPendingLimits(pendingMessages, pendingBytes); err != nil {
		stop()
		return nil, fmt.Errorf("subscribe %s: %w", subject, err)
	}
	return stop, nil
}

// requestType is the constraint for the types of requests.
type requestType[Req any] interface {
	*Req
	Checker
	RequestID() string
}

// read decodes a request. It refuses an invalid one and returns nil.
func read[Req any, P requestType[Req]](s *Server, r request) (req *Req, id string) {
	m, e := Decode[Req, P](r.msg.Data, s.limits)
	if e != nil {
		s.refuse(r, e)
		return nil, ""
	}
	return &m, P(&m).RequestID()
}

// serve reads a request, calls its handler f, and sends the answer.
func serve[Req, Ans any, P requestType[Req]](s *Server, r request, f func(From, Req) Ans, answer func(*Ans) *Answer) {
	if req, id := read[Req, P](s, r); req != nil {
		ans := f(r.From, *req)
		s.answer(r, id, answer(&ans), &ans)
	}
}

// answer completes an answer and sends it. A is the Answer embedded in whole.
func (s *Server) answer(r request, id string, a *Answer, whole any) {
	if a.Code == Unanswered {
		return
	}
	a.Header, a.ServerTime = Header{V: Version, ID: id}, time.Now().UTC()
	switch {
	case a.Error != nil:
		a.Code = a.Error.Code
		s.note(r, a.Error)
	case a.Code == "":
		a.Code = Accepted
	}
	s.respond(r.msg, whole)
}

// admit checks sender and reply subject.
func (s *Server) admit(r request) *Error {
	if err := CheckID("player", r.Player); err != nil {
		return Refuse(Malformed, "player: want 1 to 32 of a-z 0-9 _ -")
	}
	if !replyable(r.msg.Reply) {
		return Refuse(BadReply, "the reply subject is not an inbox")
	}
	if !s.people.admits(r.Player, r.msg) {
		return Refuse(Denied, "only the platform's gateways act for this player")
	}
	return nil
}

// replyable reports whether a reply subject is an inbox. Within one account, a
// request with the reply subject game.<id>.log would otherwise make the platform
// forge its own log. Requests from another account arrive with a reply subject
// that the NATS server made (_R_).
func replyable(reply string) bool {
	return strings.HasPrefix(reply, "_R_.") || strings.HasPrefix(reply, "_INBOX.") || strings.HasPrefix(reply, "_INBOX_")
}

// refuse logs a refusal, and sends it if the reply subject is safe.
func (s *Server) refuse(r request, e *Error) {
	s.note(r, e)
	if !replyable(r.msg.Reply) {
		return
	}
	id := ""
	if e.Code != TooLarge {
		id = readableID(r.msg.Data, s.limits)
	}
	s.respond(r.msg, Answer{Header: Header{V: Version, ID: id}, Code: e.Code, Error: e, ServerTime: time.Now().UTC()})
}

// readableID returns the id of a request, or "" if it can't be read.
func readableID(data []byte, lim Limits) string {
	var h struct { // without the version, which may be what can't be read
		ID string `json:"id"`
	}
	if bounded(data, lim) != nil || json.Unmarshal(data, &h) != nil || !isID(h.ID) {
		return ""
	}
	return h.ID
}

// note logs a refusal, at most once per player, game and code in logInterval, and no more of
// a player than linesAtOnce allows.
func (s *Server) note(r request, e *Error) {
	key := refusal{r.Player, r.game, e.Code}
	s.mu.Lock()
	last, seen := s.refusals[key]
	seen = seen && r.Arrived.Sub(last) < logInterval
	if !seen {
		if len(s.refusals) >= manyPlayers { // without permissions, anybody can invent names
			clear(s.refusals)
		}
		s.refusals[key] = r.Arrived
	}
	s.mu.Unlock()
	if seen || !s.requests.allowance(r.Player).lines.AllowN(r.Arrived, 1) {
		return
	}
	level := zerolog.WarnLevel
	switch e.Code {
	case UnknownPeer, Unavailable: // the platform's doing, so that everybody is refused so: after its restart, and while it can't store
		level = zerolog.DebugLevel
	}
	ev := s.log.WithLevel(level).Str("code", string(e.Code)).Str("why", e.Text).Str("player", fmt.Sprintf("%.32s", r.Player))
	if r.game != "" {
		ev = ev.Str("game", string(r.game))
	}
	ev.Msg("refused")
}

// encode encodes a message, which may know how itself.
func encode(m any) ([]byte, error) {
	if e, ok := m.(interface{ encode() []byte }); ok {
		return e.encode(), nil
	}
	return json.Marshal(m)
}

func (s *Server) respond(msg *nats.Msg, ans any) {
	data, err := encode(ans)
	if err == nil {
		err = msg.Respond(data)
	}
	if err != nil {
		s.log.WithLevel(unsentLevel(s.nc)).Err(err).Str("subject", msg.Subject).Msg("could not send the answer")
	}
}
