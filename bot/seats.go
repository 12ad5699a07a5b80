package bot

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/bot/play"
	"sparring/bot/policy"
	"sparring/protocol"
)

// seat is a slot of the ledger with the session that plays in it.
type seat struct {
	*play.Session
	slot *policy.Reservation
}

// abandon ends the session and gives the slot back.
func (s *seat) abandon() {
	s.Cancel()
	s.slot.Release()
}

// seatIn returns the player's seat in a game, or nil.
func (p *player) seatIn(g protocol.GameID) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seats[g]
}

// playing lists the games that were granted.
func (p *player) playing() []protocol.GameID {
	p.mu.Lock()
	defer p.mu.Unlock()
	var games []protocol.GameID
	for g, s := range p.seats {
		if s.Held() {
			games = append(games, g)
		}
	}
	return games
}

// resume takes a seat that we hold according to the platform.
func (p *player) resume(g protocol.GameID) {
	if s := p.seatIn(g); s != nil {
		return
	}
	if err := protocol.CheckID("game", g); err != nil {
		p.log.Warn().Err(err).Msg("the platform lists an invalid game as ours")
		return
	}
	// The opponent is not known yet, but the game is already running.
	need := p.need(true)
	need.Running = true
	err := p.open(g, nil, need, resumeHold)
	switch {
	case err == nil:
		p.log.Info().Str("game", string(g)).Msg("resuming")
		p.RequestHello() // for its state, now that we are subscribed
	case errors.Is(err, errStopping):
	default:
		p.log.Warn().Err(err).Str("game", string(g)).Msg("giving a seat back")
		p.GiveBack(g)
	}
}

// GiveBack implements play.Process.
func (p *player) GiveBack(g protocol.GameID) {
	p.bot.spawn(func() {
		if err := p.leave(g); err != nil {
			warnNotGivenBack(p.log, err, 1)
		}
	})
}

// warnNotGivenBack says that seats of some players stay theirs until the platform misses the heartbeats.
func warnNotGivenBack(log zerolog.Logger, err error, players int) {
	log.Warn().Err(err).Int("players", players).Msg("seats not given back; the platform will miss the heartbeats")
}

// GameBegan implements play.Process.
func (p *player) GameBegan(opponent protocol.PlayerID) { p.encounters.Add(opponent) }

// leave gives the seats in these games back, or all seats. It returns an error that the operator
// wants to know.
func (p *player) leave(games ...protocol.GameID) error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	_, err := p.client.Leave(ctx, games...)
	// A fast game's last moves may have used up the player's allowance.
	for temporary(err) && sleep(ctx, helloPause) {
		_, err = p.client.Leave(ctx, games...)
	}
	switch {
	case err == nil, !p.bot.nc.IsConnected(): // without a connection, the platform misses the heartbeats
	case errors.Is(err, nats.ErrNoResponders):
		p.log.Debug().Err(err).Msg("no platform to give seats back to")
	default:
		return err
	}
	return nil
}

// temporary reports whether a request was refused for a reason that passes by itself.
func temporary(err error) bool {
	refusal, ok := errors.AsType[*protocol.Error](err)
	return ok && (refusal.Code == protocol.RateLimited || refusal.Code == protocol.Unavailable)
}

// Errors of a player.
var (
	errStopping = errors.New("stopping")                      // the process starts nothing more
	errUnknown  = errors.New("not known to the platform yet") // try again after the hello
	errSeated   = errors.New("already in the game")
)

// reserve reserves a slot for a game whose id is not known yet.
func (p *player) reserve(offer *protocol.Offer, need policy.Need, hold time.Duration) (*seat, error) {
	s := &seat{Session: play.New(p.bot.games, p.role.Load().shared, offer)}
	slot, err := p.bot.ledger.Reserve(need, hold, s.ReservationExpired)
	if err != nil {
		s.Cancel()
		return nil, err
	}
	s.slot = slot
	return s, nil
}

// take starts the session, which subscribes to the game before the platform is
// told. On an error the slot is free again.
func (p *player) take(s *seat, g protocol.GameID) error {
	p.mu.Lock()
	_, there := p.seats[g]
	if !there {
		p.seats[g] = s
	}
	p.mu.Unlock()
	if there {
		s.abandon()
		return errSeated
	}
	leave := func() {
		p.mu.Lock()
		delete(p.seats, g)
		p.mu.Unlock()
		s.abandon()
	}
	err := s.Start(g, s.slot.Confirm)
	if err == nil && !p.bot.spawn(func() { s.Run(); leave() }) {
		err = errStopping
	}
	if err != nil {
		leave()
	}
	return err
}

// open reserves a slot and takes the seat.
func (p *player) open(g protocol.GameID, offer *protocol.Offer, need policy.Need, hold time.Duration) error {
	s, err := p.reserve(offer, need, hold)
	if err != nil {
		return err
	}
	return p.take(s, g)
}

// answer decides about an offer, and reserves a slot if it accepts. The errors
// policy.ErrFull and errUnknown mean busy.
func (p *player) answer(o protocol.Offer) (policy.Refusal, error) {
	if !p.known() {
		return policy.Refusal{}, errUnknown
	}
	if p.retired.Load() {
		return policy.Refusal{}, policy.ErrClosed // it has just left the queue
	}
	if s := p.seatIn(o.Game); s != nil {
		if o.Kind == protocol.OfferSeat || s.Offer() != nil && s.Offer().Seat == o.Seat {
			return policy.Refusal{}, nil // our own seat back, or the same offer again
		}
		return policy.Refusal{Reason: protocol.DeclineOpponent, Text: "not against itself"}, nil
	}
	recent, human := 0, false
	if o.Opponent != nil {
		recent, human = p.encounters.Recent(o.Opponent.Player), o.Opponent.Kind == protocol.Human
	}
	if r := p.profile().Policy.Check(p.profile().Player, p.playable(), o, recent); r != (policy.Refusal{}) {
		return r, nil
	}
	hold := time.Duration(o.HoldMS) * time.Millisecond
	if hold <= 0 {
		hold = defaultHold
	}
	need := p.need(human)
	need.Running, need.Spare = o.Kind == protocol.OfferSeat, o.Spare
	if need.Level && o.Opponent != nil && !o.Opponent.Player.Person() { // others can claim to be human
		need.Bot = o.Opponent.Player
	}
	return policy.Refusal{}, p.open(o.Game, &o, need, min(hold, maxHold))
}
