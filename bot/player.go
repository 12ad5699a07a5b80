package bot

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/bot/policy"
	"sparring/engine"
	"sparring/engine/timing"
	"sparring/pipe/playerspec"
	"sparring/protocol"
)

// player is one account that the process acts for. It says hello, sends heartbeats,
// and keeps the seats in its games.
type player struct {
	bot        *Bot
	role       atomic.Pointer[role]
	client     *protocol.Client
	log        zerolog.Logger
	hello      chan struct{} // signals that a hello is due
	encounters *policy.Encounters
	tryNow     chan struct{}      // signals that engines are to be tried now
	retired    atomic.Bool        // its profile is gone: it only finishes its games
	end        context.CancelFunc // of its goroutines
	warned     time.Time          // when a refused heartbeat was logged last; only heartbeatLoop uses it
	denied     int                // heartbeats in a row; only heartbeatLoop uses it

	mu        sync.Mutex
	engines   map[string]*protocol.Engine // that play, by game
	broken    map[string]fault            // games whose engine does not start
	seats     map[protocol.GameID]*seat
	helloCode protocol.Code   // answer to the last hello; "" before the first
	early     protocol.GameID // the latest game that a notice ended before it had a seat
}

const (
	defaultHeartbeat  = 500 * time.Millisecond // unless the platform names another
	helloTimeout      = 5 * time.Second
	helloPause        = 200 * time.Millisecond // between two hellos
	refusedPause      = 5 * time.Second        // after a refusal
	warnRefusedEvery  = time.Minute            // between two log lines about refused heartbeats
	deniedLimit       = 3                      // heartbeats in a row: another process acts as this instance
	resumeHold        = 10 * time.Second       // for the first state of a resumed game
	defaultHold       = 5 * time.Second        // for a grant, if the offer names no time
	maxHold           = time.Minute
	leaveTimeout      = time.Second
	challengeLifetime = 30 * time.Second // of our own challenges
)

func newPlayer(b *Bot, profile Profile) (*player, error) {
	var client *protocol.Client
	var err error
	if b.base == nil {
		if client, err = protocol.NewClient(b.nc, b.subjects, profile.Player, b.cfg.Instance, b.log); err == nil {
			client.ReceiveStatesBy(b.receiver)
		}
		b.base = client
	} else {
		client, err = b.base.For(profile.Player, b.log)
	}
	if err != nil {
		return nil, err
	}
	p := &player{
		bot: b, client: client,
		log:        b.log.With().Str("player", string(profile.Player)).Logger(),
		hello:      make(chan struct{}, 1),
		tryNow:     make(chan struct{}, 1),
		encounters: policy.NewEncounters(b.cfg.RepeatWindow),
		engines:    make(map[string]*protocol.Engine),
		broken:     make(map[string]fault),
		seats:      make(map[protocol.GameID]*seat),
	}
	p.setProfile(profile)
	return p, nil
}

// pool returns the cores for the games of a profile.
func (b *Bot) pool(p Profile) *engine.Pool {
	if p.level == 0 && b.deps.PlayerPool != nil {
		return b.deps.PlayerPool
	}
	return b.deps.Pool
}

// RequestHello implements play.Process.
func (p *player) RequestHello() {
	select {
	case p.hello <- struct{}{}:
	default:
	}
}

// run says hello and sends heartbeats until ctx ends.
func (p *player) run(ctx context.Context) {
	notices, err := p.client.Notices(p.handleNotice)
	if err != nil {
		p.log.Error().Err(err).Msg("can't subscribe to notices") // the connection is closed, which ends Run
		return
	}
	defer notices.Unsubscribe()
	interval := make(chan time.Duration, 1)
	var wg sync.WaitGroup
	wg.Go(func() { p.helloLoop(ctx, interval) })
	wg.Go(func() { p.heartbeatLoop(ctx, interval) })
	p.RequestHello()
	wg.Wait()
}

// helloLoop says hello whenever it is requested, and again until it is answered.
func (p *player) helloLoop(ctx context.Context, interval chan<- time.Duration) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.hello:
		}
		pause := helloPause
		asked := time.Now()
		within, cancel := context.WithTimeout(ctx, helloTimeout)
		ans, err := p.client.Hello(within, p.introduction())
		cancel()
		switch {
		case err == nil:
			p.handleHello(asked, ans)
			select {
			case interval <- time.Duration(ans.HeartbeatMS) * time.Millisecond:
			default: // the last one has not been received yet
			}
		case ctx.Err() != nil:
			return
		default:
			if p.refused(err) {
				pause = refusedPause
			}
			p.RequestHello()
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// PublicEngine returns the description of an engine for hellos, without paths of this
// machine.
func PublicEngine(spec playerspec.Spec, d engine.Description) protocol.Engine {
	e := protocol.Engine(d)
	e.Spec = publicText(spec.Public())
	if e.Book != "" {
		e.Book = publicText(filepath.Base(e.Book))
	}
	e.Name, e.Build = publicText(e.Name), publicText(e.Build)
	return e
}

// describe sets the description of a game's engine for hellos.
func (p *player) describe(gameName string, d engine.Description) {
	spec, err := playerspec.Parse(p.profile().Engine)
	if err != nil {
		return // the profile was checked
	}
	e := PublicEngine(spec, d)
	if n := p.profile().Nodes; n > 0 && (e.Nodes == 0 || n < e.Nodes) {
		e.Nodes = n
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.engines[gameName] = &e
}

// Host returns the name of this machine for hellos, "" if it has none.
func Host() string {
	name, _ := os.Hostname() // "" is shown as unknown
	return publicText(name)
}

// publicText makes a text valid in a hello: a program may give itself any name.
func publicText(text string) string { return cleaned(text, 64) }

// cleaned returns a text without control characters, cut to a number of runes.
func cleaned(text string, most int) string {
	r := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text))
	return string(r[:min(len(r), most)])
}

// longestMove returns the longest time for a move in a correspondence game.
func (p *player) longestMove() time.Duration {
	return cmp.Or(p.bot.cfg.moveTime(*p.profile()), timing.LongestMove)
}

// introduction returns the player's hello.
func (p *player) introduction() protocol.Hello {
	if !p.taking() { // the platform offers it nothing, and pairs it with nobody
		return protocol.Hello{
			Kind: protocol.Bot, Display: p.profile().Display, Build: publicText(p.bot.deps.Build), Host: Host(), Games: []protocol.Capability{},
			Pools: p.seatPools(), Fleet: p.bot.answersFleet.Load(),
		}
	}
	p.mu.Lock()
	engines := maps.Clone(p.engines)
	p.mu.Unlock()
	return protocol.Hello{
		Kind: protocol.Bot, Display: p.profile().Display, Build: publicText(p.bot.deps.Build), Host: Host(),
		Slots: p.slots(), Pools: p.profile().Pools,
		Games: p.profile().capabilities(p.playable(), engines, p.longestMove()),
		Takes: p.profile().Policy.Takes(), Fleet: p.bot.answersFleet.Load(),
	}
}

// refused reports whether the platform refused the hello, and logs it the first
// time. The watchdog reports when there is no answer.
func (p *player) refused(err error) bool {
	refusal, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return false
	}
	p.mu.Lock()
	seen := p.helloCode == refusal.Code
	p.helloCode = refusal.Code
	p.mu.Unlock()
	if !seen {
		p.log.Error().Err(refusal).Msg("the platform refuses this player; retrying")
	}
	return true
}

// handleHello resumes the games that the platform says we hold, and tells the
// sessions of those that it did not know when it was asked.
func (p *player) handleHello(asked time.Time, ans protocol.HelloAnswer) {
	p.bot.clock.Observe(asked, time.Now(), ans.ServerTime) // no answer for noteAnswer: a platform that can't store answers hellos
	p.mu.Lock()
	first := p.helloCode != protocol.Accepted
	p.helloCode = protocol.Accepted
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
		p.bot.lookAtQueues()
	}
	for _, g := range ans.Held {
		p.resume(g)
	}
}

// heartbeatLoop sends heartbeats, from the answer to the first hello on.
func (p *player) heartbeatLoop(ctx context.Context, interval <-chan time.Duration) {
	every := defaultHeartbeat
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
		p.sendHeartbeat(ctx, every)
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

// sendHeartbeat waits for the answer until the next heartbeat is due. The platform
// gives our seats away when it misses three.
func (p *player) sendHeartbeat(ctx context.Context, every time.Duration) {
	within, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	sent := time.Now()
	ans, err := p.alive(within, p.client)
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		switch refusal.Code {
		case protocol.Unavailable:
			p.bot.noteUnavailable()
			return // the platform can't be played on through this server
		case protocol.UnknownPeer:
			p.RequestHello()
		case protocol.Denied:
			// One process of the platform may not have heard our hello yet.
			if p.denied++; p.denied >= deniedLimit {
				p.bot.giveWay()
			}
		default:
			p.warnRefused(refusal)
		}
		p.bot.noteAnswer(sent, ans.ServerTime)
		return
	}
	if err != nil {
		return // the watchdog reports it
	}
	p.denied = 0
	p.bot.noteAnswer(sent, ans.ServerTime)
	for _, g := range ans.Held {
		if s := p.seatIn(g); s == nil || !s.Held() {
			p.RequestHello() // an unknown game, or one whose state was lost
			return
		}
	}
}

// warnRefused logs that heartbeats are refused, which costs the player its seats.
func (p *player) warnRefused(refusal *protocol.Error) {
	if now := time.Now(); now.Sub(p.warned) >= warnRefusedEvery {
		p.warned = now
		p.log.Warn().Err(refusal).Str("code", string(refusal.Code)).Msg("the platform refuses heartbeats")
	}
}

// need returns the slot and threads that a game of this player needs.
func (p *player) need(human bool) policy.Need {
	return policy.Need{Player: p.profile().Player, MaxGames: p.maxGames(), Human: human, Level: p.profile().level > 0}
}

// unlimited is the need of a player that has no limit of its own.
func (p *player) unlimited() policy.Need {
	need := p.need(true)
	need.MaxGames = 0
	return need
}

// maxGames is the player's own limit of games at once, whatever slots are free: a
// heartbeat that named more would be refused, and all its seats be given away.
func (p *player) maxGames() int {
	if n := p.profile().Slots; n > 0 {
		return n
	}
	return protocol.MaxPlaying
}

// slots returns how many games the player could play at once.
func (p *player) slots() int {
	if p.profile().level > 0 {
		return min(p.bot.cfg.Levels, p.maxGames())
	}
	return min(p.bot.cfg.slots(), p.maxGames())
}

// known reports whether the platform has accepted a hello. It grants no game to an
// instance that it does not know.
func (p *player) known() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.helloCode == protocol.Accepted
}

// free reports whether the player can take another game of a pool. In its own one,
// seats of running games are offered as well, which need no free slot.
func (p *player) free(pool protocol.Pool) bool {
	need := p.need(p.profile().Policy.Opponents != policy.BotsOnly)
	need.Running = pool == protocol.OwnPool(p.profile().Player)
	return p.known() && !p.retired.Load() && len(p.playable()) > 0 && p.bot.ledger.Free(need) > 0
}

// games counts the player's games, reserved ones included.
func (p *player) games() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seats)
}

// handleNotice handles a notice.
func (p *player) handleNotice(n protocol.Notice) {
	ev := p.log.Info()
	switch n.Kind {
	case protocol.NoticeExpired, protocol.NoticeDeclined, protocol.NoticeReleased:
		if s := p.ended(n.Game); s != nil {
			s.ChallengeEnded()
		}
		ev = p.log.Debug()
	case protocol.NoticeChat:
		n.Text = "" // chat is stored nowhere
		ev = p.log.Debug()
	case protocol.NoticeWaiting:
		ev = p.log.Debug()
	}
	ev.Str("notice", string(n.Kind)).Str("game", short(n.Game)).Str("from", short(n.From)).
		Str("reason", short(n.Reason)).Str("text", n.Text).Msg("notice")
}

// ended returns the seat in a game that was called off; nil if there is none. The
// notice may then have come before the answer that names the game: endedEarly
// tells.
func (p *player) ended(g protocol.GameID) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seats[g]
	if s == nil {
		p.early = g
	}
	return s
}

// endedEarly reports whether a game was called off before it had a seat.
func (p *player) endedEarly(g protocol.GameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.early == g
}

// short cuts an id from a message that was not checked.
func short[T ~string](id T) string { return string(id[:min(len(id), 32)]) }

// sleep waits for d. It returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// alive sends one heartbeat.
func (p *player) alive(ctx context.Context, c *protocol.Client) (protocol.AliveAnswer, error) {
	m := protocol.Alive{Games: p.playing()}
	if p.taking() {
		m.Free = min(p.bot.ledger.Free(p.need(true)), protocol.MaxSlots)
		if bots := p.bot.ledger.Free(p.need(false)); bots < m.Free {
			m.FreeForBots = &bots // the others are kept for people
		}
		if together := min(p.bot.ledger.Free(p.unlimited()), protocol.MaxSlots); together > m.Free {
			m.FreeTogether = &together
		}
	}
	return c.Alive(ctx, m)
}

// answeredOver reports whether the platform answers a heartbeat over another connection.
func (p *player) answeredOver(ctx context.Context, nc *nats.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, defaultHeartbeat)
	defer cancel()
	_, err := p.alive(ctx, p.client.WithConn(nc))
	refusal, refused := errors.AsType[*protocol.Error](err)
	return err == nil || refused && refusal.Code != protocol.Unavailable
}
