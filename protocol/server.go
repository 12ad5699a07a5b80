package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"golang.org/x/time/rate"
)

// Server is the platform's side of the wire: it hears players, refuses what
// has not the form of a request, and hands on the rest. It is safe for
// concurrent use.
type Server struct {
	nc       *nats.Conn
	subjects Subjects
	limits   Limits
	log      zerolog.Logger

	mu       sync.Mutex
	buckets  map[PlayerID]*rate.Limiter
	refusals map[refusal]time.Time // when each was logged last
}

type refusal struct {
	player PlayerID
	game   GameID
	code   Code
}

// quiet is how long the same refusal of the same player is not logged again:
// a flood must not become a flood of log lines.
const quiet = 10 * time.Second

// manyPlayers is where what is remembered per player is thinned out.
const manyPlayers = 10000

// NewServer makes a server over a connection of the platform's account.
func NewServer(nc *nats.Conn, subjects Subjects, limits Limits, log zerolog.Logger) *Server {
	return &Server{
		nc: nc, subjects: subjects, limits: limits, log: log,
		buckets:  make(map[PlayerID]*rate.Limiter),
		refusals: make(map[refusal]time.Time),
	}
}

// Subjects are those that the server speaks on.
func (s *Server) Subjects() Subjects { return s.subjects }

// From is where a request came from: the player as the server's permissions
// let it speak, and when.
type From struct {
	Player  PlayerID
	Arrived time.Time
}

// Verbs are a platform's answers to what belongs to no game. An answer's
// header, code and time are filled in by the server. Challenge and Withdraw may
// take their time: they are called concurrently.
type Verbs struct {
	Hello     func(From, Hello) HelloAnswer
	Alive     func(From, Alive) AliveAnswer
	Leave     func(From, Leave) Answer
	Challenge func(From, ChallengeRequest) ChallengeAnswer
	Withdraw  func(From, Withdraw) Answer
}

// ServeVerbs answers verbs, sharing them with the other processes of the
// platform. Stop it by the function returned.
func (s *Server) ServeVerbs(v Verbs) (stop func(), err error) {
	return s.subscribe(s.subjects.PlayAny("*"), ArenaQueue, func(r request) {
		var ok bool
		if r.Player, r.verb, ok = s.subjects.ParsePlay(r.msg.Subject); !ok {
			return
		}
		switch r.verb {
		case VerbHello:
			serve(s, r, v.Hello, func(a *HelloAnswer) *Answer { return &a.Answer })
		case VerbAlive:
			serve(s, r, v.Alive, func(a *AliveAnswer) *Answer { return &a.Answer })
		case VerbLeave:
			serve(s, r, v.Leave, func(a *Answer) *Answer { return a })
		case VerbChallenge:
			go serve(s, r, v.Challenge, func(a *ChallengeAnswer) *Answer { return &a.Answer })
		case VerbWithdraw:
			go serve(s, r, v.Withdraw, func(a *Answer) *Answer { return a })
		default:
			s.refuse(r, Refuse(UnknownVerb, "want hello, alive, leave, challenge or withdraw"))
		}
	})
}

// ObserveAlive calls f for every heartbeat, also those that another process
// of the platform answers: a referee needs to know its players' pulse.
func (s *Server) ObserveAlive(f func(From, Alive)) (stop func(), err error) {
	return observe(s, VerbAlive, f)
}

// ObserveHello calls f for every hello, also those that another process of
// the platform answers: all of them must know who is present.
func (s *Server) ObserveHello(f func(From, Hello)) (stop func(), err error) {
	return observe(s, VerbHello, f)
}

// ObserveLeave calls f for every leave, as ObserveHello does for hellos.
func (s *Server) ObserveLeave(f func(From, Leave)) (stop func(), err error) {
	return observe(s, VerbLeave, f)
}

func observe[Req any, P interface {
	*Req
	Checker
}](s *Server, v Verb, f func(From, Req)) (stop func(), err error) {
	return s.subscribe(s.subjects.PlayAny(v), "", func(r request) {
		player, _, ok := s.subjects.ParsePlay(r.msg.Subject)
		if m, refused := Decode[Req, P](r.msg.Data, s.limits); ok && refused == nil && CheckID("player", player) == nil {
			f(From{player, r.Arrived}, m)
		}
	})
}

// GameRequest is what a player asks for in a game. Of Move, Act and Chat the
// one that belongs to the action is set.
type GameRequest struct {
	From
	Action Action
	Move   *MoveRequest
	Act    *ActRequest // resign, draw, takeback
	Chat   *ChatRequest

	server *Server
	raw    request
	id     string
}

// Answer sends the answer, unless its code is Unanswered. Header, code and time
// are filled in.
func (r GameRequest) Answer(ans ActAnswer) { r.server.answer(r.raw, r.id, &ans.Answer, &ans) }

// ServeGame calls serve for the actions in one game, one after the other, in
// the goroutine that stamps their time of arrival: serve hands them on and
// returns at once.
func (s *Server) ServeGame(g GameID, serve func(GameRequest)) (stop func(), err error) {
	return s.subscribe(s.subjects.ActAny(g), "", func(raw request) {
		var ok bool
		if raw.Player, raw.game, raw.action, ok = s.subjects.ParseAct(raw.msg.Subject); !ok {
			return
		}
		r := GameRequest{From: raw.From, Action: raw.action, server: s, raw: raw}
		switch raw.action {
		case ActMove:
			r.Move, r.id = read[MoveRequest](s, raw)
		case ActResign, ActDraw, ActTakeback:
			r.Act, r.id = read[ActRequest](s, raw)
		case ActChat:
			r.Chat, r.id = read[ChatRequest](s, raw)
		default:
			s.refuse(raw, Refuse(UnknownVerb, "want move, resign, draw, takeback or chat"))
		}
		if r.id != "" {
			serve(r)
		}
	})
}

// ServeOrphans answers actions in games that no referee of this platform
// serves. Ask says what to answer, nil for nothing because a referee
// elsewhere will. It hears every action in any game, so it must be quick.
//
// Served is asked first, and for every action in every game; ask only within
// the player's rate, for it may be slow and the ids may be invented.
func (s *Server) ServeOrphans(served func(GameID) bool, ask func(GameID) *Error) (stop func(), err error) {
	return s.subscribe(s.subjects.ActOrphan(), ArenaQueue, func(r request) {
		var ok bool
		if r.Player, r.game, _, ok = s.subjects.ParseAct(r.msg.Subject); !ok {
			return
		}
		if CheckID("game", r.game) != nil {
			r.game = ""
		}
		if served(r.game) {
			return
		}
		e := s.admit(r)
		if e == nil {
			e = ask(r.game)
		}
		if e == nil {
			return
		}
		if e.Code == NoGame || e.Code == RateLimited {
			r.game = "" // an invented id must not make a log line of its own
		}
		s.refuse(r, e)
	})
}

// request is a message on its way to the code that answers it.
type request struct {
	From
	msg    *nats.Msg
	game   GameID // "" for verbs
	action Action
	verb   Verb
}

// subscribe hears a subject.
func (s *Server) subscribe(subject, queue string, f func(request)) (stop func(), err error) {
	sub, err := s.nc.QueueSubscribe(subject, queue, func(msg *nats.Msg) {
		f(request{From: From{Arrived: time.Now()}, msg: msg})
	})
	if err != nil {
		return nil, fmt.Errorf("subscribe %s: %w", subject, err)
	}
	stop = func() { sub.Unsubscribe() } // fails only when the connection is gone, and the subscription with it
	if err := sub.SetPendingLimits(1<<16, 64<<20); err != nil {
		stop()
		return nil, fmt.Errorf("subscribe %s: %w", subject, err)
	}
	return stop, nil
}

// asked is a kind of request.
type asked[Req any] interface {
	*Req
	Checker
	RequestID() string
}

// read decodes a request that is admitted. Of one that is not sound it returns
// nothing, having refused it.
func read[Req any, P asked[Req]](s *Server, r request) (req *Req, id string) {
	e := s.admit(r)
	if e == nil {
		var m Req
		if m, e = Decode[Req, P](r.msg.Data, s.limits); e == nil {
			return &m, P(&m).RequestID()
		}
	}
	s.refuse(r, e)
	return nil, ""
}

// serve reads one request, has it answered, and sends the answer.
func serve[Req, Ans any, P asked[Req]](s *Server, r request, f func(From, Req) Ans, answer func(*Ans) *Answer) {
	if req, id := read[Req, P](s, r); req != nil {
		ans := f(r.From, *req)
		s.answer(r, id, answer(&ans), &ans)
	}
}

// answer completes an answer, of which a is the part that all have, and sends it.
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

// admit checks what the message itself does not say.
func (s *Server) admit(r request) *Error {
	if err := CheckID("player", r.Player); err != nil {
		return Refuse(Malformed, "player: want 1 to 32 of a-z 0-9 _ -")
	}
	if !replyable(r.msg.Reply) {
		return Refuse(BadReply, "the reply subject is no inbox")
	}
	if r.verb == VerbAlive { // must get through, and costs little
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[r.Player]
	if b == nil {
		if len(s.buckets) >= manyPlayers { // those that are full have nothing to remember
			maps.DeleteFunc(s.buckets, func(_ PlayerID, b *rate.Limiter) bool { return b.Tokens() >= float64(b.Burst()) })
		}
		b = rate.NewLimiter(rate.Limit(s.limits.PerSecond), 2*s.limits.PerSecond)
		s.buckets[r.Player] = b
	}
	if !b.Allow() {
		return Refuse(RateLimited, "over %d requests a second", s.limits.PerSecond)
	}
	return nil
}

// replyable tells an inbox from a subject that somebody wants us to write to:
// in one account, a request with the reply subject game.<id>.log would make
// the platform forge its own log. Requests from another account arrive with a
// reply subject that the server made (_R_).
func replyable(reply string) bool {
	return strings.HasPrefix(reply, "_R_.") || strings.HasPrefix(reply, "_INBOX.") || strings.HasPrefix(reply, "_INBOX_")
}

// refuse answers with a refusal, where there is somewhere safe to answer to.
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

// readableID is the request's id as far as it can be read; "" where not.
func readableID(data []byte, lim Limits) string {
	var h Header
	if bounded(data, lim) != nil || json.Unmarshal(data, &h) != nil || !idForm.MatchString(h.ID) {
		return ""
	}
	return h.ID
}

// note logs a refusal once per player, game, code and quiet time.
func (s *Server) note(r request, e *Error) {
	key := refusal{r.Player, r.game, e.Code}
	s.mu.Lock()
	last, seen := s.refusals[key]
	seen = seen && r.Arrived.Sub(last) < quiet
	if !seen {
		if len(s.refusals) >= manyPlayers { // names are free to invent where permissions are not set
			clear(s.refusals)
		}
		s.refusals[key] = r.Arrived
	}
	s.mu.Unlock()
	if seen {
		return
	}
	ev := s.log.Warn().Str("code", string(e.Code)).Str("why", e.Text).Str("player", fmt.Sprintf("%.32q", r.Player))
	if r.game != "" {
		ev = ev.Str("game", string(r.game))
	}
	ev.Msg("refused")
}

func (s *Server) respond(msg *nats.Msg, ans any) {
	data, err := json.Marshal(ans)
	if err == nil {
		err = msg.Respond(data)
	}
	if err != nil {
		s.log.Warn().Err(err).Str("subject", msg.Subject).Msg("answer not sent")
	}
}

// Offer asks a pool's queue group who takes the seat, and waits until the
// offer's deadline. An error that wraps nats.ErrNoResponders means that no
// instance is free; any other, that the one asked did not answer in time.
//
// In a pool that several players share, an answer shows who sent it by its
// Secret only: believe an accept if it is that of the instance's hello, which
// no other player can have sent.
func (s *Server) Offer(ctx context.Context, pool Pool, o Offer) (OfferAnswer, error) {
	var none OfferAnswer
	if err := pool.Check(); err != nil {
		return none, err
	}
	o.Header = newHeader()
	data, err := json.Marshal(o)
	if err != nil {
		return none, err
	}
	ctx, cancel := context.WithDeadline(ctx, o.Deadline)
	defer cancel()
	msg, err := s.nc.RequestWithContext(ctx, s.subjects.Offer(pool), data)
	if err != nil {
		return none, fmt.Errorf("offer to %s: %w", pool, err)
	}
	ans, e := Decode[OfferAnswer](msg.Data, s.limits)
	switch {
	case e != nil:
		return none, fmt.Errorf("offer to %s: %w", pool, e)
	case ans.ID != o.ID:
		return none, fmt.Errorf("offer to %s: answered another offer", pool)
	case ans.Answer == Accept && o.Player != "" && ans.Player != o.Player:
		return none, fmt.Errorf("offer to %s: taken for another player", pool)
	}
	return ans, nil
}

// Tell sends a player the state of its game. A lost one is made good by the
// next, so that errors are only logged.
func (s *Server) Tell(p PlayerID, st State) {
	st.V, st.To, st.ServerTime = Version, s.subjects.ToGame(p, st.Game), time.Now().UTC()
	s.publish(st.To, st)
}

// Notify sends a player a notice.
func (s *Server) Notify(p PlayerID, n Notice) {
	n.V, n.To = Version, s.subjects.ToNotice(p)
	s.publish(n.To, n)
}

func (s *Server) publish(subject string, m any) {
	data, err := json.Marshal(m)
	if err == nil {
		err = s.nc.Publish(subject, data)
	}
	if err != nil {
		s.log.Warn().Err(err).Str("subject", subject).Msg("not sent")
	}
}
