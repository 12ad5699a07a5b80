package fleetbench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/texttable"
	"sparring/protocol"
)

// LossPlan says how bot processes are lost while games run.
type LossPlan struct {
	Processes int // bot processes, which share all players
	Slots     int // of each
	Room      int // percent of all slots that seats take
	Games     int // that have to end
	Rules     []string
	Clock     clock.Spec
	By        LossKind
	Away      time.Duration // until a lost process is there again
	Every     time.Duration // from then to the next loss
}

// LossKind is how a process is lost.
type LossKind string

// The kinds of loss.
const (
	LossKill   LossKind = "kill"   // a bot process is killed, and started again
	LossStop   LossKind = "stop"   // a bot process is stopped, as by SIGSTOP, and goes on
	LossServer LossKind = "server" // the NATS server is stopped, and goes on
)

// lossPlayers are players of the user "bots", who answers the operator: room is kept for such
// processes only.
var lossPlayers = []protocol.PlayerID{"xiangqi-hare", "xiangqi-tortoise", "gomoku-hare", "gomoku-tortoise", "amazons-hare", "amazons-tortoise"}

// AtOnce is how many games run at once.
func (p *LossPlan) AtOnce() int { return max(p.Processes*p.Slots*p.Room/200, 1) }

// Validate returns an error if the plan can't be carried out.
func (p *LossPlan) Validate() error {
	switch most := len(lossPlayers) * protocol.MaxPlaying; {
	case p.Processes < 1 || p.Processes > 64:
		return fmt.Errorf("processes %d: must be 1 to 64", p.Processes)
	case p.Slots < 1 || p.Slots > most:
		return fmt.Errorf("slots %d: must be 1 to %d", p.Slots, most)
	case p.Room < 1 || p.Room > 100:
		return fmt.Errorf("room %d: must be 1 to 100 percent", p.Room)
	case p.Games < 1:
		return fmt.Errorf("games %d: must be at least 1", p.Games)
	case !slices.Contains([]LossKind{LossKill, LossStop, LossServer}, p.By):
		return fmt.Errorf("by %.20q: must be %s, %s or %s", p.By, LossKill, LossStop, LossServer)
	case p.Away <= 0 || p.Every <= 0:
		return errors.New("away, every: must be above 0")
	case !p.Clock.Traits().Limited:
		return fmt.Errorf("clock %v: must have a time limit, or no game could be lost on time", p.Clock)
	case len(p.Rules) == 0:
		return errors.New("rules: missing")
	}
	for _, name := range p.Rules {
		if _, err := catalog.Rules(name); err != nil {
			return err
		}
	}
	return nil
}

// LossFleet is a fleet with processes that can be lost.
type LossFleet interface {
	Fleet
	Kill(p Part, i int) error                         // as by SIGKILL
	Restart(ctx context.Context, p Part, i int) error // one that was killed
	Suspend(p Part, i int) error                      // as by SIGSTOP
	Resume(p Part, i int) error
}

// LossLaunch starts the processes of a LossFleet.
type LossLaunch func(ctx context.Context, w Want) (LossFleet, error)

// LossResult is what the losses cost.
type LossResult struct {
	Processes int      `json:"processes"`
	Slots     int      `json:"slots"`
	Room      int      `json:"room_percent"`
	By        LossKind `json:"by"`
	AtOnce    int      `json:"games_at_once"`
	Losses    int      `json:"losses"`
	// Announced is how many of them the arena's metric announced: it said that the fleet survives no
	// loss.
	Announced int `json:"announced"`
	Seats     int `json:"seats"` // that the lost processes had to leave to others
	Ended     int `json:"ended"` // games, also those that were lost
	Moves     int `json:"moves"`
	// Lost are the games that did not end by their own moves, by reason; of these the metric had
	// announced LostAnnounced.
	Lost          map[string]int `json:"lost,omitempty"`
	LostAnnounced int            `json:"lost_announced,omitempty"`
	VacantP50MS   int64          `json:"vacant_p50_ms"` // how long a seat was vacant
	VacantMaxMS   int64          `json:"vacant_max_ms"`
	ChargedMaxMS  int64          `json:"charged_max_ms"` // for one move
	Seconds       float64        `json:"seconds"`
}

// lost returns how many games were lost.
func (r *LossResult) lost() (n int) {
	for _, k := range r.Lost {
		n += k
	}
	return n
}

// Err returns an error if a game was lost that should not have been. Only a fleet without a free
// slot may lose games, and only those that the metric announced.
func (r *LossResult) Err() error {
	n := r.lost()
	if r.Room >= 100 {
		n -= r.LostAnnounced
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s lost: %v", texttable.Count(n, "game was", "games were"), r.Lost)
}

// LossHeading are the columns of the table of losses.
var LossHeading = []string{"PROCESSES", "SLOTS", "ROOM", "BY", "GAMES AT ONCE", "LOSSES", "ANNOUNCED", "SEATS", "ENDED", "LOST", "VACANT ms p50", "max", "CHARGED ms max", "SECONDS"}

// Row is the result's row of the table.
func (r *LossResult) Row() []string {
	lost := "none"
	if n := r.lost(); n > 0 {
		lost = fmt.Sprint(n)
		for _, why := range slices.Sorted(maps.Keys(r.Lost)) {
			lost += fmt.Sprintf(" %s:%d", why, r.Lost[why])
		}
	}
	f := fmt.Sprint
	return []string{f(r.Processes), f(r.Slots), f(r.Room, " %"), f(r.By), f(r.AtOnce), f(r.Losses), f(r.Announced), f(r.Seats), f(r.Ended), lost,
		f(r.VacantP50MS), f(r.VacantMaxMS), f(r.ChargedMaxMS), fmt.Sprintf("%.0f", r.Seconds)}
}

// RunLosses keeps games running and loses one process after the other, until as many games have
// ended as planned, or ctx ends. It returns what was seen until then, also with an error.
func RunLosses(ctx context.Context, p LossPlan, launch LossLaunch, watch Watch, log zerolog.Logger) (_ *LossResult, err error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	want := Want{Games: p.AtOnce(), Players: lossPlayers, Kinds: kinds(p.Rules), Fleet: true}
	for range p.Processes {
		want.Seats = append(want.Seats, p.Slots)
	}
	watch("starting the processes")
	fleet, err := launch(ctx, want)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fleet.Close()) }()
	s := &lossSession{plan: &p, fleet: fleet, watch: watch, want: want, book: newLossBook(want.Games)}
	if s.subjects, err = protocol.NewSubjects(protocol.DefaultPrefix); err != nil {
		return nil, err
	}
	if s.platform, err = protocol.Connect(fleet.Connection(Platform, log)); err != nil {
		return nil, err
	}
	defer s.platform.Close()
	if s.js, err = jetstream.New(s.platform); err != nil {
		return nil, err
	}
	// What is published to a stream comes to subscribers as well.
	sub, err := s.platform.Subscribe(s.subjects.Logs(), s.book.note)
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe()
	return s.run(ctx)
}

// lossSession is a run of losses.
type lossSession struct {
	plan     *LossPlan
	fleet    LossFleet
	watch    Watch
	want     Want
	book     *lossBook
	subjects protocol.Subjects
	platform *nats.Conn
	js       jetstream.JetStream
	losses   int
}

func (s *lossSession) run(ctx context.Context) (*LossResult, error) {
	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := s.awaitAll(ctx); err != nil {
		return nil, err
	}
	go func() {
		if err := s.post(ctx); err != nil {
			cancel(err)
		}
	}()
	err := s.lose(ctx)
	r := s.book.result()
	r.Processes, r.Slots, r.Room, r.By, r.AtOnce = s.plan.Processes, s.plan.Slots, s.plan.Room, s.plan.By, s.want.Games
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

// post keeps the games running.
func (s *lossSession) post(ctx context.Context) error {
	for i := 0; ; i++ {
		select {
		case <-s.book.more:
		case <-ctx.Done():
			return nil
		}
		ch, err := challengeOf(protocol.GameID(fmt.Sprint("loss-", i)), s.plan.Rules[i%len(s.plan.Rules)], s.plan.Clock, lossPlayers, i)
		if err != nil {
			return err
		}
		ch.Terms.Rated = true
		for err = s.publish(ctx, ch); err != nil && ctx.Err() == nil; err = s.publish(ctx, ch) {
			sleep(ctx, time.Second) // the server may be stopped: what came twice is stored once
		}
	}
}

// publish posts a challenge.
func (s *lossSession) publish(ctx context.Context, ch protocol.Challenge) error {
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return postChallenge(within, s.js, s.subjects, ch)
}

// lose loses processes until enough games have ended.
func (s *lossSession) lose(ctx context.Context) error {
	for i := 0; ; i++ {
		if err := s.await(ctx, "games to run", func() bool { return s.book.running() >= s.want.Games || s.book.ended() >= s.plan.Games }); err != nil {
			return err
		}
		if err := s.await(ctx, "", s.after(s.plan.Every)); err != nil || s.book.ended() >= s.plan.Games {
			return err
		}
		survives, err := s.survives(ctx)
		if err != nil {
			return err
		}
		if err := s.loseOne(ctx, i%s.plan.Processes, survives); err != nil {
			return err
		}
		if err := s.awaitAll(ctx); err != nil {
			return err
		}
	}
}

// after returns a condition that holds after some time, or once enough games have ended.
func (s *lossSession) after(d time.Duration) func() bool {
	end := time.Now().Add(d)
	return func() bool { return time.Now().After(end) || s.book.ended() >= s.plan.Games }
}

// loseOne loses a process for the time of the plan.
func (s *lossSession) loseOne(ctx context.Context, i int, survives int) error {
	part, back := BotPart, func() error { return s.fleet.Resume(BotPart, i) }
	lose := func() error { return s.fleet.Suspend(BotPart, i) }
	switch s.plan.By {
	case LossKill:
		lose = func() error { return s.fleet.Kill(BotPart, i) }
		back = func() error { return s.fleet.Restart(ctx, BotPart, i) }
	case LossServer:
		part, i = NATSPart, 0
		lose, back = func() error { return s.fleet.Suspend(NATSPart, 0) }, func() error { return s.fleet.Resume(NATSPart, 0) }
	}
	s.losses++
	s.book.loss(survives < 1 && part == BotPart)
	if err := lose(); err != nil {
		return err
	}
	err := s.await(ctx, "", s.after(s.plan.Away))
	return errors.Join(err, back())
}

// survives asks the arena how many losses the fleet survives.
func (s *lossSession) survives(ctx context.Context) (int, error) {
	st, err := s.fleet.Stats(ctx, ArenaPart, false)
	return st.Survives, err
}

// awaitAll waits until the arena knows all players of all bot processes.
func (s *lossSession) awaitAll(ctx context.Context) error {
	all, began := len(s.want.Players)*len(s.want.Seats), time.Now()
	for {
		st, err := s.fleet.Stats(ctx, ArenaPart, false)
		switch {
		case err != nil:
			return err
		case st.Present >= all && st.Fleet >= all:
			return nil
		case time.Since(began) > patience:
			return fmt.Errorf("%d of %d players are known to the arena after %v", st.Present, all, patience)
		}
		s.progress()
		if err := sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// lossPatience bounds the wait for the games to run again after a loss.
const lossPatience = 5 * time.Minute

// await waits until a condition holds.
func (s *lossSession) await(ctx context.Context, what string, ok func() bool) error {
	for began := time.Now(); !ok(); {
		if what != "" && time.Since(began) > lossPatience {
			return fmt.Errorf("waited %v for %d %s: %d do", lossPatience, s.want.Games, what, s.book.running())
		}
		s.progress()
		if err := sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
	return nil
}

func (s *lossSession) progress() {
	s.watch("losses: %d, games: %d running, %d of %d ended, %d lost", s.losses, s.book.running(), s.book.ended(), s.plan.Games, s.book.lost())
}
