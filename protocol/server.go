package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game"
)

// Server receives the requests of players for a platform. It refuses malformed
// ones and passes on the others. It is safe for concurrent use.
type Server struct {
	nc       *nats.Conn
	subjects Subjects
	limits   Limits
	people   PeopleKey
	log      zerolog.Logger

	// What players may send, for each kind of subscription.
	requests, observed, orphans *allowances
	dropped                     atomic.Int64 // messages beyond that

	mu       sync.Mutex
	refusals map[refusal]time.Time // when each was logged last
}

type refusal struct {
	player PlayerID
	game   GameID
	code   Code
}

// logInterval is the shortest time between two log lines about the same fault of
// the same sender, so that a flood of messages does not flood the log.
const logInterval = 10 * time.Second

// manyPlayers is the number of entries per player at which the old ones are
// removed.
const manyPlayers = 10000

// NewServer returns a server over a connection in the platform's account. People
// is the key of its gateways; with nil nobody can act for people.
func NewServer(nc *nats.Conn, subjects Subjects, limits Limits, people PeopleKey, log zerolog.Logger) *Server {
	return &Server{
		nc: nc, subjects: subjects, limits: limits, people: people, log: log,
		requests: newAllowances(limits), observed: newAllowances(limits), orphans: newAllowances(limits),
		refusals: make(map[refusal]time.Time),
	}
}

// Subjects returns the subjects of the server.
func (s *Server) Subjects() Subjects { return s.subjects }

// From is the origin of a request.
type From struct {
	Player  PlayerID // from the subject; the permissions in NATS vouch for it, of a person also the PeopleKey
	Arrived time.Time
}

// Verbs are the platform's handlers of requests outside a game. The server fills
// in the header, code and time of their answers. Challenge, Withdraw and Standings may
// take long: they are called concurrently.
type Verbs struct {
	Hello     func(From, Hello) HelloAnswer
	Alive     func(From, Alive) AliveAnswer
	Leave     func(From, Leave) Answer
	Challenge func(From, ChallengeRequest) ChallengeAnswer
	Withdraw  func(From, Withdraw) Answer
	Standings func(From, StandingsRequest) StandingsAnswer
}

// ServeVerbs answers requests outside a game until stop is called. Each request
// reaches one of the platform's processes.
func (s *Server) ServeVerbs(v Verbs) (stop func(), err error) {
	return s.subscribe(s.subjects.PlayAny(), ArenaQueue, func(r request) {
		var ok bool
		if r.Player, r.verb, ok = s.subjects.ParsePlay(r.msg.Subject); !ok || !s.allowed(s.requests, r) {
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
		case VerbStandings:
			go serve(s, r, v.Standings, func(a *StandingsAnswer) *Answer { return &a.Answer })
		default:
			s.refuse(r, Refuse(UnknownVerb, "want hello, alive, leave, challenge, withdraw or standings"))
		}
	})
}

// Observer is called for every valid hello, heartbeat and leave, including those
// that another process of the platform answers: every referee must know which
// instances are present. Its functions must not block, and may be nil.
type Observer struct {
	Hello func(From, Hello)
	Alive func(From, Alive)
	Leave func(From, Leave)
}

// Observe calls the observer until stop is called.
func (s *Server) Observe(o Observer) (stop func(), err error) {
	return s.subscribe(s.subjects.PlayAny(), "", func(r request) {
		player, verb, ok := s.subjects.ParsePlay(r.msg.Subject)
		if !ok || CheckID("player", player) != nil || !s.people.admits(player, r.msg) {
			return
		}
		r.Player = player
		switch verb {
		case VerbHello, VerbAlive, VerbLeave:
			if ok, _ := s.observed.take(player, verb, len(r.msg.Data), r.Arrived); !ok {
				return // the one who answers says so
			}
		}
		switch verb {
		case VerbHello:
			observe(s, r, o.Hello)
		case VerbAlive:
			observe(s, r, o.Alive)
		case VerbLeave:
			observe(s, r, o.Leave)
		}
	})
}

func observe[Req any, P interface {
	*Req
	Checker
}](s *Server, r request, f func(From, Req)) {
	if f == nil {
		return
	}
	if m, refused := Decode[Req, P](r.msg.Data, s.limits); refused == nil {
		f(r.From, m)
	}
}

// Dropped returns how many messages were dropped because their players had sent too
// much.
func (s *Server) Dropped() int64 { return s.dropped.Load() }

// allowed checks who sent a request, and takes it off the player's allowance. If
// that has run out, the request is refused, or dropped if there are too many
// refusals as well.
func (s *Server) allowed(a *allowances, r request) bool {
	payer, e := r.Player, s.admit(r)
	if e != nil {
		payer = "" // all whom nobody vouches for
	}
	ok, tell := a.take(payer, r.verb, len(r.msg.Data), r.Arrived)
	switch {
	case ok && e == nil:
		return true
	case ok:
		s.refuse(r, e)
		return false
	}
	s.dropped.Add(1)
	if tell {
		r.game = "" // it may be invented, and must not cause a log line of its own
		s.refuse(r, Refuse(RateLimited, "more requests, heartbeats or bytes per second than the limits allow"))
	}
	return false
}

// GameRequest is a player's request in a game. Of Move, Act and Chat, the one
// that belongs to the action is set.
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

// Answer sends the answer, unless its code is Unanswered. It fills in header,
// code and time.
func (r GameRequest) Answer(ans ActAnswer) { r.server.answer(r.raw, r.id, &ans.Answer, &ans) }

// ServeGame calls serve for each action of the players in one game until stop is
// called, those of one player one at a time. It does so in the goroutine that takes
// the time of arrival, so serve must pass the request on and return at once. Each
// player has a queue of its own, so that what one sends keeps nobody else waiting.
func (s *Server) ServeGame(g GameID, players []PlayerID, serve func(GameRequest)) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for _, p := range players {
		f, err := s.serveSeat(p, g, serve)
		if err != nil {
			stop()
			return nil, err
		}
		stops = append(stops, f)
	}
	return stop, nil
}

// serveSeat is ServeGame for one player.
func (s *Server) serveSeat(p PlayerID, g GameID, serve func(GameRequest)) (stop func(), err error) {
	return s.subscribe(s.subjects.ActAny(p, g), "", func(raw request) {
		var ok bool
		if raw.Player, raw.game, raw.action, ok = s.subjects.ParseAct(raw.msg.Subject); !ok || !s.allowed(s.requests, raw) {
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

// ServeOrphans answers actions that no referee answers, until stop is called: those
// in games without one, and those of players who have no seat. It receives every
// action in every game and calls served first, which must be fast and reports
// whether the game has a referee, and the player a seat there. Without a referee it
// calls ask for the refusal to send, or nil if a referee elsewhere will answer. Ask
// may be slow: it is called concurrently, and within the player's request rate only,
// since the ids may be invented.
func (s *Server) ServeOrphans(served func(GameID, PlayerID) (refereed, seated bool), ask func(GameID) *Error) (stop func(), err error) {
	return s.subscribe(s.subjects.ActOrphan(), ArenaQueue, func(r request) {
		var ok bool
		if r.Player, r.game, _, ok = s.subjects.ParseAct(r.msg.Subject); !ok {
			return
		}
		if CheckID("game", r.game) != nil {
			r.game = ""
		}
		refereed, seated := served(r.game, r.Player)
		if refereed && seated || !s.allowed(s.orphans, r) {
			return
		}
		if refereed {
			s.refuse(r, Refuse(Denied, "this player has no seat in this game"))
			return
		}
		go func() {
			e := ask(r.game)
			if e == nil {
				return
			}
			if e.Code == NoGame {
				r.game = "" // the id may be invented, and must not cause a log line of its own
			}
			s.refuse(r, e)
		}()
	})
}

// ErrOfferAnswer is wrapped by the errors of Offer when an instance answered, but not as the protocol
// has it. Other errors are of the connection, or say that nobody answered.
var ErrOfferAnswer = errors.New("malformed answer")

// Offer offers a seat to a pool's queue group and waits for the answer until the
// offer's deadline. It returns an error that wraps nats.ErrNoResponders if no
// instance is free, and other errors if the instance that got the offer did not
// answer properly in time.
//
// In a pool that several players share, only the Secret shows who sent the
// answer. Believe an accept only if the Secret is that of the instance's hello,
// which no other player knows.
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
		return none, fmt.Errorf("offer to %s: %w: %w", pool, ErrOfferAnswer, e)
	case ans.ID != o.ID:
		return none, fmt.Errorf("offer to %s: %w: to another offer", pool, ErrOfferAnswer)
	case ans.Answer == Accept && o.Player != "" && ans.Player != o.Player:
		return none, fmt.Errorf("offer to %s: %w: accepted for another player", pool, ErrOfferAnswer)
	}
	return ans, nil
}

// Tell sends a player the state of its game. Errors are only logged, since the
// next state makes up for a lost one.
func (s *Server) Tell(p PlayerID, st State) {
	s.tell(p, &st, st.body())
}

// TellBoth sends the players of a game, by seat, its state: first the one to move, whose
// time it is.
func (s *Server) TellBoth(players [2]PlayerID, st State) {
	body := st.body()
	for _, seat := range []game.Seat{st.Turn, st.Turn.Other()} {
		st.You = seat
		s.tell(players[seat], &st, body)
	}
}

// tell sends a state whose body is encoded.
func (s *Server) tell(p PlayerID, st *State, body []byte) {
	st.V, st.To, st.ServerTime = Version, s.subjects.ToGame(p, st.Game), time.Now().UTC()
	if err := s.nc.Publish(st.To, st.encode(body)); err != nil {
		s.unpublished(err, st.To)
	}
}

// Notify sends a player a notice.
func (s *Server) Notify(p PlayerID, n Notice) {
	n.V, n.To = Version, s.subjects.ToNotice(p)
	s.publish(n.To, n)
}

// unpublished logs why a message was not sent.
func (s *Server) unpublished(err error, subject string) {
	s.log.WithLevel(unsentLevel(s.nc)).Err(err).Str("subject", subject).Msg("could not publish")
}

// unsentLevel is the level at which to log that a message could not be sent. Without a
// connection none can be, those of each game and the answers to all that still waits to be
// read; that it is lost has been logged once.
func unsentLevel(nc *nats.Conn) zerolog.Level {
	if nc.IsConnected() {
		return zerolog.WarnLevel
	}
	return zerolog.DebugLevel
}

func (s *Server) publish(subject string, m any) {
	data, err := json.Marshal(m)
	if err == nil {
		err = s.nc.Publish(subject, data)
	}
	if err != nil {
		s.unpublished(err, subject)
	}
}
