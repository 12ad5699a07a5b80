package protocol

import (
	"context"
	"encoding/json"
	"fmt"
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
	code   Code
}

// quiet is how long the same refusal of the same player is not logged again:
// a flood must not become a flood of log lines.
const quiet = 10 * time.Second

// NewServer makes a server over a connection of the platform's account.
func NewServer(nc *nats.Conn, subjects Subjects, limits Limits, log zerolog.Logger) *Server {
	return &Server{
		nc: nc, subjects: subjects, limits: limits, log: log,
		buckets:  make(map[PlayerID]*rate.Limiter),
		refusals: make(map[refusal]time.Time),
	}
}

// Limits are those that the server holds requests to.
func (s *Server) Limits() Limits { return s.limits }

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
	return s.subscribe(map[string]nats.MsgHandler{
		s.subjects.PlayAny("*"): func(msg *nats.Msg) {
			player, verb, ok := s.subjects.ParsePlay(msg.Subject)
			if !ok {
				return
			}
			from := From{player, time.Now()}
			switch verb {
			case VerbHello:
				serve(s, msg, from, true, v.Hello, func(a *HelloAnswer) *Answer { return &a.Answer })
			case VerbAlive:
				serve(s, msg, from, false, v.Alive, func(a *AliveAnswer) *Answer { return &a.Answer })
			case VerbLeave:
				serve(s, msg, from, true, v.Leave, func(a *Answer) *Answer { return a })
			case VerbChallenge:
				go serve(s, msg, from, true, v.Challenge, func(a *ChallengeAnswer) *Answer { return &a.Answer })
			case VerbWithdraw:
				go serve(s, msg, from, true, v.Withdraw, func(a *Answer) *Answer { return a })
			default:
				s.refuse(msg, from, "", Refuse(UnknownVerb, "want hello, alive, leave, challenge or withdraw"))
			}
		},
	}, ArenaQueue)
}

// ObserveAlive calls f for every heartbeat, also those that another process
// of the platform answers: a referee needs to know its players' pulse.
func (s *Server) ObserveAlive(f func(From, Alive)) (stop func(), err error) {
	return s.subscribe(map[string]nats.MsgHandler{
		s.subjects.PlayAny(VerbAlive): func(msg *nats.Msg) {
			player, _, ok := s.subjects.ParsePlay(msg.Subject)
			if m, refused := Decode[Alive](msg.Data, s.limits); ok && refused == nil {
				f(From{player, time.Now()}, m)
			}
		},
	}, "")
}

// ObserveHello calls f for every hello, also those that another process of
// the platform answers: all of them must know who is present.
func (s *Server) ObserveHello(f func(From, Hello)) (stop func(), err error) {
	return s.subscribe(map[string]nats.MsgHandler{
		s.subjects.PlayAny(VerbHello): func(msg *nats.Msg) {
			player, _, ok := s.subjects.ParsePlay(msg.Subject)
			if m, refused := Decode[Hello](msg.Data, s.limits); ok && refused == nil && CheckID("player", player) == nil {
				f(From{player, time.Now()}, m)
			}
		},
	}, "")
}

// ObserveLeave calls f for every leave, as ObserveHello does for hellos.
func (s *Server) ObserveLeave(f func(From, Leave)) (stop func(), err error) {
	return s.subscribe(map[string]nats.MsgHandler{
		s.subjects.PlayAny(VerbLeave): func(msg *nats.Msg) {
			player, _, ok := s.subjects.ParsePlay(msg.Subject)
			if m, refused := Decode[Leave](msg.Data, s.limits); ok && refused == nil && CheckID("player", player) == nil {
				f(From{player, time.Now()}, m)
			}
		},
	}, "")
}

// Acts are a referee's answers to what players do in its game.
type Acts struct {
	Move func(From, MoveRequest) ActAnswer
	// Act hears resign, draw and takeback.
	Act  func(From, Action, ActRequest) ActAnswer
	Chat func(From, ChatRequest) ActAnswer
}

// ServeGame answers the actions in one game. They come one at a time.
func (s *Server) ServeGame(g GameID, acts Acts) (stop func(), err error) {
	return s.subscribe(map[string]nats.MsgHandler{
		s.subjects.ActAny(g): func(msg *nats.Msg) {
			player, _, action, ok := s.subjects.ParseAct(msg.Subject)
			if !ok {
				return
			}
			from := From{player, time.Now()}
			reply := func(a *ActAnswer) *Answer { return &a.Answer }
			switch action {
			case ActMove:
				serve(s, msg, from, true, acts.Move, reply)
			case ActResign, ActDraw, ActTakeback:
				serve(s, msg, from, true, func(f From, m ActRequest) ActAnswer { return acts.Act(f, action, m) }, reply)
			case ActChat:
				serve(s, msg, from, true, acts.Chat, reply)
			default:
				s.refuse(msg, from, g, Refuse(UnknownVerb, "want move, resign, draw, takeback or chat"))
			}
		},
	}, "")
}

// ServeOrphans answers actions in games that no referee of this platform
// serves. Ask says what to answer, nil for nothing because a referee
// elsewhere will.
func (s *Server) ServeOrphans(ask func(GameID) *Error) (stop func(), err error) {
	return s.subscribe(map[string]nats.MsgHandler{
		s.subjects.ActOrphan(): func(msg *nats.Msg) {
			player, g, _, ok := s.subjects.ParseAct(msg.Subject)
			if !ok {
				return
			}
			if CheckID("game", g) != nil {
				g = ""
			}
			if e := ask(g); e != nil {
				s.refuse(msg, From{player, time.Now()}, g, e)
			}
		},
	}, ArenaQueue)
}

func (s *Server) subscribe(handlers map[string]nats.MsgHandler, queue string) (func(), error) {
	var subs []*nats.Subscription
	stop := func() {
		for _, sub := range subs {
			sub.Unsubscribe() // fails only when the connection is gone, and the subscription with it
		}
	}
	for subject, f := range handlers {
		sub, err := s.nc.QueueSubscribe(subject, queue, f)
		if err != nil {
			stop()
			return nil, fmt.Errorf("subscribe %s: %w", subject, err)
		}
		subs = append(subs, sub)
		if err := sub.SetPendingLimits(1<<16, 64<<20); err != nil {
			stop()
			return nil, fmt.Errorf("subscribe %s: %w", subject, err)
		}
	}
	return stop, nil
}

// serve decodes one request, has it answered, and sends the answer.
func serve[Req, Ans any, P interface {
	*Req
	Checker
}](s *Server, msg *nats.Msg, from From, limited bool, f func(From, Req) Ans, answer func(*Ans) *Answer) {
	if e := s.admit(msg, from, limited); e != nil {
		s.refuse(msg, from, "", e)
		return
	}
	req, e := Decode[Req, P](msg.Data, s.limits)
	if e != nil {
		s.refuse(msg, from, "", e)
		return
	}
	ans := f(from, req)
	a := answer(&ans)
	if a.Code == Unanswered {
		return
	}
	a.Header = Header{V: Version, ID: requestID(msg.Data)}
	a.ServerTime = time.Now().UTC()
	switch {
	case a.Error != nil:
		a.Code = a.Error.Code
		s.note(from, "", a.Error)
	case a.Code == "":
		a.Code = Accepted
	}
	s.respond(msg, ans)
}

// admit checks what the message itself does not say.
func (s *Server) admit(msg *nats.Msg, from From, limited bool) *Error {
	if err := CheckID("player", from.Player); err != nil {
		return Refuse(Malformed, "player: want 1 to 32 of a-z 0-9 _ -")
	}
	if !replyable(msg.Reply) {
		return Refuse(BadReply, "the reply subject is no inbox")
	}
	if !limited {
		return nil
	}
	s.mu.Lock()
	b := s.buckets[from.Player]
	if b == nil {
		b = rate.NewLimiter(rate.Limit(s.limits.PerSecond), 2*s.limits.PerSecond)
		s.buckets[from.Player] = b
	}
	s.mu.Unlock()
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

// requestID is the request's id as far as it can be read; "" where not.
func requestID(data []byte) string {
	var head Header
	if json.Unmarshal(data, &head) != nil || !idForm.MatchString(head.ID) {
		return ""
	}
	return head.ID
}

// refuse answers with a refusal, where there is somewhere safe to answer to.
func (s *Server) refuse(msg *nats.Msg, from From, g GameID, e *Error) {
	s.note(from, g, e)
	if !replyable(msg.Reply) {
		return
	}
	id := ""
	if len(msg.Data) <= s.limits.MessageBytes && e.Code != TooLarge {
		id = requestID(msg.Data)
	}
	s.respond(msg, Answer{Header: Header{V: Version, ID: id}, Code: e.Code, Error: e, ServerTime: time.Now().UTC()})
}

// note logs a refusal once per player, code and quiet time.
func (s *Server) note(from From, g GameID, e *Error) {
	s.mu.Lock()
	key := refusal{from.Player, e.Code}
	seen := from.Arrived.Sub(s.refusals[key]) < quiet
	if !seen {
		if len(s.refusals) > 10000 { // names are free to invent where permissions are not set
			clear(s.refusals)
		}
		s.refusals[key] = from.Arrived
	}
	s.mu.Unlock()
	if seen {
		return
	}
	ev := s.log.Warn().Str("code", string(e.Code)).Str("why", e.Text).Str("player", fmt.Sprintf("%.32q", from.Player))
	if g != "" {
		ev = ev.Str("game", string(g))
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
func (s *Server) Offer(ctx context.Context, pool Pool, o Offer) (OfferAnswer, error) {
	var none OfferAnswer
	if err := pool.Check(); err != nil {
		return none, err
	}
	o.Header = head()
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
	st.V, st.ServerTime = Version, time.Now().UTC()
	s.publish(s.subjects.ToGame(p, st.Game), st)
}

// Notify sends a player a notice.
func (s *Server) Notify(p PlayerID, n Notice) {
	n.V = Version
	s.publish(s.subjects.ToNotice(p), n)
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
