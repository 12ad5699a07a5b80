package protocol

import (
	"cmp"
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

// Client sends the requests of one player from one instance. It is safe for
// concurrent use. A request is sent again, with the same bytes, until it is
// answered or its context ends. The platform recognizes the repetition by its id.
type Client struct {
	nc       *nats.Conn
	subjects Subjects
	player   PlayerID
	instance InstanceID
	secret   string      // see Hello
	header   nats.Header // of each request; nil for players other than people
	receiver *Receiver   // nil: the subscriptions have goroutines of their own
	states   *Receiver   // of the states of games; nil: receiver
	log      zerolog.Logger

	watch atomic.Bool // the platform's last answer to a hello said Watch

	firstWait time.Duration // for the answer to a first try, of a test; 0: firstTry

	mu     sync.Mutex
	warned map[string]time.Time     // when each warning was logged last
	tries  map[GameID]map[*try]bool // those in a game that wait for an answer
}

// Timeouts of a client.
const (
	firstTry   = 500 * time.Millisecond // until a request is first repeated; doubled with each try that is not answered
	longestTry = 4 * time.Second        // the limit of that doubling
	// The limit in a cluster, where a part of it loses what was sent to it: the answer may
	// be at hand as soon as either side has gone to another server.
	longestInCluster = time.Second
	pause            = 250 * time.Millisecond // between a failed try and the next
	maxDoubts        = 4                      // refusals for the limits after a try that was lost
)

// NewClient returns a client for a player. It returns an error if an id is
// malformed.
func NewClient(nc *nats.Conn, subjects Subjects, player PlayerID, instance InstanceID, log zerolog.Logger) (*Client, error) {
	if err := errors.Join(CheckID("player", player), CheckID("instance", instance)); err != nil {
		return nil, err
	}
	return &Client{
		nc: nc, subjects: subjects, player: player, instance: instance, secret: NewID(),
		log:    log.With().Str("player", string(player)).Logger(),
		warned: make(map[string]time.Time),
		tries:  make(map[GameID]map[*try]bool),
	}, nil
}

// NewPersonClient returns a client for a person, on a connection of the platform's
// account. Key is the platform's. Several gateways may act for a person with the
// same instance: they share its secret, so that the seats stay with the person
// whichever of them it is connected to.
func NewPersonClient(nc *nats.Conn, subjects Subjects, key PeopleKey, player PlayerID, instance InstanceID, log zerolog.Logger) (*Client, error) {
	if !player.Person() {
		return nil, fmt.Errorf("player %.40q: the id of a person begins with %s", player, PeoplePrefix)
	}
	if err := key.Check(); err != nil {
		return nil, err
	}
	c, err := NewClient(nc, subjects, player, instance, log)
	if err == nil {
		c.header, c.secret = key.Header(player), key.secret(player)
	}
	return c, err
}

// ReceiveBy makes a receiver call the handlers of the client's later
// subscriptions. Call it before them.
func (c *Client) ReceiveBy(r *Receiver) { c.receiver = r }

// ReceiveStatesBy makes a receiver call the handlers of later subscriptions to games, and
// of those of the clients that For returns later. Handlers of offers keep goroutines of
// their own, and may wait. Call it before any of them.
func (c *Client) ReceiveStatesBy(r *Receiver) { c.states = r }

func (c *Client) subscribe(subject, queue string, f nats.MsgHandler) (*nats.Subscription, error) {
	if c.receiver != nil {
		return c.receiver.subscribe(subject, queue, f)
	}
	return c.nc.QueueSubscribe(subject, queue, f)
}

// subscribeStates is subscribe for the states of a game.
func (c *Client) subscribeStates(subject string, f nats.MsgHandler) (*nats.Subscription, error) {
	if c.states != nil {
		return c.states.subscribe(subject, "", f)
	}
	return c.subscribe(subject, "", f)
}

// For returns a client for another player of the same process. Both share the
// instance and its secret, so that each can accept an offer for the other.
func (c *Client) For(player PlayerID, log zerolog.Logger) (*Client, error) {
	other, err := NewClient(c.nc, c.subjects, player, c.instance, log)
	if err == nil {
		other.secret, other.states = c.secret, c.states
	}
	return other, err
}

// WithConn returns a client for the same player and instance on another connection.
func (c *Client) WithConn(nc *nats.Conn) *Client {
	return &Client{
		nc: nc, subjects: c.subjects, player: c.player, instance: c.instance, secret: c.secret, header: c.header,
		log: c.log, warned: make(map[string]time.Time), tries: make(map[GameID]map[*try]bool),
	}
}

// warn logs a fault in what the platform sent, at most once per logInterval, so
// that a faulty platform can't fill the disk.
func (c *Client) warn(what, subject string, err error) {
	c.mu.Lock()
	now := time.Now()
	seen := now.Sub(c.warned[what]) < logInterval
	if !seen {
		c.warned[what] = now
	}
	c.mu.Unlock()
	if !seen {
		c.log.Warn().Err(err).Str("subject", subject).Msg(what)
	}
}

// Instance returns the id of the process that the client belongs to.
func (c *Client) Instance() InstanceID { return c.instance }

// ask sends a request until it is answered. It returns a refusal as an *Error,
// together with the answer, and the cause of ctx when that ends.
func ask[Ans any](ctx context.Context, c *Client, subject, id string, req any, answer func(*Ans) *Answer) (Ans, error) {
	return askIn(ctx, c, "", subject, id, req, answer)
}

// askIn is ask in a game, a state of which shows that the platform is there: the try that
// may have been lost with a referee is not waited for any longer.
func askIn[Ans any](ctx context.Context, c *Client, g GameID, subject, id string, req any, answer func(*Ans) *Answer) (Ans, error) {
	var none Ans
	data, err := encode(req)
	if err != nil {
		return none, err
	}
	var why error // why the last complete try failed
	doubts := 0   // how many refusals are not believed
	longest := longestTry
	if CanFailOver(c.nc) {
		longest = longestInCluster
	}
	first := cmp.Or(c.firstWait, firstTry)
	for wait := first; ; {
		msg, err := c.request(ctx, g, wait, &nats.Msg{Subject: subject, Data: data, Header: c.header})
		if err == nil {
			var ans Ans
			err = unmarshal(msg.Data, &ans)
			if a := answer(&ans); err == nil && a.answers(id) {
				switch {
				case a.Error == nil:
					return ans, nil
				case a.Error.Code != RateLimited || doubts == 0:
					return ans, a.Error
				}
				// The tries of a hung platform arrive at once. The first may have been accepted,
				// and the last exceeded the limits; once more, it gets the answer of the first.
				doubts--
				err = a.Error
			} else {
				c.warn("malformed answer; retrying", subject, err)
			}
		}
		overtaken := errors.Is(err, errOvertaken)
		if overtaken || errors.Is(err, context.DeadlineExceeded) {
			doubts = maxDoubts
		}
		if overtaken {
			wait = first
			continue
		}
		// Going to another server ends a request with the error of a closed connection, too.
		if c.nc.IsClosed() || errors.Is(err, nats.ErrConnectionDraining) {
			return none, err
		}
		if why == nil || ctx.Err() == nil {
			why = err // a try that ctx interrupted tells nothing
		}
		if ctx.Err() != nil {
			return none, fmt.Errorf("%s: %w", subject, errors.Join(context.Cause(ctx), why))
		}
		// The platform is not there, perhaps because it restarts, or a message was lost.
		wait = nextTry(wait, longest, err)
		select {
		case <-ctx.Done():
			return none, fmt.Errorf("%s: %w", subject, errors.Join(context.Cause(ctx), why))
		case <-time.After(pause):
		}
	}
}

// nextTry is how long to wait for the answer to the next try, after one that waited so
// long and failed. Only a platform that is slow is given more time. Where nobody
// listened there was nothing to wait for, and once somebody does, a try that is lost
// must not cost seconds of a clock.
func nextTry(wait, longest time.Duration, err error) time.Duration {
	if errors.Is(err, context.DeadlineExceeded) {
		return min(2*wait, longest)
	}
	return wait
}

// try is a request that waits for its answer.
type try struct {
	began time.Time
	end   context.CancelFunc
}

// errOvertaken is returned by request when a state of the game has come before the answer.
var errOvertaken = errors.New("a state came first")

// overtake ends the tries in a game: a state has come, and their answers have not. Each is
// given as long as a first one in any case.
func (c *Client) overtake(g GameID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t := range c.tries[g] {
		if rest := firstTry - time.Since(t.began); rest > 0 {
			time.AfterFunc(rest, t.end)
		} else {
			t.end()
		}
	}
}

// trying enters a try in a game until done is called.
func (c *Client) trying(g GameID, end context.CancelFunc) (done func()) {
	t := &try{time.Now(), end}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tries[g] == nil {
		c.tries[g] = make(map[*try]bool)
	}
	c.tries[g][t] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.tries[g], t); len(c.tries[g]) == 0 {
			delete(c.tries, g)
		}
	}
}

// request sends one request and waits for the answer; g is its game, or "". Without a
// connection it returns at once: the library would keep what it needs for the answer for
// ever.
func (c *Client) request(ctx context.Context, g GameID, wait time.Duration, m *nats.Msg) (*nats.Msg, error) {
	switch {
	case c.nc.IsClosed():
		return nil, nats.ErrConnectionClosed
	case c.nc.IsDraining():
		return nil, nats.ErrConnectionDraining
	case !c.nc.IsConnected():
		return nil, nats.ErrConnectionReconnecting
	}
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if g != "" {
		defer c.trying(g, cancel)()
	}
	msg, err := c.nc.RequestMsgWithContext(within, m)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = errOvertaken
	}
	return msg, err
}

// Hello announces the instance. It fills in Header, Instance and Secret.
func (c *Client) Hello(ctx context.Context, m Hello) (HelloAnswer, error) {
	m.Header, m.Instance, m.Secret = newHeader(), c.instance, c.secret
	ans, err := ask(ctx, c, c.subjects.Play(c.player, VerbHello), m.ID, m, func(a *HelloAnswer) *Answer { return &a.Answer })
	if err == nil {
		c.watch.Store(ans.Watch)
	}
	return ans, err
}

// Alive sends a heartbeat. It fills in Header, Instance and Secret. Refused as Denied, it
// means that another process acts as this instance.
func (c *Client) Alive(ctx context.Context, m Alive) (AliveAnswer, error) {
	m.Header, m.Instance, m.Secret = newHeader(), c.instance, c.secret
	return ask(ctx, c, c.subjects.Play(c.player, VerbAlive), m.ID, m, func(a *AliveAnswer) *Answer { return &a.Answer })
}

// Leave gives back the seats in the games, or all seats without games. Refused as Denied,
// it means what it means for Alive: they are another process's.
func (c *Client) Leave(ctx context.Context, games ...GameID) (Answer, error) {
	m := Leave{Header: newHeader(), Instance: c.instance, Games: games, Secret: c.secret}
	return ask(ctx, c, c.subjects.Play(c.player, VerbLeave), m.ID, m, func(a *Answer) *Answer { return a })
}

// fill completes the header of a request, whose id the caller may have chosen.
func (h *Header) fill() {
	h.V = Version
	if h.ID == "" {
		h.ID = NewID()
	}
}

// The requests below may have an id that the caller chose. A request that is sent
// again with the same id takes effect once.

// Challenge asks for a match. It fills in Instance, and an id if there is none.
func (c *Client) Challenge(ctx context.Context, m ChallengeRequest) (ChallengeAnswer, error) {
	m.fill()
	m.Instance = c.instance
	return ask(ctx, c, c.subjects.Play(c.player, VerbChallenge), m.ID, m, func(a *ChallengeAnswer) *Answer { return &a.Answer })
}

// Withdraw takes back a challenge.
func (c *Client) Withdraw(ctx context.Context, g GameID) (Answer, error) {
	m := Withdraw{Header: newHeader(), Game: g}
	return ask(ctx, c, c.subjects.Play(c.player, VerbWithdraw), m.ID, m, func(a *Answer) *Answer { return a })
}

// Standings asks for the ladder of a game.
func (c *Client) Standings(ctx context.Context, gameName string) (StandingsAnswer, error) {
	m := StandingsRequest{Header: newHeader(), Game: gameName}
	return ask(ctx, c, c.subjects.Play(c.player, VerbStandings), m.ID, m, func(a *StandingsAnswer) *Answer { return &a.Answer })
}

func act(a *ActAnswer) *Answer { return &a.Answer }

// SendMove plays a move. It fills in Instance, and an id if there is none.
func (c *Client) SendMove(ctx context.Context, g GameID, m MoveRequest) (ActAnswer, error) {
	m.fill()
	m.Instance = c.instance
	return askIn(ctx, c, g, c.subjects.Act(c.player, g, ActMove), m.ID, &m, act)
}

// SendAct resigns, or offers or answers a draw or a takeback. It fills in
// Instance, and an id if there is none.
func (c *Client) SendAct(ctx context.Context, g GameID, a Action, m ActRequest) (ActAnswer, error) {
	m.fill()
	m.Instance = c.instance
	return askIn(ctx, c, g, c.subjects.Act(c.player, g, a), m.ID, m, act)
}

// SendChat sends a text to the opponent. It fills in Instance, and an id if there
// is none.
func (c *Client) SendChat(ctx context.Context, g GameID, m ChatRequest) (ActAnswer, error) {
	m.fill()
	m.Instance = c.instance
	return askIn(ctx, c, g, c.subjects.Act(c.player, g, ActChat), m.ID, m, act)
}

// Move plays a move. Key is the position key after it, or "" to leave the check
// out.
func (c *Client) Move(ctx context.Context, g GameID, epoch uint64, ply int, move, key string) (ActAnswer, error) {
	return c.SendMove(ctx, g, MoveRequest{Epoch: epoch, Ply: ply, Move: move, Key: key})
}

// Resign resigns the game.
func (c *Client) Resign(ctx context.Context, g GameID, epoch uint64, ply int) (ActAnswer, error) {
	return c.ResignFor(ctx, g, epoch, ply, "")
}

// ResignFor resigns the game because the player's engine failed, see ActRequest.Fault;
// with "" it is Resign.
func (c *Client) ResignFor(ctx context.Context, g GameID, epoch uint64, ply int, fault game.Reason) (ActAnswer, error) {
	return c.SendAct(ctx, g, ActResign, ActRequest{Epoch: epoch, Ply: ply, Fault: fault})
}

// Draw offers a draw, or answers an offer.
func (c *Client) Draw(ctx context.Context, g GameID, epoch uint64, ply int, step Step) (ActAnswer, error) {
	return c.SendAct(ctx, g, ActDraw, ActRequest{Epoch: epoch, Ply: ply, Step: step})
}

// Takeback asks to take back the player's last decision, or answers such a
// request.
func (c *Client) Takeback(ctx context.Context, g GameID, epoch uint64, ply int, step Step) (ActAnswer, error) {
	return c.SendAct(ctx, g, ActTakeback, ActRequest{Epoch: epoch, Ply: ply, Step: step})
}

// Chat sends a text to the opponent.
func (c *Client) Chat(ctx context.Context, g GameID, epoch uint64, text string) (ActAnswer, error) {
	return c.SendChat(ctx, g, ChatRequest{Epoch: epoch, Text: text})
}

// Offers joins the match queue of a pool. It calls take for each offer that
// reaches this instance, one at a time, so take must not block for long. It may
// accept for any player of the process (see For). Unsubscribe to leave the queue.
func (c *Client) Offers(pool Pool, take func(Offer) OfferAnswer) (*nats.Subscription, error) {
	if err := pool.Check(); err != nil {
		return nil, err
	}
	return c.subscribe(c.subjects.Offer(pool), BotsQueue, func(msg *nats.Msg) {
		offer, refusal := Decode[Offer](msg.Data, fromPlatform)
		if refusal != nil {
			c.warn("invalid offer ignored", msg.Subject, refusal)
			return
		}
		ans := take(offer)
		ans.Header, ans.Instance, ans.Secret = offer.Header, c.instance, c.secret
		c.respond(msg, ans)
	})
}

func (c *Client) respond(msg *nats.Msg, ans any) {
	data, err := json.Marshal(ans)
	if err == nil {
		err = msg.Respond(data)
	}
	if err != nil {
		c.log.WithLevel(unsentLevel(c.nc)).Err(err).Str("subject", msg.Subject).Msg("could not send the answer")
	}
}

// fromPlatform is larger than what players may send: the state of a long game
// takes much space.
var fromPlatform = Limits{MessageBytes: 256 << 10, Nesting: 16}

// Game subscribes to the states of one game and calls f for each. It drops
// messages that are not valid states of this game, and states older than one
// already seen.
func (c *Client) Game(g GameID, f func(State)) (*nats.Subscription, error) {
	if err := CheckID("game", g); err != nil {
		return nil, err
	}
	var newest StateMark // needs no lock: a subscription's callbacks run one at a time
	return c.subscribeStates(c.subjects.ToGame(c.player, g), func(msg *nats.Msg) {
		st, refusal := Decode[State](msg.Data, fromPlatform)
		if refusal != nil || st.Game != g || st.To != msg.Subject {
			c.warn("invalid state ignored", msg.Subject, errorOrNil(refusal))
			return
		}
		if newest.Outdates(&st) {
			return
		}
		newest = st.Mark()
		c.overtake(g)
		f(st)
	})
}

// Notices subscribes to the player's notices and calls f for each valid one.
func (c *Client) Notices(f func(Notice)) (*nats.Subscription, error) {
	return c.subscribe(c.subjects.ToNotice(c.player), "", func(msg *nats.Msg) {
		n, refusal := Decode[Notice](msg.Data, fromPlatform)
		if refusal != nil || n.To != msg.Subject {
			c.warn("invalid notice ignored", msg.Subject, errorOrNil(refusal))
			return
		}
		f(n)
	})
}

func errorOrNil(e *Error) error {
	if e == nil {
		return nil
	}
	return e
}
