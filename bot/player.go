package bot

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/protocol"
)

// player is one account that the process acts for: it keeps itself known to
// the platform, and keeps the sessions of its games.
type player struct {
	bot     *Bot
	profile Profile
	client  *protocol.Client
	log     zerolog.Logger
	hello   chan struct{} // a word: say hello (again)

	mu       sync.Mutex
	sessions map[protocol.GameID]*session
	met      map[protocol.PlayerID][]time.Time // when games against each began, within the repeat window
	standing protocol.Code                     // what the last hello was answered; "": nothing yet
	early    protocol.GameID                   // the last that a notice ended before it had a session
}

// Pauses of a player.
const (
	heartbeat    = 500 * time.Millisecond // until the platform names another
	helloTimeout = 5 * time.Second
	helloPause   = 200 * time.Millisecond // between two
	refusedPause = 5 * time.Second        // after a refusal
	resumeHold   = 10 * time.Second       // for the state of a game that the platform says we hold
	defaultHold  = 5 * time.Second        // for a grant, where the offer names no time
	longestHold  = time.Minute
	leaveTimeout = time.Second
	challengeFor = 30 * time.Second // that a challenge of ours waits for somebody
)

func newPlayer(b *Bot, profile Profile) (*player, error) {
	var client *protocol.Client
	var err error
	if len(b.players) == 0 {
		client, err = protocol.NewClient(b.nc, b.subjects, profile.Player, b.cfg.Instance, b.log)
	} else {
		client, err = b.players[0].client.For(profile.Player, b.log)
	}
	if err != nil {
		return nil, err
	}
	return &player{
		bot: b, profile: profile, client: client,
		log:      b.log.With().Str("player", string(profile.Player)).Logger(),
		hello:    make(chan struct{}, 1),
		sessions: make(map[protocol.GameID]*session),
		met:      make(map[protocol.PlayerID][]time.Time),
	}, nil
}

// again makes the player say hello soon, whereupon the platform sends the
// state of every game that it holds.
func (p *player) again() {
	select {
	case p.hello <- struct{}{}:
	default:
	}
}

// run keeps the player known until ctx ends.
func (p *player) run(ctx context.Context) {
	notices, err := p.client.Notices(p.notice)
	if err != nil {
		p.log.Error().Err(err).Msg("no notices") // the connection is closed, which ends Run
		return
	}
	defer notices.Unsubscribe()
	interval := make(chan time.Duration, 1)
	var wg sync.WaitGroup
	wg.Go(func() { p.introduce(ctx, interval) })
	wg.Go(func() { p.beat(ctx, interval) })
	p.again()
	wg.Wait()
}

// introduce says hello whenever there is reason to.
func (p *player) introduce(ctx context.Context, interval chan<- time.Duration) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.hello:
		}
		pause := helloPause
		asked := time.Now()
		within, cancel := context.WithTimeout(ctx, helloTimeout)
		ans, err := p.client.Hello(within, protocol.Hello{
			Kind: protocol.Bot, Display: p.profile.Display, Build: p.bot.deps.Build,
			Slots: p.bot.cfg.Slots, Games: p.profile.capabilities(), Pools: p.profile.Pools,
		})
		cancel()
		switch {
		case err == nil:
			p.welcome(asked, ans)
			select {
			case interval <- time.Duration(ans.HeartbeatMS) * time.Millisecond:
			default: // the last one was not even read yet
			}
		case ctx.Err() != nil:
			return
		default:
			if p.refusedBy(err) {
				pause = refusedPause
			}
			p.again()
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// refusedBy reports whether the platform refused the hello, and logs it the
// first time. Anything else is silence, which the watchdog tells of.
func (p *player) refusedBy(err error) bool {
	refusal, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return false
	}
	p.mu.Lock()
	seen := p.standing == refusal.Code
	p.standing = refusal.Code
	p.mu.Unlock()
	if !seen {
		p.log.Error().Err(refusal).Msg("the platform refuses this player; asking again")
	}
	return true
}

// welcome takes up the games that the platform says we hold, and lets go of
// those that it does not know, asked at the time given.
func (p *player) welcome(asked time.Time, ans protocol.HelloAnswer) {
	p.bot.heard(asked, ans.ServerTime)
	p.mu.Lock()
	first := p.standing != protocol.Accepted
	p.standing = protocol.Accepted
	held := make(map[protocol.GameID]bool, len(ans.Held))
	for _, g := range ans.Held {
		held[g] = true
	}
	for g, s := range p.sessions {
		if !held[g] && s.heldBefore(asked) {
			s.forget()
		}
	}
	p.mu.Unlock()
	if first {
		p.log.Info().Int("held", len(ans.Held)).Msg("known to the platform")
		p.bot.nudge()
	}
	for _, g := range ans.Held {
		p.resume(g)
	}
}

// beat sends heartbeats. The first waits for the answer to the first hello.
func (p *player) beat(ctx context.Context, interval <-chan time.Duration) {
	every := heartbeat
	set := func(d time.Duration) {
		if d > 0 {
			every = min(max(d, 50*time.Millisecond), 10*time.Second)
		}
	}
	select {
	case <-ctx.Done():
		return
	case d := <-interval:
		set(d)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		p.pulse(ctx, every)
		select {
		case <-ctx.Done():
			return
		case d := <-interval:
			set(d)
			tick.Reset(every)
		case <-tick.C:
		}
	}
}

// pulse is one heartbeat. It waits no longer than until the next is due: the
// platform gives our seats away when it hears nothing for three of them.
func (p *player) pulse(ctx context.Context, every time.Duration) {
	within, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	sent := time.Now()
	ans, err := p.client.Alive(within, p.bot.ledger.Free(p.want(true)), p.playing())
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		p.bot.heard(sent, ans.ServerTime)
		if refusal.Code == protocol.UnknownPeer {
			p.again()
		}
		return
	}
	if err != nil {
		return // silence is the watchdog's business
	}
	p.bot.heard(sent, ans.ServerTime)
	for _, g := range ans.Held {
		if s := p.session(g); s == nil || !s.isHeld() {
			p.again() // a game that we do not know of, or whose state was lost
			return
		}
	}
}

// want is what a game of this player needs of the ledger.
func (p *player) want(human bool) want {
	return want{Player: p.profile.Player, Most: p.profile.Slots, Human: human, Threads: p.bot.cfg.Threads}
}

// known reports whether the platform has answered a hello: it believes no
// accept of an instance that it does not know.
func (p *player) known() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.standing == protocol.Accepted
}

// free reports whether the player can take another game.
func (p *player) free() bool {
	return p.known() && p.bot.ledger.Free(p.want(p.profile.Policy.Opponents != BotsOnly)) > 0
}

// games counts the player's games, promised ones included.
func (p *player) games() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sessions)
}

func (p *player) session(g protocol.GameID) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[g]
}

// playing lists the games that the platform has granted.
func (p *player) playing() []protocol.GameID {
	p.mu.Lock()
	defer p.mu.Unlock()
	var games []protocol.GameID
	for g, s := range p.sessions {
		if s.isHeld() {
			games = append(games, g)
		}
	}
	return games
}

// resume takes up a running game that the platform says we hold.
func (p *player) resume(g protocol.GameID) {
	if s := p.session(g); s != nil {
		return
	}
	if err := protocol.CheckID("game", g); err != nil {
		p.log.Warn().Err(err).Msg("held game")
		return
	}
	// Whom it is against we do not know yet, but it runs already.
	err := p.open(g, nil, p.want(true), resumeHold)
	switch {
	case err == nil:
		p.log.Info().Str("game", string(g)).Msg("resuming")
		p.again() // for its state, now that we listen
	case errors.Is(err, errStopping):
	default:
		p.log.Warn().Err(err).Str("game", string(g)).Msg("giving a seat back")
		p.bot.spawn(func() { p.leave(g) })
	}
}

// leave gives seats back: those of the games, or all.
func (p *player) leave(games ...protocol.GameID) {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	_, err := p.client.Leave(ctx, games...)
	switch {
	case err == nil, p.bot.nc.IsClosed():
	case errors.Is(err, nats.ErrNoResponders):
		p.log.Debug().Err(err).Msg("nobody there to give seats back to")
	default:
		p.log.Warn().Err(err).Msg("seats not given back; the platform will miss the heartbeat")
	}
}

// errStopping: the process takes up nothing more.
var errStopping = errors.New("stopping")

// reserve takes a slot for a session that is still to be seated.
func (p *player) reserve(offer *protocol.Offer, w want, hold time.Duration) (*session, error) {
	s := newSession(p, offer)
	lease, err := p.bot.ledger.Reserve(w, hold, s.lapse)
	if err != nil {
		s.cancel()
		return nil, err
	}
	s.lease = lease
	return s, nil
}

// seat starts a session for a game, listening before anybody is told. The
// error gives the slot back.
func (p *player) seat(s *session, g protocol.GameID) error {
	p.mu.Lock()
	_, there := p.sessions[g]
	if !there {
		p.sessions[g] = s
	}
	p.mu.Unlock()
	err := errDouble
	if !there {
		err = s.start(g)
	}
	if err != nil {
		s.cancel()
		p.close(s)
	}
	return err
}

// open reserves a slot and seats a session.
func (p *player) open(g protocol.GameID, offer *protocol.Offer, w want, hold time.Duration) error {
	s, err := p.reserve(offer, w, hold)
	if err != nil {
		return err
	}
	return p.seat(s, g)
}

// errUnknown: the platform does not know the player yet.
var errUnknown = errors.New("not known to the platform yet")

// errDouble: the player sits in the game already.
var errDouble = errors.New("in the game already")

// close forgets a session and gives its slot back.
func (p *player) close(s *session) {
	p.mu.Lock()
	if p.sessions[s.id] == s {
		delete(p.sessions, s.id)
	}
	p.mu.Unlock()
	s.lease.Release()
}

// judge decides about an offer, and reserves the slot when it is accepted.
// errFull and errUnknown mean busy.
func (p *player) judge(o protocol.Offer) (Refusal, error) {
	if !p.known() {
		return Refusal{}, errUnknown
	}
	if s := p.session(o.Game); s != nil {
		if o.Kind == protocol.OfferSeat || s.offer != nil && s.offer.Seat == o.Seat {
			return Refusal{}, nil // our own seat back, or the same offer again
		}
		return Refusal{protocol.DeclineOpponent, "not against itself"}, nil
	}
	recent, human := 0, false
	if o.Opponent != nil {
		recent, human = p.recently(o.Opponent.Player), o.Opponent.Kind == protocol.Human
	}
	if r := p.profile.Policy.Judge(p.profile.Player, p.profile.Games, o, recent); r != (Refusal{}) {
		return r, nil
	}
	hold := time.Duration(o.HoldMS) * time.Millisecond
	if hold <= 0 {
		hold = defaultHold
	}
	return Refusal{}, p.open(o.Game, &o, p.want(human), min(hold, longestHold))
}

// meet counts a game against an opponent.
func (p *player) meet(opponent protocol.PlayerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := func(t time.Time) bool { return time.Since(t) > p.bot.cfg.RepeatWindow }
	for id, times := range p.met { // or the map grows for ever
		if times = slices.DeleteFunc(times, old); len(times) == 0 {
			delete(p.met, id)
		} else {
			p.met[id] = times
		}
	}
	p.met[opponent] = append(p.met[opponent], time.Now())
}

// recently is how many games against an opponent began within the window.
func (p *player) recently(opponent protocol.PlayerID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, t := range p.met[opponent] {
		if time.Since(t) <= p.bot.cfg.RepeatWindow {
			n++
		}
	}
	return n
}

// notice hears what concerns no state of a game.
func (p *player) notice(n protocol.Notice) {
	ev := p.log.Info()
	switch n.Kind {
	case protocol.NoticeExpired, protocol.NoticeDeclined, protocol.NoticeReleased:
		if s := p.ended(n.Game); s != nil {
			s.refuse()
		}
		ev = p.log.Debug()
	case protocol.NoticeChat, protocol.NoticeWaiting:
		ev = p.log.Debug()
	}
	ev.Str("notice", string(n.Kind)).Str("game", short(n.Game)).Str("from", short(n.From)).
		Str("reason", short(n.Reason)).Str("text", n.Text).Msg("notice")
}

// ended is the session of a game that comes to nothing. Where there is none, the
// word may have come before the answer that names the game: that is remembered.
func (p *player) ended(g protocol.GameID) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[g]
	if s == nil {
		p.early = g
	}
	return s
}

// endedEarly reports whether a game came to nothing before it had a session.
func (p *player) endedEarly(g protocol.GameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.early == g
}

// short cuts what should be an id, from a message that nobody has checked.
func short[T ~string](id T) string { return string(id[:min(len(id), 32)]) }

// sleep waits, and is false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
