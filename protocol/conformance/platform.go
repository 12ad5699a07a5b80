package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/netfault"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
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
	rep.Results, err = runAll(ctx, r, platformScenarios, func(t trial) platformTrial { return platformTrial{r, t} }, o)
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
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Arrive)
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
	ctx, cancel := context.WithTimeout(ctx, recovery)
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
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
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

// restart kills the platform and starts it again.
func (r *platformRig) restart(ctx context.Context, away time.Duration) error {
	if err := r.cfg.Program.Kill(); err != nil {
		return err
	}
	if err := sleep(ctx, away); err != nil {
		return err
	}
	return r.cfg.Program.Start()
}
