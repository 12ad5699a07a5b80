package bot

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/rs/zerolog"

	"sparring/bot/play"
	"sparring/bot/policy"
	"sparring/engine"
	"sparring/pipe/playerspec"
	"sparring/protocol"
)

// player is one account that the process acts for: it keeps itself known to
// the platform, and keeps the seats in its games.
type player struct {
	bot     *Bot
	profile Profile
	client  *protocol.Client
	log     zerolog.Logger
	hello   chan struct{} // a word: say hello (again)
	met     *policy.Encounters
	plays   *play.Player // what its sessions share

	mu       sync.Mutex
	engines  map[string]*protocol.Engine // who plays, by game
	seats    map[protocol.GameID]*seat
	standing protocol.Code   // what the last hello was answered; "": nothing yet
	early    protocol.GameID // the last that a notice ended before it had a seat
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
	p := &player{
		bot: b, profile: profile, client: client,
		log:     b.log.With().Str("player", string(profile.Player)).Logger(),
		hello:   make(chan struct{}, 1),
		met:     policy.NewEncounters(b.cfg.RepeatWindow),
		engines: map[string]*protocol.Engine{}, seats: make(map[protocol.GameID]*seat),
	}
	p.plays = &play.Player{
		ID: profile.Player, Client: client, Clock: b.clock, Process: p, Log: p.log,
		NewGame: func(o engine.GameOptions) (engine.Game, error) { return b.deps.NewGame(profile.Engine, o) },
		Pool:    b.deps.Pool, Records: b.deps.Records, Observe: b.deps.Observe,
		Settings: play.Settings{
			Engine: profile.Engine, External: profile.external(), Nodes: profile.Nodes,
			Threads: b.cfg.Threads, HashMB: b.cfg.HashMB, Ponder: b.cfg.Ponder && !profile.Reproducible, Reproducible: profile.Reproducible,
			Instance: b.cfg.Instance, Build: b.deps.Build, Manners: *profile.Play,
		},
	}
	return p, nil
}

// RequestHello implements play.Process.
func (p *player) RequestHello() {
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
	p.RequestHello()
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
			Slots: p.bot.cfg.Slots, Games: p.profile.capabilities(p.described()), Pools: p.profile.Pools,
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
			p.RequestHello()
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// describe notes who plays a game for the player: it is public from here on, and
// so leaves out where things lie on this machine.
func (p *player) describe(gameName string, d engine.Description) {
	spec, err := playerspec.Parse(p.profile.Engine)
	if err != nil {
		return // the profile was checked
	}
	e := protocol.Engine(d)
	e.Spec, e.Book = plain(spec.Public()), plain(filepath.Base(e.Book))
	if d.Book == "" {
		e.Book = ""
	}
	e.Name, e.Build = plain(e.Name), plain(e.Build)
	e.Reproducible = p.profile.Reproducible
	if n := p.profile.Nodes; n > 0 && (e.Nodes == 0 || n < e.Nodes) {
		e.Nodes = n
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.engines[gameName] = &e
}

// described is who plays, by game.
func (p *player) described() map[string]*protocol.Engine {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.engines)
}

// plain is a text as a hello may have it: a program may call itself anything.
func plain(text string) string {
	r := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text))
	return string(r[:min(len(r), 64)])
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
	for g, s := range p.seats {
		if !held[g] && s.HeldBefore(asked) {
			s.SeatUnknown()
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
			p.RequestHello()
		}
		return
	}
	if err != nil {
		return // silence is the watchdog's business
	}
	p.bot.heard(sent, ans.ServerTime)
	for _, g := range ans.Held {
		if s := p.seatIn(g); s == nil || !s.Held() {
			p.RequestHello() // a game that we do not know of, or whose state was lost
			return
		}
	}
}

// want is what a game of this player needs of the ledger.
func (p *player) want(human bool) policy.Need {
	return policy.Need{Player: p.profile.Player, MaxGames: p.profile.Slots, Human: human, Threads: p.bot.cfg.Threads}
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
	return p.known() && p.bot.ledger.Free(p.want(p.profile.Policy.Opponents != policy.BotsOnly)) > 0
}

// games counts the player's games, promised ones included.
func (p *player) games() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seats)
}

// notice hears what concerns no state of a game.
func (p *player) notice(n protocol.Notice) {
	ev := p.log.Info()
	switch n.Kind {
	case protocol.NoticeExpired, protocol.NoticeDeclined, protocol.NoticeReleased:
		if s := p.ended(n.Game); s != nil {
			s.ChallengeEnded()
		}
		ev = p.log.Debug()
	case protocol.NoticeChat, protocol.NoticeWaiting:
		ev = p.log.Debug()
	}
	ev.Str("notice", string(n.Kind)).Str("game", short(n.Game)).Str("from", short(n.From)).
		Str("reason", short(n.Reason)).Str("text", n.Text).Msg("notice")
}

// ended is the seat in a game that comes to nothing. Where there is none, the
// notice may have come before the answer that names the game: that is remembered.
func (p *player) ended(g protocol.GameID) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seats[g]
	if s == nil {
		p.early = g
	}
	return s
}

// endedEarly reports whether a game came to nothing before it had a seat.
func (p *player) endedEarly(g protocol.GameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.early == g
}

// short cuts what should be an id, from a message that nobody has checked.
func short[T ~string](id T) string { return string(id[:min(len(id), 32)]) }

// sleep waits, and is false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
