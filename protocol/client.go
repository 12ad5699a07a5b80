package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// Client speaks for one player through one instance. It is safe for
// concurrent use. Every request is repeated, the same bytes, until it is
// answered or its context ends: the platform knows a repetition by its id.
type Client struct {
	nc       *nats.Conn
	subjects Subjects
	player   PlayerID
	instance InstanceID
	secret   string // see Hello
	log      zerolog.Logger

	mu    sync.Mutex
	heard map[string]time.Time // when each complaint was logged last
}

// Waits of a client.
const (
	firstTry   = 500 * time.Millisecond // for an answer, before the request is repeated; then doubled,
	longestTry = 4 * time.Second        // up to this
	pause      = 250 * time.Millisecond // between a refusal by nobody being there and the next try
)

// NewClient makes a client; the ids are checked.
func NewClient(nc *nats.Conn, subjects Subjects, player PlayerID, instance InstanceID, log zerolog.Logger) (*Client, error) {
	if err := errors.Join(CheckID("player", player), CheckID("instance", instance)); err != nil {
		return nil, err
	}
	return &Client{
		nc: nc, subjects: subjects, player: player, instance: instance, secret: NewID(),
		log:   log.With().Str("player", string(player)).Logger(),
		heard: make(map[string]time.Time),
	}, nil
}

// For is a client for another player of the same process. It is the same
// instance, secret included, so that one of them can accept an offer for all.
func (c *Client) For(player PlayerID, log zerolog.Logger) (*Client, error) {
	other, err := NewClient(c.nc, c.subjects, player, c.instance, log)
	if err == nil {
		other.secret = c.secret
	}
	return other, err
}

// complain logs what is wrong with what the platform sent, once per quiet
// time: a platform gone mad must not fill the disk.
func (c *Client) complain(what, subject string, err error) {
	c.mu.Lock()
	now := time.Now()
	seen := now.Sub(c.heard[what]) < quiet
	if !seen {
		c.heard[what] = now
	}
	c.mu.Unlock()
	if !seen {
		c.log.Warn().Err(err).Str("subject", subject).Msg(what)
	}
}

// Instance is the process that the client speaks from.
func (c *Client) Instance() InstanceID { return c.instance }

// ask sends a request until it is answered. Refusals come back as *Error, in
// the answer too; ctx's end as its cause.
func ask[Ans any](ctx context.Context, c *Client, subject, id string, req any, answer func(*Ans) *Answer) (Ans, error) {
	var none Ans
	data, err := json.Marshal(req)
	if err != nil {
		return none, err
	}
	var why error // the last try ended that had its time
	for wait := firstTry; ; wait = min(2*wait, longestTry) {
		try, cancel := context.WithTimeout(ctx, wait)
		msg, err := c.nc.RequestWithContext(try, subject, data)
		cancel()
		if err == nil {
			var ans Ans
			err = json.Unmarshal(msg.Data, &ans)
			if a := answer(&ans); err == nil && a.answers(id) {
				if a.Error != nil {
					return ans, a.Error
				}
				return ans, nil
			}
			c.complain("an answer that is none; asking again", subject, err)
		}
		if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrConnectionDraining) {
			return none, err
		}
		if why == nil || ctx.Err() == nil {
			why = err // one that was cut short says nothing
		}
		if ctx.Err() != nil {
			return none, fmt.Errorf("%s: %w", subject, errors.Join(context.Cause(ctx), why))
		}
		// Nobody there (a platform that starts again), or a lost message.
		select {
		case <-ctx.Done():
			return none, fmt.Errorf("%s: %w", subject, errors.Join(context.Cause(ctx), why))
		case <-time.After(pause):
		}
	}
}

// Hello announces the instance. Header, Instance and Secret are filled in.
func (c *Client) Hello(ctx context.Context, m Hello) (HelloAnswer, error) {
	m.Header, m.Instance, m.Secret = newHeader(), c.instance, c.secret
	return ask(ctx, c, c.subjects.Play(c.player, VerbHello), m.ID, m, func(a *HelloAnswer) *Answer { return &a.Answer })
}

// Alive sends a heartbeat.
func (c *Client) Alive(ctx context.Context, free int, games []GameID) (AliveAnswer, error) {
	m := Alive{Header: newHeader(), Instance: c.instance, Free: free, Games: games}
	return ask(ctx, c, c.subjects.Play(c.player, VerbAlive), m.ID, m, func(a *AliveAnswer) *Answer { return &a.Answer })
}

// Leave gives seats back: those of the games, or all.
func (c *Client) Leave(ctx context.Context, games ...GameID) (Answer, error) {
	m := Leave{Header: newHeader(), Instance: c.instance, Games: games}
	return ask(ctx, c, c.subjects.Play(c.player, VerbLeave), m.ID, m, func(a *Answer) *Answer { return a })
}

// Challenge asks for a match. Header and Instance are filled in.
func (c *Client) Challenge(ctx context.Context, m ChallengeRequest) (ChallengeAnswer, error) {
	m.Header, m.Instance = newHeader(), c.instance
	return ask(ctx, c, c.subjects.Play(c.player, VerbChallenge), m.ID, m, func(a *ChallengeAnswer) *Answer { return &a.Answer })
}

// Withdraw takes a challenge back.
func (c *Client) Withdraw(ctx context.Context, g GameID) (Answer, error) {
	m := Withdraw{Header: newHeader(), Game: g}
	return ask(ctx, c, c.subjects.Play(c.player, VerbWithdraw), m.ID, m, func(a *Answer) *Answer { return a })
}

func act(a *ActAnswer) *Answer { return &a.Answer }

// Move plays a move. Key may be "".
func (c *Client) Move(ctx context.Context, g GameID, epoch uint64, ply int, move, key string) (ActAnswer, error) {
	m := MoveRequest{Header: newHeader(), Instance: c.instance, Epoch: epoch, Ply: ply, Move: move, Key: key}
	return ask(ctx, c, c.subjects.Act(c.player, g, ActMove), m.ID, m, act)
}

// Resign gives the game up.
func (c *Client) Resign(ctx context.Context, g GameID, epoch uint64, ply int) (ActAnswer, error) {
	m := ActRequest{Header: newHeader(), Instance: c.instance, Epoch: epoch, Ply: ply}
	return ask(ctx, c, c.subjects.Act(c.player, g, ActResign), m.ID, m, act)
}

// Draw offers a draw, or answers an offer.
func (c *Client) Draw(ctx context.Context, g GameID, epoch uint64, ply int, step Step) (ActAnswer, error) {
	m := ActRequest{Header: newHeader(), Instance: c.instance, Epoch: epoch, Ply: ply, Step: step}
	return ask(ctx, c, c.subjects.Act(c.player, g, ActDraw), m.ID, m, act)
}

// Takeback asks to take the last own move back, or answers the request.
func (c *Client) Takeback(ctx context.Context, g GameID, epoch uint64, ply int, step Step) (ActAnswer, error) {
	m := ActRequest{Header: newHeader(), Instance: c.instance, Epoch: epoch, Ply: ply, Step: step}
	return ask(ctx, c, c.subjects.Act(c.player, g, ActTakeback), m.ID, m, act)
}

// Chat says something to the other side.
func (c *Client) Chat(ctx context.Context, g GameID, epoch uint64, text string) (ActAnswer, error) {
	m := ChatRequest{Header: newHeader(), Instance: c.instance, Epoch: epoch, Text: text}
	return ask(ctx, c, c.subjects.Act(c.player, g, ActChat), m.ID, m, act)
}

// Offers joins a pool's match queue: take is called for each offer that this
// instance is picked for, one at a time, and must not block for long. It may
// accept for any player of the process (see For). Leave the queue by
// unsubscribing.
func (c *Client) Offers(pool Pool, take func(Offer) OfferAnswer) (*nats.Subscription, error) {
	if err := pool.Check(); err != nil {
		return nil, err
	}
	return c.nc.QueueSubscribe(c.subjects.Offer(pool), BotsQueue, func(msg *nats.Msg) {
		offer, refusal := Decode[Offer](msg.Data, fromPlatform)
		if refusal != nil {
			c.complain("an offer that is none", msg.Subject, refusal)
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
		c.log.Warn().Err(err).Str("subject", msg.Subject).Msg("answer not sent")
	}
}

// What the platform says is trusted further than what players say: a long
// game's state is large.
var fromPlatform = Limits{MessageBytes: 256 << 10, Nesting: 16}

// Game subscribes to the states of one game. Those of other games, without
// the form of a state, or older than one seen before, never reach f.
func (c *Client) Game(g GameID, f func(State)) (*nats.Subscription, error) {
	if err := CheckID("game", g); err != nil {
		return nil, err
	}
	var last uint64 // the subscription's callbacks come one at a time
	return c.nc.Subscribe(c.subjects.ToGame(c.player, g), func(msg *nats.Msg) {
		st, refusal := Decode[State](msg.Data, fromPlatform)
		if refusal != nil || st.Game != g || st.To != msg.Subject {
			c.complain("a state that is none", msg.Subject, errorOrNil(refusal))
			return
		}
		if st.Seq < last {
			return
		}
		last = st.Seq
		f(st)
	})
}

// Notices subscribes to all that concerns no single game.
func (c *Client) Notices(f func(Notice)) (*nats.Subscription, error) {
	return c.nc.Subscribe(c.subjects.ToNotice(c.player), func(msg *nats.Msg) {
		n, refusal := Decode[Notice](msg.Data, fromPlatform)
		if refusal != nil || n.To != msg.Subject {
			c.complain("a notice that is none", msg.Subject, errorOrNil(refusal))
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
