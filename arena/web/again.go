package web

import (
	"context"
	"errors"
	"slices"
	"time"

	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// continuations are the games that continue a finished one: a rematch with the
// seats swapped, and a game from before the last decision of a player.
type continuations struct {
	Rematch  *continuation `json:"rematch,omitempty"`
	Takeback *continuation `json:"takeback,omitempty"`
}

// continuation is an offer to continue, and what has become of it.
type continuation struct {
	By     game.Seat         `json:"by"` // whose offer is or was open, in the finished game
	Player protocol.PlayerID `json:"player,omitempty"`
	At     time.Time         `json:"at"`
	// Request is the id of the challenge once the offer is accepted, and Seat, again
	// in the finished game, is who sends it.
	Request string          `json:"request,omitempty"`
	Seat    game.Seat       `json:"seat"`
	Next    protocol.GameID `json:"next,omitempty"` // its game
	// Declined counts by seat the offers that were declined or withdrawn. If no other has
	// been made since, At is zero.
	Declined [2]int `json:"declined,omitzero"`
}

// maxDeclined is how many of somebody's offers of a kind may be declined or withdrawn
// after a finished game: then no other is shown to the opponent, who may still offer.
const maxDeclined = 2

// reasonDeclined is the reason of the refusal then.
const reasonDeclined = "declined"

// offerFor is how long an offer to continue is open.
const offerFor = 10 * time.Minute

// agreedFor is how long after an agreement its game may still begin: the request that sends
// the challenge ends, and then the challenge.
const agreedFor = requestWait + expectFor

// lapsed reports whether the game that was agreed on does not come: the gateway that sent
// the challenge died, or had no answer in time. Only Seat may still repeat it.
func (c *continuation) lapsed(seat game.Seat, now time.Time) bool {
	return c.Next == "" && c.Seat != seat && now.Sub(c.At) > agreedFor
}

// offered returns whose offer is open, nil if none is.
func (c *continuation) offered(now time.Time) *game.Seat {
	if c == nil || c.Request != "" || now.Sub(c.At) > offerFor {
		return nil
	}
	return &c.By
}

// open counts the open offers.
func (c continuations) open(now time.Time) (n int) {
	for _, x := range []*continuation{c.Rematch, c.Takeback} {
		if x.offered(now) != nil {
			n++
		}
	}
	return n
}

// next returns the latest game that continues a finished one.
func (c continuations) next() (g protocol.GameID) {
	var at time.Time
	for _, x := range []*continuation{c.Rematch, c.Takeback} {
		if x != nil && x.Next != "" && x.At.After(at) {
			g, at = x.Next, x.At
		}
	}
	return g
}

// Errors of a step that does not fit the offers that are open.
var (
	errNotOffered = protocol.Refuse(protocol.NotOffered, "no such offer is open")
	errAsked      = protocol.Refuse(protocol.NotOffered, "a takeback is already asked for")
	errOffered    = errors.New("this player's offer is open already")
	errDeclined   = errors.New("this player's offers have been declined")
)

// step changes a continuation by a person's step: offer, accept or decline.
// Against a bot an offer is accepted at once.
func (c *continuation) step(seat game.Seat, step protocol.Step, human bool, now time.Time) (*continuation, error) {
	by := c.offered(now)
	next := c.none()
	switch {
	case step == protocol.StepDecline && by == nil, step == protocol.StepAccept && (by == nil || *by == seat):
		return c, errNotOffered
	case step == protocol.StepDecline:
		next.Declined[*by]++
		return next, nil
	case human && by != nil && *by == seat:
		return c, errOffered
	case human && by == nil && next.Declined[seat] >= maxDeclined:
		return c, errDeclined
	case human && by == nil:
		next.By, next.At = seat, now
		return next, nil
	}
	next.By, next.At, next.Request, next.Seat = seat.Other(), now, protocol.NewID(), seat
	return next, nil
}

// none is a continuation that nobody offers, after those that were declined.
func (c *continuation) none() *continuation {
	if c == nil {
		return &continuation{}
	}
	return &continuation{Declined: c.Declined}
}

// rematch offers or accepts a game on the same terms with the seats swapped.
func (h *hub) rematch(ctx context.Context, t *tab, r message.Request) message.Answer {
	s, a, ok := h.finished(ctx, t, r.Game)
	if !ok {
		return a
	}
	terms := s.Terms
	terms.Moves = nil // of a game that continued another
	seat := s.seat.Other()
	return h.again(ctx, t, s, r, func(c *continuations) **continuation { return &c.Rematch },
		protocol.ChallengeRequest{Terms: terms, Seat: &seat})
}

// resume offers or accepts to continue a finished game from before the last
// decision of the player whose offer it is.
func (h *hub) resume(ctx context.Context, t *tab, s seated, r message.Request) message.Answer {
	by := s.seat
	if r.Step == protocol.StepAccept {
		by = by.Other()
	}
	_, before, err := encodePosition(s.Terms, s.Moves)
	if err != nil || helpless(s.Terms) || !endedByRules(s.Snapshot) || before[by] < 0 {
		return message.Refused(protocol.Illegal, "the move that ended this game can't be taken back")
	}
	terms := s.Terms
	terms.Moves = s.Moves[:before[by]]
	return h.again(ctx, t, s, r, func(c *continuations) **continuation { return &c.Takeback },
		protocol.ChallengeRequest{Terms: terms, Seat: &s.seat})
}

// endedByRules reports whether the rules have ended the game, by a move that can
// be taken back.
func endedByRules(s protocol.Snapshot) bool {
	g, err := catalog.Game(s.Terms.Game)
	return err == nil && slices.Contains(g.Reasons, s.Outcome.Reason)
}

// finished returns the person's seat in a finished game.
func (h *hub) finished(ctx context.Context, t *tab, g protocol.GameID) (seated, message.Answer, bool) {
	if a, ok := allow(t.here.acts, "actions"); !ok {
		return seated{}, a, false
	}
	s, err := h.snapshot(ctx, g)
	if err != nil {
		return seated{}, notRead(err), false
	}
	seat, plays := seatOf(&s, t.ID)
	switch {
	case !plays:
		return seated{}, message.Refused(protocol.Denied, "this player has no seat in this game"), false
	case s.Status != protocol.Finished:
		return seated{}, message.Refused(protocol.NotOffered, "the game has not ended"), false
	}
	return seated{Snapshot: s, seat: seat}, message.Answer{}, true
}

// again takes a step towards a game that continues a finished one. Of says which
// continuation it is; m is the challenge that the person sends when it is agreed.
func (h *hub) again(ctx context.Context, t *tab, s seated, r message.Request, of func(*continuations) **continuation, m protocol.ChallengeRequest) message.Answer {
	p, step := t.here, r.Step
	if step == "" {
		step = protocol.StepOffer
	}
	opponent := s.Holders[s.seat.Other()]
	human := opponent.Kind == protocol.Human
	key := "after." + string(s.Game)
	c, err := changeEntry(ctx, h.agreements, key, func(c *continuations) error {
		x := of(c)
		now := time.Now().UTC()
		if *x != nil && (*x).Request != "" && step != protocol.StepDecline && !(*x).lapsed(s.seat, now) && h.continues(ctx, (*x).Next) {
			return nil // agreed already
		}
		if by := (*x).offered(now); r.T == "takeback" && step == protocol.StepOffer && by != nil && *by != s.seat {
			return errAsked // agreeing to it would be another thing than what this player asks for
		}
		next, err := (*x).step(s.seat, step, human, now)
		switch {
		case err != nil || step == protocol.StepDecline:
		case next.Request == "":
			next.Player = p.id
		case human && live(m.Terms) && !h.isHere(ctx, opponent.Player):
			return errAbsent
		}
		*x = next
		return err
	})
	var e *protocol.Error
	switch {
	case errors.Is(err, errOffered):
		return message.Answer{Code: protocol.Duplicate}
	case errors.Is(err, errAbsent):
		return absent(reasonAbsentOffer, opponent.Display)
	case errors.Is(err, errDeclined):
		return message.Answer{Code: protocol.RateLimited, Reason: reasonDeclined, Name: opponent.Display, Text: "only one more offer after one that was declined"}
	case errors.As(err, &e):
		return message.Refused(e.Code, e.Text)
	case err != nil:
		return h.notStored(err)
	}
	x := *of(&c)
	if x == nil || x.Request == "" || x.Next != "" {
		a := message.Answer{}
		if x != nil {
			a.Game = x.Next
		}
		return a
	}
	if x.Seat != s.seat {
		return message.Answer{} // the other player's challenge is under way
	}
	m.ID, m.Opponent = x.Request, opponent.Player
	var a message.Answer
	if human {
		a = h.between(ctx, p, opponent.Player, m)
	} else {
		m.ExpireMS = challengeFor.Milliseconds()
		a = h.againstBot(ctx, t, m)
	}
	_, err = changeEntry(ctx, h.agreements, key, func(c *continuations) error {
		y := of(c)
		if *y == nil || (*y).Request != x.Request {
			return errTaken
		}
		if a.Game == "" {
			*y = (*y).none() // the platform refused the challenge
		} else {
			(*y).Next = a.Game
		}
		return nil
	})
	if err != nil && a.Game != "" {
		h.log.Warn().Err(err).Str("game", string(s.Game)).Msg("the next game is not shown with this one")
	}
	return a
}

// continues reports whether the game that was agreed on may still be played or is
// being played.
func (h *hub) continues(ctx context.Context, g protocol.GameID) bool {
	if g == "" {
		return true
	}
	e, _, err := h.arena.Game(ctx, g)
	return err != nil || e.Status != protocol.Finished
}
