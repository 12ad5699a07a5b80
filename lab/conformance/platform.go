package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/lab/conformance/netfault"
	"sparring/lab/conformance/scripted"
	"sparring/protocol"
)

// PlatformConfig says which platform is under test, and what the suite may do to it.
type PlatformConfig struct {
	// Player returns how a player connects.
	Player func(protocol.PlayerID) protocol.Connection
	Prefix string // of all subjects
	// Players are three players whom the suite plays: two who meet, and a stranger.
	Players [3]protocol.PlayerID
	// Proxy, unless nil, is what the platform connects to NATS through.
	Proxy *netfault.Proxy
	// Program, unless nil, is the platform's process. CheckPlatform starts and ends it.
	Program *Program
	// Disk, unless nil, is that of the NATS server.
	Disk  Disk
	Rules string // of the games; "": a small board, if the platform has it
	// Arrive is how long to wait for the platform; 0: a minute.
	Arrive time.Duration
	// Ease multiplies the times within which the platform must act, such as to tell a
	// move; 0 means 1.
	Ease int
	Seed uint64
	Log  zerolog.Logger
}

// Disk is a disk that can be filled.
type Disk interface {
	// Fill leaves no room on the disk. What others delete later is room again, so it is
	// called repeatedly.
	Fill() error
	// Empty makes room again, and does what the platform's operator is told to do then.
	Empty() error
}

// PlatformScenarios describes the scenarios of [CheckPlatform].
func PlatformScenarios() []Description { return describe(platformScenarios) }

// CheckPlatform plays on a platform until all scenarios have run. It returns an error if
// they can't be run at all, such as when no platform answers.
func CheckPlatform(ctx context.Context, cfg PlatformConfig, o Options) (Report, error) {
	if err := o.Validate(PlatformScenarios()); err != nil {
		return Report{}, err
	}
	cfg.Ease, cfg.Arrive = max(cfg.Ease, 1), cmp.Or(cfg.Arrive, time.Minute)
	subjects, err := protocol.NewSubjects(cfg.Prefix)
	if err != nil {
		return Report{}, err
	}
	r := &platformRig{cfg: cfg, subjects: subjects}
	defer r.closeAll()
	if cfg.Program != nil {
		if err := cfg.Program.Start(); err != nil {
			return Report{}, err
		}
		defer cfg.Program.Kill() // it is gone either way
	}
	if err := r.arrive(ctx); err != nil {
		return Report{}, err
	}
	rep := Report{Side: "platform"}
	rep.Results, err = runAll(ctx, r, platformScenarios, o)
	return rep, err
}

// platformRig has the players on a platform under test.
type platformRig struct {
	cfg      PlatformConfig
	subjects protocol.Subjects
	terms    protocol.Terms
	limits   protocol.Limits

	players []*scripted.Player
	conns   []*nats.Conn
	proxies []*netfault.Proxy
}

func (r *platformRig) eased(d time.Duration) time.Duration { return time.Duration(r.cfg.Ease) * d }

func (r *platformRig) has(n need) bool {
	switch n {
	case needProxy:
		return r.cfg.Proxy != nil
	case needProgram:
		return r.cfg.Program != nil
	case needDisk:
		return r.cfg.Disk != nil
	}
	return true
}

// The players of a scenario, by the order in the settings.
const (
	ann = iota
	bob
	eve
)

// arrive waits for the platform, and chooses terms that it knows.
func (r *platformRig) arrive(ctx context.Context) error {
	ctx, cancel := within(ctx, r.cfg.Arrive)
	defer cancel()
	ctx, stop := r.cfg.Program.Running(ctx)
	defer stop()
	p, err := r.join(ctx, ann)
	if err != nil {
		return r.cfg.Program.withExit(fmt.Errorf("no platform answers: %w", err))
	}
	defer r.closeAll()
	rules := []string{"amazons/6x6", "gomoku/freestyle-15", "xiangqi/simple"}
	if r.cfg.Rules != "" {
		rules = []string{r.cfg.Rules}
	}
	p.Do(func() { r.limits = p.Greeting().Limits })
	spec, err := clock.Parse("60+1")
	if err != nil {
		return err
	}
	spec.Initial = r.eased(spec.Initial) // what is waited for takes a part of it
	for _, name := range rules {
		set, err := catalog.Rules(name)
		if err != nil {
			return err
		}
		r.terms = protocol.Terms{Game: set.Game, Rules: name, Clock: spec}
		ans, err := p.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Opponent: r.cfg.Players[bob], ExpireMS: 60_000})
		if err == nil {
			_, err := p.Withdraw(ctx, ans.Game)
			return err
		}
		if !errors.Is(err, &protocol.Error{Code: protocol.UnknownGame}) {
			return fmt.Errorf("a first challenge: %w", err)
		}
	}
	return errors.New("the platform has no game that the suite can play (--rules names one)")
}

func (r *platformRig) begin(ctx context.Context, _ string) error {
	if r.cfg.Program != nil {
		if gone, _ := r.cfg.Program.Exited(); gone {
			if err := r.cfg.Program.Start(); err != nil {
				return err
			}
		}
	}
	ctx, cancel := within(ctx, recovery)
	defer cancel()
	if _, err := r.join(ctx, eve); err != nil {
		return r.cfg.Program.withExit(fmt.Errorf("the platform does not answer: %w", err))
	}
	r.closeAll()
	return nil
}

// end ends the games and the players, and returns what they saw that no platform does.
func (r *platformRig) end(ctx context.Context) error {
	if r.cfg.Proxy != nil {
		r.cfg.Proxy.Heal()
	}
	for _, p := range r.proxies {
		p.Heal()
	}
	var errs []error
	for _, p := range r.players {
		errs = append(errs, p.Faults()...)
		ctx, cancel := within(ctx, 5*time.Second)
		p.ResignAll(ctx)
		cancel()
	}
	r.closeAll()
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	errs = slices.CompactFunc(errs, func(a, b error) bool { return a.Error() == b.Error() }) // both players see the same
	return errors.Join(errs...)
}

func (r *platformRig) closeAll() {
	for _, p := range r.players {
		p.Close()
	}
	for _, nc := range r.conns {
		nc.Close()
	}
	for _, p := range r.proxies {
		p.Close()
	}
	r.players, r.conns, r.proxies = nil, nil, nil
}

// connect opens a connection of a player.
func (r *platformRig) connect(c protocol.Connection) (*nats.Conn, error) {
	c.Log = r.cfg.Log
	nc, err := protocol.Connect(c)
	if err == nil {
		r.conns = append(r.conns, nc)
	}
	return nc, err
}

// join starts a player, idle unless changed.
func (r *platformRig) join(ctx context.Context, who int, change ...func(*scripted.PlayerConfig)) (*scripted.Player, error) {
	return r.joinAt(ctx, r.cfg.Player(r.cfg.Players[who]), who, change...)
}

// joinProxied is join through a proxy of its own.
func (r *platformRig) joinProxied(ctx context.Context, who int, change ...func(*scripted.PlayerConfig)) (*scripted.Player, *netfault.Proxy, error) {
	c := r.cfg.Player(r.cfg.Players[who])
	u, err := url.Parse(c.URL)
	if err != nil || c.InProcess != nil {
		return nil, nil, notTried("a player can't connect through a proxy to %q", c.URL)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "4222")
	}
	proxy, err := netfault.Listen(host)
	if err != nil {
		return nil, nil, err
	}
	r.proxies = append(r.proxies, proxy)
	u.Host = proxy.Addr()
	c.URL = u.String()
	p, err := r.joinAt(ctx, c, who, change...)
	return p, proxy, err
}

func (r *platformRig) joinAt(ctx context.Context, at protocol.Connection, who int, change ...func(*scripted.PlayerConfig)) (*scripted.Player, error) {
	nc, err := r.connect(at)
	if err != nil {
		return nil, err
	}
	cfg := scripted.PlayerConfig{Prefix: r.cfg.Prefix, Player: r.cfg.Players[who], Idle: true, Seed: r.cfg.Seed + uint64(len(r.players)), Log: r.cfg.Log}
	for _, f := range change {
		f(&cfg)
	}
	p, err := scripted.NewPlayer(nc, cfg)
	if err != nil {
		return nil, err
	}
	r.players = append(r.players, p)
	return p, p.Start(ctx)
}

// active makes a player move by itself.
func active(c *scripted.PlayerConfig) { c.Idle = false }

// match is a game of two players who have got its first state.
type match struct {
	r        *platformRig
	id       protocol.GameID
	ann, bob *scripted.Player
}

// meet starts both players and a game between them, in which ann opens.
func (r *platformRig) meet(ctx context.Context, terms protocol.Terms, change ...func(*scripted.PlayerConfig)) (*match, error) {
	a, err := r.join(ctx, ann, change...)
	if err != nil {
		return nil, err
	}
	b, err := r.join(ctx, bob, change...)
	if err != nil {
		return nil, err
	}
	return r.pair(ctx, a, b, terms)
}

// pair starts a game between two players.
func (r *platformRig) pair(ctx context.Context, a, b *scripted.Player, terms protocol.Terms) (*match, error) {
	first := game.First
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: terms, Seat: &first, Opponent: b.ID(), ExpireMS: 30_000})
	if err != nil {
		return nil, broken("the challenge: %v", err)
	}
	a.Follow(ans.Game)
	m := &match{r, ans.Game, a, b}
	return m, m.both(ctx, "the first state", func(protocol.State) bool { return true })
}

// meetAt is meet, and plays n plies.
func (r *platformRig) meetAt(ctx context.Context, n int, terms protocol.Terms) (*match, error) {
	m, err := r.meet(ctx, terms)
	if err != nil {
		return nil, err
	}
	return m, m.playTo(ctx, n)
}

// heldBy reports whether the last answer to a hello listed the game as held.
func (m *match) heldBy(p *scripted.Player) (held bool) {
	p.Do(func() { held = slices.Contains(p.Greeting().Held, m.id) })
	return held
}

// both waits until both players have got a state that fulfils ok.
func (m *match) both(ctx context.Context, what string, ok func(protocol.State) bool) error {
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		if _, err := p.Until(ctx, m.id, what, ok); err != nil {
			return broken("%v", err)
		}
	}
	return nil
}

// state returns the last state that a player got.
func (m *match) state(p *scripted.Player) (st protocol.State) {
	p.Do(func() { st, _ = p.Last(m.id) })
	return st
}

// mover returns the player whose turn it is.
func (m *match) mover() *scripted.Player {
	st := m.state(m.ann)
	if st.Turn == st.You {
		return m.ann
	}
	return m.bob
}

// choose returns a legal move in the player's last state.
func (m *match) choose(p *scripted.Player) (req protocol.MoveRequest, err error) {
	p.Do(func() {
		st, _ := p.Last(m.id)
		req, err = p.Choose(st)
	})
	return req, err
}

// plies is a condition for states.
func plies(n int) func(protocol.State) bool {
	return func(st protocol.State) bool { return len(st.Moves) >= n }
}

func finished(st protocol.State) bool { return st.Status == protocol.Finished }

// playTo makes moves in turn until the game has n plies.
func (m *match) playTo(ctx context.Context, n int) error {
	for i := len(m.state(m.ann).Moves); i < n; i++ {
		p := m.mover()
		req, err := m.choose(p)
		if err != nil {
			return err
		}
		if _, err := p.SendMove(ctx, m.id, req); err != nil {
			return broken("a legal move at ply %d: %v", i, err)
		}
		if err := m.both(ctx, "the move", plies(i+1)); err != nil {
			return err
		}
	}
	return nil
}

// refused checks that a request was refused with one of the codes, and that the game
// has not changed.
func (m *match) refused(ctx context.Context, what string, err error, codes ...protocol.Code) (protocol.Code, error) {
	before := m.state(m.ann)
	refusal, ok := errors.AsType[*protocol.Error](err)
	switch {
	case err == nil:
		return "", broken("%s was accepted", what)
	case !ok:
		return "", broken("%s was not answered: %v", what, err)
	case len(codes) > 0 && !slices.Contains(codes, refusal.Code):
		return "", broken("%s was refused as %q, want %q", what, refusal.Code, codes)
	}
	if err := m.ann.SayHello(ctx); err != nil { // brings the state again
		return "", err
	}
	st, err := m.ann.Until(ctx, m.id, "its state again", func(st protocol.State) bool { return st.ServerTime.After(before.ServerTime) })
	if err != nil {
		return "", broken("%v", err)
	}
	if len(st.Moves) != len(before.Moves) || st.Status != before.Status || st.Holders[0].Epoch != before.Holders[0].Epoch {
		return "", broken("%s was refused as %q, but has changed the game", what, refusal.Code)
	}
	return refusal.Code, nil
}

// ends waits for the end and checks that both players were told the same.
func (m *match) ends(ctx context.Context) (game.Outcome, error) {
	if err := m.both(ctx, "the end", finished); err != nil {
		return game.Outcome{}, err
	}
	a, b := m.state(m.ann), m.state(m.bob)
	if a.Outcome != b.Outcome || len(a.Moves) != len(b.Moves) {
		return a.Outcome, broken("one player was told %s by %q after %d plies, the other %s by %q after %d",
			a.Outcome.Result, a.Outcome.Reason, len(a.Moves), b.Outcome.Result, b.Outcome.Reason, len(b.Moves))
	}
	return a.Outcome, nil
}

// byRules reports whether a game was ended by its moves.
func byRules(o game.Outcome) bool { return o.Over() && !endedBy[o.Reason] }

// endsWell waits for an end by the moves of the game.
func (m *match) endsWell(ctx context.Context) (string, error) {
	out, err := m.ends(ctx)
	if err != nil {
		return "", err
	}
	n := len(m.state(m.ann).Moves)
	if !byRules(out) {
		return "", broken("the game ended after %s: %s by %q", plyCount(n), out.Result, out.Reason)
	}
	return fmt.Sprintf("%s by %s after %s", out.Result, out.Reason, plyCount(n)), nil
}

// raw sends any bytes as a request of a player.
func (r *platformRig) raw(ctx context.Context, p *scripted.Player, verb protocol.Verb, data []byte) (ans protocol.Answer, whole []byte, err error) {
	for { // with no responders yet, or a lost message
		try, cancel := within(ctx, r.eased(time.Second))
		msg, err := p.Conn().RequestWithContext(try, r.subjects.Play(p.ID(), verb), data)
		cancel()
		if err == nil {
			return ans, msg.Data, json.Unmarshal(msg.Data, &ans)
		}
		if ctx.Err() != nil {
			return ans, nil, err
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return ans, nil, err
		}
	}
}

// respond answers an offer.
func (r *platformRig) respond(msg *nats.Msg, ans protocol.OfferAnswer) error {
	data, err := json.Marshal(ans)
	if err != nil {
		return err
	}
	return msg.Respond(data)
}
