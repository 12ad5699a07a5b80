package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/netfault"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// BotConfig says which bot is under test, and what the suite may do to it.
type BotConfig struct {
	Connection protocol.Connection // of the platform's account
	Prefix     string              // of all subjects
	Player     protocol.PlayerID   // for whom the bot acts
	// Proxy, unless nil, is what the bot connects through.
	Proxy *netfault.Proxy
	// Program, unless nil, is the bot's process. CheckBot starts and ends it.
	Program *Program
	Rules   string // of the games; "": a small board that the bot's hello offers
	// Arrive is how long to wait for the bot's hello; 0: a minute.
	Arrive time.Duration
	// Ease multiplies the times within which the bot must act: 1.5 s for a heartbeat,
	// after which a platform gives seats away, a second for an offer, and a second on a
	// clock. More than 1 is for busy machines; 0 means 1.
	Ease int
	Seed uint64
	Log  zerolog.Logger
}

// BotScenarios describes the scenarios of [CheckBot].
func BotScenarios() []Description { return describe(botScenarios) }

// CheckBot is the platform for a bot until all scenarios have run. It returns an error
// if they can't be run at all, such as when no bot comes.
func CheckBot(ctx context.Context, cfg BotConfig, o Options) (Report, error) {
	if err := o.Validate(BotScenarios()); err != nil {
		return Report{}, err
	}
	if cfg.Arrive == 0 {
		cfg.Arrive = time.Minute
	}
	cfg.Ease = max(cfg.Ease, 1)
	nc, err := protocol.Dial(ctx, cfg.Connection)
	if err != nil {
		return Report{}, err
	}
	defer nc.Close()
	p, err := scripted.NewPlatform(nc, scripted.Config{Prefix: cfg.Prefix, Heartbeat: heartbeat, Seed: cfg.Seed, Log: cfg.Log})
	if err != nil {
		return Report{}, err
	}
	defer p.Close()
	r := &botRig{Platform: p, cfg: cfg, nc: nc}
	if err := r.listen(); err != nil {
		return Report{}, err
	}
	if cfg.Program != nil {
		if err := cfg.Program.Start(); err != nil {
			return Report{}, err
		}
		defer cfg.Program.Kill() // it is gone either way
	}
	if err := r.arrive(ctx); err != nil {
		return Report{}, err
	}
	rep := Report{Side: "bot", Program: r.hello.Build}
	rep.Results, err = runAll(ctx, r, botScenarios, func(t trial) botTrial { return botTrial{r, t} }, o)
	return rep, err
}

// Times that the bot must keep, before they are eased.
const (
	heartbeat = 200 * time.Millisecond  // the interval that it is told
	longest   = 1500 * time.Millisecond // between two of them
	offerFor  = time.Second
	least     = time.Second // on a clock
)

func (r *botRig) eased(d time.Duration) time.Duration { return time.Duration(r.cfg.Ease) * d }

// botRig is the platform for a bot under test.
type botRig struct {
	*scripted.Platform
	cfg   BotConfig
	nc    *nats.Conn
	hello protocol.Hello // the first
	terms protocol.Terms // that the bot takes
	kind  protocol.Kind  // of its opponents
	free  int            // slots while no game runs

	mu       sync.Mutex
	faults   []error                // of the bot's messages in this scenario
	pardoned map[protocol.Code]bool // refusals that are no fault in this scenario
}

// pardon makes refusals with these codes no fault of the bot in this scenario.
func (r *botRig) pardon(codes ...protocol.Code) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range codes {
		r.pardoned[c] = true
	}
}

func (r *botRig) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.faults) < 10 {
		r.faults = append(r.faults, fmt.Errorf(format, args...))
	}
}

func (r *botRig) has(n need) bool {
	switch n {
	case needProxy:
		return r.cfg.Proxy != nil
	case needProgram:
		return r.cfg.Program != nil
	}
	return true
}

// listen reads all that the bot sends, and notes what is malformed.
func (r *botRig) listen() error {
	s := r.Subjects()
	_, err := r.nc.Subscribe(s.Prefix()+".play."+string(r.cfg.Player)+".>", func(msg *nats.Msg) {
		if err := checkRequest(s, msg.Subject, msg.Data); err != nil {
			r.fault("%s: %v", strings.TrimPrefix(msg.Subject, s.Prefix()+"."), err)
		}
	})
	return err
}

// arrive waits for the bot's first hello and chooses terms that it takes.
func (r *botRig) arrive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Arrive)
	defer cancel()
	ctx, stop := r.cfg.Program.Running(ctx)
	defer stop()
	if err := r.Wait(ctx, "a hello for player "+string(r.cfg.Player), func() bool {
		q := r.Peer(r.cfg.Player)
		if q != nil {
			r.hello = q.Hello
		}
		return q != nil
	}); err != nil {
		return r.cfg.Program.withExit(err)
	}
	return r.chooseTerms()
}

// chooseTerms chooses terms that the bot's hello does not exclude.
func (r *botRig) chooseTerms() error {
	rules := []string{"amazons/6x6", "gomoku/freestyle-15", "xiangqi/simple"}
	if r.cfg.Rules != "" {
		rules = []string{r.cfg.Rules}
	} else {
		for _, g := range catalog.Games() {
			rules = append(rules, g.Sets...)
		}
	}
	for _, name := range rules {
		set, err := catalog.Rules(name)
		if err != nil {
			return err
		}
		for _, clockText := range []string{"60+1", "180+2", "900+10"} {
			c, err := clock.Parse(clockText)
			if err != nil {
				return err
			}
			for _, kind := range []protocol.Kind{protocol.Bot, protocol.Human} {
				for _, rated := range []bool{true, false} {
					t := protocol.Terms{Game: set.Game, Rules: name, Clock: c, Rated: rated}
					if r.hello.Declines(t, protocol.Opponent{Player: scripted.Script, Kind: kind}) == "" {
						r.terms, r.kind = t, kind
						return nil
					}
				}
			}
		}
	}
	return fmt.Errorf("the bot's hello takes no game that the suite can play (--rules names one)")
}

// recovery is how long a bot may take to be back with all its slots.
const recovery = 30 * time.Second

// present waits until the bot is there with all its slots free.
func (r *botRig) present(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, recovery)
	defer cancel()
	since := time.Now()
	heard, free, games := false, 0, 0
	err := r.Wait(ctx, "the bot with free slots", func() bool {
		q := r.Peer(r.cfg.Player)
		if q == nil || !q.Known || q.LastBeat.Before(since) {
			return false
		}
		heard, free, games = true, q.Alive.Free, len(q.Alive.Games)
		return free >= max(r.free, 1) && games == 0
	})
	switch {
	case err == nil:
		r.free = free
		return nil
	case !heard:
		return r.cfg.Program.withExit(fmt.Errorf("no heartbeats came for %v", recovery))
	}
	return fmt.Errorf("%v later %d of %d slots are free, %d games are listed", recovery, free, max(r.free, 1), games)
}

func (r *botRig) begin(ctx context.Context, _ string) error {
	if r.cfg.Program != nil {
		if gone, _ := r.cfg.Program.Exited(); gone {
			if err := r.cfg.Program.Start(); err != nil {
				return err
			}
		}
	}
	if err := r.present(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	r.faults, r.pardoned = nil, map[protocol.Code]bool{}
	r.mu.Unlock()
	r.Do(func() {
		for _, g := range r.Games() {
			g.Requests = nil
		}
		r.Peer(r.cfg.Player).LongGap = 0
	})
	return nil
}

// end ends all games, and returns what the bot sent that no bot should.
func (r *botRig) end(ctx context.Context) error {
	r.SetHooks(scripted.Hooks{})
	if r.cfg.Proxy != nil {
		r.cfg.Proxy.Heal()
	}
	r.Do(func() {
		for _, g := range r.Games() {
			r.End(g, game.Outcome{Result: game.Undecided, Reason: protocol.ReasonVoid})
			for _, q := range g.Requests {
				if e := r.judge(g, q); e != nil {
					r.fault("%v", e)
				}
			}
		}
	})
	r.mu.Lock()
	errs := r.faults
	r.mu.Unlock()
	if r.cfg.Program != nil {
		if gone, _ := r.cfg.Program.Exited(); gone {
			return errors.Join(errs...) // the next scenario starts it
		}
	}
	if err := r.present(ctx); err != nil {
		errs = append(errs, fmt.Errorf("afterwards: %w", err))
	}
	return errors.Join(errs...)
}

// judge returns why a bot should not have sent a request, by the platform's answer.
func (r *botRig) judge(g *scripted.Game, q scripted.Request) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := ""
	switch {
	case r.pardoned[q.Code]:
		return nil
	case q.Code == protocol.Illegal:
		why = "illegal"
	case q.Code == protocol.NotYourTurn:
		why = "sent out of turn"
	case q.Code == protocol.Stale:
		why = "refused as stale"
	case q.Code == protocol.Over && g.Outcome.Reason == protocol.ReasonDispute:
		why = fmt.Sprintf("sent with the key %s, by the rules another one", q.Key)
	default:
		return nil
	}
	return fmt.Errorf("move %.20q at ply %d (epoch %d): %s", q.Move, q.Ply, q.Epoch, why)
}

// checkRequest decodes a request of a player as its subject says.
func checkRequest(s protocol.Subjects, subject string, data []byte) error {
	check := func(e *protocol.Error) error {
		if e == nil {
			return nil
		}
		return e
	}
	lim := protocol.DefaultLimits
	if _, _, action, ok := s.ParseAct(subject); ok {
		switch action {
		case protocol.ActMove:
			_, e := protocol.Decode[protocol.MoveRequest](data, lim)
			return check(e)
		case protocol.ActChat:
			_, e := protocol.Decode[protocol.ChatRequest](data, lim)
			return check(e)
		case protocol.ActResign, protocol.ActDraw, protocol.ActTakeback:
			m, e := protocol.Decode[protocol.ActRequest](data, lim)
			if e != nil {
				return e
			}
			return m.CheckFor(action)
		}
		return fmt.Errorf("there is no action %.20q", action)
	}
	_, verb, _ := s.ParsePlay(subject)
	switch verb {
	case protocol.VerbHello:
		_, e := protocol.Decode[protocol.Hello](data, lim)
		return check(e)
	case protocol.VerbAlive:
		_, e := protocol.Decode[protocol.Alive](data, lim)
		return check(e)
	case protocol.VerbLeave:
		_, e := protocol.Decode[protocol.Leave](data, lim)
		return check(e)
	case protocol.VerbChallenge:
		_, e := protocol.Decode[protocol.ChallengeRequest](data, lim)
		return check(e)
	case protocol.VerbWithdraw:
		_, e := protocol.Decode[protocol.Withdraw](data, lim)
		return check(e)
	case protocol.VerbStandings:
		_, e := protocol.Decode[protocol.StandingsRequest](data, lim)
		return check(e)
	}
	return fmt.Errorf("there is no verb %.20q", verb)
}

// freshSince returns the requests after the first n that do not repeat an earlier one.
// Call it under the lock.
func freshSince(g *scripted.Game, n int) (list []scripted.Request) {
	for i, q := range g.Requests {
		if i >= n && !slices.ContainsFunc(g.Requests[:i], func(p scripted.Request) bool { return p.ID == q.ID }) {
			list = append(list, q)
		}
	}
	return list
}

// sleep waits for d. It returns the cause of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// movesAt returns the requests for moves at a ply. Call it under the lock.
func movesAt(g *scripted.Game, ply int) (list []scripted.Request) {
	for _, q := range g.Requests {
		if q.Ply == ply {
			list = append(list, q)
		}
	}
	return list
}
