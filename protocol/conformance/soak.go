package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"sparring/game"
	"sparring/internal/netfault"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// SoakOptions say how much a soak test plays.
type SoakOptions struct {
	Games  int
	AtOnce int  // games at once; 0: 6
	Faults bool // disturb the players' connections, and the platform, at random
	// Progress, unless nil, is called after each game, by one goroutine at a time. It
	// must not keep the report's maps.
	Progress func(SoakReport)
	// Broken, unless nil, is called for each entry of the report's Broken as it is
	// added, by one goroutine at a time.
	Broken func(string)
}

// SoakReport is the outcome of a soak test.
type SoakReport struct {
	Games   int                 `json:"games"`            // that have ended
	Again   int                 `json:"again,omitempty"`  // challenges that found nobody in time and were made again
	Plies   int                 `json:"plies"`            // of all games
	Reasons map[game.Reason]int `json:"reasons"`          // for which they ended
	Faults  map[string]int      `json:"faults,omitempty"` // that were injected
	Broken  []string            `json:"broken"`           // what no platform does
	TookMS  int64               `json:"took_ms"`
}

// gameLimit is how long a game of a soak test may take before it counts as lost.
const gameLimit = 4 * time.Minute

// unlisted is how long the players keep a game that the platform does not list: as long
// as the protocol says.
const unlisted = 5 * time.Second

// vacantLimit is how long both seats of a game may be without a holder: vacated ones
// are offered again at once.
const vacantLimit = 30 * time.Second

// Soak plays games at once between the three players, whose connections fail at random,
// as the platform's does; if its process is ours, that is killed and paused, too. Every
// game must end once, for both players alike, by its own moves: their clocks are longer
// than any fault. The seed repeats the order of the faults, as far as processes allow.
func Soak(ctx context.Context, cfg PlatformConfig, o SoakOptions) (SoakReport, error) {
	cfg.Ease, cfg.Arrive, o.AtOnce = max(cfg.Ease, 1), cmp.Or(cfg.Arrive, time.Minute), cmp.Or(o.AtOnce, 6)
	subjects, err := protocol.NewSubjects(cfg.Prefix)
	if err != nil {
		return SoakReport{}, err
	}
	s := &soak{
		platformRig: &platformRig{cfg: cfg, subjects: subjects}, options: o, rng: rand.New(rand.NewPCG(cfg.Seed, 4)), began: time.Now(),
		report: SoakReport{Reasons: map[game.Reason]int{}, Faults: map[string]int{}},
	}
	defer s.closeAll()
	if cfg.Program != nil {
		if err := cfg.Program.Start(); err != nil {
			return SoakReport{}, err
		}
		defer cfg.Program.Kill() // it is gone either way
	}
	if err := s.arrive(ctx); err != nil {
		return SoakReport{}, err
	}
	err = s.run(ctx)
	return s.report, err
}

// soak is a soak test.
type soak struct {
	*platformRig
	options SoakOptions
	rng     *rand.Rand // of the goroutine that injects faults
	began   time.Time

	mu     sync.Mutex
	begun  int // games
	report SoakReport
}

func (s *soak) broken(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.report.Broken) == 100 {
		return
	}
	what := fmt.Sprintf(format, args...)
	s.report.Broken = append(s.report.Broken, what)
	if f := s.options.Broken; f != nil {
		f(what)
	}
}

func (s *soak) run(ctx context.Context) error {
	var players []*scripted.Player
	for who := range s.cfg.Players {
		p, _, err := s.joinProxied(ctx, who, active, func(c *scripted.PlayerConfig) {
			c.Slots, c.Think, c.Unlisted = 2*s.options.AtOnce, 5*time.Millisecond, unlisted
			c.Watch = who != eve // so that there are games of both kinds
		})
		if err != nil {
			return s.cfg.Program.withExit(err)
		}
		p.SetHooks(scripted.PlayerHooks{Refused: func(seat *scripted.Seat, m protocol.MoveRequest, e *protocol.Error) bool {
			if e.Code == protocol.Illegal || e.Code == protocol.Malformed {
				s.broken("game %s: the legal move %s at ply %d was refused: %v", seat.Game, m.Move, m.Ply, e)
			}
			return false
		}})
		players = append(players, p)
	}
	disturbing, stop := context.WithCancel(ctx)
	var faults, games sync.WaitGroup
	if s.options.Faults {
		faults.Go(func() { s.disturb(disturbing) })
	}
	for i := range s.options.AtOnce {
		a, b := players[i%3], players[(i+1+i/3%2)%3]
		games.Go(func() {
			for s.another() && ctx.Err() == nil {
				s.play(ctx, a, b)
			}
		})
	}
	games.Wait()
	stop()
	faults.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.checkSlots(ctx, players)
	for _, p := range players {
		for _, err := range p.Faults() {
			s.broken("%v", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.TookMS = time.Since(s.began).Milliseconds()
	return nil
}

// another reports whether one more game should begin.
func (s *soak) another() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	return s.begun <= s.options.Games
}

// play plays one game to its end.
func (s *soak) play(whole context.Context, a, b *scripted.Player) {
	ctx, cancel := context.WithTimeout(whole, gameLimit)
	defer cancel()
	id, ok := s.agree(ctx, a, b)
	if !ok {
		return
	}
	// A player whose connection was down at the end learns of it by its heartbeats.
	over := func(p *scripted.Player) (st protocol.State, done bool) {
		p.Do(func() {
			st, _ = p.Last(id)
			done = !p.Holds(id)
		})
		return st, done
	}
	var ends [2]protocol.State
	var dropped time.Time // by both, without an end
	for {
		var done [2]bool
		ends[0], done[0] = over(a)
		ends[1], done[1] = over(b)
		if done[0] && done[1] {
			if ends[0].Status == protocol.Finished || ends[1].Status == protocol.Finished {
				break
			}
			// Both seats were vacated, and will be offered again, or the end was lost.
			if dropped.IsZero() {
				dropped = time.Now()
			} else if time.Since(dropped) > vacantLimit {
				break
			}
		} else {
			dropped = time.Time{}
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			if whole.Err() != nil {
				return // interrupted
			}
			s.broken("game %s was lost: after %v it stands at %d and %d plies", id, gameLimit, len(ends[0].Moves), len(ends[1].Moves))
			return
		}
	}
	s.ended(id, ends)
}

// agree makes a challenge until it becomes a game.
func (s *soak) agree(ctx context.Context, a, b *scripted.Player) (protocol.GameID, bool) {
	for {
		ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: s.terms, Opponent: b.ID(), ExpireMS: 30_000})
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return "", false // interrupted
		case ctx.Err() != nil:
			s.broken("a challenge was not answered for %v: %v", gameLimit, err)
			return "", false
		case err != nil: // such as unknown-peer and rate-limited
			if sleep(ctx, 200*time.Millisecond) != nil {
				return "", false
			}
			continue
		}
		a.Follow(ans.Game)
		// The grant, or the end of the challenge; the notice of that may be lost.
		soon, cancel := context.WithTimeout(ctx, 60*time.Second)
		granted := false
		a.Wait(soon, "the game", func() bool {
			_, granted = a.Last(ans.Game)
			return granted || !a.Holds(ans.Game)
		})
		cancel()
		if granted {
			return ans.Game, true
		}
		a.Forget(ans.Game)
		s.mu.Lock()
		s.report.Again++
		s.mu.Unlock()
	}
}

// ended counts a game and checks its end.
func (s *soak) ended(id protocol.GameID, ends [2]protocol.State) {
	last := ends[0]
	if last.Status != protocol.Finished || ends[1].Status == protocol.Finished && len(ends[1].Moves) > len(last.Moves) {
		last = ends[1]
	}
	switch {
	case last.Status != protocol.Finished:
		s.broken("game %s: neither player was told an end, nor given the seat again for %v, after %d and %d plies", id, vacantLimit, len(ends[0].Moves), len(ends[1].Moves))
	case ends[0].Status == ends[1].Status && (ends[0].Outcome != ends[1].Outcome || !slices.Equal(ends[0].Moves, ends[1].Moves)):
		s.broken("game %s has two results: %s by %q and %s by %q", id, ends[0].Outcome.Result, ends[0].Outcome.Reason, ends[1].Outcome.Result, ends[1].Outcome.Reason)
	case !byRules(last.Outcome):
		left := last.Clocks.Seats
		s.broken("game %s ended after %d plies by %q, with %d and %d ms left", id, len(last.Moves), last.Outcome.Reason, left[0].LeftMS, left[1].LeftMS)
	}
	s.mu.Lock()
	s.report.Games++
	s.report.Plies += len(last.Moves)
	s.report.Reasons[last.Outcome.Reason]++
	s.report.TookMS = time.Since(s.began).Milliseconds()
	if f := s.options.Progress; f != nil {
		f(s.report)
	}
	s.mu.Unlock()
}

// checkSlots checks that neither side still counts a game.
func (s *soak) checkSlots(ctx context.Context, players []*scripted.Player) {
	for _, p := range players {
		var ours, theirs []protocol.GameID
		if err := s.poll(ctx, 30*time.Second, func() bool {
			if p.SayHello(ctx) != nil {
				return false
			}
			p.Do(func() { ours, theirs = p.Playing(), p.Greeting().Held })
			return len(ours) == 0 && len(theirs) == 0
		}); err != nil {
			s.broken("slots of %s leaked: it plays %v, and holds %v according to the platform", p.ID(), ours, theirs)
		}
	}
}

// disturb injects faults until ctx ends, and heals them.
func (s *soak) disturb(ctx context.Context) {
	defer func() {
		for _, p := range s.proxies {
			p.Heal()
		}
		if s.cfg.Proxy != nil {
			s.cfg.Proxy.Heal()
		}
	}()
	for sleep(ctx, time.Duration(300+s.rng.IntN(1200))*time.Millisecond) == nil {
		name, err := s.inject(ctx)
		if err != nil && ctx.Err() == nil {
			s.broken("%s: %v", name, err)
			return
		}
		s.mu.Lock()
		s.report.Faults[name]++
		s.mu.Unlock()
	}
}

// inject injects one fault, and heals it if it lasts.
func (s *soak) inject(ctx context.Context) (name string, err error) {
	who := "player"
	proxy := s.proxies[s.rng.IntN(len(s.proxies))]
	if s.cfg.Proxy != nil && s.rng.IntN(4) == 0 {
		who, proxy = "platform", s.cfg.Proxy
	}
	lasts := time.Duration(200+s.rng.IntN(2500)) * time.Millisecond
	hold := func(on func(*netfault.Proxy), off func(*netfault.Proxy)) error {
		on(proxy)
		err := sleep(ctx, lasts)
		off(proxy)
		return err
	}
	kinds := 5
	if s.cfg.Program != nil {
		kinds = 7
	}
	switch s.rng.IntN(kinds) {
	case 0:
		proxy.Cut()
		return who + " cut", nil
	case 1:
		return who + " half-open", hold((*netfault.Proxy).HalfOpen, (*netfault.Proxy).Heal)
	case 2:
		return who + " stalled", hold(func(p *netfault.Proxy) { p.Stall(true) }, (*netfault.Proxy).Heal)
	case 3:
		return who + " refused", hold(func(p *netfault.Proxy) { p.Refuse(true) }, (*netfault.Proxy).Heal)
	case 4:
		return who + " slow", hold(func(p *netfault.Proxy) { p.Delay(jitter) }, (*netfault.Proxy).Heal)
	case 5:
		return "platform killed", s.restart(ctx, lasts)
	}
	if err := s.cfg.Program.Signal(sigPause); err != nil {
		return "platform paused", err
	}
	return "platform paused", errors.Join(sleep(ctx, lasts), s.cfg.Program.Signal(sigResume))
}
